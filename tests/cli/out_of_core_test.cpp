// Rows that --memory does not hold: the same models and answers as those of rows in memory, and
// nothing left behind however it ends.
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"

namespace mercer::test {
namespace {

/// Rows of between one and two MiB, whose classes can be learnt.
class OutOfCore : public testing::Test {
   protected:
    static constexpr int rows = 33'000;

    /// As CSV, or as LIBSVM text; `times`: one column needs eight bytes.
    std::string table(const std::string& name, bool libsvm, bool times = false) const {
        Random random(7);
        std::string text = libsvm ? "" : "a,b,c,d,e,f,g,h,i,kind\n";
        for (int i = 0; i < rows; ++i) {
            double sum = 0;
            std::string row;
            for (int j = 0; j < 9; ++j) {
                const double x = std::round(random.normal() * 1000) / 1000;
                sum += x * (j % 2 == 0 ? x : 1);
                const std::string number =
                    times && j == 4 ? std::to_string(1700000000 + i) : format_number(x);
                row += libsvm ? ' ' + std::to_string(j + 1) + ':' + number : number + ',';
            }
            const bool yes = sum > 4;
            text += libsvm ? (yes ? "+1" : "-1") + row + '\n' : row + (yes ? "yes\n" : "no\n");
        }
        return folder.file(name, text);
    }
    /// Few of many columns are there.
    std::string sparse(const std::string& name) const {
        Random random(9);
        std::string text;
        for (int i = 0; i < rows; ++i) {
            std::string row;
            int sum = 0;
            for (std::size_t j = random.below(400); j < 2000; j += 1 + random.below(500)) {
                row += ' ' + std::to_string(j + 1) + ":1";
                sum += j < 700 ? 1 : -1;
            }
            text += (sum > 0 ? "+1" : "-1") + row + '\n';
        }
        return folder.file(name, text);
    }

    /// Within one MiB, and within two or so: of so few centres the same candidates are looked at,
    /// and the features of all rows fit into neither, but for two centres.
    void expect_same_model(const std::string& data, const Words& words, int centres = 6,
                           const std::string& enough = "2") {
        SCOPED_TRACE(data + " " + words[1]);
        const auto train = [&](const std::string& memory) {
            Words all{"train",
                      data,
                      folder.path("m" + memory),
                      "--memory",
                      memory,
                      "--approximate",
                      "nystroem(centres=" + std::to_string(centres) + ")"};
            all.insert(all.end(), words.begin(), words.end());
            const json found = json_of(all);
            EXPECT_EQ(found["held"], memory == "1" ? "temporary file" : "memory");
            return content_of(folder.path("m" + memory));
        };
        const std::string small = train("1");
        EXPECT_FALSE(small.empty());
        EXPECT_TRUE(small == train(enough)) << "models differ";
    }

    Folder folder;
};

TEST_F(OutOfCore, ModelsAreThoseOfRowsInMemory) {
    const std::string csv = table("rows.csv", false);
    expect_same_model(csv, {"--task", "logistic", "--scale", "standard"});
    expect_same_model(
        csv, {"--task", "k-means", "--clusters", "3", "--label", "none", "--drop", "kind"});
    expect_same_model(csv,
                      {"--task", "kpca", "--components", "2", "--label", "none", "--drop", "kind"});
    expect_same_model(csv, {"--task", "ridge", "--label", "a", "--drop", "kind"});
    const std::string svm = table("rows.libsvm", true);
    expect_same_model(svm, {"--task", "svc", "-C", "0.1", "--tol", "0.1", "--scale", "minmax"});
    expect_same_model(svm, {"--task", "squared-hinge"});
    expect_same_model(svm, {"--task", "huber"});
}

TEST_F(OutOfCore, SparseRowsAndDoublesWaitInFilesToo) {
    expect_same_model(sparse("sparse.libsvm"), {"--task", "logistic", "--kernel", "linear"});
    expect_same_model(sparse("sparse.libsvm"),
                      {"--task", "ridge", "--kernel", "rbf(gamma=0.1)", "--scale", "unit"});
    expect_same_model(table("times.csv", false, true),
                      {"--task", "logistic", "--scale", "standard"}, 6, "3");
    // Machines that store the features of all rows look at blocks as well.
    expect_same_model(table("rows.csv", false),
                      {"--task", "quantile", "--label", "a", "--drop", "kind", "--scale",
                       "standard", "--time-limit", "60"},
                      2);
    expect_same_model(table("rows.libsvm", true), {"--task", "svc", "-C", "0.01"}, 2);
}

TEST_F(OutOfCore, AnswersAreThoseOfRowsInMemory) {
    const std::string csv = table("rows.csv", false);
    const std::string model = folder.path("m");
    ASSERT_EQ(run({"train", csv, model, "--task", "logistic", "--approximate",
                   "nystroem(centres=10)", "--lambda", "0.01"})
                  .code,
              0);
    const auto predict = [&](const std::string& data, const Words& more) {
        Words words{"predict",          model,        data,           "-o",
                    folder.path("out"), "--decision", "--probability"};
        words.insert(words.end(), more.begin(), more.end());
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 0) << outcome.err;
        const bool blocks = !more.empty();
        EXPECT_EQ(has(outcome.err, "in a temporary file"), blocks) << outcome.err;
        return content_of(folder.path("out")) + outcome.out;
    };
    const std::string whole = predict(csv, {});
    EXPECT_TRUE(has(whole, "accuracy"));
    EXPECT_EQ(lines_of(whole).size(), rows + 2U);
    EXPECT_TRUE(predict(csv, {"--memory", "1"}) == whole);
    ASSERT_EQ(run_program("gzip", {"-1", csv}).code, 0);
    EXPECT_TRUE(predict(csv + ".gz", {"--memory", "1", "--spool", folder.path("")}) == whole);
    // What was there stays where a row is wrong, however late.
    const std::string old = content_of(folder.path("out"));
    const std::string wrong =
        folder.file("wrong.csv", content_of(table("rows.csv", false)) + "1,2,3,4,x,6,7,8,9,no\n");
    const Outcome outcome =
        run({"predict", model, wrong, "-o", folder.path("out"), "--memory", "1"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(has(outcome.err, "wrong.csv:33002:9: found 'x' in column 5 (e)")) << outcome.err;
    EXPECT_TRUE(content_of(folder.path("out")) == old);
    EXPECT_EQ(folder.names(), (Words{"m", "out", "rows.csv", "rows.csv.gz", "wrong.csv"}));
}

TEST_F(OutOfCore, OneLineSaysWhereRowsAreAndWhy) {
    const std::string csv = table("rows.csv", false);
    Words words{"train",    csv, "--task",  "logistic",     "--approximate", "nystroem(centres=4)",
                "--memory", "1", "--spool", folder.path("")};
    EXPECT_TRUE(has(run(words).out, "held        in a temporary file in " + folder.path("") +
                                        ", looked at block by block (1 MiB, more than the 1 of "
                                        "--memory)"))
        << run(words).out;
    words[7] = "100";
    EXPECT_TRUE(has(run(words).out, "held        in memory (1 MiB; --memory allows 100)"));
    words[9] = folder.path("nowhere");
    words[7] = "1";
    const Outcome outcome = run(words);
    EXPECT_EQ(outcome.code, 2);
    EXPECT_TRUE(has(outcome.err, "no temporary file can be made in " + folder.path("nowhere")));
    EXPECT_TRUE(has(outcome.err, "name another folder by --spool")) << outcome.err;
    EXPECT_EQ(run({"train", csv, "--spool", "/tmp"}).code, 2) << "without --approximate";
}

TEST_F(OutOfCore, NothingIsLeftByWhateverEndsIt) {
    const std::string csv = table("rows.csv", false);
    const Folder spool;
    for (const std::string signal : {"INT", "TERM", "KILL"}) {
        // More rows than memory may hold, and then no end.
        const std::string line =
            "(cat \"$1\" \"$1\" \"$1\"; sleep 3) | timeout -s " + signal +
            " 1 \"$0\" train - \"$2\" --task logistic --header no --label last "
            "--approximate 'nystroem(centres=4)' --memory 1 --spool \"$3\"";
        const Outcome outcome =
            run_program("sh", {"-c", line, MERCER_PROGRAM, csv, folder.path("m"), spool.path("")});
        EXPECT_NE(outcome.code, 0) << outcome.err;
        EXPECT_TRUE(spool.names().empty()) << signal;
        EXPECT_EQ(folder.names(), Words{"rows.csv"}) << signal;
    }
}

#ifdef MERCER_FAULTS

TEST_F(OutOfCore, AFullDiskEndsInWordsAndLeavesNothing) {
    const std::string csv = table("rows.csv", false);
    const Folder spool;
    const Words train{"train",
                      csv,
                      folder.path("m"),
                      "--task",
                      "logistic",
                      "--memory",
                      "1",
                      "--approximate",
                      "nystroem(centres=4)",
                      "--spool",
                      spool.path("")};
    for (const char* const fault : {"write:1:ENOSPC", "write:1:EIO"}) {
        Words all{std::string("LD_PRELOAD=") + MERCER_FAULTS, std::string("MERCER_FAULT=") + fault,
                  MERCER_PROGRAM};
        all.insert(all.end(), train.begin(), train.end());
        const Outcome outcome = run_program("env", all);
        EXPECT_EQ(outcome.code, 2) << fault << outcome.err;
        EXPECT_TRUE(has(outcome.err, has(fault, "EIO") ? "takes no more (" : "no more room in"))
            << outcome.err;
        EXPECT_TRUE(has(outcome.err, "name another folder by --spool, or allow more by --memory"))
            << outcome.err;
        EXPECT_TRUE(spool.names().empty());
        EXPECT_EQ(folder.names(), Words{"rows.csv"});
    }
    // A limit on the size of files is such an end too, though a signal comes with it.
    const Outcome limited =
        run_program("sh", {"-c", "ulimit -f 100; exec \"$0\" \"$@\"", MERCER_PROGRAM, "train", csv,
                           folder.path("m"), "--task", "logistic", "--memory", "1", "--approximate",
                           "nystroem(centres=4)", "--spool", spool.path("")});
    EXPECT_NE(limited.code, 0);
    EXPECT_TRUE(spool.names().empty());
    EXPECT_EQ(folder.names(), Words{"rows.csv"});
}

#endif

}  // namespace
}  // namespace mercer::test
