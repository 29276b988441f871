// Targets in units of thousands or of thousandths are learnt as well as those near 1, the answers
// come back in the target's units, and what a search could not settle is said.
#include "mercer/learn/target_scale.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

/// y = shift + scale (sin + noise), as prices are.
Dataset wave(std::size_t n, double shift, double scale) {
    Random random(11);
    std::vector<double> values;
    Dataset data;
    for (std::size_t i = 0; i < n; ++i) {
        const double a = 2 * random.normal();
        values.push_back(a);
        data.y.values.push_back(shift + scale * (std::sin(a) + 0.1 * random.normal()));
    }
    data.x = Rows::dense(std::move(values), 1);
    return data;
}

/// What every regressor says of the data, standardised, and the share of the variance it explains.
Model fitted(Task task, const Dataset& data, TargetScale rule) {
    FitSettings common{.kernel = Kernel::parse("rbf(gamma=0.5)"), .target_scale = rule};
    common.double_precision = true;
    switch (task) {
        case Task::svr:
        case Task::nu_svr:
            return Svm({.task = task,
                        .common = {.kernel = common.kernel,
                                   .target_scale = rule,
                                   .double_precision = true},
                        .tolerance = 1e-6})
                .fit(data);
        case Task::ridge: return ridge({.common = common, .bias = false}).fit(data);
        case Task::huber:
            return risk_minimiser({.loss = Loss::huber, .common = common, .tolerance = 1e-10})
                .fit(data);
        case Task::quantile:
            return risk_minimiser({.loss = Loss::quantile, .common = common, .tolerance = 1e-10})
                .fit(data);
        default: return gaussian_process({.common = common}).fit(data);
    }
}

TEST(TargetScale, RegressionsOfPricesAreThoseOfNumbersNearOne) {
    const Dataset small = wave(80, 0, 1);
    const Dataset prices = wave(80, 207513, 115395);
    for (const Task task :
         {Task::svr, Task::nu_svr, Task::ridge, Task::huber, Task::quantile, Task::gp}) {
        for (const TargetScale rule : {TargetScale::standard, TargetScale::minmax}) {
            const auto a = fitted(task, small, rule).predict(small.x);
            const Model model = fitted(task, prices, rule);
            const auto b = model.predict(prices.x);
            for (std::size_t i = 0; i < a.size(); ++i) {
                ASSERT_NEAR((b[i] - 207513) / 115395, a[i], 1e-4) << task_name(task) << ' ' << i;
            }
            const TargetScaling noted = target_scaling_of(model);
            const TargetScaling expected = fit_target_scale(rule, prices.y.values);
            EXPECT_EQ(noted.shift, expected.shift) << task_name(task);
            EXPECT_EQ(noted.scale, expected.scale) << task_name(task);
        }
    }
}

TEST(TargetScale, SettingsOfTheModelAreThoseOfTheTargetsThemselves) {
    const Dataset prices = wave(60, 1000, 50);
    const Model model = fitted(Task::svr, prices, TargetScale::standard);
    const double s = target_scaling_of(model).scale;
    EXPECT_DOUBLE_EQ(model.trained().C, s);
    EXPECT_DOUBLE_EQ(model.trained().epsilon, 0.1 * s);
    const Model direct =
        Svm({.task = Task::svr,
             .common = {.kernel = model.expansion().kernel, .double_precision = true},
             .C = s,
             .epsilon = 0.1 * s,
             .tolerance = 1e-6 * s})
            .fit(prices);
    const auto a = model.predict(prices.x);
    const auto b = direct.predict(prices.x);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-9 * s);
    // So the certificate can be recomputed from model and data as any other's.
    const std::vector<Report> again = recompute_reports(model, prices);
    EXPECT_NEAR(again.front().primal, model.report().primal, 1e-6 * model.report().primal);
    EXPECT_NEAR(again.front().dual, model.report().dual, 1e-6 * model.report().primal);
}

TEST(TargetScale, DeviationsComeBackInTheTargetsUnits) {
    const Dataset small = wave(40, 0, 1);
    const Dataset prices = wave(40, 5000, 300);
    const auto a = predictive_deviation(fitted(Task::gp, small, TargetScale::standard), small.x);
    const auto b = predictive_deviation(fitted(Task::gp, prices, TargetScale::standard), small.x);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(b[i], 300 * a[i], 1e-9 * b[i]);
}

TEST(TargetScale, EvidenceOfPricesIsMaximisedOnTheirOwnScale) {
    const Dataset prices = wave(80, 207513, 115395);
    const Model model =
        gaussian_process({.common = {.kernel = Kernel::parse("rbf(gamma=1)")}, .optimise = true})
            .fit(prices);
    EXPECT_EQ(model.report().status, FitStatus::converged);
    double worst = 0;
    const auto f = model.predict(prices.x);
    for (std::size_t i = 0; i < f.size(); ++i) {
        worst = std::max(worst, std::fabs(f[i] - prices.y.values[i]));
    }
    EXPECT_LT(worst, 0.5 * 115395);
}

TEST(TargetScale, IsRefusedWhereNoNumbersAreLearnt) {
    Dataset data = wave(20, 0, 1);
    for (double& y : data.y.values) y = y > 0 ? 1 : -1;
    EXPECT_THROW(
        Svm({.task = Task::svc, .common = {.target_scale = TargetScale::standard}}).fit(data),
        InvalidInput);
    EXPECT_THROW(
        risk_minimiser({.loss = Loss::logistic, .common = {.target_scale = TargetScale::standard}})
            .fit(data),
        InvalidInput);
    EXPECT_THROW(target_scale_named("standart"), InvalidInput);
    Matrix<double> two(20, 2);
    EXPECT_THROW(Svm({.task = Task::svr, .common = {.target_scale = TargetScale::standard}})
                     .fit(data, two.view()),
                 InvalidInput);
}

TEST(TargetScale, ConstantTargetsHaveScaleOne) {
    const std::vector<double> y(7, 0.1);
    for (const TargetScale rule : {TargetScale::standard, TargetScale::minmax}) {
        const TargetScaling s = fit_target_scale(rule, y);
        EXPECT_NEAR(s.shift, 0.1, 1e-15);
        EXPECT_EQ(s.scale, 1);
    }
}

TEST(TargetScale, UselessPenaltiesAndTubesAreNoticed) {
    const Dataset prices = wave(200, 207513, 115395);
    const double deviation = fit_target_scale(TargetScale::standard, prices.y.values).scale;
    const Kernel k = Kernel::parse("rbf(gamma=0.5)");
    const Model small = Svm({.task = Task::svr, .common = {.kernel = k}}).fit(prices);
    EXPECT_EQ(target_trouble(small, deviation), TargetTrouble::penalty_too_small);
    for (const double nu : {0.2, 0.5, 0.95}) {
        const Model flat =
            Svm({.task = Task::nu_svr, .common = {.kernel = k}, .nu = nu}).fit(prices);
        EXPECT_EQ(target_trouble(flat, deviation), TargetTrouble::penalty_too_small) << nu;
        const Model follows = Svm({.task = Task::nu_svr,
                                   .common = {.kernel = k, .target_scale = TargetScale::standard},
                                   .nu = nu})
                                  .fit(prices);
        EXPECT_EQ(target_trouble(follows, deviation), TargetTrouble::none) << nu;
    }
    const Model wide =
        Svm({.task = Task::svr, .common = {.kernel = k}, .C = 1, .epsilon = 1e6}).fit(prices);
    EXPECT_EQ(target_trouble(wide, deviation), TargetTrouble::tube_too_wide);
    const Model fine =
        Svm({.task = Task::svr, .common = {.kernel = k, .target_scale = TargetScale::standard}})
            .fit(prices);
    EXPECT_EQ(target_trouble(fine, deviation), TargetTrouble::none);
}

TEST(GaussianProcess, AHeightThatWasWrittenIsLearntAlsoWhenItIsOne) {
    const Kernel k = Kernel::parse("1.0*rbf(gamma=1)");
    ASSERT_EQ(parameters(k).size(), 2U);
    EXPECT_EQ(k.text(), "1*rbf(gamma=1)");
    EXPECT_EQ(Kernel::parse(k.text()), k);
    GaussianProcessSettings settings{.common = {.kernel = k}, .optimise = true};
    settings.common.target_scale = TargetScale::none;
    const Model model = gaussian_process(settings).fit(wave(80, 0, 30));
    const double height = parameters(model.expansion().kernel).front().value;
    EXPECT_GT(height, 100);
    EXPECT_LT(height, 10000);
}

TEST(GaussianProcess, ParametersAtALimitOfTheSearchAreReported) {
    // Targets of 1e5 with a height of 1 for ever: the noise runs away.
    GaussianProcessSettings settings{
        .common = {.kernel = Kernel::parse("rbf(gamma=1)")}, .noise = 1e-3, .optimise = true};
    settings.common.target_scale = TargetScale::none;
    const Report r = gaussian_process(settings).fit(wave(60, 207513, 115395)).report();
    EXPECT_EQ(r.status, FitStatus::search_limit);
    ASSERT_TRUE(r.figures.contains("at_limit_noise"));
    EXPECT_NEAR(r.figures.at("at_limit_noise"), 1e3, 1e-6);
}

TEST(GaussianProcess, ParametersCanBeHeldFixed) {
    const Dataset data = wave(60, 0, 1);
    GaussianProcessSettings settings{
        .common = {.kernel = Kernel::parse("2*rbf(gamma=0.3) + 0.5*rbf(gamma=3)")},
        .noise = 0.2,
        .optimise = true};
    const auto values = [&](std::vector<std::string> fixed) {
        settings.fixed = std::move(fixed);
        const Model m = gaussian_process(settings).fit(data);
        std::vector<double> found;
        for (const KernelParameter& p : parameters(m.expansion().kernel)) found.push_back(p.value);
        found.push_back(m.trained().numbers.at("noise"));
        return found;
    };
    EXPECT_EQ(search_names(parameters(settings.common.kernel)),
              (std::vector<std::string>{"factor", "gamma", "factor_2", "gamma_2", "noise"}));
    auto found = values({"gamma", "noise"});
    EXPECT_EQ(found[1], 0.3);
    EXPECT_EQ(found[3], 3);
    EXPECT_EQ(found[4], 0.2);
    EXPECT_NE(found[0], 2);
    found = values({"gamma_2", "factor"});
    EXPECT_NE(found[1], 0.3);
    EXPECT_EQ(found[3], 3);
    EXPECT_EQ(found[0], 2);
    EXPECT_EQ(found[2], 0.5);
    EXPECT_NE(found[4], 0.2);
    EXPECT_THROW(values({"sigma"}), InvalidInput);
    EXPECT_THROW(values({"gamma", "factor", "noise"}), InvalidInput);
}

}  // namespace
}  // namespace mercer
