// info, convert, scale and make, from the outside.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

/// The JSON of a command that must succeed.
void must(const std::vector<std::string>& words, const std::string& input = "") {
    const Outcome outcome = run(words, input);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(outcome.err, "");
}

/// Without what depends on the file it came from.
json facts(json info) {
    for (const char* name : {"input", "sparse", "bytes", "precision", "advice", "weights"}) {
        info.erase(name);
    }
    for (json& column : info["column"]) column.erase("name");
    return info;
}

TEST(Info, DescribesTheBuiltInSets) {
    const json iris = json_of({"info", "@iris"});
    EXPECT_EQ(iris["rows"], 150);
    EXPECT_EQ(iris["columns"], 4);
    EXPECT_EQ(iris["labels"]["classes"][2], (json{{"name", "virginica"}, {"rows", 50}}));
    EXPECT_EQ(iris["column"][3]["name"], "petal_width");
    const Outcome text = run({"info", "@digits", "--by-column"});
    EXPECT_EQ(text.code, 0);
    EXPECT_TRUE(has(text.out, "rows        1797\n")) << text.out;
    EXPECT_TRUE(has(text.out, "10 classes: 0 (178)")) << text.out;
    EXPECT_TRUE(has(text.out, "pixel_7_7")) << text.out;
}

TEST(Info, ReadsStandardInputAndSaysWhatIsWrongWithTheData) {
    const std::string table = "a,b,class\n1,1000,x\n2,5000,y\n2,5000,x\n3,9000,y\n";
    const json info = json_of({"info", "-"}, table);
    EXPECT_EQ(info["rows"], 4);
    EXPECT_EQ(info["duplicate_rows"], 1);
    EXPECT_EQ(info["contradictions"], 1);
    EXPECT_TRUE(has(info["advice"].dump(), "scale standard"));
    EXPECT_EQ(json_of({"info", "-", "--label", "none"}, "1,2\n3,4\n")["labels"]["kind"], "none");
}

TEST(Info, TheNumberOfThreadsChangesNothing) {
    const Outcome one = run({"info", "@digits", "--json", "--threads", "1"});
    const Outcome three = run({"info", "@digits", "--json", "--threads", "3"});
    EXPECT_EQ(one.code, 0);
    EXPECT_EQ(one.out, three.out);
}

TEST(Info, BadInputNamesThePlace) {
    const Folder folder;
    const std::string bad = folder.file("bad.libsvm", "1 1:2 2:3\n-1 1:x\n");
    const Outcome letter = run({"info", bad});
    EXPECT_EQ(letter.code, 2);
    EXPECT_TRUE(has(letter.err, "bad.libsvm:2:6: ")) << letter.err;
    EXPECT_EQ(letter.out, "");
    EXPECT_EQ(run({"info", folder.path("absent")}).code, 2);
    EXPECT_EQ(run({"info", folder.path("")}).code, 2);
    EXPECT_EQ(run({"info", "@nothing"}).code, 2);
    EXPECT_EQ(run({"info", "-"}, "").code, 2);
}

TEST(Make, EveryKindGivesWhatWasAsked) {
    for (const char* kind : {"sinc", "moons", "rings", "spirals", "checkerboard", "xor", "blobs"}) {
        const Outcome first = run({"make", kind, "--n", "50", "--seed", "3", "--to", "csv"});
        EXPECT_EQ(first.code, 0) << first.err;
        EXPECT_EQ(run({"make", kind, "--n", "50", "--seed", "3", "--to", "csv"}).out, first.out);
        EXPECT_NE(run({"make", kind, "--n", "50", "--seed", "4", "--to", "csv"}).out, first.out);
        EXPECT_EQ(json_of({"info", "-"}, first.out)["rows"], 50) << kind;
    }
    const json blobs =
        json_of({"info", "-"}, run({"make", "blobs", "--classes", "5", "--columns", "9"}).out);
    EXPECT_EQ(blobs["columns"], 9);
    EXPECT_EQ(blobs["labels"]["classes"].size(), 5U);
}

TEST(Make, BadOptionsAreExitCodeTwo) {
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"make", "spiral"},
                                               {"make"},
                                               {"make", "moons", "--n", "0"},
                                               {"make", "moons", "--n", "-5"},
                                               {"make", "moons", "--n", "many"},
                                               {"make", "moons", "--noise", "-1"},
                                               {"make", "moons", "--noise", "nan"},
                                               {"make", "moons", "--json"},
                                               {"make", "moons", "--to", "pdf"}}) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 2) << outcome.err;
        EXPECT_EQ(outcome.out, "");
    }
    EXPECT_TRUE(has(run({"make", "spiral"}).err, "Did you mean 'spirals'?"));
}

TEST(Convert, EveryFormatKeepsTheData) {
    const Folder folder;
    const json iris = json_of({"info", "@iris", "--double"});
    for (const char* name : {"a.csv", "a.tsv", "a.npz", "a.csv.gz", "a.npz.xz"}) {
        const std::string path = folder.path(name);
        const json report = json_of({"convert", "@iris", "-o", path, "--double"});
        EXPECT_EQ(report["rows"], 150) << name;
        EXPECT_EQ(facts(json_of({"info", path, "--double"})), facts(iris)) << name;
    }
    // LIBSVM text has numbers for labels, and idx holds bytes.
    must({"convert", "@digits", "-o", folder.path("digits.libsvm")});
    must({"convert", folder.path("digits.libsvm"), "-o", folder.path("images-idx3-ubyte.gz")});
    EXPECT_EQ(facts(json_of({"info", folder.path("images-idx3-ubyte.gz")})),
              facts(json_of({"info", "@digits"})));
    must({"convert", "@digits", "-o", folder.path("x.npy"), "--labels-to", folder.path("y.npy")});
    EXPECT_EQ(facts(json_of({"info", folder.path("x.npy"), "--labels", folder.path("y.npy")})),
              facts(json_of({"info", "@digits"})));
}

TEST(Convert, BadInputLeavesNoOutputAndKeepsTheOldOne) {
    const Folder folder;
    const std::string bad = folder.file("bad.csv", "1,2,3\n4,five,6\n");
    const std::string old = folder.file("old.csv", "precious\n");
    EXPECT_EQ(run({"convert", bad, "-o", old}).code, 2);
    EXPECT_EQ(run({"convert", bad, "-o", folder.path("new.csv")}).code, 2);
    // An array has no place for labels.
    EXPECT_EQ(run({"convert", "@iris", "-o", folder.path("new.npy")}).code, 2);
    EXPECT_EQ(run({"convert", "@iris", "-o", folder.path("")}).code, 2);
    EXPECT_EQ(content_of(old), "precious\n");
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"bad.csv", "old.csv"}));
}

TEST(Convert, ScalesOnTheWay) {
    const json info =
        json_of({"info", "-"}, run({"convert", "@digits", "--scale", "1/16", "--to", "csv"}).out);
    EXPECT_EQ(info["low"], 0);
    EXPECT_EQ(info["high"], 1);
    EXPECT_EQ(run({"convert", "@digits", "--scale", "1/0"}).code, 2);
}

TEST(Scale, IsKeptAndAppliedAgain) {
    const Folder folder;
    const std::string range = folder.path("range.json");
    must({"scale", "@iris", "--double", "--scale", "minmax(-1,1)", "--save", range, "-o",
          folder.path("scaled.csv")});
    const json scaled = json_of({"info", folder.path("scaled.csv"), "--double"});
    EXPECT_EQ(scaled["low"], -1);
    EXPECT_EQ(scaled["high"], 1);
    must({"scale", "@iris", "--double", "--load", range, "-o", folder.path("again.csv")});
    EXPECT_EQ(content_of(folder.path("again.csv")), content_of(folder.path("scaled.csv")));
    // Another row under the old map: 10 cm of sepal lie outside the range seen.
    const Outcome other = run({"scale", "-", "--label", "none", "--load", range, "--to", "csv",
                               "--double", "--write-header", "no"},
                              "10,2,1,0.1\n");
    EXPECT_EQ(other.code, 0) << other.err;
    const double first = std::stod(other.out);
    EXPECT_NEAR(first, -1 + 2 * (10 - 4.3) / (7.9 - 4.3), 1e-12) << other.out;
}

TEST(Scale, SaysWhenSparseRowsBecomeDense) {
    const std::string sparse = "1 1:1\n-1 9:2\n1 5:3\n";
    const Outcome filled = run({"scale", "-", "--scale", "standard"}, sparse);
    EXPECT_EQ(filled.code, 0) << filled.err;
    EXPECT_TRUE(has(filled.err, "became dense")) << filled.err;
    EXPECT_EQ(run({"scale", "-", "--scale", "standard", "-q"}, sparse).err, "");
    EXPECT_EQ(run({"scale", "-", "--scale", "minmax"}, sparse).err, "");
}

TEST(Scale, BadUseIsExitCodeTwo) {
    const Folder folder;
    const std::string junk = folder.file("junk.json", "{\"format\": 3}");
    const std::vector<std::vector<std::string>> wrong{
        {"scale", "@iris"},
        {"scale", "@iris", "--scale", "cubic"},
        {"scale", "@iris", "--scale", "standard", "--load", junk},
        {"scale", "@iris", "--load", junk},
        {"scale", "@iris", "--load", folder.path("absent.json")},
        {"scale", "@iris", "--scale", "standard", "--save", "-"},
        {"scale", "@iris", "--scale", "standard", "--json"}};
    for (const auto& words : wrong) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 2) << outcome.err;
        EXPECT_EQ(outcome.out, "");
    }
    EXPECT_EQ(folder.names(), (std::vector<std::string>{"junk.json"}));
}

}  // namespace
}  // namespace mercer::test
