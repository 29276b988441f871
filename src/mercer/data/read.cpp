#include "mercer/data/read.hpp"

#include <algorithm>
#include <filesystem>
#include <new>
#include <numeric>
#include <optional>

#include "mercer/base/text.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/formats/detail/input.hpp"
#include "mercer/data/formats/detail/windows.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/data/source.hpp"

namespace mercer {
namespace {

using formats::Input;

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

/// `count` numbers from `first` on.
std::vector<std::size_t> positions_from(std::size_t first, std::size_t count) {
    std::vector<std::size_t> positions(count);
    std::iota(positions.begin(), positions.end(), first);
    return positions;
}

/// What the options add to, or take from, what the file itself holds: all of its rows, or a part.
void complete(const Input& input, Dataset& data) {
    const ReadOptions& options = input.options;
    // Which of the `found` labels or weights belong to the rows.
    const auto range_of = [&](const std::string& file, std::size_t found, const char* what) {
        const RowRange part = options.part ? options.part(found) : RowRange{};
        if (found == data.size()) return RowRange{0, found};
        if (options.part && part.size() == data.size()) return part;
        throw InvalidInput(Location{.file = file},
                           "found " + std::to_string(found) + " " + what + ", expected " +
                               (options.part ? "as many" : std::to_string(data.size())) +
                               " as there are rows in " + input.name);
    };
    if (options.label == "none") data.y = {};
    if (!options.labels_file.empty()) {
        data.y = formats::read_labels_file(options.labels_file, options);
        const RowRange own = range_of(options.labels_file, data.y.size(), "labels");
        if (own.size() < data.y.size()) {
            data.y = data.y.select(positions_from(own.first, own.size()));
        }
    }
    if (!options.weights_file.empty()) {
        data.weights = formats::read_weights_file(options.weights_file);
        const RowRange own = range_of(options.weights_file, data.weights.size(), "weights");
        data.weights.resize(own.last);
        data.weights.erase(data.weights.begin(),
                           data.weights.begin() + static_cast<std::ptrdiff_t>(own.first));
    }
    try {
        data.check();
    } catch (const InvalidInput& error) {
        formats::fail(input, error.what());
    }
    if (!keep_going(options.progress, {.task = "reading", .fraction = 1})) throw Cancelled();
}

Dataset read_by(const Format& format, const Input& input) {
    formats::check_uses(input, format.uses, format.title);
    Dataset data = format.read(input);
    if (!format.any_width) formats::order_known(input, data);
    complete(input, data);
    return data;
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
    const Format& format = formats::settle_format(input, copy);
    return read_by(format, input);
}

/// Of all rows that were read, those asked for.
Dataset cut(Dataset data, const ReadOptions& options) {
    if (!options.part) return data;
    const RowRange range = options.part(data.size());
    if (range.size() == data.size()) return data;
    const std::vector<std::size_t> positions = positions_from(range.first, range.size());
    if (!is_mapped(data.x)) return data.select(positions);
    const Rows rows = data.x.slice(range.first, range.size());  // which stay where they are
    data.x = rows;
    data.y = data.y.select(positions);
    if (!data.weights.empty()) {
        data.weights.resize(range.last);
        data.weights.erase(data.weights.begin(),
                           data.weights.begin() + static_cast<std::ptrdiff_t>(range.first));
    }
    return data;
}

/// Text whose rows may be more than memory is to hold, window by window.
std::optional<Dataset> read_windows(ByteSource& source, const std::string& path,
                                    const ReadOptions& options) {
    // A number of two bytes of text takes up to eight bytes, and so do zeros beside it.
    constexpr std::size_t growth = 8;
    const bool plain = source.is_file() && !source.is_packed();
    if (source.head().empty() || (plain && source.file_size() <= options.most_bytes / growth)) {
        return std::nullopt;
    }
    Input input{source.head(), source.name(), options, path};
    Content copy;
    const Format& format = formats::settle_format(input, copy);
    if (format.read_windows == nullptr) return std::nullopt;
    formats::check_uses(input, format.uses, format.title);
    formats::TextWindows windows(source, options);
    std::optional<Dataset> data = format.read_windows(windows);
    if (!data) return data;
    if (!format.any_width) formats::order_known(input, *data);
    complete(input, *data);
    return data;
}

/// Nothing where the usual way is to be gone, which reads the file anew.
std::optional<Dataset> read_long(const std::string& path, const ReadOptions& options) {
    if (options.most_bytes == 0) return std::nullopt;
    ByteSource source(path, spool_folder(options.spool));
    const std::string beside = path == "-" ? "" : path;
    if (auto data = read_windows(source, beside, options)) return data;
    if (source.is_file()) return std::nullopt;
    const Content content = source.content(options.progress);  // a pipe speaks once
    return read_content(content.view(), source.name(), beside, options);
}

/// Large files in a format that can be are parsed as they are fetched, which saves the memory of
/// their text, and of an array that of rows not asked for.
std::optional<Dataset> read_in_pieces(const std::string& path, const ReadOptions& options) {
    constexpr std::size_t large = std::size_t{1} << 22;
    const std::optional<PlainFile> file = PlainFile::open(path);
    if (!file || file->size() < large || file->head().starts_with("\xEF\xBB\xBF")) {
        return std::nullopt;
    }
    ReadOptions watched = options;
    bool asked = false;  // the reader has read no more than the part
    if (options.part) {
        watched.part = [&](std::size_t total) {
            asked = true;
            return options.part(total);
        };
    }
    Input input{file->head(), path, watched, path};
    Content copy;
    const Format& format = formats::settle_format(input, copy);
    if (format.read_pieces == nullptr) return std::nullopt;
    formats::check_uses(input, format.uses, format.title);
    std::optional<Dataset> data = format.read_pieces(input, *file);
    if (!data) return data;
    const bool whole = !asked;
    if (!format.any_width) formats::order_known(input, *data);
    complete(input, *data);
    return whole ? cut(std::move(*data), options) : std::move(*data);
}

/// Nothing when the path is no folder that a format reads.
std::optional<Dataset> read_folder(const std::string& path, const ReadOptions& options) {
    std::error_code ignored;
    if (!std::filesystem::is_directory(path, ignored)) return std::nullopt;
    const Input input{{}, path, options, path};
    const Format* format = formats::folder_format(input);
    if (format == nullptr) return std::nullopt;
    return read_by(*format, input);
}

Dataset read_embedded(const std::string& path, const ReadOptions& options) {
    const Input input{{}, path, options};
    Dataset data = embedded(std::string_view(path).substr(1));
    formats::check_uses(input, {}, path);
    Rows rows = options.double_precision ? data.x.to_double() : data.x.to_float();
    data.x = formats::fitted(input, std::move(rows));
    if (data.feature_names.size() != data.columns()) data.feature_names.clear();
    formats::order_known(input, data);
    complete(input, data);
    return data;
}

}  // namespace

namespace formats {

Labels read_labels_file(const std::string& path, const ReadOptions& options) {
    const Content content = read_bytes(path);
    ReadOptions plain;
    plain.text_labels = options.text_labels;
    plain.label = "last";
    Input input{content.view(), path, plain};
    if (input.bytes.empty()) fail(input, "is empty, expected labels");
    Content copy;
    const Format& format = settle_format(input, copy);
    if (format.read_labels != nullptr) return format.read_labels(input);
    if (format.kind == Format::Kind::text) return read_label_lines(input);
    fail(input, "found " + format.title + ", expected " + listed_formats([](const Format& f) {
                    return f.read_labels != nullptr;
                }) + ", or one label a line");
}

std::vector<double> read_weights_file(const std::string& path) {
    Labels labels = read_labels_file(path, {});
    if (labels.are_text()) {
        throw InvalidInput(Location{.file = path}, "found " + mercer::quoted(labels.names[0]) +
                                                       ", expected one number a line");
    }
    return std::move(labels.values);
}

}  // namespace formats

Dataset read(const std::string& path, const ReadOptions& given) {
    const std::string name = path == "-" ? "standard input" : path;
    check_options(given);
    const ReadOptions options = with_known(given);
    try {
        if (path.starts_with('@')) return cut(read_embedded(path, options), options);
        if (path != "-") {
            if (auto data = read_folder(path, options)) return cut(std::move(*data), options);
        }
        if (auto data = read_long(path, options)) return cut(std::move(*data), options);
        if (path != "-") {
            if (auto data = read_in_pieces(path, options)) return std::move(*data);
        }
        const Content content = read_bytes(path, options.progress);
        return cut(read_content(content.view(), name, path == "-" ? "" : path, options), options);
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
