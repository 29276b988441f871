// idx, the format of MNIST (http://yann.lecun.com/exdb/mnist): two zero bytes, the type, the number
// of dimensions, each dimension as 4 bytes and the numbers, most significant byte first.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>

#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/array.hpp"
#include "mercer/data/formats/detail/array_write.hpp"
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

bool recognised(std::string_view bytes) {
    return bytes.size() >= 4 && bytes[0] == 0 && bytes[1] == 0 && bytes[2] >= 8 && bytes[2] <= 14 &&
           bytes[3] != 0;
}

/// The usual neighbour of an images file: train-images-idx3-ubyte → train-labels-idx1-ubyte, also
/// images.idx3-ubyte → labels.idx1-ubyte, with or without .gz. Empty when there is none.
std::string labels_beside(const std::string& path) {
    std::filesystem::path file(path);
    std::string name = file.filename().string();
    const std::size_t images = name.rfind("images");
    if (images == std::string::npos) return {};
    name.replace(images, 6, "labels");
    const std::size_t idx = name.rfind("idx");
    if (idx != std::string::npos && idx + 3 < name.size() && name[idx + 3] >= '2' &&
        name[idx + 3] <= '4') {
        name[idx + 3] = '1';
    }
    return file.replace_filename(name).string();
}

/// That file if there is one, packed or not.
std::string existing_labels(const std::string& path) {
    const std::string name = labels_beside(path);
    if (name.empty()) return {};
    const std::string other =
        name.ends_with(".gz") ? name.substr(0, name.size() - 3) : name + ".gz";
    for (const std::string& candidate : {name, other}) {
        std::error_code ignored;
        if (std::filesystem::is_regular_file(candidate, ignored)) return candidate;
    }
    return {};
}

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
    const std::string labels = existing_labels(input.path);
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

void append_idx_header(std::string& text, char type, const std::vector<std::size_t>& shape) {
    text.append(2, '\0');
    text += type;
    text += static_cast<char>(shape.size());
    for (const std::size_t extent : shape) {
        if (extent > std::numeric_limits<std::uint32_t>::max()) {
            throw InvalidInput("idx files count to 4294967295, not to " + std::to_string(extent));
        }
        append_bytes(text, static_cast<std::uint32_t>(extent), true);
    }
}

bool are_whole(const std::vector<double>& values, double low, double high) {
    return std::all_of(values.begin(), values.end(), [&](double value) {
        return value >= low && value <= high && value == std::floor(value);
    });
}

void write_idx(const Dataset& data, const std::string& path, const WriteOptions& options,
               Output& output) {
    bool bytes = true;
    std::vector<double> row(data.columns());
    for (std::size_t i = 0; i < data.size() && bytes; ++i) {
        data.x.copy_row(i, row);
        bytes = are_whole(row, 0, 255);
    }
    std::vector<std::size_t> shape{data.size(), data.columns()};
    const auto side =
        static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(data.columns()))));
    // As three dimensions when the name says so and the columns make a square.
    const bool images =
        std::filesystem::path(path).filename().string().find("idx3") != std::string::npos;
    if (images && side * side == data.columns()) shape = {data.size(), side, side};
    std::string header;
    append_idx_header(header, bytes ? '\x08' : data.x.is_double() ? '\x0E' : '\x0D', shape);
    output.write(header);
    if (!bytes) return write_numbers(data.x, options.progress, true, output);
    write_dense(data.x, options.progress, output, [](std::string& text, double value) {
        text += static_cast<char>(static_cast<unsigned char>(value));
    });
}

void write_label_idx(const Labels& labels, Output& output) {
    std::string text;
    if (are_whole(labels.values, 0, 255)) {
        append_idx_header(text, '\x08', {labels.size()});
        for (const double value : labels.values) {
            text += static_cast<char>(static_cast<unsigned char>(value));
        }
    } else {
        append_idx_header(text, '\x0E', {labels.size()});
        for (const double value : labels.values) append_bytes(text, value, true);
    }
    output.write(text);
}

}  // namespace

Format idx() {
    return {
        .name = "idx",
        .title = "idx",
        .about = "MNIST's format; labels are found in the file beside it, `images` for `labels`",
        .suffixes = {".idx", "-ubyte"},
        .kind = Format::Kind::bytes,
        .recognise =
            [](const Input& input) {
                return Match{recognised(input.bytes) ? Certainty::certain : Certainty::none};
            },
        .read = read_idx,
        .read_labels = [](const Input& input) { return array_labels(input, parse_idx(input)); },
        .uses = {.label = true, .text_labels = true, .missing = true},
        .write = write_idx,
        .write_labels = write_label_idx,
        .keeps = {.labels = false, .weights = false, .class_names = false},
        .labels_beside = labels_beside,
    };
}

}  // namespace mercer::formats
