// regularized_laplacian: (I + beta L)^-1 on the nodes of a graph [Smola and Kondor 2003]
#include "mercer/kernel/leaf/node/detail/node_functions.hpp"

namespace mercer {
namespace {

using namespace leaves;

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> nodes) {
    const double beta = node.parameter("beta");
    return pairs_by_beta(
        node, nodes, [beta](double lambda) { return 1 / (1 + beta * lambda); },
        [beta](double lambda) { return -lambda / ((1 + beta * lambda) * (1 + beta * lambda)); });
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "I + beta L has eigenvalues 1 + beta lambda >= 1, and so its inverse positive ones (Smola "
        "and Kondor 2003)");
}

}  // namespace

const Leaf& regularized_laplacian_leaf() {
    static const Leaf leaf = node_leaf(
        {.name = "regularized_laplacian",
         .aliases = {"regularised_laplacian"},
         .formula = "[(I + beta L)^-1] at the nodes x, z, L the graph's Laplacian",
         .about = "nodes of one graph, with a longer reach than diffusion; laplacian as there",
         .parameters = {at_least_zero("beta", 1.0), laplacian_form(false)}},
        prepare, "beta", judge);
    return leaf;
}

}  // namespace mercer
