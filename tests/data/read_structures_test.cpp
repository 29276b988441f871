// Texts and graphs from files: tables, FASTA, documents, TU folders; and what is wrong with them.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "data/support.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/write.hpp"

namespace mercer {
namespace {

using testing::Folder;
using testing::message_of;

std::vector<std::string> texts_of(const Dataset& data, std::size_t column = 0) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < data.size(); ++i) {
        texts.emplace_back(data.x.objects()[column].text(i));
    }
    return texts;
}

void put_file(const std::string& path, const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
}

TEST(ReadTexts, ColumnsThatBeginWithATextHoldTexts) {
    const Dataset data = read_text("age,name,height,y\n1,\"Ann, \"\"A\"\"\",2,0\n3,7,4,1\n");
    EXPECT_EQ(data.feature_names, (std::vector<std::string>{"age", "height"}));
    EXPECT_EQ(data.columns(), 2U);
    ASSERT_EQ(data.x.objects().size(), 1U);
    EXPECT_EQ(data.x.objects()[0].name(), "name");
    EXPECT_EQ(texts_of(data), (std::vector<std::string>{"Ann, \"A\"", "7"}));
    EXPECT_EQ(texts_of(data.select(std::vector<std::size_t>{1})), std::vector<std::string>{"7"});
}

TEST(ReadTexts, OptionsSayWhichColumnsAndWhichNot) {
    const std::string table = "1,a,5,0\n2,b,6,1\n";
    const Dataset said = read_text(table, "t", {.text_columns = "2,3"});
    EXPECT_EQ(said.x.object_names(),
              (std::vector<ObjectName>{{"text1", ObjectKind::text}, {"text2", ObjectKind::text}}));
    EXPECT_EQ(texts_of(said, 1), (std::vector<std::string>{"5", "6"}));
    const Dataset without = read_text(table, "t", {.leave_out = "2"});
    EXPECT_TRUE(without.x.objects().empty());
    EXPECT_EQ(without.columns(), 2U);
    EXPECT_NE(message_of([&] {
                  read_text(table, "t", {.text_columns = "none"});
              }).find("found 'a' in column 2, expected a number"),
              std::string::npos);
    EXPECT_NE(message_of([&] { read_text(table, "t", {.text_columns = "9"}); }).find("9"),
              std::string::npos);
}

TEST(ReadTexts, ALastColumnThatNeverRepeatsIsNoLabel) {
    std::string table;
    for (int i = 0; i < 30; ++i) {
        table += i % 2 == 0 ? "ham\t" : "spam\t";
        table += "message \"" + std::to_string(i) + "\n";  // a quote that is text
    }
    const Dataset data = read_text(table);
    EXPECT_EQ(data.y.names, (std::vector<std::string>{"ham", "spam"}));
    EXPECT_EQ(data.x.objects()[0].text(3), "message \"3");
}

TEST(ReadTexts, FilesLikeTheOneTrainedOn) {
    const Dataset before = read_text("age,name,y\n1,Ann,0\n3,Bob,1\n");
    ReadOptions options;
    options.known = std::make_shared<const KnownColumns>(columns_of(before));
    const Dataset by_name = read_text("name,extra,age\n5,q,6\n", "t", options);
    EXPECT_EQ(texts_of(by_name), std::vector<std::string>{"5"});
    EXPECT_EQ(by_name.columns(), 1U);
    const Dataset by_place = read_text("6,Zoe\n", "t", options);
    EXPECT_EQ(by_place.x.objects()[0].name(), "name");
    EXPECT_NE(message_of([&] { read_text("age,y\n1,2\n", "t", options); }).find("'name'"),
              std::string::npos);
}

TEST(ReadTexts, AreWrittenAndReadBack) {
    const Folder folder;
    const Dataset data = read_text("age,name,y\n1,\"a,b\",0\n3,\"say \"\"x\"\"\",1\n");
    write(data, folder.file("t.csv"));
    const Dataset back = read(folder.file("t.csv"));
    EXPECT_EQ(texts_of(back), texts_of(data));
    EXPECT_EQ(back.y.values, data.y.values);
    EXPECT_NE(message_of([&] {
                  write(data, folder.file("t.libsvm"), {.format = "libsvm"});
              }).find("holds no texts"),
              std::string::npos);
}

TEST(ReadFasta, RecordsWithLabels) {
    const Dataset data = read_text("> a, label=1\nAC\nGT\n\n>b label=-1|x\nTT\n");
    EXPECT_EQ(texts_of(data), (std::vector<std::string>{"ACGT", "TT"}));
    EXPECT_EQ(data.y.values, (std::vector<double>{1, -1}));
    const Folder folder;
    write(data, folder.file("t.fasta"));
    EXPECT_EQ(texts_of(read(folder.file("t.fasta"))), texts_of(data));
    const auto wrong = [](const char* text) { return message_of([&] { read_text(text, "t"); }); };
    EXPECT_NE(wrong(">a\n>b\nAC\n").find("t:1:1: this record has no sequence"), std::string::npos);
    EXPECT_NE(wrong(">a label=1\nAC\n>b\nAC\n").find("t:3:1: this record has no label="),
              std::string::npos);
    EXPECT_NE(message_of([] {
                  read_text("AC\n>a\nAC\n", "t", {.format = "fasta"});
              }).find("t:1:1: found 'AC', expected a line that begins with > first"),
              std::string::npos);
}

TEST(ReadDocuments, LinesFoldersAndArchives) {
    const Dataset lines = read_text("one two\nthree\r\n", "t", {.format = "lines"});
    EXPECT_EQ(texts_of(lines), (std::vector<std::string>{"one two", "three"}));

    const Folder folder;
    const std::string root = folder.file("reviews");
    for (const char* place : {"pos/b.txt", "pos/a.txt", "neg/c.txt"}) {
        const std::filesystem::path file = std::filesystem::path(root) / place;
        std::filesystem::create_directories(file.parent_path());
        put_file(file.string(), std::string("text of ") + place);
    }
    const Dataset data = read(root);
    EXPECT_EQ(texts_of(data), (std::vector<std::string>{"text of neg/c.txt", "text of pos/a.txt",
                                                        "text of pos/b.txt"}));
    EXPECT_EQ(data.y.names, (std::vector<std::string>{"neg", "pos"}));

    std::string tar;
    for (const auto& [name, text] :
         {std::pair{"top/neg/x", "bad"}, std::pair{"top/pos/y", "good"}}) {
        std::string header(512, '\0');
        header.replace(0, std::string(name).size(), name);
        header.replace(124, 11, "0000000000" + std::to_string(std::string(text).size()));
        header[156] = '0';
        header.replace(257, 5, "ustar");
        tar += header + text + std::string(512 - std::string(text).size(), '\0');
    }
    EXPECT_EQ(texts_of(read_text(tar)), (std::vector<std::string>{"bad", "good"}));
    std::string cut = tar;
    cut.replace(124, 11, "77777777777");
    EXPECT_NE(message_of([&] { read_text(cut, "t"); }).find("ends too early"), std::string::npos);
}

class TuFolder : public ::testing::Test {
   protected:
    void put(const std::string& what, const std::string& text) {
        put_file(folder_.file("G_" + what + ".txt"), text);
    }
    std::string path() const {
        return std::filesystem::path(folder_.file("x")).parent_path().string();
    }
    void SetUp() override {
        put("A", "1, 2\n2, 1\n3, 4\n4, 3\n4,5\n5,4\n");
        put("graph_indicator", "1\n1\n2\n2\n2\n");
        put("graph_labels", "1\n-1\n");
        put("node_labels", "7\n8\n7\n7\n9\n");
    }
    Folder folder_;
};

TEST_F(TuFolder, IsRead) {
    put("node_attributes", "1,2\n3,4\n5,6\n7,8\n9,10\n");
    const Dataset data = read(path());
    ASSERT_EQ(data.size(), 2U);
    EXPECT_EQ(data.y.values, (std::vector<double>{1, -1}));
    const GraphView second = data.x.objects()[0].graph(1);
    EXPECT_EQ(second.nodes, 3U);
    EXPECT_EQ(second.neighbours_of(1).size(), 2U);
    EXPECT_EQ(second.node_labels[2], 9);
    EXPECT_EQ(second.attributes_of(2)[1], 10);
    const GraphView alone = data.select(std::vector<std::size_t>{1}).x.objects()[0].graph(0);
    EXPECT_EQ(alone.node_labels[2], 9);
}

TEST_F(TuFolder, MistakesAreNamed) {
    const auto wrong = [&](const std::string& what, const std::string& text) {
        SetUp();
        put(what, text);
        return message_of([&] { read(path()); });
    };
    EXPECT_NE(wrong("A", "1, 6\n").find("expected nodes from 1 to 5"), std::string::npos);
    EXPECT_NE(wrong("A", "1, 3\n").find("different graphs"), std::string::npos);
    EXPECT_NE(wrong("A", "1, 2\n1, x\n").find("G_A.txt:2"), std::string::npos)
        << wrong("A", "1, 2\n1, x\n");
    EXPECT_NE(wrong("graph_indicator", "1\n1\n2\n1\n2\n").find("ascending"), std::string::npos);
    EXPECT_NE(wrong("graph_labels", "1\n").find("1 labels for 2 graphs"), std::string::npos);
    EXPECT_NE(wrong("node_labels", "7\n").find("another number of lines"), std::string::npos);
    EXPECT_NE(wrong("node_labels", "7\n8\n7\n7\n1.5\n").find("whole number"), std::string::npos);
}

const std::string heading =
    "# made up\n@problemName waves\n@timeStamps false\n@univariate false\n@classLabel true up "
    "down\n"
    "@data\n";

TEST(ReadSeries, OfOneLengthAreRowsMomentByMoment) {
    const Dataset data = read_text(heading + "1,2,3:4,5,6:up\n7,8,9:10,11,12.5:down\n");
    ASSERT_EQ(data.size(), 2U);
    ASSERT_EQ(data.columns(), 6U);
    std::vector<double> row(6);
    data.x.copy_row(0, row);
    EXPECT_EQ(row, (std::vector<double>{1, 4, 2, 5, 3, 6}));
    data.x.copy_row(1, row);
    EXPECT_EQ(row, (std::vector<double>{7, 10, 8, 11, 9, 12.5}));
    EXPECT_EQ(data.y.text(0), "up");
    EXPECT_EQ(data.y.text(1), "down");
}

TEST(ReadSeries, OfSeveralLengthsAreCountedRows) {
    const std::string text = heading + "1,2,3:4,5,6:up\n7:8:down\n";
    const Dataset data = read_text(text);
    ASSERT_EQ(data.columns(), 7U);
    std::vector<double> row(7);
    data.x.copy_row(0, row);
    EXPECT_EQ(row, (std::vector<double>{3, 1, 4, 2, 5, 3, 6}));
    data.x.copy_row(1, row);
    EXPECT_EQ(row, (std::vector<double>{1, 7, 8, 0, 0, 0, 0}));
    // Read as those that a model was trained on, whatever their own lengths.
    ReadOptions options;
    options.known = std::make_shared<const KnownColumns>(columns_of(data));
    const Dataset like = read_text(heading + "1,2:3,4:up\n5,6:7,8:down\n", "t", options);
    ASSERT_EQ(like.columns(), 7U);
    like.x.copy_row(1, row);
    EXPECT_EQ(row, (std::vector<double>{2, 5, 7, 6, 8, 0, 0}));
}

TEST(ReadSeries, WithoutLabelsAndWithMissingValues) {
    const std::string plain = "@problemName x\n@univariate true\n@data\n1,?,3\n3,4,5\n";
    EXPECT_NE(message_of([&] { read_text(plain); }).find("4:3: found a missing value"),
              std::string::npos);
    ReadOptions options;
    options.missing = MissingValues::mean;
    const Dataset data = read_text(plain, "t", options);
    EXPECT_TRUE(data.y.empty());
    std::vector<double> row(3);
    data.x.copy_row(0, row);
    EXPECT_EQ(row, (std::vector<double>{1, 4, 3}));
}

TEST(ReadSeries, MistakesAreNamed) {
    const auto says = [](const std::string& text, const std::string& what) {
        const std::string message = message_of([&] { read_text(text); });
        EXPECT_NE(message.find(what), std::string::npos) << message;
    };
    says(heading, "holds no series behind @data");
    says("@problemName x\n1,2\n", "expected a line that begins with @");
    says("@problemName x\n", "has no line @data");
    says("@problemName x\n@timeStamps true\n@data\n", "times of their own");
    says(heading + "1,2\n", "expected a class behind the last");
    says(heading + "1,2:3:up\n", "found 1 moments in dimension 2, expected 2");
    says(heading + "1:2:up\n1:up\n", "found 1 dimensions, expected 2");
    says(heading + "1,x:2,3:up\n", "found 'x:2', expected a finite number");
    says(heading + ":up\n", "without any moment");
}

TEST(WriteTexts, OneDocumentALine) {
    const Folder folder;
    const Dataset data = read_text("one two\nthree\n", "t", {.format = "lines"});
    write(data, folder.file("out.txt"), {.format = "lines"});
    EXPECT_EQ(texts_of(read(folder.file("out.txt"), {.format = "lines"})), texts_of(data));
    Dataset broken;
    broken.x = Rows().with_objects({ObjectColumn::texts("text", {"a\nb"})});
    EXPECT_NE(message_of([&] {
                  write(broken, folder.file("no.txt"), {.format = "lines"});
              }).find("row 1 goes over several lines"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
