// Arrays of which a part is read, or that are left in their file.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/data/detail/mapping.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/write.hpp"

namespace mercer {
namespace {

class ArrayPart : public testing::Test {
   protected:
    void SetUp() override {
        folder = std::filesystem::temp_directory_path() /
                 ("mercer-part-" + std::to_string(getpid()) + "-" +
                  testing::UnitTest::GetInstance()->current_test_info()->name());
        std::filesystem::create_directory(folder);
        std::vector<float> values;
        for (std::size_t k = 0; k < 3 * rows; ++k) values.push_back(0.25F * static_cast<float>(k));
        data.x = Rows::dense(std::move(values), 3);
        write(data, path("rows.npy"));
        Dataset targets;
        std::vector<float> numbers;
        for (std::size_t i = 0; i < rows; ++i) numbers.push_back(static_cast<float>(i));
        targets.x = Rows::dense(std::move(numbers), 1);
        write(targets, path("targets.npy"));
    }
    void TearDown() override { std::filesystem::remove_all(folder); }
    std::string path(const std::string& name) const { return (folder / name).string(); }

    /// The rows that were read are those of the file from `first` on.
    static void expect_rows(const Dataset& found, std::size_t first, std::size_t count) {
        ASSERT_EQ(found.size(), count);
        ASSERT_EQ(found.columns(), 3U);
        std::vector<double> row(3);
        for (std::size_t i = 0; i < count; ++i) {
            found.x.copy_row(i, row);
            EXPECT_EQ(row[1], 0.25 * static_cast<double>(3 * (first + i) + 1));
            if (!found.y.empty()) {
                EXPECT_EQ(found.y.values[i], static_cast<double>(first + i));
            }
        }
    }

    static constexpr std::size_t rows = 400'000;  // smaller files are simply read
    std::filesystem::path folder;
    Dataset data;
};

TEST_F(ArrayPart, IsReadWithItsLabels) {
    ReadOptions options;
    options.labels_file = path("targets.npy");
    std::size_t asked = 0;
    options.part = [&](std::size_t total) {
        asked = total;
        return RowRange{100, 130};
    };
    expect_rows(read(path("rows.npy"), options), 100, 30);
    EXPECT_EQ(asked, rows);
    options.part = [](std::size_t total) { return RowRange{total, total}; };
    EXPECT_EQ(read(path("rows.npy"), options).size(), 0U);
}

TEST_F(ArrayPart, MayTakeAsMuchMemoryAsItsBytesGrantIt) {
    // 18 MB of bytes, 72 MB as floats: more than the beginning of the file, which is looked at
    // first, is given.
    std::string header = "{'descr': '|u1', 'fortran_order': False, 'shape': (18000, 1000), }";
    header.resize(117, ' ');
    std::ofstream file(path("bytes.npy"), std::ios::binary);
    file << "\x93NUMPY" << '\x01' << '\0' << '\x76' << '\0' << header << '\n';
    file.close();
    std::filesystem::resize_file(path("bytes.npy"), 128 + 18'000'000);
    ReadOptions options;
    options.part = [](std::size_t total) { return RowRange{0, total}; };
    EXPECT_EQ(read(path("bytes.npy"), options).size(), 18'000U);
}

TEST_F(ArrayPart, OfAnyOtherFileIsTheSame) {
    write(data, path("rows.csv"));
    ReadOptions options;
    options.label = "none";
    options.part = [](std::size_t) { return RowRange{4000, 4900}; };
    expect_rows(read(path("rows.csv"), options), 4000, 900);
}

TEST_F(ArrayPart, AboveTheLimitIsLeftInTheFile) {
    ReadOptions options;
    options.most_bytes = 1000;
    const Dataset found = read(path("rows.npy"), options);
    EXPECT_TRUE(is_mapped(found.x));
    expect_rows(found, 0, rows);
    release_rows(found.x, 0, rows);  // and can be looked at again
    expect_rows(found, 0, rows);
    options.part = [](std::size_t) { return RowRange{1001, 3001}; };
    options.labels_file = path("targets.npy");
    const Dataset part = read(path("rows.npy"), options);
    EXPECT_TRUE(is_mapped(part.x));
    expect_rows(part, 1001, 2000);
    options.most_bytes = 1 << 23;
    EXPECT_FALSE(is_mapped(read(path("rows.npy"), options).x));
    EXPECT_FALSE(is_mapped(data.x));
}

TEST_F(ArrayPart, OtherNumbersThanFloatsWaitInATemporaryFile) {
    // Eight bytes that four could hold, and some that they could not: as read at once.
    for (const double step : {0.25, 0.1, 1e-9}) {
        std::vector<double> values;
        for (std::size_t k = 0; k < 3 * rows; ++k) {
            values.push_back((step < 1e-6 ? 1 : 0) + step * static_cast<double>(k));
        }
        Dataset doubles;
        doubles.x = Rows::dense(std::move(values), 3);
        write(doubles, path("doubles.npy"));
        const Dataset whole = read(path("doubles.npy"));
        ReadOptions options;
        options.most_bytes = 1 << 20;
        const Dataset found = read(path("doubles.npy"), options);
        EXPECT_EQ(place_of(found.x), RowPlace::spool);
        ASSERT_EQ(found.x.is_double(), whole.x.is_double()) << step;
        EXPECT_EQ(found.x.is_double(), step < 1e-6);
        std::vector<double> a(3), b(3);
        for (std::size_t i = 0; i < rows; i += 97) {
            found.x.copy_row(i, a);
            whole.x.copy_row(i, b);
            ASSERT_EQ(a, b);
        }
        // Of a part the precision is that of all.
        options.part = [](std::size_t total) { return RowRange{total / 2, total}; };
        const Dataset half = read(path("doubles.npy"), options);
        ASSERT_EQ(half.size(), rows / 2);
        EXPECT_EQ(half.x.is_double(), whole.x.is_double());
        half.x.copy_row(1, a);
        whole.x.copy_row(rows / 2 + 1, b);
        EXPECT_EQ(a, b);
    }
    ReadOptions options;
    options.most_bytes = 1 << 20;
    options.double_precision = true;
    const Dataset wide = read(path("rows.npy"), options);
    EXPECT_EQ(place_of(wide.x), RowPlace::spool);
    EXPECT_TRUE(wide.x.is_double());
    expect_rows(wide, 0, rows);
}

TEST_F(ArrayPart, NamesTheRowOfAMistakeFarBehind) {
    std::vector<double> values(3 * rows, 0.5);
    Dataset bad;
    bad.x = Rows::dense(std::move(values), 3);
    write(bad, path("bad.npy"));
    {
        const double nan = std::nan("");  // which no file is written with
        std::fstream file(path("bad.npy"), std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(-static_cast<std::ptrdiff_t>(sizeof(double)) * (3 * (rows - 350'000) - 1),
                   std::ios::end);
        file.write(reinterpret_cast<const char*>(&nan), sizeof nan);
    }
    ReadOptions options;
    for (const std::size_t most : {std::size_t{0}, std::size_t{1} << 20}) {
        options.most_bytes = most;
        try {
            read(path("bad.npy"), options);
            FAIL() << "NaN was taken";
        } catch (const InvalidInput& error) {
            EXPECT_NE(std::string(error.what()).find("row 350001, column 2: found nan"),
                      std::string::npos)
                << error.what();
        }
    }
}

TEST_F(ArrayPart, OfAFileThatIsCutShortIsRefused) {
    std::filesystem::resize_file(path("rows.npy"), 4'500'000);
    ReadOptions options;
    options.most_bytes = 1000;
    EXPECT_THROW(read(path("rows.npy"), options), InvalidInput);
    options.most_bytes = 0;
    options.part = [](std::size_t) { return RowRange{0, 10}; };
    EXPECT_THROW(read(path("rows.npy"), options), InvalidInput);
}

TEST_F(ArrayPart, NamesTheRowWhoseValueIsNotFinite) {
    std::vector<float> values(30, 1.0F);
    values[3 * 7 + 1] = std::nanf("");
    Dataset bad;
    bad.x = Rows::dense(std::move(values), 3);
    EXPECT_THROW(require_finite(bad.x), InvalidInput);
    try {
        require_finite(bad.x.slice(5, 5));
        FAIL() << "NaN was taken";
    } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find("row 8, column 2"), std::string::npos)
            << error.what();
    }
}

}  // namespace
}  // namespace mercer
