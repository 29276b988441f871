// Newton's method in the space of weights beside that for a stored matrix, by stationarity, and for
// any number of threads.
#include "mercer/learn/risk/detail/newton_weights.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numeric>

#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/risk/detail/loss_sums.hpp"
#include "mercer/learn/risk/detail/loss_tile.hpp"

namespace mercer {
namespace {

constexpr double delta = 0.7;
constexpr std::array smooth_losses{Loss::logistic, Loss::squared_hinge, Loss::huber, Loss::hinge};

bool has_signs(Loss loss) {
    return loss != Loss::huber;
}

/// Rows with targets that depend on them, and weights.
struct ExplicitSample {
    ExplicitRows<double> rows{};
    Matrix<double> gram{};
    std::vector<double> target{}, weights{};

    RiskProblem problem(Loss loss, bool bias, const RiskMatrix& k) const {
        return {.k = &k,
                .target = target,
                .weights = weights,
                .loss = {.loss = loss, .delta = delta},
                .lambda = 0.3,
                .bias = bias};
    }
};

ExplicitSample explicit_sample(std::size_t n, std::size_t columns, bool sparse, bool signs) {
    Random random(n + columns);
    constexpr std::size_t entries = 6;
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    std::vector<double> values, dense(n * columns, 0.0);
    ExplicitSample sample;
    for (std::size_t i = 0; i < n; ++i) {
        double f = 0.4;
        for (std::size_t e = 0; e < entries; ++e) {
            const std::size_t share = columns / entries;
            const std::size_t k = e * share + random.below(share);
            const double x = random.normal() + 0.2;
            index.push_back(static_cast<std::uint32_t>(k));
            values.push_back(x);
            dense[i * columns + k] = x;
            f += x * std::cos(static_cast<double>(k));
        }
        starts.push_back(values.size());
        f += 0.8 * random.normal();
        sample.target.push_back(signs ? (f > 0 ? 1 : -1) : f);
        sample.weights.push_back(0.3 + random.uniform());
    }
    sample.gram = Matrix<double>(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const double* const a = dense.data() + i * columns;
            sample.gram(i, j) = std::inner_product(a, a + columns, dense.data() + j * columns, 0.0);
        }
    }
    sample.rows = sparse ? ExplicitRows<double>::sparse(columns, starts, index, values)
                         : ExplicitRows<double>::dense(n, columns, std::move(dense));
    return sample;
}

TEST(LossTile, IsTheLossOfEachRow) {
    Random random(1);
    for (const Loss loss : smooth_losses) {
        const LossFunction f{.loss = loss, .delta = delta};
        LossTile tile;
        std::vector<double> y(loss_tile_rows);
        for (std::size_t k = 0; k < y.size(); ++k) {
            const double scale = k % 9 == 0 ? 2000 : 3;
            tile.z[k] = k % 50 == 0 ? 0.0 : scale * random.normal();
            y[k] = has_signs(loss) ? (k % 2 == 0 ? 1 : -1) : random.normal();
        }
        for (const bool with_value : {false, true}) {
            tile.evaluate(f, y.data(), y.size(), with_value);
            for (std::size_t k = 0; k < y.size(); ++k) {
                const double z = tile.z[k], value = f.value(y[k], z);
                if (with_value) {
                    ASSERT_NEAR(tile.value[k], value, 4e-16 + 1e-14 * value);
                }
                ASSERT_NEAR(tile.slope[k], f.slope(y[k], z),
                            1e-300 + 1e-14 * std::abs(f.slope(y[k], z)));
                ASSERT_NEAR(tile.curvature[k], f.curvature(y[k], z), 1e-15);
            }
        }
    }
}

TEST(LossOverRows, TheBestBiasBalancesTheSlopes) {
    Random random(2);
    std::vector<double> image(3000), slopes(3000), curvatures(3000);
    for (double& z : image) z = 5 * random.normal() - 40;
    for (const Loss loss : smooth_losses) {
        const ExplicitSample sample = explicit_sample(3000 / 100, 60, false, has_signs(loss));
        std::vector<double> y, w;
        for (std::size_t i = 0; i < image.size(); ++i) {
            y.push_back(sample.target[i % sample.target.size()]);
            w.push_back(sample.weights[i % sample.weights.size()]);
        }
        const RiskProblem problem{
            .target = y, .weights = w, .loss = {.loss = loss, .delta = delta}};
        const LossOverRows losses(problem);
        const double b = losses.best_bias(image, 0);
        EXPECT_NEAR(losses.look(image, b).slope, 0, 1e-9);
        losses.derive(0, image, b, slopes, curvatures);
        EXPECT_NEAR(std::accumulate(slopes.begin(), slopes.end(), 0.0), 0, 1e-9);
        EXPECT_LE(losses.look(image, b).value, losses.look(image, b + 0.01).value);
        EXPECT_LE(losses.look(image, b).value, losses.look(image, b - 0.01).value);
        EXPECT_EQ(losses.value(image, slopes, 0, b), losses.look(image, b).value);
    }
}

/// 2500 columns are too many for a factor: conjugate gradients.
TEST(NewtonWeights, FindsWhatTheStoredMatrixFinds) {
    for (const std::size_t columns : {std::size_t{30}, std::size_t{2500}}) {
        for (const Loss loss : {Loss::logistic, Loss::squared_hinge, Loss::huber}) {
            for (const bool bias : {false, true}) {
                const bool sparse = columns > 30 || bias;
                SCOPED_TRACE(::testing::Message() << columns << " columns, loss "
                                                  << static_cast<int>(loss) << ", bias " << bias);
                const ExplicitSample sample =
                    explicit_sample(150, columns, sparse, has_signs(loss));
                const StoredRiskMatrix stored(sample.gram.view());
                const RiskProblem problem = sample.problem(loss, bias, stored);
                const NewtonSettings settings{.relative_gap = 1e-10};
                const RiskSolution a = minimise_risk(problem, settings);
                const RiskSolution b = minimise_risk(problem, sample.rows, settings);
                EXPECT_EQ(b.status, FitStatus::converged);
                EXPECT_LE(b.primal - b.dual, 1e-10 * b.primal);
                EXPECT_NEAR(a.primal, b.primal, 2e-10 * a.primal);
                EXPECT_NEAR(a.bias, b.bias, 1e-3);
                // The machine is what its coefficients say, which are stationary: 2λα = −ω ℓ'.
                std::vector<double> image(a.image.size());
                stored.multiply(b.alpha, image);
                for (std::size_t i = 0; i < image.size(); ++i) {
                    ASSERT_NEAR(b.image[i], a.image[i], 1e-3);
                    ASSERT_NEAR(b.image[i], image[i], 1e-9);
                    const double slope = problem.weight(i) *
                                         problem.loss.slope(problem.target[i], image[i] + b.bias);
                    ASSERT_NEAR(2 * problem.lambda * b.alpha[i], -slope, 1e-3);
                }
            }
        }
    }
}

TEST(NewtonWeights, HaveTheSameBitsForAnyNumberOfThreads) {
    for (const bool sparse : {false, true}) {
        for (const std::size_t columns : {std::size_t{40}, std::size_t{2500}}) {
            if (!sparse && columns > 40) continue;
            ExplicitSample sample = explicit_sample(200, columns, sparse, true);
            // Rows enough for several pieces, the same ones again and again.
            constexpr std::size_t times = 30;
            std::vector<double> values, target, weights;
            std::vector<std::uint32_t> index;
            std::vector<std::size_t> starts{0};
            for (std::size_t t = 0; t < times; ++t) {
                values.insert(values.end(), sample.rows.values.begin(), sample.rows.values.end());
                index.insert(index.end(), sample.rows.index.begin(), sample.rows.index.end());
                target.insert(target.end(), sample.target.begin(), sample.target.end());
                weights.insert(weights.end(), sample.weights.begin(), sample.weights.end());
            }
            while (sparse && starts.back() < values.size()) starts.push_back(starts.back() + 6);
            sample.rows = sparse ? ExplicitRows<double>::sparse(columns, starts, index, values)
                                 : ExplicitRows<double>::dense(200 * times, columns, values);
            sample.target = target;
            sample.weights = weights;
            const ExplicitRiskMatrix k(sample.rows);
            const RiskProblem problem = sample.problem(Loss::logistic, true, k);
            std::vector<RiskSolution> found;
            for (const std::size_t count : {1, 2, 4}) {
                const ThreadLimit limit(count);
                found.push_back(minimise_risk(problem, sample.rows, {.relative_gap = 1e-8}));
                EXPECT_EQ(found.back().status, FitStatus::converged);
                EXPECT_EQ(found.front().alpha, found.back().alpha);
                EXPECT_EQ(found.front().bias, found.back().bias);
                EXPECT_EQ(found.front().dual, found.back().dual);
                EXPECT_EQ(found.front().history, found.back().history);
            }
        }
    }
}

TEST(NewtonWeights, GoesOnFromCoefficientsAndStopsWithACertificate) {
    const ExplicitSample sample = explicit_sample(150, 30, true, true);
    const StoredRiskMatrix stored(sample.gram.view());
    const RiskProblem problem = sample.problem(Loss::logistic, true, stored);
    NewtonSettings settings{.relative_gap = 1e-9};
    const RiskSolution whole = minimise_risk(problem, sample.rows, settings);
    settings.start = whole.alpha;
    EXPECT_LE(minimise_risk(problem, sample.rows, settings).iterations, 1U);
    settings.start = {};
    std::size_t asked = 0;
    settings.interrupted = [&] {
        return ++asked > 2 ? FitStatus::time_limit : FitStatus::converged;
    };
    const RiskSolution cut = minimise_risk(problem, sample.rows, settings);
    EXPECT_EQ(cut.status, FitStatus::time_limit);
    EXPECT_EQ(cut.iterations, 2U);
    EXPECT_GE(cut.primal, whole.primal * (1 - 1e-12));
    EXPECT_LE(cut.dual, whole.primal * (1 + 1e-12));
    EXPECT_GT(cut.primal - cut.dual, 1e-9 * cut.primal);
    RiskSolution again = cut;
    stored.multiply(again.alpha, again.image);
    certify_risk(problem, again);
    EXPECT_NEAR(again.primal, cut.primal, 1e-9 * cut.primal);
    EXPECT_NEAR(again.dual, cut.dual, 1e-9 * cut.primal);
    settings.iteration_limit = 0;
    settings.interrupted = nullptr;
    EXPECT_EQ(minimise_risk(problem, sample.rows, settings).status, FitStatus::iteration_limit);
}

}  // namespace
}  // namespace mercer
