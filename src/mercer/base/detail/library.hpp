// Shared libraries opened when they are first needed. The big ones (oneDNN, OpenBLAS) take
// milliseconds to load and start threads of their own, which a command that multiplies no matrix
// should not wait for.
//
//     const Library blas({MERCER_OPENBLAS_LIBRARY}, "products; install OpenBLAS");
//     const auto dgemm = blas.function<decltype(&cblas_dgemm)>("cblas_dgemm");
#pragma once

#include <initializer_list>
#include <string>

namespace mercer {

class Library {
   public:
    /// The first of these that can be opened, by names as the loader knows them:
    /// "libopenblas.so.0". A Python package carries some of them beside its module, in `_libs`,
    /// where the loader looks first. Throws std::runtime_error, with the loader's words, when none
    /// can be opened; `needed_for` then says what it is for and how to get it. A library once
    /// opened stays so.
    Library(std::initializer_list<const char*> names, const char* needed_for);

    /// A function of the library, or of those it stands on, by its name or by the one it has in the
    /// OpenBLAS of Python's packages, which begins with scipy_. Throws std::runtime_error when
    /// there is none of that name.
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
