#include "mercer/solver/weights/detail/newton_system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/small_cholesky.hpp"
#include "mercer/solver/weights/detail/explicit_products.hpp"

namespace mercer {
namespace {

/// Free rows up to which their own matrix is factored.
constexpr std::size_t most_rows = 3000;

bool factor_any(MatrixView<double> a) {
    return a.rows <= small_system ? small_cholesky(a) : cholesky(a);
}

void solve_any(MatrixView<const double> factor, std::span<double> b) {
    if (factor.rows <= small_system) return small_cholesky_solve(factor, b);
    cholesky_solve(factor, {b.data(), 1, b.size()});
}

/// (x, y) of a (x, y) = r, a being symmetric with one or two rows.
std::array<double, 2> solve_corner(const std::array<std::array<double, 2>, 2>& a,
                                   const std::array<double, 2>& r, std::size_t size) {
    if (size == 1) return {r[0] / a[0][0], 0};
    const double determinant = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    return {(r[0] * a[1][1] - r[1] * a[0][1]) / determinant,
            (r[1] * a[0][0] - r[0] * a[1][0]) / determinant};
}

}  // namespace

template <class T>
NewtonSystem<T>::NewtonSystem(const ExplicitRows<T>& rows, std::size_t equalities)
    : rows_(rows), equalities_(equalities) {
    if (rows.columns > most_columns) return;
    sum_ = Matrix<double>(rows.columns, rows.columns, 0.0);
    counted_.assign(rows.size, 0.0);
    factor_ = Matrix<double>(rows.columns + equalities, rows.columns + equalities);
}

/// Brings S up to date: by the rows whose weight has changed, or anew where these are most of them,
/// or where so much has been taken out that what is left would be rounding.
template <class T>
void NewtonSystem<T>::follow(const FreeRows& free) {
    constexpr double little = 1e-3;
    changed_.clear();
    by_.clear();
    std::size_t k = 0;
    const auto leave = [&](std::uint32_t row) {
        changed_.push_back(row);
        by_.push_back(-counted_[row]);
        counted_[row] = 0;
    };
    double total = 0;
    for (std::size_t f = 0; f < free.rows.size(); ++f) {
        const std::uint32_t row = free.rows[f];
        for (; k < in_.size() && in_[k] < row; ++k) leave(in_[k]);
        if (k < in_.size() && in_[k] == row) ++k;
        total += free.weight[f];
        if (counted_[row] == free.weight[f]) continue;
        changed_.push_back(row);
        by_.push_back(free.weight[f] - counted_[row]);
        counted_[row] = free.weight[f];
    }
    for (; k < in_.size(); ++k) leave(in_[k]);
    in_.assign(free.rows.begin(), free.rows.end());
    total_ = total;
    if (changed_.size() < free.rows.size() && total_ > little * largest_) {
        weigh_some<T>(rows_, changed_, by_, sum_);
        largest_ = std::max(largest_, total_);
        return;
    }
    std::ranges::fill(sum_.values(), 0.0);
    weigh_some<T>(rows_, free.rows, free.weight, sum_);
    largest_ = total_;
}

template <class T>
bool NewtonSystem<T>::solve_by_columns(const FreeRows& free, double width, std::span<double> x) {
    const std::size_t d = rows_.columns, m = equalities_;
    follow(free);
    const MatrixView<double> all = factor_.view();
    for (std::size_t k = 0; k < d; ++k) {
        for (std::size_t j = 0; j <= k; ++j) all(k, j) = sum_(k, j) / width;
        all(k, k) += 1;
    }
    std::vector<double> scaled(free.rows.size());
    for (std::size_t e = 0; e < m; ++e) {
        for (std::size_t f = 0; f < scaled.size(); ++f) scaled[f] = -free.border(e, f) / width;
        std::ranges::fill(all.row(d + e), 0.0);
        add_some<T>(rows_, free.rows, scaled, all.row(d + e).first(d));
        for (std::size_t f = 0; f <= e; ++f) all(d + e, d + f) = free.corner[e][f] / width;
    }
    if (!factor_any(all)) return false;
    solve_any(std::as_const(factor_).view(), x);
    return true;
}

/// The factor of Φ_F Φ_F' + width D⁻¹, where the free rows are not too many for it.
template <class T>
bool NewtonSystem<T>::factor_rows(const FreeRows& free, double width) {
    const std::size_t f = free.rows.size();
    factor_ = Matrix<double>(f > most_rows ? 0 : f, f > most_rows ? 0 : f);
    if (factor_.rows() == 0) return true;
    multiply_among<T>(rows_, free.rows, factor_.view());
    for (std::size_t r = 0; r < f; ++r) factor_(r, r) += width / free.weight[r];
    return factor_any(factor_.view());
}

/// x becomes (I + S/width)⁻¹ x.
template <class T>
void NewtonSystem<T>::apply_inverse(const FreeRows& free, double width, std::span<double> x) const {
    if (free.rows.empty()) return;
    if (factor_.rows() == 0) return by_gradients(free, width, x);
    std::vector<double> products(free.rows.size());
    multiply_some<T>(rows_, free.rows, x, products);
    solve_any(factor_.view(), products);
    for (double& value : products) value = -value;
    add_some<T>(rows_, free.rows, products, x);
}

/// The same by conjugate gradients, with the diagonal of the matrix before them. Enough for a
/// direction along which one searches.
template <class T>
void NewtonSystem<T>::by_gradients(const FreeRows& free, double width, std::span<double> x) const {
    constexpr std::size_t most_steps = 200;
    constexpr double enough = 1e-12;  // of the square at first
    const std::size_t d = rows_.columns;
    std::vector<double> diagonal(d, 0.0), c(free.weight.begin(), free.weight.end());
    for (double& value : c) value /= width;
    add_squares<T>(rows_, free.rows, c, diagonal);
    for (double& value : diagonal) value += 1;
    std::vector<double> r(x.begin(), x.end()), z(d), p(d), q(d), products(free.rows.size());
    for (std::size_t k = 0; k < d; ++k) p[k] = z[k] = r[k] / diagonal[k];
    double square = dot(r, z);
    const double first = square;
    std::ranges::fill(x, 0.0);
    for (std::size_t step = 0; step < most_steps && square > enough * first; ++step) {
        multiply_some<T>(rows_, free.rows, p, products);
        for (std::size_t f = 0; f < products.size(); ++f) products[f] *= c[f];
        q = p;
        add_some<T>(rows_, free.rows, products, q);
        const double length = square / dot(p, q);
        for (std::size_t k = 0; k < d; ++k) {
            x[k] += length * p[k];
            r[k] -= length * q[k];
            z[k] = r[k] / diagonal[k];
        }
        const double next = dot(r, z);
        for (std::size_t k = 0; k < d; ++k) p[k] = z[k] + next / square * p[k];
        square = next;
    }
}

template <class T>
bool NewtonSystem<T>::solve_by_rows(const FreeRows& free, double width, std::span<double> x) {
    const std::size_t d = rows_.columns, m = equalities_;
    if (!factor_rows(free, width)) return false;
    const std::span<double> w = x.first(d);
    apply_inverse(free, width, w);
    if (m == 0) return true;
    // Δλ from what the inverse leaves of the corner, then Δw.
    Matrix<double> border(m, d, 0.0), solved(m, d);
    std::vector<double> scaled(free.rows.size());
    std::array<double, 2> right{};
    auto corner = free.corner;
    for (std::size_t e = 0; e < m; ++e) {
        for (std::size_t f = 0; f < scaled.size(); ++f) scaled[f] = free.border(e, f) / width;
        add_some<T>(rows_, free.rows, scaled, border.row(e));
        std::ranges::copy(border.row(e), solved.row(e).begin());
        apply_inverse(free, width, solved.row(e));
        right[e] = x[d + e] + dot(border.row(e), w);
    }
    for (std::size_t e = 0; e < m; ++e) {
        for (std::size_t f = 0; f < m; ++f) {
            corner[e][f] = corner[e][f] / width - dot(border.row(e), solved.row(f));
        }
    }
    const std::array<double, 2> lambda = solve_corner(corner, right, m);
    for (std::size_t e = 0; e < m; ++e) {
        x[d + e] = lambda[e];
        for (std::size_t k = 0; k < d; ++k) w[k] += lambda[e] * solved(e, k);
    }
    return std::ranges::all_of(x, [](double value) { return std::isfinite(value); });
}

template <class T>
bool NewtonSystem<T>::solve(const FreeRows& free, double width, std::span<double> x) {
    return rows_.columns <= most_columns ? solve_by_columns(free, width, x)
                                         : solve_by_rows(free, width, x);
}

template class NewtonSystem<float>;
template class NewtonSystem<double>;

}  // namespace mercer
