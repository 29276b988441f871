// Work shared between threads so that the result never depends on how many there are: the caller
// cuts the work into tasks by the problem's size alone, each task writes to its own place, and
// whatever has to be added up is added up afterwards in the order of the tasks.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// Threads a parallel_for begun here would use: 1 inside the body of another, else what the
/// innermost `ThreadLimit` of this thread says, else what `set_threads` said for the process, else
/// the default.
std::size_t threads();

/// The number for all calls of this process that no `ThreadLimit` says otherwise for; 0 goes back
/// to the default: MERCER_NUM_THREADS where that is set in the environment; else one for each
/// processor this process may run on, no more than its container may keep busy and no more than
/// OMP_NUM_THREADS, by which schedulers and pools of processes (joblib) tell libraries their share.
void set_threads(std::size_t count);

/// While it lives, what its own thread begins uses `count` threads (0: leaves it as it was). So two
/// calls at the same time may have numbers of their own. A thread that does another's work takes
/// over its number by a limit of its own: `ThreadLimit(threads())`, the argument read there.
class ThreadLimit {
   public:
    explicit ThreadLimit(std::size_t count);
    ~ThreadLimit();
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;

   private:
    std::size_t before_;
};

/// The number of threads in the text of an environment variable: the first of a list, "4,2" being
/// 4; 0 where there is no such text or it is no whole number above 0.
std::size_t threads_of_text(const char* text);

/// How many processors a control group's limit keeps busy, rounded up: "250000 100000",
/// microseconds of processor time in each so many, are 3; 0 when the text sets no limit ("max
/// 100000").
std::size_t processors_of_limit(const std::string& text);

/// Calls body(task) once for every task in [0, tasks), each on some thread, and returns when all
/// are done. Several threads may do so at once, and a process after fork. The first exception
/// thrown is thrown again here after the others have finished. Calls from inside a body run on the
/// calling thread alone, so nesting is safe. `at_once` limits how many tasks are under way together
/// (0: no limit), for tasks that need much memory.
void run_tasks(std::size_t tasks, const std::function<void(std::size_t)>& body,
               std::size_t at_once);

template <class Body>
void parallel_for(std::size_t tasks, Body&& body, std::size_t at_once = 0) {
    if (tasks == 1) return body(std::size_t{0});
    run_tasks(tasks, std::ref(body), at_once);
}

/// Cuts [0, size) into pieces of at most `grain` and calls body(first, last) for each, as above.
template <class Body>
void parallel_ranges(std::size_t size, std::size_t grain, Body&& body) {
    if (grain == 0) grain = 1;
    parallel_for((size + grain - 1) / grain, [&](std::size_t task) {
        const std::size_t first = task * grain;
        body(first, size - first < grain ? size : first + grain);
    });
}

}  // namespace mercer
