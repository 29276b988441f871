// A listener with a time limit, and work cut so that it is asked often enough: whoever says stop,
// or whose time is up, is answered within a fraction of a second.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#include "mercer/base/progress.hpp"

namespace mercer {

/// Asks the listener and looks at the clock. Once one of them has said stop the answer is no for
/// ever, and the listener is not asked again. Copies share what they know.
class Patience {
   public:
    /// `seconds` from now on; 0: no limit.
    explicit Patience(Progress listener, double seconds = 0);

    /// True to go on. `progress` is the same as a function.
    bool operator()(const Moment& moment) const;
    Progress progress() const;

    bool is_over() const;      ///< told to stop, or out of time
    bool out_of_time() const;  ///< and that it was time

   private:
    struct State;
    std::shared_ptr<State> state_;
};

/// parallel_for in slices of about 2e9 operations, each task having `operations`; before each slice
/// the listener is asked, and Cancelled thrown when it wants no more. What a task does must not
/// depend on the slices.
void parallel_slices(std::size_t tasks, double operations, const Progress& progress,
                     const Moment& moment, const std::function<void(std::size_t)>& body);

}  // namespace mercer
