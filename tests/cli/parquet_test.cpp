// Parquet: read where the plugin was built, and else refused with the ways out.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "cli/program.hpp"

namespace mercer::test {
namespace {

/// Eight rows: a has a gap, b whole numbers, c truths, kind is yes and no in turns.
std::string gap_file() {
    return std::string(MERCER_SOURCE_DIRECTORY) + "/tests/cli/files/gap.parquet";
}

bool has_plugin() {
    const auto folder = std::filesystem::path(MERCER_PROGRAM).parent_path().parent_path() / "lib";
    return std::filesystem::exists(folder / "libmercer_parquet.so");
}

TEST(Parquet, WithoutThePluginIsRefusedWithTheWaysOut) {
    if (has_plugin()) GTEST_SKIP() << "the plugin is there";
    for (const std::string command : {"info", "train", "learn"}) {
        const Outcome outcome = run({command, gap_file()});
        EXPECT_EQ(outcome.code, 2);
        EXPECT_TRUE(has(outcome.err, "Parquet")) << outcome.err;
        EXPECT_TRUE(has(outcome.err, "pandas.read_parquet('FILE').to_csv")) << outcome.err;
        EXPECT_TRUE(has(outcome.err, "docs/python.md")) << outcome.err;
    }
}

class ParquetPlugin : public testing::Test {
   protected:
    void SetUp() override {
        if (!has_plugin()) GTEST_SKIP() << "built without Arrow (pip install pyarrow)";
    }
};

TEST_F(ParquetPlugin, ReadsColumnsAndLabels) {
    const Folder folder;
    const Outcome gap = run({"convert", gap_file(), "-o", folder.path("t.csv")});
    EXPECT_EQ(gap.code, 2);
    EXPECT_TRUE(has(gap.err, "gap.parquet: row 5, column 1 (a): found no value")) << gap.err;
    ASSERT_EQ(run({"convert", gap_file(), "-o", folder.path("t.csv"), "--missing", "median"}).code,
              0);
    EXPECT_EQ(content_of(folder.path("t.csv")),
              "a,b,c,kind\n0.5,1,1,yes\n1.25,2,0,no\n-3,3,1,yes\n4,4,0,no\n4,5,1,yes\n6,6,0,no\n"
              "7,7,1,yes\n8,8,0,no\n");
    ASSERT_EQ(run({"convert", gap_file(), "-o", folder.path("u.csv"), "--label", "b", "--leave-out",
                   "a,kind"})
                  .code,
              0);
    EXPECT_EQ(content_of(folder.path("u.csv")).substr(0, 12), "c,b\n1,1\n0,2\n");
    EXPECT_TRUE(has(run({"info", "-"}, content_of(gap_file())).err, "read from its end"));
}

TEST_F(ParquetPlugin, DamagedFilesAreRefused) {
    const Folder folder;
    const std::string whole = content_of(gap_file());
    ASSERT_GT(whole.size(), 500U);
    for (std::size_t at = 4; at < whole.size(); at += whole.size() / 40) {
        std::string bytes = whole;
        bytes[at] = static_cast<char>(~bytes[at]);
        const Outcome outcome = run({"info", folder.file("t.parquet", bytes), "--missing", "zero"});
        EXPECT_TRUE(outcome.code == 0 || outcome.code == 2) << at << ": " << outcome.code;
        const Outcome cut =
            run({"info", folder.file("t.parquet", whole.substr(0, at)), "--missing", "zero"});
        EXPECT_EQ(cut.code, 2) << at;
    }
}

}  // namespace
}  // namespace mercer::test
