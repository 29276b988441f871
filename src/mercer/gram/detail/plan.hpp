// A kernel expression compiled for whole blocks: which rows are derived from the data (groups),
// which pairwise numbers are needed of them (sources), which numbers of single rows (sides), and
// one short program that turns those into k(x, z), element by element, while they are still in
// cache.
//
// rbf(gamma=1) + linear + polynomial(degree=2) compiles to one group, one source (x·z, one matrix
// product), one side (‖x‖²) and seven instructions.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mercer/kernel/detail/node.hpp"

namespace mercer {

/// Rows shorter than this are never taken as sparse or as bytes, and their distances are sums of
/// squared differences.
inline constexpr std::size_t short_row = 64;

/// Rows derived from the given ones by picking columns or applying formulas, step by step.
struct Group {
    struct Step {
        std::vector<std::size_t> columns;  ///< positions picked, or
        std::vector<Formula> formulas;     ///< one a new column, or
        std::vector<Kernel> features{};    ///< the one leaf whose features the columns are
        /// A count n becomes n columns of 1: min(a, b) of counts is then a product.
        bool unary = false;
    };
    std::string key;        ///< equal for equal derivations
    std::size_t width = 0;  ///< columns after all steps
    std::vector<Step> steps{};
    std::vector<ObjectName> objects{};  ///< texts and graphs that can be seen
    bool features = false;    ///< sparse rows of features, as many as the reference rows have
    Matrix<double> form{};    ///< A of x'Az, else empty
    bool dots = false;        ///< some source needs x·z itself
    bool distances = false;   ///< some instruction needs ‖x−z‖² from x·z and the norms
    bool columnwise = false;  ///< some source is a sum over columns that is not a dot product
    bool placed = false;  ///< some source depends on where the origin is (x·z itself, chi2, …)
    bool raw = false;     ///< some source reads the derived rows themselves
};

enum class SourceKind {
    dot,           // x·z, or x'Az
    squared,       // ‖x−z‖² summed by differences, exact near 0
    absolute,      // Σ |x_k − z_k|
    chi2,          // Σ (x_k − z_k)² / (x_k + z_k)
    intersection,  // Σ min(x_k, z_k)
    sine,          // Σ sin²(π (x_k − z_k) / a)
    anova,         // elementary symmetric polynomial of degree b in exp(−a (x_k − z_k)²)
    pairs,         // a leaf's own function of two rows or objects, prepared
    sets,          // Σ Σ over the members of two sets, by a Gram engine of its own
};

struct Source {
    SourceKind kind = SourceKind::dot;
    std::size_t group = 0;
    double a = 0;
    double b = 0;
    std::vector<Kernel> kernel{};  ///< pairs, sets: the one node concerned
    std::string object{};          ///< pairs: the column of texts or graphs; empty: numbers
    bool mean = false;             ///< sets
    SetSplit split = SetSplit::none;
};

enum class Code {
    load,      // r = source
    distance,  // r = ‖x−z‖²: the source itself when it is `squared`, else from x·z and the
               // norms, max(0, ‖x‖² + ‖z‖² − 2 x·z)
    gaussian,  // r = exp(a × distance), the commonest kernel in one pass
    constant,  // r = a
    outer,     // r = side(x) side(z)
    affine,    // r = a r + b
    add,       // r = r + r2
    multiply,  // r = r r2
    scale_outer,       // r = r side(x) side(z)
    exp,               // r = exp(a r)
    integer_power,     // r = r^b, b a whole number >= 0
    power,             // r = r^a
    tanh,              // r = tanh(r)
    logistic,          // r = 1 / (1 + exp(−r))
    root,              // r = sqrt(r)
    matern,            // r = Matérn of r = ‖x−z‖², nu = a, 1/length = b
    step,              // r = 1 if r <= a else 0
    apply,             // r = the leaf's value at the number r, for leaves without a fast form
    feature_gaussian,  // r = exp(a (side(x) + side(z) − 2 r))
    center,            // r = r − side(x) − side(z) + a
    truncate,          // r = r if |r| >= a else 0
};

struct Instruction {
    Code code = Code::load;
    std::size_t target = 0;   ///< register written
    std::size_t operand = 0;  ///< second register
    std::size_t source = 0;
    std::size_t side = 0;
    double a = 0;
    double b = 0;
    const KernelNode* leaf = nullptr;  ///< apply: kept alive by the plan's kernel
};
using Program = std::vector<Instruction>;

enum class SideKind {
    squared_norm,  // |x|² of a group, as packed (so of centred rows where those are centred)
    formula,       // f(x)
    diagonal,      // k(x, x) of a part
    inverse_root,  // 1 / sqrt(k(x, x)), 0 where k(x, x) = 0
    mean,          // mean over the reference rows of a part
};

struct Side {
    SideKind kind = SideKind::squared_norm;
    std::size_t group = 0;
    std::vector<Formula> formula{};
    Program program{};  ///< diagonal, inverse_root, mean: the part
};

struct Plan {
    std::vector<Kernel> kernel;  ///< the one compiled
    std::vector<Group> groups;
    std::vector<Source> sources;
    std::vector<Side> sides;
    Program program;

    std::size_t registers() const;
};

/// The kernel must be resolved (no rules, no names). Throws InvalidInput when it asks for columns
/// that rows of `columns` numbers do not have, and when one of the columns of texts and graphs is
/// read by no part of it.
Plan compile(const Kernel& kernel, std::size_t columns, std::span<const ObjectName> objects = {});

}  // namespace mercer
