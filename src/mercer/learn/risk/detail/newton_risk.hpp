// Newton's method for one output of a risk minimiser with a smooth loss (see
// learn/risk/losses.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "mercer/base/progress.hpp"
#include "mercer/learn/risk/detail/risk_matrix.hpp"
#include "mercer/learn/risk/losses.hpp"

namespace mercer {

/// A smooth convex loss seen at many values at once: what another program evaluates.
struct BatchLoss {
    BatchLoss() = default;
    BatchLoss(const BatchLoss&) = default;
    BatchLoss& operator=(const BatchLoss&) = default;
    virtual ~BatchLoss() = default;
    /// Spans of one length; those of results may be empty where they are not wanted.
    virtual void evaluate(std::span<const double> y, std::span<const double> z,
                          std::span<double> value, std::span<double> slope,
                          std::span<double> curvature) const = 0;
};

/// Σ w ℓ(y, Kα + b) + λ α'Kα over α and, with `bias`, b.
struct RiskProblem {
    const RiskMatrix* k = nullptr;
    std::span<const double> target;
    std::span<const double> weights;  ///< empty: all 1
    LossFunction loss{};
    double lambda = 1;
    bool bias = true;
    const BatchLoss* given = nullptr;  ///< in the place of `loss`

    double weight(std::size_t i) const { return weights.empty() ? 1 : weights[i]; }
};

struct RiskSolution {
    std::vector<double> alpha{};
    double bias = 0;
    std::vector<double> image{};  ///< K α
    double primal = 0;
    double dual = 0;
    double squared_norm = 0;
    double infeasibility = 0;  ///< |Σ| of the dual point
    double violation = 0;      ///< worst |2λ α_i / w_i + ℓ'_i|
    std::size_t iterations = 0;
    std::vector<double> history{};
    FitStatus status = FitStatus::converged;
    bool positive_definite = true;  ///< false: K is not, and there is no minimum to find
};

struct NewtonSettings {
    double relative_gap = 1e-6;
    std::size_t iteration_limit = 100;
    std::function<FitStatus()> interrupted{};  ///< `converged`: go on
    Progress progress{};                       ///< asked within a step
    std::span<const double> start{};           ///< coefficients to begin with; empty: 0
};

RiskSolution minimise_risk(const RiskProblem& problem, const NewtonSettings& settings);

/// Primal and dual value of α, b with K α = image; the dual point is made of the slopes at z and
/// is applied to K once. Sets primal, dual, squared_norm and infeasibility.
void certify_risk(const RiskProblem& problem, RiskSolution& solution);

}  // namespace mercer
