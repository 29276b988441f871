#include "mercer/data/read.hpp"

#include <algorithm>
#include <cstring>
#include <new>

#include "mercer/base/text.hpp"
#include "mercer/data/array-inl.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/data/source.hpp"

namespace mercer {
namespace {

using formats::Input;

struct NamedFormat {
    FileFormat format;
    std::string_view name;
};
constexpr NamedFormat named_formats[] = {{FileFormat::automatic, "automatic"},
                                         {FileFormat::libsvm, "libsvm"},
                                         {FileFormat::csv, "csv"},
                                         {FileFormat::tsv, "tsv"},
                                         {FileFormat::spaces, "spaces"},
                                         {FileFormat::npy, "npy"},
                                         {FileFormat::npz, "npz"},
                                         {FileFormat::idx, "idx"}};

bool is_text(FileFormat format) {
    return format != FileFormat::npy && format != FileFormat::npz && format != FileFormat::idx;
}

Dataset read_format(const Input& input, FileFormat format) {
    switch (format) {
        case FileFormat::libsvm: return formats::read_libsvm(input);
        case FileFormat::npy: return formats::read_npy(input);
        case FileFormat::npz: return formats::read_npz(input);
        case FileFormat::idx: return formats::read_idx(input);
        default: return formats::read_table(input, format);
    }
}

void check_options(const ReadOptions& options) {
    if (options.first_index <= 1) return;
    throw InvalidInput("first_index is " + std::to_string(options.first_index) +
                       ", expected 0 or 1");
}

/// Labels are read as the ones known were.
ReadOptions with_known(ReadOptions options) {
    if (options.known && options.known->text_labels) options.text_labels = true;
    return options;
}

/// What the options add to, or take from, what the file itself holds.
void complete(const Input& input, Dataset& data) {
    const ReadOptions& options = input.options;
    const auto same_size = [&](const std::string& file, std::size_t found, const char* what) {
        if (found == data.size()) return;
        throw InvalidInput(Location{.file = file}, "found " + std::to_string(found) + " " + what +
                                                       ", expected " + std::to_string(data.size()) +
                                                       " as there are rows in " + input.name);
    };
    if (options.label == "none") data.y = {};
    if (!options.labels_file.empty()) {
        data.y = formats::read_labels_file(options.labels_file, options);
        same_size(options.labels_file, data.y.size(), "labels");
    }
    if (!options.weights_file.empty()) {
        data.weights = formats::read_weights_file(options.weights_file);
        same_size(options.weights_file, data.weights.size(), "weights");
    }
    try {
        data.check();
    } catch (const InvalidInput& error) {
        formats::fail(input, error.what());
    }
    if (!keep_going(options.progress, {.task = "reading", .fraction = 1})) throw Cancelled();
}

/// Text with the newline at its end that the scanners count on. Only a text without one is copied.
std::string_view ended(std::string_view text, Content& copy) {
    if (text.ends_with('\n')) return text;
    copy.append(text);
    copy.append("\n");
    return copy.view();
}

std::string_view without_byte_order_mark(const Input& input) {
    std::string_view bytes = input.bytes;
    if (bytes.starts_with("\xEF\xBB\xBF")) bytes.remove_prefix(3);
    if (bytes.starts_with("\xFF\xFE") || bytes.starts_with("\xFE\xFF")) {
        formats::fail(input, "found UTF-16 text, expected UTF-8; convert it with iconv");
    }
    return bytes;
}

Dataset read_content(std::string_view bytes, const std::string& name, const std::string& path,
                     const ReadOptions& options) {
    Content unpacked;
    if (is_compressed(bytes)) {
        unpacked = unpack(bytes, name, options.progress);
        bytes = unpacked.view();
    }
    Input input{bytes, name, options, path};
    if (bytes.empty()) formats::fail(input, "is empty, expected at least one row");
    Content copy;
    const FileFormat format =
        options.format == FileFormat::automatic ? formats::detect_format(input) : options.format;
    if (is_text(format)) {
        input.bytes = without_byte_order_mark(input);
        input.bytes = ended(input.bytes, copy);
    }
    Dataset data = read_format(input, format);
    // LIBSVM text has neither names nor a width of its own.
    if (format != FileFormat::libsvm) formats::order_known(input, data);
    complete(input, data);
    return data;
}

/// Large LIBSVM files are parsed as they are fetched, which saves the memory of their text.
std::optional<Dataset> read_in_pieces(const std::string& path, const ReadOptions& options) {
    constexpr std::size_t large = std::size_t{1} << 22;
    const std::optional<PlainFile> file = PlainFile::open(path);
    if (!file || file->size() < large || file->head().starts_with("\xEF\xBB\xBF")) {
        return std::nullopt;
    }
    const Input input{file->head(), path, options, path};
    const FileFormat format =
        options.format == FileFormat::automatic ? formats::detect_format(input) : options.format;
    if (format != FileFormat::libsvm) return std::nullopt;
    std::optional<Dataset> data = formats::read_libsvm_file(input, *file);
    if (data) complete(input, *data);
    return data;
}

Dataset read_embedded(const std::string& path, const ReadOptions& options) {
    const Input input{{}, path, options};
    Dataset data = embedded(std::string_view(path).substr(1));
    Rows rows = options.double_precision ? data.x.to_double() : data.x.to_float();
    data.x = formats::fitted(input, std::move(rows));
    if (data.feature_names.size() != data.columns()) data.feature_names.clear();
    formats::order_known(input, data);
    complete(input, data);
    return data;
}

[[noreturn]] void fail_memory(const std::string& name) {
    throw InvalidInput(Location{.file = name}, "does not fit in memory (" +
                                                   std::to_string(physical_memory() >> 20) +
                                                   " MB in this machine); cut it into parts");
}

}  // namespace

namespace formats {

Labels read_labels_file(const std::string& path, const ReadOptions& options) {
    const Content content = read_bytes(path);
    ReadOptions plain;
    plain.text_labels = options.text_labels;
    plain.label = "last";
    const Input input{content.view(), path, plain};
    if (input.bytes.empty()) fail(input, "is empty, expected labels");
    const FileFormat format = detect_format(input);
    if (format == FileFormat::idx) return array_labels(input, parse_idx(input));
    if (format == FileFormat::npy)
        return array_labels(input, parse_npy(input, input.bytes, "array"));
    if (!is_text(format)) fail(input, "found an archive, expected idx, npy or one label a line");
    return read_label_lines(input);
}

std::vector<double> read_weights_file(const std::string& path) {
    Labels labels = read_labels_file(path, {});
    if (labels.are_text()) {
        throw InvalidInput(Location{.file = path},
                           "found " + quoted(labels.names[0]) + ", expected one number a line");
    }
    return std::move(labels.values);
}

}  // namespace formats

std::string_view format_name(FileFormat format) {
    for (const NamedFormat& known : named_formats) {
        if (known.format == format) return known.name;
    }
    return "automatic";
}

FileFormat format_named(std::string_view name) {
    std::string list;
    for (const NamedFormat& known : named_formats) {
        if (known.name == name) return known.format;
        list += (list.empty() ? "" : ", ") + std::string(known.name);
    }
    throw InvalidInput("found the format " + quoted(name) + ", expected one of " + list);
}

Dataset read(const std::string& path, const ReadOptions& given) {
    const std::string name = path == "-" ? "standard input" : path;
    check_options(given);
    const ReadOptions options = with_known(given);
    try {
        if (path.starts_with('@')) return read_embedded(path, options);
        if (path != "-") {
            if (auto data = read_in_pieces(path, options)) return std::move(*data);
        }
        const Content content = read_bytes(path, options.progress);
        return read_content(content.view(), name, path == "-" ? "" : path, options);
    } catch (const std::bad_alloc&) {
        fail_memory(name);
    } catch (const std::length_error&) {
        fail_memory(name);
    }
}

Dataset read_text(std::string_view content, const std::string& name, const ReadOptions& given) {
    check_options(given);
    const ReadOptions options = with_known(given);
    try {
        return read_content(content, name, "", options);
    } catch (const std::bad_alloc&) {
        fail_memory(name);
    } catch (const std::length_error&) {
        fail_memory(name);
    }
}

}  // namespace mercer
