#include "mercer/solver/detail/path.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/solver/detail/working_set.hpp"

namespace mercer {

template <class T>
DualPath<T>::DualPath(const SymmetricOperator<T>& k) : k_(k) {}

template <class T>
DualPath<T>::~DualPath() = default;

template <class T>
void DualPath<T>::forget() {
    alpha_.clear();
    v_.clear();
    working_set_ = 0;
    best_multiple_ = 1;
}

template <class T>
DualSolution DualPath<T>::solve(const DualProblem& problem, DualSettings settings,
                                double multiple) {
    if (multiple == 0) forget();
    for (double& a : alpha_) a *= multiple;
    for (double& v : v_) v *= multiple;
    if (working_set_ > 0) settings.working_set = working_set_;
    settings.exact_final = false;  // what is read twice is the same twice
    if (!kept_) kept_ = std::make_unique<WorkingSet<T>>();
    DualSolution solution =
        solve_dual_from<T>(k_, problem, settings, {.alpha = alpha_, .v = v_, .kept = kept_.get()});
    alpha_ = solution.alpha;
    v_ = solution.row_gradient;
    if (v_.empty()) alpha_.clear();  // it was refused rows
    working_set_ = solution.working_set;
    // f(t α) = t² (f − p'α) + t p'α is least where its slope is 0.
    const double linear = std::inner_product(alpha_.begin(), alpha_.end(), problem.p.begin(), 0.0);
    const double curvature = 2 * (solution.objective - linear);
    best_multiple_ = curvature > 0 ? std::max(1.0, -linear / curvature) : HUGE_VAL;
    return solution;
}

template class DualPath<float>;
template class DualPath<double>;

}  // namespace mercer
