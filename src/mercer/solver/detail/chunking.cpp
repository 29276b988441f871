// Chunking (Boser, Guyon and Vapnik 1992; 001 "SVM training"): only support vectors matter, so they
// are extracted by cycling through the set. The chunk holds all support vectors found so far and
// the worst violators among the rest; it is optimised as a problem of its own, what is zero
// afterwards is thrown out, and the next violators come in. The chunk's own problem goes to
// decomposition, so that memory does not grow with the square of the support vectors.
#include <algorithm>

#include "mercer/solver/detail/methods.hpp"
#include "mercer/solver/detail/working_set.hpp"

namespace mercer {
namespace {

constexpr std::size_t newcomers = 1024;

template <class T>
std::vector<std::size_t> next_chunk(const DualState<T>& state, const Measure& measure,
                                    std::size_t count) {
    const CanonicalDual& form = state.form();
    std::vector<char> taken(form.variables, 0);
    for (std::size_t i = 0; i < form.variables; ++i) taken[i] = state.u()[i] != form.rest(i);
    mark_most_violating<T>(state, measure, count, taken);
    return marked(taken);
}

}  // namespace

template <class T>
DualStatus solve_by_chunking(DualState<T>& state) {
    std::size_t count = std::max(newcomers, state.settings().working_set);
    std::uint64_t last_steps = 0;
    bool exact = !state.settings().exact_final;
    for (bool first = true;; first = false) {
        const Measure measure = state.measure();
        if (state.satisfied(measure)) {
            if (exact || state.audit()) return DualStatus::converged;
            state.recompute();
            exact = true;
            continue;
        }
        if (const auto reason = state.report(measure)) return *reason;
        if (!first) {
            // A chunk that was optimal at once could not see the violation: more must come in.
            if (state.steps == last_steps) {
                if (count >= state.form().variables) return DualStatus::stalled;
                count *= 2;
            }
            last_steps = state.steps;
        }
        state.keep_active(next_chunk(state, measure, count));
        if (const auto reason = decompose(state, false)) return *reason;
        state.activate_all();
    }
}

template DualStatus solve_by_chunking<float>(DualState<float>&);
template DualStatus solve_by_chunking<double>(DualState<double>&);

}  // namespace mercer
