// NumPy's .npy, as a file of its own or within an archive.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "mercer/data/formats/detail/array.hpp"
#include "mercer/data/formats/detail/array_write.hpp"

namespace mercer::formats {

/// The NumPy array in these bytes.
Array parse_npy(const Input& input, std::string_view bytes, const std::string& name);

/// The array that these first bytes of a file of `size` bytes are the header of, with no numbers in
/// it yet, and where they begin. Throws as above where the file does not have as many as it says.
Array npy_outline(const Input& input, std::size_t size, std::size_t& begin);

/// NumPy's header, version 1: padded so that the numbers begin at a multiple of 64 bytes.
std::string npy_header(const std::string& type, const std::vector<std::size_t>& shape);

/// The header of the rows as an array.
std::string npy_header(const Rows& rows);

/// "<f4"
template <class T>
std::string npy_type() {
    return std::string("<") + (std::is_floating_point_v<T> ? 'f' : 'i') + std::to_string(sizeof(T));
}

/// A whole file: numbers in one dimension, and texts in one, or one text alone.
template <class T, class Range>
std::string npy_of(const Range& values, std::size_t count) {
    std::string text = npy_header(npy_type<T>(), {count});
    for (std::size_t k = 0; k < count; ++k) append_bytes(text, static_cast<T>(values[k]), false);
    return text;
}
std::string npy_of_texts(const std::vector<std::string>& texts, bool scalar = false);

}  // namespace mercer::formats
