// Sequential minimal optimisation (002 §2, Platt 1998): the fewest points that can move at all,
// over all active variables, by the step of 002 theorem 2. The pair is chosen to second order (Fan,
// Chen and Lin 2005). It is here to be compared with and to be learnt from: a step costs two or
// three rows of the operator and several passes over all variables, where decomposition pays that
// once for hundreds of steps.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "mercer/solver/detail/methods.hpp"
#include "mercer/solver/detail/two_point.hpp"

namespace mercer {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

/// The points of one step, with −g'd, d'Hd and the way to the nearest bound.
struct Step {
    SparseDirection d;
    double slope = 0;
    double bend = 0;
    double scale = 0;
    std::optional<TwoPoints> points{};  ///< of a pair
};

template <class T>
class Smo {
   public:
    explicit Smo(DualState<T>& state)
        : state_(state), form_(state.form()), diagonal_(form_.rows), row_(3 * form_.rows) {
        state.matrix().diagonal(diagonal_);
    }

    Step choose(const Measure& measure) {
        if (form_.general) return choose_general(measure);
        std::size_t group = 0;
        double worst = std::max(-measure.least_growing[0], measure.largest_falling[0]);
        for (std::size_t g = 1; g < 3; ++g) {
            const double here = measure.largest_falling[g] - measure.least_growing[g];
            if (here > worst) {
                worst = here;
                group = g;
            }
        }
        return group == 0 ? choose_single() : choose_pair(measure, group);
    }

    double room(const SparseDirection& d) const {
        double least = endless;
        for (std::size_t k = 0; k < d.count; ++k) least = std::min(least, room(d, k));
        return least;
    }

    /// False when nothing moved.
    bool take(const Step& step, double violation) {
        const std::size_t count = step.d.count;
        const std::array<std::size_t, 3>& index = step.d.index;
        TwoPointStep traced = step.points ? pair_step(step) : single_step(step);
        std::array<double, 3> values{};
        if (form_.general) {
            values = moved_along(step);
        } else {
            for (std::size_t k = 0; k < count; ++k) {
                values[k] = form_.flip[index[k]] * traced.moved_to[k];
            }
        }
        bool moved = false;
        for (std::size_t k = 0; k < count; ++k) moved |= values[k] != state_.u()[index[k]];
        state_.move(std::span(index).first(count), std::span(values).first(count));
        ++state_.iterations;
        traced.step = ++state_.steps;
        if (!state_.settings().trace || form_.general) return moved;
        traced.violation = violation;
        traced.objective = -state_.objective();
        state_.settings().trace(traced);
        return moved;
    }

   private:
    double floor() const { return state_.settings().curvature_floor; }

    /// 002 theorem 2.
    TwoPointStep pair_step(const Step& step) const {
        const TwoPoints& points = *step.points;
        const ClipInterval interval = clip_interval(points);
        return {.row = {form_.row[step.d.index[0]], form_.row[step.d.index[1]]},
                .label = points.label,
                .alpha = points.alpha,
                .error = points.error,
                .curvature = curvature(points),
                .unclipped = unclipped_maximum(points, floor()),
                .clip = {interval.u, interval.v},
                .moved_to = two_point_step(points, floor())};
    }

    /// One point by itself, where no equality holds it.
    TwoPointStep single_step(const Step& step) const {
        const std::size_t i = step.d.index[0];
        const double flip = form_.flip[i];
        const double error = flip * state_.gradient()[i];
        const double unclipped = alpha(i) - error / (step.bend > 0 ? step.bend : floor());
        const auto [low, high] = bounds(i);
        const double to = std::clamp(unclipped, low, high);
        return {.row = {form_.row[i], form_.row[i]},
                .label = {flip, flip},
                .alpha = {alpha(i), alpha(i)},
                .error = {error, error},
                .curvature = step.bend,
                .unclipped = unclipped,
                .clip = {low, high},
                .moved_to = {to, to}};
    }

    /// u of up to three points after the best step along a direction.
    std::array<double, 3> moved_along(const Step& step) const {
        const double length = floored_step(step.slope, step.bend, room(step.d), floor());
        std::array<double, 3> values{};
        for (std::size_t k = 0; k < step.d.count; ++k) {
            const std::size_t i = step.d.index[k];
            const double w = step.d.weight[k];
            values[k] = length >= room(step.d, k) ? (w > 0 ? form_.upper[i] : form_.lower[i])
                                                  : std::clamp(state_.u()[i] + length * w,
                                                               form_.lower[i], form_.upper[i]);
        }
        return values;
    }

    /// α_i, and its bounds: no negative zeros.
    double alpha(std::size_t i) const { return form_.flip[i] * state_.u()[i] + 0.0; }
    std::pair<double, double> bounds(std::size_t i) const {
        if (form_.flip[i] > 0) return {form_.lower[i], form_.upper[i]};
        return {0.0 - form_.upper[i], 0.0 - form_.lower[i]};
    }

    /// Two variables in the words of 002: the labels are the coefficients of their equality.
    TwoPoints points_of(std::size_t i, std::size_t j, double k12) const {
        TwoPoints points{.k11 = h_diagonal(i), .k22 = h_diagonal(j), .k12 = k12};
        const std::array<std::size_t, 2> index = {i, j};
        for (std::size_t k = 0; k < 2; ++k) {
            points.label[k] = form_.flip[index[k]];
            points.alpha[k] = alpha(index[k]);
            points.error[k] = state_.gradient()[index[k]];
            std::tie(points.lower[k], points.upper[k]) = bounds(index[k]);
        }
        return points;
    }

    double room(const SparseDirection& d, std::size_t k) const {
        const std::size_t i = d.index[k];
        if (d.weight[k] == 0) return endless;
        return ((d.weight[k] > 0 ? form_.upper[i] : form_.lower[i]) - state_.u()[i]) / d.weight[k];
    }

    double h_diagonal(std::size_t i) const { return diagonal_[form_.row[i]]; }

    /// Row of K of variable i, in the buffer's part `slot`.
    const T* fetch(std::size_t i, std::size_t slot) {
        T* to = row_.data() + slot * form_.rows;
        state_.matrix().rows(std::span(&form_.row[i], 1), MatrixView<T>(to, 1, form_.rows));
        return to;
    }

    double h(const T* row_i, std::size_t i, std::size_t j) const {
        return form_.sign[i] * form_.sign[j] * static_cast<double>(row_i[form_.row[j]]);
    }

    Step choose_single() {
        Step best;
        double best_gain = -1;
        for (const std::size_t i : state_.active()) {
            if (form_.group[i] != 0) continue;
            const double g = state_.gradient()[i];
            const double up = form_.can_grow(i, state_.u()[i]) ? -g : 0;
            const double down = form_.can_fall(i, state_.u()[i]) ? g : 0;
            const double slope = std::max(up, down);
            const double a = h_diagonal(i);
            const double gain = slope * slope / (a > 0 ? a : state_.settings().curvature_floor);
            if (slope <= 0 || gain <= best_gain) continue;
            best_gain = gain;
            best.d = {.count = 1, .index = {i, 0, 0}, .weight = {up > down ? 1.0 : -1.0, 0, 0}};
            best.slope = slope;
            best.bend = a;
            best.scale = std::sqrt(std::abs(a));
        }
        return best;
    }

    Step choose_pair(const Measure& measure, std::size_t group) {
        std::size_t i = form_.variables;
        for (const std::size_t k : state_.active()) {
            if (form_.group[k] != group || !form_.can_grow(k, state_.u()[k])) continue;
            if (state_.gradient()[k] != measure.least_growing[group]) continue;
            i = k;
            break;
        }
        Step best;
        if (i == form_.variables) return best;
        const T* row = fetch(i, 0);
        const double gi = state_.gradient()[i];
        double best_gain = -1;
        for (const std::size_t j : state_.active()) {
            if (form_.group[j] != group || !form_.can_fall(j, state_.u()[j])) continue;
            const double slope = state_.gradient()[j] - gi;
            if (slope <= 0) continue;
            const double a = h_diagonal(i) + h_diagonal(j) - 2 * h(row, i, j);
            const double gain = slope * slope / (a > 0 ? a : state_.settings().curvature_floor);
            if (gain <= best_gain) continue;
            best_gain = gain;
            best.d = {.count = 2, .index = {i, j, 0}, .weight = {1, -1, 0}};
            best.slope = slope;
            best.bend = a;
            best.scale = std::sqrt(std::abs(h_diagonal(i))) + std::sqrt(std::abs(h_diagonal(j)));
        }
        if (best.d.count == 2) {
            const std::size_t j = best.d.index[1];
            best.points = points_of(i, j, h(row, i, j));
        }
        return best;
    }

    /// Three points: the steepest direction as it is.
    Step choose_general(const Measure& measure) {
        Step step{.d = measure.direction};
        std::array<const T*, 3> rows{};
        for (std::size_t a = 0; a < step.d.count; ++a) rows[a] = fetch(step.d.index[a], a);
        for (std::size_t a = 0; a < step.d.count; ++a) {
            const std::size_t i = step.d.index[a];
            const double w = step.d.weight[a];
            step.slope -= w * state_.gradient()[i];
            step.scale += std::abs(w) * std::sqrt(std::abs(h_diagonal(i)));
            step.bend += w * w * h_diagonal(i);
            for (std::size_t b = a + 1; b < step.d.count; ++b) {
                step.bend += 2 * w * step.d.weight[b] * h(rows[a], i, step.d.index[b]);
            }
        }
        return step;
    }

    DualState<T>& state_;
    const CanonicalDual& form_;
    std::vector<double> diagonal_;
    std::vector<T> row_;
};

/// True when the step goes on for ever; notes its direction.
template <class T>
bool endless_step(DualState<T>& state, const Step& step, double room) {
    if (room != endless) return false;
    if (step.bend > state.recession_tolerance() * step.scale * step.scale) return false;
    std::vector<double> d(state.form().variables, 0.0);
    for (std::size_t k = 0; k < step.d.count; ++k) d[step.d.index[k]] = step.d.weight[k];
    state.ray = std::move(d);
    return true;
}

}  // namespace

template <class T>
DualStatus solve_by_smo(DualState<T>& state) {
    Smo<T> smo(state);
    RunawayWatch<T> runaway(state);
    const std::uint64_t interval = std::min<std::uint64_t>(1000, state.form().variables);
    bool exact = !state.settings().exact_final;
    bool looked_back = false;
    std::uint64_t since = interval;
    for (;; ++since) {
        const Measure measure = state.measure();
        const bool near = measure.violation <= 10 * state.settings().tolerance && !looked_back;
        const bool satisfied = state.satisfied(measure);
        if (!state.all_active() && (satisfied || near)) {
            looked_back = true;
            state.activate_all();
            state.forget_shrinking();
            continue;
        }
        if (satisfied) {
            if (exact || state.audit()) return DualStatus::converged;
            state.recompute();
            exact = true;
            continue;
        }
        if (since >= interval) {
            since = 0;
            if (const auto reason = state.report(measure)) return *reason;
            if (const auto end = runaway.look(state)) return *end;
            if (runaway.moved()) continue;
            if (state.settings().shrinking) state.shrink(measure);
        }
        if (state.steps_left() == 0) return DualStatus::iteration_limit;
        const Step step = smo.choose(measure);
        const double room = smo.room(step.d);
        if (step.d.count == 0) return DualStatus::stalled;
        if (endless_step(state, step, room)) {
            if (const auto end = runaway.look(state)) return *end;
            if (runaway.moved()) continue;
        }
        if (!smo.take(step, measure.violation)) return DualStatus::stalled;
    }
}

template DualStatus solve_by_smo<float>(DualState<float>&);
template DualStatus solve_by_smo<double>(DualState<double>&);

}  // namespace mercer
