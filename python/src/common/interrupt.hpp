// Long work beside a Python thread that keeps listening.
//
// The work runs on a thread of its own, without the interpreter's lock. The calling thread wakes up
// twenty times a second to let Python see signals, and hands what the work reports to the caller's
// callback; so all Python code, handlers of signals included, runs where Python expects it.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <map>
#include <string>

#include "mercer/base/progress.hpp"

namespace mercer::python {

namespace nb = nanobind;

/// One report of the work: numbers and texts by name, for a callback that takes a dict.
struct Event {
    std::string task{};
    std::string detail{};
    std::map<std::string, double> numbers{};
};

/// Called by the work; false when it should end.
using Tell = std::function<bool(Event)>;

/// Runs the work until it returns. `callback` is None or a function of a dict that may return False
/// to stop. An exception of the callback, or of a signal (KeyboardInterrupt), stops the work and is
/// thrown again when it has ended, unless it is a KeyboardInterrupt and `keep` is set and the work
/// came back with a result all the same.
void run_beside(const std::function<void(const Tell&)>& work, nb::object callback, bool keep);

/// The same for work that knows `Progress` only.
void run_beside(const std::function<void(const Progress&)>& work, nb::object callback = nb::none());

}  // namespace mercer::python
