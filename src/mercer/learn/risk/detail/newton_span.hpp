// Newton's method for one output of a risk minimiser that goes over the rows, in the space of its
// weights: one pass for slopes and curvatures of all rows, one for the step.
#pragma once

#include <vector>

#include "mercer/learn/passes/detail/feature_products.hpp"
#include "mercer/learn/risk/detail/newton_risk.hpp"

namespace mercer {

struct SpanRisk {
    std::vector<double> weights{};  ///< w of f = w·φ + b
    /// `image` is w·φ, `alpha` the dual point −ω ℓ'/2λ, `violation` the length of the gradient.
    RiskSolution solution{};
};

/// Minimises Σ ω ℓ(y, w·φ + b) + λ‖w‖² over the rows of all ranks, of which the problem has this
/// one's; its `k` is not looked at. Every step is certified by the pass that the next one begins
/// with.
/// `start`, unless null, is where to begin: the machine of a problem that differs in its loss.
SpanRisk minimise_risk(const RiskProblem& problem, const FeatureProducts& features,
                       const NewtonSettings& settings, const SpanRisk* start = nullptr);

}  // namespace mercer
