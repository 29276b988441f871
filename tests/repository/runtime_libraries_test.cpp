// Every library that is opened at run time is carried by the wheels or declared optional there, so
// that no wheel passes all checks of what is linked and fails at its first product.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <string>

#include "repository/tree.hpp"

namespace mercer::test {
namespace {

/// The definitions that name such libraries, by the files that use them.
std::map<std::string, std::string> opened_at_run_time() {
    const fs::path root = MERCER_SOURCE_DIRECTORY;
    const std::regex name("\\bMERCER_\\w+_LIBRARY\\b");
    std::map<std::string, std::string> found;
    for (const char* folder : {"src", "cli", "studio", "python/src"}) {
        for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
            const std::string extension = entry.path().extension().string();
            if (extension != ".cpp" && extension != ".hpp") continue;
            const std::string text = contents(entry.path());
            for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
                found.emplace(at->str(), entry.path().string());
            }
        }
    }
    return found;
}

std::set<std::string> keys_of(const std::string& text, const std::string& table) {
    const std::size_t begin = text.find("\n" + table + " = {");
    const std::string part = text.substr(begin, text.find("\n}", begin) - begin);
    const std::regex key("\"(MERCER_\\w+_LIBRARY)\"");
    std::set<std::string> keys;
    for (std::sregex_iterator at(part.begin(), part.end(), key), end; at != end; ++at) {
        keys.insert((*at)[1].str());
    }
    return keys;
}

TEST(RuntimeLibraries, AreCarriedByTheWheelsOrDeclaredOptional) {
    const std::string tool = contents(fs::path(MERCER_SOURCE_DIRECTORY) / "tools/make_wheel.py");
    const std::set<std::string> carried = keys_of(tool, "CARRIED");
    const std::set<std::string> optional = keys_of(tool, "OPTIONAL");
    const auto opened = opened_at_run_time();
    EXPECT_GE(opened.size(), 6U) << "the check found too little to be believed";
    for (const auto& [name, file] : opened) {
        EXPECT_EQ(carried.count(name) + optional.count(name), 1U)
            << name << " of " << file << ": see CARRIED and OPTIONAL of tools/make_wheel.py";
    }
    for (const auto& list : {carried, optional}) {
        for (const std::string& name : list) EXPECT_TRUE(opened.contains(name)) << name;
    }
}

// A library opened by a name that no definition gives would escape the test above.
TEST(RuntimeLibraries, AreOpenedInTwoPlacesOnly) {
    std::set<std::string> places;
    for (const char* folder : {"src", "cli", "studio", "python/src"}) {
        for (const auto& entry :
             fs::recursive_directory_iterator(fs::path(MERCER_SOURCE_DIRECTORY) / folder)) {
            if (entry.path().extension() != ".cpp" && entry.path().extension() != ".hpp") continue;
            if (contents(entry.path()).find("dlopen(") == std::string::npos) continue;
            places.insert(entry.path().filename().string());
        }
    }
    EXPECT_EQ(places, (std::set<std::string>{"library.cpp", "server.cpp"}));
}

}  // namespace
}  // namespace mercer::test
