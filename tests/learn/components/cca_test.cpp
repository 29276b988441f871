// Kernel canonical correlation: classical CCA as a special case, the constraint and the optimum by
// definition, held-out rows, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "learn/small.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/learn/components/cca.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

using testing::message_of;

struct Views {
    Dataset x, y;
};

Dataset rows_of_matrix(const Matrix<double>& m) {
    Dataset data;
    data.x = Rows::dense(m.values(), m.columns());
    return data;
}

/// Two views of one angle: a circle seen straight, and its second harmonic beside noise. No linear
/// function of the one tells anything of the other.
Views circles(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    Matrix<double> x(n, 2), y(n, 3);
    for (std::size_t i = 0; i < n; ++i) {
        const double t = random.uniform(0, 2 * std::numbers::pi);
        x(i, 0) = std::cos(t) + 0.05 * random.normal();
        x(i, 1) = std::sin(t) + 0.05 * random.normal();
        y(i, 0) = std::cos(2 * t) + 0.05 * random.normal();
        y(i, 1) = std::sin(2 * t) + 0.05 * random.normal();
        y(i, 2) = random.normal();
    }
    return {rows_of_matrix(x), rows_of_matrix(y)};
}

CcaSettings settings(const Kernel& kx, const Kernel& ky, double kappa, std::size_t pairs) {
    CcaSettings s;
    s.x.kernel = kx;
    s.y_kernel = ky;
    s.kappa = kappa;
    s.pairs = pairs;
    return s;
}

double mean(std::span<const double> v) {
    return std::accumulate(v.begin(), v.end(), 0.0) / static_cast<double>(v.size());
}

double covariance(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - mean(a)) * (b[i] - mean(b));
    return sum / static_cast<double>(a.size());
}

std::vector<double> column(const Matrix<double>& m, std::size_t j) {
    std::vector<double> result;
    for (std::size_t i = 0; i < m.rows(); ++i) result.push_back(m(i, j));
    return result;
}

TEST(Cca, WithoutPenaltyAndLinearIsTheClassicalOne) {
    // x = (a, b), y = (a + noise, c): the covariances are those of the sample, whatever it is.
    Random random(3);
    constexpr std::size_t n = 60;
    Matrix<double> x(n, 2), y(n, 2);
    for (std::size_t i = 0; i < n; ++i) {
        const double a = random.normal(), b = random.normal();
        x(i, 0) = a + 3;
        x(i, 1) = 0.5 * a + b;
        y(i, 0) = a + 0.5 * random.normal();
        y(i, 1) = b - random.normal() - 7;
    }
    const Model model =
        kernel_cca(settings(linear(), linear(), 0, 2)).fit(rows_of_matrix(x), rows_of_matrix(y));
    // ρ² are the eigenvalues of Sxx⁻¹ Sxy Syy⁻¹ Syx: of a 2 × 2 matrix, from trace and determinant.
    double sxx[2][2], syy[2][2], sxy[2][2];
    for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            sxx[i][j] = covariance(column(x, i), column(x, j));
            syy[i][j] = covariance(column(y, i), column(y, j));
            sxy[i][j] = covariance(column(x, i), column(y, j));
        }
    }
    const auto det = [](const double(&m)[2][2]) { return m[0][0] * m[1][1] - m[0][1] * m[1][0]; };
    const auto inverse = [&](const double(&m)[2][2], double(&out)[2][2]) {
        out[0][0] = m[1][1] / det(m);
        out[1][1] = m[0][0] / det(m);
        out[0][1] = -m[0][1] / det(m);
        out[1][0] = -m[1][0] / det(m);
    };
    double ix[2][2], iy[2][2], m[2][2] = {{0, 0}, {0, 0}};
    inverse(sxx, ix);
    inverse(syy, iy);
    for (std::size_t i = 0; i < 2; ++i) {
        for (std::size_t j = 0; j < 2; ++j) {
            for (std::size_t a = 0; a < 2; ++a) {
                for (std::size_t b = 0; b < 2; ++b) {
                    for (std::size_t c = 0; c < 2; ++c) {
                        m[i][j] += ix[i][a] * sxy[a][b] * iy[b][c] * sxy[j][c];
                    }
                }
            }
        }
    }
    const double half = (m[0][0] + m[1][1]) / 2, root = std::sqrt(half * half - det(m));
    const Matrix<double>& found = model.extras().array("correlations");
    ASSERT_EQ(found.rows(), 2U);
    EXPECT_NEAR(found(0, 0), std::sqrt(half + root), 1e-9);
    EXPECT_NEAR(found(1, 0), std::sqrt(half - root), 1e-9);
    EXPECT_NEAR(found(0, 1), found(0, 0), 1e-9);  // nothing is regularised
    // Scores: mean 0, variance 1, pairs uncorrelated, and the correlation as said.
    const Matrix<double> f = model.decision(rows_of_matrix(x).x);
    const Matrix<double> g = companion_of(model)->decision(rows_of_matrix(y).x);
    EXPECT_NEAR(mean(column(f, 0)), 0, 1e-9);
    EXPECT_NEAR(covariance(column(f, 1), column(f, 1)), 1, 1e-9);
    EXPECT_NEAR(covariance(column(f, 0), column(f, 1)), 0, 1e-9);
    EXPECT_NEAR(covariance(column(f, 0), column(g, 0)), found(0, 0), 1e-9);
    EXPECT_NEAR(covariance(column(f, 0), column(g, 1)), 0, 1e-9);
}

/// var f + κ‖f‖² of output p, by the definition.
double penalised(const Model& model, const Rows& x, std::size_t p, double kappa) {
    const std::vector<double> f = column(model.decision(x), p);
    // ‖f‖² about the mean of the images: f has no part along it that the variance does not see, but
    // its norm counts as it stands.
    const FeatureVector w = weight_vector(model.expansion(), p);
    return covariance(f, f) + kappa * inner(w, w);
}

TEST(Cca, TheRegularisedCorrelationIsThatOfTheDefinitionAndNoFunctionDoesBetter) {
    const Views train = circles(150, 1);
    const Kernel kx = rbf({.gamma = 1.0}), ky = rbf({.gamma = 0.3});
    constexpr double kappa = 0.01;
    const Model model = kernel_cca(settings(kx, ky, kappa, 3)).fit(train.x, train.y);
    const Matrix<double>& rho = model.extras().array("correlations");
    const Matrix<double> f = model.decision(train.x.x);
    const Matrix<double> g = companion_of(model)->decision(train.y.x);
    for (std::size_t p = 0; p < 3; ++p) {
        const double value = covariance(column(f, p), column(g, p)) /
                             std::sqrt(penalised(model, train.x.x, p, kappa) *
                                       penalised(*companion_of(model), train.y.x, p, kappa));
        EXPECT_NEAR(value, rho(p, 0), 1e-6) << p;
        EXPECT_NEAR(covariance(column(f, p), column(g, p)), rho(p, 1), 1e-8) << p;
    }
    EXPECT_GT(rho(0, 0), 0.5);
    EXPECT_GE(rho(0, 0), rho(1, 0));
    // Any other pair of functions is correlated less: random ones near the optimum.
    Random random(5);
    for (int trial = 0; trial < 20; ++trial) {
        Model a = model;
        Model b = *companion_of(model);
        for (Model* m : {&a, &b}) {
            ModelParts parts = m->parts();
            const auto row = parts.expansion.coefficients.row(0);
            double size = 0;
            for (const double c : row) size = std::max(size, std::abs(c));
            for (double& c : row) c += 0.01 * size * random.normal();
            parts.double_precision = true;
            *m = Model(std::move(parts));
        }
        const double other =
            covariance(column(a.decision(train.x.x), 0), column(b.decision(train.y.x), 0)) /
            std::sqrt(penalised(a, train.x.x, 0, kappa) * penalised(b, train.y.x, 0, kappa));
        EXPECT_LE(other, rho(0, 0) + 1e-9);
    }
}

TEST(Cca, FindsOnNewRowsWhatNoLinearFunctionSees) {
    const Views train = circles(400, 1), test = circles(400, 2);
    const Kernel kx = rbf({.gamma = 1.0}), ky = rbf({.gamma = 0.3});
    const Model model = kernel_cca(settings(kx, ky, 0.02, 2)).fit(train.x, train.y);
    const std::vector<double> held = canonical_correlations(model, test.x.x, test.y.x);
    ASSERT_EQ(held.size(), 2U);
    EXPECT_GT(held[0], 0.9);
    EXPECT_GT(held[1], 0.9);
    const Model straight = kernel_cca(settings(linear(), linear(), 0.02, 1)).fit(train.x, train.y);
    EXPECT_LT(canonical_correlations(straight, test.x.x, test.y.x)[0], 0.3);
    // Rows that do not belong together are not correlated, however well the sample was.
    const Model chance = kernel_cca(settings(kx, ky, 1e-6, 1)).fit(train.x, test.y);
    EXPECT_GT(chance.extras().array("correlations")(0, 1), 0.6);
    const Views third = circles(400, 3);
    EXPECT_LT(std::abs(canonical_correlations(chance, test.x.x, third.y.x)[0]), 0.3);
}

TEST(Cca, WeightsCountAsRepetitions) {
    Views once = circles(30, 4);
    std::vector<std::size_t> repeated;
    for (std::size_t i = 0; i < 30; ++i) {
        once.x.weights.push_back(i % 3 == 0 ? 2 : i % 3 == 1 ? 1 : 0);
        for (int k = 0; k < static_cast<int>(once.x.weights.back()); ++k) repeated.push_back(i);
    }
    Dataset plain = once.x;
    plain.weights.clear();
    const CcaSettings s = settings(rbf({.gamma = 1.0}), rbf({.gamma = 0.3}), 0.1, 2);
    const Model weighted = kernel_cca(s).fit(once.x, once.y);
    const Model copied = kernel_cca(s).fit(plain.select(repeated), once.y.select(repeated));
    for (std::size_t p = 0; p < 2; ++p) {
        EXPECT_NEAR(weighted.extras().array("correlations")(p, 0),
                    copied.extras().array("correlations")(p, 0), 1e-7);
    }
    EXPECT_NEAR(weighted.decision(plain.x)(0, 0), copied.decision(plain.x)(0, 0), 1e-4);
}

TEST(Cca, ALowerRankMissesWhatItSaysAndThreadsChangeNothing) {
    const Views train = circles(200, 1);
    CcaSettings s = settings(rbf({.gamma = 1.0}), rbf({.gamma = 0.3}), 0.02, 2);
    const Model whole = kernel_cca(s).fit(train.x, train.y);
    s.rank = 25;
    set_threads(1);
    const Model few = kernel_cca(s).fit(train.x, train.y);
    set_threads(3);
    const Model again = kernel_cca(s).fit(train.x, train.y);
    set_threads(0);
    EXPECT_EQ(few.expansion().size(), 25U);
    EXPECT_EQ(few.report().figures.at("rank_x"), 25);
    EXPECT_GT(few.report().figures.at("missed_y"), whole.report().figures.at("missed_y"));
    EXPECT_NEAR(few.extras().array("correlations")(0, 0),
                whole.extras().array("correlations")(0, 0), 0.05);
    // LAPACK's eigenvectors are the same but for the last digits.
    for (std::size_t k = 0; k < few.expansion().coefficients.values().size(); ++k) {
        EXPECT_NEAR(few.expansion().coefficients.values()[k],
                    again.expansion().coefficients.values()[k], 1e-10);
    }
}

TEST(Cca, AModelFileHoldsBothSides) {
    const Views train = circles(50, 1);
    CcaSettings s = settings(rbf({.gamma = 1.0}), polynomial({.degree = 2}), 0.05, 2);
    s.y_scaling = ScalingRule::parse("standard");
    const Model model = kernel_cca(s).fit(train.x, train.y);
    const std::string bytes = save_to_memory(model);
    const Model back = load_from_memory(bytes);
    ASSERT_TRUE(companion_of(back));
    EXPECT_EQ(save_to_memory(back), bytes);
    EXPECT_EQ(back.decision(train.x.x).values(), model.decision(train.x.x).values());
    EXPECT_EQ(companion_of(back)->decision(train.y.x).values(),
              companion_of(model)->decision(train.y.x).values());
    EXPECT_EQ(canonical_correlations(back, train.x.x, train.y.x),
              canonical_correlations(model, train.x.x, train.y.x));
}

TEST(Cca, RefusesWhatCannotBeCorrelated) {
    const Views v = circles(20, 1);
    const CcaSettings s = settings(linear(), linear(), 0.02, 1);
    const std::vector<std::size_t> some{0, 1, 2};
    EXPECT_NE(message_of([&] { kernel_cca(s).fit(v.x, v.y.select(some)); }).find("20 rows"),
              std::string::npos);
    EXPECT_THROW(kernel_cca(settings(linear(), linear(), -1, 1)).fit(v.x, v.y), InvalidInput);
    EXPECT_THROW(kernel_cca(settings(linear(), linear(), 0.1, 0)).fit(v.x, v.y), InvalidInput);
    // More features than rows and no penalty: any correlation could be had.
    EXPECT_NE(message_of([&] {
                  kernel_cca(settings(rbf({.gamma = 9.0}), linear(), 0, 1)).fit(v.x, v.y);
              }).find("kappa"),
              std::string::npos);
    const Dataset flat = testing::points(std::vector<std::vector<double>>(20, {1.0}));
    EXPECT_THROW(kernel_cca(s).fit(flat, v.y), InvalidInput);
    CcaSettings stop = s;
    stop.x.progress = [](const Moment&) { return false; };
    EXPECT_EQ(kernel_cca(stop).fit(v.x, v.y).report().status, FitStatus::cancelled);
}

}  // namespace
}  // namespace mercer
