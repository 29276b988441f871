// The list of leaves: the one line that a new file of this folder needs elsewhere.
#include <array>

#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {

using Description = const Leaf&();

// functions of x·z
Description linear_leaf, polynomial_leaf, sigmoid_leaf, logistic_leaf, exponential_dot_leaf;
// functions of ‖x−z‖²
Description rbf_leaf, ball_leaf, negative_distance_leaf, inverse_multiquadric_leaf, matern_leaf,
    rational_quadratic_leaf;
// sums or products over columns
Description laplacian_leaf, anova_leaf, periodic_leaf, chi2_leaf, additive_chi2_leaf,
    intersection_leaf;
// texts
Description spectrum_leaf;
// the rest
Description bilinear_leaf, outer_leaf, precomputed_leaf, constant_leaf, user_leaf;

std::span<const Leaf* const> built_in_leaves() {
    static const std::array list{
        &linear_leaf(),        &polynomial_leaf(),         &sigmoid_leaf(),
        &logistic_leaf(),      &exponential_dot_leaf(),    &rbf_leaf(),
        &ball_leaf(),          &negative_distance_leaf(),  &inverse_multiquadric_leaf(),
        &matern_leaf(),        &rational_quadratic_leaf(), &laplacian_leaf(),
        &anova_leaf(),         &periodic_leaf(),           &chi2_leaf(),
        &additive_chi2_leaf(), &intersection_leaf(),       &bilinear_leaf(),
        &outer_leaf(),         &precomputed_leaf(),        &constant_leaf(),
        &user_leaf(),          &spectrum_leaf(),
    };
    return list;
}

}  // namespace mercer
