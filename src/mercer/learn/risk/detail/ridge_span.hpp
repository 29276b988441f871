// Squared loss by its normal equations in the space of weights, with blocks of features that are
// gone after their use: memory for columns², not for rows × columns.
#pragma once

#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/learn/passes/detail/feature_products.hpp"
#include "mercer/learn/report.hpp"

namespace mercer {

struct SpanRidge {
    Matrix<double> weights{};  ///< outputs × columns
    std::vector<double> bias{};
    std::vector<Report> reports{};
};

/// Sums over the rows of all ranks: Σ w_i φ_i φ_i' and Σ w_i y_i φ_i, y being the first row of the
/// targets.
struct SpanNormal {
    Matrix<double> squares{};
    std::vector<double> right{};
};

/// Minimises Σ_i w_i (y_i − f(x_i) − b)² + λ‖f‖² for each row of `targets` over f = w·φ, whose w
/// solve
///
///     (Σ_i w_i (φ_i − φ̄)(φ_i − φ̄)' + λ I) w = Σ_i w_i (φ_i − φ̄)(y_i − ȳ),
///
/// means being those of all rows with the weights w_i; without bias they are 0. `targets` are those
/// of this rank's rows. A second pass finds the residuals, hence α_i = w_i (y_i − f(x_i) − b)/λ,
/// which is feasible for the dual, and the gap. What was summed goes into
/// `normal` unless that is null. Throws InvalidInput and Cancelled.
SpanRidge solve_span_ridge(const FeatureProducts& features, const SpanSample& sample,
                           const Matrix<double>& targets, double lambda, bool bias,
                           const Progress& progress, SpanNormal* normal = nullptr);

}  // namespace mercer
