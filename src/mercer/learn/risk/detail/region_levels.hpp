// Thresholds of nested regions, and primal and dual value of given values <w, Φ(x_i)>: what
// training (learn/risk/regions.cpp) and the check of a model share.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/learn/detail/sample.hpp"

namespace mercer {

/// Rows by value, and how much they weigh.
struct Ordered {
    std::vector<std::size_t> order{};
    double total = 0;
};
Ordered ordered(const Sample& sample, std::span<const double> f);

/// The first place in the order whose row has to be inside, at most `outside` of the weight being
/// before it. Rows whose values differ by no more than `same`, one from the next, go together.
std::size_t first_inside(const Sample& sample, std::span<const double> f, const Ordered& o,
                         double outside, double same = 0);

/// (q/2)‖w‖² + Σ_j [1/(ν_j m) Σ_i ξ_ij − ρ_j] with the best thresholds ρ_j, which are quantiles,
/// and −(q/2)‖w‖².
struct RegionValues {
    double primal = 0;
    double dual = 0;
};
RegionValues region_values(const Sample& sample, std::span<const double> shares,
                           std::span<const double> f, double squared_norm);

/// How far γ = qw is from a sum of multipliers 0 <= α_ij <= a_i/ν_j with Σ_i α_ij = 1 a level, a_i
/// the share of row i in the weight. Such are there exactly when γ >= 0, Σγ = q and, for every set
/// of s levels, Σ_i min(γ_i, a_i Σ 1/ν_j) >= s (min cut of the flow from rows to levels); of all
/// sets of s the one with the smallest 1/ν_j asks for most.
double region_infeasibility(const Sample& sample, std::span<const double> shares,
                            std::span<const double> gamma);

}  // namespace mercer
