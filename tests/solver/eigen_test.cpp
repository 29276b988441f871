#include "mercer/solver/linear/eigen.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

/// A stored matrix as an operator, for tests of this room.
class Given : public SymmetricOperator<double> {
   public:
    explicit Given(Matrix<double> k) : k_(std::move(k)) {}
    std::size_t size() const override { return k_.rows(); }
    void diagonal(std::span<double> out) const override {
        for (std::size_t i = 0; i < size(); ++i) out[i] = k_(i, i);
    }
    void rows(std::span<const std::size_t> which, MatrixView<double> out) const override {
        for (std::size_t r = 0; r < which.size(); ++r) {
            std::ranges::copy(k_.row(which[r]), out.row(r).begin());
        }
    }
    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<double> out) const override {
        for (std::size_t r = 0; r < which.size(); ++r) {
            for (std::size_t c = 0; c < columns.size(); ++c) out(r, c) = k_(which[r], columns[c]);
        }
    }
    std::uint64_t evaluations() const override { return 0; }

   private:
    Matrix<double> k_;
};

Matrix<double> random_symmetric(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    Matrix<double> k(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) k(i, j) = k(j, i) = random.normal();
    }
    return k;
}

TEST(SymmetricEigen, PairsAreOrthonormalAndSolveTheEquation) {
    constexpr std::size_t n = 40;
    const Matrix<double> k = random_symmetric(n, 1);
    const Spectrum s = symmetric_eigen(k.view());
    EXPECT_TRUE(std::ranges::is_sorted(s.values));
    for (std::size_t a = 0; a < n; ++a) {
        const auto v = s.vectors.row(a);
        for (std::size_t i = 0; i < n; ++i) {
            double image = 0;
            for (std::size_t j = 0; j < n; ++j) image += k(i, j) * v[j];
            EXPECT_NEAR(image, s.values[a] * v[i], 1e-12 * n);
        }
        for (std::size_t b = 0; b < n; ++b) {
            double dot = 0;
            for (std::size_t i = 0; i < n; ++i) dot += v[i] * s.vectors(b, i);
            EXPECT_NEAR(dot, a == b ? 1 : 0, 1e-12 * n);
        }
    }
    EXPECT_EQ(symmetric_eigen(k.view(), false).vectors.rows(), 0U);
}

TEST(ExtremeEigen, AgreesWithTheWholeSpectrum) {
    for (const std::size_t n : {5UL, 60UL, 200UL}) {
        const Matrix<double> k = random_symmetric(n, n);
        const Spectrum s = symmetric_eigen(k.view(), false);
        const Extremes e = extreme_eigen(Given(k));
        EXPECT_TRUE(e.converged);
        EXPECT_NEAR(e.smallest.value, s.values.front(), 1e-8);
        EXPECT_NEAR(e.largest.value, s.values.back(), 1e-8);
        EXPECT_LT(e.smallest.residual, 1e-6);
        EXPECT_LT(e.largest.residual, 1e-6);
    }
}

TEST(ExtremeEigen, FindsBothEndsWhenOneIsZero) {
    // Rank 3 of 80: the smallest eigenvalue is 0 with many vectors.
    constexpr std::size_t n = 80;
    Random random(4);
    Matrix<double> x(n, 3);
    for (double& value : x.values()) value = random.normal();
    Matrix<double> k(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t c = 0; c < 3; ++c) k(i, j) += x(i, c) * x(j, c);
        }
    }
    const Extremes e = extreme_eigen(Given(k));
    EXPECT_NEAR(e.smallest.value, 0, 1e-8);
    EXPECT_NEAR(e.largest.value, symmetric_eigen(k.view(), false).values.back(), 1e-8);
}

TEST(ExtremeEigen, CenteredLooksOnlyAtVectorsThatSumToZero) {
    // −|i − j| has one negative… and, on vectors that sum to 0, no negative eigenvalue.
    constexpr std::size_t n = 50;
    Matrix<double> k(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            k(i, j) = -std::abs(static_cast<double>(i) - static_cast<double>(j));
        }
    }
    EXPECT_LT(extreme_eigen(Given(k)).smallest.value, -100);
    LanczosSettings settings;
    settings.centered = true;
    EXPECT_GT(extreme_eigen(Given(k), settings).smallest.value, -1e-7);
}

TEST(ExtremeEigen, StopsWhenToldTo) {
    LanczosSettings settings;
    settings.progress = [](const Moment&) { return false; };
    EXPECT_THROW(extreme_eigen(Given(random_symmetric(30, 2)), settings), Cancelled);
    EXPECT_THROW(extreme_eigen(Given(random_symmetric(2, 2))), InvalidInput);
}

}  // namespace
}  // namespace mercer
