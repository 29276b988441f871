#include "mercer/kernel/leaf/tree/detail/trees.hpp"

#include <algorithm>
#include <numeric>

#include "mercer/base/text.hpp"

namespace mercer::leaves {
namespace {

class Parser {
   public:
    explicit Parser(std::string_view text) : text_(text) {}

    Tree run() {
        for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
            const char c = text_[at_];
            if (c != ')' && tree_.nodes() > 0 && open_.empty()) {
                fail("expected nothing behind the tree");
            }
            if (c == '(') {
                ++at_;
                skip_blanks();
                open_.push_back({word(), {}});
                if (open_.size() > deepest_tree) fail("brackets nest too deep");
            } else if (c == ')') {
                if (open_.empty()) fail("a bracket is closed that was not opened");
                ++at_;
                close();
            } else {
                add(word(), {});
            }
        }
        if (!open_.empty()) fail("a bracket is not closed");
        return std::move(tree_);
    }

   private:
    struct Open {
        std::string_view label;
        std::vector<std::uint32_t> children;
    };

    static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
    void skip_blanks() {
        while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
    }
    std::string_view word() {
        const std::size_t first = at_;
        while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '(' &&
               text_[at_] != ')') {
            ++at_;
        }
        return text_.substr(first, at_ - first);
    }
    void close() {
        const Open done = std::move(open_.back());
        open_.pop_back();
        add(done.label, done.children);
    }
    void add(std::string_view label, const std::vector<std::uint32_t>& children) {
        if (tree_.nodes() == most_tree_nodes) {
            fail("a tree of more than " + std::to_string(most_tree_nodes) + " nodes");
        }
        if (!open_.empty())
            open_.back().children.push_back(static_cast<std::uint32_t>(tree_.nodes()));
        tree_.labels.push_back(hash_bytes(label));
        tree_.children.insert(tree_.children.end(), children.begin(), children.end());
        tree_.starts.push_back(tree_.children.size());
    }
    [[noreturn]] void fail(const std::string& what) const {
        throw InvalidInput("tree: position " + std::to_string(at_ + 1) + ": " + what + " in " +
                           quoted(text_) + "; trees are written as (S (NP (N cat)) (VP sleeps))");
    }

    std::string_view text_;
    std::size_t at_ = 0;
    std::vector<Open> open_{};
    Tree tree_{};
};

}  // namespace

Tree parse_tree(std::string_view text) {
    return Parser(text).run();
}

std::vector<std::uint64_t> productions(const Tree& tree) {
    std::vector<std::uint64_t> result(tree.nodes(), 0);
    for (std::size_t v = 0; v < tree.nodes(); ++v) {
        if (tree.is_leaf(v)) continue;
        std::uint64_t hash = tree.labels[v];
        for (const std::uint32_t c : tree.children_of(v)) {
            hash = hash_together(hash, hash_together(tree.is_leaf(c) ? 1 : 2, tree.labels[c]));
        }
        result[v] = hash;
    }
    return result;
}

std::vector<std::uint64_t> subtrees(const Tree& tree) {
    std::vector<std::uint64_t> result(tree.nodes());
    for (std::size_t v = 0; v < tree.nodes(); ++v) {
        std::uint64_t hash = hash_together(tree.labels[v], tree.children_of(v).size());
        for (const std::uint32_t c : tree.children_of(v)) hash = hash_together(hash, result[c]);
        result[v] = hash;
    }
    return result;
}

KeyedTree::KeyedTree(Tree given, std::vector<std::uint64_t> by)
    : tree(std::move(given)), keys(std::move(by)), sorted(tree.nodes()), rank(tree.nodes(), 0) {
    std::iota(sorted.begin(), sorted.end(), 0U);
    std::ranges::sort(sorted, {}, [&](std::uint32_t v) { return std::pair(keys[v], v); });
    for (std::size_t k = 1; k < sorted.size(); ++k) {
        if (keys[sorted[k]] == keys[sorted[k - 1]]) rank[sorted[k]] = rank[sorted[k - 1]] + 1;
    }
    order = tree.nodes() == 0 ? 0 : subtrees(tree).back();
}

void NodePairs::begin(const KeyedTree& x, const KeyedTree& z) {
    x_ = &x;
    z_ = &z;
    first_.assign(x.tree.nodes(), 0);
    count_.assign(x.tree.nodes(), 0);
    offset_.resize(x.tree.nodes());
    std::size_t b = 0;
    for (std::size_t a = 0; a < x.sorted.size(); ++a) {
        const std::uint32_t v = x.sorted[a];
        const std::uint64_t key = x.keys[v];
        if (key == 0) continue;
        while (b < z.sorted.size() && z.keys[z.sorted[b]] < key) ++b;
        std::size_t end = b;
        if (x.rank[v] > 0) {  // as for the node before
            end = b + count_[x.sorted[a - 1]];
        } else {
            while (end < z.sorted.size() && z.keys[z.sorted[end]] == key) ++end;
        }
        first_[v] = b;
        count_[v] = end - b;
    }
    std::size_t pairs = 0;
    for (std::size_t v = 0; v < offset_.size(); ++v) {
        offset_[v] = pairs;
        pairs += count_[v];
    }
    if (pairs > most_node_pairs) {
        throw InvalidInput("two trees of " + std::to_string(x.tree.nodes()) + " and " +
                           std::to_string(z.tree.nodes()) + " nodes have " + std::to_string(pairs) +
                           " pairs of nodes alike, more than " + std::to_string(most_node_pairs) +
                           "; subtree takes trees of any size");
    }
    values_.resize(pairs);
}

double mean_node_pairs(const std::vector<KeyedTree>& trees) {
    const double nodes = mean_of(trees, [](const KeyedTree& t) { return t.tree.nodes(); });
    return 4 * nodes + nodes * nodes / 8;
}

ParameterForm share_form(const char* name, double fallback) {
    ParameterForm form = above_zero(name, {}, fallback);
    form.high = 1;
    return form;
}

}  // namespace mercer::leaves
