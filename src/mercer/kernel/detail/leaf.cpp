// Leaves asked through their descriptions, and the list of those registered by the program.
#include "mercer/kernel/detail/leaf.hpp"

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/build.hpp"

namespace mercer {
namespace {

struct Registry {
    std::mutex adding;  // from the look at a name to its place in the list: no other may take it
    std::mutex mutex;
    std::deque<Leaf> leaves;  // which stay where they are
};
Registry& registry() {
    static Registry instance;
    return instance;
}

bool is_called(const KernelEntry& entry, std::string_view name) {
    return entry.name == name || std::ranges::find(entry.aliases, name) != entry.aliases.end();
}

[[noreturn]] void no_derivative(const KernelNode& leaf, const std::string& in) {
    throw InvalidInput("the part " + Kernel(std::make_shared<const KernelNode>(leaf)).text() +
                       " has no derivative in " + in +
                       " that could be derived from its text; use a kernel of the table instead");
}

}  // namespace

const Leaf& register_leaf(Leaf leaf) {
    const std::string& name = leaf.entry.name;
    if (!is_plain_word(name)) {
        throw InvalidInput("a kernel needs a plain word as its name, found " + quoted(name));
    }
    std::vector<std::string> names = leaf.entry.aliases;
    names.push_back(name);
    Registry& r = registry();
    const std::lock_guard alone(r.adding);
    for (const std::string& own : names) {
        if (find_entry(own) == nullptr) continue;
        throw InvalidInput("there is a kernel called " + quoted(own) +
                           " already; take another name");
    }
    const bool by_rows = leaf.row_value != nullptr || is_object_leaf(leaf);
    if ((leaf.reads == PairNumber::rows) != by_rows ||
        (leaf.reads != PairNumber::rows) != (leaf.value != nullptr)) {
        throw InvalidInput("the kernel " + quoted(name) +
                           " needs a value: of two rows if it reads rows, else of its number");
    }
    const std::lock_guard lock(r.mutex);
    return r.leaves.emplace_back(std::move(leaf));
}

std::vector<const Leaf*> all_leaves() {
    const auto built_in = built_in_leaves();
    std::vector<const Leaf*> result(built_in.begin(), built_in.end());
    Registry& r = registry();
    const std::lock_guard lock(r.mutex);
    for (const Leaf& leaf : r.leaves) result.push_back(&leaf);
    return result;
}

const Leaf* find_leaf(std::string_view name) {
    for (const Leaf* leaf : all_leaves()) {
        if (is_called(leaf->entry, name)) return leaf;
    }
    return nullptr;
}

PairNumber pair_number(const KernelNode& node) {
    const Leaf& leaf = *node.leaf;
    return leaf.reads_by_parameter ? leaf.reads_by_parameter(node) : leaf.reads;
}

bool is_counts_in_common(const KernelNode& map) {
    if (map.kind != KernelKind::map || map.children.size() < 2) return false;
    const KernelNode& inside = map.children[0].node();
    const KernelNode& counted = without_subsets(map.children[1].node());
    return inside.leaf != nullptr && inside.leaf->reads == PairNumber::minima &&
           counted.leaf->counts && counted.learnt == nullptr && !waits_for_data(counted);
}

namespace {

void check_objects(const KernelNode& node, const Object& x, const Object& z) {
    const ObjectKind wanted = object_kind(node);
    for (const Object* object : {&x, &z}) {
        if (kind_of(*object) == wanted) continue;
        throw InvalidInput("the kernel " + node.entry().name + " is one of " +
                           std::string(object_words.word(wanted)) + ", not of " +
                           std::string(object_words.word(kind_of(*object))));
    }
    if (waits_for_data(node)) {
        throw InvalidInput("the kernel " + Kernel(std::make_shared<const KernelNode>(node)).text() +
                           " has something inside that waits for data; resolve it on a data set "
                           "first");
    }
}

}  // namespace

double object_value(const KernelNode& node, const Object& x, const Object& z) {
    const Leaf& leaf = *node.leaf;
    check_objects(node, x, z);
    if (leaf.features == nullptr) {
        const std::array both{x, z};
        const auto pairs = leaf.prepare(node, both);
        const std::uint32_t second = 1;
        double value = 0;
        pairs->row(0, *pairs, {&second, 1}, {&value, 1});
        return value;
    }
    Features of_x;
    Features of_z;
    leaf.features(node, x, of_x);
    leaf.features(node, z, of_z);
    collect_features(of_x);
    collect_features(of_z);
    return product_of(of_x, of_z);
}

void require_pair_slope(const KernelNode& leaf, const std::string& canonical) {
    const auto& known = leaf.leaf->pair_slopes;
    if (std::ranges::find(known, canonical) == known.end()) no_derivative(leaf, canonical);
}

double object_slope(const KernelNode& node, const std::string& canonical, const Object& x,
                    const Object& z) {
    check_objects(node, x, z);
    require_pair_slope(node, canonical);
    const std::array both{x, z};
    const auto pairs = node.leaf->prepare(node, both);
    const std::uint32_t second = 1;
    double value = 0;
    pairs->slope_row(canonical, 0, *pairs, {&second, 1}, {&value, 1});
    return value;
}

double leaf_at(const KernelNode& leaf, Leaf::Row x, Leaf::Row z) {
    const PairNumber number = pair_number(leaf);
    if (is_object_leaf(*leaf.leaf)) return object_value(leaf, x, z);
    if (number == PairNumber::rows) return leaf.leaf->row_value(leaf, x, z);
    return leaf.leaf->value(leaf, number_value(leaf, number, x, z));
}

void leaf_value(const KernelNode& leaf, Leaf::Numbers t, const LeafSlopes& out) {
    if (leaf.leaf->slopes) return leaf.leaf->slopes(leaf, t, out);
    if (leaf.leaf->reads == PairNumber::rows) {
        std::ranges::copy(t.first(out.value.size()), out.value.begin());
        std::ranges::fill(out.by_number, 1.0);
        return;
    }
    if (!out.by_number.empty()) no_derivative(leaf, "what it reads");
    for (std::size_t i = 0; i < out.value.size(); ++i) {
        out.value[i] = leaf.leaf->value(leaf, t[i]);
    }
}

void leaf_parameter_slope(const KernelNode& leaf, const std::string& canonical, Leaf::Numbers t,
                          std::span<double> out) {
    if (leaf.leaf->parameter_slope == nullptr) no_derivative(leaf, canonical);
    leaf.leaf->parameter_slope(leaf, canonical, t, out);
}

}  // namespace mercer
