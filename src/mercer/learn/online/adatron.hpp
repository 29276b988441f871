// The Adatron (000 §5.1): the simplest way to the maximum margin. It looks at one row after another
// and moves that row's coefficient by rule (32),
//
//     Δα_ν = max(−α_ν, η (1 − h_ν)),   h_ν = y_ν Σ_μ α_μ y_μ k(x_μ, x_ν),
//
// with a kernel in the place of the dot product. Each step raises the dual
// Q(α) = Σ α − ½ Σ Σ α α y y k by ΔQ >= (Δα)²/η (1 − ½ η k(x_ν, x_ν)) >= 0 as long as
// 0 < η < 2 / max k(x, x). (000 prints the bound with ‖x‖; its own proof (36) needs ‖x‖².)
//
//   Model model = adatron({.common = {.kernel = rbf({.gamma = 0.5})}, .C = 10}).fit(data);
//   model.report().history;                             // Q after each pass, never falling
//   model.report().figures.at("least_gain");            // the smallest ΔQ of all steps
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/registry.hpp"

namespace mercer MERCER_API {

struct AdatronSettings {
    FitSettings common{};
    double rate = 1;  ///< η = rate / max k(x, x); greater than 0 and less than 2
    /// Soft margin: α <= C (times the row's weight); 0: hard margin, whose Q has no maximum, and
    /// whose training no end but `passes`, when the classes cannot be separated.
    double C = 1;
    /// A bias b = Σ α y, learnt as one more coordinate that is 1 in every row: the kernel k + 1. So
    /// the margin is that of (w, b), as the proof needs it, not of w alone as in svc.
    bool bias = true;
    MultiClass multi_class = MultiClass::one_vs_one;
    double tolerance = 1e-3;    ///< on the violation of the optimality conditions
    std::size_t passes = 1000;  ///< at most
};

/// The settings by their names (learn/registry.hpp). Throws InvalidSetting.
AdatronSettings adatron_settings(FitSettings common, const SettingValues& values);

/// The reports are certificates: primal, dual, gap and violation, recomputed at the end from kernel
/// values alone, like those of learn/svm/svm.hpp; at a fixed point of (32) the violation is 0 (000
/// §5.1).
class Adatron {
   public:
    explicit Adatron(AdatronSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::adatron; }
    const AdatronSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;

   private:
    AdatronSettings settings_;
};
inline Adatron adatron(AdatronSettings settings = {}) {
    return Adatron(std::move(settings));
}

/// One moment of a training, for a plot.
struct CurvePoint {
    std::string method;     ///< "adatron" or "smo"
    std::size_t steps = 0;  ///< changes of a coefficient, or of two
    double seconds = 0;
    double objective = 0;  ///< Q
    double violation = 0;
};

/// How the Adatron goes up, a point a pass, and beside it sequential minimal optimisation (002 §2)
/// on the very same dual problem. Needs data of two classes.
std::vector<CurvePoint> convergence_curves(const AdatronSettings& settings, const Dataset& data);

}  // namespace mercer
