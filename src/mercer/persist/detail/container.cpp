#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/persist/detail/checksum.hpp"
#include "mercer/persist/detail/container.hpp"
#include "mercer/persist/detail/json_text.hpp"

namespace mercer::persist {
namespace {

constexpr std::string_view metadata_name = "__metadata__";
constexpr std::size_t length_bytes = 8;

struct TypeEntry {
    Type type;
    std::string_view name;
    std::size_t bytes;
};
constexpr std::array<TypeEntry, 5> types{{{Type::f32, "F32", 4},
                                          {Type::f64, "F64", 8},
                                          {Type::i64, "I64", 8},
                                          {Type::u32, "U32", 4},
                                          {Type::u8, "U8", 1}}};

const TypeEntry& entry_of(Type type) {
    return *std::find_if(types.begin(), types.end(),
                         [type](const TypeEntry& entry) { return entry.type == type; });
}

[[noreturn]] void fail(const std::string& name, const std::string& message) {
    throw InvalidInput(Location{.file = name}, message);
}

std::string shape_text(const std::vector<std::size_t>& shape) {
    return json_list(shape);
}

/// The length in the first eight bytes, once it can be true.
std::size_t header_length(std::string_view bytes, const std::string& name) {
    if (bytes.empty()) fail(name, "is empty; a Mercer model was expected");
    if (bytes.starts_with("svm_type ")) {
        fail(name, "is a LIBSVM model, not a Mercer model; read it with import_libsvm");
    }
    if (bytes.size() < length_bytes + 2) {
        fail(name, "is no Mercer model or was cut short: it has only " +
                       std::to_string(bytes.size()) + " bytes");
    }
    std::uint64_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) {
        length |= std::uint64_t{static_cast<unsigned char>(bytes[i])} << (8 * i);
    }
    if (bytes[length_bytes] != '{') {
        fail(name, "is no Mercer model: a header in JSON should begin at byte 8");
    }
    if (length < 2 || length > longest_header) {
        fail(name, "is no Mercer model or is damaged: the header length " + std::to_string(length) +
                       " must be between 2 and " + std::to_string(longest_header));
    }
    if (length > bytes.size() - length_bytes) {
        fail(name, "was cut short: the header should have " + std::to_string(length) +
                       " bytes, and only " + std::to_string(bytes.size() - length_bytes) +
                       " follow");
    }
    return static_cast<std::size_t>(length);
}

void check_format(const std::map<std::string, std::string>& metadata, const std::string& name) {
    const auto text = [&](const char* key) {
        const auto found = metadata.find(key);
        return found == metadata.end() ? std::string() : found->second;
    };
    if (text("format") != format_word) {
        fail(name,
             "is a safetensors file but not a Mercer model: its metadata should say "
             "format \"mercer-model\", found " +
                 mercer::quoted(text("format")));
    }
    const auto version = parse_number(text("version"));
    if (version && *version > format_version) {
        fail(name, "was written by a later Mercer (model format " +
                       mercer::quoted(text("version")) + "); this one reads format " +
                       std::to_string(format_version) + "; update Mercer to read it");
    }
    if (text("version") != std::to_string(format_version)) {
        fail(name, "model format " + mercer::quoted(text("version")) + " is not known; expected " +
                       std::to_string(format_version));
    }
}

std::map<std::string, std::string> read_metadata(const Json& header, const std::string& name) {
    std::map<std::string, std::string> result;
    const auto found = header.find(metadata_name);
    if (found != header.end() && found->is_object()) {
        for (const auto& [key, value] : found->items()) {
            if (!value.is_string()) {
                fail(name, "metadata " + mercer::quoted(key) + " must be a text, found " +
                               value.type_name());
            }
            result.emplace(key, value.get_ref<const std::string&>());
        }
    }
    check_format(result, name);
    return result;
}

/// Bytes an array of this shape takes; nothing when that is no size_t.
bool array_bytes(const std::vector<std::size_t>& shape, std::size_t item, std::size_t& out) {
    out = item;
    for (const std::size_t extent : shape) {
        if (extent != 0 && out > std::numeric_limits<std::size_t>::max() / extent) return false;
        out *= extent;
    }
    return true;
}

/// One array with its place in the file, checked against the bytes that are there.
Tensor read_tensor(const std::string& key, const Json& entry, std::string_view data,
                   const std::string& name) {
    const std::string place = name + ": array " + mercer::quoted(key);
    Tensor tensor{.name = key};
    std::string word;
    read_json(member(entry, "dtype", place), word, place + " dtype");
    const auto* const type = std::find_if(types.begin(), types.end(),
                                          [&](const TypeEntry& t) { return t.name == word; });
    if (type == types.end()) {
        throw InvalidInput(place + " has type " + mercer::quoted(word) +
                           "; a Mercer model holds F32, F64, I64 and U32 only");
    }
    tensor.type = type->type;
    const Json& shape = array_at(member(entry, "shape", place), place + " shape");
    if (shape.size() > 2) {
        throw InvalidInput(place + " has " + std::to_string(shape.size()) +
                           " dimensions; at most 2 are expected");
    }
    read_json(shape, tensor.shape, place + " shape");
    const Json& offsets = member(entry, "data_offsets", place);
    if (array_at(offsets, place + " data_offsets").size() != 2) {
        throw InvalidInput(place + " data_offsets must be two numbers");
    }
    const std::uint64_t begin = read_count(offsets[0], place + " data_offsets");
    const std::uint64_t end = read_count(offsets[1], place + " data_offsets");
    if (begin > end || end > data.size()) {
        throw InvalidInput(place + " should take bytes " + std::to_string(begin) + " to " +
                           std::to_string(end) + " of the " + std::to_string(data.size()) +
                           " behind the header; the file was cut short or is damaged");
    }
    std::size_t wanted = 0;
    if (!array_bytes(tensor.shape, type->bytes, wanted) || wanted != end - begin) {
        throw InvalidInput(place + " of type " + word + " and shape " + shape_text(tensor.shape) +
                           " does not fill the " + std::to_string(end - begin) +
                           " bytes it is given");
    }
    tensor.bytes = data.substr(begin, end - begin);
    return tensor;
}

/// Puts the arrays in the order of the file and sees to it that they fill it exactly.
void check_places(std::vector<Tensor>& tensors, std::string_view data, const std::string& name) {
    std::stable_sort(tensors.begin(), tensors.end(), [](const Tensor& a, const Tensor& b) {
        return std::pair(a.bytes.data(), a.bytes.size()) <
               std::pair(b.bytes.data(), b.bytes.size());
    });
    const char* next = data.data();
    for (const Tensor& tensor : tensors) {
        if (tensor.bytes.data() != next) {
            fail(name, "array " + mercer::quoted(tensor.name) + " begins at byte " +
                           std::to_string(tensor.bytes.data() - data.data()) +
                           " behind the header, expected " + std::to_string(next - data.data()) +
                           ": arrays must neither overlap nor leave holes");
        }
        next += tensor.bytes.size();
    }
    const auto used = static_cast<std::size_t>(next - data.data());
    if (used != data.size()) {
        fail(name, std::to_string(data.size() - used) +
                       " bytes behind the last array belong to nothing; the file is damaged");
    }
}

void check_array_count(std::size_t count, const std::string& name) {
    if (count <= most_arrays) return;
    fail(name, "holds " + std::to_string(count) + " arrays; a model file has room for " +
                   std::to_string(most_arrays));
}

}  // namespace

std::string_view type_name(Type type) {
    return entry_of(type).name;
}

std::size_t type_bytes(Type type) {
    return entry_of(type).bytes;
}

const Tensor* Container::find(std::string_view name) const {
    const auto found = std::find_if(tensors.begin(), tensors.end(),
                                    [name](const Tensor& tensor) { return tensor.name == name; });
    return found == tensors.end() ? nullptr : &*found;
}

std::string checksum_of(const Container& container) {
    constexpr std::string_view zero("\0", 1);
    Checksum sum;
    for (const auto& [key, value] : container.metadata) {
        if (key == "checksum") continue;
        for (const std::string_view part : {std::string_view(key), zero, std::string_view(value)}) {
            sum.add(part);
        }
        sum.add(zero);
    }
    std::vector<const Tensor*> by_name;
    for (const Tensor& tensor : container.tensors) by_name.push_back(&tensor);
    std::sort(by_name.begin(), by_name.end(),
              [](const Tensor* a, const Tensor* b) { return a->name < b->name; });
    for (const Tensor* tensor : by_name) {
        sum.add(tensor->name + '\0' + std::string(type_name(tensor->type)) + '\0' +
                shape_text(tensor->shape) + '\0');
        sum.add(tensor->bytes);
    }
    std::string digits(8, '0');
    for (std::size_t i = 0; i < 8; ++i) {
        digits[i] = "0123456789abcdef"[sum.value() >> (28 - 4 * i) & 15];
    }
    return "crc32:" + digits;
}

std::string header_bytes(const Container& container, const std::string& place) {
    check_array_count(container.tensors.size(), place);
    std::string text = "{" + json_text(metadata_name) + ":{";
    const char* separator = "";
    for (const auto& [key, value] : container.metadata) {
        if (!is_utf8(value)) {
            throw InvalidInput(place + ": " + key + " " + mercer::quoted(value) +
                               " is not UTF-8, which a model file must be; rename what is in it");
        }
        text += separator + json_text(key) + ":" + json_text(value);
        separator = ",";
    }
    text += "}";
    std::size_t offset = 0;
    for (const Tensor& tensor : container.tensors) {
        text += "," + json_text(tensor.name) + ":{\"dtype\":\"" +
                std::string(type_name(tensor.type)) + "\",\"shape\":" + shape_text(tensor.shape) +
                ",\"data_offsets\":[" + std::to_string(offset) + ",";
        offset += tensor.bytes.size();
        text += std::to_string(offset) + "]}";
    }
    text += "}";
    // Blanks up to a multiple of 8 align the arrays. They also keep the first byte of the file
    // apart from the first byte of every compressed form that could be taken for this length.
    text.append((8 - text.size() % 8) % 8, ' ');
    if (text.size() > longest_header) {
        throw InvalidInput(place + ": the names, scaling and reports of this model take " +
                           std::to_string(text.size()) + " bytes; a model file has room for " +
                           std::to_string(longest_header) + "; leave out the feature names");
    }
    std::string result(length_bytes, '\0');
    for (std::size_t i = 0; i < length_bytes; ++i) {
        result[i] = static_cast<char>(text.size() >> (8 * i) & 255);
    }
    return result + text;
}

Container read_container(std::string_view bytes, const std::string& name) {
    const std::size_t length = header_length(bytes, name);
    const std::string_view text = bytes.substr(length_bytes, length);
    const std::string_view data = bytes.substr(length_bytes + length);
    // Object, array entry, list of numbers: three levels.
    const Json header = parse_json(text, 3, name + ": header");
    Container result{.metadata = read_metadata(header, name), .tensors = {}};
    check_array_count(header.size() - 1, name);
    for (const auto& [key, entry] : header.items()) {
        if (key == metadata_name) continue;
        result.tensors.push_back(read_tensor(key, entry, data, name));
    }
    check_places(result.tensors, data, name);
    return result;
}

}  // namespace mercer::persist
