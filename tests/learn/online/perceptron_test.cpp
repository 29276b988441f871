// The perceptrons against the algorithms as 003 prints them, written down row by row.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::in_double;
using testing::message_of;
using testing::points;
using testing::with_double_rows;

/// Algorithm 29 of 003, line by line, in the order given; also the mean of all (α, b) held.
struct Printed {
    std::vector<double> alpha, mean_alpha;
    double b = 0, mean_b = 0;
    std::vector<double> mistakes;
};
Printed algorithm_29(const Kernel& k, const std::vector<std::vector<double>>& x,
                     const std::vector<double>& y, std::size_t passes, bool bias) {
    const std::size_t n = x.size();
    Printed p{std::vector<double>(n, 0.0), std::vector<double>(n, 0.0), 0, 0, {}};
    double steps = 0;
    for (std::size_t pass = 0; pass < passes; ++pass) {
        double mistakes = 0;
        for (std::size_t i = 0; i < n; ++i) {
            double a = p.b;
            for (std::size_t m = 0; m < n; ++m) {
                if (p.alpha[m] != 0) a += p.alpha[m] * k(x[m], x[i]);
            }
            if (y[i] * a <= 0) {
                p.alpha[i] += y[i];
                p.b += bias ? y[i] : 0;
                ++mistakes;
            }
            ++steps;
            for (std::size_t m = 0; m < n; ++m) p.mean_alpha[m] += p.alpha[m];
            p.mean_b += p.b;
        }
        p.mistakes.push_back(mistakes);
        if (mistakes == 0) break;
    }
    for (double& a : p.mean_alpha) a /= steps;
    p.mean_b /= steps;
    return p;
}

double value(const Kernel& k, const std::vector<std::vector<double>>& x,
             const std::vector<double>& alpha, double b, std::span<const double> z) {
    double sum = b;
    for (std::size_t i = 0; i < x.size(); ++i) sum += alpha[i] * k(x[i], z);
    return sum;
}

std::vector<double> signs_of(const Dataset& data) {
    std::vector<double> y;
    for (const double label : data.y.values) y.push_back(label == -1 ? 1 : -1);  // first class: +
    return y;
}

TEST(Perceptron, IsAlgorithm29PlainAndAveraged) {
    // More rows than one block, so that values are corrected inside blocks and across them.
    const Dataset data = with_double_rows(make("moons", {.n = 700, .noise = 0.25}));
    const auto x = full(data.x);
    for (const bool bias : {true, false}) {
        for (const Kernel& k : {rbf({.gamma = 2.0}), polynomial({.degree = 2})}) {
            const Printed printed = algorithm_29(k, x, signs_of(data), 3, bias);
            PerceptronSettings s{.common = in_double(k), .passes = 3, .bias = bias};
            const Model plain = perceptron(s).fit(data);
            s.variant = PerceptronVariant::averaged;
            const Model averaged = perceptron(s).fit(data);
            EXPECT_EQ(plain.report().history, printed.mistakes);
            const double total =
                std::accumulate(printed.mistakes.begin(), printed.mistakes.end(), 0.0);
            EXPECT_EQ(plain.report().figures.at("mistakes"), total);
            const Matrix<double> f = plain.decision(data.x);
            const Matrix<double> g = averaged.decision(data.x);
            for (std::size_t i = 0; i < 50; ++i) {
                EXPECT_NEAR(f(i, 0), value(k, x, printed.alpha, printed.b, x[i]), 1e-9);
                EXPECT_NEAR(g(i, 0), value(k, x, printed.mean_alpha, printed.mean_b, x[i]), 1e-9);
            }
        }
    }
}

TEST(Perceptron, PrimalAndDualMakeTheSameMistakes) {
    const Dataset data = with_double_rows(make("blobs", {.n = 300, .noise = 3.0, .classes = 3}));
    PerceptronSettings s{.common = in_double(0.5 * linear()), .passes = 4};
    s.order = PassOrder::shuffled;
    for (const auto variant : {PerceptronVariant::plain, PerceptronVariant::averaged}) {
        s.variant = variant;
        s.common.kernel = 0.5 * linear();
        const Model primal = perceptron(s).fit(data);
        s.common.kernel = 0.5 * linear() + constant(0.0);  // no longer seen to be linear
        const Model dual = perceptron(s).fit(data);
        EXPECT_EQ(primal.expansion().size(), 3U);
        EXPECT_GT(dual.expansion().size(), 3U);
        EXPECT_EQ(primal.report().history, dual.report().history);
        testing::expect_same_decisions(primal, dual, data.x, 1e-8);
    }
    s.common.kernel = linear();
    const Model dense = perceptron(s).fit(data);
    Dataset sparse = data;
    sparse.x = sparse.x.to_sparse();
    testing::expect_same_decisions(dense, perceptron(s).fit(sparse), data.x, 1e-10);
}

TEST(Perceptron, TheMistakeBoundHoldsAndIsSmallestForTheHardMargin) {
    const Dataset data = with_double_rows(make("rings", {.n = 120, .noise = 0.05}));
    const Kernel k = rbf({.gamma = 1.0});
    const Model model =
        perceptron({.common = in_double(k), .passes = 1000, .bias = false}).fit(data);
    const Report r = model.report();
    ASSERT_EQ(r.status, FitStatus::converged);
    EXPECT_EQ(r.history.back(), 0);
    const double bound = r.figures.at("mistake_bound");
    EXPECT_LE(r.figures.at("mistakes"), bound);
    // δ is what the definition says: min y f / ‖w‖.
    const Matrix<double> f = model.decision(data.x);
    const auto y = signs_of(data);
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < data.size(); ++i) least = std::min(least, y[i] * f(i, 0));
    EXPECT_NEAR(r.margin, least / std::sqrt(r.squared_norm), 1e-10);
    EXPECT_NEAR(bound, 1 / (r.margin * r.margin), 1e-6 * bound);  // k(x,x) = 1
    const Model hard = Svm({.task = Task::hard_margin,
                            .common = {.kernel = k, .double_precision = true},
                            .bias = false,
                            .tolerance = 1e-6})
                           .fit(data);
    const double delta = hard.report().margin;
    EXPECT_GE(delta, r.margin * (1 - 1e-6));
    EXPECT_LE(r.figures.at("mistakes"), 1 / (delta * delta));
}

TEST(Perceptron, MultiClassBoundHoldsToo) {
    const Dataset data = make("blobs", {.n = 90, .noise = 0.2, .seed = 3, .classes = 3});
    const Model model = perceptron({.common = in_double(linear()), .passes = 5000}).fit(data);
    const Report r = model.report();
    ASSERT_EQ(r.status, FitStatus::converged);
    EXPECT_LE(r.figures.at("mistakes"), r.figures.at("mistake_bound"));
    const Labels found = model.predict_labels(data.x);
    EXPECT_EQ(found.values, data.y.values);
}

TEST(Perceptron, VotesAreThoseOfEveryVectorHeld) {
    const Dataset data = with_double_rows(make("moons", {.n = 80, .noise = 0.4}));
    const Kernel k = rbf({.gamma = 1.0});
    PerceptronSettings s{.common = in_double(k), .passes = 2};
    s.variant = PerceptronVariant::voted;
    const Model model = perceptron(s).fit(data);
    // All vectors again, each voting for every row it stood for.
    const auto x = full(data.x);
    const auto y = signs_of(data);
    std::vector<double> alpha(x.size(), 0.0);
    std::vector<double> vote(x.size(), 0.0);
    double b = 0;
    double total = 0;
    for (int pass = 0; pass < 2; ++pass) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (y[i] * value(k, x, alpha, b, x[i]) <= 0) {
                alpha[i] += y[i];
                b += y[i];
            }
            ++total;
            for (std::size_t j = 0; j < x.size(); ++j) {
                vote[j] += value(k, x, alpha, b, x[j]) > 0 ? 1 : -1;
            }
        }
    }
    const Matrix<double> f = model.decision(data.x);
    for (std::size_t j = 0; j < x.size(); ++j) EXPECT_NEAR(f(j, 0), vote[j] / total, 1e-12);
}

TEST(Perceptron, ABudgetIsKeptAndStillLearns) {
    const Dataset data = with_double_rows(make("moons", {.n = 1500, .noise = 0.2}));
    PerceptronSettings s{.common = in_double(rbf({.gamma = 2.0})), .passes = 2, .budget = 30};
    s.variant = PerceptronVariant::averaged;
    const Model model = perceptron(s).fit(data);
    EXPECT_LE(model.expansion().size(), 30U);
    EXPECT_GT(model.report().figures.at("merges"), 0);
    EXPECT_FALSE(model.report().figures.contains("mistake_bound"));
    const Labels found = model.predict_labels(data.x);
    std::size_t right = 0;
    for (std::size_t i = 0; i < data.size(); ++i) right += found.values[i] == data.y.values[i];
    EXPECT_GT(right, data.size() * 9 / 10);
}

TEST(Perceptron, ABudgetNeverReachedChangesNothing) {
    const Dataset data = with_double_rows(make("moons", {.n = 600}));
    PerceptronSettings s{.common = in_double(rbf({.gamma = 2.0})), .passes = 2};
    const Model free = perceptron(s).fit(data);
    s.budget = 600;
    testing::expect_same_decisions(free, perceptron(s).fit(data), data.x, 0);
}

/// Merging is a projection: with points that repeat, nothing is lost by it.
TEST(Perceptron, MergingEqualPointsForgetsNothing) {
    std::vector<std::vector<double>> rows;
    std::vector<double> labels;
    Random random(5);
    for (int i = 0; i < 400; ++i) {
        const auto c = static_cast<double>(random.below(4));
        rows.push_back({c, c * c});
        labels.push_back(random.uniform() < 0.3 ? 1 : 2);  // never separable
    }
    Dataset data = with_double_rows(points(rows, labels));
    // Weights without a common measure: no value is a tie that rounding would decide.
    for (int i = 0; i < 400; ++i) data.weights.push_back(random.uniform(0.5, 1.5));
    PerceptronSettings s{.common = in_double(rbf({.gamma = 1.0})), .passes = 3};
    const Model free = perceptron(s).fit(data);
    s.budget = 6;  // four different points, and a little room
    const Model merged = perceptron(s).fit(data);
    EXPECT_LE(merged.expansion().size(), 6U);
    EXPECT_GT(merged.report().figures.at("merges"), 0);
    EXPECT_LT(merged.report().figures.at("forgotten"), 1e-4);
    EXPECT_EQ(merged.report().history, free.report().history);
    testing::expect_same_decisions(free, merged, data.x, 1e-6);
}

TEST(PerceptronStream, LearnsWhatThePassLearns) {
    const Dataset data = with_double_rows(make("moons", {.n = 200, .noise = 0.2}));
    const Kernel k = rbf({.gamma = 2.0});
    for (const std::size_t budget : {0U, 20U}) {
        PerceptronSettings s{.common = in_double(k), .passes = 1, .budget = budget};
        const Model model = perceptron(s).fit(data);
        PerceptronStream stream({.kernel = k,
                                 .columns = 2,
                                 .class_names = {"-1", "1"},
                                 .budget = budget,
                                 .double_precision = true});
        const auto x = full(data.x);
        for (std::size_t i = 0; i < x.size(); ++i) {
            stream.update(x[i], data.y.values[i] == -1 ? 0 : 1);
        }
        EXPECT_EQ(stream.steps(), 200U);
        EXPECT_EQ(static_cast<double>(stream.mistakes()), model.report().figures.at("mistakes"));
        EXPECT_EQ(stream.points(), model.expansion().size());
        testing::expect_same_decisions(model, stream.model(), data.x, 1e-9);
    }
}

TEST(PerceptronStream, RefusesWhatItCannotLearnFrom) {
    const auto make_stream = [](StreamSettings s) { PerceptronStream stream(std::move(s)); };
    const std::vector<std::string> two{"a", "b"};
    EXPECT_NE(message_of([&] { make_stream({.columns = 1, .class_names = {"a"}}); }), "");
    EXPECT_NE(message_of([&] { make_stream({.columns = 1, .class_names = {"a", "a"}}); }), "");
    EXPECT_NE(message_of([&] { make_stream({.columns = 0, .class_names = two}); }), "");
    const Kernel waits = rbf({.gamma = scale_rule});
    EXPECT_NE(message_of([&] {
                  make_stream({.kernel = waits, .columns = 1, .class_names = two});
              }).find("whole sample"),
              std::string::npos);
    PerceptronStream stream({.columns = 2, .class_names = two});
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(message_of([&] { stream.update(std::vector{1.0}, 0); }), "");
    EXPECT_NE(message_of([&] { stream.update(std::vector{1.0, nan}, 0); }), "");
    EXPECT_NE(message_of([&] { stream.update(std::vector{1.0, 2.0}, 2); }), "");
    EXPECT_EQ(stream.steps(), 0U);
    EXPECT_EQ(stream.model().decision(points({{1, 2}}).x)(0, 0), 0);
}

TEST(Perceptron, WeightsCountInTheUpdate) {
    // One mistake of weight 3 and nothing else: w = 3 x, b = 3.
    Dataset data = points({{1}, {2}}, {1, 2});
    data.weights = {3, 1};
    const Model model = perceptron({.common = in_double(linear()), .passes = 1}).fit(data);
    // Row 1: f = 0, wrong: w = 3, b = 3. Row 2: f = 9, wrong: w = 3 − 2 = 1, b = 2.
    EXPECT_EQ(testing::value_at(model, {1}), 3);
    EXPECT_EQ(testing::value_at(model, {2}), 4);
}

TEST(Perceptron, StopsWhenToldAndNamesBadSettings) {
    const Dataset data = make("moons", {.n = 2000});
    std::size_t calls = 0;
    PerceptronSettings s{.common = {.kernel = rbf({.gamma = 1.0}),
                                    .progress = [&](const Moment&) { return ++calls < 3; }}};
    const Model model = perceptron(s).fit(data);
    EXPECT_EQ(model.report().status, FitStatus::cancelled);
    EXPECT_EQ(model.report().iterations, 1024U);
    EXPECT_GT(model.expansion().size(), 0U);
    s.passes = 0;
    EXPECT_NE(message_of([&] { perceptron(s).fit(data); }).find("passes"), std::string::npos);
    s.passes = 1;
    s.budget = 1;
    EXPECT_NE(message_of([&] { perceptron(s).fit(data); }).find("budget"), std::string::npos);
    s.budget = 10;
    s.variant = PerceptronVariant::voted;
    EXPECT_NE(message_of([&] { perceptron(s).fit(data); }).find("voted"), std::string::npos);
    s.variant = PerceptronVariant::plain;
    s.budget = 1'000'000'000;
    EXPECT_NE(message_of([&] { perceptron(s).fit(data); }).find("memory"), std::string::npos);
}

TEST(Perceptron, DigitsInSinglePrecision) {
    const Dataset data = embedded("digits");
    PerceptronSettings s{.common = {.kernel = polynomial({.degree = 3, .gamma = 0.01})},
                         .passes = 3,
                         .order = PassOrder::shuffled};
    s.variant = PerceptronVariant::averaged;
    const Model model = perceptron(s).fit(data);
    const Labels found = model.predict_labels(data.x);
    std::size_t right = 0;
    for (std::size_t i = 0; i < data.size(); ++i) right += found.values[i] == data.y.values[i];
    EXPECT_GT(right, data.size() * 98 / 100);
}

}  // namespace
}  // namespace mercer
