// partial_tree: parts of trees cut anywhere [Moschitti 2006]
#include "mercer/kernel/leaf/tree/detail/trees.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// C(v, w) = 0 unless v and w have the same label, else
///     mu (decay² + sum over common subsequences of children of decay^(spans) Π C(child, child))
/// where a span is the last child's number less the first's, in either tree.
struct PartialTrees {
    using Item = KeyedTree;
    struct Scratch {
        NodePairs pairs{};
        std::vector<double> row{};
    };

    Item item(const Object& object) const {
        Tree tree = parse_tree(std::get<std::string_view>(object));
        auto keys = tree.labels;
        return {std::move(tree), std::move(keys)};
    }

    double operator()(const Item& x, const Item& z, Scratch& scratch) const {
        scratch.pairs.begin(x, z);
        double sum = 0;
        for (std::size_t v = 0; v < x.tree.nodes(); ++v) {
            for (const std::uint32_t w : scratch.pairs.partners(v)) {
                const double chains =
                    children(x.tree.children_of(v), z.tree.children_of(w), scratch);
                const double value = mu * (decay * decay + chains);
                scratch.pairs.at(v, w) = value;
                sum += value;
            }
        }
        return sum;
    }

    /// With e(i, j) the sum over chains that end with the children i and j, and
    /// d(i, j) = Σ decay^(i-r + j-s) e(r, s) over r <= i, s <= j:
    ///     e(i, j) = C(i, j) (1 + decay² d(i-1, j-1))
    ///     d(i, j) = e(i, j) + decay (d(i-1, j) + d(i, j-1)) - decay² d(i-1, j-1)
    double children(std::span<const std::uint32_t> a, std::span<const std::uint32_t> b,
                    Scratch& scratch) const {
        double sum = 0;
        scratch.row.assign(b.size(), 0);
        for (const std::uint32_t v : a) {
            double corner = 0;
            double left = 0;
            for (std::size_t j = 0; j < b.size(); ++j) {
                const double up = scratch.row[j];
                const double e = scratch.pairs.value(v, b[j]) * (1 + decay * decay * corner);
                left = e + (decay * (up + left) - decay * decay * corner);
                corner = up;
                scratch.row[j] = left;
                sum += e;
            }
        }
        return sum;
    }
    double pair_work(const std::vector<Item>& items) const { return 3 * mean_node_pairs(items); }

    double decay = 1;
    double mu = 1;
};

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> trees) {
    return each_pair(PartialTrees{node.parameter("decay"), node.parameter("mu")}, trees);
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "an inner product of the parts of trees, weighted by their height and "
        "by the children they span (Moschitti 2006)");
}

}  // namespace

const Leaf& partial_tree_leaf() {
    static const Leaf leaf{
        .entry = {.name = "partial_tree",
                  .aliases = {"ptk"},
                  .formula = "sum over nodes v, w of C(v,w), C = mu (decay^2 + sum over common "
                             "children sequences of decay^spans prod C), 0 if labels differ",
                  .about = "trees by the parts they share in which a node has any of its children",
                  .parameters = {share_form("decay", 0.4), share_form("mu", 0.4)}},
        .objects = ObjectKind::text,
        .prepare = prepare,
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
