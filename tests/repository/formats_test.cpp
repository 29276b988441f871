// A format is known in its own file and in the list of formats, and nowhere else: what lists them,
// or asks which one it is, reads the list. So a new format touches two files.
#include <gtest/gtest.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "mercer/data/format.hpp"

namespace mercer {
namespace {

namespace fs = std::filesystem;

/// The words by which formats are known: names and endings.
std::set<std::string> format_words() {
    std::set<std::string> words;
    for (const Format* format : all_formats()) {
        words.insert(format->name);
        words.insert(format->suffixes.begin(), format->suffixes.end());
    }
    return words;
}

/// How many formats a line mentions by their titles.
std::size_t titles_in(const std::string& line) {
    const auto in_word = [&](std::size_t at) {
        return at < line.size() && std::isalnum(static_cast<unsigned char>(line[at])) != 0;
    };
    std::size_t count = 0;
    for (const Format* format : all_formats()) {
        for (std::size_t at = 0; (at = line.find(format->title, at)) != std::string::npos; ++at) {
            if ((at > 0 && in_word(at - 1)) || in_word(at + format->title.size())) continue;
            ++count;
            break;
        }
    }
    return count;
}

/// What is wrong with a source file that is no format's own; empty where nothing is.
std::vector<std::string> faults(const std::string& text) {
    static const std::regex literal(R"(([=!]=|case|\()?\s*["']([^"'\n]*)["'])");
    const std::set<std::string> words = format_words();
    std::set<std::string> named;
    std::vector<std::string> found;
    for (std::sregex_iterator m(text.begin(), text.end(), literal), end; m != end; ++m) {
        const std::string before = (*m)[1], value = (*m)[2];
        if (words.contains(value)) {
            named.insert(value);
            if (!before.empty()) found.push_back("asks for the format " + value);
            if (value[0] == '.' || value[0] == '-') found.push_back("knows the ending " + value);
        }
    }
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (titles_in(line) > 1) found.push_back("lists formats: " + line);
    }
    if (named.size() > 1) found.push_back("names the formats " + *named.begin() + ", …");
    return found;
}

TEST(Formats, AreKnownInTheirOwnFilesOnly) {
    const fs::path root(MERCER_SOURCE_DIRECTORY);
    std::size_t files = 0;
    for (const char* place : {"src/mercer", "cli", "python/src", "python/mercer"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / place)) {
            const std::string extension = entry.path().extension().string();
            const std::string path = entry.path().lexically_relative(root).string();
            if (extension != ".cpp" && extension != ".hpp" && extension != ".py") continue;
            if (path.starts_with("src/mercer/data/formats/")) continue;
            ++files;
            std::ifstream in(entry.path());
            const std::string text{std::istreambuf_iterator<char>(in), {}};
            for (const std::string& fault : faults(text)) ADD_FAILURE() << path << ": " << fault;
        }
    }
    EXPECT_GT(files, 200U) << "the check found too little to be believed";
}

TEST(Formats, TheCheckSeesMistakes) {
    EXPECT_TRUE(faults("options.format = \"csv\";").empty());
    EXPECT_FALSE(faults("if (options.format == \"csv\") return;").empty());
    EXPECT_FALSE(faults("if (name.ends_with(\".npy\")) return;").empty());
    EXPECT_FALSE(faults("words = {\"auto\", \"csv\", \"npz\"};").empty());
    EXPECT_FALSE(faults("\"expected CSV, NPY or idx\"").empty());
    EXPECT_FALSE(faults("words = ['csv', 'npz']").empty());
    EXPECT_FALSE(faults("// one of CSV and TSV").empty());
}

/// Each .cpp file of the folder defines a format, or is the list, or finds the format of a file.
TEST(Formats, EachIsNamedInTheListAlone) {
    const fs::path folder = fs::path(MERCER_SOURCE_DIRECTORY) / "src/mercer/data/formats";
    std::ifstream in(folder / "list.cpp");
    const std::string list{std::istreambuf_iterator<char>(in), {}};
    const std::regex definition(R"(\nFormat (\w+)\(\) \{)");
    std::size_t formats = 0;
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() != ".cpp") continue;
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        for (std::sregex_iterator m(text.begin(), text.end(), definition), end; m != end; ++m) {
            ++formats;
            EXPECT_TRUE(std::regex_search(list, std::regex("\\b" + (*m)[1].str() + "\\b")))
                << (*m)[1] << " of " << entry.path() << " is not in the list";
        }
    }
    EXPECT_EQ(formats, all_formats().size());
}

}  // namespace
}  // namespace mercer
