// Several labels a row, ranked.
#include "mercer/learn/multi_label.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/support.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

using testing::message_of;

/// Label k is had where the row lies on the one side of a line through the plane, k = 0 … 3.
struct Lines {
    Rows x{};
    Matrix<double> labels{};
    Lines(std::size_t n, std::uint64_t seed, double noise = 0) : labels(n, 4) {
        Random random(seed);
        std::vector<double> values;
        for (std::size_t i = 0; i < n; ++i) {
            const double a = random.uniform(-1, 1);
            const double b = random.uniform(-1, 1);
            values.insert(values.end(), {a, b});
            for (std::size_t k = 0; k < 4; ++k) {
                const double angle = 0.7 * static_cast<double>(k);
                const double side = std::cos(angle) * a + std::sin(angle) * b - 0.2;
                labels(i, k) = side + noise * random.normal() > 0 ? 1 : 0;
            }
        }
        x = Rows::dense(std::move(values), 2);
    }
};

MultiLabelSettings settings_with(const Kernel& kernel, double c) {
    MultiLabelSettings s;
    s.common.kernel = kernel;
    s.C = c;
    return s;
}

TEST(MultiLabel, RanksAndCutsWell) {
    const Lines train(200, 1);
    const Lines test(300, 2);
    const MultiLabelModel m =
        fit_multi_label(settings_with(rbf({.gamma = 1.0}), 30), train.x, train.labels.view());
    EXPECT_TRUE(m.converged);
    EXPECT_LE(m.relative_gap, 1e-3);
    const MultiLabelScores s = multi_label_scores(m, test.x, test.labels.view());
    EXPECT_LT(s.hamming_loss, 0.12);
    EXPECT_LT(s.ranking_loss, 0.06);
    EXPECT_LT(s.one_error, 0.1);
    EXPECT_GT(s.average_precision, 0.93);
}

TEST(MultiLabel, GapIsThatOfThePrimalAsWritten) {
    const Lines data(60, 3, 0.2);
    const double c = 2;
    MultiLabelSettings settings = settings_with(rbf({.gamma = 2.0}), c);
    settings.tolerance = 1e-6;
    settings.passes = 20000;
    const MultiLabelModel m = fit_multi_label(settings, data.x, data.labels.view());
    EXPECT_TRUE(m.converged);
    // ½ Σ ‖w_k‖² + C Σ_i mean ξ, from coefficients and scores by the definition.
    const Matrix<double> f = m.scores(data.x);
    double primal = 0;
    for (std::size_t k = 0; k < 4; ++k) {
        for (std::size_t i = 0; i < 60; ++i) {
            primal += 0.5 * m.expansion.coefficients(k, i) * f(i, k);
        }
    }
    for (std::size_t i = 0; i < 60; ++i) {
        double sum = 0, pairs = 0;
        for (std::size_t a = 0; a < 4; ++a) {
            for (std::size_t b = 0; b < 4; ++b) {
                if (data.labels(i, a) != 1 || data.labels(i, b) != 0) continue;
                sum += std::max(0.0, 1 - (f(i, a) - f(i, b)));
                ++pairs;
            }
        }
        if (pairs > 0) primal += c * sum / pairs;
    }
    EXPECT_NEAR(primal, m.primal, 1e-5 * primal);
    EXPECT_LE(m.dual, m.primal);
}

TEST(MultiLabel, NonsenseIsRefused) {
    const Lines data(20, 4);
    const auto fit = [&](const Matrix<double>& labels, double c = 1) {
        return message_of([&] { fit_multi_label(settings_with(rbf(), c), data.x, labels.view()); });
    };
    EXPECT_NE(fit(data.labels, 0).find("C = 0"), std::string::npos);
    EXPECT_NE(fit(Matrix<double>(19, 4)).find("19 rows"), std::string::npos);
    EXPECT_NE(fit(Matrix<double>(20, 1)).find("two labels"), std::string::npos);
    EXPECT_NE(fit(Matrix<double>(20, 3)).find("no ranking"), std::string::npos);
    EXPECT_NE(fit(Matrix<double>(20, 3, 0.5)).find("is 0.5"), std::string::npos);
}

}  // namespace
}  // namespace mercer
