#include "mercer/solver/linear/detail/cholesky.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "mercer/base/detail/blas.hpp"
#include "mercer/base/detail/lapack.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/linear/detail/blocked_cholesky.hpp"

namespace mercer {
namespace {

int length(std::size_t value) {
    return static_cast<int>(value);
}

void require(int info, const char* routine) {
    if (info == 0) return;
    std::string message(routine);  // in place: g++ 12 takes a moved text for an overrun
    message += " failed with status ";
    message += std::to_string(info);
    throw std::runtime_error(message);
}

/// Calls body(first, count) for pieces of the right-hand sides, which are rows: every piece is
/// solved on one thread, so that no digit depends on how many there are.
template <class Body>
void for_sides(std::size_t sides, const Body& body) {
    constexpr std::size_t piece = 64;
    parallel_ranges(sides, piece,
                    [&](std::size_t first, std::size_t last) { body(first, last - first); });
}

}  // namespace

// Row-major and lower is column-major and upper for LAPACK, which then factors U'U with U = L'.

bool cholesky(MatrixView<double> a, const Progress& progress) {
    if (a.rows == 0) return true;
    // A matrix that is not finite passes through LAPACK's comparison and shows up here.
    return blocked_cholesky(a, progress) && std::isfinite(log_determinant(a));
}

void cholesky_solve(MatrixView<const double> factor, MatrixView<double> b) {
    if (b.rows == 0 || b.columns == 0) return;
    for_sides(b.rows, [&](std::size_t first, std::size_t count) {
        require(lapack::dpotrs('U', length(factor.rows), length(count), factor.data,
                               length(factor.stride), b.row(first).data(), length(b.stride)),
                "dpotrs");
    });
}

void forward_solve(MatrixView<const double> factor, MatrixView<double> b) {
    if (b.rows == 0 || b.columns == 0) return;
    for_sides(b.rows, [&](std::size_t first, std::size_t count) {
        MERCER_BLAS(cblas_dtrsm)
        (CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, length(b.columns),
         length(count), 1.0, factor.data, length(factor.stride), b.row(first).data(),
         length(b.stride));
    });
}

void cholesky_inverse(MatrixView<double> factor, const Progress& progress) {
    if (factor.rows > 0) blocked_inverse(factor, progress);
}

double log_determinant(MatrixView<const double> factor) {
    double sum = 0;
    for (std::size_t i = 0; i < factor.rows; ++i) sum += std::log(factor(i, i));
    return 2 * sum;
}

ShiftedSystem::ShiftedSystem(MatrixView<double> k, std::span<const double> shift,
                             const Progress& progress)
    : k_(k) {
    for (std::size_t i = 0; i < k.rows; ++i) {
        diagonal_.push_back(k(i, i));
        k(i, i) += shift[i];
    }
    factored_ = cholesky(k, progress);
}

void ShiftedSystem::apply_k(MatrixView<const double> x, MatrixView<double> y) const {
    if (x.rows == 0 || x.columns == 0) return;
    for_sides(x.rows, [&](std::size_t first, std::size_t count) {
        MERCER_BLAS(cblas_dsymm)
        (CblasColMajor, CblasLeft, CblasLower, length(x.columns), length(count), 1.0, k_.data,
         length(k_.stride), x.row(first).data(), length(x.stride), 0.0, y.row(first).data(),
         length(y.stride));
    });
    // The diagonal in store is that of the factor.
    for (std::size_t r = 0; r < x.rows; ++r) {
        for (std::size_t i = 0; i < x.columns; ++i) {
            y(r, i) += (diagonal_[i] - k_(i, i)) * x(r, i);
        }
    }
}

MatrixView<const double> ShiftedSystem::invert(const Progress& progress) {
    cholesky_inverse(k_, progress);
    return k_;
}

}  // namespace mercer
