// One dual problem of a support vector machine: a pair of classes, one regression target, one
// sample.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/learn/model.hpp"
#include "mercer/learn/report.hpp"
#include "mercer/solver/dual.hpp"

namespace mercer {

struct Subproblem {
    Task task = Task::svc;
    bool bias = true;
    std::vector<double> target{};    ///< ±1 (classifiers), y (regression), empty (single class)
    std::vector<double> bound{};     ///< upper bound of each α: C_i, or the weight where ν rules
    std::vector<double> tube{};      ///< ζ(x_i); empty: all 1
    std::vector<double> diagonal{};  ///< k(x_i, x_i), svdd only
    double nu = 0;
    double epsilon = 0;

    std::size_t size() const { return bound.size(); }
};

/// The solution in the language of the machine: f(x) = Σ beta_i k(x_i, x) + bias.
struct Learned {
    std::vector<double> beta;
    double bias = 0;
    double rho = 0;      ///< nu_svc (beta and bias are already divided by it) and one_class
    double epsilon = 0;  ///< svr, nu_svr
    double radius = 0;   ///< svdd
};

/// Throws InvalidInput when ν cannot be met, naming the largest that can.
DualProblem make_dual(const Subproblem& problem);

/// Variables of the dual for coefficients β of the rows: where a training may begin. They need not
/// be feasible.
std::vector<double> dual_start(const Subproblem& problem, std::span<const double> beta);

/// Also rescales the gradient v = Kβ inside `solution` where the machine is rescaled (nu_svc).
Learned interpret(const Subproblem& problem, DualSolution& solution);

/// The largest ½‖z − α‖² between machines of the problem, in units of the objective of `certify`;
/// infinite where coefficients have no bound (learn/convexity.hpp).
double reach_of(const Subproblem& problem, const Learned& learned);

/// The certificate, from the machine and v_i = Σ_j beta_j k(x_j, x_i) alone. What its bracket rests
/// on is for settle_bracket to say.
Report certify(const Subproblem& problem, const Learned& learned, std::span<const double> v);

}  // namespace mercer
