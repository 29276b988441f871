// No run writes over what the user has: every command, every pair of files it names.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

/// A command line with every option that names a file. "<" and ">" begin the place of a file that
/// is read or written; the check comes before the command looks at anything else.
using Line = std::vector<std::string>;

std::vector<Line> with_reading(std::vector<Line> lines) {
    for (Line& line : lines) {
        line.insert(line.end(), {"--labels", "<labels", "--weights", "<weights"});
    }
    return lines;
}

std::vector<Line> with_writing(std::vector<Line> lines) {
    for (Line& line : lines) {
        line.insert(line.end(), {"-o", ">out", "--labels-to", ">y", "--weights-to", ">w"});
    }
    return with_reading(lines);
}

std::vector<Line> all_lines() {
    std::vector<Line> lines{
        {"detect", "<model", "<image", "-o", ">picture"},
        {"superres", "<picture", ">larger", "--train", "<photo", "--model", "<model",
         "--save-model", ">learnt", "--sheet", ">sheet"},
        {"equivalent", "<model"},
        {"show", "<model"},
        {"export", "<model", ">m.onnx"},
        {"export", "<model", ">m.model"},
        {"make", "moons", "-o", ">out", "--labels-to", ">y", "--weights-to", ">w"},
        {"studio", "<data"},
        {"svm-train", "<data", ">model"},
        {"svm-predict", "<data", "<model", ">labels"},
        {"svm-scale", "-s", ">ranges", "<data"},
        {"svm-scale", "-r", "<ranges", "<data"},
    };
    const auto add = [&lines](const std::vector<Line>& more) {
        lines.insert(lines.end(), more.begin(), more.end());
    };
    add(with_reading({
        {"info", "<data"},
        {"kernel", "linear", "--data", "<data"},
        {"split", "<data", ">train", ">test"},
        {"train", "<data", ">model", "--curve", ">curve", "--from", "<from", "--trace", ">trace",
         "--checkpoint", ">state"},
        {"tune", "<data", ">model", "--curve", ">curve", "--from", "<from", "--trace", ">trace",
         "--groups", "<groups", "--fold-file", "<folds", "--journal", ">journal", "--csv", ">csv",
         "--heat-map", ">map"},
        {"predict", "<model", "<data", "-o", ">out"},
        {"learn", "<data", "-o", ">model", "--report", ">report"},
        {"plan", "<data"},
        {"judge", "<model", "<data"},
        {"compare", "<model", "<other", "<data"},
        {"cca", "<data", "<other", ">model"},
        {"depend", "<data", "<outputs", ">model"},
        {"verify", "<model", "<data"},
        {"plot", "regions", "<model", "<data", "-o", ">picture"},
        {"reduce", "<model", ">small", "--data", "<data", "--curve", ">curve"},
        {"cascade", "<model", "<data", ">quick", "--test", "<test"},
        {"bounds", "<model", "<data", "--data", "<sample"},
        {"margin", "<data", "--model", "<model"},
        {"srm", "<data"},
        {"align", "<data"},
        {"calibrate", "<model", "<data", "-o", ">sure", "--test", "<test", "--picture", ">picture"},
        {"conformal", "<model", "<data", "--aside", "<aside", "-o", ">out"},
        {"features", "<data", "--model", "<model"},
        {"query", "<model", "<data", "--labelled", "<labelled"},
        {"spread", "<data", "<unlabelled", "-o", ">out", "--save-model", ">model"},
        {"multilabel", "<data", "<test", "--label-columns", "2", "-o", ">out", "--save-model",
         ">model"},
    }));
    add(with_writing({
        {"convert", "<data"},
        {"ica", "<data", ">model", "--truth", "<truth"},
        {"scale", "<data", "--save", ">save", "--load", "<load"},
        {"gram", "linear", "<data", "--against", "<against"},
        {"map", "<data", "--sample", "<sample"},
        {"transform", "<model", "<data"},
        {"denoise", "<data", "--model", "<model", "--train", "<train"},
        {"answer", "<model", "<data", "--candidates", "<candidates", "--positions", ">positions"},
        {"vq", "encode", "<data"},
        {"virtual", "<data", "--with", "shift(1)", "--support", "<support"},
        {"tangent", "<data", "--with", "shift(1)", "--sample", "<sample"},
    }));
    return lines;
}

std::set<std::string> commands_of_the_help() {
    std::set<std::string> names;
    std::istringstream help(run({"--help"}).out);
    for (std::string line; std::getline(help, line);) {
        if (line.size() < 3 || !line.starts_with("  ")) continue;
        if (line[2] == ' ' || line[2] == '-') continue;
        names.insert(line.substr(2, line.find(' ', 2) - 2));
    }
    return names;
}

/// Long names of options whose value is a file.
std::set<std::string> file_options(const std::string& command) {
    std::set<std::string> names;
    std::istringstream help(run({command, "--help"}).out);
    for (std::string line; std::getline(help, line);) {
        const std::size_t value = line.find(" FILE");
        const std::size_t name = line.find("--");
        if (!line.starts_with("  -") || value == std::string::npos || name > value) continue;
        if (line.find_first_of(" ", name) == value) names.insert(line.substr(name, value - name));
    }
    return names;
}

TEST(Files, TheLinesOfThisTestNameEveryFileOfEveryCommand) {
    std::set<std::string> left = commands_of_the_help();
    ASSERT_GE(left.size(), 40U);
    for (const Line& line : all_lines()) {
        left.erase(line[0]);
        std::set<std::string> options = file_options(line[0]);
        for (const std::string& word : line) options.erase(word == "-o" ? "--output" : word);
        EXPECT_TRUE(options.empty()) << line[0] << " " << *options.begin();
    }
    EXPECT_EQ(left, std::set<std::string>{});
}

TEST(Files, NoCommandWritesOverWhatItReadsOrWritesTwice) {
    const Folder folder;
    const std::string shared = folder.file("shared", "precious");
    for (const Line& line : all_lines()) {
        const auto output = std::ranges::find_if(line, [](auto& word) { return word[0] == '>'; });
        if (output == line.end()) continue;
        // The first output is the same file as each of the others in turn.
        for (std::size_t j = 1; j < line.size(); ++j) {
            const bool is_file = line[j][0] == '<' || line[j][0] == '>';
            if (!is_file || line[j] == *output) continue;
            Line words = line;
            for (std::size_t k = 1; k < line.size(); ++k) {
                if (line[k][0] == '<') words[k] = folder.file("in" + std::to_string(k), "1,2");
                if (line[k][0] == '>') words[k] = folder.path("out" + std::to_string(k));
                if (k == j || line[k] == *output) words[k] = shared;
            }
            const Outcome outcome = run(words);
            const std::string what = line[0] + " " + *output + " " + line[j];
            EXPECT_EQ(outcome.code, line[0].starts_with("svm-") ? 1 : 2) << what;
            EXPECT_NE(outcome.err.find("is the same file as"), std::string::npos)
                << what << ": " << outcome.err;
            ASSERT_EQ(content_of(shared), "precious") << what;
        }
    }
}

class OverwriteTest : public testing::Test {
   protected:
    Folder folder{};
    std::string table = folder.file("x.csv", "a,b,y\n1,2,0\n2,1,1\n3,3,0\n4,1,1\n1,5,0\n2,2,1\n");
    std::string before = content_of(table);
    void expect_refused(const std::vector<std::string>& words, const std::string& message) {
        const Outcome outcome = run(words);
        EXPECT_EQ(outcome.code, 2) << outcome.err;
        EXPECT_NE(outcome.err.find(message), std::string::npos) << outcome.err;
        EXPECT_EQ(content_of(table), before);
    }
};

TEST_F(OverwriteTest, ALinkIsTheFileItLeadsTo) {
    const std::string soft = folder.path("soft");
    const std::string hard = folder.path("hard");
    std::filesystem::create_symlink("x.csv", soft);
    std::filesystem::create_hard_link(table, hard);
    for (const std::string& name : {table, soft, hard, folder.path("./x.csv")}) {
        expect_refused({"convert", table, "-o", name}, "is the same file as INPUT");
        expect_refused({"split", name, table, folder.path("t")}, "is the same file as INPUT");
    }
    // Outputs that are not there yet, the second through a link that leads to nothing.
    const std::string coming = folder.path("coming");
    std::filesystem::create_symlink("coming", folder.path("ahead"));
    expect_refused({"split", table, coming, coming}, "one output would take the place");
    expect_refused({"split", table, coming, folder.path("ahead")}, "is the same file as TRAIN");
    EXPECT_FALSE(std::filesystem::exists(coming));
}

TEST_F(OverwriteTest, StandardInputMayBeAFileToo) {
    const std::string program = std::string(MERCER_PROGRAM);
    const Outcome outcome = run_program(
        "sh", {"-c", "'" + program + "' convert - -o '" + table + "' < '" + table + "'"});
    EXPECT_EQ(outcome.code, 2);
    EXPECT_NE(outcome.err.find("INPUT standard input"), std::string::npos) << outcome.err;
    EXPECT_EQ(content_of(table), before);
}

TEST_F(OverwriteTest, AModelTakesThePlaceOfModelsOnly) {
    const std::string other = folder.file("test.csv", before);
    expect_refused({"train", table, other, "-q"}, "exists and is no model");
    EXPECT_EQ(content_of(other), before);
    const std::string model = folder.path("m.mercer");
    for (int time = 0; time < 2; ++time) EXPECT_EQ(run({"train", table, model, "-q"}).code, 0);
    const std::string packed = folder.path("m.mercer.gz");
    for (int time = 0; time < 2; ++time) EXPECT_EQ(run({"train", table, packed, "-q"}).code, 0);
    expect_refused({"predict", packed, table, "-o", model}, "exists and is a model");
    expect_refused({"calibrate", model, table, "--picture", other}, "exists and is no picture");
    const std::string empty = folder.file("empty", "");
    EXPECT_EQ(run({"train", table, empty, "-q"}).code, 0);
}

TEST_F(OverwriteTest, WhatIsNoFileMayBeNamedTwice) {
    EXPECT_EQ(run({"split", table, "/dev/null", "/dev/null"}).code, 0);
    EXPECT_EQ(run({"gram", "linear", table, "-o", folder.path("k.npy"), "--labels-to", "none",
                   "--weights-to", "none"})
                  .code,
              0);
    const std::string labels = folder.path("labels");
    ASSERT_EQ(run({"train", table, folder.path("m"), "-q"}).code, 0);
    for (int time = 0; time < 2; ++time) {
        EXPECT_EQ(run({"predict", folder.path("m"), table, "-o", labels}).code, 0);
    }
}

TEST_F(OverwriteTest, LabelsBesideImagesAreFilesToo) {
    const std::string images = folder.path("a-images-idx3-ubyte");
    const std::string labels = folder.path("a-labels-idx1-ubyte");
    const std::string own = folder.file("a-labels-idx1-ubyte", "0\n1\n0\n1\n0\n1\n");
    const std::string kept = content_of(labels);
    // They would be written over what is read, or over another output.
    expect_refused({"convert", table, "--label", "none", "--labels", own, "-o", images},
                   "the labels of --output " + labels + " is the same file as --labels");
    expect_refused({"split", table, images, labels}, "is the same file as");
    EXPECT_EQ(content_of(labels), kept);
    EXPECT_FALSE(std::filesystem::exists(images));
    // A model is no labels.
    const std::string model = folder.path("b-labels-idx1-ubyte");
    ASSERT_EQ(run({"train", table, model, "-q"}).code, 0);
    expect_refused({"convert", table, "-o", folder.path("b-images-idx3-ubyte")}, "is a model");
    // And what is read beside an input is no place for an output.
    const std::string good = folder.path("c-images-idx3-ubyte");
    const std::string beside = folder.path("c-labels-idx1-ubyte");
    ASSERT_EQ(run({"convert", table, "-o", good}).code, 0);
    const std::string bytes = content_of(beside);
    ASSERT_FALSE(bytes.empty());
    expect_refused({"convert", good, "-o", beside}, "the labels of INPUT");
    EXPECT_EQ(content_of(beside), bytes);
    EXPECT_EQ(run({"convert", table, "-o", good}).code, 0);
    EXPECT_EQ(
        run({"convert", good, "--labels-to", "none", "-o", folder.path("d-images-idx3-ubyte")})
            .code,
        0);
}

TEST_F(OverwriteTest, APlaceThatCannotBeWrittenIsRefusedBeforeTheWork) {
    const std::string absent = folder.path("no/such/file");
    const std::string place = folder.path("");
    const std::vector<Line> lines{{"train", table, "*"},
                                  {"train", table, "--task", "adatron", "--curve", "*"},
                                  {"train", table, "--method", "smo", "--trace", "*"},
                                  {"tune", table, "--grid", "C=1", "--journal", "*"},
                                  {"tune", table, "--grid", "C=1", "--heat-map", "*"},
                                  {"convert", table, "-o", "*"},
                                  {"ica", table, "*"},
                                  {"predict", table, table, "-o", "*"}};
    for (Line line : lines) {
        Line other = line;
        std::ranges::replace(line, "*", absent);
        std::ranges::replace(other, "*", place);
        expect_refused(line, absent + " cannot be written: No such file or directory");
        expect_refused(other, place + " is a folder; name a file");
    }
    EXPECT_EQ(folder.names(), std::vector<std::string>{"x.csv"});
    expect_refused({"tune", table, "-", "--grid", "C=1"}, "go to files");
}

TEST_F(OverwriteTest, SourcesMayGoToStandardOutput) {
    const Line line{"ica", table, "--label", "none", "--components", "2", "-o"};
    const auto with = [&](Line more) {
        Line words = line;
        words.insert(words.end(), more.begin(), more.end());
        return words;
    };
    const std::string file = folder.path("sources.csv");
    const Outcome kept = run(with({file}));
    ASSERT_EQ(kept.code, 0) << kept.err;
    EXPECT_NE(kept.out.find("contrast"), std::string::npos) << kept.out;
    const Outcome shown = run(with({"-", "--to", "csv"}));
    ASSERT_EQ(shown.code, 0) << shown.err;
    EXPECT_EQ(shown.out, content_of(file));
    EXPECT_NE(shown.err.find("contrast"), std::string::npos) << shown.err;
    expect_refused(with({"-", "--json"}), "--json reports on standard output");
}

}  // namespace
}  // namespace mercer::test
