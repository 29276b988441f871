// Whether a kernel is admissible, by rule and with the reasons (000 §2.2, 001, 003).
//
// How many dimensions the feature space of a kernel has (000, 001): that of the smallest space in
// which k is a dot product, over all rows of so many columns.
//
//   feature_dimension(polynomial({.degree = 7}), 256).count.text();    // C(263, 7)
//   feature_dimension(rbf({.gamma = 1.0}), 256).kind;                  // infinite
//
// On a sample there are never more than rows: the rank of the Gram matrix (theory/mercer_test.hpp).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

enum class Definite {
    positive,     ///< Σ a_i a_j k(x_i,x_j) >= 0 for all a: a dot product in some feature space
    conditional,  ///< the same for all a with Σ a_i = 0 (order 1): enough for machines with a bias
    unknown,      ///< no rule decides
    refuted,      ///< a rule shows that it is not positive definite, whatever the data
};

/// One step of the argument, for one part of the expression.
struct Reason {
    std::size_t depth = 0;  ///< nesting of the part in the expression, 0 for the whole
    std::string part;       ///< its text
    Definite definite = Definite::unknown;
    bool strict = false;  ///< strictly positive definite
    std::string because;  ///< the rule, with the parameter range that decides
};

struct Definiteness {
    Definite definite = Definite::unknown;
    /// Positive definite, and Σ a_i a_j k(x_i,x_j) = 0 for distinct rows only if a = 0: the Gram
    /// matrix of distinct rows has full rank, so that any labels of theirs can be separated (004).
    /// False means: not known to be.
    bool strict = false;
    std::vector<Reason> reasons;  ///< the whole expression first, then its parts, depth first
};

/// What the caller knows of the data, which some rules need.
struct Assumptions {
    bool unit_norm = false;     ///< ‖x‖ = 1 for all rows
    bool non_negative = false;  ///< all entries >= 0
};

Definiteness definiteness(const Kernel& kernel, const Assumptions& assumptions = {});

/// "positive definite", "conditionally positive definite (order 1)", "not known to be positive
/// definite", "not positive definite"
std::string describe(Definite definite);
/// The same, or "strictly positive definite".
std::string describe(const Definiteness& found);
std::string describe(const Reason& reason);

/// A whole number >= 0 that may be too large for an integer: exact up to 2^64 − 1, beyond that its
/// logarithm.
class FeatureCount {
   public:
    explicit FeatureCount(std::uint64_t count = 0);
    /// C(n, k).
    static FeatureCount binomial(std::uint64_t n, std::uint64_t k);
    /// C(n + d − 1, d): monomials of degree d in n variables.
    static FeatureCount monomials(std::uint64_t variables, std::uint64_t degree);

    const std::optional<std::uint64_t>& exact() const { return exact_; }
    double log10() const { return log10_; }  ///< −∞ for 0
    double approximate() const;              ///< ∞ beyond the largest double
    /// "33153", or "1.234e25".
    std::string text() const;

    friend MERCER_API FeatureCount operator+(const FeatureCount& a, const FeatureCount& b);
    friend MERCER_API FeatureCount operator*(const FeatureCount& a, const FeatureCount& b);

   private:
    std::optional<std::uint64_t> exact_{};
    double log10_ = 0;
};

struct FeatureDimension {
    enum class Kind { exact, at_most, infinite, unknown };

    Kind kind = Kind::unknown;
    FeatureCount count{};   ///< where it is exact or a bound
    std::string because{};  ///< the rule

    static FeatureDimension exactly(FeatureCount count, std::string because) {
        return {Kind::exact, count, std::move(because)};
    }
    static FeatureDimension at_most(FeatureCount count, std::string because) {
        return {Kind::at_most, count, std::move(because)};
    }
    static FeatureDimension endless(std::string because) {
        return {Kind::infinite, FeatureCount{}, std::move(because)};
    }
    static FeatureDimension unclear(std::string because) {
        return {Kind::unknown, FeatureCount{}, std::move(because)};
    }
    /// Of the kernel that is this number for all pairs.
    static FeatureDimension constant(double value);
};

/// By rule: monomials for polynomials of x·z, infinite for what is strictly positive definite, sums
/// and products of what their parts have as bounds. Unknown for a kernel that is not known to be
/// positive definite. Throws InvalidInput when the kernel asks for columns that are not there.
FeatureDimension feature_dimension(const Kernel& kernel, std::size_t columns,
                                   const Assumptions& assumptions = {});

/// "33153", "at most 12", "infinite", "not known".
std::string describe(const FeatureDimension& dimension);

}  // namespace mercer
