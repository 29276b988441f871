// What tests that read the tree itself share.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

namespace mercer::test {

namespace fs = std::filesystem;

inline fs::path source_root() {
    return MERCER_SOURCE_DIRECTORY;
}
inline fs::path library_root() {
    return source_root() / "src" / "mercer";
}

struct Include {
    std::string target;
    bool angled = false;
};

/// The #include lines of one file's text.
inline std::vector<Include> includes_of(std::string_view text) {
    std::vector<Include> result;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        std::string line(text.substr(start, end - start));
        start = end + 1;
        std::erase_if(line, [](char c) { return c == ' ' || c == '\t' || c == '\r'; });
        if (!line.starts_with("#include") || line.size() < 11) continue;
        const bool angled = line[8] == '<';
        const std::size_t close = line.find(angled ? '>' : '"', 9);
        if (close == std::string::npos) continue;
        result.push_back({line.substr(9, close - 9), angled});
    }
    return result;
}

inline std::string contents(const fs::path& path) {
    std::string text(fs::is_regular_file(path) ? fs::file_size(path) : 0, '\0');
    std::ifstream in(
        path,
        std::ios::binary);  // at once: binaries are large, and reading by characters is not fast
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(in.gcount(), 0)));
    return text;
}

/// Headers and sources of the library, sorted.
inline std::vector<fs::path> library_files() {
    std::vector<fs::path> files;
    const fs::path root = library_root();
    for (const auto& entry : fs::recursive_directory_iterator(root)) {
        const std::string extension = entry.path().extension().string();
        if (extension == ".hpp" || extension == ".cpp") files.push_back(entry.path());
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// Headers in a folder detail/ are not installed.
inline bool is_public_header(const fs::path& file) {
    return file.extension() == ".hpp" && std::ranges::find(file, fs::path("detail")) == file.end();
}

}  // namespace mercer::test
