// What a file may cost is bounded by its size, not by what it claims; labels and rows are not lost.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "data/support.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/source.hpp"
#include "mercer/data/write.hpp"

namespace mercer::testing {
namespace {

/// A limit that ends with the test.
struct MemoryLimit {
    explicit MemoryLimit(std::size_t bytes) { set_memory_limit(bytes); }
    ~MemoryLimit() { set_memory_limit(0); }
};

constexpr std::size_t mebi = std::size_t{1} << 20;

TEST(MemoryLimit, ASourceMayGrowSoManyTimes) {
    EXPECT_EQ(allowance(0), std::min(memory_limit(), 64 * mebi));
    EXPECT_EQ(allowance(1000), std::min(memory_limit(), 64 * mebi + 100'000));
    EXPECT_EQ(allowance(std::size_t{1} << 60), memory_limit());
    EXPECT_LT(memory_limit(), physical_memory());
    const MemoryLimit limit(5 * mebi);
    EXPECT_EQ(memory_limit(), 5 * mebi);
    EXPECT_EQ(allowance(0), 5 * mebi);
    EXPECT_EQ(message_of([] { check_allowance("f", 6e6, 68, "it"); }),
              "f: it would take 6 MB, and 68 bytes are given 5 MB; if that is what you want, allow "
              "more by `memory_limit`");
}

TEST(MemoryLimit, TheLeastOfTheControlGroupsCounts) {
    const std::map<std::string, std::string> files{
        {"/sys/fs/cgroup/a/b/memory.max", "max"},
        {"/sys/fs/cgroup/a/memory.max", "3000"},
        {"/sys/fs/cgroup/memory.max", "4000"},
        {"/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "2000"},
        {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712"},
    };
    const auto line = [&](const std::string& path) {
        const auto found = files.find(path);
        return found == files.end() ? std::string() : found->second;
    };
    EXPECT_EQ(control_group_limit("0::/a/b\n", line, 9000), 3000U);
    EXPECT_EQ(control_group_limit("0::/\n", line, 9000), 4000U);
    EXPECT_EQ(control_group_limit("3:cpu:/\n4:memory:/job\n0::/a/b\n", line, 9000), 2000U);
    EXPECT_EQ(control_group_limit("5:hugetlb,memory:/\n", line, 9000), 9000U);
    EXPECT_EQ(control_group_limit("", line, 9000), 9000U);
    EXPECT_EQ(control_group_limit("0::/a\n", line, 2000), 2000U);
}

TEST(MemoryLimit, WhatIsPackedInAFileIsBoundedByIt) {
    const Folder folder;
    Dataset zeros;
    zeros.x = Rows::dense(std::vector<float>(100'000 * 20), 20);
    const std::string plain = folder.file("zeros.npy");
    write(zeros, plain);
    const std::string bytes = content_of(plain);
    for (const char* name : {"zeros.npy.gz", "zeros.npy.xz"}) {
        write(zeros, folder.file(name));
        EXPECT_EQ(read(folder.file(name)).size(), 100'000U);
        const MemoryLimit limit(bytes.size() / 2);
        const std::string message = message_of([&] { read(folder.file(name)); });
        EXPECT_NE(message.find("memory_limit"), std::string::npos) << message;
    }
}

TEST(MemoryLimit, ColumnsThatAreOnlyClaimedAreRefused) {
    const auto refusal = [](const std::string& text, RowForm form) {
        ReadOptions options;
        options.form = form;
        return message_of([&] { read_text(text, "small", options); });
    };
    EXPECT_EQ(refusal("1 100000000:2\n", RowForm::automatic), "");
    const Rows wide = read_text("1 100000000:2\n", "small").x;
    EXPECT_EQ(message_of([&] { check_columns(wide, 2, "work on"); }), "");
    EXPECT_EQ(message_of([&] { check_columns(wide, 64, "work on"); }),
              "work on 100000000 columns would take 6104 MB, and rows with 1 entries are given 265 "
              "MB; number the columns that occur anew, or allow more by `memory_limit`");
    EXPECT_NE(refusal("1 4000000:2\n-1 1:1\n1 1:1\n-1 1:1\n1 1:1\n-1 1:1\n1 1:1\n-1 1:1\n1 1:1\n"
                      "-1 1:1\n1 1:1\n-1 1:1\n1 1:1\n-1 1:1\n1 1:1\n-1 1:1\n1 1:1\n-1 1:1\n",
                      RowForm::dense)
                  .find("18 x 4000000 numbers would take"),
              std::string::npos);
    const MemoryLimit limit(10'000 * mebi);
    EXPECT_EQ(message_of([&] { check_columns(wide, 64, "work on"); }), "");
}

// Bytes that the reader of data refused became a table of one strange cell.
TEST(MemoryLimit, AnArchiveIsNoTable) {
    const Folder folder;
    Dataset data;
    data.x = Rows::dense(std::vector<float>{1, 2, 3, 4}, 2);
    write(data, folder.file("rows.npz"));
    EXPECT_NE(message_of([&] { read_table(folder.file("rows.npz")); }).find("found NPZ"),
              std::string::npos);
}

// Each pair was taken out of the text by itself, which took a minute for a megabyte.
TEST(Labels, QuotesInsideQuotes) {
    const std::string many(1 << 20, '"');
    const Dataset data = read_text("text,y\n\"" + many + "\",1\n\"a\"\"b\",2\n", "quotes.csv",
                                   {.longest_line = std::size_t{1} << 22});
    EXPECT_EQ(data.x.objects()[0].text(0), std::string(1 << 19, '"'));
    EXPECT_EQ(data.x.objects()[0].text(1), "a\"b");
}

TEST(Labels, AFirstRowThatLooksLikeCountsIsARow) {
    const Dataset rows = read_text("3,2,a\n1,2,b\n2,2,a\n4,4,b\n", "rows.csv");
    EXPECT_EQ(rows.size(), 4U);
    EXPECT_EQ(rows.y.names, (std::vector<std::string>{"a", "b"}));
    EXPECT_EQ(read_text("1,2,yes\n1,2,no\n", "rows.csv").size(), 2U);
    const Dataset counted = read_text("3,2,no,yes\n1,2,0\n3,4,1\n5,6,1\n", "counted.csv");
    EXPECT_EQ(counted.size(), 3U);
    EXPECT_EQ(counted.y.names, (std::vector<std::string>{"no", "yes"}));
}

TEST(Labels, WholeNumbersThatDoublesCannotTellApartAreRefused) {
    const std::string rows = "9007199254740993,1\n9007199254740992,2\n";
    ReadOptions options;
    options.label = "first";
    const std::string message = message_of([&] { read_text(rows, "rows.csv", options); });
    EXPECT_NE(message.find("rows.csv:1:1: found the label '9007199254740993', which as a number "
                           "would become 9007199254740992"),
              std::string::npos)
        << message;
    options.text_labels = true;
    EXPECT_EQ(read_text(rows, "rows.csv", options).y.names.size(), 2U);
    EXPECT_NE(message_of([&] { read_text("-9007199254740993 1:1\n1 1:2\n", "rows"); }), "");
    EXPECT_NE(message_of([&] { read_text("99999999999999999999999 1:1\n1 1:2\n", "rows"); }), "");
    for (const char* const good : {"9007199254740992", "9007199254740994", "9.007199254740993e15",
                                   "-9007199254740992", "18446744073709549568", "1e300"}) {
        EXPECT_EQ(message_of([&] { read_text(good + std::string(" 1:1\n1 1:2\n"), "rows"); }), "")
            << good;
    }
    const Table table = table_from_text("a,y\n1.5,9007199254740993\n2,9007199254740992\n3,1\n");
    EXPECT_NE(message_of([&] { plan_columns(table, {.label = "y"})->dataset(table); }), "");
    const Folder folder;
    const std::string labels = folder.file("labels", "9007199254740993\n1\n");
    ReadOptions beside;
    beside.labels_file = labels;
    EXPECT_NE(
        message_of([&] { read_text("1,2\n3,4\n", "rows.csv", beside); }).find(labels + ":1:1"),
        std::string::npos);
}

}  // namespace
}  // namespace mercer::testing
