// Decomposition (Osuna, Freund and Girosi 1997; Joachims 1999; 001 "SVM training"): a working set
// of hundreds of variables is optimised with all others fixed, on a tile that stays in cache; then
// the gradient is brought up to date from the rows of those that moved.
//
// Cost of one outer iteration with working set q, c changed rows and N active rows: at most q²/2
// new entries for the tile, c N entries for the gradient (the bulk: 2 c N flops over 4 c N bytes),
// and about 40 q flops for each step on the tile.
#include <algorithm>
#include <cmath>

#include "mercer/solver/detail/methods.hpp"
#include "mercer/solver/detail/working_set.hpp"

namespace mercer {
namespace {

constexpr std::size_t smallest_size = 128;
constexpr std::size_t first_size = 512;
constexpr std::size_t largest_size = 2048;
/// Rows count as being at hand when no more than this share of what the gradient asked for had to
/// be computed.
constexpr double few_new = 0.1;

/// How large the working set should be: an eighth of the rows, so that the tile stays small beside
/// the rows that the gradient needs; at first no more than 512, and up to 2048 while the violation
/// falls too slowly. Where rows need only be read, a set may come to hold all free variables at
/// once, and is made to as soon as two-point steps on its tile turn out to be the slower way.
class AdaptiveSize {
   public:
    AdaptiveSize(std::size_t wanted, std::size_t rows, std::size_t so_far)
        : size_(wanted > 0 ? std::max<std::size_t>(wanted, 4)
                           : std::clamp(rows / 8, smallest_size, first_size)),
          largest_(wanted > 0 ? size_ : std::clamp(rows / 8, first_size, largest_size)),
          rows_(rows) {
        size_ = std::max(size_, so_far);
        largest_ = std::max(largest_, size_);
    }

    std::size_t size() const { return size_; }
    /// Whether the rows asked for last needed hardly any computing.
    bool at_hand() const { return at_hand_; }
    /// Two-point steps on the tile may cost so many times what a step of all free variables does.
    std::uint64_t patience() const { return at_hand_ ? 1 : 24; }

    void note(double violation) {
        slow_ = violation > 0.5 * last_ ? slow_ + 1 : 0;
        last_ = violation;
        const bool together = at_hand_ && newton_;
        if (slow_ < (together ? 2 : 5)) return;
        size_ = std::min(2 * size_, together ? std::clamp(rows_, size_, largest_size) : largest_);
        slow_ = 0;
    }

    /// What the tile was like, and whether the rows it asked for were at hand.
    void note(const TileOutcome& outcome, bool at_hand) {
        newton_ = outcome.newton_steps > 0;
        at_hand_ = at_hand;
    }

   private:
    std::size_t size_;
    std::size_t largest_;
    std::size_t rows_;
    bool newton_ = false;
    bool at_hand_ = false;
    double last_ = HUGE_VAL;
    int slow_ = 0;
};

/// Steps that reduce nothing any more are rounding at work.
class StallWatch {
   public:
    bool stalled(double objective, double violation) {
        const bool better = objective < objective_ || violation < violation_;
        idle_ = better ? 0 : idle_ + 1;
        objective_ = std::min(objective_, objective);
        violation_ = std::min(violation_, violation);
        return idle_ >= 200;
    }

   private:
    double objective_ = HUGE_VAL;
    double violation_ = HUGE_VAL;
    int idle_ = 0;
};

/// Brings what the tile found back to the state; false when nothing moved.
template <class T>
bool commit(DualState<T>& state, const Tile<T>& tile) {
    std::vector<std::size_t> which;
    std::vector<double> values;
    for (std::size_t k = 0; k < tile.size; ++k) {
        const std::size_t i = tile.variable[k];
        if (i == no_variable || tile.u[k] == state.u()[i]) continue;
        which.push_back(i);
        values.push_back(tile.u[k]);
    }
    if (which.empty()) return false;
    state.move(which, values);
    return true;
}

template <class T>
void note_ray(DualState<T>& state, const Tile<T>& tile, const TileOutcome& outcome) {
    std::vector<double> d(state.form().variables, 0.0);
    for (std::size_t k = 0; k < outcome.ray_count; ++k) {
        d[tile.variable[outcome.ray[k]]] = outcome.ray_weight[k];
    }
    state.ray = std::move(d);
}

template <class T>
TileLimits limits_for(const DualState<T>& state, double violation, const AdaptiveSize& size) {
    TileLimits limits;
    // Solving the tile far below the violation outside it is work thrown away; but where its
    // entries had to be computed, steps are cheap beside them as long as there are no more than
    // variables.
    const double enough = 0.5 * state.settings().tolerance;
    limits.tolerance = std::max(0.1 * violation, enough);
    limits.goal = std::max(0.03 * violation, enough);
    limits.easy = size.at_hand() ? 0 : size.size();
    limits.curvature_floor = state.settings().curvature_floor;
    limits.recession_tolerance = state.recession_tolerance();
    limits.steps = std::min<std::uint64_t>(state.steps_left(), 100 * size.size() + 10000);
    limits.patience = size.patience();
    return limits;
}

}  // namespace

template <class T>
std::optional<DualStatus> decompose(DualState<T>& state, bool shrinking) {
    WorkingSet<T> own(state.form());
    WorkingSet<T>& working_set = state.reused != nullptr ? *state.reused : own;
    AdaptiveSize size(state.settings().working_set, state.form().rows, state.working_set);
    StallWatch stall;
    RunawayWatch<T> runaway(state);
    for (;;) {
        const Measure measure = state.measure();
        if (const auto reason = state.report(measure)) {
            if (!state.satisfied(measure) || *reason == DualStatus::cancelled) return reason;
        }
        if (state.satisfied(measure)) return std::nullopt;
        if (const auto end = runaway.look(state)) return end;
        if (runaway.moved()) continue;
        if (stall.stalled(state.objective(), measure.violation)) return DualStatus::stalled;
        if (shrinking) state.shrink(measure);
        size.note(measure.violation);
        state.working_set = size.size();
        working_set.prepare(state, measure, std::min(size.size(), state.active().size()));
        Tile<T>& tile = working_set.tile();
        const TileLimits limits = limits_for(state, measure.violation, size);
        const TileOutcome outcome = state.form().general ? solve_general_tile(tile, limits)
                                                         : solve_group_tile(tile, limits);
        ++state.iterations;
        state.steps += outcome.steps;
        if (outcome.unbounded) note_ray(state, tile, outcome);
        const std::uint64_t asked = state.asked, evaluations = state.matrix().evaluations();
        if (!commit(state, tile) && !outcome.unbounded) return DualStatus::stalled;
        const auto computed = static_cast<double>(state.matrix().evaluations() - evaluations);
        size.note(outcome, computed < few_new * static_cast<double>(state.asked - asked));
    }
}

template <class T>
DualStatus solve_by_decomposition(DualState<T>& state) {
    bool exact = !state.settings().exact_final;
    for (;;) {
        if (const auto reason = decompose(state, state.settings().shrinking)) return *reason;
        if (!state.all_active()) {
            state.activate_all();
            state.forget_shrinking();
            if (!state.satisfied(state.measure())) continue;
        }
        if (exact || state.audit()) return DualStatus::converged;
        state.recompute();
        exact = true;
        if (state.satisfied(state.measure())) return DualStatus::converged;
    }
}

template std::optional<DualStatus> decompose<float>(DualState<float>&, bool);
template std::optional<DualStatus> decompose<double>(DualState<double>&, bool);
template DualStatus solve_by_decomposition<float>(DualState<float>&);
template DualStatus solve_by_decomposition<double>(DualState<double>&);

}  // namespace mercer
