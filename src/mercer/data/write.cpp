#include "mercer/data/write.hpp"

#include <filesystem>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/data/finite.hpp"
#include "mercer/data/write-inl.hpp"

namespace mercer {
namespace {

/// The name without the suffix of a compressor.
std::string_view unpacked_name(std::string_view path) {
    for (const std::string_view suffix : {".gz", ".bz2", ".xz", ".zst"}) {
        if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
    }
    return path;
}

FileFormat format_of_name(const std::string& path, FileFormat otherwise) {
    const std::string_view name = unpacked_name(path);
    if (name.ends_with(".csv")) return FileFormat::csv;
    if (name.ends_with(".tsv")) return FileFormat::tsv;
    if (name.ends_with(".npy")) return FileFormat::npy;
    if (name.ends_with(".npz")) return FileFormat::npz;
    if (name.ends_with(".idx") || name.ends_with("-ubyte")) return FileFormat::idx;
    return otherwise;
}

bool has_idx3(const std::string& path) {
    return std::filesystem::path(path).filename().string().find("idx3") != std::string::npos;
}

/// Where the labels of an images file belong; empty when its name does not say.
std::string labels_name(const std::string& path) {
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

/// Labels or weights into a file of their own.
void write_column(const Labels& column, const std::string& path) {
    write_whole(path, [&](Output& output) {
        switch (format_of_name(path, FileFormat::spaces)) {
            case FileFormat::npy: return formats::write_label_npy(column, output);
            case FileFormat::idx: return formats::write_label_idx(column, output);
            case FileFormat::npz:
                throw InvalidInput(Location{.file = path},
                                   "an archive is no file of labels or weights; name an .npy file");
            default: return formats::write_label_lines(column, output);
        }
    });
}

/// Takes labels and weights out of the data where the options send them elsewhere, and refuses
/// what the format cannot hold.
struct Split {
    Dataset data;
    Labels labels;
    std::string labels_file;
    Labels weights;
    std::string weights_file;
};

Split split(const Dataset& all, const std::string& path, FileFormat format,
            const WriteOptions& options) {
    Split parts{.data = all,
                .labels = {},
                .labels_file = options.labels_file,
                .weights = {},
                .weights_file = options.weights_file};
    const bool array = format == FileFormat::npy || format == FileFormat::idx;
    if (format == FileFormat::idx && parts.labels_file.empty() && path != "-") {
        parts.labels_file = labels_name(path);
    }
    if (!parts.labels_file.empty()) parts.labels = std::exchange(parts.data.y, {});
    if (!parts.weights_file.empty()) {
        parts.weights.values = std::exchange(parts.data.weights, {});
    }
    const Location where{.file = path};
    if (array && !parts.data.y.empty()) {
        throw InvalidInput(where, std::string(format_name(format)) +
                                      " files hold no labels; name a `labels_file`, or none to " +
                                      "leave them out, or write npz");
    }
    if ((array || format == FileFormat::libsvm) && !parts.data.weights.empty()) {
        throw InvalidInput(where, std::string(format_name(format)) +
                                      " files hold no weights; name a `weights_file`, or none to " +
                                      "leave them out, or write npz or csv");
    }
    return parts;
}

void write_format(const Dataset& data, const std::string& path, FileFormat format,
                  const WriteOptions& options, Output& output) {
    switch (format) {
        case FileFormat::automatic:
        case FileFormat::libsvm: return formats::write_libsvm(data, options, output);
        case FileFormat::csv: return formats::write_table(data, options, ',', output);
        case FileFormat::tsv: return formats::write_table(data, options, '\t', output);
        case FileFormat::spaces: return formats::write_table(data, options, ' ', output);
        case FileFormat::npy: return formats::write_npy(data, options, output);
        case FileFormat::npz: return formats::write_npz(data, options, output);
        case FileFormat::idx: return formats::write_idx(data, options, has_idx3(path), output);
    }
}

}  // namespace

FileFormat written_format(const std::string& path, const WriteOptions& options) {
    return options.format == FileFormat::automatic ? format_of_name(path, FileFormat::libsvm)
                                                   : options.format;
}

void write(const Dataset& data, const std::string& path, const WriteOptions& options) {
    data.check();
    // What is not finite is a computation that failed unnoticed: no format keeps it as data.
    require_finite(data.x);
    const FileFormat format = written_format(path, options);
    const Split parts = split(data, path, format, options);
    if (!parts.labels.empty() && parts.labels_file != "none") {
        write_column(parts.labels, parts.labels_file);
    }
    if (!parts.weights.empty() && parts.weights_file != "none") {
        write_column(parts.weights, parts.weights_file);
    }
    write_whole(path,
                [&](Output& output) { write_format(parts.data, path, format, options, output); });
    if (!keep_going(options.progress, {.task = "writing", .fraction = 1})) throw Cancelled();
}

}  // namespace mercer
