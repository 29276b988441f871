// Work under way: since when, for how long at most, who is told of it, and why it stopped.
//
//   const Run run(progress, 10);                         // ten seconds from now on, at most
//   while (run.goes_on({"training", -1})) step();
//   run.seconds(), run.out_of_time();
//
// Machines make one from their FitSettings (`settings.common.run()`).
#pragma once

#include <cstdint>
#include <memory>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"

namespace mercer MERCER_API {

/// Seconds since it was made, or since the last lap.
class Stopwatch {
   public:
    Stopwatch();
    double seconds() const;
    /// The same, and from now on those of the next lap.
    double lap();

   private:
    std::int64_t start_;  ///< nanoseconds of a clock that never goes back
};

/// Asks the listener and looks at the clock. Once one of them has said stop the answer is no for
/// ever, and the listener is not asked again. Copies share what they know.
class Run {
   public:
    /// `time_limit` in seconds from now on; 0: none.
    explicit Run(Progress listener = {}, double time_limit = 0);

    /// Tells the listener. True: go on.
    bool goes_on(const Moment& moment) const;
    /// The same as a function, for whoever takes one.
    Progress progress() const;

    double seconds() const;  ///< since it began
    /// What is left of the time limit, more than 0 even when nothing is; 0: there is no limit.
    double time_left() const;
    bool is_over() const;      ///< told to stop, or out of time
    bool out_of_time() const;  ///< and that it was time

   private:
    struct State;
    std::shared_ptr<State> state_;
};

}  // namespace mercer
