// Labels spread over a graph.
#include "mercer/learn/groups/label_spreading.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/support.hpp"
#include "learn/small.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

using testing::message_of;

/// One labelled row of each moon, the leftmost and the rightmost, and all others.
struct Moons {
    Dataset few{};
    Dataset rest{};
    explicit Moons(double noise) {
        const Dataset data = make("moons", {.n = 200, .noise = noise});
        std::vector<std::size_t> labelled{0, 1};
        std::vector<std::size_t> others;
        for (std::size_t i = 2; i < data.size(); ++i) others.push_back(i);
        few = data.select(labelled);
        rest = data.select(others);
    }
};

double accuracy(const Labels& found, const Labels& truth) {
    double right = 0;
    for (std::size_t i = 0; i < truth.size(); ++i)
        right += found.values[i] == truth.values[i] ? 1 : 0;
    return right / static_cast<double>(truth.size());
}

TEST(LabelSpreading, FollowsTheMoonsFromOneRowEach) {
    const Moons moons(0.08);
    const LabelSpread s = spread_labels({.kernel = rbf({.gamma = 60.0})}, moons.few, moons.rest.x);
    EXPECT_GT(accuracy(s.unlabelled, moons.rest.y), 0.97);
    EXPECT_EQ(s.labelled.values, moons.few.y.values);
    EXPECT_LT(s.residual, 1e-10);
    EXPECT_EQ(s.unreached, 0U);
    // The nearest neighbours alone carry it as well.
    const LabelSpread sparse =
        spread_labels({.kernel = rbf({.gamma = 60.0}), .neighbours = 8}, moons.few, moons.rest.x);
    EXPECT_GT(accuracy(sparse.unlabelled, moons.rest.y), 0.95);
}

TEST(LabelSpreading, IsTheLimitOfTheIteration) {
    // F(t+1) = αSF(t) + (1 − α)Y, by the paper's own recipe in plain loops.
    const Dataset few = testing::points({{0, 0}, {3, 0}}, {1, 2});
    const Dataset rest = testing::points({{0.5, 0.2}, {1.4, 0}, {2.6, 0.4}, {1.6, 1}});
    const double alpha = 0.8;
    const Kernel kernel = rbf({.gamma = 0.7});
    const LabelSpread s = spread_labels({.kernel = kernel, .alpha = alpha}, few, rest.x);
    auto rows = testing::full(few.x);
    for (const auto& row : testing::full(rest.x)) rows.push_back(row);
    const std::size_t n = rows.size();
    std::vector<std::vector<double>> w(n, std::vector<double>(n, 0.0));
    std::vector<double> degree(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (i != j) degree[i] += w[i][j] = kernel(rows[i], rows[j]);
        }
    }
    for (std::size_t c = 0; c < 2; ++c) {
        std::vector<double> f(n, 0.0);
        for (int step = 0; step < 400; ++step) {
            std::vector<double> next(n, 0.0);
            for (std::size_t i = 0; i < n; ++i) {
                for (std::size_t j = 0; j < n; ++j) {
                    next[i] += alpha * w[i][j] / std::sqrt(degree[i] * degree[j]) * f[j];
                }
                next[i] += i == c ? 1 - alpha : 0;
            }
            f = next;
        }
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(s.scores(i, c), f[i], 1e-9);
    }
}

TEST(LabelSpreading, ARowNearlyOutOfReachSpoilsNothing) {
    // exp(−27.2²) is nearly the least number a double has above 0.
    const Dataset few = testing::points({{0, 0}, {1, 0}}, {1, 2});
    const Dataset rest = testing::points({{0.1, 0}, {28.2, 0}, {-27.2, 0}});
    const LabelSpread s = spread_labels({.kernel = rbf({.gamma = 1.0})}, few, rest.x);
    EXPECT_EQ(s.unlabelled.values[0], 1);
    for (const double score : s.scores.values()) EXPECT_TRUE(std::isfinite(score));
    EXPECT_LT(s.residual, 1e-10);
}

TEST(LabelSpreading, NonsenseIsRefused) {
    const Moons moons(0.1);
    EXPECT_NE(
        message_of([&] { spread_labels({.alpha = 1}, moons.few, moons.rest.x); }).find("alpha = 1"),
        std::string::npos);
    EXPECT_NE(message_of([&] {
                  spread_labels({.kernel = linear()}, moons.few, moons.rest.x);
              }).find("negative"),
              std::string::npos);
    const Dataset one = moons.few.select(std::vector<std::size_t>{0});
    EXPECT_NE(message_of([&] { spread_labels({}, one, moons.rest.x); }).find("one label"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  spread_labels({.memory_bytes = 10}, moons.few, moons.rest.x);
              }).find("memory"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  spread_labels({}, testing::points({{1, 2}}), moons.rest.x);
              }).find("no labels"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
