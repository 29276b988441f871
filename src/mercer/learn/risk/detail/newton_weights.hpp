// Newton's method for one output of a risk minimiser whose kernel is ΦΦ' of rows that can be
// written down, in the space of weights: with h = ω ℓ'' and g = ω ℓ' of the rows a step solves
//
//     (2λ I + Σ h φφ') d + (Σ h φ) e = −Σ g φ − 2λ w,    (Σ h φ)'d + (Σ h) e = −Σ g,
//
// by a factor where the columns are few, by conjugate gradients where they are many. With a whole
// step w + d = Σ α φ for α = −(g + h (φ·d + e)) / 2λ, so that the coefficients of the rows follow w
// at the price of their own length, and −g / 2λ is the dual point that brackets the optimum.
#pragma once

#include "mercer/base/operator.hpp"
#include "mercer/learn/risk/detail/newton_risk.hpp"

namespace mercer {

/// As the function for a matrix does (learn/risk/detail/newton_risk.hpp); the problem's `k` must be
/// the matrix of these rows, and its loss one of ours.
RiskSolution minimise_risk(const RiskProblem& problem, const ExplicitRows<double>& rows,
                           const NewtonSettings& settings);

}  // namespace mercer
