// What a machine would say of each of its rows had it not seen it: exactly, by training again, and
// by what can be told from the one machine there is.
//
//   const MarginProblem p = margin_problems(model, data).front();
//   leave_one_out(p).errors;            // exact: support vectors are left out one by one
//   leave_one_out(p).essential_count;   // support vectors of every expansion of w (000 §4)
//   span_estimate(p).errors;            // Chapelle and Vapnik's rule, nearly exact and quick
//   span_guarantee(p, diameter).errors; // never fewer than the exact number
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/theory/detail/margin_problem.hpp"

namespace mercer {

struct LeaveOneOut {
    std::vector<double> value{};  ///< f^p(x_p) of the machine trained without row p
    std::vector<char> is_error{};
    /// The row belongs to every expansion of w: without it the optimum itself is lower. A support
    /// vector that others can replace (a copy of it, say) is none.
    std::vector<char> essential{};
    std::size_t errors = 0;
    std::size_t essential_count = 0;
};

/// Trains once more for every support vector; a row outside the expansion changes nothing (001).
/// Row p is kept out by the bound α_p <= 0, so that one matrix serves all. A row is essential when
/// the dual value falls by more than the gaps of the two solutions. Throws InvalidInput when a
/// class has a single row, which could not be both learnt and judged; throws Cancelled.
LeaveOneOut leave_one_out(const MarginProblem& p, const Progress& progress = {});

/// Errors counted one a row by a rule that looks at the trained machine alone.
struct LeaveOneOutRule {
    std::vector<double> measure{};  ///< what the rule compares, one a row; 0 outside the expansion
    std::vector<char> is_error{};
    std::size_t errors = 0;
};

/// The span S_p² of a support vector: the squared distance of Φ(x_p) from the affine hull of the
/// other free support vectors (their linear hull without a bias). Were the free ones to stay free,
/// y_p (f(x_p) − f^p(x_p)) = α_p S_p² exactly; so an error is counted where α_p S_p² >= y_p f(x_p)
/// [Vapnik and Chapelle 2000; Chapelle and Vapnik 2000]. Measure: S_p². Without any free support
/// vector the diagonal k(x_p, x_p) stands for it.
LeaveOneOutRule span_estimate(const MarginProblem& p);

/// Their theorem without assumption: an error of a free support vector implies
/// α_p S_p max(D, 1/√C) >= 1, where S_p is the span over combinations that keep all α within
/// bounds and D the diameter of the smallest sphere; bounded ones all count. Machines with a bias
/// only: InvalidInput otherwise. Measure: S_p of the free.
LeaveOneOutRule span_guarantee(const MarginProblem& p, double diameter,
                               const Progress& progress = {});

/// Jaakkola and Haussler (1999): α_p k(x_p, x_p) >= y_p f(x_p). Never too few without a bias; with
/// one an approximation. Measure: α_p k(x_p, x_p).
LeaveOneOutRule jaakkola_haussler(const MarginProblem& p);

/// Joachims (2000): 2 α_p R² + ξ_p >= 1, R² the width of the range of k over the rows. Never too
/// few. Measure: 2 α_p R² + ξ_p.
LeaveOneOutRule xi_alpha(const MarginProblem& p);

}  // namespace mercer
