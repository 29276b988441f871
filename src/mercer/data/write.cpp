#include "mercer/data/write.hpp"

#include <filesystem>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/formats/detail/write_rows.hpp"
#include "mercer/data/rows.hpp"

namespace mercer {
namespace {

/// Labels or weights into a file of their own.
void write_column(const Labels& column, const std::string& path) {
    const Format* format = format_of_name(path);
    const bool text = format == nullptr || format->kind == Format::Kind::text;
    const auto write = format != nullptr && format->write_labels != nullptr ? format->write_labels
                       : text ? formats::write_label_lines
                              : nullptr;
    if (write == nullptr) {
        throw InvalidInput(
            Location{.file = path},
            format->title + " is no file of labels or weights; name one of text, or of " +
                listed_formats([](const Format& f) { return f.write_labels != nullptr; }));
    }
    write_whole(path, [&](Output& output) { write(column, output); });
}

/// "npy files hold no labels; …, or write npz"
[[noreturn]] void refuse_part(const std::string& path, const Format& format, const char* what,
                              bool Keeps::*kept) {
    const std::string others =
        listed_formats([&](const Format& f) { return f.can_be_written() && f.keeps.*kept; });
    throw InvalidInput(Location{.file = path},
                       format.name + " files hold no " + what + "; name a `" + what +
                           "_file`, or none to leave them out, or write " + others);
}

void check_objects(const Dataset& data, const std::string& path, const Format& format) {
    for (const ObjectColumn& column : data.x.objects()) {
        const bool text = column.kind() == ObjectKind::text;
        const auto keeps = text                                 ? &Keeps::texts
                           : column.kind() == ObjectKind::graph ? &Keeps::graphs
                                                                : &Keeps::nodes;
        if (format.keeps.*keeps) continue;
        const std::string others =
            listed_formats([&](const Format& f) { return f.can_be_written() && f.keeps.*keeps; });
        throw InvalidInput(Location{.file = path},
                           format.title + " holds no " +
                               (text                                ? "texts"
                                : column.kind() == ObjectKind::node ? "nodes of a graph"
                                                                    : "graphs") +
                               ", as in the column " + quoted(column.name()) +
                               (others.empty() ? "" : "; write " + others));
    }
}

/// Options that only some formats have a use for.
void check_uses(const std::string& path, const Format& format, const WriteOptions& options) {
    const auto check = [&](const char* name, bool OptionUses::*use, bool given) {
        if (!given || format.uses.*use) return;
        throw InvalidInput(
            Location{.file = path},
            std::string("`") + name + "` has no meaning for " + format.title + ": it belongs to " +
                listed_formats([&](const Format& f) { return f.can_be_written() && f.uses.*use; }));
    };
    check("header", &OptionUses::header, options.header != HeaderLine::automatic);
    check("first_index", &OptionUses::first_index, options.first_index != 1);
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

Split split(const Dataset& all, const std::string& path, const Format& format,
            const WriteOptions& options) {
    Split parts{.data = all,
                .labels = {},
                .labels_file = written_labels_file(path, options),
                .weights = {},
                .weights_file = options.weights_file};
    if (!parts.labels_file.empty()) parts.labels = std::exchange(parts.data.y, {});
    if (!parts.weights_file.empty()) {
        parts.weights.values = std::exchange(parts.data.weights, {});
    }
    if (!format.keeps.labels && !parts.data.y.empty()) {
        refuse_part(path, format, "labels", &Keeps::labels);
    }
    if (!format.keeps.weights && !parts.data.weights.empty()) {
        refuse_part(path, format, "weights", &Keeps::weights);
    }
    return parts;
}

/// A folder that takes its name when all of its files are written.
void write_folder(const Dataset& data, const std::string& path, const Format& format) {
    namespace fs = std::filesystem;
    std::error_code error;
    if (path == "-" || fs::exists(path, error)) {
        throw InvalidInput(Location{.file = path},
                           format.title + " are written as a new folder; " +
                               (path == "-" ? "name one" : "there is something of this name"));
    }
    const fs::path place(path);
    const fs::path whole = place.has_filename() ? place : place.parent_path();
    const fs::path part = whole.string() + ".part";
    if (!fs::create_directory(part, error)) {
        throw InvalidInput(Location{.file = part.string()},
                           "the folder cannot be made: " +
                               (error ? error.message() : "there is something of this name"));
    }
    try {
        FilesTogether files(FilesTogether::Nested::apart);
        format.write_files(data, whole.filename().string(), part.string());
        files.keep();
        fs::rename(part, whole);
    } catch (...) {
        fs::remove_all(part, error);
        throw;
    }
}

}  // namespace

std::string written_labels_file(const std::string& path, const WriteOptions& options) {
    const Format& format = written_format(path, options);
    const bool beside =
        options.labels_file.empty() && path != "-" && format.labels_beside != nullptr;
    return beside ? format.labels_beside(path) : options.labels_file;
}

void write(const Dataset& data, const std::string& path, const WriteOptions& options) {
    data.check();
    // What is not finite is a computation that failed unnoticed: no format keeps it as data.
    require_finite(data.x);
    const Format& format = written_format(path, options);
    check_uses(path, format, options);
    check_objects(data, path, format);
    const Split parts = split(data, path, format, options);
    FilesTogether files;
    if (!parts.labels.empty() && parts.labels_file != "none") {
        write_column(parts.labels, parts.labels_file);
    }
    if (!parts.weights.empty() && parts.weights_file != "none") {
        write_column(parts.weights, parts.weights_file);
    }
    if (format.write_files != nullptr) {
        write_folder(parts.data, path, format);
    } else {
        write_whole(path, [&](Output& output) { format.write(parts.data, path, options, output); });
    }
    if (!keep_going(options.progress, {.task = "writing", .fraction = 1})) throw Cancelled();
    files.keep();
}

bool takes_blocks(const std::string& path, const WriteOptions& options) {
    return written_format(path, options).write_blocks != nullptr;
}

void write_blocks(const RowBlocks& blocks, const std::string& path, const WriteOptions& options) {
    const Format& format = written_format(path, options);
    check_uses(path, format, options);
    write_whole(path, [&](Output& output) { format.write_blocks(blocks, options, output); });
}

}  // namespace mercer
