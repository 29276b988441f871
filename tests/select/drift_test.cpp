// Two-sample tests against values of scipy, and the warnings made of them.
#include "mercer/select/detail/drift.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "mercer/base/random.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/select/detail/table_warnings.hpp"

namespace mercer {
namespace {

TEST(GammaTail, IsThatOfScipy) {
    // scipy.special.gammaincc
    EXPECT_NEAR(gamma_tail(0.5, 0.5), 0.31731050786291115, 1e-13);
    EXPECT_NEAR(gamma_tail(2.5, 1.0), 0.8491450360846096, 1e-13);
    EXPECT_NEAR(gamma_tail(2.5, 10.0), 0.0012497305630313773, 1e-14);
    EXPECT_NEAR(gamma_tail(10, 30.0), 7.121750862815593e-06, 1e-17);
    EXPECT_EQ(gamma_tail(3, 0), 1);
}

TEST(KolmogorovSmirnov, DistanceAndTail) {
    std::vector<double> first, second;
    for (int i = 0; i < 100; ++i) first.push_back(i);
    for (int i = 0; i < 80; ++i) second.push_back(i + 30.5);
    second.push_back(std::nan(""));
    const TwoSamples found = kolmogorov_smirnov(first, second);
    // All of the first up to 30 lie below the least of the second.
    EXPECT_NEAR(found.distance, 0.31, 1e-12);
    const double root = std::sqrt(100.0 * 80 / 180);
    const double lambda = (root + 0.12 + 0.11 / root) * 0.31;
    // scipy.special.kolmogorov
    EXPECT_NEAR(found.p_value,
                2 * (std::exp(-2 * lambda * lambda) - std::exp(-8 * lambda * lambda)), 1e-9);
    EXPECT_EQ(kolmogorov_smirnov({1, 2, 3}, {1, 2, 3}).distance, 0);
    EXPECT_EQ(kolmogorov_smirnov({1, 2, 3}, {5}).p_value, 1);
}

TEST(ChiSquare, IsThatOfScipy) {
    // scipy.stats.chi2_contingency([[30, 50, 20], [45, 30, 25]], correction=False)
    const TwoSamples found = chi_square({30, 50, 20}, {45, 30, 25});
    EXPECT_NEAR(found.p_value, 0.0138734577625275, 1e-12);
    EXPECT_NEAR(found.distance, 0.2, 1e-12);
    // Levels of a single row count as one.
    EXPECT_NEAR(chi_square({30, 50, 10, 10}, {45, 30, 25, 0}).distance, 0.3, 1e-12);
    EXPECT_EQ(chi_square({5, 0}, {9, 0}).p_value, 1);
}

/// Rows in time, whose x drifts where wanted; c and y do not.
Dataset series(double drift) {
    Random random(11);
    std::string text = "x,c,y\n";
    for (int i = 0; i < 400; ++i) {
        text += std::to_string(random.normal() + drift * i / 400) +
                (random.uniform() < 0.5 ? ",a," : ",b,") + std::to_string(random.normal()) + "\n";
    }
    const Table table = table_from_text(text);
    return plan_columns(table, {.label = "y"})->dataset(table);
}

Split last_fifth(std::size_t n) {
    Split split;
    for (std::size_t i = 0; i < n; ++i) (i < n * 4 / 5 ? split.train : split.test).push_back(i);
    return split;
}

TEST(ColumnDrift, FindsTheColumnThatChanges) {
    const Dataset still = series(0), moving = series(4);
    for (const ColumnDrift& d : column_drift(still, last_fifth(400), true)) {
        EXPECT_FALSE(d.differs) << d.column;
    }
    const std::vector<ColumnDrift> drift = column_drift(moving, last_fifth(400), true);
    ASSERT_EQ(drift.size(), 3U);
    EXPECT_TRUE(drift[0].differs);
    EXPECT_EQ(drift[1].test, "chi-square");
    EXPECT_FALSE(drift[1].differs);
    EXPECT_EQ(drift[2].column, "y");
    const auto warnings = drift_warnings(drift);
    ASSERT_EQ(warnings.size(), 1U);
    EXPECT_NE(warnings[0].find("'x'"), std::string::npos);
    EXPECT_EQ(warnings[0].find("'c'"), std::string::npos);
}

TEST(OrderOfTime, NeedsARisingColumnAndNeighboursThatAreAlike) {
    Random random(3);
    std::string walk = "day,y\n", noise = walk;
    double at = 0;
    for (int i = 0; i < 100; ++i) {
        at += random.normal();
        walk += std::to_string(i + 0.25 * random.uniform()) + "," + std::to_string(at) + "\n";
        noise += std::to_string(i + 0.25 * random.uniform()) + "," +
                 std::to_string(random.normal()) + "\n";
    }
    const auto told = [](const std::string& text) {
        const Table table = table_from_text(text);
        return order_of_time(plan_columns(table, {.label = "y"})->dataset(table));
    };
    EXPECT_NE(told(walk).find("'day' rises"), std::string::npos);
    EXPECT_EQ(told(noise), "");
}

TEST(FarRemarks, CountWhatChebyshevForbids) {
    Random random(5);
    std::string text = "x,z,y\n";
    for (int i = 0; i < 300; ++i) {
        text += std::to_string(random.uniform()) + "," + std::to_string(random.normal()) + ",1\n";
    }
    const Table table = table_from_text(text);
    const auto columns = plan_columns(table, {.label = "y"});
    const Recipe recipe = Recipe::fit(columns, columns->dataset(table).x);
    const auto said = [&](const std::vector<double>& values) {
        return far_remarks(recipe, Rows::dense(values, 2));
    };
    std::vector<double> shifted, alike;
    for (int i = 0; i < 20; ++i) {
        shifted.insert(shifted.end(), {1.3 + 0.1 * random.uniform(), random.normal()});
        alike.insert(alike.end(), {random.uniform(), random.normal()});
    }
    EXPECT_TRUE(said(alike).empty());
    // Beyond two deviations, all of them: uniform rows never were.
    const auto far = said(shifted);
    ASSERT_EQ(far.size(), 1U);
    EXPECT_NE(far[0].find("20 of 20 rows have a 'x' more than 2 deviations"), std::string::npos);
    // One row four deviations out may be chance; a thousand times as far it is not.
    EXPECT_TRUE(said({1.7, 0.0}).empty());
    EXPECT_EQ(said({1000.0, 0.0}).size(), 1U);
    EXPECT_TRUE(said({std::nan(""), 0.0}).empty());
}

}  // namespace
}  // namespace mercer
