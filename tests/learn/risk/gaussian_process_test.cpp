// Gaussian processes: evidence by brute force, its gradient by differences, variance by definition.
#include "mercer/learn/risk/gaussian_process.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/risk/ridge.hpp"

namespace mercer {
namespace {

Dataset wave(std::size_t n, std::uint64_t seed, bool weighted = false) {
    Random random(seed);
    std::vector<double> values;
    Dataset data;
    for (std::size_t i = 0; i < n; ++i) {
        const double a = 3 * random.normal();
        const double b = random.normal();
        values.insert(values.end(), {a, b});
        data.y.values.push_back(std::sin(a) + 0.3 * b + 0.1 * random.normal());
        if (weighted) data.weights.push_back(0.5 + random.uniform());
    }
    data.x = Rows::dense(std::move(values), 2);
    return data;
}

FitSettings with_kernel(const std::string& text) {
    return {.kernel = Kernel::parse(text)};
}

std::vector<double> row_of(const Rows& rows, std::size_t i) {
    std::vector<double> row(rows.columns());
    rows.copy_row(i, row);
    return row;
}

/// A = K + σ²/w by the plain formula, inverted with its determinant by Gauss and Jordan.
struct Dense {
    Matrix<double> inverse;
    double log_determinant = 0;
};
Dense invert(const Kernel& k, const Dataset& data, double noise) {
    const std::size_t n = data.size();
    Matrix<double> a(n, 2 * n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) a(i, j) = k(row_of(data.x, i), row_of(data.x, j));
        a(i, i) += noise / (data.weights.empty() ? 1 : data.weights[i]);
        a(i, n + i) = 1;
    }
    Dense result{.inverse = Matrix<double>(n, n)};
    for (std::size_t p = 0; p < n; ++p) {
        const double pivot = a(p, p);
        result.log_determinant += std::log(pivot);
        for (std::size_t j = 0; j < 2 * n; ++j) a(p, j) /= pivot;
        for (std::size_t i = 0; i < n; ++i) {
            const double factor = a(i, p);
            if (i == p || factor == 0) continue;
            for (std::size_t j = 0; j < 2 * n; ++j) a(i, j) -= factor * a(p, j);
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) result.inverse(i, j) = a(i, n + j);
    }
    return result;
}

const std::vector<std::string>& kernels() {
    static const std::vector<std::string> list = {
        "2*rbf(sigma=1.5)",
        "1.3*matern(nu=2.5, length=2) + 0.5*linear + 0.2",
        "rbf(gamma=0.2)*periodic(period=6, length=1.5) + 0.4*rational_quadratic(alpha=0.8)",
        "0.7*normalize(polynomial(degree=2, gamma=0.3, coef0=0.5)) + 0.5*laplacian(gamma=0.3)[0]",
    };
    return list;
}

TEST(GaussianProcess, MeanVarianceAndEvidenceAreTheFormulas) {
    for (const std::string& text : kernels()) {
        const Dataset data = wave(30, 1, true);
        const Dataset test = wave(7, 2);
        const double noise = 0.05;
        const Model model =
            gaussian_process({.common = with_kernel(text), .noise = noise}).fit(data);
        const Kernel k = Kernel::parse(text);
        const Dense a = invert(k, data, noise);
        double quadratic = 0;
        for (std::size_t i = 0; i < 30; ++i) {
            for (std::size_t j = 0; j < 30; ++j) {
                quadratic += data.y.values[i] * a.inverse(i, j) * data.y.values[j];
            }
        }
        const double evidence =
            -0.5 * (quadratic + a.log_determinant + 30 * std::log(2 * std::numbers::pi));
        EXPECT_NEAR(model.report().figures.at("log_evidence"), evidence, 1e-8) << text;
        EXPECT_LT(model.report().relative_gap, 1e-9);
        const auto mean = model.predict(test.x);
        const auto deviation = predictive_deviation(model, test.x);
        const auto observed = predictive_deviation(model, test.x, true);
        for (std::size_t t = 0; t < 7; ++t) {
            const auto x = row_of(test.x, t);
            double m = 0;
            double v = k(x, x);
            for (std::size_t i = 0; i < 30; ++i) {
                for (std::size_t j = 0; j < 30; ++j) {
                    const double ki = k(x, row_of(data.x, i));
                    m += ki * a.inverse(i, j) * data.y.values[j];
                    v -= ki * a.inverse(i, j) * k(x, row_of(data.x, j));
                }
            }
            EXPECT_NEAR(mean[t], m, 1e-9) << text;
            EXPECT_NEAR(deviation[t], std::sqrt(v), 1e-8) << text;
            EXPECT_NEAR(observed[t] * observed[t], v + noise, 1e-8) << text;
        }
    }
}

TEST(GaussianProcess, EvidenceGradientAgreesWithDifferences) {
    for (const std::string& text : kernels()) {
        const Dataset data = wave(40, 3, true);
        const GramGradient k(Kernel::parse(text), data.x);
        const double noise = 0.07;
        const Evidence e = log_evidence(k, data.y.values, noise, data.weights);
        ASSERT_TRUE(e.defined);
        ASSERT_EQ(e.gradient.size(), k.parameters().size() + 1);
        std::vector<double> values;
        for (const KernelParameter& p : k.parameters()) values.push_back(p.value);
        values.push_back(noise);
        for (std::size_t p = 0; p < values.size(); ++p) {
            const auto at = [&](double by) {
                auto moved = values;
                moved[p] += by;
                const double s2 = moved.back();
                moved.pop_back();
                return log_evidence(k.with(moved), data.y.values, s2, data.weights, false).value;
            };
            const double expected = (at(1e-5) - at(-1e-5)) / 2e-5;
            EXPECT_NEAR(e.gradient[p], expected, 1e-5 * (1 + std::fabs(expected)))
                << text << " parameter " << p;
        }
    }
}

TEST(GaussianProcess, OptimisingRaisesTheEvidenceToAPlaceWithoutSlope) {
    const Dataset data = wave(60, 4);
    const std::string text = "0.1*rbf(sigma=0.3) + 0.5*linear";
    const Model given = gaussian_process({.common = with_kernel(text), .noise = 1}).fit(data);
    GaussianProcessSettings settings{.common = with_kernel(text), .noise = 1, .optimise = true};
    settings.common.target_scale = TargetScale::none;
    const Model found = gaussian_process(settings).fit(data);
    const Report r = found.report();
    EXPECT_EQ(r.status, FitStatus::converged);
    EXPECT_GT(r.figures.at("log_evidence"), given.report().figures.at("log_evidence") + 10);
    ASSERT_GT(r.history.size(), 2U);
    for (std::size_t i = 1; i < r.history.size(); ++i) EXPECT_GE(r.history[i], r.history[i - 1]);
    EXPECT_NEAR(r.history.back(), r.figures.at("log_evidence"), 1e-6);
    // The kernel found is in the model's own text.
    const GramGradient k(Kernel::parse(found.expansion().kernel.text()), data.x);
    const double noise = found.trained().numbers.at("noise");
    const Evidence e = log_evidence(k, data.y.values, noise);
    EXPECT_NEAR(e.value, r.figures.at("log_evidence"), 1e-8);
    for (std::size_t p = 0; p < k.parameters().size(); ++p) {
        EXPECT_NEAR(e.gradient[p] * k.parameters()[p].value, 0, 1e-2);
    }
    EXPECT_NEAR(e.gradient.back() * noise, 0, 1e-2);
    // The data was made with noise of variance 0.01.
    EXPECT_LT(noise, 0.05);
}

TEST(GaussianProcess, RestartsAreSeededAndNeverWorse) {
    const Dataset data = wave(40, 5);
    const GaussianProcessSettings settings{
        .common = with_kernel("0.1*rbf(sigma=30)"), .noise = 2, .optimise = true};
    GaussianProcessSettings more = settings;
    more.restarts = 4;
    const double once = gaussian_process(settings).fit(data).report().figures.at("log_evidence");
    const Model a = gaussian_process(more).fit(data);
    const Model b = gaussian_process(more).fit(data);
    EXPECT_GE(a.report().figures.at("log_evidence"), once);
    EXPECT_EQ(a.expansion().kernel.text(), b.expansion().kernel.text());
}

TEST(GaussianProcess, MeanIsRidgeWithTheNoiseAsLambda) {
    const Dataset data = wave(40, 6, true);
    const FitSettings common = with_kernel("rbf(sigma=2)");
    const auto a = gaussian_process({.common = common, .noise = 0.2}).fit(data).predict(data.x);
    const auto b =
        ridge({.common = common, .lambda = 0.2, .bias = false}).fit(data).predict(data.x);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-10);
}

TEST(GaussianProcess, TargetsMayBeCentred) {
    Dataset data = wave(40, 7);
    GaussianProcessSettings settings{.common = with_kernel("rbf(sigma=2)"), .noise = 0.2};
    settings.common.target_scale = TargetScale::center;
    const auto before = gaussian_process(settings).fit(data).predict(data.x);
    for (double& y : data.y.values) y += 100;
    const auto after = gaussian_process(settings).fit(data).predict(data.x);
    for (std::size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i] + 100, 1e-9);
}

TEST(GaussianProcess, StopsWhenToldWithWhatItHas) {
    const Dataset data = wave(50, 8);
    GaussianProcessSettings settings{
        .common = with_kernel("0.1*rbf(sigma=0.3)"), .noise = 1, .optimise = true, .restarts = 3};
    int moments = 0;
    // Once told to stop it is told so for ever, as after Ctrl-C.
    settings.common.progress = [&](const Moment& m) {
        if (m.task == "evidence") ++moments;
        return moments < 2;
    };
    const Model stopped = gaussian_process(settings).fit(data);
    EXPECT_EQ(stopped.report().status, FitStatus::cancelled);
    EXPECT_LT(stopped.report().relative_gap, 1e-9);
    settings.common.progress = [](const Moment&) { return false; };
    settings.optimise = false;
    EXPECT_EQ(gaussian_process(settings).fit(data).report().status, FitStatus::cancelled);
}

/// With a little less memory than the matrix takes.
GaussianProcessSettings without_matrix(GaussianProcessSettings settings, std::size_t rows) {
    settings.common.memory_bytes = rows * rows * sizeof(double) - 1;
    return settings;
}

TEST(GaussianProcess, WithoutItsMatrixHasTheSameMeanAndDeviations) {
    const Dataset data = wave(300, 11), asked = wave(40, 12);
    const GaussianProcessSettings settings{.common = with_kernel("2*rbf(gamma=0.7)"),
                                           .noise = 0.02};
    const Model exact = gaussian_process(settings).fit(data);
    const Model free = gaussian_process(without_matrix(settings, data.size())).fit(data);
    EXPECT_EQ(free.report().status, FitStatus::converged);
    EXPECT_LT(free.report().relative_gap, 1e-6);
    const auto mean = exact.decision(asked.x), found = free.decision(asked.x);
    const auto deviation = predictive_deviation(exact, asked.x);
    const auto above = predictive_deviation(free, asked.x);
    for (std::size_t i = 0; i < asked.size(); ++i) {
        EXPECT_NEAR(found(i, 0), mean(i, 0), 1e-6);
        EXPECT_NEAR(above[i], deviation[i], 1e-5);
        EXPECT_GE(above[i] * above[i], deviation[i] * deviation[i] - 1e-12);
    }
}

TEST(GaussianProcess, WithoutItsMatrixHoldsTheEvidenceBetweenTwoNumbers) {
    for (const bool weighted : {false, true}) {
        for (const double gamma : {0.05, 0.7, 20.0}) {
            const Dataset data = wave(200, 13, weighted);
            GaussianProcessSettings settings{
                .common = with_kernel("rbf(gamma=" + std::to_string(gamma) + ")"), .noise = 0.1};
            const double exact =
                gaussian_process(settings).fit(data).report().figures.at("log_evidence");
            const Model free = gaussian_process(without_matrix(settings, data.size())).fit(data);
            const auto& figures = free.report().figures;
            EXPECT_FALSE(figures.contains("log_evidence"));
            EXPECT_LE(figures.at("log_evidence_at_least"), exact) << gamma;
            EXPECT_GE(figures.at("log_evidence_at_most"), exact) << gamma;
            // A smooth process is all in the preconditioner.
            if (gamma < 0.1) {
                EXPECT_NEAR(figures.at("log_evidence_at_least"), exact, 0.1);
                EXPECT_NEAR(figures.at("log_evidence_at_most"), exact, 0.1);
            }
            if (weighted) {
                EXPECT_THROW(predictive_deviation(free, data.x), InvalidInput);
            }
        }
    }
}

TEST(GaussianProcess, WithoutItsMatrixFindsParametersOnSomeRows) {
    const Dataset data = wave(150, 14);
    GaussianProcessSettings settings{.common = with_kernel("rbf(gamma=3)"), .optimise = true};
    const Model free = gaussian_process(without_matrix(settings, data.size())).fit(data);
    const double rows = free.report().figures.at("searched_rows");
    EXPECT_LT(rows, 150);
    EXPECT_GT(rows, 140);
    EXPECT_NE(free.expansion().kernel.text(), "rbf(gamma=3)");
    settings.common.memory_bytes = 40;  // room for next to nothing: few rows, and no endless search
    EXPECT_LE(gaussian_process(settings).fit(data).report().figures.at("searched_rows"), 2);
}

TEST(GaussianProcess, RefusesWhatItCannotDo) {
    const Dataset data = wave(30, 9);
    EXPECT_THROW(gaussian_process({.noise = 0}).fit(data), InvalidInput);
    EXPECT_THROW(gaussian_process({.common = with_kernel("-1*linear")}).fit(data), InvalidInput);
    EXPECT_THROW(gaussian_process({.common = with_kernel("-1*linear"), .optimise = true}).fit(data),
                 InvalidInput);
    EXPECT_THROW(
        gaussian_process({.common = with_kernel("ball(radius=1) + linear"), .optimise = true})
            .fit(data),
        InvalidInput);
    const Model bare = gaussian_process({.keep_factor = false}).fit(data);
    EXPECT_THROW(predictive_deviation(bare, data.x), InvalidInput);
    EXPECT_THROW(predictive_deviation(ridge().fit(data), data.x), InvalidInput);
}

}  // namespace
}  // namespace mercer
