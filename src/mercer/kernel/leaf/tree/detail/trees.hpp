// Trees as bracketed text: (S (NP (D the) (N cat)) (VP (V sleeps)))
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "mercer/kernel/leaf/detail/each_pair.hpp"
#include "mercer/kernel/leaf/detail/letters.hpp"

namespace mercer::leaves {

inline constexpr std::size_t most_tree_nodes = 1000000;
inline constexpr std::size_t deepest_tree = 100000;
/// Pairs of nodes that two trees may have in common.
inline constexpr std::size_t most_node_pairs = std::size_t{1} << 27U;

/// Nodes with their children before them; the root is the last. A word is a leaf, and (word) is the
/// same leaf; the label behind a bracket may be empty.
struct Tree {
    std::vector<std::uint64_t> labels{};  ///< hashes
    std::vector<std::size_t> starts{0};   ///< children of node v: children[starts[v]] …
    std::vector<std::uint32_t> children{};

    std::size_t nodes() const { return labels.size(); }
    std::span<const std::uint32_t> children_of(std::size_t v) const {
        return {children.data() + starts[v], starts[v + 1] - starts[v]};
    }
    bool is_leaf(std::size_t v) const { return starts[v] == starts[v + 1]; }
};

/// A text without anything in it is the empty tree. Throws InvalidInput with the position.
Tree parse_tree(std::string_view text);

/// A hash of each node's label with those of its children and which of these are leaves, or 0 for
/// leaves: the rule of the grammar that was used there.
std::vector<std::uint64_t> productions(const Tree& tree);
/// A hash of the whole tree below each node.
std::vector<std::uint64_t> subtrees(const Tree& tree);

/// A tree whose nodes are compared only where their keys are the same: what two trees share is
/// found by walking along both sorted lists (Moschitti 2006).
struct KeyedTree {
    /// Nodes of key 0 are compared with none.
    KeyedTree(Tree tree, std::vector<std::uint64_t> by);

    Tree tree{};
    std::vector<std::uint64_t> keys{};
    std::vector<std::uint32_t> sorted{};  ///< nodes by key, then number
    std::vector<std::uint32_t> rank{};    ///< of a node among those of its key
    std::uint64_t order = 0;              ///< a hash of the tree
};

/// Numbers for the pairs of nodes with the same key.
class NodePairs {
   public:
    /// Throws InvalidInput when there are too many.
    void begin(const KeyedTree& x, const KeyedTree& z);

    /// Nodes of z with the key of node v of x, in the order of their numbers.
    std::span<const std::uint32_t> partners(std::size_t v) const {
        return {z_->sorted.data() + first_[v], count_[v]};
    }
    /// Of a pair with the same key.
    double& at(std::size_t v, std::size_t w) { return values_[offset_[v] + z_->rank[w]]; }
    /// The same, 0 for pairs with different keys.
    double value(std::size_t v, std::size_t w) const {
        return x_->keys[v] != 0 && x_->keys[v] == z_->keys[w] ? values_[offset_[v] + z_->rank[w]]
                                                              : 0;
    }

   private:
    const KeyedTree* x_ = nullptr;
    const KeyedTree* z_ = nullptr;
    std::vector<std::size_t> first_{};
    std::vector<std::size_t> count_{};
    std::vector<std::size_t> offset_{};
    std::vector<double> values_{};
};

/// About as many pairs as two of these trees have in common.
double mean_node_pairs(const std::vector<KeyedTree>& trees);

/// decay of trees: in (0, 1].
ParameterForm share_form(const char* name, double fallback);

}  // namespace mercer::leaves
