// The certificate of a trained machine (001 KKT, 000 §3, 004): numbers that anyone can recompute
// from the model and the data, and that bound how far the machine is from the optimum.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

enum class FitStatus {
    converged,        ///< the wanted tolerance or gap was reached
    time_limit,       ///< valid and certified, but stopped early
    iteration_limit,  ///< likewise
    cancelled,        ///< likewise
    stalled,          ///< likewise: rounding allowed no further progress
    search_limit,     ///< parameters were sought, and some ended at a limit of the search
    not_separable,    ///< hard margin only: proved that there is none; see Report::hull_weights
    no_margin,        ///< hard margin only: none was found, nor is there one above margin_bound
};
std::string describe(FitStatus status);
/// Whether there is no machine: the model has a report and nothing else.
inline bool has_no_machine(FitStatus status) {
    return status == FitStatus::not_separable || status == FitStatus::no_margin;
}

/// What the bracket [dual, primal] rests on: the kernel matrix must be positive semidefinite on the
/// directions in which the coefficients can move (learn/convexity.hpp).
enum class Convexity {
    not_asked,  ///< a machine without a bracket
    by_rule,    ///< the kernel is positive definite, or conditionally so and their sum is given
    on_sample,  ///< the smallest eigenvalue on all rows was looked at
    unknown,    ///< no rule decides, and the sample is too large or training was stopped
    refuted,    ///< it was found to be negative
};
std::string describe(Convexity convexity);

struct Report {
    std::string name{};  ///< "3 vs 8" among several, else empty
    FitStatus status = FitStatus::converged;

    Convexity convexity = Convexity::not_asked;
    double least_curvature = 0;  ///< on_sample, refuted: that eigenvalue
    double curvature_error = 0;  ///< and how far it may be off; 0: it was not looked for

    /// Without `is_bracketed` primal, gap and relative gap are NaN, and dual is the objective at a
    /// stationary point.
    double primal = 0;
    double dual = 0;
    double gap = 0;            ///< primal − dual >= 0
    double relative_gap = 0;   ///< gap / max(|primal|, |dual|), 0 when both are 0
    double kkt_violation = 0;  ///< worst violation of the optimality conditions, LIBSVM's meaning
    double infeasibility = 0;  ///< worst breach of a bound or equality, relative to the bounds
    double margin = 0;  ///< 1/‖w‖ (hard, C), ρ/‖w‖ (ν, one-class), R of a sphere, 0 for regression
    double squared_norm = 0;  ///< ‖w‖², or ‖centre‖² of a sphere
    double bias = 0;
    double rho = 0;      ///< ν-SVC: the margin's numerator, C = 1/ρ; one-class: the offset
    double epsilon = 0;  ///< the tube, found by itself in ν-SVR
    double radius = 0;   ///< SVDD

    std::size_t rows = 0;
    std::size_t free_support_vectors = 0;     ///< strictly between the bounds
    std::size_t bounded_support_vectors = 0;  ///< at the upper bound
    std::size_t margin_errors = 0;  ///< points with positive slack; at the optimum all are bounded
    /// The ν-property (001): fraction of margin errors <= ν <= fraction of support vectors. Rows
    /// are counted by their weight and, in a tube of varying width, by ζ(x).
    double nu = 0;  ///< 0 where there is no ν
    double fraction_errors = 0;
    double fraction_support = 0;

    std::uint64_t iterations = 0;
    std::uint64_t kernel_evaluations = 0;
    double seconds = 0;

    /// not_separable, no_margin: weights >= 0 over the rows, Σ over each class = 1, whose two
    /// weighted means (one per class) are at this distance in feature space. Through the origin the
    /// labelled rows' weights sum to 1, and it is the distance of their mean from the origin.
    std::vector<double> hull_weights{};
    double hull_distance = 0;
    /// No plane has a margin above this: half the distance (all of it through the origin), with
    /// what rounding may have done to it. 0: it is proved that the hulls meet
    /// (learn/svm/detail/hull_proof.hpp). Infinite: nothing is proved, the kernel is not positive
    /// definite on these rows.
    double margin_bound = 0;

    /// What else this kind of machine found out, by name: mistakes, mistake_bound, log_evidence,
    /// loo_error, … Names are words of a-z, 0-9, _ and -.
    std::map<std::string, double> figures{};
    /// How the objective went, one number per pass over the data; empty where nobody kept it.
    std::vector<double> history{};

    /// True when the optimum is known to lie between dual and primal.
    bool is_bracketed() const {
        return convexity == Convexity::by_rule || convexity == Convexity::on_sample;
    }
    std::size_t support_vectors() const { return free_support_vectors + bounded_support_vectors; }
};

}  // namespace mercer
