// The steepest feasible direction when the equalities are in general position.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace mercer {

/// A direction that keeps the equalities, with at most one point more than there are equalities.
struct SparseDirection {
    std::size_t count = 0;
    std::array<std::size_t, 3> index{};
    std::array<double, 3> weight{};  ///< d_i
};

/// What the linear program sees of n variables.
struct DirectionView {
    std::span<const double> gradient;
    std::span<const double> u;
    std::span<const double> lower;
    std::span<const double> upper;
    std::span<const std::array<double, 2>> column;  ///< second entry 0 with one equality
    std::size_t equalities = 0;                     ///< 1 or 2
};

/// Solves the pair of linear programs
///     max  −g'd   subject to  A d = 0,  Σ |d_i| ≤ 1,  d_i ≥ 0 where u_i is at its lower bound,
///                                                     d_i ≤ 0 where u_i is at its upper bound
///     min  t      over λ and t ≥ 0 such that ρ_i = g_i − λ'a_i is ≥ −t where u_i can grow
///                                                         and ≤ t where u_i can fall.
/// The first gives the steepest direction (with one equality of coefficients ±1: the maximal
/// violating pair), the second the multipliers and the violation 2t, with the same optimum. The
/// revised simplex method on a basis of 3 columns: a pivot costs one pass over the variables.
class SteepestDirection {
   public:
    /// Stops when no constraint is violated by more than t (1 + accuracy).
    void solve(const DirectionView& view, double accuracy);

    const std::array<double, 2>& multipliers() const { return lambda_; }
    /// Largest ρ_i on the wrong side for these multipliers.
    double largest() const { return largest_; }
    const SparseDirection& direction() const { return direction_; }

   private:
    /// A column of the first program: variable `index` growing (sign +1) or falling (−1); or none,
    /// the slack of Σ |d_i| ≤ 1 or an artificial unit column, which stays at zero.
    struct Column {
        std::array<double, 3> entry{};
        double cost = 0;
        std::size_t index = 0;
        double sign = 0;  ///< 0: not a variable
        bool artificial = false;
    };
    struct Candidate {
        double price = 0;
        std::size_t index = 0;
        double sign = 0;
    };

    void start();
    bool invert();
    void find_multipliers();
    Candidate best_candidate(const DirectionView& view, bool first_one) const;
    bool exchange(const Column& entering);
    void read_direction();

    std::array<Column, 3> basis_{};
    std::array<std::array<double, 3>, 3> inverse_{};
    std::array<double, 3> level_{};  ///< values of the basic columns
    std::array<double, 2> lambda_{};
    double t_ = 0;
    double largest_ = 0;
    SparseDirection direction_{};
};

/// The best partner by the second-order gain (g'd)² / d'Hd: keeps all points of `direction` but the
/// one that `slot` names and tries every variable in its place (Fan, Chen and Lin 2005, carried
/// over from pairs to triples). rows[k] is the row of H at direction.index[k], `diagonal` that of
/// H.
template <class T>
SparseDirection second_order_partner(const DirectionView& view, const SparseDirection& direction,
                                     std::size_t slot, std::span<const std::span<const T>> rows,
                                     std::span<const double> diagonal, double floor);

}  // namespace mercer
