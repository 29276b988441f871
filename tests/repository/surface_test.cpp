// What is installed: mercer.hpp shows it all, and every header says what it is for.
#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "repository/tree.hpp"

namespace mercer::test {
namespace {

/// Public headers as they are included: "mercer/base/error.hpp".
std::vector<std::string> public_headers() {
    std::vector<std::string> names;
    for (const fs::path& file : library_files()) {
        const fs::path relative = file.lexically_relative(library_root().parent_path());
        if (is_public_header(relative)) names.push_back(relative.string());
    }
    return names;
}

/// What the header `name` includes of ours, at any depth, itself among them.
std::set<std::string> reached_from(const std::string& name) {
    std::set<std::string> seen{name};
    std::vector<std::string> open{name};
    while (!open.empty()) {
        const fs::path file = library_root().parent_path() / open.back();
        open.pop_back();
        for (const Include& include : includes_of(contents(file))) {
            const bool ours = include.target.starts_with("mercer/");
            if (ours && seen.insert(include.target).second) open.push_back(include.target);
        }
    }
    return seen;
}

/// Public, but not for everybody: whoever wants one includes it by name.
const std::map<std::string, std::string>& left_out() {
    static const std::map<std::string, std::string> why{
        {"mercer/base/file.hpp", "writes files whole or not at all; `save` and `write` use it"},
        {"mercer/base/text.hpp", "numbers as text, for programs that print like ours"},
        {"mercer/data/source.hpp", "bytes of files; `read` is what most want"},
    };
    return why;
}

TEST(Surface, MercerHppShowsEveryPublicHeader) {
    const std::set<std::string> reached = reached_from("mercer/mercer.hpp");
    const std::vector<std::string> all = public_headers();
    EXPECT_GT(all.size(), 50U) << "the check found too little to be believed";
    for (const std::string& header : all) {
        EXPECT_NE(reached.contains(header), left_out().contains(header))
            << header << ": include it in mercer.hpp, or say in left_out() why not (and not both)";
    }
    const std::set<std::string> known(all.begin(), all.end());
    for (const auto& [header, why] : left_out()) {
        EXPECT_TRUE(known.contains(header)) << header << " is no public header any more";
        EXPECT_GT(why.size(), 10U) << header;
    }
}

TEST(Surface, IsSmallAndEveryHeaderSaysWhatItIsFor) {
    constexpr std::size_t most = 100;
    const std::vector<std::string> all = public_headers();
    EXPECT_LE(all.size(), most) << "move what only .cpp files need into a folder detail/";
    for (const std::string& header : all) {
        const std::string text = contents(library_root().parent_path() / header);
        EXPECT_TRUE(text.starts_with("// ")) << header << " begins without a word on its purpose";
    }
}

/// The names that a program linked to the library finds there, as people write them.
std::string exported_names(const fs::path& library) {
    const std::string list = library.string() + ".names";
    const std::string command =
        "nm -DC --defined-only '" + library.string() + "' > '" + list + "' 2>&1";
    if (std::system(command.c_str()) != 0) return {};
    return contents(list);
}

// A function template's visibility is that of its definition in a .cpp file, where the attribute is
// easily forgotten: the library links, and whoever uses it does not.
TEST(Surface, InstantiatedTemplatesCanBeLinkedAgainst) {
    const fs::path library = fs::path(MERCER_BINARY_DIRECTORY) / "lib" / "libmercer.so";
    if (!fs::exists(library)) GTEST_SKIP() << "a static library hides nothing";
    const std::string names = exported_names(library);
    ASSERT_NE(names, "") << "nm does not run";
    std::size_t seen = 0;
    const std::regex declared(R"(extern template [^;(]*?(\w+)(<\w+>)?\()");
    for (const std::string& header : public_headers()) {
        const std::string text = contents(library_root().parent_path() / header);
        for (std::sregex_iterator at(text.begin(), text.end(), declared), end; at != end; ++at) {
            for (const char* kind : {"<float>(", "<double>("}) {
                const std::string name = "::" + (*at)[1].str() + kind;
                EXPECT_NE(names.find(name), std::string::npos) << name << " of " << header;
            }
            ++seen;
        }
    }
    EXPECT_GE(seen, 6U) << "the check found too little to be believed";
}

}  // namespace
}  // namespace mercer::test
