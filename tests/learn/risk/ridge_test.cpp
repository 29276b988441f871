// Ridge regression by its own optimality, by leaving rows out one at a time, and by agreement of
// its three solvers.
#include "mercer/learn/risk/ridge.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

using testing::without;

/// y = sin 2x₀ + x₁ + noise
Dataset tilted_wave(std::size_t n, std::uint64_t seed, bool weighted = false) {
    Random random(seed);
    std::vector<double> values;
    Dataset data;
    for (std::size_t i = 0; i < n; ++i) {
        const double a = random.normal();
        const double b = random.normal();
        values.insert(values.end(), {a, b});
        data.y.values.push_back(std::sin(2 * a) + b + 0.2 * random.normal() + 5);
        if (weighted) data.weights.push_back(0.2 + random.uniform());
    }
    data.x = Rows::dense(std::move(values), 2);
    return data;
}

TEST(Ridge, IsCertifiedByItsGap) {
    for (const bool bias : {true, false}) {
        for (const char* kernel : {"rbf(gamma=0.5)", "linear", "polynomial(degree=2) + 1",
                                   "center(rbf(gamma=0.5))", "normalize(polynomial(degree=2))"}) {
            const Dataset data = tilted_wave(80, 1, true);
            const Model model = ridge({.common = FitSettings{.kernel = Kernel::parse(kernel)},
                                       .lambda = 0.3,
                                       .bias = bias})
                                    .fit(data);
            const Report r = model.report();
            EXPECT_GT(r.primal, 0);
            EXPECT_GE(r.gap, -1e-9 * r.primal) << kernel;
            EXPECT_LT(r.relative_gap, 1e-9) << kernel;
            EXPECT_LT(r.infeasibility, 1e-8) << kernel;
            EXPECT_LT(r.kkt_violation, 1e-8) << kernel;
            // The objective belongs to the model itself.
            const auto f = model.predict(data.x);
            double risk = 0.3 * r.squared_norm;
            for (std::size_t i = 0; i < f.size(); ++i) {
                risk += data.weights[i] * std::pow(data.y.values[i] - f[i], 2);
            }
            EXPECT_NEAR(risk, r.primal, 1e-8 * r.primal) << kernel;
        }
    }
}

// No machine of the same form does better: move single coefficients and the bias.
TEST(Ridge, IsTheMinimum) {
    const Dataset data = tilted_wave(30, 2, true);
    const Kernel k = Kernel::parse("rbf(gamma=0.5)");
    const Model model = ridge({.common = {.kernel = k}, .lambda = 0.3}).fit(data);
    const auto objective = [&](std::vector<double> alpha, double bias) {
        double risk = 0;
        std::vector<double> x(2);
        std::vector<double> z(2);
        for (std::size_t i = 0; i < 30; ++i) {
            double f = bias;
            data.x.copy_row(i, x);
            for (std::size_t j = 0; j < 30; ++j) {
                data.x.copy_row(j, z);
                f += alpha[j] * k(x, z);
            }
            risk +=
                data.weights[i] * std::pow(data.y.values[i] - f, 2) + 0.3 * alpha[i] * (f - bias);
        }
        return risk;
    };
    const auto row = model.expansion().coefficients.row(0);
    const std::vector<double> alpha(row.begin(), row.end());
    const double least = objective(alpha, model.expansion().bias[0]);
    EXPECT_NEAR(least, model.report().primal, 1e-9 * least);
    for (std::size_t i = 0; i < 30; i += 7) {
        for (const double by : {1e-3, -1e-3}) {
            auto moved = alpha;
            moved[i] += by;
            EXPECT_GT(objective(moved, model.expansion().bias[0]), least);
        }
    }
    EXPECT_GT(objective(alpha, model.expansion().bias[0] + 1e-3), least);
    EXPECT_GT(objective(alpha, model.expansion().bias[0] - 1e-3), least);
}

TEST(Ridge, LeaveOneOutIsLeavingOneOut) {
    for (const bool bias : {true, false}) {
        const Dataset data = tilted_wave(25, 3, true);
        RidgeSettings settings{
            .common = FitSettings{.kernel = Kernel::parse("rbf(gamma=0.5) + linear")},
            .lambda = 0.2,
            .bias = bias,
            .leave_one_out = true};
        const Model model = ridge(settings).fit(data);
        const Matrix<double>& loo = model.extras().array("loo");
        settings.leave_one_out = false;
        double sum = 0;
        double total = 0;
        for (std::size_t i = 0; i < data.size(); ++i) {
            const Model rest = ridge(settings).fit(without(data, i));
            const std::size_t one[] = {i};
            const double error = data.y.values[i] - rest.predict(data.x.select(one))[0];
            EXPECT_NEAR(loo(0, i), error, 1e-8 * (1 + std::fabs(error)));
            sum += data.weights[i] * error * error;
            total += data.weights[i];
        }
        EXPECT_NEAR(model.report().figures.at("loo_error"), sum / total, 1e-8);
    }
}

TEST(Ridge, PathAgreesWithSingleFitsAndChoosesTheBest) {
    for (const bool bias : {true, false}) {
        const Dataset data = tilted_wave(40, 4, true);
        const std::vector<double> path = {1e-3, 1e-2, 0.1, 1, 10, 100};
        const Model model = ridge({.common = FitSettings{.kernel = Kernel::parse("rbf(gamma=0.5)")},
                                   .path = path,
                                   .bias = bias})
                                .fit(data);
        const Matrix<double>& table = model.extras().array("path");
        double best = table(0, 1);
        for (std::size_t p = 0; p < path.size(); ++p) {
            const Model one =
                ridge({.common = FitSettings{.kernel = Kernel::parse("rbf(gamma=0.5)")},
                       .lambda = path[p],
                       .bias = bias,
                       .leave_one_out = true})
                    .fit(data);
            EXPECT_EQ(table(p, 0), path[p]);
            EXPECT_NEAR(table(p, 1), one.report().figures.at("loo_error"), 1e-8 * table(p, 1));
            best = std::min(best, table(p, 1));
        }
        const Report r = model.report();
        EXPECT_EQ(r.figures.at("loo_error"), best);
        EXPECT_EQ(r.figures.at("lambda"), model.trained().numbers.at("lambda"));
        EXPECT_LT(r.relative_gap, 1e-9);
        const Model again = ridge({.common = FitSettings{.kernel = Kernel::parse("rbf(gamma=0.5)")},
                                   .lambda = r.figures.at("lambda"),
                                   .bias = bias})
                                .fit(data);
        const auto a = model.predict(data.x);
        const auto b = again.predict(data.x);
        for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-7);
    }
}

TEST(Ridge, ConjugateGradientsGiveTheSame) {
    const Dataset data = tilted_wave(300, 5, true);
    const auto fit = [&](RidgeMethod method) {
        return ridge({.common = FitSettings{.kernel = Kernel::parse("rbf(gamma=0.5)")},
                      .lambda = 0.05,
                      .method = method})
            .fit(data);
    };
    const Model direct = fit(RidgeMethod::cholesky);
    const Model iterated = fit(RidgeMethod::conjugate_gradient);
    EXPECT_EQ(iterated.report().status, FitStatus::converged);
    EXPECT_GT(iterated.report().iterations, 0U);
    EXPECT_EQ(iterated.report().history.size(), iterated.report().iterations);
    EXPECT_LT(iterated.report().relative_gap, 1e-8);
    const auto a = direct.predict(data.x);
    const auto b = iterated.predict(data.x);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
    // When the matrix does not fit, automatic takes them.
    FitSettings tight = FitSettings{.kernel = Kernel::parse("rbf(gamma=0.5)")};
    tight.memory_bytes = 100'000;
    EXPECT_GT(ridge({.common = tight, .lambda = 0.05}).fit(data).report().iterations, 0U);
    EXPECT_THROW(ridge({.common = tight, .leave_one_out = true}).fit(data), InvalidInput);
}

TEST(Ridge, LearnsSeveralOutputsAtOnce) {
    const Dataset data = tilted_wave(50, 6);
    Matrix<double> targets(50, 2);
    for (std::size_t i = 0; i < 50; ++i) {
        targets(i, 0) = data.y.values[i];
        targets(i, 1) = -2 * data.y.values[i] + 1;
    }
    const Ridge machine =
        ridge({.common = FitSettings{.kernel = Kernel::parse("rbf(gamma=0.5)")}, .lambda = 0.3});
    const Model both = machine.fit(data, targets.view());
    ASSERT_EQ(both.reports().size(), 2U);
    const auto single = machine.fit(data).predict(data.x);
    const Matrix<double> f = both.decision(data.x);
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_NEAR(f(i, 0), single[i], 1e-10);
        EXPECT_NEAR(f(i, 1), -2 * single[i] + 1, 1e-9);
    }
}

// A row of weight 2 is that row twice; a row of weight 0 is not there.
TEST(Ridge, WeightsAreRepetitions) {
    Dataset data = tilted_wave(20, 7);
    data.weights.assign(20, 1.0);
    data.weights[3] = 2;
    data.weights[5] = 0;
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < 20; ++i) {
        if (i != 5) rows.push_back(i);
        if (i == 3) rows.push_back(i);
    }
    Dataset repeated = data.select(rows);
    repeated.weights.clear();
    const Ridge machine =
        ridge({.common = FitSettings{.kernel = Kernel::parse("rbf(gamma=0.5)")}, .lambda = 0.3});
    const auto a = machine.fit(data).predict(data.x);
    const auto b = machine.fit(repeated).predict(data.x);
    for (std::size_t i = 0; i < 20; ++i) EXPECT_NEAR(a[i], b[i], 1e-9);
}

TEST(Ridge, RefusesWhatItCannotSolve) {
    const Dataset data = tilted_wave(30, 8);
    EXPECT_THROW(ridge({.lambda = 0}).fit(data), InvalidInput);
    EXPECT_THROW(ridge({.path = {1, -1}}).fit(data), InvalidInput);
    const char* indefinite = "-1*linear";
    EXPECT_THROW(ridge({.common = FitSettings{.kernel = Kernel::parse(indefinite)}, .lambda = 1e-3})
                     .fit(data),
                 InvalidInput);
    EXPECT_THROW(ridge({.common = FitSettings{.kernel = Kernel::parse(indefinite)}, .path = {1e-3}})
                     .fit(data),
                 InvalidInput);
    Dataset unlabelled = data;
    unlabelled.y = {};
    EXPECT_THROW(ridge().fit(unlabelled), InvalidInput);
    EXPECT_THROW(ridge().fit(data, Matrix<double>(3, 1).view()), InvalidInput);
}

TEST(Ridge, StopsWhenTold) {
    const Dataset data = tilted_wave(30, 9);
    FitSettings told = FitSettings{.kernel = Kernel::parse("rbf(gamma=0.5)")};
    told.progress = [](const Moment&) { return false; };
    EXPECT_EQ(ridge({.common = told}).fit(data).report().status, FitStatus::cancelled);
    told.progress = [](const Moment& moment) { return moment.task != "solving"; };
    const Model stopped =
        ridge({.common = told, .method = RidgeMethod::conjugate_gradient}).fit(data);
    EXPECT_EQ(stopped.report().status, FitStatus::cancelled);
}

TEST(Ridge, TheSpaceOfWeightsHasTheSameMachine) {
    const Dataset data = tilted_wave(700, 5, true);
    for (const double lambda : {1e-4, 1.0, 1e4}) {
        RidgeSettings settings{.common = FitSettings{.kernel = Kernel::parse("linear")},
                               .lambda = lambda};
        settings.common.double_precision = true;
        const Model by_weights = ridge(settings).fit(data);
        settings.method = RidgeMethod::cholesky;
        const Model stored = ridge(settings).fit(data);
        EXPECT_LE(by_weights.report().relative_gap, 1e-9) << lambda;
        EXPECT_NEAR(by_weights.report().primal, stored.report().primal,
                    1e-9 * stored.report().primal);
        const auto a = by_weights.expansion_values(data.x);
        const auto b = stored.expansion_values(data.x);
        for (std::size_t i = 0; i < a.rows(); ++i) ASSERT_NEAR(a(i, 0), b(i, 0), 1e-6);
    }
}

}  // namespace
}  // namespace mercer
