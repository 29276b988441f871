// Squared loss with a quadratic penalty, solved exactly (001, the representer theorem):
//
//     minimise  Σ_i w_i (y_i − f(x_i) − b)² + λ ‖f‖²,   f = Σ_i α_i k(x_i, ·)
//
//   Model model = ridge({.common = {.kernel = rbf({.gamma = 0.1})}, .lambda = 0.5}).fit(data);
//   Model best = ridge({.path = {0.01, 0.1, 1, 10}}).fit(data);       // λ by leave-one-out
//
// Setting the derivative to zero gives (K + λ W⁻¹) α = y − b 1 and, with a bias, Σ α_i = 0: one
// positive definite system with one right-hand side more than there are outputs.
#pragma once

#include <span>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

enum class RidgeMethod {
    automatic,           ///< Cholesky while the matrix fits memory_bytes, else conjugate gradients
    cholesky,            ///< LAPACK, n²  numbers and n³/3 operations
    conjugate_gradient,  ///< n × rank numbers; kernel values computed again in every iteration
};

struct RidgeSettings {
    FitSettings common{};
    double lambda = 1;
    /// Several values to choose from by their leave-one-out error, all from one eigendecomposition;
    /// takes the place of `lambda` when not empty.
    std::vector<double> path{};
    bool bias = true;
    /// Closed-form leave-one-out errors for a single λ; with a path they are always there. Costs
    /// two more factorisations.
    bool leave_one_out = false;
    RidgeMethod method = RidgeMethod::automatic;
    double tolerance = 1e-10;  ///< conjugate gradients: relative residual
};

/// Reports primal and dual value, their gap, the worst residual of the system as kkt_violation, and
/// among the figures `lambda` and, where asked for, `loo_error`: the weighted mean of the squared
/// errors y_i − f₋ᵢ(x_i), f₋ᵢ being learnt without row i. With a path Model::arrays has "path", one
/// row (λ, leave-one-out error) a value; with leave-one-out "loo" has those residuals, one row an
/// output. The dual is  2λ α'y − λ² Σ α_i²/w_i − λ α'Kα  over Σ α_i = 0.
///
/// Throws InvalidInput when K + λ W⁻¹ is not positive definite. Told to stop, conjugate gradients
/// return what they have with a status; before there is anything, and of the other methods, the
/// answer is the machine of few rows (learn/detail/patient_fit.hpp).
class Ridge {
   public:
    explicit Ridge(RidgeSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::ridge; }
    const RidgeSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;
    /// Several outputs: one column of `targets` each, one factorisation for all.
    Model fit(const Dataset& data, MatrixView<const double> targets) const;
    /// In the span of some rows, by normal equations summed over blocks of rows: memory for
    /// centres², whatever the number of rows (`approximate`). Without columns of targets the labels
    /// are learnt.
    Model fit_in_span(const Dataset& data, MatrixView<const double> targets,
                      const Nystroem& how) const;

   private:
    RidgeSettings settings_;
};
inline Ridge ridge(RidgeSettings settings = {}) {
    return Ridge(std::move(settings));
}

/// One output of a machine that minimises the objective above.
struct RidgeSolution {
    std::span<const double> alpha;
    std::span<const double> image;  ///< K α
    std::span<const double> target;
    std::span<const double> weights;  ///< empty: all 1
    double lambda = 0;
    double bias = 0;
    bool has_bias = false;
};
/// Primal and dual value, gap, residual and norm, from these numbers alone.
Report certify_ridge(const RidgeSolution& solution);

}  // namespace mercer
