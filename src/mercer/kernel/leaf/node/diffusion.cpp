// diffusion: heat that flows along the edges of a graph [Kondor and Lafferty 2002]
#include "mercer/kernel/leaf/node/detail/node_functions.hpp"

namespace mercer {
namespace {

using namespace leaves;

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> nodes) {
    const double beta = node.parameter("beta");
    return pairs_by_beta(
        node, nodes, [beta](double lambda) { return std::exp(-beta * lambda); },
        [beta](double lambda) { return -lambda * std::exp(-beta * lambda); });
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "exp(-beta L) of a symmetric matrix has eigenvalues exp(-beta lambda) > 0 (Kondor and "
        "Lafferty 2002)");
}

}  // namespace

const Leaf& diffusion_leaf() {
    static const Leaf leaf = node_leaf(
        {.name = "diffusion",
         .aliases = {"heat"},
         .formula = "[exp(-beta L)] at the nodes x, z, L the graph's Laplacian",
         .about = "nodes of one graph by the heat that flows from one to the other in the "
                  "time beta; L = D - W, or with laplacian=normalized "
                  "I - D^(-1/2) W D^(-1/2)",
         .parameters = {at_least_zero("beta", 1.0), laplacian_form(false)}},
        prepare, "beta", judge);
    return leaf;
}

}  // namespace mercer
