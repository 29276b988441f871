// Documents: one a line, or one a file in folders that are named like the classes.
#include <algorithm>
#include <cstring>
#include <filesystem>
#include <set>
#include <tuple>
#include <utility>

#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/input.hpp"
#include "mercer/data/formats/detail/write_rows.hpp"

namespace mercer::formats {
namespace {

namespace fs = std::filesystem;

Dataset read_lines(const Input& input) {
    Texts texts;
    for (const char* p = input.begin(); p != input.end();) {
        const auto left = static_cast<std::size_t>(input.end() - p);
        const auto* end = static_cast<const char*>(std::memchr(p, '\n', left));
        std::string_view line(p, static_cast<std::size_t>(end - p));
        if (line.size() > input.options.longest_line) fail_mistake(input, {p, ""});
        if (line.ends_with('\r')) line.remove_suffix(1);
        texts.push_back(line);
        p = end + 1;
    }
    Dataset data;
    data.x = Rows().with_objects({ObjectColumn::texts("text", std::move(texts))});
    return data;
}

void write_lines(const Dataset& data, const std::string& path, const WriteOptions& options,
                 Output& output) {
    if (data.columns() > 0 || data.x.objects().size() != 1) {
        throw InvalidInput(Location{.file = path},
                           "lines hold one column of texts and no numbers; write csv");
    }
    const ObjectColumn& column = data.x.objects().front();
    for (std::size_t i = 0; i < data.size(); ++i) {
        if (column.text(i).find('\n') == std::string_view::npos) continue;
        throw InvalidInput(Location{.file = path}, "the document of row " + std::to_string(i + 1) +
                                                       " goes over several lines; write csv");
    }
    write_rows(data.size(), options.progress, output,
               [&](std::string& text, std::size_t first, std::size_t last) {
                   for (std::size_t i = first; i < last; ++i) {
                       text += column.text(i);
                       text += '\n';
                   }
               });
}

struct Document {
    std::string folder;
    std::string name;
    std::string text;
};

/// In the order of their names, whatever the order of the disk or the archive.
Dataset from_documents(const Input& input, std::vector<Document> documents) {
    if (documents.empty()) fail(input, "holds no files in folders");
    std::ranges::sort(documents, [](const Document& a, const Document& b) {
        return std::tie(a.folder, a.name) < std::tie(b.folder, b.name);
    });
    Texts texts;
    std::vector<std::string> labels;
    for (const Document& document : documents) {
        texts.push_back(document.text);
        labels.push_back(document.folder);
    }
    Dataset data;
    data.x = Rows().with_objects({ObjectColumn::texts("text", std::move(texts))});
    data.y = labels_from_names(labels);
    return data;
}

bool is_hidden(const fs::path& path) {
    return path.filename().string().starts_with('.');
}

/// The sub-folders that have files in them.
std::vector<fs::path> class_folders(const std::string& path) {
    std::vector<fs::path> folders;
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
        if (!entry.is_directory(error) || is_hidden(entry.path())) continue;
        for (const fs::directory_entry& file : fs::directory_iterator(entry.path(), error)) {
            if (!file.is_regular_file(error) || is_hidden(file.path())) continue;
            folders.push_back(entry.path());
            break;
        }
    }
    return folders;
}

Dataset read_folders(const Input& input) {
    std::vector<Document> documents;
    for (const fs::path& folder : class_folders(input.path)) {
        std::error_code error;
        for (const fs::directory_entry& file : fs::directory_iterator(folder, error)) {
            if (!file.is_regular_file(error) || is_hidden(file.path())) continue;
            const Content content = read_bytes(file.path().string());
            documents.push_back({folder.filename().string(), file.path().filename().string(),
                                 std::string(content.view())});
            if (!keep_going(input.options.progress, {.task = "reading"})) throw Cancelled();
        }
    }
    return from_documents(input, std::move(documents));
}

// ---- tar, as POSIX.1-1988 has it (ustar), with the long names of GNU

constexpr std::size_t tar_block = 512;

std::string_view tar_field(std::string_view header, std::size_t first, std::size_t size) {
    const std::string_view field = header.substr(first, size);
    return field.substr(0, std::min(field.find('\0'), field.size()));
}

std::size_t tar_number(const Input& input, std::string_view field) {
    std::size_t value = 0;
    for (const char c : field) {
        if (c == ' ') continue;
        if (c < '0' || c > '7') fail(input, "is a damaged tar archive: a size is no octal number");
        value = value * 8 + static_cast<std::size_t>(c - '0');
    }
    return value;
}

bool is_tar(std::string_view bytes) {
    return bytes.size() > 262 && bytes.substr(257, 5) == "ustar" &&
           bytes.substr(0, tar_block).find('\0') != std::string_view::npos;
}

Dataset read_tar(const Input& input) {
    std::vector<Document> documents;
    std::string long_name;
    std::set<std::string> above;
    for (std::size_t at = 0; at + tar_block <= input.bytes.size();) {
        const std::string_view header = input.bytes.substr(at, tar_block);
        if (header.front() == '\0') break;
        const std::size_t size = tar_number(input, tar_field(header, 124, 12));
        at += tar_block;
        if (size > input.bytes.size() - at) fail(input, "is a tar archive that ends too early");
        const std::string_view content = input.bytes.substr(at, size);
        at = std::min(at + (size + tar_block - 1) / tar_block * tar_block, input.bytes.size());
        const char type = header[156];
        if (type == 'L') {
            long_name = std::string(tar_field(content, 0, content.size()));
            continue;
        }
        const std::string_view prefix = tar_field(header, 345, 155);
        std::string name = !long_name.empty() ? std::exchange(long_name, {})
                           : prefix.empty()
                               ? std::string(tar_field(header, 0, 100))
                               : std::string(prefix) + '/' + std::string(tar_field(header, 0, 100));
        const fs::path path(name);
        const std::string folder = path.parent_path().filename().string();
        const bool file = type == '0' || type == '\0';
        if (!file || folder.empty() || folder == "." || is_hidden(path)) continue;
        above.insert(path.parent_path().parent_path().filename().string());
        documents.push_back({folder, path.filename().string(), std::string(content)});
    }
    // Files that describe the archive stand in the folder above those of the classes.
    std::erase_if(documents, [&](const Document& d) { return above.contains(d.folder); });
    return from_documents(input, std::move(documents));
}

}  // namespace

Format lines() {
    return {.name = "lines",
            .title = "documents in lines",
            .about = "one document a line",
            .read = read_lines,
            .write = write_lines,
            .keeps = {.labels = false, .weights = false, .texts = true}};
}

Format folders() {
    return {.name = "folders",
            .title = "a folder of folders",
            .about = "one document a file, in folders named like the classes",
            .kind = Format::Kind::folder,
            .recognise =
                [](const Input& input) {
                    const bool is = class_folders(input.path).size() > 1;
                    return Match{is ? Certainty::likely : Certainty::none};
                },
            .read = read_folders};
}

Format tar() {
    return {.name = "tar",
            .title = "tar",
            .about = "the same, packed into an archive",
            .kind = Format::Kind::bytes,
            .recognise =
                [](const Input& input) {
                    return Match{is_tar(input.bytes) ? Certainty::certain : Certainty::none};
                },
            .read = read_tar};
}

}  // namespace mercer::formats
