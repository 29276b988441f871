// Numbers are held in single precision only where that does no harm.
#include "mercer/data/rows.hpp"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <string>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/write.hpp"

namespace mercer {
namespace {

using testing::Folder;
using testing::full;

double first_number(const std::string& text, const ReadOptions& options) {
    return full(read_text(text + ",0\n", "t", options).x)[0][0];
}

std::string shortest(float value) {
    std::array<char, 64> text{};
    return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// Reads a table and writes it again.
std::string copied(const std::string& text, const char* name) {
    const Folder folder;
    write(read_text(text, "t", {.exact = true}), folder.file(name));
    std::ifstream file(folder.file(name));
    return {std::istreambuf_iterator<char>(file), {}};
}

TEST(Precision, CopiesHaveTheNumbersOfTheFile) {
    for (const std::string text :
         {"123456701,0.1,1\n", "0.1,16777217,2\n", "1e+300,2,3\n", "1e-300,2,3\n",
          "0.30000000000000004,2,3\n", "1234567.5,0.0001234567,3\n"}) {
        EXPECT_EQ(copied(text, "x.csv"), text);
    }
    EXPECT_EQ(copied("1 1:123456701 2:0.1\n", "x.libsvm"), "1 1:123456701 2:0.1\n");
}

TEST(Precision, ShortDecimalsAreKeptInFourBytesAndWrittenBack) {
    Random random(1);
    for (int k = 0; k < 20000; ++k) {
        // Up to six digits: 10^6 < 2^23 of them are told apart.
        const auto digits = static_cast<long>(random.uniform(1, 1e6));
        const int power = static_cast<int>(random.uniform(-36, 1.9));
        const std::string text = std::to_string(digits) + "e" + std::to_string(power);
        const Dataset data = read_text(text + ",0\n", "t", {.exact = true});
        ASSERT_FALSE(data.x.is_double()) << text;
        const float value = data.x.dense_view<float>()(0, 0);
        EXPECT_EQ(value, std::strtof(text.c_str(), nullptr)) << text;
        EXPECT_EQ(std::strtod(shortest(value).c_str(), nullptr), std::strtod(text.c_str(), nullptr))
            << text;
    }
}

TEST(Precision, WhateverIsReadInFourBytesIsWrittenBack) {
    Random random(2);
    std::size_t single = 0;
    for (int k = 0; k < 20000; ++k) {
        // Seven to nine digits: some survive, some do not.
        const auto digits = static_cast<long>(std::pow(10, random.uniform(6, 9)));
        const int power = static_cast<int>(random.uniform(-30, 10));
        const std::string text = std::to_string(digits) + "e" + std::to_string(power);
        const double expected = std::strtod(text.c_str(), nullptr);
        const Dataset data = read_text(text + ",0\n", "t", {.exact = true});
        if (data.x.is_double()) {
            EXPECT_EQ(full(data.x)[0][0], expected) << text;
            continue;
        }
        ++single;
        const float value = data.x.dense_view<float>()(0, 0);
        EXPECT_EQ(value, std::strtof(text.c_str(), nullptr)) << text;
        EXPECT_EQ(std::strtod(shortest(value).c_str(), nullptr), expected) << text;
    }
    EXPECT_GT(single, 2000U);
    EXPECT_LT(single, 18000U);
}

TEST(Precision, FloatsWrittenAtLengthKeepTheirDecimals) {
    // A float itself, which a float writes shorter.
    EXPECT_EQ(copied("1257565.25,1\n", "x.csv"), "1257565.25,1\n");
    EXPECT_FALSE(read_text("1257565.25,1\n2,1\n").x.is_double());
    // In the middle between two floats the decimals behind decide, not a rounding to double.
    EXPECT_EQ(first_number("1.00000005960464477539062500000000001", {}), 0x1.000002p0);
}

TEST(Precision, ManyDigitsAreSingleUnlessAColumnIsHurt) {
    EXPECT_FALSE(read_text("0.12345678901,1\n-3.14159265358979,2\n").x.is_double());
    const std::string times = "1600000001,0.5,1\n1600000002,0.25,2\n1600000099,0.1,1\n";
    const Dataset data = read_text(times);
    EXPECT_TRUE(data.x.is_double());
    EXPECT_EQ(full(data.x)[2][0], 1600000099);
    EXPECT_EQ(column_hurt_by_single(data.x), std::optional<std::size_t>(0));
    const Dataset sparse = read_text("1 1:1600000001 900:1\n2 1:1600000002\n");
    EXPECT_TRUE(sparse.x.is_sparse());
    EXPECT_TRUE(sparse.x.is_double());
    // A constant is no harm, whatever its digits.
    EXPECT_FALSE(read_text("1.23456789012,1,0\n1.23456789012,2,0\n").x.is_double());
    EXPECT_TRUE(read_text("1e99,1\n2,2\n").x.is_double());
}

TEST(Precision, ArraysOfDoublesAreJudgedAlike) {
    const Folder folder;
    const auto read_back = [&](std::vector<double> values, bool exact) {
        Dataset data;
        data.x = Rows::dense(std::move(values), 1);
        write(data, folder.file("x.npy"));
        return read(folder.file("x.npy"), {.exact = exact}).x;
    };
    EXPECT_FALSE(read_back({5, 2, 3}, true).is_double());
    EXPECT_FALSE(read_back({0.1, 2, 3}, false).is_double());
    EXPECT_TRUE(read_back({0.1, 2, 3}, true).is_double());
    EXPECT_TRUE(read_back({1600000001, 1600000002}, false).is_double());
    EXPECT_TRUE(read_back({1e300, 1}, false).is_double());
}

// The ranges of all columns that a file may name would take gigabytes.
TEST(Precision, ColumnsThatHoldNothingCostNothing) {
    const Dataset wide =
        read_text("1 7:0.5 4000000000:123456.789012\n2 4000000000:123456.789013\n");
    EXPECT_TRUE(wide.x.is_double()) << "told apart in double precision only";
    EXPECT_EQ(column_hurt_by_single(wide.x.to_float()), std::size_t{3999999999});
    EXPECT_FALSE(read_text("1 7:0.123456789 4000000000:1\n2 4000000000:2\n").x.is_double());
}

}  // namespace
}  // namespace mercer
