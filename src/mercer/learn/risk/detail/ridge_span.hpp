// Squared loss in the span of some rows by its normal equations, with blocks of kernel values that
// are gone after their use: memory for centres², not for rows × centres.
#pragma once

#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/report.hpp"

namespace mercer {

struct SpanRidge {
    Matrix<double> coefficients{};  ///< outputs × centres
    std::vector<double> bias{};
    std::vector<Report> reports{};
};

/// Sums over the rows of all ranks: Σ w_i φ_i φ_i' and Σ w_i y_i φ_i, y being the first row of the
/// targets.
struct SpanNormal {
    Matrix<double> squares{};
    std::vector<double> right{};
};

/// Minimises Σ_i w_i (y_i − f(x_i) − b)² + λ‖f‖² for each row of `targets` over the f of the span.
/// With k_i = (k(c_1, x_i), …)' and K_MM = LL' the weights w of f = w·φ solve
///
///     (L⁻¹ Σ_i w_i (k_i − k̄)(k_i − k̄)' L'⁻¹ + λ I) w = L⁻¹ Σ_i w_i (k_i − k̄)(y_i − ȳ),
///
/// means being those of all rows with the weights w_i; without bias they are 0. `targets` are those
/// of this rank's rows. A second pass finds the residuals, hence α_i = w_i (y_i − f(x_i) − b)/λ,
/// which is feasible for the dual, and the gap. What was summed goes into
/// `normal` unless that is null. Throws InvalidInput and Cancelled.
SpanRidge solve_span_ridge(const CentreSpan<float>& span, const SpanSample& sample,
                           const Matrix<double>& targets, double lambda, bool bias,
                           const Progress& progress, SpanNormal* normal = nullptr);

}  // namespace mercer
