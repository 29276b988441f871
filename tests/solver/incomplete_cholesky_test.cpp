// The low-rank factor: exact on its pivots, its remainder by definition, and the rank it stops at.
#include <gtest/gtest.h>

#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"

namespace mercer {
namespace {

/// A stored matrix as solvers see it.
class StoredMatrix final : public SymmetricOperator<double> {
   public:
    explicit StoredMatrix(Matrix<double> k) : k_(std::move(k)) {}
    std::size_t size() const override { return k_.rows(); }
    void diagonal(std::span<double> out) const override {
        for (std::size_t i = 0; i < size(); ++i) out[i] = k_(i, i);
    }
    void rows(std::span<const std::size_t> which, MatrixView<double> out) const override {
        for (std::size_t r = 0; r < which.size(); ++r) {
            for (std::size_t j = 0; j < size(); ++j) out(r, j) = k_(which[r], j);
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

/// B'B of a random rank × n matrix.
Matrix<double> random_gram(std::size_t n, std::size_t rank) {
    Random random(7);
    Matrix<double> b(rank, n);
    for (double& v : b.values()) v = random.normal();
    Matrix<double> k(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t r = 0; r < rank; ++r) k(i, j) += b(r, i) * b(r, j);
        }
    }
    return k;
}

double rebuilt(const IncompleteCholesky& f, std::size_t i, std::size_t j) {
    double sum = 0;
    for (std::size_t r = 0; r < f.rank(); ++r) sum += f.factor(r, i) * f.factor(r, j);
    return sum;
}

TEST(IncompleteCholesky, StopsAtTheRankAndIsExactThere) {
    const Matrix<double> k = random_gram(40, 7);
    const IncompleteCholesky f = incomplete_cholesky(StoredMatrix(k), {.tolerance = 1e-12});
    EXPECT_EQ(f.rank(), 7U);
    for (std::size_t i = 0; i < 40; ++i) {
        for (std::size_t j = 0; j < 40; ++j) ASSERT_NEAR(rebuilt(f, i, j), k(i, j), 1e-10);
    }
    EXPECT_NEAR(f.remaining, 0, 1e-9);
}

TEST(IncompleteCholesky, OfFewRowsIsExactOnThemAndMeasuresTheRest) {
    const Matrix<double> k = random_gram(40, 20);
    const IncompleteCholesky f = incomplete_cholesky(StoredMatrix(k), {.rank = 8});
    ASSERT_EQ(f.rank(), 8U);
    double rest = 0, trace = 0;
    for (std::size_t i = 0; i < 40; ++i) {
        for (const std::size_t p : f.pivots) ASSERT_NEAR(rebuilt(f, i, p), k(i, p), 1e-10);
        rest += k(i, i) - rebuilt(f, i, i);
        trace += k(i, i);
    }
    EXPECT_NEAR(f.remaining, rest, 1e-9);
    EXPECT_NEAR(f.trace, trace, 1e-9);
    EXPECT_GT(f.remaining, 1);
    // The first pivot has the largest diagonal.
    for (std::size_t i = 0; i < 40; ++i) EXPECT_LE(k(i, i), k(f.pivots[0], f.pivots[0]));
    // L_pp L_pp' = K(p, p), and rows that were not there get their features by L_pp⁻¹ K(p, x).
    const Matrix<double> lower = f.pivot_factor();
    Matrix<double> column(1, 8);
    for (std::size_t r = 0; r < 8; ++r) column(0, r) = k(f.pivots[r], 39);
    forward_solve(lower.view(), column.view());
    for (std::size_t r = 0; r < 8; ++r) EXPECT_NEAR(column(0, r), f.factor(r, 39), 1e-10);
}

TEST(IncompleteCholesky, BackwardSolveUndoesTheTransposedFactor) {
    const IncompleteCholesky f = incomplete_cholesky(StoredMatrix(random_gram(12, 12)), {});
    const Matrix<double> lower = f.pivot_factor();
    Matrix<double> x(2, lower.rows());
    for (std::size_t i = 0; i < x.columns(); ++i) {
        x(0, i) = static_cast<double>(i) + 1;
        x(1, i) = i % 2 == 0 ? 1 : -2;
    }
    Matrix<double> b(2, lower.rows());  // L'x
    for (std::size_t r = 0; r < 2; ++r) {
        for (std::size_t j = 0; j < b.columns(); ++j) {
            for (std::size_t i = j; i < b.columns(); ++i) b(r, j) += lower(i, j) * x(r, i);
        }
    }
    backward_solve(lower.view(), b.view());
    for (std::size_t k = 0; k < b.values().size(); ++k) {
        EXPECT_NEAR(b.values()[k], x.values()[k], 1e-8);
    }
}

TEST(IncompleteCholesky, ZeroAndNotFiniteAndCancelled) {
    EXPECT_EQ(incomplete_cholesky(StoredMatrix(Matrix<double>(3, 3))).rank(), 0U);
    Matrix<double> bad(2, 2, 1.0);
    bad(1, 1) = std::nan("");
    EXPECT_THROW(incomplete_cholesky(StoredMatrix(bad)), InvalidInput);
    EXPECT_THROW(incomplete_cholesky(StoredMatrix(random_gram(5, 5)),
                                     {.progress = [](const Moment&) { return false; }}),
                 Cancelled);
}

}  // namespace
}  // namespace mercer
