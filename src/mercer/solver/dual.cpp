#include "mercer/solver/dual.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/solver/detail/canonical.hpp"
#include "mercer/solver/detail/certificate.hpp"
#include "mercer/solver/detail/feasible.hpp"
#include "mercer/solver/detail/methods.hpp"
#include "mercer/solver/detail/path.hpp"
#include "mercer/solver/detail/working_set.hpp"

// The attribute once more: function templates take their visibility from where they are defined.
namespace mercer MERCER_API {
namespace {

void check_settings(const DualSettings& settings) {
    const auto check = [](double value, bool may_be_zero, const char* name) {
        if (std::isfinite(value) && (value > 0 || (may_be_zero && value == 0))) return;
        throw InvalidInput(std::string("dual solver: ") + name + " is " + format_number(value) +
                           "; expected a finite number " + (may_be_zero ? ">= 0" : "> 0"));
    };
    check(settings.tolerance, false, "tolerance");
    check(settings.relative_gap, true, "relative_gap");
    check(settings.time_limit, true, "time_limit");
    check(settings.curvature_floor, false, "curvature_floor");
    check(settings.recession_tolerance, true, "recession_tolerance");
    if (settings.trace && settings.method != DualMethod::smo) {
        throw InvalidInput("dual solver: there is a trace of steps for the method smo only");
    }
    constexpr std::size_t largest_working_set = 16384;  // a tile of 1 GB in float
    if (settings.working_set > largest_working_set) {
        throw InvalidInput("dual solver: working_set is " + std::to_string(settings.working_set) +
                           "; expected at most " + std::to_string(largest_working_set) +
                           ", or 0 to let the solver choose");
    }
}

std::vector<double> first_point(const CanonicalDual& form, std::span<const double> start) {
    std::vector<double> u(form.variables, 0.0);
    if (start.empty()) return u;
    if (start.size() != form.variables) {
        throw InvalidInput("dual solver: the start has " + std::to_string(start.size()) +
                           " entries; expected " + std::to_string(form.variables) +
                           ", one for each variable, or none");
    }
    for (std::size_t i = 0; i < start.size(); ++i) {
        if (!std::isfinite(start[i])) {
            throw InvalidInput("dual solver: the start has " + format_number(start[i]) +
                               " at position " + std::to_string(i) + "; expected a finite number");
        }
        u[i] = form.flip[i] * start[i];
    }
    return u;
}

template <class T>
DualStatus run(DualState<T>& state) {
    switch (state.settings().method) {
        case DualMethod::automatic:
        case DualMethod::weights:
            if (const auto rows = rows_for_weights(state)) return solve_by_weights(state, *rows);
            if (state.settings().method == DualMethod::automatic) {
                return solve_by_decomposition(state);
            }
            throw InvalidInput(
                "dual solver: the method weights needs an operator whose rows can be written down, "
                "as those of a linear kernel can");
        case DualMethod::decomposition: return solve_by_decomposition(state);
        case DualMethod::smo: return solve_by_smo(state);
        case DualMethod::chunking: return solve_by_chunking(state);
    }
    throw InvalidInput("dual solver: unknown method");
}

template <class T>
void move_to(DualState<T>& state, const std::vector<double>& u) {
    std::vector<std::size_t> which;
    std::vector<double> values;
    for (std::size_t i = 0; i < u.size(); ++i) {
        if (u[i] == state.u()[i]) continue;
        which.push_back(i);
        values.push_back(u[i]);
    }
    if (!which.empty()) state.move(which, values);
}

/// Makes v exact for all rows and takes rounding out of the equalities.
template <class T>
void settle(DualState<T>& state) {
    if (!state.all_active()) state.activate_all();
    std::vector<double> u = state.u();
    polish_equalities(state.form(), u);
    move_to(state, u);
}

/// At the feasible u; `v` belongs to the point before it was made feasible.
template <class T>
void begin(DualState<T>& state, std::vector<double> given, std::span<const double> v,
           std::vector<double> u) {
    if (v.empty()) {
        state.start(std::move(u));
        return;
    }
    state.start(std::move(given), {v.begin(), v.end()});
    move_to(state, u);
}

template <class T>
void describe_alpha(const DualState<T>& state, DualSolution& solution) {
    solution.alpha = state.u();
    for (std::size_t i = 0; i < solution.alpha.size(); ++i) {
        solution.alpha[i] *= state.form().flip[i];
        if (solution.alpha[i] == 0) solution.alpha[i] = 0;  // no negative zeros
    }
    solution.objective = state.objective();
    solution.equality_residual = equality_residual(state.form(), state.u());
    solution.iterations = state.iterations;
    solution.steps = state.steps;
    solution.working_set = state.working_set;
}

template <class T>
void describe_state(DualState<T>& state, DualSolution& solution) {
    const CanonicalDual& form = state.form();
    const Measure measure = state.measure();
    const Multipliers mu = find_multipliers(form, state.u(), state.gradient(), measure.lambda);
    GivenMultipliers given = given_multipliers(form, mu);
    solution.multipliers = std::move(given.value);
    solution.multipliers_low = std::move(given.low);
    solution.multipliers_high = std::move(given.high);
    solution.violation = measure.violation;
    solution.gap = duality_gap(form, state.u(), state.gradient(), mu.value);
    if (form.general) {
        // Any multipliers bound the optimum; the nearer of the two estimates is the better bound.
        solution.gap = std::min(
            solution.gap, duality_gap(form, state.u(), state.gradient(), measure.estimate));
    }
    solution.row_gradient = state.row_gradient();
    if (solution.status != DualStatus::unbounded || !state.ray) return;
    solution.recession = recession_certificate(state, *state.ray, HUGE_VAL);
    if (!solution.recession) return;
    std::vector<double>& d = solution.recession->direction;
    for (std::size_t i = 0; i < d.size(); ++i) d[i] *= form.flip[i];
}

}  // namespace

std::string describe(DualStatus status) {
    switch (status) {
        case DualStatus::converged: return "converged";
        case DualStatus::time_limit: return "stopped at the time limit";
        case DualStatus::iteration_limit: return "stopped at the iteration limit";
        case DualStatus::cancelled: return "cancelled";
        case DualStatus::stalled: return "stalled: rounding allows no further progress";
        case DualStatus::infeasible: return "infeasible";
        case DualStatus::unbounded: return "unbounded";
    }
    return "unknown";
}

template <class T>
DualSolution solve_dual_from(const SymmetricOperator<T>& k, const DualProblem& problem,
                             const DualSettings& settings, const DualStart<T>& from) {
    check_settings(settings);
    check_problem(problem, k.size());
    DualSolution solution;
    const CanonicalDual form = canonical_form(problem, k.size(), solution.infeasibility);
    if (settings.trace && form.general) {
        throw InvalidInput(
            "dual solver: where the coefficients of the equalities differ in size steps move three "
            "points, and there is no trace of them");
    }
    const std::vector<double> given = first_point(form, from.alpha);
    std::vector<double> u = given;
    if (!solution.infeasibility) solution.infeasibility = make_feasible(form, u);
    if (solution.infeasibility) {
        solution.status = DualStatus::infeasible;
        for (std::size_t i = 0; i < u.size(); ++i) {
            u[i] = form.flip[i] * std::clamp(u[i], form.lower[i], form.upper[i]);
        }
        solution.alpha = std::move(u);
        return solution;
    }
    const std::uint64_t evaluations = k.evaluations();
    DualState<T> state(k, form, settings);
    state.reused = from.kept;
    if (from.kept != nullptr) from.kept->begin(form);
    bool begun = false;
    try {
        begin(state, given, from.v, std::move(u));
        begun = true;
        solution.status = run(state);
    } catch (const Cancelled&) {
        if (!begun && settings.cancels_start) throw;
        // The operator was told to stop. Every move is all or nothing, so u is feasible.
        solution.status = DualStatus::cancelled;
    }
    try {
        if (!begun) throw Cancelled();
        settle(state);
        describe_state(state, solution);
    } catch (const Cancelled&) {
        // It still refuses: without its rows there is no gradient, hence no certificate.
        solution.status = DualStatus::cancelled;
        solution.violation = solution.gap = HUGE_VAL;
        solution.row_gradient.clear();
    }
    describe_alpha(state, solution);
    solution.evaluations = k.evaluations() - evaluations;
    solution.seconds = state.seconds();
    return solution;
}

template <class T>
DualSolution solve_dual(const SymmetricOperator<T>& k, const DualProblem& problem,
                        const DualSettings& settings, std::span<const double> start) {
    return solve_dual_from<T>(k, problem, settings, {.alpha = start});
}

template DualSolution solve_dual_from<float>(const SymmetricOperator<float>&, const DualProblem&,
                                             const DualSettings&, const DualStart<float>&);
template DualSolution solve_dual_from<double>(const SymmetricOperator<double>&, const DualProblem&,
                                              const DualSettings&, const DualStart<double>&);
template DualSolution solve_dual<float>(const SymmetricOperator<float>&, const DualProblem&,
                                        const DualSettings&, std::span<const double>);
template DualSolution solve_dual<double>(const SymmetricOperator<double>&, const DualProblem&,
                                         const DualSettings&, std::span<const double>);

}  // namespace mercer

namespace mercer {
namespace {

/// Where the next program of a path should begin. Its entries need only be read, so that one tile
/// of all free variables takes the place of many that hand them round: each of those gathers its
/// entries anew. Programs that were soon done stay with small tiles, which are near the processor.
std::size_t next_working_set(const DualProblem& problem, const DualSolution& solution) {
    constexpr std::uint64_t many_iterations = 48;
    constexpr std::size_t largest = 4096;
    if (solution.iterations < many_iterations) return solution.working_set;
    std::size_t free = 0;
    for (std::size_t i = 0; i < solution.alpha.size(); ++i) {
        const double a = solution.alpha[i];
        free += a > problem.lower[i] && a < problem.upper[i] ? 1 : 0;
    }
    const std::size_t roomy = free + free / 4 + 64;
    return roomy <= largest ? std::max(roomy, solution.working_set) : solution.working_set;
}

}  // namespace

template <class T>
DualPath<T>::DualPath(const SymmetricOperator<T>& k)
    : k_(&k), kept_(std::make_unique<WorkingSet<T>>()) {}

template <class T>
DualPath<T>::~DualPath() = default;

template <class T>
void DualPath<T>::begin(const SymmetricOperator<T>& k) {
    k_ = &k;
    kept_->forget();
    forget();
}

template <class T>
void DualPath<T>::forget() {
    alpha_.clear();
    v_.clear();
    working_set_ = 0;
    best_multiple_ = 1;
}

template <class T>
void DualPath<T>::begin_at_bounds(const DualProblem& problem) {
    std::array<double, 2> sum{};  // of the bounds of each sign
    const auto side = [&](std::size_t i) {
        return !problem.equalities.empty() && problem.equalities[0].coefficients[i] < 0;
    };
    for (std::size_t i = 0; i < problem.size(); ++i) sum[side(i)] += problem.upper[i];
    if (problem.equalities.empty()) sum = {1, 1};
    const double less = std::min(sum[0], sum[1]);
    std::vector<double> alpha(problem.size());
    std::vector<double> beta(k_->size(), 0.0);
    for (std::size_t i = 0; i < alpha.size(); ++i) {
        alpha[i] = problem.upper[i] * (less / sum[side(i)]);
        const std::size_t r = problem.row.empty() ? i : problem.row[i];
        beta[r] += (problem.sign.empty() ? 1 : problem.sign[i]) * alpha[i];
    }
    std::vector<std::size_t> all(k_->size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::vector<double> v(k_->size(), 0.0);
    k_->add_rows(all, beta, Columns::all(), std::nullopt, v);
    const double linear = std::inner_product(alpha.begin(), alpha.end(), problem.p.begin(), 0.0);
    const double curvature = std::inner_product(beta.begin(), beta.end(), v.begin(), 0.0);
    if (!std::isfinite(curvature) || curvature > -linear) return;
    alpha_ = std::move(alpha);
    v_ = std::move(v);
    upper_ = problem.upper;
}

template <class T>
DualSolution DualPath<T>::solve(const DualProblem& problem, DualSettings settings,
                                double multiple) {
    if (multiple == 0) forget();
    for (std::size_t i = 0; i < alpha_.size(); ++i) {
        // What was at its bound and goes to its bound is there, whatever is rounded.
        const double moved = multiple * alpha_[i];
        const bool bounded =
            upper_[i] == alpha_[i] && std::abs(moved - problem.upper[i]) <= 1e-12 * std::abs(moved);
        alpha_[i] = bounded ? problem.upper[i] : moved;
    }
    for (double& v : v_) v *= multiple;
    if (working_set_ > 0) settings.working_set = working_set_;
    settings.exact_final = false;  // what is read twice is the same twice
    DualSolution solution =
        solve_dual_from<T>(*k_, problem, settings, {.alpha = alpha_, .v = v_, .kept = kept_.get()});
    alpha_ = solution.alpha;
    upper_ = problem.upper;
    v_ = solution.row_gradient;
    if (v_.empty()) alpha_.clear();  // it was refused rows
    working_set_ = next_working_set(problem, solution);
    // f(t α) = t² (f − p'α) + t p'α is least where its slope is 0.
    const double linear = std::inner_product(alpha_.begin(), alpha_.end(), problem.p.begin(), 0.0);
    const double curvature = 2 * (solution.objective - linear);
    best_multiple_ = curvature > 0 ? std::max(1.0, -linear / curvature) : HUGE_VAL;
    return solution;
}

template class DualPath<float>;
template class DualPath<double>;

}  // namespace mercer
