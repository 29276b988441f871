// The representer machine (001, theorem 4) with a loss and a regulariser that somebody else gives:
//
//     minimise  Σ_i w_i ℓ(y_i, f(x_i) + b) + λ Ω(‖f‖),   f = Σ_i α_i k(x_i, ·)
//
// ℓ is any function that is convex in its second argument, smooth or not; Ω any that rises.
// Functions of a program, or formulas:
//
//   GivenRiskSettings s{.common = {.kernel = rbf({.gamma = 0.5})}, .lambda = 0.1};
//   s.loss = "max(0, |y - z| - 0.1)";      // a formula in y and z
//   s.regulariser = "norm";                // not its square
//   Model m = given_risk(s).fit(data);
//   s.functions.value = [](auto y, auto z, auto out) {
//       for (std::size_t i = 0; i < z.size(); ++i) out[i] = (y[i] - z[i]) * (y[i] - z[i]);
//   };
//
// Slopes that are not given are differences. What is minimised is ℓ or, where Newton's method
// stalls at its kinks, its envelope min_u ℓ(y, u) + (u − z)²/2t with t ever smaller. The
// certificate is Fenchel's dual with conjugates found numerically, from values of ℓ and Ω alone and
// rounded against the claim:
//
//     dual  −Σ_i w_i ℓ*(y_i, −β_i/w_i) − λ Ω*(√(β'Kβ) / λ),     Σ β_i = 0 where there is a bias
//
// at β_i = −w_i ℓ'(z_i). Under another Ω than ‖f‖² the machine is one of the path of 2ν‖f‖: the one
// with 2ν‖f‖ = λΩ'(‖f‖). A loss that is found not to be convex is refused; an Ω that rises and is
// not convex has its minimum looked for along the path, and no dual.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/registry.hpp"

namespace mercer MERCER_API {

inline constexpr Task risk_task = new_task("risk");
inline constexpr Task risk_classes_task = new_task("risk-classes");

/// Many values at once: out[i] from y[i] and z[i]. Called by one thread at a time.
using LossBatch = std::function<void(std::span<const double> y, std::span<const double> z,
                                     std::span<double> out)>;

/// Functions in the place of formulas.
struct GivenFunctions {
    LossBatch value{};                                 ///< ℓ(y, z)
    LossBatch slope{};                                 ///< dℓ/dz; empty: differences
    std::function<double(double norm)> regulariser{};  ///< Ω
};

struct GivenRiskSettings {
    FitSettings common{};
    /// A formula in y and z, (y - z)^2; of classes y is +1 or −1.
    std::string loss = "(y - z)^2";
    std::string slope{};                 ///< dℓ/dz, a formula; empty: differences
    std::string regulariser = "norm^2";  ///< a formula in norm
    double lambda = 1;
    bool bias = true;
    double tolerance = 1e-6;  ///< on the relative duality gap
    std::size_t iteration_limit = 200;
    GivenFunctions functions{};
};

/// Learns numbers, or classes, several of them each against the rest. Report: primal, dual and gap;
/// among the figures lambda, norm (‖f‖), quadratic (the ν of the path) and smoothing (the last t, 0
/// where there was none).
class GivenRisk {
   public:
    GivenRisk(Task task, GivenRiskSettings settings)
        : task_(task), settings_(std::move(settings)) {}
    Task task() const { return task_; }
    const GivenRiskSettings& settings() const { return settings_; }
    /// Throws InvalidInput for a loss that is found not to be convex or not finite, an Ω that
    /// falls, a kernel that is not positive definite, and matrices that do not fit
    /// common.memory_bytes.
    Model fit(const Dataset& data) const;

   private:
    Task task_;
    GivenRiskSettings settings_;
};
inline GivenRisk given_risk(GivenRiskSettings settings = {}) {
    return {risk_task, std::move(settings)};
}
inline GivenRisk given_risk_classes(GivenRiskSettings settings = {}) {
    return {risk_classes_task, std::move(settings)};
}
/// The settings by their names (learn/registry.hpp). Throws InvalidSetting.
GivenRiskSettings given_risk_settings(FitSettings common, const std::string& task,
                                      const SettingValues& values);

}  // namespace mercer
