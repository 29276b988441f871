// regularized_laplacian: (I + beta L)^-1 on the nodes of a graph [Smola and Kondor 2003]
#include "mercer/kernel/leaf/detail/node_functions.hpp"

namespace mercer {
namespace {

using namespace leaves;

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> nodes) {
    const double beta = node.parameter("beta");
    return node_pairs({.key = Kernel(std::make_shared<const KernelNode>(node)).text(),
                       .normalised = node.parameter("laplacian") == 1,
                       .value = [beta](double lambda) { return 1 / (1 + beta * lambda); },
                       .slopes = {{"beta",
                                   [beta](double lambda) {
                                       const double v = 1 / (1 + beta * lambda);
                                       return -lambda * v * v;
                                   }}}},
                      nodes);
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "I + beta L has eigenvalues 1 + beta lambda >= 1, and so its inverse positive ones (Smola "
        "and Kondor 2003)");
}

}  // namespace

const Leaf& regularized_laplacian_leaf() {
    static const Leaf leaf{
        .entry = {.name = "regularized_laplacian",
                  .aliases = {"regularised_laplacian"},
                  .formula = "[(I + beta L)^-1] at the nodes x, z, L the graph's Laplacian",
                  .about = "nodes of one graph, with a longer reach than diffusion; laplacian as "
                           "there",
                  .parameters = {at_least_zero("beta", 1.0), laplacian_form(false)}},
        .objects = ObjectKind::node,
        .prepare = prepare,
        .pair_slopes = {"beta"},
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
