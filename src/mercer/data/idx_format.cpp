// idx, the format of MNIST (http://yann.lecun.com/exdb/mnist): two zero bytes, the type, the number
// of dimensions, each dimension as 4 bytes and the numbers, most significant byte first.
#include <filesystem>

#include "mercer/base/text.hpp"
#include "mercer/data/array-inl.hpp"
#include "mercer/data/source.hpp"

namespace mercer::formats {
namespace {

std::size_t byte_at(std::string_view bytes, std::size_t k) {
    return static_cast<std::size_t>(static_cast<unsigned char>(bytes[k]));
}

void set_type(const Input& input, std::size_t type, Array& array) {
    switch (type) {
        case 0x08: array.element = Element::u8; break;
        case 0x09: array.element = Element::i8; break;
        case 0x0B: array.element = Element::i16; break;
        case 0x0C: array.element = Element::i32; break;
        case 0x0D: array.element = Element::f32; break;
        case 0x0E: array.element = Element::f64; break;
        default:
            fail(input, "found idx type " + std::to_string(type) +
                            " in byte 3, expected 8, 9, 11, 12, 13 or 14");
    }
    array.item = type <= 0x09 ? 1 : type == 0x0B ? 2 : type == 0x0E ? 8 : 4;
}

/// The usual neighbour of an images file: train-images-idx3-ubyte → train-labels-idx1-ubyte, also
/// images.idx3-ubyte → labels.idx1-ubyte, with or without .gz. Empty when there is none.
std::string labels_beside(const std::string& path) {
    namespace fs = std::filesystem;
    const fs::path file(path);
    std::string name = file.filename().string();
    const std::size_t images = name.rfind("images");
    if (images == std::string::npos) return {};
    name.replace(images, 6, "labels");
    for (const char digit : {'2', '3', '4'}) {
        const std::size_t place = name.rfind(std::string("idx") + digit);
        if (place != std::string::npos) name[place + 3] = '1';
    }
    std::string other = name + ".gz";
    if (name.ends_with(".gz")) other = name.substr(0, name.size() - 3);
    for (const std::string& candidate : {name, other}) {
        std::error_code ignored;
        const fs::path full = file.parent_path() / candidate;
        if (fs::is_regular_file(full, ignored)) return full.string();
    }
    return {};
}

}  // namespace

Array parse_idx(const Input& input) {
    const std::string_view bytes = input.bytes;
    if (bytes.size() < 4 || bytes[0] != 0 || bytes[1] != 0) {
        fail(input, "found no idx header, expected two zero bytes, a type and a dimension count");
    }
    Array array;
    array.name = "array";
    array.big_endian = true;
    set_type(input, byte_at(bytes, 2), array);
    const std::size_t dimensions = byte_at(bytes, 3);
    if (dimensions == 0 || bytes.size() < 4 + 4 * dimensions) {
        fail(input, "found " + std::to_string(bytes.size()) + " bytes and " +
                        std::to_string(dimensions) +
                        " dimensions, expected at least one dimension and 4 bytes for each; the "
                        "file is cut short");
    }
    for (std::size_t k = 0; k < dimensions; ++k) {
        std::size_t extent = 0;
        for (std::size_t b = 0; b < 4; ++b) extent = extent << 8 | byte_at(bytes, 4 + 4 * k + b);
        array.shape.push_back(extent);
    }
    return checked_array(input, std::move(array), bytes.substr(4 + 4 * dimensions));
}

Dataset read_idx(const Input& input) {
    Dataset data = array_dataset(input, parse_idx(input));
    const bool wanted = data.y.empty() && input.options.label.empty();
    if (!wanted || !input.options.labels_file.empty() || input.path.empty()) return data;
    const std::string labels = labels_beside(input.path);
    if (labels.empty()) return data;
    data.y = read_labels_file(labels, input.options);
    if (data.y.size() != data.size()) {
        throw InvalidInput(Location{.file = labels},
                           "found " + std::to_string(data.y.size()) + " labels, expected " +
                               std::to_string(data.size()) + " as there are images in " +
                               input.name + "; name the right file of labels");
    }
    return data;
}

}  // namespace mercer::formats
