#include <algorithm>
#include <string>

#include "data/support.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;
using testing::texts;
using Values = std::vector<std::vector<double>>;
using Names = std::vector<std::string>;

TEST(ReadTable, EverySeparator) {
    const Values expected{{1, 2.5}, {-3, 4e2}};
    for (const std::string text : {"1,2.5,7\n-3,4e2,8\n", "1;2.5;7\n-3;4e2;8\n",
                                   "1\t2.5\t7\n-3\t4e2\t8\n", " 1  2.5 7\n  -3 4e2\t8 \n",
                                   "1, 2.5 ,7\r\n-3, 4e2 ,8\r\n", "\"1\",2.5,\"7\"\n-3,4e2,8"}) {
        const Dataset data = read_text(text);
        EXPECT_EQ(full(data.x), expected) << text;
        EXPECT_EQ(data.y.values, (std::vector<double>{7, 8})) << text;
        EXPECT_FALSE(data.x.is_sparse());
    }
}

TEST(ReadTable, NamedFormatsOverrideWhatIsFound) {
    // By itself the comma would separate, and the colon look like LIBSVM text.
    EXPECT_EQ(texts(read_text("1\t2,5\n3\t4\n", "t", {.format = "tsv", .text_labels = true}).y),
              (Names{"2,5", "4"}));
    EXPECT_EQ(texts(read_text("1 2:3\n4 5:6\n", "t", {.format = "spaces"}).y),
              (Names{"2:3", "5:6"}));
    EXPECT_NE(message_of([] { read_text("1,2\n", "t", {.format = "libsvm"}); }), "");
    EXPECT_EQ(message_of([] { read_text("1,2\n", "t", {.format = "xls"}); }),
              "found the format 'xls', expected libsvm, csv, tsv, spaces, arff, npy, npz, idx, "
              "parquet, fasta, "
              "folders, tar, tu, ts, edges or lines");
}

TEST(ReadTable, HeaderIsFoundAndNamesAreKept) {
    const Dataset data = read_text("age,\"height, cm\",class\n1,2,a\n3,4,b\n");
    EXPECT_EQ(data.feature_names, (Names{"age", "height, cm"}));
    EXPECT_EQ(data.roles.label_name, "class");
    EXPECT_EQ(texts(data.y), (Names{"a", "b"}));
    EXPECT_TRUE(read_text("1,2,a\n3,4,b\n").feature_names.empty());
    // A first row with one number in it is a row, whatever else it holds.
    EXPECT_EQ(read_text("1,x\n2,y\n").size(), 2U);
    EXPECT_EQ(read_text("1,2,3\n4,5,6\n", "t", {.header = HeaderLine::yes}).feature_names,
              (Names{"1", "2"}));
    EXPECT_EQ(read_text("\"1\",\"2\",\"3\"\n4,5,6\n").feature_names, (Names{"1", "2"}));
}

TEST(ReadTable, CountedHeaderNamesTheClasses) {
    const Dataset data = read_text("3,2,no,yes\n1,2,1\n3,4,0\n5,6,1\n");
    EXPECT_EQ(data.size(), 3U);
    EXPECT_EQ(texts(data.y), (Names{"yes", "no", "yes"}));
    EXPECT_NE(message_of([] {
                  read_text("4,2,no,yes\n1,2,1\n3,4,0\n5,6,1\n");
              }).find("found 3 rows, expected the 4"),
              std::string::npos);
}

TEST(ReadTable, LabelColumnByNameNumberAndPlace) {
    const std::string text = "a,y,b\n1,2,3\n4,5,6\n";
    const auto labels = [&](const std::string& label) {
        return read_text(text, "t", {.label = label}).y.values;
    };
    const std::vector<double> first{1, 4};
    const std::vector<double> middle{2, 5};
    const std::vector<double> last{3, 6};
    EXPECT_EQ(labels(""), middle);  // named y
    EXPECT_EQ(labels("a"), first);
    EXPECT_EQ(labels("first"), first);
    EXPECT_EQ(labels("1"), first);
    EXPECT_EQ(labels("2"), middle);
    EXPECT_EQ(labels("last"), last);
    EXPECT_EQ(labels("-1"), last);
    EXPECT_TRUE(labels("none").empty());
    EXPECT_EQ(read_text(text, "t", {.label = "none"}).columns(), 3U);
    EXPECT_EQ(read_text(text, "t", {.label = "a"}).feature_names, (Names{"y", "b"}));
    EXPECT_NE(message_of([&] { labels("4"); }).find("there is no column 4"), std::string::npos);
    EXPECT_NE(message_of([&] { labels("zz"); }), "");
    EXPECT_EQ(read_text("1,2,3\n4,5,6\n").y.values, last);
    EXPECT_TRUE(read_text("1\n2\n").y.empty());
}

TEST(ReadTable, TextLabelsBecomeClassesInTheOrderPeopleExpect) {
    const Dataset data = read_text("1,x10\n2,x9\n3,x10\n");
    EXPECT_EQ(data.y.names, (Names{"x9", "x10"}));
    EXPECT_EQ(texts(data.y), (Names{"x10", "x9", "x10"}));
    const Dataset numbers = read_text("1,10\n2,9\n", "t", {.text_labels = true});
    EXPECT_EQ(numbers.y.names, (Names{"9", "10"}));
}

TEST(ReadTable, QuotesHoldSeparatorsQuotesAndLines) {
    const Dataset data = read_text("1,\"a, \"\"b\"\"\nc\"\n2,\"d\"\n");
    EXPECT_EQ(texts(data.y), (Names{"a, \"b\"\nc", "d"}));
    EXPECT_EQ(full(data.x), (Values{{1}, {2}}));
}

TEST(ReadTable, CommentsAndBlankLinesAreSkipped) {
    const Dataset data = read_text("# made today\n\n1 2\n   \n# half way\n3 4\n");
    EXPECT_EQ(full(data.x), (Values{{1}, {3}}));
}

TEST(ReadTable, MissingValuesAreFilledOnRequest) {
    const std::string text = "1,10,0\n?,20,0\n3,NA,0\n8,,0\n8,60,0\n";
    const auto column = [&](MissingValues missing, std::size_t j) {
        std::vector<double> values;
        for (const auto& row : full(read_text(text, "t", {.missing = missing}).x)) {
            values.push_back(row[j]);
        }
        return values;
    };
    EXPECT_EQ(column(MissingValues::mean, 0), (std::vector<double>{1, 5, 3, 8, 8}));
    EXPECT_EQ(column(MissingValues::median, 0), (std::vector<double>{1, 5.5, 3, 8, 8}));
    EXPECT_EQ(column(MissingValues::median, 1), (std::vector<double>{10, 20, 20, 20, 60}));
    EXPECT_EQ(column(MissingValues::zero, 1), (std::vector<double>{10, 20, 0, 0, 60}));
    EXPECT_EQ(message_of([&] { read_text(text, "t"); }),
              "t:2:1: found '?' in column 1, expected a number; to fill in missing values set "
              "`missing=mean`, median or zero");
    EXPECT_NE(message_of([] {
                  read_text("a,?,1\nb,?,2\n", "t", {.label = "1", .missing = MissingValues::mean});
              }),
              "");
}

TEST(ReadTable, WeightsAreAColumn) {
    const Dataset data = read_text("x,w,y\n1,0.5,a\n2,2,b\n", "t", {.weight_column = "w"});
    EXPECT_EQ(data.weights, (std::vector<double>{0.5, 2}));
    EXPECT_EQ(data.feature_names, (Names{"x"}));
    EXPECT_EQ(message_of([] { read_text("x,w,y\n1,-1,a\n", "t", {.weight_column = "w"}); }),
              "t:2:3: found '-1' in the weight column, expected a number from 0");
}

TEST(ReadTable, LabelsAndWeightsFromOtherFiles) {
    const testing::Folder folder;
    const std::string labels = folder.file("labels.txt", "red\nblue green\n");
    const std::string weights = folder.file("weights.txt", "1\n0.25\n");
    const Dataset data =
        read_text("1,2\n3,4\n", "t", {.labels_file = labels, .weights_file = weights});
    EXPECT_EQ(texts(data.y), (Names{"red", "blue green"}));
    EXPECT_EQ(data.weights, (std::vector<double>{1, 0.25}));
    EXPECT_EQ(data.columns(), 2U);
    EXPECT_EQ(message_of([&] { read_text("1,2\n", "t", {.labels_file = labels}); }),
              labels + ": found 2 labels, expected 1 as there are rows in t");
}

TEST(ReadTable, LargeTablesAreTheSameForAnyNumberOfThreads) {
    Random random(2);
    std::string text;
    while (text.size() < (std::size_t{2} << 20)) {
        for (int j = 0; j < 20; ++j) text += std::to_string(random.normal()) + ",";
        text += random.below(2) == 0 ? "yes\n" : "no\n";
    }
    set_threads(1);
    const Dataset one = read_text(text);
    set_threads(3);
    const Dataset three = read_text(text);
    set_threads(0);
    testing::expect_equal(one, three);
    EXPECT_EQ(one.size(), static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')));
    EXPECT_EQ(one.columns(), 20U);
}

}  // namespace
}  // namespace mercer
