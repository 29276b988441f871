// Arrays of numbers as bytes (NumPy's and idx files), before they become rows or labels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {

/// IEEE half precision, by its definition: sign, 5 bits of exponent, 10 of fraction.
double from_half(std::uint16_t bits);

enum class Element : std::uint8_t {
    boolean,
    u8,
    i8,
    u16,
    i16,
    u32,
    i32,
    u64,
    i64,
    f16,
    f32,
    f64,
    bytes,    ///< text, one byte a character, padded with zeros
    unicode,  ///< text, four bytes a character, padded with zeros
};

/// A window on the numbers of a file. `bytes` has exactly the size that shape and item say:
/// whoever makes an Array has checked it.
struct Array {
    std::string name;  ///< for messages
    std::string_view bytes;
    Element element = Element::u8;
    std::size_t item = 1;  ///< bytes an element
    bool big_endian = false;
    bool fortran = false;  ///< first index runs fastest
    std::vector<std::size_t> shape;
    std::size_t rows_before = 0;  ///< of a larger array that this is a part of

    std::size_t rows() const { return shape.empty() ? 1 : shape[0]; }
    std::size_t columns() const;  ///< product of the other extents
    std::size_t size() const { return rows() * columns(); }
    bool is_text() const { return element == Element::bytes || element == Element::unicode; }
};

/// Elements of a shape, or nothing when the product overflows.
std::optional<std::size_t> elements_of(std::span<const std::size_t> shape);

/// An array's bytes taken from the front of `rest`. Throws when there are fewer, or more, than
/// shape and item ask for: before anything of that size is allocated.
Array checked_array(const Input& input, Array array, std::string_view rest);

/// Row i of the result is the i-th slice of the array, flattened in C order. Refuses infinities and
/// numbers too large for T; NaN is a missing value and treated as the options say.
template <class T>
std::vector<T> array_rows(const Input& input, const Array& array, bool& rounded);

/// One number, or one label, an element.
std::vector<double> array_numbers(const Input& input, const Array& array);
std::vector<std::string> array_texts(const Input& input, const Array& array);
Labels array_labels(const Input& input, const Array& array);

void append_utf8(std::string& text, std::uint32_t point);

/// A data set of one array; a column of it is the label when the options say so.
Dataset array_dataset(const Input& input, const Array& array);

}  // namespace mercer::formats
