#include "mercer/learn/risk/detail/risk_matrix.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/mixed_cholesky.hpp"
#include "mercer/solver/weights/detail/explicit_products.hpp"

namespace mercer {
namespace {

/// Residual of a refined solution, beside the right-hand side.
constexpr double exact_enough = 1e-11;

/// x = (ΦΦ' + D)⁻¹ b on the rows with h = 1/D > 0, by conjugate gradients on D^-½ ΦΦ' D^-½ + I.
void solve_by_gradients(const ExplicitRows<double>& rows, std::span<const double> h,
                        std::span<double> x, const Progress& progress) {
    const std::size_t n = rows.size;
    std::vector<double> root(n), r(n), p(n), q(n), scaled(n), w(rows.columns), y(n, 0.0);
    double square = 0;
    for (std::size_t i = 0; i < n; ++i) {
        root[i] = std::sqrt(h[i]);
        p[i] = r[i] = root[i] * x[i];
        square += r[i] * r[i];
    }
    const double enough = 1e-24 * square;
    for (std::size_t step = 0; step < 10 * rows.columns && square > enough; ++step) {
        if (!keep_going(progress, {"newton", -1})) throw Cancelled();
        for (std::size_t i = 0; i < n; ++i) scaled[i] = root[i] * p[i];
        sum_rows(rows, std::span<const double>(scaled), w);
        multiply_rows(rows, std::span<const double>(w), q);
        for (std::size_t i = 0; i < n; ++i) q[i] = root[i] * q[i] + p[i];
        const double length = square / dot(p, q);
        double next = 0;
        for (std::size_t i = 0; i < n; ++i) {
            y[i] += length * p[i];
            r[i] -= length * q[i];
            next += r[i] * r[i];
        }
        for (std::size_t i = 0; i < n; ++i) p[i] = r[i] + next / square * p[i];
        square = next;
    }
    for (std::size_t i = 0; i < n; ++i) x[i] = root[i] * y[i];
}

}  // namespace

void StoredRiskMatrix::multiply(std::span<const double> x, std::span<double> y) const {
    parallel_ranges(k_.rows, 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) y[i] = dot(k_.row(i), x);
    });
}

/// The system of most rows by that of all, in which the others have so large a diagonal that their
/// part of the solution is nothing: no copy of the matrix is needed.
bool StoredRiskMatrix::solve_among_all(std::span<const std::size_t> which,
                                       std::span<const double> diagonal, MatrixView<double> b,
                                       const Progress& progress) const {
    double largest = 0;
    for (std::size_t i = 0; i < k_.rows; ++i) largest = std::max(largest, std::abs(k_(i, i)));
    for (const double d : diagonal) largest = std::max(largest, d);
    std::vector<double> shift(k_.rows, 1e13 * largest);
    Matrix<double> wide(b.rows, k_.rows);
    for (std::size_t r = 0; r < which.size(); ++r) {
        shift[which[r]] = diagonal[r];
        for (std::size_t line = 0; line < b.rows; ++line) wide(line, which[r]) = b(line, r);
    }
    const MixedSystem system(k_, shift, progress);
    if (!system.factored() || !system.solve(wide.view(), exact_enough, progress)) return false;
    for (std::size_t r = 0; r < which.size(); ++r) {
        for (std::size_t line = 0; line < b.rows; ++line) b(line, r) = wide(line, which[r]);
    }
    return true;
}

/// By a factor in single precision, refined, which takes no more memory than the double one; that
/// has to do where the system is too badly conditioned.
bool StoredRiskMatrix::solve(std::span<const std::size_t> which, std::span<const double> diagonal,
                             MatrixView<double> b, const Progress& progress) const {
    constexpr std::size_t few_rows = 512;  // whose factor takes no time
    const std::size_t m = which.size();
    const bool most = m > k_.rows / 5 * 4;
    if (m >= few_rows && most && solve_among_all(which, diagonal, b, progress)) return true;
    Matrix<double> system(m, m);
    parallel_ranges(m, 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r) {
            const auto row = k_.row(which[r]);
            for (std::size_t c = 0; c < m; ++c) system(r, c) = row[which[c]];
        }
    });
    if (m >= few_rows && !most) {
        const MixedSystem mixed(system.view(), diagonal, progress);
        if (mixed.factored() && mixed.solve(b, exact_enough, progress)) return true;
    }
    for (std::size_t r = 0; r < m; ++r) system(r, r) += diagonal[r];
    if (!cholesky(system.view(), progress)) return false;
    cholesky_solve(system.view(), b);
    return true;
}

void ExplicitRiskMatrix::multiply(std::span<const double> x, std::span<double> y) const {
    std::vector<double> w(rows_.columns);
    sum_rows(rows_, x, w);
    multiply_rows(rows_, std::span<const double>(w), y);
}

bool ExplicitRiskMatrix::solve(std::span<const std::size_t> which, std::span<const double> diagonal,
                               MatrixView<double> b, const Progress& progress) const {
    const std::size_t n = rows_.size, d = rows_.columns;
    const bool by_factor = d <= most_columns && d < n;
    std::vector<double> h(n, 0.0), right(n), image(n), x(n);
    for (std::size_t r = 0; r < which.size(); ++r) h[which[r]] = 1 / diagonal[r];
    Matrix<double> system;
    if (by_factor) {  // I + Φ'D⁻¹Φ
        system = Matrix<double>(d, d);
        weigh_rows(rows_, std::span<const double>(h), system.view());
        for (std::size_t k = 0; k < d; ++k) system(k, k) += 1;
        if (!cholesky(system.view(), progress)) return false;
    }
    // (ΦΦ' + D)⁻¹ r = D⁻¹ (r − Φ (I + Φ'D⁻¹Φ)⁻¹ Φ'D⁻¹ r)
    const auto solve_one = [&](std::vector<double>& r) {
        if (!by_factor) return solve_by_gradients(rows_, h, r, progress);
        Matrix<double> w(1, d);
        std::vector<double> weighted(n), products(n);
        for (std::size_t i = 0; i < n; ++i) weighted[i] = h[i] * r[i];
        sum_rows(rows_, std::span<const double>(weighted), w.row(0));
        cholesky_solve(system.view(), w.view());
        multiply_rows(rows_, std::as_const(w).row(0), products);
        for (std::size_t i = 0; i < n; ++i) r[i] = h[i] * (r[i] - products[i]);
    };
    for (std::size_t line = 0; line < b.rows; ++line) {
        std::ranges::fill(right, 0.0);
        for (std::size_t r = 0; r < which.size(); ++r) right[which[r]] = b(line, r);
        x = right;
        solve_one(x);
        // What the identity has cancelled, once more.
        multiply(x, image);
        for (std::size_t r = 0; r < which.size(); ++r) {
            const std::size_t i = which[r];
            right[i] -= image[i] + diagonal[r] * x[i];
        }
        solve_one(right);
        for (std::size_t r = 0; r < which.size(); ++r) b(line, r) = x[which[r]] + right[which[r]];
    }
    return true;
}

OwnRiskMatrix::OwnRiskMatrix(const Gram<double>& gram, const FitSettings& settings) {
    const std::size_t n = gram.size();
    const bool fits = n == 0 || n <= settings.memory_bytes / sizeof(double) / 2 / n;
    constexpr std::size_t few_rows = 512, many_rows = 2048;
    if (n >= few_rows) {
        auto rows = gram.explicit_rows(gram.reference(), Columns::all());
        if (rows && (!fits || 2 * rows->columns < n || (rows->is_sparse() && n >= many_rows))) {
            rows_ = std::move(rows);
            matrix_ = std::make_unique<ExplicitRiskMatrix>(*rows_);
            return;
        }
    }
    if (!fits) {
        throw InvalidInput("Newton's method for " + std::to_string(n) + " rows needs " +
                           std::to_string(2 * n * n * sizeof(double)) +
                           " bytes for its matrices; allow more memory or take fewer rows");
    }
    buffer_ = LargeBuffer(n * n * sizeof(double));
    const MatrixView<double> k(buffer_.as<double>(), n, n);
    gram.matrix(k, settings.progress);
    matrix_ = std::make_unique<StoredRiskMatrix>(k);
}

}  // namespace mercer
