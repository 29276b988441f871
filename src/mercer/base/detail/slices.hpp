// Parallel work cut so that whoever says stop is answered within a fraction of a second.
#pragma once

#include <cstddef>
#include <functional>

#include "mercer/base/progress.hpp"

namespace mercer {

/// parallel_for in slices of about 2e9 operations, each task having `operations`; before each slice
/// the listener is asked, and Cancelled thrown when it wants no more. What a task does must not
/// depend on the slices.
void parallel_slices(std::size_t tasks, double operations, const Progress& progress,
                     const Moment& moment, const std::function<void(std::size_t)>& body);

}  // namespace mercer
