// The methods behind solve_dual, and what they share. Each works on a started state and returns why
// it stopped; `converged` means that the settings are satisfied over all variables.
#pragma once

#include <optional>
#include <vector>

#include "mercer/solver/detail/hulls.hpp"
#include "mercer/solver/detail/state.hpp"

namespace mercer {

template <class T>
DualStatus solve_by_decomposition(DualState<T>& state);
template <class T>
DualStatus solve_by_smo(DualState<T>& state);
template <class T>
DualStatus solve_by_chunking(DualState<T>& state);

/// The rows behind the operator, where the settings ask for work in the space of weights, or leave
/// it open and that is the quicker way.
template <class T>
std::optional<ExplicitRows<T>> rows_for_weights(const DualState<T>& state);
template <class T>
DualStatus solve_by_weights(DualState<T>& state, const ExplicitRows<T>& rows);

/// Decomposition over the active variables alone, until they satisfy the settings (nothing is
/// returned) or there is a reason to stop.
template <class T>
std::optional<DualStatus> decompose(DualState<T>& state, bool shrinking);

/// Looks whether u runs away to infinity: a test each time it has doubled in size. Of a hard margin
/// it knows where to, to the nearest points of two hulls, and goes there.
template <class T>
class RunawayWatch {
   public:
    explicit RunawayWatch(const DualState<T>& state);
    /// `unbounded` when state.ray has been set to a direction of endless descent; `stalled` when u
    /// was put where the hulls are nearest before, so that what is violated now is rounding.
    std::optional<DualStatus> look(DualState<T>& state);
    /// Whether the last look has moved u: the state wants to be measured again.
    bool moved() const { return moved_; }

   private:
    std::vector<double> growth(const DualState<T>& state);
    HullPoints nearest_points(DualState<T>& state) const;
    void settle(DualState<T>& state, const HullPoints& found);

    std::vector<double> origin_;
    double next_ = 0;
    std::optional<Hulls> hulls_;
    bool moved_ = false;
    bool settled_ = false;
};

/// The certificate for direction d (in canonical variables, Σ|d_i| = 1) if it is one: d'Qd is at
/// most `flat` of its scale.
template <class T>
std::optional<RecessionDirection> recession_certificate(const DualState<T>& state,
                                                        std::vector<double> d, double flat);

}  // namespace mercer
