// A format is one entry: two that exist in this file only are recognised, read, written and named
// like those of the library.
#include "mercer/data/format.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

#include "data/support.hpp"
#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

using formats::Input;
using testing::Folder;
using testing::full;
using testing::message_of;

/// "pairs" in the first line, then "x y label" a line, from the label backwards.
Match recognise_pairs(const Input& input) {
    const bool so = input.bytes.starts_with("pairs\n");
    return {.certainty = so ? Certainty::certain : Certainty::none};
}

Dataset read_pairs(const Input& input) {
    std::istringstream text{std::string(input.bytes)};
    std::string first;
    std::getline(text, first);
    std::vector<float> values;
    Dataset data;
    double label = 0;
    for (float x = 0, y = 0; text >> label >> y >> x;) {
        values.insert(values.end(), {x, y});
        data.y.values.push_back(label);
    }
    data.x = Rows::dense(values, 2);
    return data;
}

void write_pairs(const Dataset& data, const std::string&, const WriteOptions&, Output& output) {
    output.write("pairs\n");
    for (std::size_t i = 0; i < data.size(); ++i) {
        std::vector<double> row(2);
        data.x.copy_row(i, row);
        const std::string label = data.y.empty() ? "0" : data.y.text(i);
        output.write(label + " " + format_number(row[1]) + " " + format_number(row[0]) + "\n");
    }
}

/// A folder with a file "index": one row, its numbers.
Dataset read_index(const Input& input) {
    const std::string content = testing::content_of(input.path + "/index");
    return read_text(content, input.name, {.format = "spaces", .label = "none", .shared = true});
}

class ToyFormat : public ::testing::Test {
   protected:
    ToyFormat() {
        add_format({.name = "pairs",
                    .title = "PAIRS",
                    .about = "two numbers and a label",
                    .suffixes = {".pairs"},
                    .recognise = recognise_pairs,
                    .read = read_pairs,
                    .uses = {.missing = true},
                    .write = write_pairs,
                    .keeps = {.weights = false}});
        add_format({.name = "index",
                    .title = "a folder with an index",
                    .about = "a folder",
                    .kind = Format::Kind::folder,
                    .recognise =
                        [](const Input& input) {
                            const bool so = std::filesystem::exists(input.path + "/index");
                            return Match{so ? Certainty::certain : Certainty::none};
                        },
                    .read = read_index});
    }
    ~ToyFormat() override {
        remove_format("pairs");
        remove_format("index");
    }
    const Folder folder{};
};

TEST_F(ToyFormat, IsRecognisedAndRead) {
    const std::string path = folder.file("x", "pairs\n1 2 3\n-1 5 4");
    for (const char* format : {"", "pairs"}) {
        const Dataset data = read(path, {.format = format});
        EXPECT_EQ(full(data.x), (std::vector<std::vector<double>>{{3, 2}, {4, 5}}));
        EXPECT_EQ(data.y.values, (std::vector<double>{1, -1}));
    }
    // Without its first line it is a table as before.
    EXPECT_EQ(read_text("1 2 3\n-1 5 4").y.values, (std::vector<double>{3, 4}));
    EXPECT_NE(message_of([] {
                  add_format({.name = "csv", .title = "", .about = "", .read = read_pairs});
              }),
              "");
    EXPECT_NE(message_of([] { add_format({.name = "nothing", .title = "", .about = ""}); }), "");
}

TEST_F(ToyFormat, IsWrittenByItsNameAndKeepsWhatItSays) {
    const Dataset data = read_text("pairs\n1 2 3\n-1 5 4\n");
    for (const char* name : {"x.pairs", "x.pairs.gz"}) {
        write(data, folder.file(name));
        testing::expect_equal(read(folder.file(name)), data);
    }
    write(data, folder.file("y"), {.format = "pairs"});
    EXPECT_EQ(testing::content_of(folder.file("y")), "pairs\n1 2 3\n-1 5 4\n");
    Dataset weighted = data;
    weighted.weights = {1, 2};
    EXPECT_NE(message_of([&] {
                  write(weighted, folder.file("w.pairs"));
              }).find("pairs files hold no weights"),
              std::string::npos);
    // Labels alone go into text of one a line.
    write(data, folder.file("z.pairs"), {.labels_file = folder.file("labels.pairs")});
    EXPECT_EQ(testing::content_of(folder.file("labels.pairs")), "1\n-1\n");
}

TEST_F(ToyFormat, StandsInEveryListOfNames) {
    for (const FormatUse use : {FormatUse::reading, FormatUse::writing}) {
        const std::vector<std::string> names = format_names(use);
        EXPECT_NE(std::ranges::find(names, "pairs"), names.end());
        EXPECT_EQ(&find_format("pairs", use), all_formats()[all_formats().size() - 2]);
    }
    EXPECT_EQ(std::ranges::count(format_names(FormatUse::writing), "index"), 0);
    EXPECT_NE(message_of([] { find_format("xls", FormatUse::reading); }).find("pairs or index"),
              std::string::npos);
    EXPECT_NE(message_of([] { read_text(std::string("\0\1\2", 3), "t"); }).find(" or PAIRS"),
              std::string::npos);
    const auto missing = [](const Format& format) { return format.uses.missing; };
    EXPECT_EQ(listed_formats(missing), "csv, tsv, spaces, npy, npz, idx, parquet, ts or pairs");
    remove_format("pairs");
    EXPECT_EQ(listed_formats(missing), "csv, tsv, spaces, npy, npz, idx, parquet or ts");
}

TEST_F(ToyFormat, MayBeAFolder) {
    const std::string place = folder.file("rows");
    std::filesystem::create_directory(place);
    const std::string refusal = message_of([&] { read(place); });
    EXPECT_EQ(refusal, place + ": is a directory; name a file inside it");
    std::ofstream(place + "/index") << "1 2 3\n";
    for (const char* format : {"", "index"}) {
        EXPECT_EQ(full(read(place, {.format = format}).x),
                  (std::vector<std::vector<double>>{{1, 2, 3}}));
    }
    EXPECT_NE(message_of([] {
                  read_text("1 2\n", "t", {.format = "index"});
              }).find("is a folder; name the folder"),
              std::string::npos);
}

TEST_F(ToyFormat, OptionsItHasNoUseForAreRefused) {
    const std::string text = "pairs\n1 2 3\n";
    EXPECT_EQ(message_of([&] { read_text(text, "t", {.header = HeaderLine::no}); }),
              "t: `header` has no meaning for PAIRS: it belongs to csv, tsv or spaces");
    EXPECT_NO_THROW(read_text(text, "t", {.missing = MissingValues::mean}));
    EXPECT_NO_THROW(read_text(text, "t", {.header = HeaderLine::no, .shared = true}));
}

TEST(Formats, RefuseOptionsWithoutMeaning) {
    const std::string text = "1 1:2\n-1 2:3\n";
    const auto refused = [](const std::string& content, const ReadOptions& options) {
        const std::string message = message_of([&] { read_text(content, "t", options); });
        const std::size_t first = message.find('`') + 1;
        return message.substr(first, message.find('`', first) - first);
    };
    EXPECT_EQ(refused(text, {.label = "last"}), "label");
    EXPECT_EQ(refused(text, {.text_labels = true}), "text_labels");
    EXPECT_EQ(refused(text, {.header = HeaderLine::yes}), "header");
    EXPECT_EQ(refused(text, {.missing = MissingValues::zero}), "missing");
    EXPECT_EQ(refused(text, {.weight_column = "w"}), "weight_column");
    EXPECT_EQ(refused("1,2\n3,4\n", {.first_index = 0}), "first_index");
    EXPECT_EQ(message_of([] { read("@iris", {.header = HeaderLine::no}); }),
              "@iris: `header` has no meaning for @iris: it belongs to csv, tsv or spaces");
    // Everywhere: no labels, and labels that are names in a file of their own.
    EXPECT_TRUE(read_text(text, "t", {.label = "none"}).y.empty());
    const Folder folder;
    const std::string names = folder.file("names", "7\n8\n");
    EXPECT_TRUE(read_text(text, "t", {.text_labels = true, .labels_file = names}).y.are_text());
    const auto known =
        std::make_shared<const KnownColumns>(KnownColumns{.features = 2, .text_labels = true});
    EXPECT_EQ(read_text(text, "t", {.known = known}).size(), 2U);

    const Dataset data = read_text(text);
    EXPECT_EQ(message_of([&] { write(data, folder.file("a.npz"), {.header = HeaderLine::yes}); }),
              folder.file("a.npz") +
                  ": `header` has no meaning for NPZ: it belongs to csv, tsv or spaces");
    EXPECT_NE(message_of([&] { write(data, folder.file("a.csv"), {.first_index = 0}); }), "");
}

// What is read off the content, for files that differ in little. A line of entries tells LIBSVM
// text; the separators of the first line tell one table from another.
TEST(Formats, AreRecognisedAsTheyWere) {
    const auto found = [](const std::string& text) {
        std::string name;
        for (const Format* format : all_formats()) {
            if (format->read == nullptr) continue;
            // The format by itself reads the same as the one that is found.
            Dataset given;
            Dataset automatic;
            if (!message_of([&] { automatic = read_text(text, "t"); }).empty()) return name;
            if (!message_of([&] {
                     given = read_text(text, "t", {.format = format->name});
                 }).empty())
                continue;
            if (full(given.x) == full(automatic.x) && given.y.values == automatic.y.values) {
                name += (name.empty() ? "" : " ") + format->name;
            }
        }
        return name;
    };
    EXPECT_EQ(found("1\n-1\n1 1:2\n"), "libsvm");
    EXPECT_EQ(found("# c\n1 2;3\t4\n2 3;4\t5\n"), "tsv");  // "1 2;3" is a text between tabs
    EXPECT_EQ(found("1,2;3,4\n"), "");
    EXPECT_EQ(found("1;2;3\n4;5;6\n"), "csv");
    EXPECT_EQ(found("1,2,3\n4,5,6\n"), "csv");
    EXPECT_EQ(found("1\t2\t3\n4\t5\t6\n"), "tsv spaces");
    EXPECT_EQ(found("\"a,b\"\t\"c\"\n1\t2\n"), "tsv spaces");
    EXPECT_EQ(found("1 2 3\n4 5 6"), "spaces");
    EXPECT_EQ(found("\xEF\xBB\xBF"
                    "1,2\n"),
              "csv");
    EXPECT_EQ(found("x,12:30,y\n1,2,3\n"), "csv");
    EXPECT_EQ(found("12:30,1,2\n"), "csv");
    // ARFF is told by its first line that is no comment.
    EXPECT_EQ(
        read_text("% 1 2:3\n@Relation r\n@attribute a real\n@attribute b real\n@data\n1,2\n3,4\n")
            .y.values,
        (std::vector<double>{2, 4}));
    EXPECT_EQ(read_text("1 2:3\n").columns(), 2U);
    std::string tar(600, '\0');
    tar.replace(0, 5, "a.csv").replace(257, 5, "ustar");
    EXPECT_NE(message_of([&] { read_text(tar, "t"); }).find("holds no files in folders"),
              std::string::npos);
}

std::string yes(bool so) {
    return so ? "yes" : "";
}

std::string table_text() {
    std::string text =
        "| word | what it is | ending | read | written | labels | weights | options of reading |\n"
        "|---|---|---|---|---|---|---|---|\n";
    for (const Format* format : all_formats()) {
        if (format->read == nullptr && format->write == nullptr) continue;
        std::string endings;
        for (const std::string& suffix : format->suffixes) {
            endings += (endings.empty() ? "`" : ", `") + suffix + "`";
        }
        std::string options;
        const auto add = [&](const char* flag, bool used) {
            if (used) options += std::string(options.empty() ? "`" : ", `") + flag + "`";
        };
        add("--label", format->uses.label);
        add("--text-labels", format->uses.text_labels);
        add("--header", format->uses.header);
        add("--missing", format->uses.missing);
        add("--weight-column", format->uses.weight_column);
        add("--text-columns", format->uses.text_columns);
        add("--leave-out", format->uses.leave_out);
        add("--first-index", format->uses.first_index);
        const bool writes = format->can_be_written();
        text += "| `" + format->name + "` | " + format->about + " | " + endings + " | " +
                yes(format->read != nullptr) + " | " + yes(writes) + " | " +
                yes(writes && format->keeps.labels) + " | " + yes(writes && format->keeps.weights) +
                " | " + options + " |\n";
    }
    return text;
}

TEST(Formats, TheDocumentHoldsTheTable) {
    std::ifstream file("docs/formats.md");
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    if (text.empty()) GTEST_SKIP() << "docs/formats.md is not in the working directory";
    EXPECT_NE(text.find(table_text()), std::string::npos)
        << "docs/formats.md should hold this table:\n"
        << table_text();
}

}  // namespace
}  // namespace mercer
