// The tree behind a Kernel, for those who walk it: printing, definiteness, compilation to matrix
// products, derivatives. People who only use kernels need kernel/kernel.hpp alone.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mercer/base/words.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/kernel/table.hpp"

namespace mercer {

enum class KernelKind {
    // leaves, each described once (detail/leaf.hpp)
    leaf,    // a formula with named parameters; all of them alike for whoever walks the tree
    linear,  // and those that other code knows apart, by what they keep or mean:
    bilinear,
    outer,
    precomputed,
    constant,
    user,
    // combinations
    sum,      // children: two or more
    product,  // children: two or more
    scale,    // value × child
    power,    // child ^ value
    exp,
    normalize,
    center,
    rbf_of,
    columns,  // child on `subset`
    map,      // child on `formulas`
    sets,     // child on vectors of width `value`
};

struct Leaf;

/// What a leaf has learnt from data: tables of numbers by name.
struct Learnt {
    std::vector<std::pair<std::string, Matrix<double>>> tables{};

    /// The table of this name; null when there is none.
    const Matrix<double>* find(std::string_view name) const {
        for (const auto& [own, table] : tables) {
            if (own == name) return &table;
        }
        return nullptr;
    }
};

/// What splits a text into the members of a set.
enum class SetSplit { none, lines, words, commas };
constexpr Words set_splits{std::pair{SetSplit::none, "none"}, std::pair{SetSplit::lines, "lines"},
                           std::pair{SetSplit::words, "words"},
                           std::pair{SetSplit::commas, "commas"}};

struct KernelNode {
    KernelKind kind = KernelKind::leaf;
    const Leaf* leaf = nullptr;  ///< its description; null for combinations, which have children

    /// Named parameters exactly as given, defaults left out: {"sigma", 1.0}. `parameter()` reads
    /// them with defaults and conversions applied.
    GivenParameters given{};

    std::vector<Kernel> children{};
    double value = 0;                 ///< scale factor, power, constant, width of sets
    bool counted = false;             ///< sets
    bool mean = false;                ///< sets: divided by how many pairs of members there are
    SetSplit split = SetSplit::none;  ///< sets: of the parts of a text
    ColumnSet subset{};               ///< columns
    std::vector<Formula> formulas{};  ///< map (one a coordinate), outer (exactly one)
    Matrix<double> matrix{};          ///< bilinear
    /// Of a leaf with a model inside, once it is settled.
    std::shared_ptr<const Learnt> learnt{};
    std::string name{};       ///< user
    PairFunction function{};  ///< user
    bool known_pd = false;    ///< user
    std::size_t depth = 1;    ///< levels of this tree, bounded when it is built
    std::size_t nodes = 1;    ///< parts of this tree, bounded when it is built

    /// The canonical parameter of a leaf as a number: parameter("gamma") of rbf(sigma=1) is 0.5.
    /// Throws InvalidInput while a rule waits for data.
    double parameter(std::string_view canonical) const;
    /// What the table knows of it.
    const KernelEntry& entry() const;
};

/// True when `is` holds for the kernel's node or for one inside it: `is(const KernelNode&)`.
template <class Predicate>
bool contains_if(const KernelNode& node, const Predicate& is) {
    if (is(node)) return true;
    for (const Kernel& child : node.children) {
        if (contains_if(child.node(), is)) return true;
    }
    return false;
}
/// True when some part of the kernel is of this kind.
inline bool contains(const Kernel& kernel, KernelKind kind) {
    return contains_if(kernel.node(), [kind](const KernelNode& part) { return part.kind == kind; });
}
/// k of k[0:3][1].
inline const KernelNode& without_subsets(const KernelNode& node) {
    const KernelNode* inner = &node;
    while (inner->kind == KernelKind::columns) inner = &inner->children.front().node();
    return *inner;
}
/// The members of a text as a set, without blanks around them, empty ones left out.
std::vector<std::string_view> split_text(std::string_view text, SetSplit split);
/// c of c x·z, factors multiplied out; nothing for other kernels.
std::optional<double> linear_factor(const Kernel& kernel);
/// gamma of c exp(−gamma ‖x−z‖²) with c > 0, the Gaussian; nothing for other kernels.
std::optional<double> gaussian_gamma(const Kernel& kernel);

}  // namespace mercer
