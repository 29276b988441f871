#include "mercer/solver/linear/detail/mixed_cholesky.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/detail/blas.hpp"
#include "mercer/base/detail/dot.hpp"
#include "mercer/base/detail/slices.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/linear/detail/single_cholesky.hpp"

namespace mercer {
namespace {

int length(std::size_t value) {
    return static_cast<int>(value);
}

}  // namespace

MixedSystem::MixedSystem(MatrixView<const double> k, std::span<const double> shift,
                         const Progress& progress)
    : k_(k),
      shift_(shift.begin(), shift.end()),
      buffer_(k.rows * k.rows * sizeof(float)),
      factor_(buffer_.as<float>(), k.rows, k.rows) {
    constexpr std::size_t slice = 64;
    const double work = 100.0 * static_cast<double>(slice * k.rows);  // new memory is slow
    const std::size_t slices = (k.rows + slice - 1) / slice;
    parallel_slices(slices, work, progress, {"factorising", 0}, [&](std::size_t task) {
        for (std::size_t i = task * slice; i < std::min(k.rows, (task + 1) * slice); ++i) {
            const auto from = k.row(i);
            const auto to = factor_.row(i);
            for (std::size_t j = 0; j < i; ++j) to[j] = static_cast<float>(from[j]);
            to[i] = static_cast<float>(from[i] + shift_[i]);
        }
    });
    factored_ = single_cholesky(factor_, progress);
}

/// y = K x
void MixedSystem::multiply(std::span<const double> x, std::span<double> y) const {
    products_fit_processor();
    parallel_ranges(k_.rows, 64, [&](std::size_t first, std::size_t last) {
        MERCER_BLAS(cblas_dgemv)
        (CblasRowMajor, CblasNoTrans, length(last - first), length(k_.columns), 1.0,
         k_.row(first).data(), length(k_.stride), x.data(), 1, 0.0, y.data() + first, 1);
    });
}

bool MixedSystem::solve_row(std::span<const double> b, double tolerance, std::span<double> x,
                            const Progress& progress) const {
    constexpr int most_steps = 25;
    const std::size_t n = b.size();
    std::ranges::fill(x, 0.0);
    std::vector<double> r(b.begin(), b.end()), z(n), p(n), q(n);
    const double goal = tolerance * std::sqrt(dot(b, b));
    if (goal == 0) return true;
    double rz = 0;
    for (int step = 0; step < most_steps; ++step) {
        if (!keep_going(progress, {"solving", -1})) throw Cancelled();
        single_cholesky_solve(factor_, r, z);
        const double next = dot(r, z);
        if (!(next > 0)) return false;
        for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + (step == 0 ? 0 : next / rz) * p[i];
        rz = next;
        multiply(p, q);
        for (std::size_t i = 0; i < n; ++i) q[i] += shift_[i] * p[i];
        const double length_of_step = rz / dot(p, q);
        if (!std::isfinite(length_of_step)) return false;
        for (std::size_t i = 0; i < n; ++i) {
            x[i] += length_of_step * p[i];
            r[i] -= length_of_step * q[i];
        }
        if (std::sqrt(dot(r, r)) <= goal) return true;
    }
    return false;
}

bool MixedSystem::solve(MatrixView<double> b, double tolerance, const Progress& progress) const {
    Matrix<double> x(b.rows, b.columns);
    for (std::size_t row = 0; row < b.rows; ++row) {
        if (!solve_row(b.row(row), tolerance, x.row(row), progress)) return false;
    }
    for (std::size_t row = 0; row < b.rows; ++row) {
        std::ranges::copy(x.row(row), b.row(row).begin());
    }
    return true;
}

void MixedSystem::apply_k(MatrixView<const double> x, MatrixView<double> y) const {
    for (std::size_t row = 0; row < x.rows; ++row) multiply(x.row(row), y.row(row));
}

}  // namespace mercer
