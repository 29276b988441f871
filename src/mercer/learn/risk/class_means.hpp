// Classification by the nearest class mean in feature space, and Parzen windows: the first kernel
// algorithms of 001. Nothing is optimised, so both learn in one pass over blocks of kernel values.
//
//   Model model = class_means({.common = {.kernel = rbf({.gamma = 0.5})}}).fit(data);
//   Model region = parzen({.common = {.kernel = rbf({.gamma = 0.5})}, .nu = 0.05}).fit(data);
#pragma once

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

/// Two classes: exactly the decision function printed in 001 ("An Example of a Kernel Algorithm"),
///
///     f(x) = 1/m₊ Σ_{+} k(x, x_i) − 1/m₋ Σ_{−} k(x, x_i) + b,   b = ½ (‖c₋‖² − ‖c₊‖²),
///
/// + being the first class. More classes: f_c(x) = <Φ(x), μ_c> − ½‖μ_c‖², whose largest is the
/// nearest mean. Rows may be weighted; then the means are.
struct ClassMeansSettings {
    FitSettings common{};
    /// false: b = 0, which compares Parzen windows estimates of the classes' densities instead of
    /// distances to their means. Both are the same where ‖c₊‖ = ‖c₋‖.
    bool bias = true;
};

class ClassMeans {
   public:
    explicit ClassMeans(ClassMeansSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::class_means; }
    const ClassMeansSettings& settings() const { return settings_; }
    /// Every row becomes a point of the expansion; a linear kernel needs the means alone. Reports
    /// ‖w‖² = ‖c₊ − c₋‖² (two classes) and half its root as margin, the distance of each mean from
    /// the plane. Throws Cancelled when told to stop: there is nothing to hand back before the end.
    Model fit(const Dataset& data) const;

   private:
    ClassMeansSettings settings_;
};
inline ClassMeans class_means(ClassMeansSettings settings = {}) {
    return ClassMeans(std::move(settings));
}

/// A region by a threshold on the density that Parzen windows estimate (001, where the single-class
/// SVM is "a thresholded sparsified Parzen windows estimator"; with ν = 1 it is this one):
///
///     f(x) = 1/m Σ_i k(x, x_i) − ρ,   positive inside.
///
/// ρ leaves at most the share ν of the training rows outside.
struct ParzenSettings {
    FitSettings common{};
    double nu = 0.5;  ///< 0: every row inside; below 1
};

class Parzen {
   public:
    explicit Parzen(ParzenSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::parzen; }
    const ParzenSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;

   private:
    ParzenSettings settings_;
};
inline Parzen parzen(ParzenSettings settings = {}) {
    return Parzen(std::move(settings));
}

}  // namespace mercer
