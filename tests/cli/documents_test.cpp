// What the README, the pages of docs and the help texts show works as shown.
//
// Every line of a block ```sh that runs the program is run, page by page, in a folder that holds
// what tests/docs/stand_ins.sh makes for the page. A block ```sh slow takes minutes, or wants data
// under MERCER_DATA: it is run by ./dev check docs alone. A block ```text is not run.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

namespace fs = std::filesystem;

const fs::path source = MERCER_SOURCE_DIRECTORY;

std::vector<fs::path> pages() {
    std::vector<fs::path> found{source / "README.md"};
    for (const auto& entry : fs::recursive_directory_iterator(source / "docs")) {
        if (entry.path().extension() == ".md") found.push_back(entry.path());
    }
    std::ranges::sort(found);
    return found;
}

bool is_run(const std::string& line) {
    return line.starts_with("mercer ") || line.starts_with("svm-") || line.starts_with("head ");
}

/// The lines of a page's shell blocks that run the program, continued lines joined, in their order.
std::vector<std::string> commands_of(const fs::path& page, bool slow) {
    std::vector<std::string> commands;
    std::istringstream text(content_of(page.string()));
    std::string block;
    bool continued = false;
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("```")) {
            block = line.substr(3);
            continued = false;
            continue;
        }
        if (block != "sh" && !(slow && block == "sh slow")) continue;
        if (continued) {
            commands.back() += '\n' + line;
        } else if (is_run(line)) {
            commands.push_back(line);
        } else {
            continue;
        }
        continued = line.ends_with('\\');
    }
    return commands;
}

Outcome run_line(const Folder& folder, const std::string& line) {
    const std::string programs = fs::path(MERCER_PROGRAM).parent_path().string();
    return run_program("sh", {"-c", "PATH='" + programs + "':'" + programs +
                                        "/libsvm':$PATH; cd '" + folder.path("") + "' && " + line});
}

class Documents : public ::testing::TestWithParam<fs::path> {};

TEST_P(Documents, EveryCommandRuns) {
    const bool slow = std::getenv("MERCER_SLOW_DOCUMENTS") != nullptr;
    const std::vector<std::string> commands = commands_of(GetParam(), slow);
    if (commands.empty()) GTEST_SKIP() << "the page runs nothing";
    const Folder folder;
    const std::string name = GetParam().stem().string();
    const Outcome made =
        run_line(folder, "sh '" + (source / "tests/docs/stand_ins.sh").string() + "' " + name);
    ASSERT_EQ(made.code, 0) << made.err;
    for (const std::string& command : commands) {
        const Outcome outcome = run_line(folder, command);
        EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    }
}

std::string name_of(const ::testing::TestParamInfo<fs::path>& info) {
    std::string name = info.param.lexically_relative(source).replace_extension().string();
    std::ranges::replace_if(
        name, [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Page, Documents, ::testing::ValuesIn(pages()), name_of);

TEST(Documents, ThereAreMany) {
    std::size_t count = 0;
    for (const fs::path& page : pages()) count += commands_of(page, true).size();
    EXPECT_GE(count, 80U);
}

TEST(Documents, HelpTextsShowOptionsThatThereAre) {
    const Folder folder;
    std::istringstream list(run({"--help"}).out);
    std::size_t count = 0;
    for (std::string line; std::getline(list, line);) {
        if (!line.starts_with("  ") || line[2] == '-' || line[2] == ' ') continue;
        const std::string command = line.substr(2, line.find(' ', 2) - 2);
        // A studio serves until it is told to end; tests/studio runs it.
        if (command.starts_with("svm-") || command == "studio") continue;
        std::istringstream help(run({command, "--help"}).out);
        for (std::string example; std::getline(help, example);) {
            if (!example.starts_with("  mercer ")) continue;
            while (example.ends_with('\\')) {
                std::string more;
                std::getline(help, more);
                example.pop_back();
                example += more;
            }
            // Words after two blanks, and all from # or | on, are remarks or other programs.
            example = example.substr(2);
            example = example.substr(0, std::min(example.find("  "), example.find_first_of("#|>")));
            const Outcome outcome = run_line(folder, example + " </dev/null");
            for (const char* complaint : {"there is no option", "has no meaning", "Try 'mercer"}) {
                EXPECT_EQ(outcome.err.find(complaint), std::string::npos) << example << "\n"
                                                                          << outcome.err;
            }
            ++count;
        }
    }
    EXPECT_GE(count, 60U);
}

TEST(Documents, TasksAreAllListed) {
    const std::string help = run({"train", "--help"}).out;
    const std::size_t first = help.find("what to learn: ") + 15;
    std::istringstream words(help.substr(first, help.find(" [svc]", first) - first));
    const std::string training = content_of((source / "docs/training.md").string());
    const std::string format = content_of((source / "docs/model-format.md").string());
    std::size_t count = 0;
    for (std::string word; words >> word; ++count) {
        if (word.ends_with(',')) word.pop_back();
        EXPECT_NE(training.find('`' + word + '`'), std::string::npos) << word;
        EXPECT_NE(format.find('`' + word + '`'), std::string::npos) << word;
    }
    EXPECT_EQ(count, 27U);
}

}  // namespace
}  // namespace mercer::test
