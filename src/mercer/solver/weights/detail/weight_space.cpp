// The dual in the space of weights: for operators whose rows can be written down.
#include <algorithm>
#include <bit>
#include <cmath>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/solver/detail/feasible.hpp"
#include "mercer/solver/detail/methods.hpp"
#include "mercer/solver/weights/detail/coordinate_descent.hpp"
#include "mercer/solver/weights/detail/interior_point.hpp"

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

/// How many entries of rows coordinate descent reads in about the time that an interior point
/// method takes: 30 matrices and factors at the speed of matrix products, and ten passes for each,
/// where descent goes at the speed of scattered reads. Infinite where the matrix would be too
/// large.
template <class T>
double worth_of_interior_point(const ExplicitRows<T>& rows) {
    constexpr std::size_t most_columns = 4096;
    constexpr double steps = 30, scattered = 4e8, streamed = 1e9, multiplied = 2e10;
    if (rows.columns > most_columns) return infinity;
    const auto n = static_cast<double>(rows.size), d = static_cast<double>(rows.columns);
    const auto entries = static_cast<double>(rows.values.size());
    const double matrix =
        rows.is_sparse() ? entries * entries / std::max(n, 1.0) / streamed : n * d * d / multiplied;
    return scattered * steps * (matrix + d * d * d / 3 / multiplied + 10 * entries / streamed);
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
    double goal = 0.9 * state.settings().tolerance;
    std::uint64_t told_at = 0;
    for (;;) {
        method.pass();
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
        if (!stop && !enough && !looks && !method.all_active()) {
            method.begin_anew();
            continue;
        }
        const Measure measure = settle_at(state, method.u());
        if (stop || state.satisfied(measure)) return {stop, state.satisfied(measure)};
        if (enough || goal < 1e-3 * state.settings().tolerance) return {};
        if (looks && method.violation() > goal) continue;
        goal /= 4;
        method.begin_anew();
    }
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
    // Descent is the quicker way where it goes well, which nobody knows beforehand: it has as long
    // as the other way would take.
    const double worth = worth_of_interior_point(rows);
    Ending ending = follow_descent(state, rows, worth);
    if (!ending.stop && !ending.satisfied && worth < infinity) {
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
