// A leaf of an expression, described in one place: its entry in the table, what it reads of two
// rows, its value, slopes, definiteness, enclosure and fast form stand together in a file of
// kernel/leaf/, and leaf/leaves.cpp lists them. Everything else asks the description: a new leaf is
// its file and its line in that list.
//
// A leaf is a function of one number t of a pair of rows (x·z, ‖x−z‖², …) or of the rows
// themselves.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/detail/interval.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/detail/finding.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/kernel/detail/object_leaf.hpp"

namespace mercer {

class Scanner;

/// What a leaf reads of two rows: the number t it is a function of.
enum class PairNumber {
    rows,      ///< no number: the rows themselves
    nothing,   ///< a constant
    dot,       ///< x·z
    squared,   ///< ‖x−z‖²
    absolute,  ///< Σ |x_k − z_k|
    chi2,      ///< Σ (x_k − z_k)² / (x_k + z_k), entries >= 0
    minima,    ///< Σ min(x_k, z_k), entries >= 0
    sine,      ///< Σ sin²(π (x_k − z_k) / period), which depends on the period
    anova,     ///< the anova sum of degree `degree`, which depends on gamma
};

/// Room for the results, each as long as there are pairs; empty where not wanted.
struct LeafSlopes {
    std::span<double> value{};
    std::span<double> by_number{};
};

/// A step of a fast form: r ← f(r), by vector instructions over a whole row of pairs.
enum class FastCode {
    affine,    // a r + b
    exp,       // exp(a r)
    power,     // r^a
    tanh,      // tanh(r)
    logistic,  // 1 / (1 + exp(−r))
    root,      // √r
    matern,    // Matérn of r = ‖x−z‖², nu = a, 1/length = b
    at_most,   // 1 if r <= a else 0
};
struct FastStep {
    FastCode code = FastCode::affine;
    double a = 0;
    double b = 0;
};
struct FastForm {
    std::vector<FastStep> steps{};  ///< from r = t
    /// A jump or a root of the distance: steep where ‖x‖² + ‖z‖² − 2 x·z has lost its digits, so
    /// that ‖x−z‖² must be summed by differences.
    bool steep = false;
};

struct Leaf {
    using Row = std::span<const double>;
    using Numbers = std::span<const double>;

    KernelEntry entry{};

    PairNumber reads = PairNumber::rows;
    /// Where a parameter decides what is read (the norm of laplacian); else null.
    PairNumber (*reads_by_parameter)(const KernelNode&) = nullptr;

    /// A leaf on whole objects: texts, graphs, or rows of numbers taken as one thing (a series). It
    /// has `features` or `prepare` (detail/object_leaf.hpp) and no other value; `reads` stays
    /// `rows`.
    ObjectKind objects = ObjectKind::numbers;
    void (*features)(const KernelNode&, const Object&, Features& out) = nullptr;
    /// The features are how often something is there: whole numbers from 0, but for what is learnt.
    bool counts = false;
    /// The names of the features of an object; null: they have none.
    void (*name_features)(const KernelNode&, const Object&, FeatureNames& out) = nullptr;
    std::unique_ptr<const ObjectPairs> (*prepare)(const KernelNode&,
                                                  std::span<const Object>) = nullptr;
    /// The canonical parameters in which what `prepare` makes has slopes.
    std::vector<std::string> pair_slopes{};
    /// Where a parameter decides which objects are read; else null.
    ObjectKind (*objects_by_parameter)(const KernelNode&) = nullptr;

    /// A leaf with a model inside that is fitted to data (`KernelNode::learnt`) has all of these:
    /// what stands between its parentheses, read and written; whether it still waits; the node with
    /// the model fitted to these objects. `classes` are those of the rows, empty where not known.
    KernelNode (*read)(Scanner&) = nullptr;
    std::string (*arguments)(const KernelNode&) = nullptr;
    bool (*waits)(const KernelNode&) = nullptr;
    KernelNode (*settle)(const KernelNode&, std::span<const Object>,
                         std::span<const std::int32_t> classes) = nullptr;
    bool needs_classes = false;  ///< to be settled
    /// A leaf with plain parameters one of which is learnt has, in the place of `read` and
    /// `arguments`: its name (words(idf=true)), and the list that stands behind it from then on.
    std::string learnt_parameter{};
    std::shared_ptr<const Learnt> (*read_learnt)(Scanner&) = nullptr;
    std::string (*learnt_text)(const Learnt&) = nullptr;
    /// Throws InvalidInput when parameters that are good one by one do not go together.
    void (*check)(const KernelNode&) = nullptr;

    /// k at the number t, by the formula. Null for a leaf that reads rows, which has the next.
    double (*value)(const KernelNode&, double t) = nullptr;
    double (*row_value)(const KernelNode&, Row x, Row z) = nullptr;

    /// k and dk/dt at many numbers; ∂k/∂θ for the canonical parameter θ with t held fixed. They
    /// throw InvalidInput where k is not differentiable; null: derivatives are not available.
    void (*slopes)(const KernelNode&, Numbers t, const LeafSlopes& out) = nullptr;
    void (*parameter_slope)(const KernelNode&, const std::string& canonical, Numbers t,
                            std::span<double> out) = nullptr;
    /// ∂k/∂x of a leaf that reads rows; null: not available.
    void (*row_slope)(const KernelNode&, Row x, Row z, std::span<double> out) = nullptr;
    /// The kernel s with ∂k(x, z)/∂z = s(x, z) x where k reads x·z, s(x, z) (z − x) where it reads
    /// ‖x−z‖²; null: there is none among kernels, or it is of no use.
    Kernel (*slope_kernel)(const Kernel&) = nullptr;

    /// Definiteness with the reason; null: not known.
    Finding (*judge)(const KernelNode&, const Assumptions&) = nullptr;
    /// Of the feature space over rows of so many columns, where k is positive definite; null: what
    /// its series and its definiteness say. Nothing where that depends on more than the leaf knows.
    FeatureDimension (*dimension)(const KernelNode&, std::size_t columns) = nullptr;
    /// k of an interval of numbers, rounding included; null: not available (`verify --rigorous`
    /// says so). For leaves that read x·z, ‖x−z‖², Σ|x_k − z_k| or nothing.
    Interval (*enclose)(const KernelNode&, Interval t) = nullptr;
    /// Null: `slopes` or `value` is applied to the numbers of each pair.
    FastForm (*fast)(const KernelNode&) = nullptr;
};

/// All leaves of the library, in the order of the documents: leaf/leaves.cpp.
std::span<const Leaf* const> built_in_leaves();

/// Adds a leaf for the life of the process, so that text may name it; the description stays where
/// the reference points. Throws InvalidInput for a name that is taken or not a plain word.
const Leaf& register_leaf(Leaf leaf);
/// All leaves, those registered too.
std::vector<const Leaf*> all_leaves();
/// The leaf with this name or alias, or null.
const Leaf* find_leaf(std::string_view name);

/// What this leaf reads.
PairNumber pair_number(const KernelNode& leaf);
/// The parameter that the number itself depends on ("period", "gamma"), or empty.
std::string number_parameter(PairNumber number);

/// The number a leaf reads of two rows.
double number_value(const KernelNode& leaf, PairNumber number, Leaf::Row x, Leaf::Row z);
/// The same with its derivatives in x and in the one parameter that it may depend on.
struct NumberSlopes {
    double value = 0;
    double by_parameter = 0;
    std::vector<double> by_input{};
};
NumberSlopes number_slopes(const KernelNode& leaf, PairNumber number, Leaf::Row x, Leaf::Row z);

/// map(intersection, leaf) of a leaf that counts: Σ min of the counts.
bool is_counts_in_common(const KernelNode& map);

/// A model inside that is not fitted yet.
inline bool waits_for_data(const KernelNode& node) {
    return node.leaf != nullptr && node.leaf->waits != nullptr && node.leaf->waits(node);
}

/// What the leaf reads of a row, where it works on whole objects.
inline ObjectKind object_kind(const KernelNode& leaf) {
    return leaf.leaf->objects_by_parameter != nullptr ? leaf.leaf->objects_by_parameter(leaf)
                                                      : leaf.leaf->objects;
}
/// Works on whole objects.
inline bool is_object_leaf(const Leaf& leaf) {
    return leaf.features != nullptr || leaf.prepare != nullptr;
}
/// k(x, z) of such a leaf. Throws InvalidInput for objects of another kind.
double object_value(const KernelNode& leaf, const Object& x, const Object& z);
/// ∂k(x, z)/∂θ of such a leaf. Throws InvalidInput where there is none.
double object_slope(const KernelNode& leaf, const std::string& canonical, const Object& x,
                    const Object& z);
/// Throws InvalidInput unless the leaf has a slope in this canonical parameter by pairs.
void require_pair_slope(const KernelNode& leaf, const std::string& canonical);

/// k(x, z) of a leaf, by the formula.
double leaf_at(const KernelNode& leaf, Leaf::Row x, Leaf::Row z);
/// value = k and by_number = dk/dt at the numbers t; for a leaf that reads rows t is k itself.
void leaf_value(const KernelNode& leaf, Leaf::Numbers t, const LeafSlopes& out);
/// out = ∂k/∂θ. Throws InvalidInput where there is none.
void leaf_parameter_slope(const KernelNode& leaf, const std::string& canonical, Leaf::Numbers t,
                          std::span<double> out);

}  // namespace mercer
