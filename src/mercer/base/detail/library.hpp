// Shared libraries opened when they are first needed. The big ones (oneDNN, OpenBLAS) take
// milliseconds to load and start threads of their own, which a command that multiplies no matrix
// should not wait for.
//
//     const Library blas(MERCER_OPENBLAS_LIBRARY);
//     const auto dgemm = blas.function<decltype(&cblas_dgemm)>("cblas_dgemm");
#pragma once

#include <string>

namespace mercer {

class Library {
   public:
    /// `name` as the loader knows it: "libopenblas.so.0". Throws std::runtime_error, with the
    /// loader's words, when it cannot be opened. A library once opened stays so.
    explicit Library(const char* name);

    /// A function of the library, or of those it stands on. Throws std::runtime_error when there
    /// is none of that name.
    template <class Pointer>
    Pointer function(const char* symbol) const {
        return reinterpret_cast<Pointer>(address(symbol));
    }
    /// The same, but null when there is none.
    template <class Pointer>
    Pointer optional_function(const char* symbol) const {
        return reinterpret_cast<Pointer>(find(symbol));
    }

   private:
    void* find(const char* symbol) const;
    void* address(const char* symbol) const;

    std::string name_;
    void* handle_;
};

}  // namespace mercer

/// The function of a library by the name its header declares it under, looked up once:
/// MERCER_LIBRARY_FUNCTION(blas_library(), cblas_dgemm)(…).
#define MERCER_LIBRARY_FUNCTION(library, name)                                  \
    ([] {                                                                       \
        static const auto found = (library).function<decltype(&::name)>(#name); \
        return found;                                                           \
    }())
