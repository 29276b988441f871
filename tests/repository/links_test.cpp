// Every page of docs/ is reached from docs/README.md, every example is shown, and no link points
// into nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "repository/tree.hpp"

namespace mercer::test {
namespace {

struct Link {
    std::string file;  ///< as written, empty: this page
    std::string part;  ///< after #, may be empty
};

/// The lines of a page that are not code.
std::string prose_of(const std::string& text) {
    std::istringstream lines(text);
    std::string prose;
    bool code = false;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("```")) {
            code = !code;
        } else if (!code) {
            prose += line + '\n';
        }
    }
    return prose;
}

/// Links and pictures of a page; those to other hosts are left out.
std::vector<Link> links_of(const std::string& text) {
    static const std::regex form(R"(\]\(([^)#\s]*)(#([^)\s]*))?\))");
    std::vector<Link> found;
    const std::string prose = prose_of(text);
    for (std::sregex_iterator at(prose.begin(), prose.end(), form), end; at != end; ++at) {
        if ((*at)[1].str().find("://") == std::string::npos) {
            found.push_back({(*at)[1].str(), (*at)[3].str()});
        }
    }
    return found;
}

/// What a heading is called in links: small letters, - for blanks, no other signs.
std::set<std::string> parts_of(const std::string& text) {
    std::istringstream lines(prose_of(text));
    std::set<std::string> parts;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with('#')) continue;
        std::string part;
        for (const char c : line.substr(std::min(line.find(' ') + 1, line.size()))) {
            const auto u = static_cast<unsigned char>(c);
            if (c == ' ' || c == '-') part += '-';
            if (std::isalnum(u) != 0 || c == '_' || u >= 128) {
                part += static_cast<char>(std::tolower(u));
            }
        }
        parts.insert(part);
    }
    return parts;
}

/// Our pages: everything written in Markdown, but for what is built.
std::vector<fs::path> pages() {
    std::vector<fs::path> found;
    for (const char* folder : {"", "data", "examples", "repro", "docs", "docs/course",
                               "docs/machines", "docs/gallery"}) {
        if (!fs::exists(source_root() / folder)) continue;
        for (const auto& entry : fs::directory_iterator(source_root() / folder)) {
            if (entry.path().extension() == ".md") found.push_back(entry.path());
        }
    }
    return found;
}

TEST(Links, PointToSomething) {
    std::size_t seen = 0;
    for (const fs::path& page : pages()) {
        for (const Link& link : links_of(contents(page))) {
            ++seen;
            const fs::path target = link.file.empty() ? page : page.parent_path() / link.file;
            EXPECT_TRUE(fs::exists(target)) << page << " links to " << link.file;
            if (link.part.empty() || target.extension() != ".md") continue;
            EXPECT_TRUE(parts_of(contents(target)).contains(link.part))
                << page << " links to " << link.file << '#' << link.part;
        }
    }
    EXPECT_GT(seen, 100U) << "the check found too little to be believed";
}

/// The files that a page links to.
std::set<fs::path> linked_from(const fs::path& page) {
    std::set<fs::path> files;
    for (const Link& link : links_of(contents(page))) {
        if (!link.file.empty()) files.insert((page.parent_path() / link.file).lexically_normal());
    }
    return files;
}

TEST(Links, TheIndexShowsEveryPageAndExample) {
    const std::set<fs::path> shown = linked_from(source_root() / "docs" / "README.md");
    for (const fs::path& page : pages()) {
        if (page == source_root() / "docs" / "README.md" || page.parent_path().filename() == "data")
            continue;
        EXPECT_TRUE(shown.contains(page)) << page;
    }
    for (const auto& entry : fs::directory_iterator(source_root() / "examples")) {
        const fs::path extension = entry.path().extension();
        if (extension != ".cpp" && extension != ".py") continue;
        EXPECT_TRUE(shown.contains(entry.path())) << entry.path();
    }
    EXPECT_TRUE(
        linked_from(source_root() / "README.md").contains(source_root() / "docs/README.md"));
}

TEST(Links, TheCheckSeesLinks) {
    const auto links = links_of("a [b](c.md#d-e) ![f](g.png)\n```\n[h](i)\n```\n[j](https://k)\n");
    ASSERT_EQ(links.size(), 2U);
    EXPECT_EQ(links[0].file, "c.md");
    EXPECT_EQ(links[0].part, "d-e");
    EXPECT_EQ(links[1].file, "g.png");
    EXPECT_TRUE(parts_of("# One\n## Two words, `code`\n").contains("two-words-code"));
}

}  // namespace
}  // namespace mercer::test
