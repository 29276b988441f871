// Rows set aside, and the noise of a regression.
#include "mercer/select/cross_validation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/select/metrics.hpp"

namespace mercer {
namespace {

TEST(Split, CoversEveryRowOnceInOrder) {
    for (const std::size_t rows : {2U, 3U, 10U, 101U}) {
        for (const double test : {0.01, 0.3, 0.5, 0.99}) {
            const Split split = split_rows(rows, test, 7);
            EXPECT_TRUE(std::ranges::is_sorted(split.train));
            EXPECT_TRUE(std::ranges::is_sorted(split.test));
            EXPECT_FALSE(split.train.empty());
            EXPECT_FALSE(split.test.empty());
            const double wanted = test * static_cast<double>(rows);
            EXPECT_LE(std::abs(static_cast<double>(split.test.size()) - wanted), 1.0);
            std::vector<std::size_t> all = split.train;
            all.insert(all.end(), split.test.begin(), split.test.end());
            std::ranges::sort(all);
            std::vector<std::size_t> every(rows);
            std::iota(every.begin(), every.end(), 0);
            EXPECT_EQ(all, every);
        }
    }
}

TEST(Split, KeepsClassesInProportionAndOnBothSides) {
    std::vector<std::int32_t> classes;
    for (std::size_t i = 0; i < 200; ++i) classes.push_back(i % 10 == 0 ? 1 : 0);
    classes.insert(classes.end(), {2, 2});
    const Split split = split_rows(classes.size(), 0.25, 1, classes);
    std::vector<std::size_t> counts(3, 0);
    for (const std::size_t i : split.test) ++counts[static_cast<std::size_t>(classes[i])];
    EXPECT_EQ(counts, (std::vector<std::size_t>{45, 5, 1}));
}

TEST(Split, TheSeedDecides) {
    EXPECT_EQ(split_rows(100, 0.3, 1).test, split_rows(100, 0.3, 1).test);
    EXPECT_NE(split_rows(100, 0.3, 1).test, split_rows(100, 0.3, 2).test);
}

TEST(Split, RefusesWhatLeavesAPartEmpty) {
    for (const double test : {0.0, 1.0, -0.5, 2.0, std::nan("")}) {
        EXPECT_THROW(split_rows(10, test, 1), InvalidInput);
    }
    EXPECT_THROW(split_rows(1, 0.5, 1), InvalidInput);
    EXPECT_THROW(split_rows(0, 0.5, 1), InvalidInput);
    const std::vector<std::int32_t> lonely{0, 1, 2};
    EXPECT_THROW(split_rows(3, 0.1, 1, lonely), InvalidInput);
}

TEST(Noise, FindsTheScaleOfALaplaceDensityInSpiteOfOutliers) {
    Random random(3);
    Labels truth;
    Labels predicted;
    constexpr double sigma = 0.7;
    for (std::size_t i = 0; i < 20000; ++i) {
        const double u = random.uniform(-0.5, 0.5);
        const double z = -sigma * std::copysign(std::log1p(-2 * std::abs(u)), u);
        truth.values.push_back(random.normal());
        predicted.values.push_back(truth.values.back() + z);
    }
    // The mean of |z| has the deviation sigma / sqrt(n) = 0.005.
    const double clean = laplace_scale(predicted, truth);
    EXPECT_NEAR(clean, sigma, 0.025);
    for (std::size_t i = 0; i < 20; ++i) predicted.values[i] += 1000;
    EXPECT_NEAR(laplace_scale(predicted, truth), sigma, 0.05);
    predicted.values.pop_back();
    EXPECT_THROW(laplace_scale(predicted, truth), InvalidInput);
    EXPECT_EQ(laplace_scale({}, {}), 0);
}

}  // namespace
}  // namespace mercer
