// Sources by their course in time: linear mixtures exactly, bent ones as in the source, the
// rotation by its own residual, and what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/components/ica.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/solver/linear/detail/joint_diagonal.hpp"

namespace mercer {
namespace {

using testing::message_of;

/// Sines of different pitch: by their courses nothing is easier told apart.
Matrix<double> sines(std::size_t n, std::size_t count) {
    Matrix<double> s(n, count);
    constexpr double pitch[] = {0.0073, 0.0191, 0.041};
    for (std::size_t t = 0; t < n; ++t) {
        for (std::size_t j = 0; j < count; ++j) {
            s(t, j) = std::sin(2 * std::numbers::pi * pitch[j] * static_cast<double>(t));
        }
    }
    return s;
}

Matrix<double> noise(std::size_t n, std::size_t count) {
    Random random(5);
    Matrix<double> s(n, count);
    for (double& value : s.values()) value = random.normal();
    return s;
}

Dataset straight_mixture(const Matrix<double>& s, const Matrix<double>& a) {
    Matrix<double> x(s.rows(), a.rows());
    for (std::size_t i = 0; i < x.rows(); ++i) {
        for (std::size_t j = 0; j < x.columns(); ++j) {
            x(i, j) = 3;
            for (std::size_t k = 0; k < s.columns(); ++k) x(i, j) += a(j, k) * s(i, k);
        }
    }
    Dataset data;
    data.x = Rows::dense(x.values(), x.columns());
    return data;
}

/// The first mixture of Harmeling and others: no linear map undoes it.
Dataset bent_mixture(const Matrix<double>& s) {
    Matrix<double> x(s.rows(), 2);
    for (std::size_t i = 0; i < x.rows(); ++i) {
        x(i, 0) = std::exp(s(i, 0)) - std::exp(s(i, 1));
        x(i, 1) = std::exp(-s(i, 0)) + std::exp(-s(i, 1));
    }
    Dataset data;
    data.x = Rows::dense(x.values(), x.columns());
    return data;
}

double correlation(const Matrix<double>& a, std::size_t p, const Matrix<double>& b, std::size_t q) {
    double sa = 0, sb = 0, aa = 0, bb = 0, ab = 0;
    const auto n = static_cast<double>(a.rows());
    for (std::size_t i = 0; i < a.rows(); ++i) {
        sa += a(i, p);
        sb += b(i, q);
        aa += a(i, p) * a(i, p);
        bb += b(i, q) * b(i, q);
        ab += a(i, p) * b(i, q);
    }
    return (ab - sa * sb / n) / std::sqrt((aa - sa * sa / n) * (bb - sb * sb / n));
}

/// The least, over true sources, of the largest |correlation| with one that was found.
double recovered(const Matrix<double>& found, const Matrix<double>& truth) {
    double least = 1;
    for (std::size_t q = 0; q < truth.columns(); ++q) {
        double best = 0;
        for (std::size_t p = 0; p < found.columns(); ++p) {
            best = std::max(best, std::abs(correlation(found, p, truth, q)));
        }
        least = std::min(least, best);
    }
    return least;
}

Matrix<double> mixing_of(std::size_t rows, std::size_t columns, std::vector<double> values) {
    Matrix<double> m(rows, columns);
    m.values() = std::move(values);
    return m;
}

TEST(Tdsep, UnmixesALinearMixtureBySecondOrderStatisticsAlone) {
    const Matrix<double> a = mixing_of(3, 3, {1, 0.5, 0.3, -0.6, 1, 0.4, 0.2, -0.7, 1.5});
    const Matrix<double> s = sines(2000, 3);
    const Dataset data = straight_mixture(s, a);
    const Model model = tdsep({}).fit(data);
    EXPECT_EQ(model.report().status, FitStatus::converged);
    EXPECT_LT(amari_error(unmixing_matrix(model).view(), a.view()), 0.01);
    const Matrix<double> found = model.decision(data.x);
    ASSERT_EQ(found.columns(), 3U);
    EXPECT_GT(recovered(found, s), 0.999);
    EXPECT_GT(model.report().figures.at("separation"), separated);
    // Whitened: what comes out has variance 1 and no covariance.
    double square = 0, cross = 0;
    for (std::size_t i = 0; i < found.rows(); ++i) {
        square += found(i, 0) * found(i, 0);
        cross += found(i, 0) * found(i, 1);
    }
    EXPECT_NEAR(square / 2000, 1, 1e-8);
    EXPECT_NEAR(cross / 2000, 0, 1e-8);
    const Model back = load_from_memory(save_to_memory(model));
    EXPECT_EQ(back.decision(data.x).values(), found.values());
}

TEST(Tdsep, UnmixesABentMixtureInFeatureSpaceWhereALinearMapCannot) {
    const Matrix<double> s = sines(2000, 2);
    const Dataset data = bent_mixture(s);
    TdsepSettings settings;
    settings.common.scaling = ScalingRule::parse("standard");
    EXPECT_LT(recovered(tdsep(settings).fit(data).decision(data.x), s), 0.99);
    settings.common.kernel = rbf({.sigma = 1.0});
    const Model model = tdsep(settings).fit(data);
    const Matrix<double> found = model.decision(data.x);
    ASSERT_EQ(found.columns(), 2U);
    EXPECT_GT(recovered(found, s), 0.995);
    const Report report = model.report();
    EXPECT_LE(model.expansion().size(), 100U);
    EXPECT_LT(report.figures.at("off_diagonal"), 0.2 * report.figures.at("off_diagonal_at_first"));
    for (std::size_t t = 1; t < report.history.size(); ++t) {
        EXPECT_LE(report.history[t], report.history[t - 1] * (1 + 1e-12));
    }
    EXPECT_THROW(unmixing_matrix(model), InvalidInput);
    // More components are the same ones and more.
    settings.components = 5;
    const Matrix<double> more = tdsep(settings).fit(data).decision(data.x);
    EXPECT_GT(std::abs(correlation(more, 0, found, 0)), 1 - 1e-9);
}

TEST(Tdsep, SaysWhenCoursesInTimeAreTheSame) {
    const Dataset data = straight_mixture(noise(1000, 2), mixing_of(2, 2, {1, 0.5, -0.4, 1}));
    EXPECT_LT(tdsep({}).fit(data).report().figures.at("separation"), separated);
}

TEST(Tdsep, OneRotationMakesMatricesOfCommonAxesDiagonal) {
    // C_k = V'D_k V of one rotation V about two axes.
    Matrix<double> v(3, 3);
    const double c = std::cos(0.7), s = std::sin(0.7), e = std::cos(-0.3), f = std::sin(-0.3);
    v.values() = {c, s, 0, -s * e, c * e, f, s * f, -c * f, e};
    const double diagonals[2][3] = {{1, 2, 4}, {3, -1, 0.5}};
    std::vector<Matrix<double>> all;
    for (const auto& d : diagonals) {
        Matrix<double> m(3, 3);
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 3; ++j) {
                for (std::size_t k = 0; k < 3; ++k) m(i, j) += v(k, i) * d[k] * v(k, j);
            }
        }
        all.push_back(m);
    }
    const JointDiagonal found = joint_diagonal(all, {.tolerance = 1e-12});
    EXPECT_TRUE(found.converged);
    EXPECT_GT(off_diagonal_mass(all), 0.1);
    EXPECT_LT(off_diagonal_mass(found.matrices), 1e-20);
    // And they are V C V' of the rotation told.
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            double sum = 0;
            for (std::size_t p = 0; p < 3; ++p) {
                for (std::size_t q = 0; q < 3; ++q) {
                    sum += found.rotation(i, p) * all[1](p, q) * found.rotation(j, q);
                }
            }
            EXPECT_NEAR(sum, found.matrices[1](i, j), 1e-12);
        }
    }
}

TEST(Tdsep, RefusesWhatCannotBeSeparated) {
    const Matrix<double> a = mixing_of(2, 2, {1, 0.5, -0.4, 1});
    const Dataset data = straight_mixture(sines(100, 2), a);
    TdsepSettings s;
    s.lags = 60;
    EXPECT_NE(message_of([&] { tdsep(s).fit(data); }).find("at most 50"), std::string::npos);
    s = {};
    s.components = 3;
    EXPECT_NE(message_of([&] { tdsep(s).fit(data); }).find("2 directions"), std::string::npos);
    s = {};
    s.common.kernel = rbf({.sigma = 0.1});
    s.basis = 80;
    EXPECT_NE(message_of([&] { tdsep(s).fit(data); }).find("twice as many"), std::string::npos);
    EXPECT_THROW(tdsep({.lags = 0}).fit(data), InvalidInput);
    EXPECT_THROW(tdsep({}).fit(straight_mixture(Matrix<double>(100, 2), a)), InvalidInput);
    Dataset weighted = data;
    weighted.weights.assign(100, 1.0);
    weighted.weights[3] = 2;
    EXPECT_THROW(tdsep({}).fit(weighted), InvalidInput);
}

TEST(Tdsep, StopsWhenTold) {
    const Dataset data = bent_mixture(sines(500, 2));
    TdsepSettings s;
    s.common.kernel = rbf({.sigma = 1.0});
    int calls = 0;
    s.common.progress = [&](const Moment& m) { return m.task != "training" || ++calls < 30; };
    const Model model = tdsep(s).fit(data);
    EXPECT_EQ(model.report().status, FitStatus::cancelled);
    EXPECT_EQ(model.decision(data.x).columns(), 2U);
    s.common.progress = [](const Moment&) { return false; };
    EXPECT_THROW(tdsep(s).fit(data), Cancelled);
}

}  // namespace
}  // namespace mercer
