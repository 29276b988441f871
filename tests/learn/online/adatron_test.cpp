// The Adatron: every step goes up, and where it ends is where the solver of the SVMs ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/small.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;
using testing::with_double_rows;

AdatronSettings closely(const Kernel& kernel, double C, bool bias) {
    return {.common = {.kernel = kernel, .double_precision = true},
            .C = C,
            .bias = bias,
            .tolerance = 1e-7,
            .passes = 200'000};
}

Dataset rings() {
    return with_double_rows(make("rings", {.n = 60, .noise = 0.05}));
}

/// Rule (32) applied once more to every row: how far the coefficients would move.
double fixed_point_residual(const Model& model, const Dataset& data, double C) {
    const Matrix<double> f = model.decision(data.x);
    std::vector<double> alpha(data.size(), 0.0);
    for (std::size_t p = 0; p < model.expansion().size(); ++p) {
        alpha[model.origins()[p]] = std::abs(model.expansion().coefficients(0, p));
    }
    double worst = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        const double y = data.y.values[i] == -1 ? 1 : -1;
        double change = std::max(-alpha[i], 1 - y * f(i, 0));
        if (C > 0) change = std::min(change, C - alpha[i]);
        worst = std::max(worst, std::abs(change));
    }
    return worst;
}

TEST(Adatron, EveryStepRaisesTheDual) {
    for (const double rate : {0.3, 1.0, 1.9}) {
        AdatronSettings s = closely(rbf({.gamma = 1.0}), 2, true);
        s.rate = rate;
        const Report r = adatron(s).fit(rings()).report();
        EXPECT_EQ(r.status, FitStatus::converged) << rate;
        EXPECT_GE(r.figures.at("least_gain"), 0) << rate;
        EXPECT_TRUE(std::ranges::is_sorted(r.history)) << rate;
        EXPECT_NEAR(r.history.back(), r.dual, 1e-9 * std::abs(r.dual)) << rate;
        EXPECT_NEAR(r.figures.at("eta"), rate / 2, 1e-12);  // k(x,x) + 1 = 2
    }
}

TEST(Adatron, EndsAtTheHardMarginWithoutBias) {
    const Dataset data = rings();
    const Kernel k = rbf({.gamma = 1.0});
    const Model model = adatron(closely(k, 0, false)).fit(data);
    const Model svm =
        Svm(testing::closely({.task = Task::hard_margin, .common = {.kernel = k}, .bias = false}))
            .fit(data);
    EXPECT_EQ(model.report().status, FitStatus::converged);
    EXPECT_LE(model.report().kkt_violation, 1e-7);
    EXPECT_LE(fixed_point_residual(model, data, 0), 1e-6);
    EXPECT_NEAR(model.report().margin, svm.report().margin, 1e-6);
    EXPECT_NEAR(model.report().dual, svm.report().dual, 1e-5);
    testing::expect_same_decisions(model, svm, data.x, 1e-5);
}

TEST(Adatron, EndsAtTheSoftMargin) {
    const Dataset data = with_double_rows(make("moons", {.n = 80, .noise = 0.4}));
    const Kernel k = rbf({.gamma = 1.0});
    const Model model = adatron(closely(k, 1, false)).fit(data);
    const Model svm =
        Svm(testing::closely({.task = Task::svc, .common = {.kernel = k}, .C = 1, .bias = false}))
            .fit(data);
    EXPECT_LE(model.report().relative_gap, 1e-6);
    EXPECT_LE(fixed_point_residual(model, data, 1), 1e-6);
    EXPECT_EQ(model.report().bounded_support_vectors, svm.report().bounded_support_vectors);
    testing::expect_same_decisions(model, svm, data.x, 1e-5);
}

TEST(Adatron, ItsBiasIsTheWeightOfAConstantCoordinate) {
    const Dataset data = with_double_rows(make("moons", {.n = 80, .noise = 0.3}));
    const Kernel k = rbf({.gamma = 1.0});
    const Model model = adatron(closely(k, 1, true)).fit(data);
    const Model svm =
        Svm(testing::closely(
                {.task = Task::svc, .common = {.kernel = k + 1.0}, .C = 1, .bias = false}))
            .fit(data);
    EXPECT_NE(model.expansion().bias[0], 0);
    EXPECT_EQ(model.expansion().kernel.text(), k.text());
    testing::expect_same_decisions(model, svm, data.x, 1e-5);
}

TEST(Adatron, PairsOfClassesAndOneAgainstTheRest) {
    const Dataset data = with_double_rows(embedded("iris"));
    AdatronSettings s = closely(rbf({.gamma = 0.5}), 1, true);
    s.tolerance = 1e-4;
    for (const auto way : {MultiClass::one_vs_one, MultiClass::one_vs_rest}) {
        s.multi_class = way;
        const Model model = adatron(s).fit(data);
        ASSERT_EQ(model.reports().size(), 3U);
        for (const Report& r : model.reports()) {
            EXPECT_EQ(r.status, FitStatus::converged);
            EXPECT_LE(r.kkt_violation, 1e-4);
        }
        const std::vector<double> found = model.predict(data.x);
        std::size_t right = 0;
        for (std::size_t i = 0; i < data.size(); ++i) right += found[i] == data.y.values[i];
        EXPECT_GT(right, 140U);
    }
}

TEST(Adatron, AWeightMovesTheBound) {
    Dataset data = with_double_rows(make("moons", {.n = 40, .noise = 0.5}));
    data.weights.assign(40, 1.0);
    for (std::size_t i = 0; i < 40; i += 3) data.weights[i] = 5;
    data.weights[1] = 0;
    const Model model = adatron(closely(rbf({.gamma = 1.0}), 0.2, false)).fit(data);
    std::size_t moved = 0;
    for (std::size_t p = 0; p < model.expansion().size(); ++p) {
        EXPECT_LE(std::abs(model.expansion().coefficients(0, p)),
                  0.2 * data.weights[model.origins()[p]] + 1e-12);
        EXPECT_NE(model.origins()[p], 1U);
        moved += std::abs(model.expansion().coefficients(0, p)) > 0.2 + 1e-9 ? 1 : 0;
    }
    EXPECT_GT(moved, 0U) << "no heavy row has used its room";
}

TEST(Adatron, WhatCannotBeSeparatedEndsWithThePassesAndSaysSo) {
    const Dataset data = testing::points({{0}, {0}, {1}}, {1, 2, 1});
    AdatronSettings s = closely(linear(), 0, true);
    s.passes = 50;
    const Model model = adatron(s).fit(data);
    EXPECT_EQ(model.report().status, FitStatus::iteration_limit);
    EXPECT_EQ(model.report().history.size(), 50U);
    EXPECT_GT(model.report().kkt_violation, s.tolerance);
}

TEST(Adatron, BadSettingsAreNamed) {
    const Dataset data = rings();
    const auto message = [&](AdatronSettings s) {
        return message_of([&] { adatron(std::move(s)).fit(data); });
    };
    EXPECT_NE(message({.rate = 2}).find("less than 2"), std::string::npos);
    EXPECT_NE(message({.C = -1}).find("C = -1"), std::string::npos);
    EXPECT_NE(message({.tolerance = 0}).find("tolerance"), std::string::npos);
    EXPECT_NE(message({.passes = 0}).find("passes"), std::string::npos);
    EXPECT_NE(message({.common = {.kernel = constant(0)}, .bias = false}).find("k(x,x)"),
              std::string::npos);
}

TEST(ConvergenceCurves, BothClimbToTheSameDual) {
    const Dataset data = with_double_rows(make("moons", {.n = 100, .noise = 0.3}));
    AdatronSettings s = closely(rbf({.gamma = 1.0}), 1, false);
    s.tolerance = 1e-5;
    const std::vector<CurvePoint> points = convergence_curves(s, data);
    std::vector<double> ends;
    for (const std::string method : {"adatron", "smo"}) {
        double last = 0;
        std::size_t count = 0;
        for (const CurvePoint& p : points) {
            if (p.method != method) continue;
            EXPECT_GE(p.objective, last - 1e-9) << method;
            last = p.objective;
            ++count;
        }
        EXPECT_GE(count, 2U) << method;
        ends.push_back(last);
    }
    EXPECT_NEAR(ends[0], ends[1], 1e-4 * ends[1]);
    EXPECT_NE(message_of([&] { convergence_curves(s, embedded("iris")); }).find("two classes"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
