// Work shared between threads so that the result never depends on how many there are: the caller
// cuts the work into tasks by the problem's size alone, each task writes to its own place, and
// whatever has to be added up is added up afterwards in the order of the tasks.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace mercer {

/// Threads used by the library; at first one for each processor this process may run on, and no
/// more than its container may keep busy. `set_threads(0)` goes back to that.
std::size_t threads();
void set_threads(std::size_t count);

/// How many processors a control group's limit keeps busy, rounded up: "250000 100000",
/// microseconds of processor time in each so many, are 3; 0 when the text sets no limit ("max
/// 100000").
std::size_t processors_of_limit(const std::string& text);

/// Calls body(task) once for every task in [0, tasks), each on some thread, and returns when all
/// are done. The first exception thrown is thrown again here after the others have finished. Calls
/// from inside a body run on the calling thread alone, so nesting is safe. `at_once` limits how
/// many tasks are under way together (0: no limit), for tasks that need much memory.
void parallel_for(std::size_t tasks, const std::function<void(std::size_t)>& body,
                  std::size_t at_once = 0);

/// Cuts [0, size) into pieces of at most `grain` and calls body(first, last) for each, as above.
void parallel_ranges(std::size_t size, std::size_t grain,
                     const std::function<void(std::size_t, std::size_t)>& body);

}  // namespace mercer
