// p_step: random walks of p steps on the nodes of a graph [Smola and Kondor 2003]
#include "mercer/kernel/leaf/node/detail/node_functions.hpp"

namespace mercer {
namespace {

using namespace leaves;

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> nodes) {
    const double a = node.parameter("a");
    const double p = node.parameter("p");
    return node_pairs(
        {.key = Kernel(std::make_shared<const KernelNode>(node)).text(),
         .normalised = true,
         .value = [a, p](double lambda) { return std::pow(a - lambda, p); },
         .slopes = {{"a", [a, p](double lambda) { return p * std::pow(a - lambda, p - 1); }}}},
        nodes);
}

Finding judge(const KernelNode& node, const Assumptions&) {
    const double a = node.parameter("a");
    if (a >= 2 || std::fmod(node.parameter("p"), 2) == 0) {
        return Finding::positive(
            "a I - L has eigenvalues a - lambda with lambda in [0, 2]; their power is not negative "
            "(Smola and Kondor 2003)");
    }
    return Finding::unknown("eigenvalues of L above a = " + rounded(a) +
                            " would become negative; a >= 2 is sure");
}

}  // namespace

const Leaf& p_step_leaf() {
    static const Leaf leaf =
        node_leaf({.name = "p_step",
                   .aliases = {"node_walk"},
                   .formula = "[(a I - L)^p] at the nodes x, z, L the graph's normalized Laplacian",
                   .about = "nodes of one graph by random walks of p steps that may rest",
                   .parameters = {above_zero("a", {}, 2.0), whole("p", {"steps"}, 1, 1000, 2.0)}},
                  prepare, "a", judge);
    return leaf;
}

}  // namespace mercer
