// Nearest class means and Parzen windows against the formulas of 001, summed pair by pair.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "learn/small.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/risk/class_means.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::in_double;
using testing::message_of;
using testing::points;
using testing::with_double_rows;

/// Σ_i Σ_j k(x_i, z_j).
double sum_of(const Kernel& k, const std::vector<std::vector<double>>& a,
              const std::vector<std::vector<double>>& b) {
    double sum = 0;
    for (const auto& x : a) {
        for (const auto& z : b) sum += k(x, z);
    }
    return sum;
}

std::vector<std::vector<double>> rows_of(const Dataset& data, double label) {
    std::vector<std::vector<double>> result;
    const auto all = full(data.x);
    for (std::size_t i = 0; i < all.size(); ++i) {
        if (data.y.values[i] == label) result.push_back(all[i]);
    }
    return result;
}

TEST(ClassMeans, IsThePrintedDecisionFunctionWithItsB) {
    const Kernel k = rbf({.gamma = 0.7});
    const Dataset data = with_double_rows(make("moons", {.n = 61, .noise = 0.3}));
    const Model model = class_means({.common = in_double(k)}).fit(data);
    const auto plus = rows_of(data, -1);  // the first class
    const auto minus = rows_of(data, 1);
    ASSERT_NE(plus.size(), minus.size());
    const auto a = static_cast<double>(plus.size());
    const auto b = static_cast<double>(minus.size());
    const double offset =
        0.5 * (sum_of(k, minus, minus) / (b * b) - sum_of(k, plus, plus) / (a * a));
    const Dataset test = with_double_rows(make("moons", {.n = 20, .seed = 9}));
    const Matrix<double> f = model.decision(test.x);
    const auto rows = full(test.x);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const double printed =
            sum_of(k, {rows[i]}, plus) / a - sum_of(k, {rows[i]}, minus) / b + offset;
        EXPECT_NEAR(f(i, 0), printed, 1e-12);
    }
    const double between = sum_of(k, plus, plus) / (a * a) + sum_of(k, minus, minus) / (b * b) -
                           2 * sum_of(k, plus, minus) / (a * b);
    EXPECT_NEAR(model.report().squared_norm, between, 1e-12);
    EXPECT_NEAR(model.report().margin, std::sqrt(between) / 2, 1e-12);
}

TEST(ClassMeans, WithoutBComparesTwoParzenWindows) {
    const Dataset data = with_double_rows(make("moons", {.n = 40}));
    const Model with = class_means({.common = in_double(rbf({.gamma = 1.0}))}).fit(data);
    const Model without =
        class_means({.common = in_double(rbf({.gamma = 1.0})), .bias = false}).fit(data);
    EXPECT_EQ(without.expansion().bias[0], 0);
    const Matrix<double> f = with.decision(data.x);
    const Matrix<double> g = without.decision(data.x);
    EXPECT_NEAR(f(3, 0) - with.expansion().bias[0], g(3, 0), 1e-14);
}

TEST(ClassMeans, ManyClassesTakeTheNearestMeanAndLinearKernelsKeepTheMeansAlone) {
    const Dataset data = with_double_rows(make("blobs", {.n = 90, .classes = 4, .columns = 3}));
    const Model model = class_means({.common = in_double(linear())}).fit(data);
    ASSERT_EQ(model.expansion().outputs(), 4U);
    EXPECT_EQ(model.expansion().size(), 4U);
    std::vector<std::vector<double>> means;
    for (double label = 0; label < 4; ++label) {
        const auto rows = rows_of(data, label);
        std::vector<double> mean(3, 0.0);
        for (const auto& row : rows) {
            for (std::size_t j = 0; j < 3; ++j)
                mean[j] += row[j] / static_cast<double>(rows.size());
        }
        means.push_back(mean);
    }
    const std::vector<double> found = model.predict(data.x);
    const auto rows = full(data.x);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        std::size_t nearest = 0;
        double least = std::numeric_limits<double>::infinity();
        for (std::size_t c = 0; c < 4; ++c) {
            double d = 0;
            for (std::size_t j = 0; j < 3; ++j) d += std::pow(rows[i][j] - means[c][j], 2);
            if (d < least) {
                least = d;
                nearest = c;
            }
        }
        EXPECT_EQ(found[i], static_cast<double>(nearest)) << i;
    }
    // The kernel form of the same thing, which keeps every row.
    const Model all = class_means({.common = in_double(linear() + constant(0.0))}).fit(data);
    EXPECT_EQ(all.expansion().size(), data.size());
    testing::expect_same_decisions(model, all, data.x, 1e-10);
}

TEST(ClassMeans, AWeightIsARowRepeatedAndSparseRowsAreTheSameAsDense) {
    const Dataset once = points({{0, 1}, {2, 0}, {1, 1}, {5, 4}}, {1, 1, 2, 2});
    Dataset weighted = once;
    weighted.weights = {2, 1, 0, 1};
    const Dataset repeated = points({{0, 1}, {0, 1}, {2, 0}, {5, 4}}, {1, 1, 1, 2});
    const auto machine = class_means({.common = in_double(rbf({.gamma = 0.3}))});
    const Model a = machine.fit(weighted);
    testing::expect_same_decisions(a, machine.fit(repeated), once.x, 1e-14);
    EXPECT_EQ(a.origins(), (std::vector<std::size_t>{0, 1, 3}));
    Dataset sparse = weighted;
    sparse.x = sparse.x.to_sparse();
    testing::expect_same_decisions(a, machine.fit(sparse), once.x, 1e-14);
}

TEST(ClassMeans, SinglePrecisionIsNearAndThreadsDoNotMatter) {
    const Dataset data = embedded("digits");
    const Kernel k = rbf({.gamma = 0.001});
    const Model model = class_means({.common = {.kernel = k}}).fit(data);
    const Labels found = model.predict_labels(data.x);
    std::size_t right = 0;
    for (std::size_t i = 0; i < data.size(); ++i) right += found.values[i] == data.y.values[i];
    EXPECT_GT(right, data.size() * 85 / 100);
    const Matrix<double> single = model.decision(data.x);
    const Model fine = class_means({.common = {.kernel = k, .double_precision = true}}).fit(data);
    const Matrix<double> full = fine.decision(data.x);
    double largest = 0;
    for (const double f : full.values()) largest = std::max(largest, std::abs(f));
    for (std::size_t i = 0; i < full.values().size(); ++i) {
        ASSERT_NEAR(single.values()[i], full.values()[i], 1e-4 * largest) << i;
    }
    const ThreadLimit alone(1);
    const Model again = class_means({.common = {.kernel = k}}).fit(data);
    EXPECT_EQ(again.decision(data.x).values(), single.values());
}

TEST(ClassMeans, BadInputIsNamed) {
    const auto machine = class_means({});
    EXPECT_NE(message_of([&] {
                  machine.fit(points({{1}, {2}}, {3, 3}));
              }).find("only one class"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  machine.fit(points({{1}, {2}}));
              }).find("needs labels"),
              std::string::npos);
    EXPECT_NE(message_of([&] { machine.fit(points({})); }), "");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(message_of([&] { machine.fit(points({{1}, {nan}}, {0, 1})); }), "");
    const auto stopping =
        class_means({.common = {.kernel = rbf({.gamma = 1.0}),
                                .progress = [](const Moment&) { return false; }}});
    EXPECT_EQ(stopping.fit(make("moons")).report().status, FitStatus::cancelled);
}

TEST(Parzen, LeavesTheShareNuOutside) {
    const Dataset data = with_double_rows(make("blobs", {.n = 101, .classes = 1}));
    for (const double nu : {0.0, 0.05, 0.3, 0.9}) {
        const Model model = parzen({.common = in_double(rbf({.gamma = 0.5})), .nu = nu}).fit(data);
        const std::vector<double> inside = model.predict(data.x);
        const auto outside = std::count(inside.begin(), inside.end(), -1.0);
        EXPECT_EQ(outside, static_cast<std::ptrdiff_t>(nu * 101)) << nu;
        EXPECT_EQ(model.report().margin_errors, static_cast<std::size_t>(outside));
        const auto rows = full(data.x);
        const double density = sum_of(rbf({.gamma = 0.5}), {rows[7]}, rows) / 101;
        EXPECT_NEAR(model.decision(data.x)(7, 0), density - model.report().rho, 1e-14);
    }
    EXPECT_NE(message_of([&] { parzen({.nu = 1.0}).fit(data); }).find("less than 1"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
