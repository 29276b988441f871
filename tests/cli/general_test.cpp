// What holds for every command: help, version, exit codes, messages, interrupts, completion.
#include <gtest/gtest.h>

#include <csignal>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

const std::vector<std::string> commands{"info",   "convert", "scale",     "make",
                                        "kernel", "gram",    "completion"};

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

void expect_refused(const Outcome& outcome, const std::string& part) {
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err.rfind("mercer: error: ", 0), 0U) << outcome.err;
    EXPECT_TRUE(has(outcome.err, part)) << outcome.err;
}

TEST(Program, HelpNamesEveryCommandAndEachHasExamples) {
    const Outcome help = run({"--help"});
    EXPECT_EQ(help.code, 0);
    EXPECT_EQ(help.err, "");
    for (const std::string& command : commands) {
        EXPECT_TRUE(has(help.out, command)) << command;
        const Outcome own = run({command, "--help"});
        EXPECT_EQ(own.code, 0);
        EXPECT_TRUE(has(own.out, "Examples:\n  ")) << own.out;
        EXPECT_TRUE(has(own.out, "mercer " + command)) << own.out;
        EXPECT_EQ(run({"help", command}).out, own.out);
    }
}

TEST(Program, VersionIsTheProjectsVersion) {
    const Outcome version = run({"--version"});
    EXPECT_EQ(version.code, 0);
    EXPECT_EQ(version.out, "mercer " MERCER_VERSION "\n");
}

TEST(Program, WrongUsageIsExitCodeTwo) {
    expect_refused(run({"inof"}), "Did you mean 'info'?");
    expect_refused(run({"--nonsense"}), "--nonsense");
    expect_refused(run({"info"}), "INPUT");
    expect_refused(run({"info", "@iris", "--nonsense"}), "mercer info --help");
    expect_refused(run({"info", "@iris", "--threads", "many"}), "--threads");
    expect_refused(run({"info", "@iris", "--missing", "guess"}), "--missing");
    expect_refused(run({"info", "@iris", "extra"}), "extra");
}

TEST(Program, MessagesOfTheLibrarySpeakInFlags) {
    const Folder folder;
    const std::string alike = folder.file("alike.csv", "u,v,y\n1,2,a\n2,3,a\n4,1,a\n");
    expect_refused(run({"train", alike}), "use --task one-class");
    const std::string model = folder.path("iris.mercer");
    ASSERT_EQ(run({"train", "@iris", model}).code, 0);
    expect_refused(run({"predict", model, "@iris", "--probability"}),
                   "train it with --probability");
}

TEST(Program, EqualModelsGiveEqualBytes) {
    const Folder folder;
    for (const char* threads : {"1", "2", "2"}) {
        const std::string path = folder.path(threads);
        const std::string before = content_of(path);
        ASSERT_EQ(run({"train", "@digits", path, "--threads", threads}).code, 0);
        EXPECT_TRUE(before.empty() || content_of(path) == before) << threads;
    }
    EXPECT_EQ(content_of(folder.path("1")), content_of(folder.path("2")));
    EXPECT_EQ(run({"show", folder.path("1")}).out.find(" s, "), std::string::npos);
}

TEST(Program, AFullDiskIsExitCodeOneAndAnImpossiblePlaceTwo) {
    const Outcome full = run_into("/dev/full", {"info", "@iris"});
    EXPECT_EQ(full.code, 1);
    EXPECT_TRUE(has(full.err, "mercer: error: ")) << full.err;
    const Outcome data = run_into("/dev/full", {"make", "moons", "--n", "100000"});
    EXPECT_EQ(data.code, 1) << data.err;
    const Outcome absent = run({"make", "moons", "-o", "/nowhere/at/all/moons.csv"});
    EXPECT_EQ(absent.code, 2);
    EXPECT_TRUE(has(absent.err, "/nowhere/at/all")) << absent.err;
}

TEST(Program, InterruptIsExitCode130) {
    EXPECT_EQ(run_and_signal({"info", "-"}, SIGINT).code, 130);
}

TEST(Program, ProgressStaysAwayFromFiles) {
    EXPECT_EQ(run({"info", "@digits"}).err, "");
}

TEST(Program, CompletionKnowsCommandsOptionsAndWords) {
    const Outcome script = run({"completion", "bash"});
    ASSERT_EQ(script.code, 0);
    const Folder folder;
    const std::string path = folder.file("mercer", script.out);
    const auto complete = [&](const std::string& words, int position) {
        const Outcome result = run_program(
            "bash", {"-c", "source '" + path + "'; COMP_WORDS=(" + words + "); COMP_CWORD=" +
                               std::to_string(position) + "; _mercer; echo \"${COMPREPLY[*]}\""});
        EXPECT_EQ(result.code, 0) << result.err;
        return result.out;
    };
    EXPECT_EQ(complete("mercer inf", 1), "info\n");
    EXPECT_EQ(complete("mercer info --thr", 2), "--threads\n");
    EXPECT_EQ(complete("mercer info --missing med", 3), "median\n");
    EXPECT_EQ(complete("mercer make spir", 2), "spirals\n");
    EXPECT_EQ(complete("mercer info @di", 2), "@digits\n");
    expect_refused(run({"completion", "fish"}), "fish");
}

}  // namespace
}  // namespace mercer::test
