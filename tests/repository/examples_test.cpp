// The examples in the comments of public headers, and that of the README, compile.
//
// An example is a block of comment lines, set in by three blanks or more, of which one ends in a
// semicolon. All go into one file, each in a function of its own, after tests/docs/examples.hpp,
// which declares what they speak of and do not make. Only the syntax is checked.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path root = MERCER_SOURCE_DIRECTORY;

struct Example {
    std::string place;  ///< the file, for messages of the compiler
    std::string room{};
    std::size_t line = 0;
    std::string code{};
};

std::string trimmed(const std::string& text) {
    const std::size_t last = text.find_last_not_of(" \t\r");
    return last == std::string::npos ? "" : text.substr(0, last + 1);
}

/// The code of a comment line that is set in; empty for any other.
std::string code_of(const std::string& line) {
    const std::size_t start = line.find_first_not_of(' ');
    if (start == std::string::npos || line.compare(start, 2, "//") != 0) return {};
    const std::size_t text = line.find_first_not_of('/', start);
    if (text == std::string::npos || line.compare(text, 3, "   ") != 0) return {};
    return trimmed(line.substr(text + 3));
}

/// True when a line of the block is a statement or opens one.
bool is_code(const std::string& block) {
    std::istringstream lines(block);
    for (std::string line; std::getline(lines, line);) {
        const std::string own = trimmed(line.substr(0, line.find("//")));
        if (own.ends_with(';') || own.ends_with('{')) return true;
    }
    return false;
}

std::vector<Example> examples_of(const fs::path& header) {
    std::vector<Example> found;
    std::ifstream file(header);
    // The room of mercer.hpp, which has none, is the lowest.
    const bool all = header.filename() == "mercer.hpp";
    const fs::path within = header.lexically_relative(root / "src" / "mercer");
    Example now{.place = header.lexically_relative(root).string(),
                .room = all ? "base" : within.begin()->string()};
    std::size_t number = 0;
    const auto close = [&] {
        if (is_code(now.code)) found.push_back(now);
        now.code.clear();
    };
    for (std::string line; std::getline(file, line);) {
        ++number;
        const std::string code = code_of(line);
        if (code.empty()) {
            close();
            continue;
        }
        if (now.code.empty()) now.line = number;
        now.code += code + '\n';
    }
    close();
    return found;
}

/// The README's block of C++, without its #include lines: the headers are all there.
Example readme_example() {
    std::ifstream file(root / "README.md");
    Example example{.place = "README.md", .room = "base"};
    bool inside = false;
    std::size_t number = 0;
    for (std::string line; std::getline(file, line);) {
        ++number;
        if (line.starts_with("```")) {
            inside = line == "```cpp";
            if (inside) example.line = number + 1;
            continue;
        }
        if (inside) example.code += (line.starts_with("#include") ? "" : line) + '\n';
    }
    return example;
}

TEST(Examples, OfPublicHeadersAndReadmeCompile) {
    std::string text = "#include \"docs/examples.hpp\"\n";
    std::vector<Example> all{readme_example()};
    std::vector<fs::path> headers;
    for (const auto& entry : fs::recursive_directory_iterator(root / "src" / "mercer")) {
        const std::string name = entry.path().filename().string();
        const bool hidden = entry.path().string().find("/detail/") != std::string::npos;
        if (name.ends_with(".hpp") && !hidden) headers.push_back(entry.path());
    }
    std::ranges::sort(headers);
    for (const fs::path& header : headers) {
        text += "#include \"" + header.lexically_relative(root / "src").string() + "\"\n";
        const auto own = examples_of(header);
        all.insert(all.end(), own.begin(), own.end());
    }
    EXPECT_GE(all.size(), 70U);
    for (std::size_t i = 0; i < all.size(); ++i) {
        text += "namespace mercer { void example_" + std::to_string(i) +
                "() { using namespace example; using namespace example::in_" + all[i].room +
                ";\n#line " + std::to_string(all[i].line) + " \"" + all[i].place + "\"\n" +
                all[i].code + "} }\n";
    }
    const fs::path place = fs::path(MERCER_BINARY_DIRECTORY) / "examples.cpp";
    std::ofstream(place) << text;
    const std::string log = place.string() + ".log";
    const std::string command = std::string(MERCER_COMPILER) + " -std=c++20 -fsyntax-only -w -I'" +
                                (root / "src").string() + "' -I'" + (root / "tests").string() +
                                "' -I'" MERCER_BINARY_DIRECTORY "/src/generated' '" +
                                place.string() + "' > '" + log + "' 2>&1";
    const int code = std::system(command.c_str());
    std::ifstream told(log);
    const std::string messages{std::istreambuf_iterator<char>(told), {}};
    EXPECT_EQ(code, 0) << messages.substr(0, 4000);
}

}  // namespace
