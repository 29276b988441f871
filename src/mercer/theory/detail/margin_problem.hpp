// A trained two-class machine laid open: its dual problem solved to the last digits on stored
// kernel values, so that one can ask what would be if a row had not been there.
//
//   for (const MarginProblem& p : margin_problems(model, data)) {
//       p.squared_norm, p.alpha, p.value;           // ‖w‖², α_i, f(x_i)
//       leave_one_out(p);                           // theory/detail/leave_one_out.hpp
//   }
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/svm/detail/subproblem.hpp"

namespace mercer {

struct MarginProblem {
    std::string name{};               ///< "3 vs 8" among several, else empty
    std::vector<std::size_t> rows{};  ///< of the data given
    /// Task svc or hard_margin: targets ±1 and the upper bounds C_i. A ν-machine is the C-machine
    /// with C = 1/ρ (001).
    Subproblem problem{};
    SharedOperator<double> k{};  ///< may be asked from several threads

    std::vector<double> alpha{};  ///< >= 0
    std::vector<double> value{};  ///< f(x_i), bias included
    double bias = 0;
    double squared_norm = 0;  ///< ‖w‖²
    double dual = 0;          ///< Σ α − ½‖w‖²
    double gap = 0;

    std::size_t size() const { return problem.size(); }
    double target(std::size_t i) const { return problem.target[i]; }
    double penalty(std::size_t i) const { return problem.bound[i]; }
    /// Has a part in the expansion at hand.
    bool is_support(std::size_t i) const { return alpha[i] > 0; }
    bool is_bounded(std::size_t i) const { return alpha[i] >= penalty(i) * (1 - 1e-9); }
    bool is_error(std::size_t i) const { return !(target(i) * value[i] > 0); }
    std::size_t support_vectors() const;
    std::size_t errors() const;  ///< on the rows themselves
    /// All rows keep the margin: Σ ξ is 0 up to the tolerance of the solution.
    bool separated() const;
};

/// Solves the dual of `problem` (svc or hard_margin) on K. Throws InvalidInput when a hard margin
/// does not exist, or the problem is of another kind.
MarginProblem solve_margin(SharedOperator<double> k, Subproblem problem);

/// One for each output of a trained svc, nu-svc or hard-margin machine, solved afresh on its
/// training data. Throws InvalidInput for other tasks, data the model was not trained on, and
/// kernel matrices beyond `memory_bytes`. Throws Cancelled.
std::vector<MarginProblem> margin_problems(const Model& model, const Dataset& data,
                                           std::size_t memory_bytes = std::size_t{1} << 30,
                                           const Progress& progress = {});

/// The radius of the smallest sphere around the points of a kernel matrix (002), as a number that
/// certainly contains them all; and that of the smallest sphere around the origin.
double smallest_radius(const SymmetricOperator<double>& k);
double origin_radius(const SymmetricOperator<double>& k);

}  // namespace mercer
