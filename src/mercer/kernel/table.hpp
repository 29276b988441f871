// What is known of every named kernel: names, formula, parameters with their forms, ranges and
// defaults.
//
//   kernel_table().front()->name;       // "linear"
//   kernel_table().front()->formula;    // "x.z"
//
// The parser, the printer, the checks, the help text, Python's constructors and the table in
// docs/kernels.md are all read from here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

enum class KernelKind;  // of the tree behind a kernel

using GivenParameters = std::vector<std::pair<std::string, Parameter>>;

/// One way to give a parameter.
struct ParameterForm {
    std::string name{};                   ///< "sigma"
    std::vector<std::string> aliases{};   ///< other spellings, printed as `name`
    std::string canonical{};              ///< "gamma": what it is converted to
    double (*convert)(double) = nullptr;  ///< its value → the canonical value
    double exponent = 1;                  ///< canonical = constant × value^exponent
    double low = 0;                       ///< allowed range, open or closed as below
    double high = 0;
    bool low_open = false;
    bool integer = false;
    std::vector<double> choices{};  ///< when not empty, the only values allowed
    /// The values are written as these words: the first is 0, the second 1, …
    std::vector<std::string> words{};
    bool rule_allowed = false;
    std::optional<Parameter> fallback{};  ///< default; for the canonical form only

    /// Part of the shape of an expression, as a degree is, and not a number that a search moves.
    bool is_shape() const { return integer || !choices.empty(); }
};

/// One entry a name.
struct KernelEntry {
    KernelKind kind{};
    std::string name{};                  ///< "rbf"
    std::vector<std::string> aliases{};  ///< "gaussian"
    std::string formula{};               ///< "exp(-gamma |x-z|^2)"
    std::string about{};                 ///< one line for people
    std::vector<ParameterForm> parameters{};
    /// Aliases that stand for parameters already chosen: matern12 is matern(nu=0.5).
    std::vector<std::pair<std::string, GivenParameters>> presets{};

    /// Written as its name with parameters, as rbf(gamma=1) is and k[0:3] or outer(x0) is not.
    bool is_plain_call() const;
};

/// Leaves first, then combinations, then the leaves that were registered since.
std::vector<const KernelEntry*> kernel_table();

}  // namespace mercer
