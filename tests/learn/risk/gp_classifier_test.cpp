// Gaussian process classification: the mode against its own equations, the evidence and its slope,
// averages against a finer rule, files, several classes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/risk/gp_classifier.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;
using testing::points;
using testing::with_double_rows;

double sigma(double f) {
    return 1 / (1 + std::exp(-f));
}

Dataset two_moons(std::size_t n, std::uint64_t seed = 1) {
    return with_double_rows(make("moons", {.n = n, .noise = 0.4, .seed = seed}));
}

TEST(GpClassifier, CoefficientsAreTheSlopesAtTheMode) {
    const Dataset data = two_moons(80);
    const Model model =
        gp_classifier({.common = {.kernel = Kernel::parse("3*rbf(gamma=0.8)")}}).fit(data);
    const Latent f = latent_of(model, data.x);
    for (std::size_t i = 0; i < data.size(); ++i) {
        const double y = data.y.values[i] < 0 ? 1 : -1;  // the first class is −1
        EXPECT_NEAR(model.expansion().coefficients(0, i), y * sigma(-y * f.mean(i, 0)), 1e-9);
    }
    const Report r = model.report();
    EXPECT_TRUE(r.is_bracketed());
    EXPECT_LE(r.relative_gap, 1e-10);
    EXPECT_GE(r.primal, r.dual - 1e-12);
}

TEST(GpClassifier, TheModeIsTheLogisticMachineWithHalfALambda) {
    const Dataset data = two_moons(60);
    const Kernel k = Kernel::parse("2*rbf(gamma=1)");
    const Model process = gp_classifier({.common = {.kernel = k}}).fit(data);
    const Model machine = RiskMinimiser({.loss = Loss::logistic,
                                         .common = {.kernel = k, .double_precision = true},
                                         .lambda = 0.5,
                                         .bias = false,
                                         .tolerance = 1e-12})
                              .fit(data);
    const Rows test = two_moons(20, 7).x;
    const Latent f = latent_of(process, test);
    const Matrix<double> g = machine.decision(test);
    for (std::size_t i = 0; i < g.rows(); ++i) EXPECT_NEAR(f.mean(i, 0), g(i, 0), 1e-5);
}

/// (K + W⁻¹)⁻¹ by elimination, for few points.
TEST(GpClassifier, VarianceIsThatOfTheFormula) {
    const Dataset data = points({{0}, {1}, {2.5}}, {1, 2, 1});
    const Kernel k = Kernel::parse("4*rbf(gamma=0.5)");
    const Model model = gp_classifier({.common = {.kernel = k}}).fit(data);
    const auto x = full(data.x);
    const std::vector<double> at{1.7};
    const Latent f = latent_of(model, points({at}).x);
    const Latent own = latent_of(model, data.x);
    double a[3][4];
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) a[i][j] = k(x[i], x[j]);
        const double p = sigma(own.mean(i, 0));
        a[i][i] += 1 / (p * (1 - p));
        a[i][3] = k(x[i], at);
    }
    for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t r = 0; r < 3; ++r) {
            if (r == c) continue;
            const double factor = a[r][c] / a[c][c];
            for (std::size_t j = 0; j < 4; ++j) a[r][j] -= factor * a[c][j];
        }
    }
    double variance = k(at, at);
    for (std::size_t i = 0; i < 3; ++i) variance -= k(x[i], at) * a[i][3] / a[i][i];
    EXPECT_NEAR(f.variance(0, 0), variance, 1e-9);
}

TEST(GpClassifier, SlopesOfTheEvidenceAreItsDifferences) {
    const Dataset data = two_moons(40);
    std::vector<double> signs, weights;
    for (std::size_t i = 0; i < data.size(); ++i) {
        signs.push_back(data.y.values[i] < 0 ? 1 : -1);
        weights.push_back(0.5 + 0.1 * static_cast<double>(i % 10));
    }
    const GramGradient k(Kernel::parse("2*rbf(sigma=0.7) + 0.3*linear"), data.x);
    for (const auto& w : {std::vector<double>{}, weights}) {
        const LatentEvidence e = latent_evidence(k, signs, w);
        ASSERT_TRUE(e.defined);
        ASSERT_EQ(e.gradient.size(), k.parameters().size());
        for (std::size_t p = 0; p < e.gradient.size(); ++p) {
            std::vector<double> up, down;
            for (const KernelParameter& own : k.parameters()) up.push_back(own.value);
            down = up;
            const double h = 1e-5;
            up[p] += h;
            down[p] -= h;
            const double slope = (latent_evidence(k.with(up), signs, w, false).value -
                                  latent_evidence(k.with(down), signs, w, false).value) /
                                 (2 * h);
            EXPECT_NEAR(e.gradient[p], slope, 1e-6 * (1 + std::abs(slope))) << p;
        }
    }
}

TEST(GpClassifier, AveragesAreIntegrals) {
    for (const double mean : {0.0, 0.3, -2.0, 7.0}) {
        for (const double deviation : {0.05, 1.0, 4.0, 30.0}) {
            double sum = 0, norm = 0;
            const double h = 1e-4 * deviation;
            for (double z = mean - 12 * deviation; z < mean + 12 * deviation; z += h) {
                const double t = (z - mean) / deviation;
                sum += sigma(z) * std::exp(-0.5 * t * t);
                norm += std::exp(-0.5 * t * t);
            }
            const double variance = deviation * deviation;
            const double odds = averaged_log_odds(mean, variance, LatentAverage::exact);
            EXPECT_NEAR(sigma(odds), sum / norm, 1e-10) << mean << ' ' << deviation;
            const double rough = averaged_log_odds(mean, variance, LatentAverage::error_functions);
            EXPECT_NEAR(sigma(rough), sum / norm, 5e-4) << mean << ' ' << deviation;
        }
    }
    EXPECT_EQ(averaged_log_odds(1.5, 0, LatentAverage::exact), 1.5);
    // Far out the odds are still told: e^(−40 + ½).
    EXPECT_NEAR(averaged_log_odds(40, 1, LatentAverage::exact), 39.5, 1e-9);
}

TEST(GpClassifier, OptimisingRaisesTheEvidenceAndHoldsWhatIsFixed) {
    const Dataset data = two_moons(70);
    const Kernel k = Kernel::parse("rbf(sigma=3)*2");
    const auto evidence = [](const Model& m) { return m.reports()[0].figures.at("log_evidence"); };
    const Model given = gp_classifier({.common = {.kernel = k}}).fit(data);
    const Model best = gp_classifier({.common = {.kernel = k}, .optimise = true}).fit(data);
    EXPECT_GT(evidence(best), evidence(given) + 1);
    EXPECT_NEAR(best.reports()[0].history.back(), evidence(best), 1e-6);
    // At the optimum the slopes vanish.
    std::vector<double> signs;
    for (const double y : data.y.values) signs.push_back(y < 0 ? 1 : -1);
    const GramGradient at(best.expansion().kernel, data.x);
    const LatentEvidence e = latent_evidence(at, signs);
    for (std::size_t p = 0; p < e.gradient.size(); ++p) {
        EXPECT_NEAR(e.gradient[p] * at.parameters()[p].value, 0, 1e-3);
    }
    const Model held =
        gp_classifier({.common = {.kernel = k}, .optimise = true, .fixed = {"sigma"}}).fit(data);
    EXPECT_NE(held.expansion().kernel.text().find("sigma=3"), std::string::npos);
    EXPECT_LT(evidence(held), evidence(best));
    EXPECT_NE(message_of([&] {
                  gp_classifier({.common = {.kernel = k}, .optimise = true, .fixed = {"noise"}})
                      .fit(data);
              }).find("factor"),
              std::string::npos);
}

TEST(GpClassifier, SeveralClassesAreSavedAndReduced) {
    const Dataset data = with_double_rows(make("blobs", {.n = 90, .noise = 2.5, .classes = 3}));
    const Model model =
        machine_entry("gpc").make({.kernel = Kernel::parse("5*rbf(gamma=0.2)")}, {}).fit(data);
    ASSERT_EQ(model.reports().size(), 3U);
    const Rows test = make("blobs", {.n = 30, .noise = 2.5, .seed = 5, .classes = 3}).x.to_double();
    const Matrix<double> p = model.probabilities(test);
    const std::vector<double> found = model.predict(test);
    for (std::size_t i = 0; i < p.rows(); ++i) {
        double sum = 0;
        for (const double x : p.row(i)) sum += x;
        EXPECT_NEAR(sum, 1, 1e-12);
        const auto best = std::ranges::max_element(p.row(i)) - p.row(i).begin();
        EXPECT_EQ(found[i], static_cast<double>(best));
    }
    const Model again = load_from_memory(save_to_memory(model), "model");
    EXPECT_EQ(again.probabilities(test).values(), p.values());
    const Model shorter = reduce(model, {.vectors = 20}).model;
    EXPECT_FALSE(shorter.extras().find<LatentFactors>());
    EXPECT_EQ(shorter.probabilities(test).rows(), test.size());
    // A class of its own seen as one of two is the same process.
    Dataset two = data;
    for (double& y : two.y.values) y = y == 1 ? 0 : 1;
    const Model binary =
        gp_classifier({.common = {.kernel = Kernel::parse("5*rbf(gamma=0.2)")}}).fit(two);
    const Matrix<double> f = model.decision(test), g = binary.decision(test);
    for (std::size_t i = 0; i < f.rows(); ++i) EXPECT_NEAR(f(i, 1), g(i, 0), 1e-9);
}

TEST(GpClassifier, IsTheSameForAnyNumberOfThreadsAndWeightsAreRows) {
    const Dataset data = two_moons(60);
    const GpClassifierSettings s{.common = {.kernel = Kernel::parse("2*rbf(gamma=1)")}};
    const Rows test = two_moons(15, 3).x;
    const Matrix<double> one = [&] {
        const ThreadLimit limit(1);
        return gp_classifier(s).fit(data).decision(test);
    }();
    const ThreadLimit limit(3);
    EXPECT_EQ(gp_classifier(s).fit(data).decision(test).values(), one.values());
    Dataset weighted = data;
    std::vector<std::size_t> repeated;
    for (std::size_t i = 0; i < data.size(); ++i) {
        weighted.weights.push_back(static_cast<double>(i % 3));
        repeated.insert(repeated.end(), i % 3, i);
    }
    const Matrix<double> f = gp_classifier(s).fit(weighted).decision(test);
    const Matrix<double> g = gp_classifier(s).fit(data.select(repeated)).decision(test);
    for (std::size_t i = 0; i < f.rows(); ++i) EXPECT_NEAR(f(i, 0), g(i, 0), 1e-8);
}

TEST(GpClassifier, MistakesAreNamed) {
    const Dataset data = two_moons(30);
    EXPECT_NE(message_of([&] {
                  gp_classifier({.common = {.kernel = Kernel::parse("-1*linear")}}).fit(data);
              }).find("positive definite"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  gp_classifier({.common = {.kernel = rbf({.gamma = 1.0}), .memory_bytes = 1000}})
                      .fit(data);
              }).find("bytes"),
              std::string::npos);
    const Model without =
        gp_classifier({.common = {.kernel = rbf({.gamma = 1.0})}, .keep_factor = false}).fit(data);
    EXPECT_NE(message_of([&] { latent_of(without, data.x); }).find("factors"), std::string::npos);
    // The answer without averaging is that of the mode.
    const Matrix<double> f = without.decision(data.x);
    EXPECT_NEAR(without.probabilities(data.x)(0, 0), sigma(f(0, 0)), 1e-9);
}

}  // namespace
}  // namespace mercer
