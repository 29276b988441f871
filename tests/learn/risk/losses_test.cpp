// Risk minimisers by their certificates, by stationarity, and by what each loss is for.
#include "mercer/learn/risk/losses.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/risk/detail/risk_matrix.hpp"

namespace mercer {
namespace {

FitSettings exactly(const char* text) {
    FitSettings settings{.kernel = Kernel::parse(text)};
    settings.double_precision = true;
    return settings;
}

/// Two or more overlapping groups, labelled 1, 2, …; or y = sin x + noise.
Dataset classes(std::size_t n, std::size_t count, std::uint64_t seed, bool weighted = false) {
    Random random(seed);
    std::vector<double> values;
    Dataset data;
    for (std::size_t i = 0; i < n; ++i) {
        const auto c = static_cast<double>(i % count);
        values.insert(values.end(), {c + 0.7 * random.normal(), c * c / 2 + 0.7 * random.normal()});
        data.y.values.push_back(c + 1);
        if (weighted) data.weights.push_back(0.3 + random.uniform());
    }
    data.x = Rows::dense(std::move(values), 2);
    return data;
}
Dataset noisy_sine(std::size_t n, std::uint64_t seed, bool weighted = false) {
    Random random(seed);
    std::vector<double> values;
    Dataset data;
    for (std::size_t i = 0; i < n; ++i) {
        values.push_back(4 * random.uniform());
        data.y.values.push_back(std::sin(values.back()) + 0.3 * random.normal() + 2);
        if (weighted) data.weights.push_back(0.3 + random.uniform());
    }
    data.x = Rows::dense(std::move(values), 1);
    return data;
}

TEST(Losses, SlopesAndConjugatesBelongToTheValues) {
    for (const Loss loss :
         {Loss::logistic, Loss::squared_hinge, Loss::huber, Loss::quantile, Loss::hinge}) {
        const LossFunction f{.loss = loss, .delta = 0.7, .quantile = 0.3};
        const bool signs =
            loss == Loss::logistic || loss == Loss::squared_hinge || loss == Loss::hinge;
        for (const double y : signs ? std::vector<double>{1, -1} : std::vector<double>{0.4, -2.0}) {
            for (double z = -3.03; z < 3; z += 0.171) {
                const double h = 1e-6;
                EXPECT_NEAR(f.slope(y, z), (f.value(y, z + h) - f.value(y, z - h)) / (2 * h), 1e-6);
                EXPECT_NEAR(f.curvature(y, z), (f.slope(y, z + h) - f.slope(y, z - h)) / (2 * h),
                            1e-6);
                // Fenchel and Young: ℓ(z) + ℓ*(u) >= z u, with equality at u = ℓ'(z).
                const double a = -f.slope(y, z);
                EXPECT_NEAR(f.value(y, z), f.dual(y, a) - a * z, 1e-12);
                EXPECT_GE(f.value(y, z), f.dual(y, 0.5 * a) - 0.5 * a * z - 1e-12);
            }
        }
        EXPECT_EQ(f.dual(1, 5 * (loss == Loss::squared_hinge ? -1 : 1)),
                  -std::numeric_limits<double>::infinity());
    }
}

TEST(RiskMinimiser, IsCertifiedByItsGap) {
    for (const Loss loss : {Loss::logistic, Loss::squared_hinge, Loss::huber, Loss::quantile}) {
        const bool classifier = loss == Loss::logistic || loss == Loss::squared_hinge;
        const Dataset data = classifier ? classes(90, 2, 1, true) : noisy_sine(90, 1, true);
        for (const char* kernel : {"rbf(gamma=0.5)", "linear", "normalize(polynomial(degree=2))"}) {
            const Model model = risk_minimiser({.loss = loss,
                                                .common = exactly(kernel),
                                                .lambda = 0.1,
                                                .delta = 0.2,
                                                .quantile = 0.3,
                                                .tolerance = 1e-8})
                                    .fit(data);
            const Report r = model.report();
            EXPECT_EQ(r.status, FitStatus::converged) << task_name(model.task()) << kernel;
            EXPECT_GT(r.primal, 0);
            EXPECT_LE(r.relative_gap, 1e-8) << task_name(model.task()) << kernel;
            EXPECT_GE(r.gap, -1e-9 * r.primal) << task_name(model.task()) << kernel;
            EXPECT_LT(r.infeasibility, 1e-7);
            EXPECT_LT(r.kkt_violation, 1e-2);
            // The primal value is that of the model itself.
            const LossFunction f{.loss = loss, .delta = 0.2, .quantile = 0.3};
            const Matrix<double> z = model.decision(data.x);
            double risk = 0.1 * r.squared_norm;
            for (std::size_t i = 0; i < data.size(); ++i) {
                const double y = !classifier ? data.y.values[i] : data.y.values[i] == 1 ? 1 : -1;
                risk += data.weights[i] * f.value(y, z(i, 0));
            }
            EXPECT_NEAR(risk, r.primal, 1e-7 * r.primal) << task_name(model.task()) << kernel;
        }
    }
}

// α_i = −w_i ℓ'(z_i) / 2λ, and Σ α_i = 0 with a bias.
TEST(RiskMinimiser, IsStationary) {
    for (const bool bias : {true, false}) {
        for (const Loss loss : {Loss::logistic, Loss::squared_hinge}) {
            const Dataset data = classes(60, 2, 2, true);
            const Model model = risk_minimiser({.loss = loss,
                                                .common = exactly("rbf(gamma=0.5)"),
                                                .lambda = 0.05,
                                                .bias = bias,
                                                .tolerance = 1e-12})
                                    .fit(data);
            const Matrix<double> z = model.decision(data.x);
            const LossFunction f{.loss = loss};
            std::vector<double> alpha(60, 0.0);
            for (std::size_t p = 0; p < model.origins().size(); ++p) {
                alpha[model.origins()[p]] = model.expansion().coefficients(0, p);
            }
            double sum = 0;
            for (std::size_t i = 0; i < 60; ++i) {
                const double y = data.y.values[i] == 1 ? 1 : -1;
                EXPECT_NEAR(alpha[i], -data.weights[i] * f.slope(y, z(i, 0)) / 0.1, 1e-5);
                sum += alpha[i];
            }
            if (bias) {
                EXPECT_NEAR(sum, 0, 1e-8);
            } else {
                EXPECT_EQ(model.expansion().bias[0], 0);
            }
        }
    }
}

TEST(Logistic, ProbabilitiesAreCalibratedWithABias) {
    const Dataset data = classes(120, 2, 3);
    const Model model = risk_minimiser({.loss = Loss::logistic,
                                        .common = exactly("rbf(gamma=0.5)"),
                                        .lambda = 0.1,
                                        .tolerance = 1e-10})
                            .fit(data);
    const Matrix<double> p = model.probabilities(data.x);
    double expected = 0;
    double seen = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        EXPECT_NEAR(p(i, 0) + p(i, 1), 1, 1e-9);
        expected += p(i, 0);
        if (data.y.values[i] == 1) ++seen;
    }
    EXPECT_NEAR(expected, seen, 1e-3);  // Σ w ℓ' = 0 says exactly this
}

TEST(RiskMinimiser, TakesSeveralClassesOneAgainstTheRest) {
    for (const Loss loss : {Loss::logistic, Loss::squared_hinge}) {
        const Dataset data = classes(150, 3, 4);
        const Model model =
            risk_minimiser({.loss = loss, .common = exactly("rbf(gamma=0.5)"), .lambda = 0.1})
                .fit(data);
        ASSERT_EQ(model.reports().size(), 3U);
        EXPECT_EQ(model.reports()[1].name, "2 vs rest");
        const Labels labels = model.predict_labels(data.x);
        std::size_t right = 0;
        for (std::size_t i = 0; i < data.size(); ++i) {
            right += labels.values[i] == data.y.values[i] ? 1U : 0U;
        }
        EXPECT_GT(right, 120U);
        if (loss == Loss::logistic) {
            const Matrix<double> p = model.probabilities(data.x);
            for (std::size_t i = 0; i < data.size(); ++i) {
                EXPECT_NEAR(p(i, 0) + p(i, 1) + p(i, 2), 1, 1e-12);
            }
        }
        // Each output is the two-class machine of its class against the others.
        Dataset two = data;
        for (double& y : two.y.values) y = y == 2 ? 1 : 2;
        const Model pair =
            risk_minimiser({.loss = loss, .common = exactly("rbf(gamma=0.5)"), .lambda = 0.1})
                .fit(two);
        const Matrix<double> all = model.decision(data.x);
        const Matrix<double> one = pair.decision(data.x);
        for (std::size_t i = 0; i < data.size(); ++i) EXPECT_NEAR(all(i, 1), one(i, 0), 1e-9);
    }
}

// The share of rows below the curve is the quantile (001, the ν-property of the tube).
TEST(Quantile, LeavesItsShareBelow) {
    const Dataset data = noisy_sine(300, 5);
    for (const double tau : {0.1, 0.5, 0.9}) {
        const Model model = risk_minimiser({.loss = Loss::quantile,
                                            .common = exactly("rbf(gamma=0.5)"),
                                            .lambda = 0.05,
                                            .quantile = tau})
                                .fit(data);
        EXPECT_LE(model.report().relative_gap, 1e-6);
        const auto f = model.predict(data.x);
        double below = 0;
        double at_most = 0;
        for (std::size_t i = 0; i < f.size(); ++i) {
            below += data.y.values[i] < f[i] - 1e-3 ? 1 : 0;
            at_most += data.y.values[i] <= f[i] + 1e-3 ? 1 : 0;
        }
        EXPECT_LE(below / 300, tau + 1e-9);
        EXPECT_GE(at_most / 300, tau - 1e-9);
    }
}

TEST(Huber, MindsOutliersLessThanTheSquareAndEqualsItWithoutThem) {
    Dataset data = noisy_sine(80, 6);
    const auto fit = [&](double delta) {
        return risk_minimiser({.loss = Loss::huber,
                               .common = exactly("rbf(gamma=0.5)"),
                               .lambda = 0.5,
                               .delta = delta,
                               .tolerance = 1e-12})
            .fit(data)
            .predict(data.x);
    };
    const auto before_square = fit(1e6);
    const auto before_robust = fit(0.3);
    data.y.values[7] += 50;
    const auto after_square = fit(1e6);
    const auto after_robust = fit(0.3);
    EXPECT_GT(std::fabs(after_square[7] - before_square[7]), 1);
    EXPECT_LT(std::fabs(after_robust[7] - before_robust[7]), 0.3);
}

TEST(RiskMinimiser, StopsWhenTold) {
    const Dataset data = classes(60, 2, 7);
    FitSettings told = exactly("rbf(gamma=0.5)");
    told.progress = [](const Moment& m) { return m.task != "newton"; };
    const Report r = risk_minimiser({.common = told}).fit(data).report();
    EXPECT_EQ(r.status, FitStatus::cancelled);
    EXPECT_GE(r.gap, 0);
    const Report limited =
        risk_minimiser({.common = exactly("rbf(gamma=5)"), .lambda = 1e-4, .iteration_limit = 1})
            .fit(data)
            .report();
    EXPECT_EQ(limited.status, FitStatus::iteration_limit);
}

TEST(RiskMinimiser, RefusesWhatItCannotDo) {
    const Dataset data = classes(30, 2, 8);
    EXPECT_THROW(risk_minimiser({.lambda = 0}).fit(data), InvalidInput);
    EXPECT_THROW(risk_minimiser({.loss = Loss::huber, .delta = 0}).fit(data), InvalidInput);
    EXPECT_THROW(risk_minimiser({.loss = Loss::quantile, .quantile = 1}).fit(data), InvalidInput);
    EXPECT_THROW(risk_minimiser({.common = exactly("-1*linear"), .lambda = 1e-6}).fit(data),
                 InvalidInput);
    FitSettings tight;
    tight.memory_bytes = 1000;
    EXPECT_THROW(risk_minimiser({.common = tight}).fit(data), InvalidInput);
    EXPECT_THROW(risk_minimiser().fit(classes(10, 1, 9)), InvalidInput);
}

/// polynomial of degree 1 is the same function, of which nobody knows that its rows can be written.
TEST(Losses, TheSpaceOfWeightsHasTheSameMachines) {
    for (const Loss loss : {Loss::logistic, Loss::squared_hinge, Loss::huber, Loss::quantile}) {
        const bool labels = loss == Loss::logistic || loss == Loss::squared_hinge;
        const Dataset data = labels ? classes(700, 2, 3, true) : noisy_sine(700, 3, true);
        RiskSettings settings;
        settings.common = exactly("linear");
        settings.loss = loss;
        settings.lambda = 0.3;
        settings.tolerance = 1e-9;
        const Model explicit_rows = risk_minimiser(settings).fit(data);
        settings.common.kernel = Kernel::parse("polynomial(degree=1, gamma=1, coef0=0)");
        const Model stored = risk_minimiser(settings).fit(data);
        EXPECT_LE(explicit_rows.report().relative_gap, 1e-9);
        EXPECT_NEAR(explicit_rows.report().primal, stored.report().primal,
                    1e-8 * stored.report().primal);
        const auto a = explicit_rows.expansion_values(data.x);
        const auto b = stored.expansion_values(data.x);
        for (std::size_t i = 0; i < a.rows(); ++i) ASSERT_NEAR(a(i, 0), b(i, 0), 1e-3);
    }
}

TEST(Losses, SystemsOfExplicitRowsAreThoseOfTheirMatrix) {
    Random random(8);
    for (const std::size_t columns : {std::size_t{5}, ExplicitRiskMatrix::most_columns + 1}) {
        constexpr std::size_t n = 30;
        std::vector<std::size_t> starts{0};
        std::vector<std::uint32_t> index;
        std::vector<double> values;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::uint32_t k = 0; k < 5; ++k) {
                index.push_back(static_cast<std::uint32_t>(columns / 5) * k);
                values.push_back(random.normal());
            }
            starts.push_back(values.size());
        }
        const auto rows = ExplicitRows<double>::sparse(columns, starts, index, values);
        Matrix<double> k(n, n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                for (std::size_t c = 0; c < 5; ++c) {
                    k(i, j) += rows.values[5 * i + c] * rows.values[5 * j + c];
                }
            }
        }
        const StoredRiskMatrix stored(k.view());
        const ExplicitRiskMatrix own(rows);
        std::vector<double> x(n), y(n), z(n);
        for (double& v : x) v = random.normal();
        stored.multiply(x, y);
        own.multiply(x, z);
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y[i], z[i], 1e-10);
        const std::vector<std::size_t> which = {3, 4, 11, 28};
        const std::vector<double> diagonal = {0.1, 2, 1e-3, 50};
        Matrix<double> a(2, 4), b(2, 4);
        for (std::size_t e = 0; e < 8; ++e) a.values()[e] = b.values()[e] = random.normal();
        ASSERT_TRUE(stored.solve(which, diagonal, a.view(), {}));
        ASSERT_TRUE(own.solve(which, diagonal, b.view(), {}));
        for (std::size_t e = 0; e < 8; ++e) {
            EXPECT_NEAR(a.values()[e], b.values()[e], 1e-7 * (1 + std::abs(a.values()[e])));
        }
    }
}

}  // namespace
}  // namespace mercer
