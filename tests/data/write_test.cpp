#include "mercer/data/write.hpp"

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <tuple>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/format.hpp"
#include "mercer/data/read.hpp"

namespace mercer {
namespace {

using testing::Folder;
using testing::message_of;

/// Rows with awkward numbers: zeros, tiny, huge, many digits; the last column all zero.
Dataset awkward(bool twice, std::size_t rows = 700, std::size_t columns = 9) {
    Random random(17);
    std::vector<double> values(rows * columns, 0.0);
    for (std::size_t k = 0; k < values.size(); ++k) {
        if (k % columns == columns - 1 || random.below(3) == 0) continue;
        values[k] = random.normal() * std::pow(10.0, random.uniform(-30, 30));
    }
    const std::size_t middle = rows / 2;  // a row of zeros
    for (std::size_t j = 0; j < columns; ++j) values[middle * columns + j] = 0;
    Dataset data;
    data.x = Rows::dense(values, columns);
    if (!twice) data.x = data.x.to_float();
    for (std::size_t i = 0; i < rows; ++i) data.y.values.push_back(random.normal());
    return data;
}

class RoundTrip
    : public ::testing::TestWithParam<std::tuple<const char*, const char*, bool, bool>> {};

TEST_P(RoundTrip, ReadsBackEqual) {
    const auto& [name, format, sparse, twice] = GetParam();
    const Folder folder;
    Dataset data = awkward(twice);
    if (sparse) data.x = data.x.to_sparse();
    const bool array = !find_format(format, FormatUse::writing).keeps.labels;
    const std::string labels = array ? folder.file("labels.npy") : "";
    const std::string path = folder.file(name);
    write(data, path, {.format = format, .labels_file = labels});
    const Dataset back = read(path, {.double_precision = twice,
                                     .form = sparse ? RowForm::sparse : RowForm::dense,
                                     .labels_file = labels});
    testing::expect_equal(back, data);
    EXPECT_EQ(back.x.is_sparse(), sparse);
    EXPECT_EQ(back.x.is_double(), twice);
    EXPECT_EQ(folder.count(), array ? 2U : 1U);  // no temporary file is left
}

INSTANTIATE_TEST_SUITE_P(
    Formats, RoundTrip,
    ::testing::Combine(::testing::Values("x", "x.gz", "x.bz2", "x.xz", "x.zst"),
                       ::testing::Values("libsvm", "csv", "tsv", "spaces", "npy", "npz", "idx"),
                       ::testing::Bool(), ::testing::Bool()));

TEST(Write, TheNameTellsTheFormat) {
    const Folder folder;
    Dataset data = awkward(false, 20, 4);
    write(data, folder.file("a.csv.gz"));
    write(data, folder.file("a.npz"));
    write(data, folder.file("a.txt"));
    EXPECT_EQ(testing::content_of(folder.file("a.csv.gz")).substr(0, 2), "\x1F\x8B");
    EXPECT_EQ(testing::content_of(folder.file("a.npz")).substr(0, 2), "PK");
    for (const char* name : {"a.csv.gz", "a.npz", "a.txt"}) {
        testing::expect_equal(read(folder.file(name)), data);
    }
}

TEST(Write, WithoutLabels) {
    const Folder folder;
    for (const char* name : {"a.csv", "a.npz", "a.npy", "a.txt", "a.idx"}) {
        Dataset data = awkward(true, 50, 4);
        data.y = {};
        const std::string path = folder.file(name);
        write(data, path);
        const Dataset back = read(path, {.label = "none", .double_precision = true});
        testing::expect_equal(back, data);
    }
}

TEST(Write, NamesAndWeights) {
    const Folder folder;
    Dataset data;
    data.x = Rows::dense(std::vector<float>{1, 2, 3, 4}, 2);
    data.y = {.values = {1, 0}, .names = {"plain", "with, \"marks\""}};
    data.weights = {0.5, 2};
    data.feature_names = {"a b", "7"};
    data.roles.label_name = "kind";
    for (const char* name : {"a.csv", "a.tsv", "a.npz"}) {
        const std::string path = folder.file(name);
        write(data, path);
        const bool table = std::string(name) != "a.npz";
        const Dataset back = read(path, {.weight_column = table ? "weight" : ""});
        testing::expect_equal(back, data);
        EXPECT_EQ(back.feature_names, data.feature_names);
        EXPECT_EQ(back.roles.label_name, table ? "kind" : "");
    }
}

TEST(Write, BytesStayBytesInIdx) {
    const Folder folder;
    Dataset data;
    std::vector<float> pixels(3 * 16);
    for (std::size_t k = 0; k < pixels.size(); ++k) pixels[k] = static_cast<float>(k * 5);
    data.x = Rows::dense(pixels, 16);
    data.y.values = {3, 1, 2};
    const std::string path = folder.file("my-images-idx3-ubyte");
    write(data, path);
    EXPECT_EQ(std::filesystem::file_size(path), 16 + pixels.size());
    EXPECT_TRUE(std::filesystem::exists(folder.file("my-labels-idx1-ubyte")));
    testing::expect_equal(read(path), data);
}

TEST(Write, WhatAFormatCannotHoldIsRefusedBeforeWriting) {
    const Folder folder;
    Dataset data = awkward(false, 4, 2);
    EXPECT_NE(message_of([&] { write(data, folder.file("a.npy")); }), "");
    EXPECT_NE(message_of([&] { write(data, folder.file("a.idx")); }), "");
    data.weights = {1, 2, 3, 4};
    EXPECT_NE(message_of([&] { write(data, folder.file("a.txt")); }), "");
    EXPECT_EQ(folder.count(), 0U);
    write(data, folder.file("a.txt"), {.weights_file = folder.file("w.txt")});
    testing::expect_equal(read(folder.file("a.txt"), {.weights_file = folder.file("w.txt")}), data);
    data.y.values.pop_back();
    EXPECT_NE(message_of([&] { write(data, folder.file("b.csv")); }), "");
}

TEST(Write, ClassNamesBecomeNumbersInLibsvmText) {
    const Folder folder;
    Dataset data;
    data.x = Rows::dense(std::vector<float>{1, 2}, 1);
    data.y = {.values = {1, 0}, .names = {"a", "b"}};
    write(data, folder.file("a.txt"));
    EXPECT_EQ(testing::content_of(folder.file("a.txt")), "1 1:1\n0 1:2\n");
}

TEST(Write, AFailureLeavesTheOldFile) {
    const Folder folder;
    const std::string path = folder.file("a.csv", "old");
    const Dataset data = awkward(false, 40000, 3);
    int calls = 0;
    const auto stop = [&](const Moment&) { return ++calls < 3; };
    EXPECT_THROW(write(data, path, {.progress = stop}), Cancelled);
    EXPECT_EQ(testing::content_of(path), "old");
    EXPECT_EQ(folder.count(), 1U);
}

TEST(Write, BlocksMakeTheSameArray) {
    const Folder folder;
    for (const bool in_double : {false, true}) {
        Dataset data;
        std::vector<double> values(7 * 3);
        std::iota(values.begin(), values.end(), 0.25);
        data.x = in_double ? Rows::dense(values, 3) : Rows::dense(values, 3).to_float();
        write(data, folder.file("whole.npy"));
        const RowBlocks blocks{
            .rows = 7, .columns = 3, .is_double = in_double, .block = [&](std::size_t first) {
                return data.x.slice(first, std::min<std::size_t>(3, 7 - first));
            }};
        EXPECT_TRUE(takes_blocks(folder.file("blocks.npy")));
        write_blocks(blocks, folder.file("blocks.npy"));
        EXPECT_EQ(testing::content_of(folder.file("blocks.npy")),
                  testing::content_of(folder.file("whole.npy")));
    }
    EXPECT_FALSE(takes_blocks("a.csv"));
}

}  // namespace
}  // namespace mercer
