// What was built loads libraries from places that are named whole: an empty or relative element of
// the search path means the folder one happens to be in, where anybody may have put a file of that
// name.
#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <regex>
#include <string>
#include <vector>

#include "repository/tree.hpp"

namespace mercer::test {
namespace {

std::string output_of(const std::string& command) {
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::string text;
    char part[4096];
    while (pipe && std::fgets(part, sizeof part, pipe.get()) != nullptr) text += part;
    return text;
}

/// The elements of RPATH and RUNPATH in what readelf -d prints.
std::vector<std::string> search_path(const std::string& text) {
    static const std::regex line(R"((?:runpath|rpath): \[([^\]]*)\])");
    std::vector<std::string> elements;
    for (std::sregex_iterator at(text.begin(), text.end(), line), end; at != end; ++at) {
        const std::string path = (*at)[1];
        for (std::size_t first = 0; first <= path.size();) {
            const std::size_t last = std::min(path.find(':', first), path.size());
            elements.push_back(path.substr(first, last - first));
            first = last + 1;
        }
    }
    return elements;
}

bool is_whole(const std::string& element) {
    return element.starts_with('/') || element == "$ORIGIN" || element.starts_with("$ORIGIN/");
}

std::vector<fs::path> binaries() {
    const fs::path build = MERCER_BINARY_DIRECTORY;
    std::vector<fs::path> files;
    for (const char* place : {"bin", "lib", "examples/bin", "python-package/mercer"}) {
        if (!fs::exists(build / place)) continue;
        for (const auto& entry : fs::directory_iterator(build / place)) {
            if (entry.is_regular_file() && contents(entry.path())
                                               .starts_with("\x7f"
                                                            "ELF")) {
                files.push_back(entry.path());
            }
        }
    }
    return files;
}

TEST(Binaries, LoadLibrariesFromNamedPlacesOnly) {
    if (output_of("readelf --version 2>/dev/null").empty()) GTEST_SKIP() << "there is no readelf";
    const std::vector<fs::path> files = binaries();
    EXPECT_GE(files.size(), 1U) << "the check found too little to be believed";
    for (const fs::path& file : files) {
        for (const std::string& element :
             search_path(output_of("readelf -d '" + file.string() + "' 2>/dev/null"))) {
            EXPECT_TRUE(is_whole(element)) << file << " looks in '" << element << "'";
        }
    }
}

TEST(Binaries, TheCheckSeesEmptyAndRelativePlaces) {
    const auto found = search_path(" (RUNPATH) Library runpath: [/opt/lib:]\n");
    EXPECT_EQ(found, (std::vector<std::string>{"/opt/lib", ""}));
    EXPECT_FALSE(is_whole(""));
    EXPECT_FALSE(is_whole("lib"));
    EXPECT_FALSE(is_whole("$ORIGINS"));
    EXPECT_TRUE(is_whole("$ORIGIN/../lib"));
    EXPECT_TRUE(search_path("nothing").empty());
}

}  // namespace
}  // namespace mercer::test
