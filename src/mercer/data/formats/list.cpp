// The list of formats. A new one is declared and named here, and is otherwise a file of its own.
#include <algorithm>
#include <deque>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/format.hpp"

namespace mercer {
namespace formats {

// Of formats that are equally sure of a file the first has it; those to be refused come first.
Format workbook(), opendocument(), excel(), arrow(), sqlite(), hdf5();
Format arff(), libsvm(), csv(), tsv(), spaces(), npy(), npz(), idx(), parquet();
Format fasta(), lines(), folders(), tar(), tu_graphs(), time_series(), edges();
constexpr Format (*entries[])() = {workbook,  opendocument, excel,   arrow,  sqlite,  hdf5,
                                   libsvm,    csv,          tsv,     spaces, arff,    npy,
                                   npz,       idx,          parquet, fasta,  folders, tar,
                                   tu_graphs, time_series,  edges,   lines};

}  // namespace formats

namespace {

/// Where the entries live, and the list of them in order.
struct Formats {
    std::deque<Format> entries;
    std::vector<const Format*> list;

    Formats() {
        for (Format (*const entry)() : formats::entries) add(entry());
    }

    void add(Format format) {
        entries.push_back(std::move(format));
        list.push_back(&entries.back());
    }
};

Formats& known_formats() {
    static Formats formats;
    return formats;
}

bool can(const Format& format, FormatUse use) {
    return use == FormatUse::reading ? format.read != nullptr : format.can_be_written();
}

/// The name without the suffix of a compressor.
std::string_view unpacked_name(std::string_view path) {
    for (const std::string_view suffix : {".gz", ".bz2", ".xz", ".zst"}) {
        if (path.ends_with(suffix)) return path.substr(0, path.size() - suffix.size());
    }
    return path;
}

}  // namespace

const std::vector<const Format*>& all_formats() {
    return known_formats().list;
}

void add_format(Format format) {
    if (format.recognise == nullptr && format.read == nullptr && !format.can_be_written()) {
        throw InvalidInput("the format " + quoted(format.name) +
                           " can neither be recognised nor read nor written");
    }
    for (const Format* known : all_formats()) {
        if (known->name != format.name) continue;
        throw InvalidInput("there is a format " + quoted(format.name) + " already");
    }
    known_formats().add(std::move(format));
}

void remove_format(std::string_view name) {
    std::erase_if(known_formats().list, [&](const Format* format) { return format->name == name; });
}

std::vector<std::string> format_names(FormatUse use) {
    std::vector<std::string> names;
    for (const Format* format : all_formats()) {
        if (can(*format, use)) names.push_back(format->name);
    }
    return names;
}

const Format& find_format(std::string_view name, FormatUse use) {
    for (const Format* format : all_formats()) {
        if (format->name == name && can(*format, use)) return *format;
    }
    throw InvalidInput("found the format " + quoted(name) + ", expected " +
                       listed_formats([&](const Format& format) { return can(format, use); }));
}

std::string listed_formats(const std::function<bool(const Format&)>& holds,
                           std::string Format::*text) {
    std::vector<std::string> words;
    for (const Format* format : all_formats()) {
        if (holds(*format)) words.push_back(format->*text);
    }
    std::string list;
    for (std::size_t k = 0; k < words.size(); ++k) {
        list += (k == 0 ? "" : k + 1 == words.size() ? " or " : ", ") + words[k];
    }
    return list;
}

const Format* format_of_name(const std::string& path) {
    const std::string_view name = unpacked_name(path);
    for (const Format* format : all_formats()) {
        if (std::ranges::any_of(format->suffixes,
                                [&](const std::string& end) { return name.ends_with(end); })) {
            return format;
        }
    }
    return nullptr;
}

const Format& written_format(const std::string& path, const WriteOptions& options) {
    if (!options.format.empty()) return find_format(options.format, FormatUse::writing);
    const Format* format = format_of_name(path);
    if (format == nullptr)
        return find_format(format_names(FormatUse::writing)[0], FormatUse::writing);
    if (format->can_be_written()) return *format;
    throw InvalidInput(Location{.file = path},
                       format->title + " cannot be written; choose another name, or write " +
                           listed_formats([](const Format& f) { return f.can_be_written(); }));
}

}  // namespace mercer
