// The methods behind solve_dual, and what they share. Each works on a started state and returns why
// it stopped; `converged` means that the settings are satisfied over all variables.
#pragma once

#include <optional>
#include <vector>

#include "mercer/solver/state.hpp"

namespace mercer {

template <class T>
DualStatus solve_by_decomposition(DualState<T>& state);
template <class T>
DualStatus solve_by_smo(DualState<T>& state);
template <class T>
DualStatus solve_by_chunking(DualState<T>& state);

/// Decomposition over the active variables alone, until they satisfy the settings (nothing is
/// returned) or there is a reason to stop.
template <class T>
std::optional<DualStatus> decompose(DualState<T>& state, bool shrinking);

/// Looks whether u runs away to infinity: a test each time it has doubled in size.
template <class T>
class RunawayWatch {
   public:
    explicit RunawayWatch(const DualState<T>& state);
    /// True when state.ray has been set to a direction of endless descent.
    bool proves_unbounded(DualState<T>& state);

   private:
    std::vector<double> origin_;
    double next_ = 0;
};

/// The certificate for direction d (in canonical variables, Σ|d_i| = 1) if it is one.
template <class T>
std::optional<RecessionDirection> recession_certificate(const DualState<T>& state,
                                                        std::vector<double> d);

}  // namespace mercer
