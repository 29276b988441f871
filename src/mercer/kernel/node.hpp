// The tree behind a Kernel, for the rooms that walk it: printing, definiteness, compilation to
// matrix products, derivatives. People who only use kernels need kernel/kernel.hpp alone.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

enum class KernelKind {
    // leaves: functions of x·z
    linear,
    polynomial,
    sigmoid,
    logistic,
    exponential_dot,
    // leaves: functions of ‖x−z‖²
    rbf,
    ball,
    negative_distance,
    inverse_multiquadric,
    matern,
    rational_quadratic,
    // leaves: sums or products over columns
    laplacian,  // with norm = 2 a function of ‖x−z‖²
    anova,
    periodic,
    chi2,
    additive_chi2,
    intersection,
    // leaves: the rest
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

struct KernelNode {
    KernelKind kind = KernelKind::linear;

    /// Named parameters exactly as given, defaults left out: {"sigma", 1.0}. `parameter()` reads
    /// them with defaults and conversions applied.
    std::vector<std::pair<std::string, Parameter>> given{};

    std::vector<Kernel> children{};
    double value = 0;                 ///< scale factor, power, constant, width of sets
    bool counted = false;             ///< sets
    ColumnSet subset{};               ///< columns
    std::vector<Formula> formulas{};  ///< map (one a coordinate), outer (exactly one)
    Matrix<double> matrix{};          ///< bilinear
    std::string name{};               ///< user
    PairFunction function{};          ///< user
    bool known_pd = false;            ///< user
    std::size_t depth = 1;            ///< levels of this tree, bounded when it is built
    std::size_t nodes = 1;            ///< parts of this tree, bounded when it is built

    /// The canonical parameter of a leaf as a number: parameter("gamma") of rbf(sigma=1) is 0.5.
    /// Throws InvalidInput while a rule waits for data.
    double parameter(std::string_view canonical) const;
};

/// What is known of a named kernel, one entry a name: the parser, the printer, the checks and the
/// help text all read this table.
struct ParameterForm {
    std::string name;                  ///< "sigma"
    std::vector<std::string> aliases;  ///< other spellings, printed as `name`
    std::string canonical;             ///< "gamma": what it is converted to
    double (*convert)(double);         ///< its value → the canonical value
    double low = 0;                    ///< allowed range, open or closed as below
    double high = 0;
    bool low_open = false;
    bool integer = false;
    bool rule_allowed = false;
    std::optional<Parameter> fallback{};  ///< default; for the canonical form only
};
struct KernelEntry {
    KernelKind kind;
    std::string name;                  ///< "rbf"
    std::vector<std::string> aliases;  ///< "gaussian"
    std::string formula;               ///< "exp(-gamma |x-z|^2)"
    std::string about;                 ///< one line for people
    std::vector<ParameterForm> parameters;
};
const std::vector<KernelEntry>& kernel_table();
const KernelEntry& kernel_entry(KernelKind kind);

}  // namespace mercer
