// How long work speaks to whoever waits for it, and how it is told to stop. The library never
// prints; a command line or a notebook gives a callback and draws what it likes.
//
// Work under way: since when, for how long at most, who is told of it, and why it stopped.
//
//   const Run run(progress, 10);                         // ten seconds from now on, at most
//   while (run.goes_on({"training", -1})) step();
//   run.seconds(), run.out_of_time();
//
// Machines make one from their FitSettings (`settings.common.run()`).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// A number that belongs to a moment: "violation", 1e-3.
struct Figure {
    std::string_view name;
    double value = 0;
};

/// One moment of long work.
struct Moment {
    std::string_view task;      ///< "reading", "gram matrix", …
    double fraction = 0;        ///< done so far in [0, 1]; negative when the end is not known
    std::string_view detail{};  ///< a short line for people, may be empty
    /// What is known at the moment, by name; valid during the call.
    std::span<const Figure> figures{};
    /// Seconds that will be taken at least before anybody is asked again; a time limit counts them.
    double needs = 0;

    /// The figure of that name, or `otherwise`.
    double figure(std::string_view name, double otherwise = 0) const {
        for (const Figure& f : figures) {
            if (f.name == name) return f.value;
        }
        return otherwise;
    }
};

/// Called now and then, always from the thread that started the work. Return false to stop it.
/// An empty function means nobody is listening.
using Progress = std::function<bool(const Moment&)>;

/// Reports a moment; false when the listener wants the work to end.
inline bool keep_going(const Progress& progress, const Moment& moment) {
    return !progress || progress(moment);
}

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
