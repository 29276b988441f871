// Whether a kernel is admissible, by rule and with the reasons (000 §2.2, 001, 003).
#pragma once

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

}  // namespace mercer
