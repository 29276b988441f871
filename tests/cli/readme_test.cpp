// What the README and the help texts show works as shown.
#include <gtest/gtest.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

/// The lines of the README's shell blocks that run the program, without their comments.
std::vector<std::string> readme_commands() {
    std::vector<std::string> commands;
    std::istringstream readme(content_of(std::string(MERCER_SOURCE_DIRECTORY) + "/README.md"));
    bool shell = false;
    for (std::string line; std::getline(readme, line);) {
        if (line.starts_with("```")) shell = line == "```sh";
        if (!shell || !line.starts_with("mercer ")) continue;
        commands.push_back(line.substr(0, line.find("  #")));
    }
    return commands;
}

TEST(Readme, EveryCommandRuns) {
    const Folder folder;
    const std::string table = "a,b,class\n1,10,x\n2,50,y\n4,20,x\n3,90,y\n";
    folder.file("train.csv", table);
    folder.file("test.csv", table);
    const std::string path = std::filesystem::path(MERCER_PROGRAM).parent_path().string();
    const std::vector<std::string> commands = readme_commands();
    EXPECT_GE(commands.size(), 8U);
    for (const std::string& command : commands) {
        std::ostringstream line;
        line << "PATH='" << path << "':$PATH; cd '" << folder.path("") << "' && " << command;
        const Outcome outcome = run_program("sh", {"-c", line.str()});
        EXPECT_EQ(outcome.code, 0) << command << "\n" << outcome.err;
    }
}

}  // namespace
}  // namespace mercer::test
