// The dual in the form the methods work on. Two shapes occur.
//
// Groups: the columns of A lie on at most two lines through the origin, and have one length on each
// line. Then a change of basis of the equalities, and of sign of some variables (u_i = ±α_i), makes
// every coefficient 1: group g keeps Σ_{i in g} u_i = target_g, and group 0 is in no equality. One
// equality with labels as coefficients is one group; y'α = 0 with e'α = ν is two (ν-SVC), and so is
// ν-SVR. Two points of one group, or one point of group 0, may move by themselves.
//
// General: anything else, such as the tube of a shape ζ(x) with its columns (±1, ζ(x_i)). Then as
// many points as there are equalities, and one more, have to move together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "mercer/solver/dual.hpp"

namespace mercer {

struct CanonicalDual {
    std::size_t variables = 0;
    std::size_t rows = 0;  ///< of the operator
    std::vector<std::size_t> row;
    std::vector<double> sign;  ///< ±1, with the change of sign in it
    std::vector<double> p;
    std::vector<double> lower;
    std::vector<double> upper;
    std::vector<double> flip;  ///< α_i = flip_i u_i
    bool has_infinite_bounds = false;

    std::size_t given = 0;  ///< equalities of the problem as it was stated
    bool general = false;
    std::size_t equalities = 0;                 ///< groups beside group 0, or rows of A kept
    std::vector<std::uint8_t> group;            ///< 0, 1 or 2
    std::vector<std::array<double, 2>> column;  ///< general: column i of A, rows scaled to max 1
    std::array<double, 2> target{};
    /// λ_k = Σ_g basis[k][g] μ_g takes multipliers of this form to those of the given equalities.
    std::array<std::array<double, 2>, 2> basis{};

    /// What variable i adds to the equalities, one number each.
    std::array<double, 2> coefficients(std::size_t i) const {
        if (equalities == 0) return {};
        if (general) return column[i];
        return {group[i] == 1 ? 1.0 : 0.0, group[i] == 2 ? 1.0 : 0.0};
    }
    bool can_grow(std::size_t i, double u) const { return u < upper[i]; }
    bool can_fall(std::size_t i, double u) const { return u > lower[i]; }
    bool is_free(std::size_t i, double u) const { return u > lower[i] && u < upper[i]; }
    /// Where a variable that no support vector needs rests: zero, or the bound nearest to it.
    double rest(std::size_t i) const {
        return lower[i] > 0 ? lower[i] : (upper[i] < 0 ? upper[i] : 0.0);
    }
};

/// Throws InvalidInput, naming what is wrong and where, unless the problem is well formed for an
/// operator of `rows` rows.
void check_problem(const DualProblem& problem, std::size_t rows);

/// The canonical form of a checked problem; or why its equalities contradict each other.
CanonicalDual canonical_form(const DualProblem& problem, std::size_t rows,
                             std::optional<Infeasibility>& contradiction);

}  // namespace mercer
