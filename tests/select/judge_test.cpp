#include "mercer/select/judge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/select/metrics.hpp"

namespace mercer {
namespace {

Dataset two_of_iris() {
    const Dataset iris = embedded("iris");
    std::vector<std::size_t> rows;
    for (std::size_t i = 50; i < 150; ++i) rows.push_back(i);
    return iris.select(rows);
}

TEST(Wilson, AgreesWithItsOwnEquation) {
    // The ends p solve (p̂ − p)² = z² p (1 − p) / n.
    constexpr double z = 1.959963984540054;
    for (const auto& [hits, rows] :
         {std::pair<std::size_t, std::size_t>{0, 10}, {7, 10}, {81, 263}}) {
        const ConfidenceInterval i = wilson_interval(hits, rows);
        const double share = static_cast<double>(hits) / static_cast<double>(rows);
        for (const double p : {i.low, i.high}) {
            EXPECT_NEAR((share - p) * (share - p), z * z * p * (1 - p) / static_cast<double>(rows),
                        1e-12);
        }
    }
}

TEST(Judge, CountsWhatAModelConfuses) {
    const Dataset data = two_of_iris();
    const Model model =
        svm({.common = {.kernel = rbf({.gamma = 0.5})}, .C = 1, .probability = true}).fit(data);
    const Judgement j = judge(model, data);
    double all = 0, right = 0;
    for (std::size_t t = 0; t < 2; ++t) {
        for (std::size_t p = 0; p < 2; ++p) all += j.confusion(t, p);
        right += j.confusion(t, t);
    }
    EXPECT_EQ(all, 100);
    EXPECT_DOUBLE_EQ(j.accuracy, right / 100);
    EXPECT_DOUBLE_EQ(j.accuracy, score(Task::svc, model.predict_labels(data.x), data.y).accuracy);
    EXPECT_DOUBLE_EQ(j.baseline, 0.5);
    EXPECT_EQ(j.positive, model.class_names()[1]);
    // The area is Mann and Whitney's statistic, which metrics.cpp counts from ranks.
    Judged judged{.classes = 2, .truth = j.truth, .predicted = j.predicted, .decision = j.scores};
    EXPECT_NEAR(j.roc_area, judge(Metric::auc, judged), 1e-12);
    EXPECT_NEAR(j.classes[1].f1, judge(Metric::f1, judged), 1e-12);
    ASSERT_TRUE(j.probabilities);
    EXPECT_GT(j.probabilities->log_loss, 0);
}

TEST(Judge, TheOtherPositiveClassTurnsTheCurveRound) {
    const Dataset data = two_of_iris();
    const Model model = svc({.kernel = linear(), .C = 0.001}).fit(data);
    const Judgement a = judge(model, data, {.positive = model.class_names()[0]});
    const Judgement b = judge(model, data, {.positive = model.class_names()[1]});
    EXPECT_NEAR(a.roc_area, b.roc_area, 1e-12);
    EXPECT_THROW(judge(model, data, {.positive = "no such"}), InvalidInput);
}

TEST(Judge, ThresholdsFollowTheirCosts) {
    const Dataset data = two_of_iris();
    const Model model = svc({.kernel = linear(), .C = 0.001}).fit(data);
    const Judgement j = judge(model, data);
    const ThresholdChoice free = choose_threshold(j, 0, 1);
    EXPECT_EQ(free.false_negatives, 0U);
    EXPECT_DOUBLE_EQ(free.cost, 0);
    const ThresholdChoice even = choose_threshold(j, 1, 1);
    EXPECT_LE(even.cost, even.usual_cost + 1e-12);
    // The count by hand at that threshold.
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < j.rows; ++i) {
        wrong += (j.scores[i] >= even.threshold) != (j.truth[i] == 1) ? 1 : 0;
    }
    EXPECT_EQ(wrong, even.false_positives + even.false_negatives);
    EXPECT_THROW(choose_threshold(j, -1, 1), InvalidInput);
}

TEST(Judge, NumbersBesideTheirMean) {
    Dataset data;
    std::vector<double> x;
    for (int i = 0; i < 60; ++i) {
        x.push_back(i / 10.0);
        data.y.values.push_back(std::sin(i / 10.0));
    }
    data.x = Rows::dense(x, 1);
    const Model model =
        gaussian_process({.common = {.kernel = rbf({.gamma = 1.0})}, .noise = 0.01}).fit(data);
    const Judgement j = judge(model, data);
    EXPECT_NEAR(j.r2, 1 - j.rmse * j.rmse / (j.baseline_rmse * j.baseline_rmse), 1e-12);
    EXPECT_LE(j.rmse_interval.low, j.rmse);
    EXPECT_GE(j.rmse_interval.high, j.rmse);
    ASSERT_TRUE(j.coverage);
    EXPECT_GT(*j.coverage, 0.9);
    data.y = {};
    EXPECT_THROW(judge(model, data), InvalidInput);
}

TEST(RmsInterval, HoldsTheTruthAsOftenAsItSays) {
    // Errors with tails: a tenth is three times as wide. The truth is 1.8.
    Random random(17);
    const auto square = [&] {
        const double e = random.normal() * (random.uniform() < 0.1 ? 3 : 1);
        return e * e;
    };
    const auto draw = [&](std::size_t n) {
        std::vector<double> squares(n);
        for (double& s : squares) s = square();
        return squares;
    };
    constexpr int tables = 2000;
    int held = 0, held_again = 0;
    for (int t = 0; t < tables; ++t) {
        const std::vector<double> squares = draw(150), others = draw(150);
        const ConfidenceInterval own = rms_interval(squares), again = rms_interval(squares, 150);
        held += own.low <= std::sqrt(1.8) && std::sqrt(1.8) <= own.high ? 1 : 0;
        const double other = std::sqrt(std::accumulate(others.begin(), others.end(), 0.0) / 150);
        held_again += again.low <= other && other <= again.high ? 1 : 0;
    }
    // A bootstrap of the mean holds the first in 87 and the second in 78 of a hundred.
    EXPECT_GT(held, tables * 88 / 100);
    EXPECT_GT(held_again, tables * 90 / 100);
    EXPECT_LT(held, tables * 98 / 100);
    EXPECT_LT(held_again, tables * 99 / 100);
}

TEST(RmsInterval, AssumesTheTailOfNormalErrorsAtLeast) {
    // Equal squares: relative variance 2, t of 3 degrees 3.182446.
    const std::vector<double> squares(4, 9.0);
    const ConfidenceInterval i = rms_interval(squares);
    EXPECT_NEAR(i.high, 3 * std::exp(3.182446305284263 * std::sqrt(2.0 / 4) / 2), 1e-9);
    EXPECT_NEAR(i.low * i.high, 9, 1e-9);
    EXPECT_NEAR(rms_interval(squares, 4).high, 3 * std::exp(3.182446305284263 / 2), 1e-9);
    EXPECT_TRUE(std::isinf(rms_interval(std::vector<double>{1}).high));
    EXPECT_EQ(rms_interval(std::vector<double>{0, 0}).high, 0);
}

TEST(Explain, PointsAndBiasSumToTheValue) {
    const Dataset iris = embedded("iris");
    for (const Dataset& data : {two_of_iris(), iris}) {
        const Model model = svc({.kernel = rbf({.gamma = 0.3}), .C = 2}).fit(data);
        for (const Explanation& e : explain(model, data.x.slice(40, 20), 1000)) {
            double sum = e.bias;
            for (const auto& [row, term] : e.points) sum += term;
            EXPECT_NEAR(sum, e.value, 1e-4 * (1 + std::abs(e.value)));
        }
    }
}

TEST(Explain, AColumnThatIsNotReadAddsNothing) {
    const Dataset data = two_of_iris();
    const Model model = svc({.kernel = Kernel::parse("rbf(gamma=0.3)[2]"), .C = 2}).fit(data);
    for (const Explanation& e : explain(model, data.x.slice(0, 5), 10)) {
        ASSERT_EQ(e.columns.size(), 1U);
    }
    // Of a linear machine what a column adds is w_j (x_j − usual_j): they sum to f(x) − f(usual).
    const Model plain = svc({.kernel = linear(), .C = 1}).fit(data);
    std::vector<double> sums;
    for (const Explanation& e : explain(plain, data.x.slice(0, 3), 10)) {
        double sum = 0;
        for (const auto& [name, added] : e.columns) sum += added;
        sums.push_back(e.value - sum);
    }
    EXPECT_NEAR(std::abs(sums[0]), std::abs(sums[1]), 1e-4);
}

TEST(Compare, McNemarsTestIsTheBinomialOne) {
    // 10 and 2 tosses: 2 (1 + 12 + 66) / 4096.
    EXPECT_NEAR(fair_coin_p(10, 2), 2 * (1 + 12 + 66) / 4096.0, 1e-12);
    EXPECT_DOUBLE_EQ(fair_coin_p(3, 3), 1);
    Labels truth, a, b;
    for (int i = 0; i < 20; ++i) {
        truth.values.push_back(1);
        a.values.push_back(i < 12 ? 1 : 0);
        b.values.push_back(i < 2 || i >= 12 ? 1 : 0);
    }
    const Comparison c = compare(a, b, truth);
    EXPECT_EQ(c.only_first, 10U);
    EXPECT_EQ(c.only_second, 8U);
    EXPECT_NEAR(c.p_value, fair_coin_p(10, 8), 1e-12);
}

TEST(Compare, StudentsTailByItsTable) {
    EXPECT_NEAR(student_p(2.228139, 10), 0.05, 1e-6);  // Student's table, two-sided
    EXPECT_NEAR(student_p(12.7062, 1), 0.05, 1e-5);
    EXPECT_NEAR(student_p(0, 7), 1, 1e-12);
    EXPECT_NEAR(student_p(1, 1), 0.5, 1e-12);  // Cauchy's
}

}  // namespace
}  // namespace mercer
