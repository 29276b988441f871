// Kernels between the nodes of one graph that are functions of its Laplacian L, K = f(L) [Smola and
// Kondor 2003]: f at the eigenvalues where a connected part is small, Chebyshev polynomials of L
// where it is large.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mercer/kernel/detail/leaf_tools.hpp"
#include "mercer/kernel/leaf/node/detail/laplacian.hpp"

namespace mercer::leaves {

struct NodeRule {
    std::string key{};  ///< equal for equal functions
    /// I − D^(−1/2) W D^(−1/2) in place of D − W; eigenvalues in [0, 2].
    bool normalised = false;
    SpectralFunction value{};
    /// By canonical parameter.
    std::vector<std::pair<std::string, SpectralFunction>> slopes{};
};

/// `laplacian=plain` or `laplacian=normalized`.
ParameterForm laplacian_form(bool normalised);

/// A leaf of this family, whose value has a slope in one parameter.
Leaf node_leaf(KernelEntry entry, decltype(Leaf::prepare) prepare, const char* parameter,
               decltype(Leaf::judge) judge);
/// The pairs of a leaf with the parameters beta and laplacian.
std::unique_ptr<const ObjectPairs> pairs_by_beta(const KernelNode& node,
                                                 std::span<const Object> nodes,
                                                 SpectralFunction value, SpectralFunction slope);

/// GraphParts of the graph up to this many nodes are decomposed; larger ones go by polynomials.
inline constexpr std::size_t largest_decomposed = 5000;

/// The pairs of nodes of one graph. `decomposed` is for tests of the other way.
std::unique_ptr<const ObjectPairs> node_pairs(NodeRule rule, std::span<const Object> nodes,
                                              std::size_t decomposed = largest_decomposed);

}  // namespace mercer::leaves
