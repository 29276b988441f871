// The order of the rooms (docs/architecture.md) and the lightness of public headers, read off the
// #include lines of the sources themselves.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "repository/tree.hpp"

namespace mercer::test {
namespace {

using Allowed = std::map<std::string, std::set<std::string>>;

/// Which rooms a room may look into, besides itself.
const Allowed& allowed_rooms() {
    static const Allowed allowed = [] {
        // Each room with the lower ones, in words.
        const std::map<std::string, std::string> below{
            {"base", ""},
            {"data", "base"},
            {"kernel", "base"},
            {"solver", "base"},
            {"gram", "base data kernel"},
            {"feature", "base data kernel solver gram"},
            {"learn", "base data kernel solver gram feature dist"},
            {"picture", "base data kernel solver gram feature dist learn"},
            {"theory", "base data kernel solver gram feature learn"},
            {"persist", "base data kernel solver gram feature learn picture"},
            {"select", "base data kernel solver gram feature dist learn theory"},
            {"chart", "base data kernel solver gram feature learn picture theory select"},
            {"dist", "base data"}};
        Allowed rooms;
        for (const auto& [room, words] : below) {
            std::istringstream text(words);
            rooms[room] = {std::istream_iterator<std::string>(text), {}};
        }
        return rooms;
    }();
    return allowed;
}

/// The C++20 standard library, as far as a header of ours has reason to use it.
const std::set<std::string>& standard_headers() {
    static const std::set<std::string> names{"algorithm",
                                             "any",
                                             "array",
                                             "atomic",
                                             "bit",
                                             "bitset",
                                             "charconv",
                                             "chrono",
                                             "cmath",
                                             "compare",
                                             "complex",
                                             "concepts",
                                             "cstddef",
                                             "cstdint",
                                             "cstdio",
                                             "cstdlib",
                                             "cstring",
                                             "deque",
                                             "exception",
                                             "filesystem",
                                             "functional",
                                             "initializer_list",
                                             "iosfwd",
                                             "iterator",
                                             "limits",
                                             "list",
                                             "map",
                                             "memory",
                                             "memory_resource",
                                             "mutex",
                                             "new",
                                             "numbers",
                                             "numeric",
                                             "optional",
                                             "ostream",
                                             "istream",
                                             "queue",
                                             "ranges",
                                             "ratio",
                                             "set",
                                             "source_location",
                                             "span",
                                             "stdexcept",
                                             "stop_token",
                                             "string",
                                             "string_view",
                                             "system_error",
                                             "thread",
                                             "tuple",
                                             "type_traits",
                                             "typeindex",
                                             "typeinfo",
                                             "unordered_map",
                                             "unordered_set",
                                             "utility",
                                             "valarray",
                                             "variant",
                                             "vector",
                                             "version"};
    return names;
}

/// What is wrong with one include of a file in `room`, or nothing.
std::string fault(const std::string& room, const Include& include, bool public_header) {
    const std::string& target = include.target;
    if (target.starts_with("mercer/")) {
        if (include.angled) return "<" + target + ">: our own headers are included with quotes";
        if (target == "mercer/mercer.hpp") return target + ": is for users; include what is used";
        const std::size_t slash = target.find('/', 7);
        if (slash == std::string::npos) return {};  // version.hpp belongs to no room
        const std::string other = target.substr(7, slash - 7);
        if (public_header && target.find("/detail/") != std::string::npos) {
            return target + ": a public header may not show what is private";
        }
        const auto rooms = allowed_rooms().find(room);
        if (other == room || rooms->second.contains(other)) return {};
        return target + ": '" + room + "' may not look into '" + other + "'";
    }
    if (target.starts_with("cli/") || target.starts_with("python/") ||
        target.starts_with("studio/") || target.starts_with("..")) {
        return target + ": the library may not look there";
    }
    if (public_header && !standard_headers().contains(target)) {
        return target + ": a public header uses only the standard library and our own headers";
    }
    return {};
}

/// Engines and operators come from gram/operators.hpp, so that another kind of them is one class.
TEST(Rooms, LearnersMakeNoOperatorsThemselves) {
    const std::regex made(
        "\\bGram<(T|float|double)>(\\s+\\w+)?[({][^)]|"
        "\\b(Gram|Stored|Cached|Subset)Operator<");
    std::size_t asked = 0;
    for (const fs::path& file : library_files()) {
        const std::string room = file.lexically_relative(library_root()).begin()->string();
        if (room != "learn" && room != "feature" && room != "theory" && room != "select") continue;
        std::ifstream in(file);
        const std::string text{std::istreambuf_iterator<char>(in), {}};
        asked += text.find("make_gram<") != std::string::npos ? 1 : 0;
        std::smatch found;
        EXPECT_FALSE(std::regex_search(text, found, made))
            << file << ": " << found.str() << "… is made by make_gram or make_operator";
    }
    EXPECT_GT(asked, 20U);
}

TEST(Rooms, NoIncludePointsUpwardAndPublicHeadersAreLight) {
    const fs::path root = library_root();
    std::size_t includes_seen = 0;
    for (const fs::path& file : library_files()) {
        const fs::path relative = file.lexically_relative(root);
        if (relative == "mercer.hpp") continue;  // belongs to no room and shows all (surface_test)
        const std::string room = relative.begin()->string();
        ASSERT_TRUE(allowed_rooms().contains(room))
            << relative << ": '" << room << "' is not a room; see docs/architecture.md";
        const bool public_header = is_public_header(relative);
        for (const Include& include : includes_of(contents(file))) {
            ++includes_seen;
            EXPECT_EQ(fault(room, include, public_header), "") << "in " << relative;
        }
    }
    EXPECT_GT(includes_seen, 50U) << "the check found too little to be believed";
}

// The check itself must be able to fail.
TEST(Rooms, TheCheckSeesMistakes) {
    const auto found = includes_of("// x\n#include <vector>\n  #  include \"mercer/gram/a.hpp\"\n");
    ASSERT_EQ(found.size(), 2U);
    EXPECT_TRUE(found[0].angled);
    EXPECT_EQ(found[1].target, "mercer/gram/a.hpp");
    EXPECT_NE(fault("kernel", found[1], true), "");
    EXPECT_NE(fault("data", {"mercer/kernel/kernel.hpp", false}, false), "");
    EXPECT_NE(fault("base", {"mercer/data/rows.hpp", false}, false), "");
    EXPECT_NE(fault("gram", {"mercer/solver/dual.hpp", false}, false), "");
    EXPECT_NE(fault("select", {"mercer/mercer.hpp", false}, false), "");
    EXPECT_NE(fault("gram", {"Eigen/Dense", true}, true), "");
    EXPECT_EQ(fault("gram", {"Eigen/Dense", true}, false), "");
    EXPECT_EQ(fault("learn", {"mercer/solver/dual.hpp", false}, true), "");
    EXPECT_EQ(fault("gram", found[0], true), "");
    EXPECT_NE(fault("gram", {"mercer/gram/detail/plan.hpp", false}, true), "");
    EXPECT_EQ(fault("gram", {"mercer/gram/detail/plan.hpp", false}, false), "");
    EXPECT_FALSE(is_public_header("gram/detail/plan.hpp"));
    EXPECT_TRUE(is_public_header("gram/gram.hpp"));
}

TEST(Rooms, NoFolderIsCrowded) {
    constexpr std::size_t most = 30;
    std::map<fs::path, std::size_t> files;
    for (const fs::path& file : library_files()) ++files[file.parent_path()];
    for (const auto& [folder, count] : files) EXPECT_LE(count, most) << folder;
}

/// True when `call` stands in the text as a name of its own, not as a part of a longer one.
bool calls(const std::string& text, std::string_view call) {
    const auto in_name = [&](std::size_t at) {
        return at < text.size() &&
               (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
    };
    for (std::size_t at = 0; (at = text.find(call, at)) != std::string::npos; ++at) {
        if (at > 0 && in_name(at - 1)) continue;
        if (call.back() == '(' || !in_name(at + call.size())) return true;
    }
    return false;
}

// Only the command line writes to standard output, and the library never ends the process.
TEST(Rooms, TheLibraryNeitherPrintsNorAborts) {
    for (const fs::path& file : library_files()) {
        const std::string text = contents(file);
        for (const std::string_view call : {"cout", "cerr", "clog", "printf(", "fprintf(", "puts(",
                                            "fmt::print", "abort(", "exit(", "terminate("}) {
            // The C that it writes says what its own test finds.
            if (call == "printf(" && file.filename() == "c_source.cpp") continue;
            EXPECT_FALSE(calls(text, call)) << call << " in " << file;
        }
    }
    EXPECT_TRUE(calls("if (bad) std::abort();", "abort("));
    EXPECT_TRUE(calls("puts(text);", "puts("));
    EXPECT_FALSE(calls("outputs(3)", "puts("));
    EXPECT_FALSE(calls("#include <cerrno>", "cerr"));
}

/// The types a header defines at the level of its namespace: lines that begin with one and open it.
std::vector<std::string> types_of(std::string_view text) {
    std::vector<std::string> result;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t end = std::min(text.find('\n', start), text.size());
        std::string_view line = text.substr(start, end - start);
        start = end + 1;
        for (const std::string_view word : {"struct ", "class ", "enum class "}) {
            const bool opens = line.back() != ';' || line.find('{') != std::string_view::npos;
            if (!line.starts_with(word) || !opens) continue;
            const std::string_view rest = line.substr(word.size());
            const std::string_view name = rest.substr(0, rest.find_first_of(" :<{"));
            // What stands inside another type, or specialises it, has a name of its own.
            const bool own = rest.find("::") > rest.find('{') && rest[name.size()] != '<';
            if (own) result.emplace_back(name);
        }
    }
    return result;
}

/// True when the text knows the word: outside comments, as a whole word, and not merely by calling
/// a function of that name.
bool knows(const std::string& text, const std::string& word) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::string code = line.substr(0, line.find("//"));
        for (std::size_t at = 0; (at = code.find(word + "(", at)) != std::string::npos;) {
            code.erase(at, word.size());
        }
        if (calls(code, word)) return true;
    }
    return false;
}

// A leaf of kernel expressions is known in one file of kernel/leaf/ and in the list there, so that
// a new one touches those two and nothing else.
TEST(Leaves, AreKnownInOneFileAndTheList) {
    const fs::path root = fs::path(MERCER_SOURCE_DIRECTORY) / "src" / "mercer";
    // Words that mean nothing else: functions of x·z, of ‖x−z‖², of sums over columns.
    const std::vector<std::string> leaves{
        "exponential_dot",    "expdot",    "inverse_multiquadric", "matern",   "negative_distance",
        "rational_quadratic", "laplacian", "additive_chi2",        "periodic", "rbf"};
    // The steps of fast forms; LIBSVM's own words for kernels; a message that recommends one; the
    // Laplacian of a graph.
    const std::map<std::string, std::set<std::string>> exceptions{
        {"matern", {"leaf.hpp", "plan.hpp", "plan.cpp", "elementwise.cpp", "kernel_program.cpp"}},
        {"laplacian", {"manifold.cpp", "spectral.hpp"}},
        {"rbf", {"libsvm_header.cpp", "libsvm_write.cpp", "label_spreading.cpp"}}};
    for (const std::string& leaf : leaves) {
        std::size_t own = 0;
        for (const fs::path& file : library_files()) {
            if (!knows(contents(file), leaf)) continue;
            const auto known = exceptions.find(leaf);
            if (known != exceptions.end() && known->second.contains(file.filename().string())) {
                continue;
            }
            const std::string name = file.lexically_relative(root).generic_string();
            EXPECT_TRUE(name.starts_with("kernel/leaf/")) << name << " knows " << leaf;
            ++own;
        }
        EXPECT_GE(own, 1U) << leaf << ": the check found too little to be believed";
    }
    EXPECT_TRUE(knows("case KernelKind::matern: return 1;", "matern"));
    EXPECT_TRUE(knows("if (name == \"matern\")", "matern"));
    EXPECT_FALSE(knows("matern({.nu = 2.5}) // matern", "matern"));
}

// Two types of one name in one namespace compile, and then share what the linker finds of either: a
// vector of one freed as a vector of the other.
TEST(Rooms, NoTypeIsDefinedTwice) {
    std::map<std::string, fs::path> seen;
    for (const fs::path& file : library_files()) {
        if (file.extension() != ".hpp") continue;
        for (const std::string& name : types_of(contents(file))) {
            const auto [place, fresh] = seen.emplace(name, file);
            EXPECT_TRUE(fresh) << name << " is defined in " << place->second << " and " << file;
        }
    }
    EXPECT_GT(seen.size(), 50U) << "the check found too little to be believed";
    EXPECT_EQ(types_of("class A;\nstruct B : A {\nenum class C { x };\n  struct Inner {\n"),
              (std::vector<std::string>{"B", "C"}));
}

/// The texts between double quotes of a line of code.
std::vector<std::string> literals_of(const std::string& line) {
    std::vector<std::string> texts;
    std::string text;
    bool inside = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (!inside && line.compare(i, 2, "//") == 0) break;
        if (inside && line[i] == '\\') {
            text += line.substr(i++, 2);
        } else if (line[i] == '"') {
            if (inside) texts.push_back(std::move(text));
            text.clear();
            inside = !inside;
        } else if (inside) {
            text += line[i];
        }
    }
    return texts;
}

TEST(Words, TheLibrarySpeaksOfSettingsNotOfTheCommandLine) {
    std::size_t seen = 0;
    for (const auto& entry :
         fs::recursive_directory_iterator(fs::path(MERCER_SOURCE_DIRECTORY) / "src" / "mercer")) {
        const std::string name = entry.path().extension().string();
        if (name != ".cpp" && name != ".hpp") continue;
        std::ifstream file(entry.path());
        std::size_t number = 0;
        for (std::string line; std::getline(file, line);) {
            ++number;
            if (line.find("#include") != std::string::npos) continue;
            for (const std::string& text : literals_of(line)) {
                ++seen;
                const std::size_t dashes = text.find("--");
                const bool flag = dashes != std::string::npos && dashes + 2 < text.size() &&
                                  std::islower(static_cast<unsigned char>(text[dashes + 2])) != 0;
                EXPECT_FALSE(flag || text.find("'mercer ") != std::string::npos)
                    << entry.path() << ":" << number << ": " << text
                    << "\nname the setting, `probability=true`; the command line translates it";
            }
        }
    }
    EXPECT_GT(seen, 1000U);
}

}  // namespace
}  // namespace mercer::test
