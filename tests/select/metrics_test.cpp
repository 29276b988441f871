// Folds that are grouped, given and thinned; scores by their definitions.
#include "mercer/select/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer {
namespace {

using testing::message_of;

Dataset rows_of(std::size_t n) {
    Dataset data;
    std::vector<double> x(n);
    for (std::size_t i = 0; i < n; ++i) {
        x[i] = static_cast<double>(i);
        data.y.values.push_back(i % 3 == 0 ? 1 : 2);
    }
    data.x = Rows::dense(std::move(x), 1);
    return data;
}

void expect_partition(const std::vector<Split>& folds, std::size_t first, std::size_t count,
                      std::size_t rows) {
    std::vector<int> held(rows, 0);
    for (std::size_t f = first; f < first + count; ++f) {
        for (const std::size_t i : folds[f].test) ++held[i];
        EXPECT_EQ(folds[f].train.size() + folds[f].test.size(), rows);
    }
    EXPECT_EQ(std::ranges::count(held, 1), static_cast<std::ptrdiff_t>(rows));
}

TEST(FoldRules, RepeatWithOtherDrawings) {
    const auto folds = make_folds({.folds = 4, .repeats = 3}, Task::svc, rows_of(50));
    ASSERT_EQ(folds.size(), 12U);
    for (std::size_t r = 0; r < 3; ++r) expect_partition(folds, 4 * r, 4, 50);
    EXPECT_NE(folds[0].test, folds[4].test);
}

TEST(FoldRules, KeepGroupsTogetherAndFoldsEven) {
    std::vector<std::string> group;
    for (std::size_t i = 0; i < 60; ++i) group.push_back("g" + std::to_string(i % 11));
    const auto folds =
        make_folds({.kind = FoldKind::grouped, .folds = 3, .keys = group}, Task::svc, rows_of(60));
    ASSERT_EQ(folds.size(), 3U);
    expect_partition(folds, 0, 3, 60);
    for (const Split& fold : folds) {
        std::set<std::string> learnt;
        for (const std::size_t i : fold.train) learnt.insert(group[i]);
        for (const std::size_t i : fold.test) EXPECT_FALSE(learnt.contains(group[i]));
        EXPECT_NEAR(static_cast<double>(fold.test.size()), 20, 6);
    }
}

TEST(FoldRules, TakeGivenFoldsAsTheyAre) {
    const auto folds = make_folds({.kind = FoldKind::given, .keys = {"b", "a", "b", "10", "9"}},
                                  Task::svr, rows_of(5));
    ASSERT_EQ(folds.size(), 4U);
    EXPECT_EQ(folds[0].test, std::vector<std::size_t>{4});
    EXPECT_EQ(folds[1].test, std::vector<std::size_t>{3});
    EXPECT_EQ(folds[3].test, (std::vector<std::size_t>{0, 2}));
    EXPECT_EQ(folds[3].train, (std::vector<std::size_t>{1, 3, 4}));
}

TEST(FoldRules, RefuseWhatCannotBe) {
    const auto with = [](FoldRule rule) {
        return message_of([&] { make_folds(rule, Task::svc, rows_of(6)); });
    };
    EXPECT_NE(with({.folds = 7}), "");
    EXPECT_NE(with({.repeats = 0}), "");
    EXPECT_NE(with({.kind = FoldKind::given, .keys = {"a", "b"}}), "");
    EXPECT_NE(with({.kind = FoldKind::given, .keys = std::vector<std::string>(6, "a")}), "");
    EXPECT_NE(with({.kind = FoldKind::grouped, .folds = 3, .keys = {"a", "b", "a", "b", "a", "b"}})
                  .find("2 groups"),
              std::string::npos);
}

TEST(FoldRules, ThinnedSamplesKeepSharesAndGrow) {
    const Dataset data = rows_of(300);
    const auto folds = make_folds({.folds = 3}, Task::svc, data);
    const Classes classes = classes_of(data.y);
    const auto few = thinned(folds, 30, 9, classes.index);
    const auto more = thinned(folds, 90, 9, classes.index);
    for (std::size_t f = 0; f < 3; ++f) {
        EXPECT_EQ(few[f].test, folds[f].test);
        ASSERT_EQ(few[f].train.size(), 30U);
        EXPECT_TRUE(std::ranges::includes(more[f].train, few[f].train));
        EXPECT_TRUE(std::ranges::includes(folds[f].train, more[f].train));
        const auto ones = std::ranges::count_if(
            few[f].train, [&](std::size_t i) { return data.y.values[i] == 1; });
        EXPECT_NEAR(static_cast<double>(ones), 10, 1);
    }
    EXPECT_EQ(thinned(folds, 1000, 9, {})[0].train, folds[0].train);
}

// ---- Measures.

TEST(Measures, OfClassesFollowTheirDefinitions) {
    const Judged two{.classes = 2, .truth = {0, 0, 0, 0, 1, 1}, .predicted = {0, 0, 0, 1, 1, 0}};
    EXPECT_DOUBLE_EQ(judge(Metric::accuracy, two), 4.0 / 6);
    EXPECT_DOUBLE_EQ(judge(Metric::balanced_accuracy, two), (3.0 / 4 + 1.0 / 2) / 2);
    EXPECT_DOUBLE_EQ(judge(Metric::f1, two), 2 * 0.5 * 0.5 / (0.5 + 0.5));
    const Judged three{.classes = 4, .truth = {0, 0, 1, 1, 2, 2}, .predicted = {0, 1, 1, 1, 0, 0}};
    EXPECT_DOUBLE_EQ(judge(Metric::balanced_accuracy, three), (0.5 + 1 + 0) / 3);
    EXPECT_DOUBLE_EQ(judge(Metric::f1, three), (2.0 / 5 + 4.0 / 5 + 0) / 3);
    Judged sure{.classes = 2, .truth = {0, 1}, .predicted = {0, 1}};
    sure.probabilities = Matrix<double>(2, 2);
    sure.probabilities(0, 0) = 0.8;
    sure.probabilities(1, 1) = 0.25;
    EXPECT_DOUBLE_EQ(judge(Metric::log_loss, sure), -(std::log(0.8) + std::log(0.25)) / 2);
}

TEST(Measures, AucCountsPairs) {
    Random random(4);
    for (int trial = 0; trial < 20; ++trial) {
        Judged j{.classes = 2};
        for (int i = 0; i < 40; ++i) {
            j.truth.push_back(random.uniform() < 0.4 ? 1 : 0);
            j.decision.push_back(static_cast<double>(random.below(12)));  // with ties
        }
        double right = 0;
        double pairs = 0;
        for (std::size_t a = 0; a < 40; ++a) {
            for (std::size_t b = 0; b < 40; ++b) {
                if (!(j.truth[a] == 1 && j.truth[b] == 0)) continue;
                ++pairs;
                right += j.decision[a] > j.decision[b]    ? 1
                         : j.decision[a] == j.decision[b] ? 0.5
                                                          : 0;
            }
        }
        EXPECT_NEAR(judge(Metric::auc, j), right / pairs, 1e-14);
    }
    EXPECT_TRUE(std::isnan(judge(Metric::auc, {.classes = 2, .truth = {1}, .decision = {3}})));
}

TEST(Measures, OfNumbersFollowTheirDefinitions) {
    const Judged j{.truth = {1, 2, 6}, .predicted = {2, 2, 4}};
    EXPECT_DOUBLE_EQ(judge(Metric::mean_squared_error, j), 5.0 / 3);
    EXPECT_DOUBLE_EQ(judge(Metric::mean_absolute_error, j), 1);
    EXPECT_DOUBLE_EQ(judge(Metric::r2, j), 1 - 5.0 / 14);
    EXPECT_EQ(judge(Metric::r2, {.truth = {2, 2}, .predicted = {2, 2}}), 1);
    EXPECT_EQ(judge(Metric::r2, {.truth = {2, 2}, .predicted = {2, 3}}), 0);
    EXPECT_TRUE(std::isnan(judge(Metric::r2, {})));
}

TEST(Measures, HaveNamesAndTasks) {
    for (const char* const name :
         {"accuracy", "balanced-accuracy", "f1", "auc", "log-loss", "mse", "mae", "r2"}) {
        EXPECT_EQ(measure_name(measure_named(name)), name);
    }
    EXPECT_NE(message_of([] { measure_named("acuracy"); }).find("did you mean accuracy"),
              std::string::npos);
    EXPECT_NE(message_of([] { check_measure(Metric::auc, Task::svc, 3); }), "");
    EXPECT_NE(message_of([] { check_measure(Metric::accuracy, Task::svr, 0); }), "");
    EXPECT_NE(message_of([] { check_measure(Metric::accuracy, Task::kmeans, 2); }), "");
    check_measure(Metric::auc, Task::one_class, 2);
}

}  // namespace
}  // namespace mercer
