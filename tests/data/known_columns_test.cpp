// Files read as the one before them was.
#include <memory>
#include <string>

#include "data/support.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/write.hpp"

namespace mercer {
namespace {

using testing::Folder;
using testing::full;
using testing::message_of;
using testing::texts;
using Values = std::vector<std::vector<double>>;
using Names = std::vector<std::string>;

ReadOptions like(const Dataset& data, const std::string& format = "csv") {
    ReadOptions options;
    options.format = format;
    options.known = std::make_shared<const KnownColumns>(columns_of(data));
    return options;
}

bool has(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

TEST(KnownColumns, AreFoundByNameBeforeOneIsTakenForTheLabel) {
    const Dataset first = read_text("kind,a,b\nx,1,2\ny,3,4\n", "t", {.label = "kind"});
    EXPECT_EQ(first.roles.label, 0U);
    EXPECT_EQ(first.roles.label_name, "kind");
    // Another order, the label elsewhere, and a column that is not wanted.
    const Dataset other = read_text("b,id,kind,a\n20,7,y,10\n", "t", like(first));
    EXPECT_EQ(full(other.x), (Values{{10, 20}}));
    EXPECT_EQ(other.feature_names, (Names{"a", "b"}));
    EXPECT_EQ(texts(other.y), (Names{"y"}));
    EXPECT_EQ(other.left_out, (Names{"id"}));
    // A label need not be there, and then no feature takes its place.
    const Dataset bare = read_text("a,b\n1,2\n", "t", like(first));
    EXPECT_EQ(full(bare.x), (Values{{1, 2}}));
    EXPECT_TRUE(bare.y.empty());
    const std::string message =
        message_of([&] { read_text("a,bb,kind\n1,2,x\n", "t", like(first)); });
    EXPECT_TRUE(has(message, "lacks the column 'b'")) << message;
    EXPECT_TRUE(has(message, "'bb'")) << message;
    EXPECT_FALSE(has(message, "'kind'")) << message;
}

TEST(KnownColumns, WithoutNamesAreFoundByPosition) {
    const Dataset first = read_text("9,1,2\n8,3,4\n", "t", {.label = "first"});
    const Dataset same = read_text("7,10,20\n", "t", like(first));
    EXPECT_EQ(full(same.x), (Values{{10, 20}}));
    EXPECT_EQ(same.y.values, (std::vector<double>{7}));
    EXPECT_EQ(full(read_text("10,20\n", "t", like(first)).x), (Values{{10, 20}}));
    for (const std::string text : {"1\n", "1,2,3,4\n"}) {
        const std::string message = message_of([&] { read_text(text, "t", like(first)); });
        EXPECT_TRUE(has(message, "2 features and a label in column 1")) << message;
    }
    ReadOptions last = like(first);
    last.label = "last";
    EXPECT_EQ(full(read_text("10,20,7\n", "t", last).x), (Values{{10, 20}}));
    ReadOptions none = like(first);
    none.label = "none";
    EXPECT_NE(message_of([&] { read_text("7,10,20\n", "t", none); }), "");
}

TEST(KnownColumns, WeightsStayWeights) {
    const Dataset first =
        read_text("w,a,y\n0.5,1,2\n1,3,4\n", "t", {.label = "y", .weight_column = "w"});
    EXPECT_EQ(first.roles.weight, 0U);
    EXPECT_EQ(first.roles.weight_name, "w");
    const Dataset again = read_text("a,w,y\n1,0.25,2\n", "t", like(first));
    EXPECT_EQ(full(again.x), (Values{{1}}));
    EXPECT_EQ(again.weights, (std::vector<double>{0.25}));
    // By position: all three, only the label, or neither.
    Dataset unnamed = first;
    unnamed.feature_names.clear();
    unnamed.roles.label_name.clear();
    unnamed.roles.weight_name.clear();
    EXPECT_EQ(read_text("0.25,1,2\n", "t", like(unnamed)).weights, (std::vector<double>{0.25}));
    EXPECT_EQ(read_text("1,2\n", "t", like(unnamed)).y.values, (std::vector<double>{2}));
    EXPECT_TRUE(read_text("1\n", "t", like(unnamed)).y.empty());
}

TEST(KnownColumns, LibsvmTextMayBeNarrowerAndArraysMayNot) {
    const Dataset first = read_text("1 1:1 2:2 3:3\n2 1:4 2:5 3:6\n");
    ASSERT_FALSE(first.x.is_sparse());
    EXPECT_EQ(full(read_text("1 1:7 2:8\n", "t", like(first, "libsvm")).x), (Values{{7, 8, 0}}));
    const Folder folder;
    Dataset narrow;
    narrow.x = Rows::dense(std::vector<double>{1, 2}, 2);
    write(narrow, folder.file("x.npy"));
    const std::string message = message_of([&] { read(folder.file("x.npy"), like(first, "npy")); });
    EXPECT_TRUE(has(message, "2 columns")) << message;
    EXPECT_TRUE(has(message_of([&] { read("@iris", like(first)); }), "4 columns"));
}

TEST(KnownColumns, LabelsThatLookLikeNumbersAreNamesWhereTheyWere) {
    const Dataset first = read_text("1,1\n2,2\n", "t", {.text_labels = true});
    ASSERT_TRUE(first.y.are_text());
    EXPECT_EQ(texts(read_text("1,2\n2,1\n", "t", like(first)).y), (Names{"2", "1"}));
    EXPECT_TRUE(read_text("1,2\n2,1\n", "t", like(first)).y.are_text());
}

}  // namespace
}  // namespace mercer
