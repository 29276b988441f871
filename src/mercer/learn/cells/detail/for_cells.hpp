// Something done for each cell of a model, on all threads.
#pragma once

#include <cstddef>
#include <functional>

#include "mercer/base/progress.hpp"

namespace mercer {

/// Throws Cancelled as the listener says, which is called from the thread that began.
void for_cells(std::size_t count, const Progress& progress,
               const std::function<void(std::size_t)>& check);

}  // namespace mercer
