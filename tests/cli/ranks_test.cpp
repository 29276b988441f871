// Several processes under mpirun: one model, one message, one exit code.
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

bool shows(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

class Mpi : public testing::Test {
   protected:
    void SetUp() override {
        const auto plugin = std::filesystem::path(MERCER_PROGRAM).parent_path().parent_path() /
                            "lib" / "libmercer_mpi.so";
        if (std::system("mpirun --version > /dev/null 2>&1") != 0) {
            GTEST_SKIP() << "there is no mpirun here (openmpi-bin)";
        }
        if (!std::filesystem::exists(plugin)) {
            GTEST_SKIP() << "built without MPI (libopenmpi-dev)";
        }
    }

    /// More ranks than processors, by whoever runs tests.
    static Outcome mpirun(const Words& words) {
        Words all{"--oversubscribe", "--allow-run-as-root", "--bind-to", "none"};
#if defined(__SANITIZE_ADDRESS__)
        // MPI does not give everything back, and its plugins are gone when the sanitizer asks.
        all.insert(all.end(), {"-x", "ASAN_OPTIONS=detect_leaks=0"});
#endif
        all.insert(all.end(), words.begin(), words.end());
        return run_program("mpirun", all);
    }

    static Outcome run_ranks(int count, const Words& words) {
        Words all{"-n", std::to_string(count), MERCER_PROGRAM};
        all.insert(all.end(), words.begin(), words.end());
        return mpirun(all);
    }

    std::string made(const Words& words, const std::string& name) const {
        Words all{"make"};
        all.insert(all.end(), words.begin(), words.end());
        all.insert(all.end(), {"-o", folder.path(name)});
        EXPECT_EQ(run(all).code, 0);
        return folder.path(name);
    }

    Folder folder;
};

TEST_F(Mpi, ModelsHaveTheSameBytesForAnyNumberOfRanks) {
    const std::string classes =
        made({"blobs", "--n", "30000", "--classes", "3", "--columns", "4"}, "blobs.npz");
    const std::string numbers = made({"sinc", "--n", "26000"}, "sinc.csv");
    const std::string sparse = made({"moons", "--n", "20000"}, "moons.libsvm");
    const struct {
        std::string data;
        Words words;
        std::vector<int> counts;
    } cases[]{{numbers, {"--task", "ridge", "--target-scale", "standard"}, {1, 2, 8}},
              {classes, {"--task", "logistic", "--scale", "standard"}, {3}},
              {sparse, {"--task", "squared-hinge", "--scale", "minmax"}, {2}},
              {classes, {"--task", "k-means", "--clusters", "4", "--starts", "2"}, {3}},
              {sparse, {"--task", "svc", "-C", "0.1", "--memory", "3", "--tol", "0.2"}, {2}},
              {sparse, {"--task", "svc", "-C", "0.1"}, {3}},  // features in memory
              {numbers, {"--task", "svr", "-C", "0.1", "--tol", "0.1"}, {2}},
              {numbers, {"--task", "huber"}, {5}}};
    for (const auto& [data, words, counts] : cases) {
        SCOPED_TRACE(words[1]);
        const auto train = [&data = data, &words = words](const std::string& model) {
            Words all{"train", data, model, "--approximate", "nystroem(centres=30)"};
            all.insert(all.end(), words.begin(), words.end());
            return all;
        };
        const std::string alone = folder.path("alone.mercer");
        const Outcome single = run(train(alone));
        ASSERT_EQ(single.code, 0) << single.err;
        for (const int count : counts) {
            const std::string model = folder.path("spread.mercer");
            const Outcome spread = run_ranks(count, train(model));
            ASSERT_EQ(spread.code, 0) << spread.err;
            EXPECT_EQ(content_of(model), content_of(alone)) << count << " ranks";
            EXPECT_EQ(spread.out.find("status"), spread.out.rfind("status")) << "said once";
        }
    }
}

/// All rows on each rank, the work shared: columns of the matrix, or pairs of classes.
TEST_F(Mpi, SupportVectorMachinesOfAllRowsHaveTheSameBytes) {
    const std::string moons = made({"moons", "--n", "2500", "--noise", "0.3"}, "moons.npz");
    const std::string many = made({"moons", "--n", "5000", "--noise", "0.3"}, "many.npz");
    const std::string blobs = made({"blobs", "--n", "1200", "--classes", "5"}, "blobs.csv");
    const std::string sinc = made({"sinc", "--n", "1500"}, "sinc.csv");
    const std::string words = folder.file(
        "words.csv", "text,label\nab ab ba,x\nab ba ab,x\nba ba,x\ncd cd,y\ncd dc dc,y\ndc,y\n");
    const struct {
        std::string data;
        Words words;
        std::vector<int> counts;
    } cases[]{{moons, {"--task", "svc", "-C", "10", "--memory", "1"}, {2, 3, 5, 8}},
              {blobs, {"--task", "svc", "--probability"}, {2, 5}},
              {many, {"--task", "svc", "--kernel", "rbf(gamma=2000)"}, {2, 3}},  // narrow
              {sinc, {"--task", "svr", "--target-scale", "standard"}, {3}},
              {blobs, {"--task", "svc", "--approximate", "cells(rows=200)"}, {3}},
              {moons, {"--task", "one-class", "--nu", "0.2", "--double"}, {2}},
              {words, {"--task", "svc", "--kernel", "spectrum(k=2)[text]"}, {2}}};
    for (const auto& [data, more, counts] : cases) {
        SCOPED_TRACE(data);
        const auto train = [&, &data = data, &more = more](const std::string& model) {
            Words all{"train", data, model};
            all.insert(all.end(), more.begin(), more.end());
            return all;
        };
        const std::string alone = folder.path("alone.mercer");
        const Outcome single = run(train(alone));
        ASSERT_EQ(single.code, 0) << single.err;
        for (const int count : counts) {
            const std::string model = folder.path("spread.mercer");
            const Outcome spread = run_ranks(count, train(model));
            ASSERT_EQ(spread.code, 0) << spread.err;
            EXPECT_EQ(content_of(model), content_of(alone)) << count << " ranks";
        }
    }
    const Outcome late = run_ranks(2, {"train", moons, "-C", "1e6", "--kernel", "rbf(gamma=9)",
                                       "--tol", "1e-9", "--time-limit", "0.01"});
    EXPECT_EQ(late.code, 0) << late.err;
    EXPECT_TRUE(shows(late.out, "stopped at the time limit")) << late.out;
}

/// Under the linear kernel, from an array that is left in its file; an svc too where it does not
/// fit.
TEST_F(Mpi, LinearMachinesGoOverTheirRows) {
    const std::string rows = folder.path("rows.npy");
    const std::string classes = folder.path("classes.npy");
    ASSERT_EQ(
        run({"make", "blobs", "--n", "34000", "--columns", "5", "-o", rows, "--labels-to", classes})
            .code,
        0);
    for (const char* task : {"ridge", "logistic", "svc"}) {
        SCOPED_TRACE(task);
        const auto train = [&](const std::string& model) {
            return Words{"train",
                         rows,
                         folder.path(model),
                         "--labels",
                         classes,
                         "--kernel",
                         "linear",
                         "--task",
                         task,
                         "--memory",
                         "1",
                         "--checkpoint",
                         folder.path("state")};
        };
        const Outcome single = run(train("alone.mercer"));
        ASSERT_EQ(single.code, 0) << single.err;
        EXPECT_TRUE(shows(run({"show", folder.path("alone.mercer")}).out, "weights"));
        for (const int count : {3}) {
            const Outcome spread = run_ranks(count, train("spread.mercer"));
            ASSERT_EQ(spread.code, 0) << spread.err;
            EXPECT_EQ(content_of(folder.path("spread.mercer")),
                      content_of(folder.path("alone.mercer")))
                << count << " ranks";
        }
    }
    const Outcome verified =
        run({"verify", folder.path("alone.mercer"), rows, "--labels", classes});
    EXPECT_EQ(verified.code, 2);
    EXPECT_TRUE(shows(verified.err, "learnt in passes over the rows")) << verified.err;
}

TEST_F(Mpi, AnErrorIsSaidOnceAndEndsAll) {
    const std::string data = made({"blobs", "--n", "300"}, "blobs.csv");
    const struct {
        Words words;
        std::string message;
    } cases[]{
        {{"train", folder.path("none.csv"), "--task", "ridge", "--approximate", "nystroem"},
         "no such file"},
        {{"train", data, "--task", "gp", "--optimise", "--approximate", "nystroem(centres=9)"},
         "cannot be spread over 3 processes"},
        {{"train", data, "--task", "logistic"}, "a kernel that is not linear, runs in one process"},
        {{"train", data, "--cv", "3"}, "with --cv, --curve or --trace runs in one process"},
        {{"info", data}, "runs in one process"},
        {{"train", data, "--no-such-option"}, "there is no option"},
    };
    for (const auto& [words, message] : cases) {
        SCOPED_TRACE(words[0] + " " + message);
        const Outcome found = run_ranks(3, words);
        EXPECT_EQ(found.code, 2);
        EXPECT_TRUE(shows(found.err, message)) << found.err;
        EXPECT_EQ(found.err.find("mercer: error"), found.err.rfind("mercer: error")) << found.err;
    }
}

TEST_F(Mpi, PredictionsComeInOrderAndHaveTheSameBytes) {
    const std::string data = made({"blobs", "--n", "20000", "--classes", "3"}, "blobs.csv");
    const std::string few = made({"blobs", "--n", "60", "--classes", "3"}, "few.csv");
    const std::string model = folder.path("blobs.mercer");
    ASSERT_EQ(run({"train", few, model, "--probability"}).code, 0);
    for (const auto& input : {data, few}) {  // three leaves; one, and ranks without rows
        const auto predict = [&](const std::string& output) {
            return Words{"predict", model, input, "-o", output, "--decision", "--probability"};
        };
        const Outcome alone = run(predict(folder.path("alone.txt")));
        const Outcome spread = run_ranks(3, predict(folder.path("spread.txt")));
        ASSERT_EQ(spread.code, 0) << spread.err;
        EXPECT_EQ(content_of(folder.path("spread.txt")), content_of(folder.path("alone.txt")));
        EXPECT_EQ(spread.out, alone.out) << "the score of all rows";
    }
    const Outcome refused = run_ranks(2, {"predict", model, few, "--beside", "all"});
    EXPECT_EQ(refused.code, 2);
    EXPECT_TRUE(shows(refused.err, "--beside runs in one process")) << refused.err;
}

TEST_F(Mpi, CertificatesAreRecomputedTogether) {
    const std::string moons = made({"moons", "--n", "700", "--noise", "0.3"}, "moons.csv");
    const std::string other = made({"moons", "--n", "700", "--seed", "8"}, "other.csv");
    for (const char* task : {"svc", "svdd", "regions"}) {
        SCOPED_TRACE(task);
        const std::string model = folder.path("model.mercer");
        ASSERT_EQ(run({"train", moons, model, "--task", task}).code, 0);
        for (const std::string& data : {moons, other}) {
            const Words verify{"verify", model, data, "--json"};
            const Outcome alone = run(verify);
            const Outcome spread = run_ranks(3, verify);
            EXPECT_EQ(alone.code, data == moons ? 0 : 1) << alone.err;
            EXPECT_EQ(spread.code, alone.code) << spread.err;
            EXPECT_EQ(spread.out, alone.out);
        }
    }
}

TEST_F(Mpi, GramMatricesHaveTheSameBytes) {
    const std::string data = made({"blobs", "--n", "1300", "--columns", "4"}, "rows.csv");
    const std::string few =
        made({"blobs", "--n", "90", "--columns", "4", "--seed", "3"}, "few.csv");
    const struct {
        Words words;
        std::string ending;
    } cases[]{{{"normalize(polynomial(degree=3))", data}, ".npy"},
              {{"rbf(gamma=scale)", data, "--double"}, ".npy"},
              {{"rbf(gamma=scale)", data, "--against", few}, ".npy"},
              {{"laplacian(gamma=0.1)", few, "--precomputed"}, ".txt"},
              {{"sigmoid(gamma=0.1)", few, "--function", "clip"}, ".csv"}};
    for (const auto& [words, ending] : cases) {
        SCOPED_TRACE(words[0]);
        const auto gram = [&, &words = words, &ending = ending](const std::string& name) {
            Words all{"gram"};
            all.insert(all.end(), words.begin(), words.end());
            all.insert(all.end(), {"-o", folder.path(name + ending)});
            return all;
        };
        ASSERT_EQ(run(gram("alone")).code, 0);
        const Outcome spread = run_ranks(2, gram("spread"));
        ASSERT_EQ(spread.code, 0) << spread.err;
        EXPECT_EQ(content_of(folder.path("spread" + ending)),
                  content_of(folder.path("alone" + ending)));
    }
}

/// A table of a search without its column of seconds, which differ from run to run.
std::string without_seconds(const std::string& table) {
    std::string kept;
    std::istringstream lines(table);
    for (std::string row; std::getline(lines, row);) {
        const std::size_t status = row.rfind(',');
        const std::size_t rows = row.rfind(',', status - 1);
        const std::size_t seconds = row.rfind(',', rows - 1);
        kept += row.substr(0, seconds) + row.substr(rows) + '\n';
    }
    return kept;
}

TEST_F(Mpi, ASearchHasTheTableAndTheModelOfOneProcess) {
    const std::string data = made({"moons", "--n", "120", "--noise", "0.3"}, "moons.csv");
    for (const char* task : {"svc", "ridge"}) {  // kernel values shared, and each point by itself
        SCOPED_TRACE(task);
        const bool svc = task == std::string("svc");
        const auto tune = [&](const std::string& name) {
            return Words{"tune",
                         data,
                         folder.path(name + ".mercer"),
                         "--task",
                         task,
                         "--grid",
                         svc ? "C=0.1,1,10" : "lambda=0.1,1",
                         "--grid",
                         "gamma=0.1,1,3,5",
                         "--folds",
                         "3",
                         "--csv",
                         folder.path(name + ".csv")};
        };
        ASSERT_EQ(run(tune("alone")).code, 0);
        const Outcome spread = run_ranks(3, tune("spread"));
        ASSERT_EQ(spread.code, 0) << spread.err;
        EXPECT_EQ(without_seconds(content_of(folder.path("spread.csv"))),
                  without_seconds(content_of(folder.path("alone.csv"))));
        EXPECT_EQ(content_of(folder.path("spread.mercer")),
                  content_of(folder.path("alone.mercer")));
    }
}

TEST_F(Mpi, ASearchInCellsHasTheTableAndTheModelOfOneProcess) {
    const std::string data = made({"moons", "--n", "300", "--noise", "0.3"}, "moons.csv");
    const auto tune = [&](const std::string& name) {
        return Words{"tune",
                     data,
                     folder.path(name + ".mercer"),
                     "--grid",
                     "C=0.1,10",
                     "--grid",
                     "gamma=0.1,3",
                     "--folds",
                     "3",
                     "--approximate",
                     "cells(rows=80)",
                     "--csv",
                     folder.path(name + ".csv")};
    };
    ASSERT_EQ(run(tune("alone")).code, 0);
    const Outcome spread = run_ranks(3, tune("spread"));
    ASSERT_EQ(spread.code, 0) << spread.err;
    for (const char* ending : {".csv", ".mercer"}) {
        EXPECT_EQ(content_of(folder.path(std::string("spread") + ending)),
                  content_of(folder.path(std::string("alone") + ending)));
    }
}

/// Begun by some, gone on with by others.
TEST_F(Mpi, ASearchKeepsAJournalForAnyNumberOfRanks) {
    const std::string data = made({"moons", "--n", "120", "--noise", "0.3"}, "moons.csv");
    const auto tune = [&](const std::string& name, const Words& more) {
        Words all{"tune",    data,
                  "--grid",  "C=0.1,1,10",
                  "--grid",  "gamma=0.1,1,3,5",
                  "--folds", "3",
                  "--csv",   folder.path(name + ".csv")};
        all.insert(all.end(), more.begin(), more.end());
        return all;
    };
    const std::string journal = folder.path("journal");
    ASSERT_EQ(run(tune("alone", {})).code, 0);
    ASSERT_EQ(run_ranks(3, tune("first", {"--journal", journal})).code, 0);
    // Points of two kernels are done, of the other two as if never, the first of them torn.
    const std::string whole = content_of(journal);
    std::size_t cut = 0;
    for (int line = 0; line < 7; ++line) cut = whole.find('\n', cut) + 1;
    EXPECT_EQ(std::ranges::count(whole, '\n'), 13) << "a line for each of twelve points";
    folder.file("journal", whole.substr(0, cut + 10));
    const Outcome resumed = run_ranks(2, tune("spread", {"--journal", journal}));
    ASSERT_EQ(resumed.code, 0) << resumed.err;
    EXPECT_TRUE(shows(resumed.out, "6 points taken from")) << resumed.out;
    for (const char* name : {"first.csv", "spread.csv"}) {
        EXPECT_EQ(without_seconds(content_of(folder.path(name))),
                  without_seconds(content_of(folder.path("alone.csv"))));
    }
    EXPECT_EQ(std::ranges::count(content_of(journal), '\n'), 13);
    const Outcome once_more = run(tune("again", {"--journal", journal}));
    EXPECT_TRUE(shows(once_more.out, "12 points taken from")) << once_more.out;
}

TEST_F(Mpi, ArraysAreReadInParts) {
    // Almost three million bytes of floats, and classes in a file of their own.
    const std::string rows = folder.path("rows.npy");
    const std::string classes = folder.path("classes.npy");
    ASSERT_EQ(run({"make", "blobs", "--n", "18000", "--columns", "40", "-o", rows, "--labels-to",
                   classes})
                  .code,
              0);
    const auto train = [&](const std::string& model) {
        return Words{"train",
                     rows,
                     folder.path(model),
                     "--labels",
                     classes,
                     "--task",
                     "logistic",
                     "--scale",
                     "standard",
                     "--approximate",
                     "nystroem(centres=20)"};
    };
    const Outcome alone = run(train("alone.mercer"));
    ASSERT_EQ(alone.code, 0) << alone.err;
    Words from_file = train("mapped.mercer");
    from_file.insert(from_file.end(), {"--memory", "1"});
    // One MiB for kernel values leaves few rows to draw centres from: another model, but the same
    // for any number of ranks.
    const Outcome by_blocks = run(from_file);
    ASSERT_EQ(by_blocks.code, 0) << by_blocks.err;
    const std::string mapped = content_of(folder.path("mapped.mercer"));
    const Outcome spread = run_ranks(3, train("spread.mercer"));
    ASSERT_EQ(spread.code, 0) << spread.err;
    EXPECT_EQ(content_of(folder.path("spread.mercer")), content_of(folder.path("alone.mercer")));
    const Outcome both = run_ranks(2, from_file);
    ASSERT_EQ(both.code, 0) << both.err;
    EXPECT_EQ(content_of(folder.path("mapped.mercer")), mapped);
}

TEST_F(Mpi, TextThatDoesNotFitMemoryWaitsInFilesOfEachRank) {
    const std::string data = made({"blobs", "--n", "30000", "--columns", "12"}, "blobs.csv");
    const auto train = [&](const std::string& model) {
        return Words{
            "train",    data,      folder.path(model), "--task",        "logistic",
            "--json",   "--scale", "standard",         "--approximate", "nystroem(centres=4)",
            "--memory", "1"};
    };
    const Outcome alone = run(train("alone.mercer"));
    ASSERT_EQ(alone.code, 0) << alone.err;
    EXPECT_TRUE(shows(alone.out, "\"held\": \"temporary file\"")) << alone.out;
    const Outcome spread = run_ranks(2, train("spread.mercer"));
    ASSERT_EQ(spread.code, 0) << spread.err;
    EXPECT_EQ(content_of(folder.path("spread.mercer")), content_of(folder.path("alone.mercer")));
}

TEST_F(Mpi, TrainingThatWasKilledIsGoneOnWith) {
    const std::string data = made({"moons", "--n", "40000"}, "moons.npz");
    const std::string checkpoint = folder.path("state");
    const auto train = [&](const std::string& model) {
        return Words{"train",
                     data,
                     folder.path(model),
                     "--task",
                     "logistic",
                     "--kernel",
                     "rbf(gamma=3)",
                     "--lambda",
                     "1e-4",
                     "--approximate",
                     "nystroem(centres=60)"};
    };
    ASSERT_EQ(run(train("whole.mercer")).code, 0);
    Words kept = train("resumed.mercer");
    kept.insert(kept.end(), {"--checkpoint", checkpoint, "--checkpoint-every", "0", "--resume"});
    for (const int milliseconds : {200, 400, 700}) {
        run_and_signal(kept, SIGKILL, milliseconds);
        // Where that was too late, there was nothing to go on with: once more from the start.
        std::filesystem::remove(folder.path("resumed.mercer"));
    }
    const Outcome found = run_ranks(3, kept);
    ASSERT_EQ(found.code, 0) << found.err;
    EXPECT_EQ(content_of(folder.path("resumed.mercer")), content_of(folder.path("whole.mercer")));
    EXPECT_FALSE(std::filesystem::exists(checkpoint)) << "nothing is left to go on with";
    folder.file("state", "mine");
    const Outcome other = run(kept);
    EXPECT_EQ(other.code, 2);
    EXPECT_TRUE(shows(other.err, "this is no checkpoint")) << other.err;
}

/// The first rank hears it, and tells the others.
TEST_F(Mpi, CtrlCEndsAllWithOneMessageAndNoFile) {
    const std::string data = made({"blobs", "--n", "120000", "--columns", "12"}, "blobs.npz");
    const std::vector<std::string> before = folder.names();
    const std::string script =
        "[ $OMPI_COMM_WORLD_RANK = 0 ] || exec \"$@\"; "
        "exec timeout --preserve-status --signal INT 3 \"$@\"";
    const Outcome found = mpirun({"-n", "3", "sh", "-c", script, "sh", MERCER_PROGRAM, "train",
                                  data, folder.path("model.mercer"), "--task", "kpca",
                                  "--approximate", "nystroem(centres=3000)", "--threads", "1"});
    EXPECT_EQ(found.code, 130) << found.err;
    const std::size_t said = found.err.find("mercer: error: interrupted");
    EXPECT_NE(said, std::string::npos) << found.err;
    EXPECT_EQ(found.err.find("mercer:"), found.err.rfind("mercer:")) << found.err;
    EXPECT_EQ(folder.names(), before) << "no model, nor a part of one";
}

TEST_F(Mpi, CopiesOnTheirOwnAreToldSo) {
    const std::string data = made({"moons", "--n", "50"}, "moons.csv");
    const Outcome found = mpirun({"-x", "MERCER_MPI=off", "-n", "2", MERCER_PROGRAM, "info", data});
    EXPECT_EQ(found.code, 0) << found.err;
    EXPECT_NE(found.out.find("columns"), found.out.rfind("columns")) << "both speak";
}

TEST_F(Mpi, TooLittleTimeIsNamed) {
    const std::string data = made({"sinc", "--n", "40000"}, "sinc.npz");
    const Outcome found = run_ranks(2, {"train", data, "--task", "ridge", "--approximate",
                                        "nystroem(centres=2000)", "--time-limit", "0.001"});
    EXPECT_EQ(found.code, 2);
    EXPECT_TRUE(shows(found.err, "the time limit of 0.001 seconds passed")) << found.err;
}

}  // namespace
}  // namespace mercer::test
