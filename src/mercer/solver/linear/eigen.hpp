// Eigenvalues of symmetric matrices: all of them by LAPACK when the matrix is stored, the extreme
// ones by Lanczos (Spectra) when there is only an operator.
//
//   const Spectrum s = symmetric_eigen(k.view());      // s.values ascending, s.vectors.row(i)
//   const Extremes e = extreme_eigen(op);              // smallest and largest, with residuals
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/progress.hpp"

namespace mercer MERCER_API {

struct Spectrum {
    std::vector<double> values;  ///< ascending
    Matrix<double> vectors;      ///< row i belongs to values[i], length 1; empty unless asked for
};

/// All eigenvalues of a stored symmetric matrix (its lower triangle is read), O(n³). Throws
/// Cancelled when `progress` says so.
Spectrum symmetric_eigen(MatrixView<const double> matrix, bool with_vectors = true,
                         const Progress& progress = {});

struct Eigenpair {
    double value = 0;
    std::vector<double> vector;  ///< length 1, its largest component positive
    double residual = 0;         ///< ‖K v − value v‖: the certificate
};

struct Extremes {
    Eigenpair smallest;
    Eigenpair largest;
    bool converged = false;        ///< false: to a looser tolerance; see the residuals
    std::size_t applications = 0;  ///< products K x made
};

struct LanczosSettings {
    double tolerance = 1e-10;  ///< relative to the largest eigenvalue
    std::size_t max_restarts = 1000;
    std::uint64_t seed = 1;
    /// Looks only at vectors with Σ a_i = 0: the matrix (I − 11'/n) K (I − 11'/n), for
    /// conditionally positive definite kernels. The vector 1 itself then has eigenvalue 0.
    bool centered = false;
    Progress progress{};  ///< throws Cancelled out of extreme_eigen
};

/// The smallest and the largest eigenvalue without storing the matrix; size() >= 3.
Extremes extreme_eigen(const SymmetricOperator<double>& op, const LanczosSettings& settings = {});

}  // namespace mercer
