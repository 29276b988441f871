#include "mercer/solver/cholesky.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

#include "mercer/base/blas-inl.hpp"
#include "mercer/base/lapack.hpp"
#include "mercer/solver/blocked_cholesky-inl.hpp"

namespace mercer {
namespace {

int length(std::size_t value) {
    return static_cast<int>(value);
}

void require(int info, const char* routine) {
    if (info == 0) return;
    throw std::runtime_error(std::string(routine) + " failed with status " + std::to_string(info));
}

}  // namespace

// Row-major and lower is column-major and upper for LAPACK, which then factors U'U with U = L'.

bool cholesky(MatrixView<double> a) {
    if (a.rows == 0) return true;
    // A matrix that is not finite passes through LAPACK's comparison and shows up here.
    return blocked_cholesky(a) && std::isfinite(log_determinant(a));
}

void cholesky_solve(MatrixView<const double> factor, MatrixView<double> b) {
    if (b.rows == 0 || b.columns == 0) return;
    const BlasThreads threads;
    require(lapack::dpotrs('U', length(factor.rows), length(b.rows), factor.data,
                           length(factor.stride), b.data, length(b.stride)),
            "dpotrs");
}

void forward_solve(MatrixView<const double> factor, MatrixView<double> b) {
    if (b.rows == 0 || b.columns == 0) return;
    const BlasThreads threads;
    MERCER_BLAS(cblas_dtrsm)
    (CblasColMajor, CblasLeft, CblasUpper, CblasTrans, CblasNonUnit, length(b.columns),
     length(b.rows), 1.0, factor.data, length(factor.stride), b.data, length(b.stride));
}

void cholesky_inverse(MatrixView<double> factor) {
    if (factor.rows > 0) blocked_inverse(factor);
}

double log_determinant(MatrixView<const double> factor) {
    double sum = 0;
    for (std::size_t i = 0; i < factor.rows; ++i) sum += std::log(factor(i, i));
    return 2 * sum;
}

ShiftedSystem::ShiftedSystem(MatrixView<double> k, std::span<const double> shift) : k_(k) {
    for (std::size_t i = 0; i < k.rows; ++i) {
        diagonal_.push_back(k(i, i));
        k(i, i) += shift[i];
    }
    factored_ = cholesky(k);
}

void ShiftedSystem::apply_k(MatrixView<const double> x, MatrixView<double> y) const {
    if (x.rows == 0 || x.columns == 0) return;
    const BlasThreads threads;
    MERCER_BLAS(cblas_dsymm)
    (CblasColMajor, CblasLeft, CblasLower, length(x.columns), length(x.rows), 1.0, k_.data,
     length(k_.stride), x.data, length(x.stride), 0.0, y.data, length(y.stride));
    // The diagonal in store is that of the factor.
    for (std::size_t r = 0; r < x.rows; ++r) {
        for (std::size_t i = 0; i < x.columns; ++i) {
            y(r, i) += (diagonal_[i] - k_(i, i)) * x(r, i);
        }
    }
}

MatrixView<const double> ShiftedSystem::invert() {
    cholesky_inverse(k_);
    return k_;
}

}  // namespace mercer
