// Labels spread over a graph.
#include "mercer/learn/groups/label_spreading.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "data/support.hpp"
#include "learn/small.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/persist/model_file.hpp"

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
    const LabelSpread s =
        spread_labels({.common = {.kernel = rbf({.gamma = 60.0})}}, moons.few, moons.rest.x);
    EXPECT_GT(accuracy(s.unlabelled, moons.rest.y), 0.97);
    EXPECT_EQ(s.labelled.values, moons.few.y.values);
    EXPECT_LT(s.residual, 1e-10);
    EXPECT_EQ(s.unreached, 0U);
    // The nearest neighbours alone carry it as well.
    const LabelSpread sparse = spread_labels(
        {.common = {.kernel = rbf({.gamma = 60.0})}, .neighbours = 8}, moons.few, moons.rest.x);
    EXPECT_GT(accuracy(sparse.unlabelled, moons.rest.y), 0.95);
}

TEST(LabelSpreading, IsTheLimitOfTheIteration) {
    // F(t+1) = αSF(t) + (1 − α)Y, by the paper's own recipe in plain loops.
    const Dataset few = testing::points({{0, 0}, {3, 0}}, {1, 2});
    const Dataset rest = testing::points({{0.5, 0.2}, {1.4, 0}, {2.6, 0.4}, {1.6, 1}});
    const double alpha = 0.8;
    const Kernel kernel = rbf({.gamma = 0.7});
    const LabelSpread s =
        spread_labels({.common = {.kernel = kernel}, .alpha = alpha}, few, rest.x);
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
    const LabelSpread s = spread_labels({.common = {.kernel = rbf({.gamma = 1.0})}}, few, rest.x);
    EXPECT_EQ(s.unlabelled.values[0], 1);
    for (const double score : s.scores.values()) EXPECT_TRUE(std::isfinite(score));
    EXPECT_LT(s.residual, 1e-10);
}

/// The model says of the rows of the graph what the spreading said of them, and of others what
/// their neighbours are; saved and loaded it says the same.
TEST(LabelSpreading, IsAModelForOtherRows) {
    const Moons moons(0.08);
    const Dataset fresh = make("moons", {.n = 150, .noise = 0.08, .seed = 9});
    SpreadSettings settings{.common = {.kernel = rbf({.gamma = 60.0})}};
    settings.common.scaling = ScalingRule::parse("standard");
    for (const std::size_t neighbours : {0U, 8U}) {
        SCOPED_TRACE(neighbours);
        settings.neighbours = neighbours;
        const LabelSpread s = spread_labels(settings, moons.few, moons.rest.x);
        EXPECT_GT(accuracy(s.model.predict_labels(fresh.x), fresh.y), 0.95);
        const double agreement = accuracy(s.model.predict_labels(moons.rest.x), s.unlabelled);
        if (neighbours == 0) {
            EXPECT_EQ(agreement, 1);  // by the formula, exactly
        }
        EXPECT_GT(agreement, 0.97);
        const Model back = load_from_memory(save_to_memory(s.model));
        EXPECT_EQ(back.decision(fresh.x).values(), s.model.decision(fresh.x).values());
        EXPECT_EQ(back.report().figures.at("residual"), s.residual);
        EXPECT_EQ(LabelSpreading(settings, moons.rest.x).fit(moons.few).decision(fresh.x).values(),
                  s.model.decision(fresh.x).values());
        if (neighbours == 0) continue;
        EXPECT_NE(message_of([&] { reduce(s.model, {.vectors = 5}); }).find("nearest"),
                  std::string::npos);
        Neighbourhood near = *s.model.extras().find<Neighbourhood>();
        near.count(0, 0) = 200;
        ModelParts hostile = s.model.parts();
        hostile.extras.set(near);
        EXPECT_NE(message_of([&] { save_to_memory(Model(hostile)); }).find("neighbours"),
                  std::string::npos);
    }
}

/// f_c(x) = Σ k(x, x_j) F_jc / √D_j in plain loops, for three classes and nearest rows.
TEST(LabelSpreading, NewRowsAreDecidedByTheFormula) {
    const Dataset few = testing::points({{0, 0}, {3, 0}, {0, 3}}, {1, 2, 3});
    const Dataset rest = testing::points({{0.5, 0.2}, {1.4, 0}, {2.6, 0.4}, {1.6, 1}, {0.3, 2.4}});
    const Kernel kernel = rbf({.gamma = 0.7});
    const LabelSpread s =
        spread_labels({.common = {.kernel = kernel}, .alpha = 0.8, .neighbours = 3}, few, rest.x);
    auto rows = testing::full(few.x);
    for (const auto& row : testing::full(rest.x)) rows.push_back(row);
    const std::size_t n = rows.size();
    const auto third_best = [](std::vector<double> v) {
        std::ranges::sort(v, std::greater<>());
        return v[2];
    };
    std::vector<std::vector<double>> w(n, std::vector<double>(n, 0.0));
    std::vector<double> least(n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) w[i][j] = i == j ? 0 : kernel(rows[i], rows[j]);
        least[i] = third_best(w[i]);
    }
    std::vector<double> degree(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (w[i][j] >= std::min(least[i], least[j])) degree[i] += w[i][j];
        }
    }
    const std::vector<double> x{1.1, 0.6};
    std::vector<double> k(n);
    for (std::size_t j = 0; j < n; ++j) k[j] = kernel(rows[j], x);
    const double own = third_best(k);
    const Matrix<double> f = s.model.decision(testing::points({x}).x);
    ASSERT_EQ(f.columns(), 3U);
    for (std::size_t c = 0; c < 3; ++c) {
        double sum = 0;
        for (std::size_t j = 0; j < n; ++j) {
            if (k[j] >= std::min(own, least[j]))
                sum += k[j] * s.scores(j, c) / std::sqrt(degree[j]);
        }
        EXPECT_NEAR(f(0, c), sum, 1e-6);
    }
}

TEST(LabelSpreading, ALabelCountsByItsWeight) {
    const Dataset all = testing::points({{0, 0}, {3, 0}, {1, 0}}, {1, 2, 2});
    Dataset light = all;
    light.weights = {1, 1, 0};
    const SpreadSettings settings{.common = {.kernel = rbf({.gamma = 0.7})}};
    const LabelSpread with = spread_labels(settings, light, {});
    const LabelSpread without = spread_labels(settings, all.select(std::vector<std::size_t>{0, 1}),
                                              testing::points({{1, 0}}).x);
    EXPECT_EQ(with.scores.values(), without.scores.values());
    EXPECT_NE(spread_labels(settings, all, {}).scores.values(), with.scores.values());
}

TEST(LabelSpreading, NonsenseIsRefused) {
    const Moons moons(0.1);
    EXPECT_NE(
        message_of([&] { spread_labels({.alpha = 1}, moons.few, moons.rest.x); }).find("alpha = 1"),
        std::string::npos);
    EXPECT_NE(message_of([&] {
                  spread_labels({.common = {.kernel = linear()}}, moons.few, moons.rest.x);
              }).find("negative"),
              std::string::npos);
    const Dataset one = moons.few.select(std::vector<std::size_t>{0});
    EXPECT_NE(message_of([&] { spread_labels({}, one, moons.rest.x); }).find("one label"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  spread_labels({.common = {.memory_bytes = 10}}, moons.few, moons.rest.x);
              }).find("memory"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  spread_labels({}, testing::points({{1, 2}}), moons.rest.x);
              }).find("no labels"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
