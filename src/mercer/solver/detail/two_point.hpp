// The smallest step that keeps an equality: two variables move, all others stay (002 §2, Platt).
#pragma once

#include <array>
#include <limits>

namespace mercer {

/// What two variables need for their step, in the words of 002 theorem 2: indices 1 and 2 there are
/// 0 and 1 here. The problem is max W(α) = Σ α_i − ½ Σ α_i α_j y_i y_j K_ij with Σ y_i α_i = 0 and
/// 0 ≤ α_i ≤ C. (002 prints (11) without the labels; its proof has them.) With y the coefficients
/// ±1 of any equality, E_i = y_i ∂(−W)/∂α_i and bounds of their own the same step serves the duals
/// of all support vector machines.
struct TwoPoints {
    std::array<double, 2> alpha{};
    std::array<double, 2> label{};  ///< y = ±1
    std::array<double, 2> error{};  ///< E_j = Σ_i α_i y_i K_ij + b − y_j; b cancels
    double k11 = 0;
    double k22 = 0;
    double k12 = 0;
    std::array<double, 2> lower{};  ///< 0 in the theorem
    /// C in the theorem; +infinity for the hard margin.
    std::array<double, 2> upper = {std::numeric_limits<double>::infinity(),
                                   std::numeric_limits<double>::infinity()};
};

/// 002 (13): the values α_2 may take.
struct ClipInterval {
    double u = 0;
    double v = 0;
};
ClipInterval clip_interval(const TwoPoints& points);

/// K11 + K22 − 2 K12, minus the second derivative of W along the line (002 remark 2).
double curvature(const TwoPoints& points);

/// Step 1 of the theorem: α_2 where W has its maximum on the whole line. A curvature that is not
/// positive (duplicate points, indefinite kernels), of which the theorem does not speak, is
/// replaced by the small positive `floor` (Fan, Chen and Lin 2005, §2).
double unclipped_maximum(const TwoPoints& points, double floor);

/// Steps 2 and 3: both α after the step. One that reaches a bound is put there exactly: being "at
/// the bound" is what selection and shrinking ask about.
std::array<double, 2> two_point_step(const TwoPoints& points, double floor);

/// How far to go down a line on which f changes by −slope·t + ½ curvature·t², 0 ≤ t ≤ room, with
/// slope ≥ 0: the minimiser. A curvature that is not positive is replaced as above, so that the
/// step ends at `room` or, where the slope is negligible, nearly stands still.
double floored_step(double slope, double curvature, double room, double floor);

/// Two variables without an equality between them: f changes by slope·s + ½ s'K s as they move by s
/// within their bounds.
struct FreePair {
    std::array<double, 2> slope{};
    double k11 = 0;
    double k22 = 0;
    double k12 = 0;
    std::array<double, 2> lower{};  ///< of the steps, at most 0
    std::array<double, 2> upper{};  ///< at least 0, or +infinity
};

/// Where f is least; K must be positive definite.
std::array<double, 2> free_pair_minimum(const FreePair& pair);

}  // namespace mercer
