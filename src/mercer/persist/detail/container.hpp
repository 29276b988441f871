// The outer form of a model file: named arrays and named texts in the safetensors layout
// (https://huggingface.co/docs/safetensors, "Format"):
//
//     8 bytes        length N of the header, little-endian
//     N bytes        JSON: {"__metadata__": {name: text, …},
//                           name: {"dtype": …, "shape": […], "data_offsets": [begin, end]}, …}
//     the rest       the arrays, row-major, little-endian, one after another without holes
//
// For the .cpp files of this room only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/file.hpp"

namespace mercer::persist {

enum class Type { f32, f64, i64, u32, u8 };
/// "F32", "F64", "I64", "U32", "U8"
std::string_view type_name(Type type);
std::size_t type_bytes(Type type);

/// An array whose bytes someone else owns.
struct Tensor {
    std::string name;
    Type type = Type::f64;
    std::vector<std::size_t> shape{};
    std::string_view bytes{};

    std::size_t elements() const { return bytes.size() / type_bytes(type); }
};

struct Container {
    std::map<std::string, std::string> metadata;
    std::vector<Tensor> tensors;  ///< in the order of the file

    /// Null when there is none of this name.
    const Tensor* find(std::string_view name) const;
};

/// What stands under "format" and "version" in the metadata of the files written here.
inline constexpr std::string_view format_word = "mercer-model";
inline constexpr unsigned format_version = 1;

/// A longer header is refused, as the safetensors library does.
inline constexpr std::size_t longest_header = 100'000'000;
/// So are more arrays: models have a few dozen, and each is looked up by its name.
inline constexpr std::size_t most_arrays = 10'000;

/// "crc32:" and eight hexadecimal digits over all metadata but "checksum" itself and all arrays
/// with their names, types and shapes; docs/model-format.md says in which order. It depends on the
/// content alone, so a tool that writes the same content in another order leaves it valid.
std::string checksum_of(const Container& container);

/// The eight bytes and the header, ready to be followed by the arrays in order. Tensors must be
/// ordered by falling size of their type, which keeps each aligned. Throws InvalidInput, beginning
/// with `place`, when the header would be too long or a text is not UTF-8.
std::string header_bytes(const Container& container, const std::string& place);

/// Reads a container that calls itself a Mercer model of a version known here. Everything is
/// checked against the bytes that are really there before anything is allocated for it; the
/// checksum is not looked at. The tensors point into `bytes`. Throws InvalidInput naming `name`.
Container read_container(std::string_view bytes, const std::string& name);

}  // namespace mercer::persist
