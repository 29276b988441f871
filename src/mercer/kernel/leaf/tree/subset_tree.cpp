// subset_tree: parts of trees cut at whole rules [Collins and Duffy 2002]
#include "mercer/kernel/leaf/tree/detail/trees.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// C(v, w) = 0 unless the same rule was used at v and w, else decay · Π (1 + C(child, child)) over
/// the children that are no leaves.
struct SubsetTrees {
    using Item = KeyedTree;
    struct Scratch {
        NodePairs pairs{};
    };

    Item item(const Object& object) const {
        Tree tree = parse_tree(std::get<std::string_view>(object));
        auto keys = productions(tree);
        return {std::move(tree), std::move(keys)};
    }

    double operator()(const Item& x, const Item& z, Scratch& scratch) const {
        scratch.pairs.begin(x, z);
        double sum = 0;
        for (std::size_t v = 0; v < x.tree.nodes(); ++v) {
            const auto below = x.tree.children_of(v);
            for (const std::uint32_t w : scratch.pairs.partners(v)) {
                const auto other = z.tree.children_of(w);
                double product = decay;
                for (std::size_t k = 0; k < below.size(); ++k) {
                    product *= 1 + scratch.pairs.value(below[k], other[k]);
                }
                scratch.pairs.at(v, w) = product;
                sum += product;
            }
        }
        return sum;
    }
    double pair_work(const std::vector<Item>& items) const { return mean_node_pairs(items); }

    double decay = 1;
};

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> trees) {
    return each_pair(SubsetTrees{node.parameter("decay")}, trees);
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "an inner product of the parts of trees, weighted by the square root "
        "of decay for each rule (Collins and Duffy 2002)");
}

}  // namespace

const Leaf& subset_tree_leaf() {
    static const Leaf leaf{
        .entry = {.name = "subset_tree",
                  .aliases = {"sst"},
                  .formula = "sum over parts u cut at whole rules of decay^(rules in u) count_u(x) "
                             "count_u(z)",
                  .about = "trees by the parts they share in which a node has all its children or "
                           "none",
                  .parameters = {share_form("decay", 0.4)}},
        .objects = ObjectKind::text,
        .prepare = prepare,
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
