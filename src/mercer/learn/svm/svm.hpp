// Every support vector machine of the seeds, as builders of the one dual problem (solver/dual.hpp).
//
//   Model model = svc({.kernel = rbf({.gamma = 0.05}), .C = 10}).fit(data);
//   model.report().relative_gap;                      // certified optimality
//   Labels labels = model.predict_labels(test.x);
//
// Scalings of C and ν follow LIBSVM: the penalty is C Σ ξ_i (not C/m), ν is a fraction of the rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "mercer/base/export.hpp"
#include "mercer/base/formula.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/solver/dual.hpp"

namespace mercer MERCER_API {

/// One step of training by two points at a time (DualMethod::smo).
struct FitStep {
    std::string_view part;   ///< "3 vs 8" among several problems, else empty
    std::size_t number = 0;  ///< of the part, from 0
    TwoPointStep step{};     ///< its rows are those of the data
};

struct SvmSettings {
    Task task = Task::svc;
    /// common.target_scale (svr, nu-svr): C, epsilon and tolerance are read in units of the
    /// target's scale; the model has them as they come to in the target's own units. common.seed
    /// draws the folds of the sigmoids.
    FitSettings common{};
    double C = 1;          ///< svc, svr, nu-svr: penalty; svdd: 0 = use nu
    double nu = 0.5;       ///< nu-svc, nu-svr, one-class, svdd
    double epsilon = 0.1;  ///< svr
    bool bias = true;      ///< false: through the origin, as in 000 (svc, hard)
    MultiClass multi_class = MultiClass::one_vs_one;
    std::map<std::string, double> class_weights{};  ///< by class name; multiply C
    bool balanced = false;  ///< class weights rows / (classes × rows of the class)
    /// The rows are some of all: weights of classes that are not among them are left out, and a ν
    /// that they cannot meet is lowered to what they can.
    bool some_rows = false;
    /// nu-svr: the tube's shape ζ(x) >= 0, ε ζ(x) wide (001, parametric error models): a formula
    /// over the unscaled inputs, numbers (one per row), or a function of the unscaled row.
    std::optional<Formula> tube{};
    std::vector<double> tube_values{};
    std::function<double(std::span<const double>)> tube_function{};
    bool probability = false;  ///< classifiers: fit Platt's sigmoids by 5 folds

    double tolerance = 1e-3;  ///< on the KKT violation, LIBSVM's -e
    double relative_gap = 0;  ///< also stop when the gap is so small; 0: not used
    std::uint64_t iteration_limit = 0;
    DualMethod method = DualMethod::automatic;
    bool shrinking = true;
    /// Where to begin: a machine of the same task, classes and rows, with another C or ν, or one
    /// that was stopped. The answer is the same, sooner.
    std::shared_ptr<const Model> start{};
    /// Told every step, for method smo only: pairs, clipping intervals and the objective (002
    /// theorem 2). Steps of several parts may come between each other, one at a time.
    std::function<void(const FitStep&)> trace{};
};

/// The settings of a task by their names (learn/registry.hpp). Throws InvalidSetting.
SvmSettings svm_settings(Task task, FitSettings common, const SettingValues& values);
/// All of them by name and value, but for what has none: tube_function, start, trace.
std::string settings_text(const SvmSettings& settings);

/// Throws InvalidInput for settings or data no machine can be made of: too few classes, ν out of
/// reach (with the largest that is feasible), negative weights, C <= 0, … A training that stops
/// early returns a valid model whose reports say so.
///
/// Progress is told with the figures part (from 0), parts, iterations, steps, objective, violation,
/// gap, support, active and seconds; its detail is the part's name, "3 vs 8", among several.
class Svm {
   public:
    explicit Svm(SvmSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return settings_.task; }
    const SvmSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;
    /// Regression with several outputs: one column of `targets` each, kernel rows shared.
    Model fit(const Dataset& data, MatrixView<const double> targets) const;
    /// C-machines of so many rows that their features in the span of some (`approximate`) would not
    /// fit `memory_bytes`, by passes over the rows; nothing of others, which hold them.
    std::optional<Model> fit_in_span(const Dataset& data, MatrixView<const double> targets,
                                     const Nystroem& how) const;
    /// Widths of a tube given one per row go with their rows.
    Svm for_rows(std::span<const std::size_t> rows) const;
    /// Balanced classes are so over all rows, and some of them may be missing.
    Svm for_rows(std::span<const std::size_t> rows, const ClassCounts& all) const;

   private:
    SvmSettings settings_;
};
inline Svm svm(SvmSettings settings) {
    return Svm(std::move(settings));
}

struct SvcParameters {
    Kernel kernel = rbf();
    double C = 1;
};
inline Svm svc(const SvcParameters& p) {
    return Svm({.task = Task::svc, .common = {.kernel = p.kernel}, .C = p.C});
}
struct NuParameters {
    Kernel kernel = rbf();
    double nu = 0.5;
};
inline Svm nu_svc(const NuParameters& p) {
    return Svm({.task = Task::nu_svc, .common = {.kernel = p.kernel}, .nu = p.nu});
}
inline Svm one_class(const NuParameters& p) {
    return Svm({.task = Task::one_class, .common = {.kernel = p.kernel}, .nu = p.nu});
}
struct HardMarginParameters {
    Kernel kernel = linear();
    bool bias = true;
};
inline Svm hard_margin(const HardMarginParameters& p) {
    return Svm({.task = Task::hard_margin, .common = {.kernel = p.kernel}, .bias = p.bias});
}
struct SvrParameters {
    Kernel kernel = rbf();
    double C = 1;
    double epsilon = 0.1;
};
inline Svm svr(const SvrParameters& p) {
    return Svm({.task = Task::svr, .common = {.kernel = p.kernel}, .C = p.C, .epsilon = p.epsilon});
}
struct NuSvrParameters {
    Kernel kernel = rbf();
    double C = 1;
    double nu = 0.5;
};
inline Svm nu_svr(const NuSvrParameters& p) {
    return Svm({.task = Task::nu_svr, .common = {.kernel = p.kernel}, .C = p.C, .nu = p.nu});
}
/// The smallest sphere around a sample (002); with C or ν some points may lie outside (SVDD).
struct SphereParameters {
    Kernel kernel = rbf();
    double nu = 0;  ///< 0: the hard sphere that contains every point
};
inline Svm sphere(const SphereParameters& p) {
    return Svm({.task = Task::svdd, .common = {.kernel = p.kernel}, .C = 0, .nu = p.nu});
}

/// Why the certificate of a support vector machine cannot be recomputed: its dual variables are not
/// in the model. Empty where they are.
std::string why_not_verifiable(const Model& model);

/// Recomputes the reports of a model from the model and its training data alone, in double
/// precision. Throws InvalidInput when the model's support vectors are not rows of the data.
std::vector<Report> recompute_reports(const Model& model, const Dataset& data,
                                      const Progress& progress = {});

}  // namespace mercer
