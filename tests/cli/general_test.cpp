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
    expect_refused(run({"completion", "tcsh"}), "tcsh");
}

bool has_shell(const std::string& name) {
    return run_program("sh", {"-c", "command -v " + name}).code == 0;
}

TEST(Program, FishCompletesCommandsOptionsAndWords) {
    const Outcome script = run({"completion", "fish"});
    ASSERT_EQ(script.code, 0);
    EXPECT_TRUE(has(script.out, "-a train"));
    if (!has_shell("fish")) GTEST_SKIP() << "fish is not there";
    const Folder folder;
    const std::string path = folder.file("mercer.fish", script.out);
    const auto complete = [&](const std::string& line) {
        const Outcome result =
            run_program("fish", {"-c", "source '" + path + "'; complete -C '" + line + "'"});
        EXPECT_EQ(result.code, 0) << result.err;
        return result.out;
    };
    EXPECT_EQ(complete("mercer inf"),
              "info\tdescribe a data file: shape, labels, ranges, advice\n");
    EXPECT_TRUE(has(complete("mercer info --thr"), "--threads\t"));
    EXPECT_TRUE(has(complete("mercer info --missing med"), "median"));
    EXPECT_TRUE(has(complete("mercer make spir"), "spirals"));
}

TEST(Program, ZshReadsItsScriptAndFindsEveryCommand) {
    const Outcome script = run({"completion", "zsh"});
    ASSERT_EQ(script.code, 0);
    EXPECT_TRUE(script.out.starts_with("#compdef mercer\n"));
    if (!has_shell("zsh")) GTEST_SKIP() << "zsh is not there";
    const Folder folder;
    const std::string path = folder.file("_mercer", script.out);
    // The functions that a completion calls are stood in for: what they are told is what counts.
    const auto told = [&](const std::string& words, int position) {
        const Outcome result =
            run_program("zsh", {"-f", "-c",
                                "compdef() { }; _describe() { print -l -- $commands }; "
                                "_arguments() { print -l -- \"$@\" }; source '" +
                                    path + "'; words=(" + words +
                                    "); CURRENT=" + std::to_string(position) + "; _mercer"});
        EXPECT_EQ(result.code, 0) << result.err;
        return result.out;
    };
    EXPECT_TRUE(has(told("mercer x", 2), "info:describe a data file"));
    const std::string options = told("mercer info x", 3);
    EXPECT_TRUE(has(options, "--threads[")) << options;
    EXPECT_TRUE(has(options, ":value:(refuse mean median zero)")) << options;
}

TEST(Program, ManualPagesAreMadeOfTheHelp) {
    const Outcome page = run({"man", "train"});
    ASSERT_EQ(page.code, 0);
    EXPECT_TRUE(page.out.starts_with(".TH MERCER-TRAIN 1"));
    EXPECT_TRUE(has(page.out, "\\-\\-kernel"));
    EXPECT_TRUE(has(run({"man"}).out, "mercer\\-export"));
    expect_refused(run({"man", "tran"}), "train");
    const Folder folder;
    ASSERT_EQ(run({"man", "--folder", folder.path("man1")}).code, 0);
    if (!has_shell("mandoc")) GTEST_SKIP() << "mandoc is not there";
    for (const char* name : {"mercer", "mercer-train", "mercer-export", "mercer-bounds"}) {
        const Outcome lint = run_program(
            "mandoc",
            {"-T", "lint", "-W", "error", folder.path("man1/" + std::string(name) + ".1")});
        EXPECT_EQ(lint.out + lint.err, "") << name;
    }
}

}  // namespace
}  // namespace mercer::test
