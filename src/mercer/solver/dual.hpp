// The one quadratic program behind every support vector machine:
//
//     minimise    f(α) = ½ α'Qα + p'α
//     subject to  lower_i ≤ α_i ≤ upper_i,   i = 1 … n   (bounds may be ±infinity)
//                 A α = b                                 (no, one or two rows, any coefficients)
//
//     Q_ij = s_i s_j K(r_i, r_j)
//
// K is a symmetric operator that gives its rows on request; variable i stands for its row r_i with
// the sign s_i. So the two variables of a regression point share one row, labels are never
// multiplied into rows that others may be using, and one operator serves many problems.
// The gradient is kept by row: with β_r = Σ_{i: r_i = r} s_i α_i and v = K β,
//     ∂f/∂α_i = s_i v_{r_i} + p_i.
//
// Optimality (Karush, Kuhn and Tucker): there are multipliers λ of the equalities such that
// ρ_i = ∂f/∂α_i − (A'λ)_i is ≥ 0 where α_i can grow and ≤ 0 where it can fall. Since α is always
// feasible, the gap to the Lagrangian dual value is the sum of terms that are never negative,
//     f(α) − g(λ) = Σ_i max(ρ_i, 0) (α_i − lower_i) + max(−ρ_i, 0) (upper_i − α_i),
// and bounds the distance to the optimum whenever Q is positive semidefinite on {d : A d = 0}.
//
// Example: a soft-margin classifier with labels y = ±1 and a bias (001, 003).
//     DualProblem problem;
//     problem.p.assign(n, -1.0);
//     problem.lower.assign(n, 0.0);
//     problem.upper.assign(n, C);
//     problem.sign.assign(y.begin(), y.end());
//     problem.equalities = {{.coefficients = y, .value = 0.0}};
//     DualSolution solution = solve_dual(gram, problem);
//     double bias = -solution.multipliers[0];
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/operator.hpp"

namespace mercer MERCER_API {

/// Σ_i coefficients_i α_i = value.
struct Equality {
    std::vector<double> coefficients;
    double value = 0;
};

struct DualProblem {
    std::vector<double> p;
    std::vector<double> lower;           ///< may be -infinity
    std::vector<double> upper;           ///< may be +infinity: hard margins
    std::vector<std::size_t> row{};      ///< r_i; empty: variable i has row i
    std::vector<std::int8_t> sign{};     ///< s_i = ±1; empty: all +1
    std::vector<Equality> equalities{};  ///< at most two

    std::size_t size() const { return p.size(); }
};

enum class DualMethod {
    automatic,      ///< weights where rows are many and can be written down, else decomposition
    decomposition,  ///< working sets of hundreds, two-point steps on a packed tile
    smo,            ///< two points at a time (002 §2)
    chunking,       ///< all support vectors so far and the worst violators (001, Vapnik)
    weights,        ///< in the space of weights, by an interior point or one variable at a time
};

enum class DualStatus {
    converged,        ///< the tolerance, or the relative gap, was reached
    time_limit,       ///< α is feasible and certified by its gap, but not to the tolerance
    iteration_limit,  ///< likewise
    cancelled,        ///< likewise; without certificate when the operator refuses further rows
    stalled,          ///< likewise: rounding allows no further progress
    infeasible,       ///< bounds and equalities contradict each other: see Infeasibility
    unbounded,        ///< f has no minimum that could be found: see RecessionDirection
};
std::string describe(DualStatus status);

/// What a listener is told once an outer iteration.
struct DualMoment {
    std::uint64_t iterations = 0;  ///< outer iterations
    std::uint64_t steps = 0;       ///< steps of one, two or three points
    double objective = 0;
    double violation = 0;
    double gap = 0;  ///< of the variables still active
    std::size_t support = 0;
    std::size_t active = 0;
    double seconds = 0;
};

/// One step of plain smo, as 002 theorem 2 tells it: y are the coefficients ±1 of the equality (the
/// labels of a classifier), E_i = y_i ∂f/∂α_i, and α_2 is clipped to [U, V]. A step of one point,
/// where there is no equality, has it in both places, with E = ∂f/∂α and its own bounds for [U, V].
struct TwoPointStep {
    std::uint64_t step = 0;            ///< from 1
    std::array<std::size_t, 2> row{};  ///< of the operator
    std::array<double, 2> label{};     ///< y
    std::array<double, 2> alpha{};     ///< before
    std::array<double, 2> error{};     ///< E, without the bias, which cancels
    double curvature = 0;              ///< K11 + K22 − 2 K12, of one point K11
    double unclipped = 0;              ///< α_2 at the maximum on the line
    std::array<double, 2> clip{};      ///< U and V
    std::array<double, 2> moved_to{};  ///< both α after the step
    double objective = 0;              ///< W = −f after the step
    double violation = 0;              ///< of the optimality conditions, before the step
};

struct DualSettings {
    /// Largest allowed violation. LIBSVM's meaning: with one equality of coefficients ±1 it is
    /// m(α) − M(α) (Fan, Chen and Lin 2005); twice the largest |ρ_i| on the wrong side in general,
    /// |ρ_i| itself for variables in no equality.
    double tolerance = 1e-3;
    /// Stop when the gap is at most this fraction of |f|; 0: the violation alone decides.
    double relative_gap = 0;
    double time_limit = 0;              ///< seconds; 0: none
    std::uint64_t iteration_limit = 0;  ///< steps; 0: 1000 n, and at least 100 million
    DualMethod method = DualMethod::automatic;
    /// Where the working set begins: it grows to 2048 while its free variables have to be moved
    /// together. 0: 128 to 512 by the rows, and growing as well while the violation falls slowly.
    std::size_t working_set = 0;
    bool shrinking = true;
    /// Check v = Kβ against fresh sums on a sample of rows before convergence is declared, and
    /// compute all of it afresh when they differ by a hundredth of the tolerance. Without it v is
    /// the sum of all updates, exact to rounding as long as the operator returns the same number
    /// each time it is asked.
    bool exact_final = true;
    double curvature_floor = 1e-12;  ///< takes the place of curvatures ≤ 0 (LIBSVM's TAU)
    /// A direction d is taken for one of endless descent when d'Qd is at most this fraction of
    /// its scale; 0: the precision of the operator's entries.
    double recession_tolerance = 0;
    /// Return false to stop; the status is then `cancelled`.
    std::function<bool(const DualMoment&)> progress{};
    /// Whoever says stop, or the time limit, while a start with many rows in it is still summed has
    /// Cancelled thrown; else these sums are finished first, as without them nothing is certified.
    bool cancels_start = false;
    /// Told every step; plain smo only, and not for equalities in general position.
    std::function<void(const TwoPointStep&)> trace{};
};

/// Why no α is feasible: the combination of the equalities cannot take the wanted value in the box.
struct Infeasibility {
    std::vector<double> combination;  ///< one coefficient an equality
    double wanted = 0;
    double attainable_low = 0;
    double attainable_high = 0;
    std::string explanation;
};

/// Why no minimum was found: from any feasible α one may go along `direction` for ever (A d = 0,
/// and d points to no finite bound), the slope p'd is negative, and the curvature d'Qd is nothing
/// as far as the entries of Q are known, to some roundings of `scale`. What this proves of a hard
/// margin is that none is larger than half the distance of two points of the hulls.
struct RecessionDirection {
    std::vector<double> direction;  ///< Σ |d_i| = 1
    double curvature = 0;           ///< d'Qd
    double scale = 0;               ///< Σ |d_i d_j Q_ij|
    double slope = 0;               ///< p'd < 0
};

struct DualSolution {
    std::vector<double> alpha;
    std::vector<double> row_gradient;  ///< v = K β, one per row of the operator
    /// λ of ∂f − A'λ: over the free variables the mean (least squares with two equalities in
    /// general position), the midpoint of the interval when there is none. LIBSVM's rho.
    std::vector<double> multipliers;
    std::vector<double> multipliers_low;  ///< the interval optimality leaves to each multiplier
    std::vector<double> multipliers_high;
    double objective = 0;
    double violation = 0;
    double gap = 0;  ///< f(α) − g(λ); +infinity when λ is not dual feasible
    double equality_residual = 0;
    std::uint64_t iterations = 0;   ///< outer iterations; steps for plain smo
    std::uint64_t steps = 0;        ///< steps of one, two or three points
    std::size_t working_set = 0;    ///< the last: where a like problem may begin (decomposition)
    std::uint64_t evaluations = 0;  ///< operator entries computed for this solution
    double seconds = 0;
    DualStatus status = DualStatus::converged;
    std::optional<Infeasibility> infeasibility{};
    std::optional<RecessionDirection> recession{};
};

/// Solves the program. `start` (empty, or n numbers) is where to begin; it is moved to the nearest
/// feasible point when it is not feasible. Throws InvalidInput for a malformed problem and for an
/// operator with entries that are not finite. The result does not depend on the number of threads.
template <class T>
DualSolution solve_dual(const SymmetricOperator<T>& k, const DualProblem& problem,
                        const DualSettings& settings = {}, std::span<const double> start = {});

extern template DualSolution solve_dual<float>(const SymmetricOperator<float>&, const DualProblem&,
                                               const DualSettings&, std::span<const double>);
extern template DualSolution solve_dual<double>(const SymmetricOperator<double>&,
                                                const DualProblem&, const DualSettings&,
                                                std::span<const double>);

}  // namespace mercer
