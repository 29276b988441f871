// Arrays of numbers between the memory of a model and the tensors of its file. For the .cpp files
// of this room only.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/persist/detail/container.hpp"

namespace mercer::persist {

static_assert(std::endian::native == std::endian::little && sizeof(std::size_t) == 8,
              "arrays are written and read as they lie in memory");

template <class T>
constexpr Type type_of() {
    if constexpr (std::is_same_v<T, float>) return Type::f32;
    if constexpr (std::is_same_v<T, double>) return Type::f64;
    if constexpr (std::is_same_v<T, std::size_t>) return Type::i64;
    if constexpr (std::is_same_v<T, std::uint32_t>) return Type::u32;
}

template <class T>
Tensor tensor_of(std::string name, std::vector<std::size_t> shape, const T* values) {
    std::size_t bytes = sizeof(T);
    for (const std::size_t extent : shape) bytes *= extent;
    return {.name = std::move(name),
            .type = type_of<T>(),
            .shape = std::move(shape),
            .bytes = bytes == 0 ? std::string_view()
                                : std::string_view(reinterpret_cast<const char*>(values), bytes)};
}

/// The rows as arrays whose names begin with `name`, which live as long as the rows do.
void add_rows(const Rows& rows, const std::string& name, Container& out);

/// Takes arrays out of a container one by one, each checked for type and shape.
class ArrayTaker {
   public:
    ArrayTaker(const Container& container, std::string name)
        : container_(container), name_(std::move(name)) {}

    bool has(const std::string& array) const { return container_.find(array) != nullptr; }

    const Tensor& need(const std::string& array, std::size_t dimensions);

    template <class T>
    std::vector<T> values(const std::string& array, std::size_t dimensions) {
        const Tensor& tensor = need(array, dimensions);
        if (tensor.type != type_of<T>()) {
            fail("array " + quoted(array) + " has type " + std::string(type_name(tensor.type)) +
                 ", expected " + std::string(type_name(type_of<T>())));
        }
        std::vector<T> result(tensor.elements());
        if (!result.empty()) std::memcpy(result.data(), tensor.bytes.data(), tensor.bytes.size());
        return result;
    }

    /// Numbers of rows: I64 in the file, never negative.
    std::vector<std::size_t> positions(const std::string& array);

    Rows rows(const std::string& array);

    /// Numbers that nothing reads mean that the file is not what it seems.
    void check_all_taken() const;

    [[noreturn]] void fail(const std::string& message) const {
        throw InvalidInput(Location{.file = name_}, message);
    }

   private:
    template <class T>
    Rows rows_as(const std::string& array);

    const Container& container_;
    std::string name_;
    std::size_t taken_ = 0;
};

}  // namespace mercer::persist
