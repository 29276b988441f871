// Long work beside a Python thread that keeps listening.
//
// The work runs on a thread of its own, without the interpreter's lock. The calling thread wakes up
// twenty times a second to let Python see signals, and hands what the work reports to the caller's
// callback; so all Python code, handlers of signals included, runs where Python expects it.
#pragma once

#include <nanobind/nanobind.h>

#include <functional>

#include "mercer/base/progress.hpp"

namespace mercer::python {

namespace nb = nanobind;

/// Runs the work until it returns. `callback` is None or a function of a dict, the figures and
/// texts of a moment by name, that may return False to stop. An exception of the callback, or of a
/// signal (KeyboardInterrupt), stops the work and is thrown again when it has ended, unless it is a
/// KeyboardInterrupt and `keep` is set and the work came back with a result all the same.
void run_beside(const std::function<void(const Progress&)>& work, nb::object callback = nb::none(),
                bool keep = false);

}  // namespace mercer::python
