// What proves a result: multipliers, the duality gap, and directions of endless descent.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "mercer/solver/detail/canonical.hpp"

namespace mercer {

/// Multipliers μ of the canonical equalities, and the intervals that optimality leaves them.
struct Multipliers {
    std::array<double, 2> value{};
    std::array<double, 2> low{};
    std::array<double, 2> high{};
};

/// The middle of an interval, its finite end when it is half a line, 0 when it is all of it.
double midpoint(double low, double high);

/// From the gradient of all variables; `general` (used when the equalities are in general position
/// and the free variables do not determine μ) are the multipliers of the linear program.
Multipliers find_multipliers(const CanonicalDual& form, std::span<const double> u,
                             std::span<const double> gradient,
                             const std::array<double, 2>& general);

/// The contribution ρ_i = g_i − μ'a_i of variable i.
inline double reduced_gradient(const CanonicalDual& form, std::size_t i, double gradient,
                               const std::array<double, 2>& mu) {
    if (form.general) return gradient - mu[0] * form.column[i][0] - mu[1] * form.column[i][1];
    return form.group[i] == 0 ? gradient : gradient - mu[form.group[i] - 1];
}

/// f(α) minus the Lagrangian dual value at μ; see dual.hpp. Every dual point gives a bound, and the
/// better of two is taken: α itself, and τα with the smallest τ ≥ 1 that pulls no variable towards
/// a distant or infinite bound (for a hard margin: w stretched until every point keeps its margin).
/// +infinity when neither is dual feasible.
double duality_gap(const CanonicalDual& form, std::span<const double> u,
                   std::span<const double> gradient, const std::array<double, 2>& mu);

/// λ of the given equalities from μ, with their intervals.
struct GivenMultipliers {
    std::vector<double> value, low, high;
};
GivenMultipliers given_multipliers(const CanonicalDual& form, const Multipliers& mu);

}  // namespace mercer
