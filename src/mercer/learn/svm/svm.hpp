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
#include "mercer/data/scaling.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/target_scale.hpp"
#include "mercer/solver/dual.hpp"

namespace mercer MERCER_API {

/// One moment of training, for a progress line.
struct FitMoment {
    std::string_view part;   ///< "3 vs 8" among several problems, else empty
    std::size_t number = 0;  ///< of the part, from 0
    std::size_t parts = 1;
    DualMoment dual{};  ///< NaN for a gap that is no proof, and for what is not known yet
};

/// One step of training by two points at a time (DualMethod::smo).
struct FitStep {
    std::string_view part;   ///< as above
    std::size_t number = 0;  ///< likewise
    TwoPointStep step{};     ///< its rows are those of the data
};

struct SvmSettings {
    Task task = Task::svc;
    Kernel kernel = rbf();
    double C = 1;          ///< svc, svr, nu-svr: penalty; svdd: 0 = use nu
    double nu = 0.5;       ///< nu-svc, nu-svr, one-class, svdd
    double epsilon = 0.1;  ///< svr
    bool bias = true;      ///< false: through the origin, as in 000 (svc, hard)
    MultiClass multi_class = MultiClass::one_vs_one;
    std::map<std::string, double> class_weights{};  ///< by class name; multiply C
    bool balanced = false;  ///< class weights rows / (classes × rows of the class)
    /// nu-svr: the tube's shape ζ(x) >= 0, ε ζ(x) wide (001, parametric error models): a formula
    /// over the unscaled inputs, numbers (one a row), or a function of the unscaled row.
    std::optional<Formula> tube{};
    std::vector<double> tube_values{};
    std::function<double(std::span<const double>)> tube_function{};
    ScalingRule scaling{};
    /// svr, nu-svr: read C, epsilon and tolerance in units of the target's scale. The model has
    /// them as they come to in the target's own units.
    TargetScale target_scale = TargetScale::automatic;
    bool probability = false;  ///< classifiers: fit Platt's sigmoids by 5 folds
    std::uint64_t seed = 1;    ///< of those folds

    double tolerance = 1e-3;  ///< on the KKT violation, LIBSVM's -e
    double relative_gap = 0;  ///< also stop at this gap if the kernel makes it a proof; 0: not used
    double time_limit = 0;    ///< seconds for the whole training; 0: none
    std::uint64_t iteration_limit = 0;
    std::size_t memory_bytes = std::size_t{1} << 30;  ///< for kernel values
    bool double_precision = false;
    DualMethod method = DualMethod::decomposition;
    bool shrinking = true;
    /// Where to begin: a machine of the same task, classes and rows, with another C or ν, or one
    /// that was stopped. The answer is the same, sooner.
    std::shared_ptr<const Model> start{};
    std::function<bool(const FitMoment&)> progress{};  ///< return false to stop with what there is
    /// Told every step, for method smo only: pairs, clipping intervals and the objective (002
    /// theorem 2). Steps of several parts may come between each other, one at a time.
    std::function<void(const FitStep&)> trace{};
};

/// Throws InvalidInput for settings or data no machine can be made of: too few classes, ν out of
/// reach (with the largest that is feasible), negative weights, C <= 0, … A training that stops
/// early returns a valid model whose reports say so.
class Svm {
   public:
    explicit Svm(SvmSettings settings) : settings_(std::move(settings)) {}
    const SvmSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;
    /// Regression with several outputs: one column of `targets` each, kernel rows shared.
    Model fit(const Dataset& data, MatrixView<const double> targets) const;

   private:
    SvmSettings settings_;
};

struct SvcParameters {
    Kernel kernel = rbf();
    double C = 1;
};
inline Svm svc(const SvcParameters& p) {
    return Svm({.task = Task::svc, .kernel = p.kernel, .C = p.C});
}
struct NuParameters {
    Kernel kernel = rbf();
    double nu = 0.5;
};
inline Svm nu_svc(const NuParameters& p) {
    return Svm({.task = Task::nu_svc, .kernel = p.kernel, .nu = p.nu});
}
inline Svm one_class(const NuParameters& p) {
    return Svm({.task = Task::one_class, .kernel = p.kernel, .nu = p.nu});
}
struct HardMarginParameters {
    Kernel kernel = linear();
    bool bias = true;
};
inline Svm hard_margin(const HardMarginParameters& p) {
    return Svm({.task = Task::hard_margin, .kernel = p.kernel, .bias = p.bias});
}
struct SvrParameters {
    Kernel kernel = rbf();
    double C = 1;
    double epsilon = 0.1;
};
inline Svm svr(const SvrParameters& p) {
    return Svm({.task = Task::svr, .kernel = p.kernel, .C = p.C, .epsilon = p.epsilon});
}
struct NuSvrParameters {
    Kernel kernel = rbf();
    double C = 1;
    double nu = 0.5;
};
inline Svm nu_svr(const NuSvrParameters& p) {
    return Svm({.task = Task::nu_svr, .kernel = p.kernel, .C = p.C, .nu = p.nu});
}
/// The smallest sphere around a sample (002); with C or ν some points may lie outside (SVDD).
struct SphereParameters {
    Kernel kernel = rbf();
    double nu = 0;  ///< 0: the hard sphere that contains every point
};
inline Svm sphere(const SphereParameters& p) {
    return Svm({.task = Task::svdd, .kernel = p.kernel, .C = 0, .nu = p.nu});
}

/// Recomputes the reports of a model from the model and its training data alone, in double
/// precision. Throws InvalidInput when the model's support vectors are not rows of the data.
std::vector<Report> recompute_reports(const Model& model, const Dataset& data,
                                      const Progress& progress = {});

}  // namespace mercer
