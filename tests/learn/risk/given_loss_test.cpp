// Losses and regularisers given as functions or formulas, beside machines that know theirs.
#include <gtest/gtest.h>

#include <cmath>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/risk/given_loss.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

using testing::expect_same_decisions;
using testing::message_of;
using testing::with_double_rows;

FitSettings wide() {
    return {.kernel = rbf({.gamma = 0.7}), .double_precision = true};
}
Dataset curve(std::size_t n = 60) {
    return with_double_rows(make("sinc", {.n = n, .noise = 0.2}));
}
Dataset moons(std::size_t n = 60) {
    return with_double_rows(make("moons", {.n = n, .noise = 0.3}));
}

void expect_certified(const Model& model, double tolerance = 1e-6) {
    for (const Report& r : model.reports()) {
        EXPECT_EQ(r.status, FitStatus::converged);
        EXPECT_TRUE(r.is_bracketed());
        EXPECT_LE(r.relative_gap, tolerance);
        EXPECT_GE(r.primal, r.dual - 1e-9 * std::abs(r.primal));
    }
}

TEST(GivenLoss, SquaresAreRidgeRegression) {
    const Dataset data = curve();
    const Model given = given_risk({.common = wide(), .lambda = 0.3, .tolerance = 1e-9}).fit(data);
    expect_certified(given, 1e-9);
    const Model known = ridge({.common = wide(), .lambda = 0.3}).fit(data);
    expect_same_decisions(given, known, curve(20).x, 1e-4);
    EXPECT_NEAR(given.report().primal, known.report().primal, 1e-7);
}

TEST(GivenLoss, FormulasAndFunctionsAreTheLossesOfOtherMachines) {
    const Dataset data = moons();
    GivenRiskSettings s{.common = wide(), .loss = "log(1 + exp(-y*z))", .lambda = 0.2};
    const Model by_formula = given_risk_classes(s).fit(data);
    expect_certified(by_formula);
    const Model known =
        risk_minimiser(
            {.loss = Loss::logistic, .common = wide(), .lambda = 0.2, .tolerance = 1e-10})
            .fit(data);
    EXPECT_NEAR(by_formula.report().primal, known.report().primal, 1e-5 * known.report().primal);
    expect_same_decisions(by_formula, known, moons(20).x, 0.02);
    s.functions.value = [](std::span<const double> y, std::span<const double> z,
                           std::span<double> out) {
        for (std::size_t i = 0; i < z.size(); ++i) out[i] = std::log1p(std::exp(-y[i] * z[i]));
    };
    s.functions.slope = [](std::span<const double> y, std::span<const double> z,
                           std::span<double> out) {
        for (std::size_t i = 0; i < z.size(); ++i) out[i] = -y[i] / (1 + std::exp(y[i] * z[i]));
    };
    s.loss = "nonsense(";
    const Model by_function = given_risk_classes(s).fit(data);
    expect_certified(by_function);
    EXPECT_NEAR(by_function.report().primal, known.report().primal, 1e-6 * known.report().primal);
}

TEST(GivenLoss, KinksAreMetToTheGap) {
    const Dataset data = curve(25);
    // The pinball loss has a machine of its own.
    const Model given =
        given_risk({.common = wide(), .loss = "max(0.8*(y - z), 0.2*(z - y))", .lambda = 0.1})
            .fit(data);
    expect_certified(given);
    EXPECT_GT(given.report().figures.at("smoothing"), 0);
    const Model known = risk_minimiser({.loss = Loss::quantile,
                                        .common = wide(),
                                        .lambda = 0.1,
                                        .quantile = 0.8,
                                        .tolerance = 1e-9})
                            .fit(data);
    EXPECT_NEAR(given.report().primal, known.report().primal, 2e-6 * known.report().primal);
    // The hinge is the support vector machine with C = 1 / 2λ.
    const Dataset two = moons(24);
    const Model hinge =
        given_risk_classes({.common = wide(), .loss = "max(0, 1 - y*z)", .lambda = 0.25}).fit(two);
    expect_certified(hinge);
    SvmSettings svm{.task = Task::svc, .C = 2};
    svm.common.kernel = rbf({.gamma = 0.7});
    const Model vectors = Svm(testing::closely(svm)).fit(two);
    EXPECT_NEAR(hinge.report().primal, 0.5 * vectors.report().primal, 2e-6 * hinge.report().primal);
}

TEST(GivenLoss, OtherRegularisersMeetTheirOwnConditions) {
    const Dataset data = curve(25);
    for (const char* omega : {"norm", "norm^1.5", "norm^4", "exp(norm)"}) {
        const Model model =
            given_risk({.common = wide(), .regulariser = omega, .lambda = 0.5}).fit(data);
        expect_certified(model);
        // The same machine by the squared norm with its own weight.
        const double nu = model.report().figures.at("quadratic");
        const Model same = ridge({.common = wide(), .lambda = nu}).fit(data);
        expect_same_decisions(model, same, curve(20).x, 1e-2);
    }
    // A penalty of ‖f‖ that outweighs all the data leaves the constant.
    const Model none =
        given_risk({.common = wide(), .regulariser = "norm", .lambda = 1e4}).fit(data);
    EXPECT_LT(none.report().figures.at("norm"), 1e-3);
    expect_certified(none);
    // What rises and is not convex has no dual.
    const Model root =
        given_risk({.common = wide(), .regulariser = "norm/(1 + norm)", .lambda = 0.5}).fit(data);
    EXPECT_FALSE(root.report().is_bracketed());
}

TEST(GivenLoss, WhatIsNotConvexIsRefused) {
    const Dataset data = curve(30);
    const auto about = [&](GivenRiskSettings s) {
        s.common = wide();
        return message_of([&] { given_risk(s).fit(data); });
    };
    EXPECT_NE(about({.loss = "1 - exp(-(y - z)^2)"}).find("not convex"), std::string::npos);
    EXPECT_NE(about({.loss = "log(z)"}).find("not finite"), std::string::npos);
    EXPECT_NE(about({.loss = "(y - q)^2"}).find("q"), std::string::npos);
    EXPECT_NE(about({.regulariser = "-norm"}).find("must rise"), std::string::npos);
    EXPECT_NE(about({.regulariser = "x0"}).find("norm alone"), std::string::npos);
    GivenRiskSettings scaled;
    scaled.common.target_scale = TargetScale::standard;
    EXPECT_NE(message_of([&] { given_risk(scaled).fit(data); }).find("scaling"), std::string::npos);
}

TEST(GivenLoss, SeveralClassesWeightsAndFiles) {
    Dataset data = with_double_rows(make("blobs", {.n = 60, .noise = 2, .classes = 3}));
    const Model model = machine_entry("risk-classes")
                            .make(wide(), {{"loss", "max(0, 1 - y*z)^2"}, {"lambda", 0.5}})
                            .fit(data);
    expect_certified(model);
    ASSERT_EQ(model.reports().size(), 3U);
    const Model known =
        risk_minimiser({.loss = Loss::squared_hinge, .common = wide(), .lambda = 0.5}).fit(data);
    EXPECT_NEAR(model.report().primal, known.report().primal, 1e-4);
    const Model again = load_from_memory(save_to_memory(model), "model");
    EXPECT_EQ(again.decision(data.x).values(), model.decision(data.x).values());
    Dataset line = curve(18), repeated = line;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < 18; ++i) {
        line.weights.push_back(static_cast<double>(i % 3));
        rows.insert(rows.end(), i % 3, i);
    }
    const GivenRiskSettings s{.common = wide(), .loss = "(y - z)^4 + |y - z|"};
    expect_same_decisions(given_risk(s).fit(line), given_risk(s).fit(repeated.select(rows)), line.x,
                          0.02);
}

}  // namespace
}  // namespace mercer
