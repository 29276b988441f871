// Regularised risk minimisers for losses other than the squared one (001, the representer theorem):
//
//     minimise  Σ_i w_i ℓ(y_i, f(x_i) + b) + λ ‖f‖²,   f = Σ_i α_i k(x_i, ·)
//
//   logistic        log(1 + exp(−y z))                      y = ±1; gives probabilities directly
//   squared hinge   max(0, 1 − y z)²                        y = ±1
//   huber           r²/2 for |r| ≤ δ, else δ|r| − δ²/2      r = y − z
//   quantile        τ r for r ≥ 0, else (τ − 1) r           r = y − z
//
//   Model m = risk_minimiser({.loss = Loss::logistic, .lambda = 0.1}).fit(data);
//   m.report().relative_gap;                                // certified
//   m.probabilities(test.x);
//
// The first three are solved by Newton's method on the active rows (iteratively reweighted least
// squares; Chapelle 2007), the last by the dual solver of the support vector machines. Fenchel's
// dual, with a_i = 2λ α_i / w_i and Σ α_i = 0 where there is a bias, is
//
//     maximise  −Σ_i w_i ℓ*(y_i, −a_i) − λ α'Kα,
//
// and the point α_i = −w_i ℓ'(y_i, z_i) / 2λ that every machine has bounds its distance from the
// optimum.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

/// The hinge max(0, 1 − y z), made smooth within δ of its kink, is for `svc` in the span of some
/// rows (learn/svm); no risk minimiser has it.
enum class Loss { logistic, squared_hinge, huber, quantile, hinge };
Task task_of(Loss loss);

/// A loss with its parameter at one value z = f(x) + b.
struct LossFunction {
    Loss loss = Loss::logistic;
    double delta = 1;       ///< huber, hinge
    double quantile = 0.5;  ///< quantile

    double value(double y, double z) const;
    double slope(double y, double z) const;      ///< dℓ/dz
    double curvature(double y, double z) const;  ///< d²ℓ/dz², of one side at a kink of ℓ'
    /// −ℓ*(y, −a), ℓ* being the conjugate in z; −infinity outside its domain.
    double dual(double y, double a) const;
};

struct RiskSettings {
    Loss loss = Loss::logistic;
    FitSettings common{};
    double lambda = 1;
    bool bias = true;         ///< quantile always has one
    double delta = 1;         ///< huber: where the loss becomes linear
    double quantile = 0.5;    ///< quantile: τ between 0 and 1
    double tolerance = 1e-6;  ///< on the relative duality gap
    std::size_t iteration_limit = 100;
};

/// Classifiers take several classes one against the rest, all on one stored matrix. Reports primal,
/// dual, gap and status of each output; among the figures lambda, and training_error (share of rows
/// on the wrong side, classifiers) or training_loss (mean loss). History is the primal value after
/// each Newton step.
///
/// Throws InvalidInput for settings out of range, for a kernel that is not positive definite where
/// that stops Newton's method, and when its matrices do not fit common.memory_bytes.
class RiskMinimiser {
   public:
    explicit RiskMinimiser(RiskSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return task_of(settings_.loss); }
    const RiskSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;
    /// In the span of some rows, by passes over blocks of them: memory for centres², whatever the
    /// number of rows (`approximate`). Nothing for quantiles, whose loss has no curvature.
    std::optional<Model> fit_in_span(const Dataset& data, MatrixView<const double> targets,
                                     const Nystroem& how) const;

   private:
    RiskSettings settings_;
};
inline RiskMinimiser risk_minimiser(RiskSettings settings = {}) {
    return RiskMinimiser(std::move(settings));
}

}  // namespace mercer
