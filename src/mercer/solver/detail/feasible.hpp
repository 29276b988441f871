// Feasible points: the nearest one to a given point, or a proof that there is none.
#pragma once

#include <optional>
#include <vector>

#include "mercer/solver/detail/canonical.hpp"

namespace mercer {

/// Moves u into the box and then, as little as possible in the Euclidean sense and among as few
/// variables as will do, onto the equalities: first only those away from their rest move, then more
/// and more others, so that a start stays sparse and its gradient cheap. Returns why when no
/// feasible point exists (u is then only inside the box).
std::optional<Infeasibility> make_feasible(const CanonicalDual& form, std::vector<double>& u);

/// The largest |Σ … − target| over the equalities.
double equality_residual(const CanonicalDual& form, const std::vector<double>& u);

/// Removes the rounding that many steps leave in the equalities, by moving free variables.
void polish_equalities(const CanonicalDual& form, std::vector<double>& u);

/// The feasible direction nearest to d: A d = 0, and no component towards a finite bound. False
/// when it is numerically zero.
bool nearest_recession_direction(const CanonicalDual& form, std::vector<double>& d);

}  // namespace mercer
