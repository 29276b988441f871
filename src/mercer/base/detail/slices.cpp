#include "mercer/base/detail/slices.hpp"

#include <algorithm>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

/// A tenth of a second or so on one modest processor.
constexpr double slice_operations = 2e9;

}  // namespace

void parallel_slices(std::size_t tasks, double operations, const Progress& progress,
                     const Moment& moment, const std::function<void(std::size_t)>& body) {
    if (!progress) return parallel_for(tasks, body);
    const double fit = slice_operations / std::max(operations, 1.0);
    const std::size_t slice = std::max(threads(), static_cast<std::size_t>(std::min(fit, 1e9)));
    for (std::size_t first = 0; first < tasks; first += slice) {
        if (!keep_going(progress, moment)) throw Cancelled();
        parallel_for(std::min(slice, tasks - first), [&](std::size_t task) { body(first + task); });
    }
}

}  // namespace mercer
