// Files are read as the model's own was, and numbers pass through unchanged.
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

void expect_refused(const Outcome& outcome, const std::string& part) {
    EXPECT_EQ(outcome.code, 2) << outcome.out;
    EXPECT_TRUE(has(outcome.err, part)) << outcome.err;
}

/// Eight features, the class the sign of the first; the label where it is wanted.
class ColumnsTest : public testing::Test {
   protected:
    Folder folder{};

    std::string table(const std::string& name, bool header, bool label_first, bool label,
                      int features = 8) {
        std::string text;
        const auto line = [&](const std::string& y, const auto& cell) {
            std::string row;
            if (label && label_first) row = y + ",";
            for (int j = 0; j < features; ++j) row += (j > 0 ? "," : "") + cell(j);
            if (label && !label_first) row += "," + y;
            text += row + "\n";
        };
        if (header) line("kind", [](int j) { return "f" + std::to_string(j); });
        for (int i = 0; i < 40; ++i) {
            line(i % 2 == 0 ? "1" : "2", [&](int j) {
                return std::to_string(j == 0 ? (i % 2 == 0 ? 3 : -3) : (i * (j + 3)) % 7);
            });
        }
        return folder.file(name, text);
    }
    std::string model(const std::string& data, const std::string& label) {
        const std::string path = data + ".mercer";
        const Outcome trained = run({"train", data, path, "--label", label, "-q"});
        EXPECT_EQ(trained.code, 0) << trained.err;
        return path;
    }
};

TEST_F(ColumnsTest, MissingColumnsOfATableAreNotFilledWithZeros) {
    const std::string m = model(table("train.csv", false, false, true), "last");
    const std::string five = table("five.csv", false, false, false, 5);
    for (const std::string command : {"predict", "verify", "calibrate", "transform"}) {
        expect_refused(run({command, m, five}), "five.csv: has 5 columns");
    }
    expect_refused(run({"conformal", m, five, "--aside", five}), "has 5 columns");
    expect_refused(run({"reduce", m, "--vectors", "2", "--data", five}), "has 5 columns");
    const std::string ten = table("ten.csv", false, false, true, 9);
    expect_refused(run({"predict", m, ten}), "8 features and a label in column 9");
}

TEST_F(ColumnsTest, TheModelRemembersThatTheFirstColumnWasTheLabel) {
    for (const bool header : {false, true}) {
        const std::string data = table("first.csv", header, true, true);
        const std::string m = model(data, header ? "kind" : "first");
        const Outcome predicted = run({"predict", m, data, "-o", folder.path("out")});
        EXPECT_TRUE(has(predicted.out, "accuracy 100 % (40 of 40 rows)")) << predicted.err;
        EXPECT_EQ(run({"verify", m, data}).code, 0);
        // The same rows without labels, and where there are names in another order of columns.
        const std::string bare = table("bare.csv", header, true, false);
        EXPECT_EQ(run({"predict", m, bare}).out, content_of(folder.path("out")));
        const std::string last = table("last.csv", header, false, true);
        const Outcome other =
            run(header ? std::vector<std::string>{"predict", m, last}
                       : std::vector<std::string>{"predict", m, last, "--label", "last"});
        EXPECT_EQ(other.out, content_of(folder.path("out"))) << other.err;
    }
}

TEST_F(ColumnsTest, MessagesNameTheColumnThatIsMissing) {
    const std::string m = model(table("train.csv", true, false, true), "kind");
    const std::string renamed =
        folder.file("renamed.csv", "f0,f1,f2,g3,f4,f5,f6,f7\n1,2,3,4,5,6,7,8\n1,2,3,4,5,6,7,9\n");
    expect_refused(run({"predict", m, renamed}), "lacks the column 'f3'");
    expect_refused(run({"predict", m, renamed}), "'g3' were not among them");
    const std::string more = folder.file(
        "more.csv", "id,f7,f6,f5,f4,f3,f2,f1,f0\n5,1,2,3,4,5,6,7,8\n6,1,2,3,4,5,6,7,-8\n");
    const Outcome predicted = run({"predict", m, more});
    EXPECT_EQ(predicted.out, "1\n2\n") << predicted.err;
    EXPECT_TRUE(has(predicted.err, "left out what was not trained on: id")) << predicted.err;
}

TEST_F(ColumnsTest, NoMatchingLabelAtAllIsAnError) {
    const std::string m = model(table("train.csv", false, false, true), "last");
    const std::string strange =
        folder.file("strange.csv", "3,1,1,1,1,1,1,1,cat\n-3,1,1,1,1,1,1,1,dog\n");
    expect_refused(run({"predict", m, strange}), "is a class of the model (1, 2)");
    const std::string sparse = folder.file("zero.libsvm", "0 1:3\n0 1:-3\n");
    expect_refused(run({"predict", m, sparse}), "--label none");
    EXPECT_EQ(run({"predict", m, sparse, "--label", "none"}).out, "1\n2\n");
}

TEST_F(ColumnsTest, LibsvmTextMayLackTheLastColumns) {
    const std::string m = model(table("train.csv", false, false, true), "last");
    const std::string narrow = folder.file("narrow.libsvm", "1 1:3 2:1\n2 1:-3\n");
    const Outcome predicted = run({"predict", m, narrow});
    EXPECT_EQ(predicted.out, "1\n2\n") << predicted.err;
}

TEST_F(ColumnsTest, RowsToSpreadLabelsToNeedNone) {
    const std::string some = table("some.csv", false, false, true);
    const std::string rest = folder.file("rest.csv", "3,1,1,1,1,1,1,1\n-3,1,1,1,1,1,1,1\n");
    EXPECT_EQ(run({"spread", some, rest}).out, "1\n2\n");
}

TEST(Copies, KeepEveryDigit) {
    const Folder folder;
    std::string text;
    for (int i = 0; i < 8; ++i) text += std::to_string(123456701 + i) + ",0.1,-1\n";
    const std::string file = folder.file("x.csv", text);
    EXPECT_EQ(run({"convert", file, "--to", "csv"}).out, text);
    ASSERT_EQ(run({"split", file, folder.path("a.csv"), folder.path("b.csv"), "--plain"}).code, 0);
    const std::string both = content_of(folder.path("a.csv")) + content_of(folder.path("b.csv"));
    for (int i = 0; i < 8; ++i) {
        EXPECT_TRUE(has(both, std::to_string(123456701 + i) + ",0.1,-1\n")) << both;
    }
}

TEST(Copies, TimesAreNoDuplicatesAndCanBeLearntFrom) {
    const Folder folder;
    std::string text = "t,y\n";
    for (int i = 0; i < 200; ++i) {
        text += std::to_string(1600000000 + i) + "," + std::to_string(i / 50 % 2) + "\n";
    }
    const std::string file = folder.file("times.csv", text);
    EXPECT_TRUE(has(run({"info", file, "--json"}).out, "\"duplicate_rows\": 0"));
    for (const std::string scale : {"none", "standard"}) {
        const std::string m = folder.path("m");
        ASSERT_EQ(run({"train", file, m, "--scale", scale, "-C", "100", "-q"}).code, 0);
        const Outcome predicted = run({"predict", m, file, "-o", folder.path("out")});
        EXPECT_TRUE(has(predicted.out, "accuracy 9") || has(predicted.out, "accuracy 100"))
            << predicted.out;
        EXPECT_EQ(run({"verify", m, file}).code, 0);
    }
    const Outcome warned = run({"train", file, "--kernel", "linear", "--step-limit", "1000"});
    EXPECT_TRUE(has(warned.err, "--scale standard")) << warned.err;
}

TEST(Copies, NamesThatBecomeNumbersAreAnnounced) {
    const Folder folder;
    const Outcome told = run({"convert", "@iris", "-o", folder.path("x.libsvm")});
    EXPECT_TRUE(has(told.err, "setosa is 0, versicolor is 1, virginica is 2")) << told.err;
    EXPECT_EQ(run({"convert", "@iris", "-o", folder.path("x.csv")}).err, "");
    EXPECT_EQ(run({"convert", "@iris", "-o", folder.path("y.libsvm"), "-q"}).err, "");
}

TEST(Copies, MessagesSpeakOfFlags) {
    const Folder folder;
    const std::string file = folder.file("x.csv", "1,2,3\n,2,4\n");
    expect_refused(run({"convert", file}), "set --missing mean, median or zero");
    EXPECT_EQ(run({"info", file}).code, 0);  // which tells of gaps in a table of columns
    const std::string zero = folder.file("x.libsvm", "1 0:1\n2 1:1\n");
    expect_refused(run({"info", zero}), "set --first-index 0");
    expect_refused(run({"convert", "@iris", "-o", folder.path("x.npy")}),
                   "name a --labels-to, or none");
}

TEST(Copies, OptionsThatTheFormatHasNoUseForAreRefused) {
    const Folder folder;
    const std::string text = folder.file("x.libsvm", "1 1:2\n-1 2:3\n");
    const std::string table = folder.file("x.csv", "1,2,3\n4,5,6\n");
    const std::string belongs = " has no meaning for LIBSVM text: it belongs to csv, tsv";
    expect_refused(run({"info", text, "--header", "no"}), text + ": --header" + belongs);
    expect_refused(run({"info", text, "--missing", "mean"}), "--missing" + belongs);
    expect_refused(run({"info", text, "--label", "last"}), "--label" + belongs);
    expect_refused(run({"info", text, "--text-labels"}), "--text-labels" + belongs);
    expect_refused(run({"info", text, "--weight-column", "2"}), "--weight-column" + belongs);
    expect_refused(run({"info", table, "--first-index", "0"}),
                   "--first-index has no meaning for CSV: it belongs to libsvm");
    expect_refused(run({"info", "@iris", "--header", "no"}), "has no meaning for @iris");
    expect_refused(run({"convert", table, "-o", folder.path("x.npz"), "--write-header", "yes"}),
                   "--write-header has no meaning for NPZ; it belongs to csv, tsv or spaces");
    EXPECT_EQ(run({"info", text, "--label", "none", "--rows", "dense", "--double"}).code, 0);
    // They serve the first file; the second may be in another format.
    const Outcome both = run({"gram", "linear", table, "--header", "no", "--label", "none",
                              "--against", text, "--columns", "3", "-o", folder.path("k.csv")});
    EXPECT_EQ(both.code, 0) << both.err;
}

TEST(Formats, HelpAndCompletionListThem) {
    const std::string help = run({"convert", "--help"}).out;
    std::string joined;
    std::istringstream stream(help);
    for (std::string word; stream >> word;) joined += (joined.empty() ? "" : " ") + word;
    EXPECT_TRUE(has(joined,
                    "format of the file: auto, libsvm, csv, tsv, spaces, arff, npy, npz, idx, "
                    "parquet, fasta, folders, tar, tu, ts, edges, lines [auto]"))
        << joined;
    EXPECT_TRUE(has(joined,
                    "by the file's name, else LIBSVM text: auto, libsvm, csv, tsv, spaces, "
                    "npy, npz, idx, fasta, tu, edges, lines [auto]"))
        << joined;
    EXPECT_TRUE(has(run({"completion", "bash"}).out,
                    "words=\"auto libsvm csv tsv spaces npy npz idx fasta tu edges lines\""));
    expect_refused(run({"info", "@iris", "--format", "xls"}), "'xls' is none of auto, libsvm");
}

}  // namespace
}  // namespace mercer::test
