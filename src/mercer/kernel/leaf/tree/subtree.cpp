// subtree: whole subtrees that two trees share [Vishwanathan and Smola 2003]
#include "mercer/kernel/leaf/tree/detail/trees.hpp"

namespace mercer {
namespace {

using namespace leaves;

void features(const KernelNode& node, const Object& object, Features& out) {
    const Tree tree = parse_tree(std::get<std::string_view>(object));
    const double share = std::sqrt(node.parameter("decay"));
    const std::vector<std::uint64_t> hashes = subtrees(tree);
    std::vector<double> weight(tree.nodes());
    for (std::size_t v = 0; v < tree.nodes(); ++v) {
        weight[v] = share;
        for (const std::uint32_t c : tree.children_of(v)) weight[v] *= weight[c];
        out.push_back({hashes[v], weight[v]});
    }
}

}  // namespace

const Leaf& subtree_leaf() {
    static const Leaf leaf{
        .entry = {.name = "subtree",
                  .formula = "sum over trees u of decay^(nodes of u) count_u(x) count_u(z)",
                  .about = "trees, written as (S (NP cat) (VP sleeps)), by the nodes below which "
                           "they are the same",
                  .parameters = {share_form("decay", 1.0)}},
        .objects = ObjectKind::text,
        .features = features,
    };
    return leaf;
}

}  // namespace mercer
