// The system fails, the streams are closed, signals come: the program ends with a code of its own
// and leaves whole files or none. tools/check_faults tries many more places than a test has time
// for.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

const std::string rows = "1 1:1 2:2\n-1 1:2\n1 2:1\n-1 2:3 3:1\n";

/// The program with a shell's redirections behind it.
Outcome run_in_shell(const std::vector<std::string>& words, const std::string& redirections) {
    std::string line = "exec \"$0\" \"$@\" " + redirections;
    std::vector<std::string> all{"-c", line, MERCER_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    return run_program("sh", all);
}

TEST(Faults, ClosedStreamsAreNoReasonToDie) {
    const Folder folder;
    const std::string data = folder.file("data", rows);
    EXPECT_EQ(run_in_shell({"info", folder.path("absent")}, "2>&-").code, 2);
    EXPECT_EQ(run_in_shell({"info", folder.path("absent")}, "2>/dev/full").code, 2);
    // A warning is told, and nobody is there; nor does it get into the model.
    const std::vector<std::string> train{"train",        data, folder.path("m.mercer"), "-C", "1e9",
                                         "--step-limit", "1"};
    const int code = run(train).code;
    const std::string model = content_of(folder.path("m.mercer"));
    EXPECT_EQ(run_in_shell(train, "2>&-").code, code);
    EXPECT_EQ(content_of(folder.path("m.mercer")), model);
    EXPECT_EQ(run_in_shell({"info", data}, ">&-").code, 1) << "nobody gets the result";
    EXPECT_EQ(run_in_shell({"info", "-"}, "<&-").code, 2);
    EXPECT_EQ(run_in_shell({"info", data}, "<&- 2>&-").code, 0);
}

TEST(Faults, SignalsOfBatchSystemsAreLikeCtrlC) {
    const Folder data;
    ASSERT_EQ(
        run({"make", "moons", "--n", "20000", "--noise", "0.6", "-o", data.path("moons.csv")}).code,
        0);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        EXPECT_EQ(run_and_signal({"info", "-"}, signal).code, 130) << signal;
        const Folder folder;
        const std::string model = folder.path("m.mercer");
        // Hopeless, so that it is still at work when the signal comes.
        const Outcome outcome = run_and_signal({"train", data.path("moons.csv"), model, "--kernel",
                                                "rbf(gamma=1)", "-C", "1e9", "--tol", "1e-13"},
                                               signal, 1000);
        EXPECT_EQ(outcome.code, 130) << outcome.err;
        EXPECT_NE(run({"show", model}).out.find("stopped early"), std::string::npos)
            << "what was learnt so far is kept";
        EXPECT_EQ(folder.names(), std::vector<std::string>{"m.mercer"});
    }
}

TEST(Faults, NumbersOfSeedsAndCountsAreNotTurnedRound) {
    for (const char* const bad :
         {"-1", "-18446744073709551615", "1.5", "18446744073709551616", ""}) {
        const Outcome outcome = run({"make", "moons", "--seed", bad});
        EXPECT_EQ(outcome.code, 2) << bad;
        EXPECT_NE(outcome.err.find("whole number from 0"), std::string::npos) << outcome.err;
    }
    EXPECT_EQ(run({"make", "moons", "--seed", "18446744073709551615"}).code, 0);
    EXPECT_EQ(run({"make", "moons", "--threads", "-1"}).code, 2);
    EXPECT_EQ(run({"train", "@iris", "/dev/null", "--task", "perceptron", "--passes", "-1"}).code,
              2);
}

TEST(Faults, ATimeLimitIsThatOfAllTrainingsTogether) {
    const Folder folder;
    const Outcome none = run(
        {"tune", "@digits", folder.path("m.mercer"), "--grid", "C=1,10", "--time-limit", "1e-6"});
    EXPECT_EQ(none.code, 2);
    EXPECT_NE(none.err.find("--time-limit 1e-06 passed before a point was tried"),
              std::string::npos)
        << none.err;
    EXPECT_TRUE(folder.names().empty());
    const Outcome some =
        run({"train", "@iris", folder.path("m.mercer"), "--cv", "3", "--time-limit", "1e-6"});
    EXPECT_EQ(some.code, 1) << some.err;  // the model is there, the score that was asked for is not
    EXPECT_NE(some.err.find("and so there is no score"), std::string::npos) << some.err;
    EXPECT_NE(some.out.find("stopped at the time limit"), std::string::npos) << some.out;
    // What a limit that is never reached is divided into changes nothing.
    const std::vector<std::string> plain{"train", "@iris", folder.path("a"), "--cv", "3"};
    std::vector<std::string> limited = plain;
    limited[2] = folder.path("b");
    limited.insert(limited.end(), {"--time-limit", "1e6"});
    EXPECT_EQ(run(plain).code, 0);
    EXPECT_EQ(run(limited).code, 0);
    EXPECT_EQ(content_of(folder.path("a")), content_of(folder.path("b")));
}

TEST(Faults, ScaledRowsAndTheirScalingAppearTogether) {
    const Folder folder;
    const std::string data = folder.file("data", rows);
    folder.file("range", "{}");
    // Labels do not go into npy: found out after the scaling was written to the side.
    const Outcome outcome = run({"scale", data, "--scale", "standard", "--save",
                                 folder.path("range"), "-o", folder.path("out.npy")});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_EQ(content_of(folder.path("range")), "{}");
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"data", "range"}));
}

#ifdef MERCER_FAULTS

Outcome run_under(const std::string& fault, const std::vector<std::string>& words,
                  const std::string& more = "MERCER_FAULT_NONE=1") {
    std::vector<std::string> all{std::string("LD_PRELOAD=") + MERCER_FAULTS,
                                 "MERCER_FAULT=" + fault, more, MERCER_PROGRAM};
    all.insert(all.end(), words.begin(), words.end());
    return run_program("env", all);
}

long count_of(const std::string& kind, const std::vector<std::string>& words) {
    const Folder folder;
    run_under("", words, "MERCER_FAULT_COUNT=" + folder.path("count"));
    std::istringstream lines(content_of(folder.path("count")));
    std::string name;
    for (long number = 0; lines >> name >> number;) {
        if (name == kind) return number;
    }
    ADD_FAILURE() << "no count of " << kind;
    return 0;
}

// Pictures without libpng aborted the program.
TEST(Faults, LibrariesThatAreNotThereAreNamedWithTheirPackage) {
    const Folder folder;
    const std::string picture = folder.path("s.png");
    const std::vector<std::string> plot{"plot", "spectrum", "linear", "@iris", "-o", picture};
    ASSERT_EQ(run(plot).code, 0);
    const struct {
        const char* library;
        const char* package;
        std::vector<std::string> words;
    } tries[] = {
        {"libpng", "libpng16-16", plot},
        {"libpng",
         "libpng16-16",
         {"vq", "encode", picture, "--radius", "9", "-o", folder.path("c")}},
        {"libarchive", "libarchive13", {"convert", "@iris", "-o", folder.path("e.csv.xz")}},
        {"libClp",
         "coinor-libclp1",
         {"vq", "encode", "@iris", "--radius", "1", "-o", folder.path("codes")}},
        {"microhttpd", "libmicrohttpd12", {"studio"}},
        {"openblas", "libopenblas0", {"train", "@digits", folder.path("m"), "--task", "ridge"}},
    };
    for (const auto& [library, package, words] : tries) {
        const Outcome outcome =
            run_under("", words, std::string("MERCER_FAULT_WITHOUT=") + library);
        EXPECT_TRUE(outcome.code == 1 || outcome.code == 2) << library << ' ' << outcome.code;
        EXPECT_NE(outcome.err.find(package), std::string::npos) << library << ": " << outcome.err;
    }
    // Products of bytes are taken of floats without it.
    EXPECT_EQ(run_under("", {"train", "@digits", folder.path("d.mercer"), "--time-limit", "5"},
                        "MERCER_FAULT_WITHOUT=libdnnl")
                  .code,
              0);
}

class Tried {
   public:
    Tried() : data_(folder_.file("data", rows)) {
        EXPECT_EQ(run({"train", data_, folder_.path("model")}).code, 0);
        model_ = content_of(folder_.path("model"));
    }
    std::vector<std::vector<std::string>> commands() const {
        return {{"info", data_},
                {"train", data_, out()},
                {"predict", folder_.path("model"), data_, "-o", out()},
                {"convert", data_, "-o", out(), "--to", "csv"}};
    }
    /// The command under the fault, over an old file where that may be.
    void expect_good_end(const std::string& fault, const std::vector<std::string>& words) {
        const std::string old = words[0] == "train" ? model_ : "old\n";
        folder_.file("out", old);
        const Outcome outcome = run_under(fault, words);
        EXPECT_LE(outcome.code, 2) << words[0] << " " << fault << ": " << outcome.err;
        EXPECT_EQ(outcome.code != 0, outcome.err.find("mercer: error: ") != std::string::npos)
            << words[0] << " " << fault << ": " << outcome.code << " " << outcome.err;
        const std::string found = content_of(folder_.path("out"));
        if (outcome.code != 0 && (whole_.empty() || found != whole_)) {
            EXPECT_EQ(found, old) << words[0] << " " << fault;
        }
        EXPECT_EQ(folder_.names(), (std::vector<std::string>{"data", "model", "out"})) << fault;
    }
    void learn_output(const std::vector<std::string>& words) {
        std::filesystem::remove(out());
        run(words);
        whole_ = content_of(out());
    }

   private:
    std::string out() const { return folder_.path("out"); }

    Folder folder_;
    std::string data_;
    std::string model_;
    std::string whole_;
};

TEST(Faults, MemoryThatIsRefusedIsSaid) {
    Tried tried;
    for (const auto& words : tried.commands()) {
        tried.learn_output(words);
        const long last = count_of("malloc", words);
        for (long k = 0; k < 12; ++k) {
            tried.expect_good_end("malloc:" + std::to_string(1 + k * last / 12), words);
            tried.expect_good_end("malloc:" + std::to_string(last - 40 * k), words);
            if (k % 4 == 0) {
                tried.expect_good_end("malloc:" + std::to_string(last - 90 * k) + "+", words);
            }
        }
    }
}

TEST(Faults, DisksThatFailLeaveTheOldFile) {
    Tried tried;
    for (const auto& words : tried.commands()) {
        tried.learn_output(words);
        for (const char* const kind : {"write", "fsync", "rename", "link", "read"}) {
            const long last = count_of(kind, words);
            for (long number = 1; number <= std::min(last, 12L); ++number) {
                for (const char* const end : {":ENOSPC", "+:EIO"}) {
                    tried.expect_good_end(kind + (":" + std::to_string(number)) + end, words);
                }
            }
        }
    }
}

// A loss of power keeps what was synced, in any order: a name must not come before its bytes.
TEST(Faults, BytesAreOnTheDiskBeforeTheirName) {
    const Folder folder;
    const std::string data = folder.file("data", rows);
    const std::string model = folder.path("m.mercer");
    for (const bool replaced : {false, true}) {
        const std::string log = folder.path(replaced ? "log2" : "log1");
        EXPECT_EQ(run_under("", {"train", data, model}, "MERCER_FAULT_LOG=" + log).code, 0);
        std::istringstream lines(content_of(log));
        std::vector<std::string> calls;
        for (std::string line; std::getline(lines, line);) {
            calls.push_back(line.substr(0, line.find(' ')));
        }
        const auto first_name = std::ranges::find_if(
            calls, [](const std::string& call) { return call == "link" || call == "rename"; });
        ASSERT_NE(first_name, calls.end());
        ASSERT_NE(first_name, calls.begin());
        EXPECT_EQ(*(first_name - 1), "fsync") << "after the last write and before the name";
        EXPECT_EQ(std::find(first_name, calls.end(), "write"), calls.end());
        EXPECT_EQ(calls.back(), "fsync") << "the folder, which holds the name";
    }
}

// OpenBLAS asks for its buffer again and again where it cannot have it.
TEST(Faults, LimitsOfMemoryEndInWords) {
    const Folder folder;
    const std::string data = folder.path("rows.csv");
    ASSERT_EQ(run({"make", "sinc", "-n", "60", "-o", data}).code, 0);
    for (const std::string limit : {"-d 100000", "-v 200000"}) {
        const std::string line = "ulimit " + limit +
                                 "; exec timeout -s KILL 30 \"$0\" train \"$1\" " +
                                 "--task ridge --approximate 'nystroem(centres=20)'";
        const Outcome outcome = run_program("sh", {"-c", line, MERCER_PROGRAM, data});
        EXPECT_TRUE(outcome.code == 0 || has(outcome.err, "ulimit " + limit))
            << limit << ": " << outcome.code << " " << outcome.err;
    }
}

#endif

}  // namespace
}  // namespace mercer::test
