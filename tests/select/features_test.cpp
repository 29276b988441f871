// Columns that matter are found among columns of noise, and rows worth a label among others.
#include "mercer/select/features.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "data/support.hpp"
#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::message_of;

/// Column 2 and column 5 tell the classes apart; `product` hides them in the sign of their product.
Dataset hidden(bool product, std::uint64_t seed = 1) {
    Random random(seed);
    std::vector<std::vector<double>> rows;
    std::vector<double> signs;
    for (int i = 0; i < 160; ++i) {
        std::vector<double> row(7);
        for (double& value : row) value = random.normal();
        if (product) {
            for (const std::size_t j : {2U, 5U}) row[j] += row[j] > 0 ? 0.5 : -0.5;
            signs.push_back(row[2] * row[5] > 0 ? 1 : -1);
        } else {
            signs.push_back(row[2] + 0.6 * row[5] > 0 ? 1 : -1);
        }
        rows.push_back(row);
    }
    return testing::labelled(rows, signs);
}

TEST(Features, EliminationKeepsTheColumnsThatTell) {
    const Elimination e = eliminate_features(
        {.svm = {.task = Task::svc, .common = {.kernel = linear()}, .C = 1}, .folds = 4},
        hidden(false));
    ASSERT_EQ(e.ranking.size(), 7U);
    EXPECT_EQ((std::set<std::size_t>{e.ranking[0], e.ranking[1]}), (std::set<std::size_t>{2, 5}));
    EXPECT_EQ(e.ranking[0], 2U) << "the heavier of the two";
    ASSERT_EQ(e.rounds.size(), 7U);
    EXPECT_EQ(e.rounds.front().features, 7U);
    EXPECT_EQ(e.rounds.back().features, 1U);
    // Two columns are enough, one is not.
    EXPECT_GT(*e.rounds[5].cv_accuracy, 0.93);
    EXPECT_LT(*e.rounds[6].cv_accuracy, 0.93);
}

TEST(Features, EliminationSeesThroughAKernel) {
    const Elimination e = eliminate_features(
        {.svm = {.task = Task::svc, .common = {.kernel = polynomial({.degree = 2})}, .C = 1},
         .keep = 2},
        hidden(true));
    EXPECT_EQ((std::set<std::size_t>{e.ranking[0], e.ranking[1]}), (std::set<std::size_t>{2, 5}));
    // A third at a time comes to the same columns in fewer rounds.
    const Elimination quick = eliminate_features(
        {.svm = {.task = Task::svc, .common = {.kernel = polynomial({.degree = 2})}, .C = 1},
         .keep = 2,
         .share = 0.34},
        hidden(true));
    EXPECT_LT(quick.rounds.size(), e.rounds.size());
    EXPECT_EQ((std::set<std::size_t>{quick.ranking[0], quick.ranking[1]}),
              (std::set<std::size_t>{2, 5}));
}

TEST(Features, ZeroNormLeavesTheColumnsThatTell) {
    const Dataset data = hidden(false);
    const ZeroNorm z = zero_norm_features(
        {.svm = {.task = Task::svc, .common = {.kernel = linear()}, .C = 10}, .folds = 4}, data);
    EXPECT_EQ((std::set<std::size_t>{z.selected.begin(), z.selected.end()}),
              (std::set<std::size_t>{2, 5}));
    EXPECT_TRUE(z.converged);
    EXPECT_EQ(z.selected, (std::vector<std::size_t>{z.ranking[0], z.ranking[1]}));
    EXPECT_EQ((std::set<std::size_t>{z.ranking.begin(), z.ranking.end()}).size(), 7U);
    for (std::size_t j = 0; j < 7; ++j) EXPECT_EQ(z.scale[j] > 0, j == 2 || j == 5) << j;
    EXPECT_EQ(z.rounds.front().features, 7U);
    EXPECT_EQ(z.rounds.back().features, 2U);
    EXPECT_GT(*z.rounds.back().cv_accuracy, 0.93);
    // At what stands still all weights that are left are equal: a stationary point of Σ ln |w_j|.
    Matrix<double> scaled(data.size(), 7);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.x.copy_row(i, scaled.row(i));
        for (std::size_t j = 0; j < 7; ++j) scaled(i, j) *= z.scale[j];
    }
    Dataset rescaled = data;
    rescaled.x = Rows::dense(scaled.values(), 7);
    const Model model = svc({.kernel = linear(), .C = 10}).fit(rescaled);
    const Matrix<double> w = weight_vectors(model.expansion());
    EXPECT_NEAR(std::abs(w(0, 2)), std::abs(w(0, 5)), 0.02 * std::abs(w(0, 2)));
}

TEST(Features, ZeroNormKeepsWhatItIsToldToAndKnowsItsLimits) {
    const Dataset data = hidden(false);
    ZeroNormSettings s{.svm = {.task = Task::svc, .common = {.kernel = linear()}, .C = 10},
                       .keep = 4};
    EXPECT_EQ(zero_norm_features(s, data).selected.size(), 4U);
    s.keep = 8;
    EXPECT_NE(message_of([&] { (void)zero_norm_features(s, data); }).find("keep = 8"),
              std::string::npos);
    s.keep = 1;
    s.svm.common.kernel = rbf({.gamma = 1.0});
    EXPECT_NE(message_of([&] { (void)zero_norm_features(s, data); }).find("linear kernel"),
              std::string::npos);
}

TEST(Features, LinearCriterionIsTheGeneralOne) {
    // 1·linear and a polynomial of degree 1 without offset are one kernel, by either way.
    const Dataset data = hidden(false);
    const Elimination a = eliminate_features(
        {.svm = {.task = Task::svc, .common = {.kernel = linear()}, .C = 1}}, data);
    const Elimination b = eliminate_features(
        {.svm = {.task = Task::svc,
                 .common = {.kernel = polynomial({.degree = 1, .gamma = 1.0, .coef0 = 0})},
                 .C = 1}},
        data);
    EXPECT_EQ(a.ranking, b.ranking);
}

TEST(Features, ShufflingAColumnThatMattersCosts) {
    const Model model = svc({.kernel = linear(), .C = 1}).fit(hidden(false, 1));
    const std::vector<Importance> all = permutation_importance(model, hidden(false, 2));
    ASSERT_EQ(all.size(), 7U);
    EXPECT_GT(all[2].drop, all[5].drop);
    EXPECT_GT(all[5].drop, 0.08);
    for (const std::size_t j : {0U, 1U, 3U, 4U, 6U}) EXPECT_LT(std::abs(all[j].drop), 0.05);
    // The losses of regression rise.
    Dataset numbers = hidden(false, 3);
    std::vector<double> row(7);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers.x.copy_row(i, row);
        numbers.y.values[i] = row[4];
    }
    const Model curve = svr({.kernel = linear(), .C = 10, .epsilon = 0.01}).fit(numbers);
    EXPECT_GT(permutation_importance(curve, numbers)[4].drop, 1);
}

TEST(Features, NonsenseIsRefused) {
    const Dataset data = hidden(false);
    EXPECT_NE(
        message_of([&] { eliminate_features({.svm = {.task = Task::svr}}, data); }).find("svr"),
        std::string::npos);
    EXPECT_NE(message_of([&] { eliminate_features({.keep = 9}, data); }).find("keep = 9"),
              std::string::npos);
    EXPECT_NE(message_of([&] { eliminate_features({.share = 1}, data); }).find("share = 1"),
              std::string::npos);
    EXPECT_NE(message_of([&] { eliminate_features({.folds = 500}, data); }).find("500 folds"),
              std::string::npos);
    const Model model = svc({}).fit(data);
    EXPECT_NE(message_of([&] {
                  permutation_importance(model, data, {.measure = Metric::mean_squared_error});
              }).find("mse"),
              std::string::npos);
}

TEST(Query, SimpleMarginAsksForTheRowsNearestToThePlane) {
    const Dataset data = make("moons", {.n = 100, .noise = 0.2});
    const Model model = svc({.kernel = rbf({.gamma = 1.0}), .C = 1}).fit(data);
    const std::vector<Query> queries = query_simple(model, data.x, 10);
    ASSERT_EQ(queries.size(), 10U);
    const Matrix<double> f = model.decision(data.x);
    std::vector<double> sizes;
    for (const double value : f.values()) sizes.push_back(std::abs(value));
    std::ranges::sort(sizes);
    for (std::size_t k = 0; k < 10; ++k) {
        EXPECT_NEAR(queries[k].score, sizes[k], 1e-12);
        EXPECT_NEAR(std::abs(f(queries[k].row, 0)), sizes[k], 1e-12);
    }
}

TEST(Query, MaxMinTakesTheLargestOfTheSmallerMargins) {
    const Dataset labelled = testing::labelled({{-2, 0}, {2, 0}}, {1, -1});
    const Dataset pool = testing::points({{-1.9, 0}, {0, 0}, {1.2, 0}, {0.2, 3}});
    const SvmSettings settings{.task = Task::svc, .common = {.kernel = linear()}, .C = 1e4};
    const std::vector<Query> queries = query_max_min(settings, labelled, pool.x, 4, 0);
    ASSERT_EQ(queries.size(), 4U);
    // Either answer at the middle leaves a margin of 1; near a labelled row the other answer leaves
    // next to none.
    EXPECT_TRUE(queries[0].row == 1 || queries[0].row == 3);
    EXPECT_EQ(queries[3].row, 0U);
    for (const Query& q : queries) {
        if (q.row == 1) {
            EXPECT_NEAR(q.score, 1, 1e-2);
        }
        if (q.row == 0) {
            EXPECT_NEAR(q.score, 0.05, 1e-2);
        }
    }
}

TEST(Query, AskingPaysMoreThanTakingWhatComes) {
    // Labels are asked for ten times; the machine ends better than with rows taken in order.
    const Dataset pool = make("moons", {.n = 300, .noise = 0.2, .seed = 5});
    const Dataset test = make("moons", {.n = 400, .noise = 0.2, .seed = 6});
    const SvmSettings settings{
        .task = Task::svc, .common = {.kernel = rbf({.gamma = 2.0})}, .C = 10};
    std::vector<std::size_t> asked{0, 1, 2, 3};
    for (int round = 0; round < 12; ++round) {
        const Model model = Svm(settings).fit(pool.select(asked));
        for (const Query& q : query_simple(model, pool.x, pool.size())) {
            if (std::ranges::find(asked, q.row) != asked.end()) continue;
            asked.push_back(q.row);
            break;
        }
    }
    const auto accuracy = [&](const std::vector<std::size_t>& rows) {
        const std::vector<double> found =
            Svm(settings).fit(pool.select(rows)).predict_labels(test.x).values;
        double right = 0;
        for (std::size_t i = 0; i < test.size(); ++i) right += found[i] == test.y.values[i] ? 1 : 0;
        return right / static_cast<double>(test.size());
    };
    EXPECT_GT(accuracy(asked), accuracy({0, 1, 2, 3}));
    EXPECT_GT(accuracy(asked), 0.9);
    EXPECT_NE(message_of([&] {
                  query_simple(svr({}).fit(make("sinc", {.n = 20})), pool.x, 1);
              }).find("svr"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
