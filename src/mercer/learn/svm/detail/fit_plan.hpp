// Training data turned into subproblems: which rows, which targets, which bounds.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/svm/detail/subproblem.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {

/// One dual problem and the rows of the data it is about.
struct Part {
    std::string name{};  ///< "3 vs 8", or empty
    RowChoice rows{};    ///< of the sample
    Subproblem problem{};
    /// The class that stands against all others, while the problem is open (`complete`).
    std::optional<std::size_t> open{};
};

/// The same problem with its rows in another order, which says for each where it stood; empty: as
/// they are.
void put_in_order(Part& part, std::span<const std::size_t> order);

/// The data and settings of one training, checked.
struct FitPlan {
    Sample sample{};
    std::vector<double> tube{};  ///< ζ of each row; empty: 1
    std::vector<double> class_weights{};
    std::vector<double> class_bounds{};  ///< Σ of the bounds of each class; of classifiers
    std::vector<Part> parts{};
};

/// One class against the rest: each such problem has all rows, and thousands of them at once would
/// take more memory and time than most of them are worth.
enum class RestParts {
    whole,
    open,  ///< without rows, targets and bounds until `complete` is called
};

/// One-class with ν = 0: its problem is the hard margin through the origin, its region f(x) >= 1.
inline bool separates_origin(Task task, const Subproblem& problem) {
    return task == Task::one_class && problem.task == Task::hard_margin;
}

/// Throws InvalidSetting for numbers out of range (svm_settings.cpp has them), and beyond that for
/// settings that no data could be trained with.
void check_ranges(const SvmSettings& settings);
void check_settings(const SvmSettings& settings);

/// Throws InvalidInput for what cannot be trained on. `targets` (may be empty) are several
/// regression outputs. The bounds of svdd parts need k(x,x) and are completed by the caller.
FitPlan plan_fit(const SvmSettings& settings, const Dataset& data, MatrixView<const double> targets,
                 RestParts rest = RestParts::whole);

/// Fills in a part that was left open.
void complete(const SvmSettings& settings, const FitPlan& plan, Part& part);

/// A linear svc of more rows than can be held, by passes over them; nothing for all others. All
/// ranks must ask.
std::optional<Model> fit_linear_by_passes(const SvmSettings& settings, const Dataset& data);

/// What multiplies C for each class, of which there are so many rows.
std::vector<double> weights_by_class(const SvmSettings& settings,
                                     const std::vector<std::string>& names,
                                     const std::vector<double>& counts);

/// The largest ν that all parts of a ν-SVC can meet; infinite for other machines.
double largest_nu(const FitPlan& plan);

/// The same weights for a machine of some rows, by the classes of all of them, of which some may be
/// missing. Throws InvalidInput for a weight of no class at all, and for a tube given as a formula.
void settle_weights(SvmSettings& settings, const ClassCounts& all);

/// Labels as positions of the model's classes, which are in an order of their own: that of LIBSVM's
/// file, or that of the estimator in Python. Throws InvalidInput for a label that is no class of
/// it.
void number_labels(const Model& model, Dataset& data);

/// The settings a model was trained with. Throws InvalidInput for a tube that the model does not
/// hold.
SvmSettings trained_settings(const Model& model);

/// A model put back on the data it was trained on.
struct RestoredFit {
    FitPlan plan{};
    Rows x{};                        ///< the plan's rows as the model scales them
    std::vector<Learned> learned{};  ///< one a part: β on the part's rows, bias, ρ, ε, radius
};

/// Throws InvalidInput for a model that is no support vector machine or whose support vectors are
/// not rows of the data.
RestoredFit restore_fit(const Model& model, const Dataset& data);

}  // namespace mercer
