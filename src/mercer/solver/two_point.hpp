// The smallest step that keeps an equality: two variables move, all others stay (002 §2, Platt).
#pragma once

#include <array>

namespace mercer {

/// What two variables of a C-SVM need for their step, in the words of 002 theorem 2: indices 1 and
/// 2 there are 0 and 1 here. The problem is max W(α) = Σ α_i − ½ Σ α_i α_j y_i y_j K_ij with
/// Σ y_i α_i = 0 and 0 ≤ α_i ≤ C. (002 prints (11) without the labels; its proof has them.)
struct TwoPoints {
    std::array<double, 2> alpha{};
    std::array<double, 2> label{};  ///< y = ±1
    std::array<double, 2> error{};  ///< E_j = Σ_i α_i y_i K_ij + b − y_j; b cancels
    double k11 = 0;
    double k22 = 0;
    double k12 = 0;
    double c = 0;  ///< upper bound, +infinity for the hard margin
};

/// 002 (13): the values α_2 may take.
struct ClipInterval {
    double u = 0;
    double v = 0;
};
ClipInterval clip_interval(const TwoPoints& points);

/// K11 + K22 − 2 K12, minus the second derivative of W along the line (002 remark 2).
double curvature(const TwoPoints& points);

/// Step 1 of the theorem: α_2 where W has its maximum on the whole line. Requires curvature > 0.
double unclipped_maximum(const TwoPoints& points);

/// Steps 2 and 3: both α after the step. Requires curvature > 0.
std::array<double, 2> two_point_step(const TwoPoints& points);

/// How far to go down a line on which f changes by −slope·t + ½ curvature·t², 0 ≤ t ≤ room, with
/// slope ≥ 0: the minimiser. A curvature that is not positive (duplicate points, indefinite
/// kernels) is replaced by the small positive `floor`, so that the step ends at `room` or, where
/// the slope is negligible, nearly stands still (Fan, Chen and Lin 2005, §2).
double floored_step(double slope, double curvature, double room, double floor);

/// Two variables of the general dual: min ½ α'Qα + p'α with a_1 α_1 + a_2 α_2 kept at its value.
struct GeneralPoints {
    std::array<double, 2> alpha{};
    std::array<double, 2> coefficient{};  ///< a, both nonzero
    std::array<double, 2> gradient{};     ///< ∂f/∂α
    std::array<double, 2> lower{};
    std::array<double, 2> upper{};
    double q11 = 0;
    double q22 = 0;
    double q12 = 0;
};

/// Both α at the minimum of f on the line within the bounds. With a = y, p = −1, Q_ij = y_i y_j
/// K_ij and bounds [0, C] it is the step of theorem 2.
std::array<double, 2> general_two_point_step(const GeneralPoints& points, double floor);

}  // namespace mercer
