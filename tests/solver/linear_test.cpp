// Factorisation, conjugate gradients and L-BFGS, each by residuals.
#include "mercer/solver/linear/detail/cholesky.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/solver/detail/lbfgs.hpp"
#include "mercer/solver/linear/conjugate_gradient.hpp"
#include "mercer/solver/linear/detail/mixed_cholesky.hpp"

namespace mercer {
namespace {

/// Gaussian kernel values of random numbers: quickly falling eigenvalues.
Matrix<double> gaussian(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> x(n);
    for (double& v : x) v = random.normal();
    Matrix<double> k(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) k(i, j) = std::exp(-std::pow(x[i] - x[j], 2));
    }
    return k;
}

class Stored : public SymmetricOperator<double> {
   public:
    explicit Stored(Matrix<double> k) : k_(std::move(k)) {}
    std::size_t size() const override { return k_.rows(); }
    void diagonal(std::span<double> out) const override {
        for (std::size_t i = 0; i < size(); ++i) out[i] = k_(i, i);
    }
    void rows(std::span<const std::size_t> which, MatrixView<double> out) const override {
        for (std::size_t r = 0; r < which.size(); ++r) {
            std::copy_n(k_.row(which[r]).begin(), size(), out.row(r).begin());
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

double residual(const Matrix<double>& k, double shift, std::span<const double> x,
                std::span<const double> b) {
    double worst = 0;
    for (std::size_t i = 0; i < k.rows(); ++i) {
        double sum = shift * x[i] - b[i];
        for (std::size_t j = 0; j < k.rows(); ++j) sum += k(i, j) * x[j];
        worst = std::max(worst, std::abs(sum));
    }
    return worst;
}

TEST(MixedCholesky, ReachesDoublePrecisionFromASingleFactor) {
    const std::size_t n = 700;  // three blocks, the last one short
    const Matrix<double> k = gaussian(n, 3);
    const std::vector<double> shift(n, 0.3);
    const MixedSystem system(k.view(), shift);
    ASSERT_TRUE(system.factored());
    Random random(4);
    Matrix<double> b(2, n), x(2, n), y(2, n);
    for (double& v : b.values()) v = random.normal();
    x = b;
    ASSERT_TRUE(system.solve(x.view(), 1e-14));
    for (std::size_t r = 0; r < 2; ++r) EXPECT_LT(residual(k, 0.3, x.row(r), b.row(r)), 1e-12);
    system.apply_k(x.view(), y.view());
    for (std::size_t r = 0; r < 2; ++r) {
        for (std::size_t i = 0; i < n; ++i) EXPECT_NEAR(y(r, i), b(r, i) - 0.3 * x(r, i), 1e-12);
    }
    Matrix<double> zero(1, n);
    EXPECT_TRUE(system.solve(zero.view(), 1e-14));
    EXPECT_EQ(zero(0, 5), 0);
}

TEST(MixedCholesky, SaysWhenSinglePrecisionIsNotEnough) {
    const std::size_t n = 300;
    const Matrix<double> k = gaussian(n, 5);
    const MixedSystem system(k.view(), std::vector<double>(n, 1e-13));
    Matrix<double> b(1, n, 1.0);
    b(0, 3) = -5;
    EXPECT_FALSE(system.factored() && system.solve(b.view(), 1e-14));
    EXPECT_EQ(b(0, 3), -5) << "the right-hand side stays for another method";
}

TEST(Cholesky, SolvesInvertsAndMeasures) {
    const std::size_t n = 60;
    Matrix<double> a = gaussian(n, 1);
    for (std::size_t i = 0; i < n; ++i) a(i, i) += 0.5;
    Matrix<double> factor = a;
    ASSERT_TRUE(cholesky(factor.view()));
    Random random(2);
    Matrix<double> b(3, n);
    for (double& v : b.values()) v = random.normal();
    Matrix<double> x = b;
    cholesky_solve(factor.view(), x.view());
    Matrix<double> half = b;
    forward_solve(factor.view(), half.view());
    Matrix<double> inverse = factor;
    cholesky_inverse(inverse.view());
    for (std::size_t s = 0; s < 3; ++s) {
        double quadratic = 0;
        double squares = 0;
        for (std::size_t i = 0; i < n; ++i) {
            double image = 0;
            double from_inverse = 0;
            for (std::size_t j = 0; j < n; ++j) {
                image += a(i, j) * x(s, j);
                from_inverse += (i >= j ? inverse(i, j) : inverse(j, i)) * b(s, j);
            }
            EXPECT_NEAR(image, b(s, i), 1e-11);
            EXPECT_NEAR(from_inverse, x(s, i), 1e-11);
            quadratic += b(s, i) * x(s, i);
            squares += half(s, i) * half(s, i);
        }
        EXPECT_NEAR(quadratic, squares, 1e-11 * squares);
    }
    const Matrix<double> two = [] {
        Matrix<double> m(2, 2, 1.0);
        m(0, 0) = 3;
        m(1, 1) = 4;
        return m;
    }();
    Matrix<double> small = two;
    ASSERT_TRUE(cholesky(small.view()));
    EXPECT_NEAR(log_determinant(small.view()), std::log(11.0), 1e-14);
}

// Sizes around the edges of blocks, and any number of threads.
TEST(Cholesky, BlocksGiveTheSameAsTheWhole) {
    for (const std::size_t n : {1U, 127U, 128U, 129U, 300U, 384U}) {
        Matrix<double> a = gaussian(n, 7);
        for (std::size_t i = 0; i < n; ++i) a(i, i) += 0.5;
        Matrix<double> factor = a;
        ASSERT_TRUE(cholesky(factor.view()));
        for (std::size_t i = 0; i < n; i += 5) {
            for (std::size_t j = 0; j <= i; j += 3) {
                double sum = 0;
                for (std::size_t k = 0; k <= j; ++k) sum += factor(i, k) * factor(j, k);
                ASSERT_NEAR(sum, a(i, j), 1e-12);
                if (j < i) {
                    ASSERT_EQ(factor(j, i), a(j, i)) << "above the diagonal";
                }
            }
        }
        set_threads(3);
        Matrix<double> again = a;
        ASSERT_TRUE(cholesky(again.view()));
        set_threads(0);
        ASSERT_EQ(again.values(), factor.values());
        cholesky_inverse(factor.view());
        for (std::size_t i = 0; i < n; i += 7) {
            for (std::size_t j = 0; j < n; j += 11) {
                double sum = 0;
                for (std::size_t k = 0; k < n; ++k) {
                    sum += a(i, k) * (k >= j ? factor(k, j) : factor(j, k));
                }
                ASSERT_NEAR(sum, i == j ? 1 : 0, 1e-10) << n;
            }
        }
    }
}

TEST(ShiftedSystem, SolvesAndStillKnowsItsMatrix) {
    const std::size_t n = 37;
    const Matrix<double> k = gaussian(n, 6);
    Matrix<double> place = k;
    std::vector<double> shift(n, 0.3);
    shift[4] = 2;
    ShiftedSystem system(place.view(), shift);
    ASSERT_TRUE(system.factored());
    Matrix<double> b(2, n, 1.0);
    for (std::size_t i = 0; i < n; ++i) b(1, i) = std::sin(static_cast<double>(i));
    Matrix<double> x = b;
    system.solve(x.view());
    Matrix<double> image(2, n);
    system.apply_k(x.view(), image.view());
    for (std::size_t s = 0; s < 2; ++s) {
        for (std::size_t i = 0; i < n; ++i) {
            EXPECT_NEAR(image(s, i) + shift[i] * x(s, i), b(s, i), 1e-12);
            double direct = 0;
            for (std::size_t j = 0; j < n; ++j) direct += k(i, j) * x(s, j);
            EXPECT_NEAR(image(s, i), direct, 1e-12);
        }
    }
}

TEST(Cholesky, SaysWhenThereIsNoFactor) {
    Matrix<double> a(2, 2, 1.0);
    a(1, 1) = -1;
    EXPECT_FALSE(cholesky(a.view()));
    Matrix<double> b(2, 2, std::numeric_limits<double>::quiet_NaN());
    EXPECT_FALSE(cholesky(b.view()));
}

TEST(PivotedCholesky, InvertsWhatItHasFactoredAndStopsWhenTold) {
    const std::size_t n = 4500;  // more than one strip of its products
    Matrix<double> k(n, n);
    std::vector<double> shift(n);
    for (std::size_t i = 0; i < n; ++i) {
        shift[i] = 0.5 + static_cast<double>(i % 3);
        for (std::size_t j = 0; j <= i; ++j) {
            const double gap = static_cast<double>(i - j) / 1500;
            k(i, j) = k(j, i) = std::exp(-gap * gap);
        }
    }
    // K is of so low a rank, to rounding, that M is K + D: M⁻¹ (K + D) x = x.
    std::vector<double> x(n), product(n), again(n);
    for (std::size_t i = 0; i < n; ++i) x[i] = std::sin(static_cast<double>(i));
    for (std::size_t i = 0; i < n; ++i) {
        product[i] = shift[i] * x[i];
        for (std::size_t j = 0; j < n; ++j) product[i] += k(i, j) * x[j];
    }
    const Stored op(std::move(k));
    const PivotedCholesky near(op, shift, {.rank = 20, .tolerance = 1e-12});
    near.apply(product, again);
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(again[i], x[i], 1e-6) << i;
    std::size_t asked = 0;
    const Progress stop = [&](const Moment&) { return ++asked <= 5; };
    EXPECT_THROW(PivotedCholesky(op, shift, {.rank = 5, .progress = stop}), Cancelled);
    EXPECT_EQ(asked, 6U) << "after its five rows, before their products";
}

TEST(ConjugateGradient, MeetsItsResidualInFewIterations) {
    const std::size_t n = 400;
    const Stored k(gaussian(n, 3));
    std::vector<double> shift(n, 1e-3);
    for (std::size_t i = 0; i < n; i += 3) shift[i] = 2e-3;
    Random random(4);
    Matrix<double> b(2, n);
    for (double& v : b.values()) v = random.normal();
    const PivotedCholesky near(k, shift, {.rank = 40});
    EXPECT_GT(near.rank(), 5U);
    const CgSolution with = conjugate_gradient(k, shift, b.view(), near, {.tolerance = 1e-10});
    EXPECT_EQ(with.status, CgStatus::converged);
    EXPECT_LT(with.residual, 1e-9);
    const PivotedCholesky none(k, shift, {.rank = 0});
    const CgSolution without = conjugate_gradient(k, shift, b.view(), none, {.tolerance = 1e-10});
    EXPECT_LT(without.residual, 1e-8);
    EXPECT_LT(2 * with.iterations, without.iterations);
    // the same as a direct solution
    Matrix<double> a = gaussian(n, 3);
    for (std::size_t i = 0; i < n; ++i) a(i, i) += shift[i];
    ASSERT_TRUE(cholesky(a.view()));
    Matrix<double> direct = b;
    cholesky_solve(a.view(), direct.view());
    for (std::size_t i = 0; i < direct.values().size(); ++i) {
        EXPECT_NEAR(with.x.values()[i], direct.values()[i], 1e-4);
    }
}

TEST(ConjugateGradient, StopsWhenTold) {
    const Stored k(gaussian(50, 5));
    const std::vector<double> shift(50, 1e-6);
    const Matrix<double> b(1, 50, 1.0);
    const PivotedCholesky none(k, shift, {.rank = 0});
    const CgSolution s = conjugate_gradient(k, shift, b.view(), none,
                                            {.progress = [](const Moment&) { return false; }});
    EXPECT_EQ(s.status, CgStatus::cancelled);
    const CgSolution t =
        conjugate_gradient(k, shift, b.view(), none, {.tolerance = 1e-14, .iteration_limit = 2});
    EXPECT_EQ(t.status, CgStatus::iteration_limit);
    EXPECT_GT(t.residual, 0);
}

double rosenbrock(std::span<const double> x, std::span<double> g) {
    const double a = 1 - x[0];
    const double b = x[1] - x[0] * x[0];
    g[0] = -2 * a - 400 * x[0] * b;
    g[1] = 200 * b;
    return a * a + 100 * b * b;
}

TEST(Lbfgs, FindsTheEndOfACurvedValley) {
    const LbfgsSolution s = minimise({-1.2, 1}, rosenbrock, {.value_tolerance = 0});
    EXPECT_EQ(s.status, LbfgsStatus::converged);
    EXPECT_NEAR(s.x[0], 1, 1e-5);
    EXPECT_NEAR(s.x[1], 1, 1e-5);
    for (std::size_t i = 1; i < s.history.size(); ++i) EXPECT_LE(s.history[i], s.history[i - 1]);
}

TEST(Lbfgs, StaysWithinBounds) {
    const LbfgsSolution s = minimise({-1.2, 1}, rosenbrock, {.lower = {-2, -2}, .upper = {0.5, 2}});
    EXPECT_EQ(s.status, LbfgsStatus::converged);
    EXPECT_EQ(s.x[0], 0.5);
    EXPECT_NEAR(s.x[1], 0.25, 1e-5);
    EXPECT_LT(s.gradient[0], 0);  // f would fall further beyond the bound
}

TEST(Lbfgs, TakesInfinityForTooFar) {
    const SmoothFunction f = [](std::span<const double> x, std::span<double> g) {
        g[0] = 1 - 1 / x[0];
        return x[0] <= 0 ? std::numeric_limits<double>::infinity() : x[0] - std::log(x[0]);
    };
    const LbfgsSolution s = minimise({30}, f);
    EXPECT_EQ(s.status, LbfgsStatus::converged);
    EXPECT_NEAR(s.x[0], 1, 1e-5);
    EXPECT_THROW(minimise({-1}, f), InvalidInput);
}

TEST(Lbfgs, StopsWhenToldAndWhenTheSlopeIsWrong) {
    const LbfgsSolution told =
        minimise({-1.2, 1}, rosenbrock, {.progress = [](std::size_t i, double) { return i < 3; }});
    EXPECT_EQ(told.status, LbfgsStatus::cancelled);
    EXPECT_EQ(minimise({-1.2, 1}, rosenbrock, {.iteration_limit = 2}).status,
              LbfgsStatus::iteration_limit);
    const SmoothFunction uphill = [](std::span<const double> x, std::span<double> g) {
        g[0] = -2 * x[0];
        return x[0] * x[0];
    };
    EXPECT_EQ(minimise({1}, uphill).status, LbfgsStatus::stalled);
}

}  // namespace
}  // namespace mercer
