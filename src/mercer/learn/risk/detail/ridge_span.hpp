// Squared loss by its normal equations in the space of weights, with blocks of features that are
// gone after their use: memory for columns², not for rows × columns.
#pragma once

#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/learn/passes/detail/feature_products.hpp"
#include "mercer/learn/report.hpp"

namespace mercer {

/// Σ_i w_i (y_i − f(x_i) − b)² + λ‖f‖² over f = w·φ, for each row of `targets`, which are those of
/// this rank's rows.
struct SpanRidgeProblem {
    const FeatureProducts& features;
    const SpanSample& sample;
    const Matrix<double>& targets;
    double lambda;
    bool bias;
    const Progress& progress;

    std::size_t outputs() const { return targets.rows(); }
    std::size_t columns() const { return features.columns(); }
    /// Σ term(i) over the rows of all ranks.
    template <class Term>
    double sum(const Term& term) const {
        return sample.leaves.sum(term);
    }
};

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

/// The equations for w below, of one row in `every`, drawn by its number, with the weight of all.
struct RidgeEquations {
    Matrix<double> system{};  ///< symmetric; empty where those rows weigh nothing
    Matrix<double> right{};   ///< a row for each output
};
RidgeEquations ridge_equations(const SpanRidgeProblem& problem, std::size_t every,
                               SpanNormal* normal = nullptr);

/// Where some w stand, by one pass.
struct RidgePosition {
    Matrix<double> rest{};       ///< y_i − w·φ_i − b of this rank's rows
    std::vector<double> bias{};  ///< the best b for each w
    std::vector<double> loss{};  ///< Σ_i w_i rest_i²
    Matrix<double> slope{};      ///< Σ_i w_i rest_i φ_i − λw: minus half of the objective's
    std::vector<double> mean{};  ///< Σ_i w_i φ_i
};
RidgePosition ridge_position(const SpanRidgeProblem& problem, const Matrix<double>& weights);

/// Minimises it; the w solve
///
///     (Σ_i w_i (φ_i − φ̄)(φ_i − φ̄)' + λ I) w = Σ_i w_i (φ_i − φ̄)(y_i − ȳ),
///
/// means being those of all rows with the weights w_i; without bias they are 0. By these equations
/// themselves or, where that takes less time, by steps (ridge_steps.hpp). One more pass finds the
/// residuals, hence α_i = w_i (y_i − f(x_i) − b)/λ, which is feasible for the dual, and the gap.
/// What was summed goes into `normal` unless that is null. Throws InvalidInput and Cancelled.
SpanRidge solve_span_ridge(const SpanRidgeProblem& problem, SpanNormal* normal = nullptr);

}  // namespace mercer
