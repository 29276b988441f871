#include "mercer/base/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace mercer {
namespace {

TEST(Random, SameSeedSameNumbersAndStreamsDiffer) {
    Random a(42, 1);
    Random b(42, 1);
    Random other_stream(42, 2);
    Random other_seed(43, 1);
    int equal_to_stream = 0;
    int equal_to_seed = 0;
    for (int i = 0; i < 100; ++i) {
        const std::uint64_t value = a.bits();
        EXPECT_EQ(value, b.bits());
        equal_to_stream += value == other_stream.bits() ? 1 : 0;
        equal_to_seed += value == other_seed.bits() ? 1 : 0;
    }
    EXPECT_EQ(equal_to_stream, 0);
    EXPECT_EQ(equal_to_seed, 0);
}

TEST(Random, UniformAndNormalHaveTheirMoments) {
    Random random(7);
    constexpr int count = 200000;
    double uniform = 0, normal = 0, squares = 0, fourth = 0;
    for (int i = 0; i < count; ++i) {
        const double u = random.uniform();
        ASSERT_GE(u, 0);
        ASSERT_LT(u, 1);
        uniform += u / count;
        const double z = random.normal();
        normal += z / count;
        squares += z * z / count;
        fourth += z * z * z * z / count;
    }
    // Five standard errors of each mean.
    const double error = 5 / std::sqrt(static_cast<double>(count));
    EXPECT_NEAR(uniform, 0.5, error * std::sqrt(1.0 / 12));
    EXPECT_NEAR(normal, 0, error);
    EXPECT_NEAR(squares, 1, error * std::sqrt(2.0));
    EXPECT_NEAR(fourth, 3, error * std::sqrt(96.0));
}

TEST(Random, BelowIsUniform) {
    Random random(3);
    std::vector<int> counts(7, 0);
    for (int i = 0; i < 70000; ++i) ++counts[random.below(7)];
    double chi2 = 0;
    for (const int count : counts) chi2 += std::pow(count - 10000, 2) / 10000;
    EXPECT_LT(chi2, 27.9);  // 6 degrees of freedom, p = 1e-4
}

TEST(Random, ShuffleIsAPermutation) {
    Random random(9);
    std::vector<int> values(100);
    std::iota(values.begin(), values.end(), 0);
    random.shuffle(std::span(values));
    EXPECT_FALSE(std::ranges::is_sorted(values));
    std::ranges::sort(values);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(values[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace mercer
