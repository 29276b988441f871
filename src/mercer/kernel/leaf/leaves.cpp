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
Description spectrum_leaf, words_leaf, mismatch_leaf, gapped_leaf, wd_leaf, locality_improved_leaf,
    subsequence_leaf, local_alignment_leaf, dynamic_alignment_leaf, oligo_leaf;
// trees, written as texts
Description subtree_leaf, subset_tree_leaf, partial_tree_leaf;
// series
Description gak_leaf, signature_leaf;
// pictures
Description tangent_distance_leaf;
// graphs
Description wl_leaf, shortest_path_leaf, graphlet_leaf, propagation_leaf, random_walk_leaf;
// nodes of one graph
Description diffusion_leaf, regularized_laplacian_leaf, p_step_leaf;
// generative models
Description fisher_leaf, top_leaf, marginalised_leaf;
// the rest
Description bilinear_leaf, outer_leaf, precomputed_leaf, constant_leaf, user_leaf;

std::span<const Leaf* const> built_in_leaves() {
    static const std::array list{
        &linear_leaf(),
        &polynomial_leaf(),
        &sigmoid_leaf(),
        &logistic_leaf(),
        &exponential_dot_leaf(),
        &rbf_leaf(),
        &ball_leaf(),
        &negative_distance_leaf(),
        &inverse_multiquadric_leaf(),
        &matern_leaf(),
        &rational_quadratic_leaf(),
        &laplacian_leaf(),
        &anova_leaf(),
        &periodic_leaf(),
        &chi2_leaf(),
        &additive_chi2_leaf(),
        &intersection_leaf(),
        &bilinear_leaf(),
        &outer_leaf(),
        &precomputed_leaf(),
        &constant_leaf(),
        &user_leaf(),
        &spectrum_leaf(),
        &words_leaf(),
        &mismatch_leaf(),
        &gapped_leaf(),
        &wd_leaf(),
        &locality_improved_leaf(),
        &subsequence_leaf(),
        &local_alignment_leaf(),
        &dynamic_alignment_leaf(),
        &oligo_leaf(),
        &subtree_leaf(),
        &subset_tree_leaf(),
        &partial_tree_leaf(),
        &gak_leaf(),
        &signature_leaf(),
        &tangent_distance_leaf(),
        &wl_leaf(),
        &shortest_path_leaf(),
        &graphlet_leaf(),
        &propagation_leaf(),
        &random_walk_leaf(),
        &diffusion_leaf(),
        &regularized_laplacian_leaf(),
        &p_step_leaf(),
        &fisher_leaf(),
        &top_leaf(),
        &marginalised_leaf(),
    };
    return list;
}

}  // namespace mercer
