// The dual in the space of weights: for operators whose rows can be written down.
#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/solver/detail/feasible.hpp"
#include "mercer/solver/detail/methods.hpp"
#include "mercer/solver/weights/detail/coordinate_descent.hpp"
#include "mercer/solver/weights/detail/interior_point.hpp"
#include "mercer/solver/weights/detail/proximal_newton.hpp"
#include "mercer/solver/weights/detail/row_sample.hpp"

namespace mercer {
namespace {

/// Puts the state where a method has come to, and says how far from optimal that is.
template <class T>
Measure settle_at(DualState<T>& state, std::vector<double> u) {
    polish_equalities(state.form(), u);
    make_feasible(state.form(), u);
    state.start(std::move(u));
    return state.measure();
}

template <class T>
DualMoment moment_of(const DualState<T>& state) {
    DualMoment moment;
    moment.iterations = state.iterations;
    moment.steps = state.steps;
    moment.active = state.form().variables;
    moment.seconds = state.seconds();
    return moment;
}

/// How a method has ended. Without a reason to stop, and not satisfied, it has come to its limits.
struct Ending {
    std::optional<DualStatus> stop{};
    bool satisfied = false;
};

template <class T>
Ending follow_interior_point(DualState<T>& state, const ExplicitRows<T>& rows) {
    constexpr std::size_t most_steps = 200;
    constexpr double near = 1e-2;   // a gap that is worth a look at the rounded point
    constexpr double nearer = 0.2;  // and what it must have fallen to for another
    constexpr double nearest = 1e-13;
    InteriorPoint<T> method(state.form(), rows);
    double looked_at = near;
    for (std::size_t k = 0; k < most_steps && method.relative_gap() > nearest; ++k) {
        const bool goes_on = method.step();
        ++state.iterations;
        DualMoment moment = moment_of(state);
        moment.objective = method.objective();
        moment.violation = moment.gap = method.relative_gap() * std::abs(method.objective());
        const auto stop = state.report(moment);
        const bool close = method.residual() < 1e-6 && method.relative_gap() < looked_at;
        if (stop || close || !goes_on) {
            const Measure measure = settle_at(state, method.rounded());
            if (stop || state.satisfied(measure)) return {stop, state.satisfied(measure)};
            if (!goes_on) return {};
            looked_at = nearer * method.relative_gap();
        }
    }
    return {};
}

/// At most so many entries are read.
template <class T>
Ending follow_descent(DualState<T>& state, const ExplicitRows<T>& rows, double most_entries) {
    CoordinateDescent<T> method(state.form(), rows, state.u());
    const std::uint64_t before = state.steps;
    // Those that are solved for together are violated less than what is left to do would say, so
    // that passes go on to a part of the tolerance.
    constexpr double part = 0.25, closer = 1.5;
    double goal = part * state.settings().tolerance;
    constexpr std::size_t between = 4;  // passes before variables are solved for together
    std::size_t passes = 0;
    std::uint64_t told_at = 0;
    for (;;) {
        method.pass();
        if (++passes % between == 0) method.solve_worst();
        ++state.iterations;
        state.steps = before + method.steps();
        std::optional<DualStatus> stop;
        constexpr std::uint64_t entries_between = 4'000'000;  // some hundredths of a second
        if (method.entries() - told_at > entries_between) {
            told_at = method.entries();
            DualMoment moment = moment_of(state);
            moment.violation = method.violation();
            moment.gap = infinity;
            moment.objective = method.objective();
            stop = state.report(moment);
        }
        const bool enough = static_cast<double>(method.entries()) > most_entries;
        // Where the gap decides it is looked at after 8, 16, 32 … passes.
        const bool looks = state.settings().relative_gap > 0 && state.iterations >= 8 &&
                           std::has_single_bit(state.iterations);
        if (!stop && !enough && !looks && method.violation() > goal) continue;
        const Measure measure = settle_at(state, method.u());
        if (stop || state.satisfied(measure)) return {stop, state.satisfied(measure)};
        if (enough || goal < 1e-3 * state.settings().tolerance) return {};
        if (looks && method.violation() > goal) continue;
        goal /= closer;
        method.begin_anew();
    }
}

/// Newton steps about one centre until w is near where the next one may begin.
constexpr std::size_t most_inner_steps = 50;
constexpr double near_enough = 10;  ///< widths
constexpr double near_nothing = 0.05;

template <class T>
std::optional<DualStatus> tell(DualState<T>& state, const ProximalNewton<T>& method) {
    ++state.iterations;
    ++state.steps;
    DualMoment moment = moment_of(state);
    moment.objective = method.objective();
    moment.violation = method.violation() + method.residual();
    moment.gap = infinity;
    return state.report(moment);
}

/// w and λ as they are for some of the rows, where these are enough to know all columns.
template <class T>
std::optional<DualStatus> look_around(DualState<T>& state, const ExplicitRows<T>& rows,
                                      typename ProximalNewton<T>::Start& start) {
    constexpr std::size_t stride = 8, rows_a_column = 8;
    const std::size_t few = rows.size / stride;
    if (few < rows_a_column * rows.columns || few < 1024) return std::nullopt;
    if (std::ranges::any_of(state.u(), [](double u) { return u != 0; })) return std::nullopt;
    const ExplicitRows<T> some = sample_rows(rows, stride);
    const CanonicalDual form = sample_form(state.form(), stride);
    ProximalNewton<T> method(form, some,
                             {.u = sample_point(state.form(), start.u, stride),
                              .lambda = start.lambda,
                              .width = start.width});
    for (std::size_t k = 0; k < most_inner_steps && method.step(); ++k) {
        if (const auto stop = tell(state, method)) return stop;
        const double enough = near_enough * method.width();
        if (method.last_change() <= enough && method.residual() <= enough) break;
    }
    start.w = method.w();
    start.lambda = method.lambda();
    return std::nullopt;
}

template <class T>
Ending follow_newton(DualState<T>& state, const ExplicitRows<T>& rows) {
    constexpr std::size_t most_steps = 1000, most_stuck = 3;
    constexpr double first_width = 2, narrower = 1.6, much_narrower = 2.5, narrowest = 1e-14;
    const Measure first = state.measure();
    if (state.satisfied(first)) return {{}, true};
    typename ProximalNewton<T>::Start start{
        .u = state.u(), .lambda = first.estimate, .width = first_width * first.violation};
    if (const auto stop = look_around(state, rows, start)) return {stop};
    ProximalNewton<T> method(state.form(), rows, std::move(start));
    // With a multiplier what counts is how far apart two gradients are.
    double goal = (state.form().equalities > 0 ? 0.4 : 0.8) * state.settings().tolerance;
    double gap_goal = 0.5 * state.settings().relative_gap;
    const auto gap_is_small = [&] {
        return gap_goal > 0 && method.gap() <= gap_goal * std::abs(method.objective());
    };
    std::size_t steps = 0, stuck = 0;
    while (steps < most_steps && stuck < most_stuck &&
           method.width() > narrowest * first.violation) {
        std::size_t inner = 0;
        while (inner < most_inner_steps) {
            if (!method.step()) {
                ++stuck;
                break;
            }
            stuck = 0;
            ++inner;
            if (const auto stop = tell(state, method)) {
                return {stop, state.satisfied(settle_at(state, method.u()))};
            }
            // Where it may be the last centre u has to go with w.
            const double violation = method.violation(), width = method.width();
            const bool last = violation <= goal || gap_is_small();
            const double residual = last ? near_nothing * std::max(goal, std::min(violation, width))
                                         : near_enough * width;
            if (method.last_change() <= near_enough * width && method.residual() <= residual) break;
        }
        steps += inner;
        const bool by_gap = gap_is_small();
        if (by_gap || method.violation() <= goal) {
            if (state.satisfied(settle_at(state, method.u()))) return {{}, true};
            (by_gap ? gap_goal : goal) /= 4;
        }
        method.narrow(method.width() / (inner > 1 ? narrower : much_narrower));
    }
    settle_at(state, method.u());
    return {};
}

/// How long Newton's method takes and how long a pass of descent does, by their entries and
/// operations: the one some dozens of steps, each with a matrix of the columns or, of many columns,
/// of the free rows; the other some dozens of passes, and with multipliers more.
struct Costs {
    double newton = 0;   ///< seconds, about
    double descent = 0;  ///< of a pass
};
template <class T>
Costs costs_of(const ExplicitRows<T>& rows) {
    constexpr double steps = 50, passes = 20, scattered = 4e8, multiplied = 1e10;
    const auto n = static_cast<double>(std::max<std::size_t>(rows.size, 1));
    const auto d = static_cast<double>(rows.columns),
               entries = static_cast<double>(rows.values.size());
    const double row = entries / n;
    const bool by_columns = rows.columns <= NewtonSystem<T>::most_columns;
    const double free = by_columns ? 2 * d : std::min({n, d, 8192.0}) / 8;
    const double order = by_columns ? d : free;
    const double matrix = by_columns ? free * row * row / 2 : free * free * row / 2;
    const double speed = rows.is_sparse() ? scattered : multiplied;
    Costs costs;
    costs.newton = steps * (order * order * order / 6 / multiplied + matrix / speed) +
                   passes * entries / scattered;
    costs.descent = entries / scattered;
    return costs;
}

}  // namespace

template <class T>
std::optional<ExplicitRows<T>> rows_for_weights(const DualState<T>& state) {
    const DualMethod method = state.settings().method;
    // Of few rows the matrix itself is small, and its method the quicker one; hard margins may not
    // exist, which decomposition finds out and proves.
    constexpr std::size_t few_rows = 512;
    if (method == DualMethod::automatic &&
        (state.form().rows < few_rows || state.form().has_infinite_bounds)) {
        return std::nullopt;
    }
    return state.matrix().explicit_rows(Columns::all());
}

template <class T>
DualStatus solve_by_weights(DualState<T>& state, const ExplicitRows<T>& rows) {
    constexpr double most_passes = 40, with_multipliers = 4;
    constexpr std::size_t most_columns = 4096;  // of an interior point method
    const Costs costs = costs_of(rows);
    const double passes = most_passes * (state.form().equalities > 0 ? with_multipliers : 1);
    Ending ending;
    // Descent is the quicker way of long rows where it goes well, which nobody knows beforehand: it
    // has as long as the other way would take.
    if (costs.newton > passes * costs.descent) {
        const double entries = static_cast<double>(rows.values.size());
        ending = follow_descent(state, rows, entries * costs.newton / costs.descent);
    }
    if (!ending.stop && !ending.satisfied) ending = follow_newton(state, rows);
    if (!ending.stop && !ending.satisfied && rows.columns <= most_columns) {
        ending = follow_interior_point(state, rows);
    }
    if (ending.stop) return *ending.stop;
    // Decomposition has the last word: it finds nothing to do, or does what rounding has left.
    return solve_by_decomposition(state);
}

template std::optional<ExplicitRows<float>> rows_for_weights(const DualState<float>&);
template std::optional<ExplicitRows<double>> rows_for_weights(const DualState<double>&);
template DualStatus solve_by_weights(DualState<float>&, const ExplicitRows<float>&);
template DualStatus solve_by_weights(DualState<double>&, const ExplicitRows<double>&);

}  // namespace mercer
