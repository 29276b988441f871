#include "mercer/learn/cells/detail/for_cells.hpp"

#include <atomic>
#include <memory>
#include <thread>

#include "mercer/base/parallel.hpp"
#include "mercer/dist/detail/one_rank.hpp"

namespace mercer {

void for_cells(std::size_t count, const Progress& progress,
               const std::function<void(std::size_t)>& check) {
    std::atomic<std::size_t> done{0};
    std::atomic<bool> stopped{false};
    const auto own_thread = std::this_thread::get_id();
    parallel_for(count, [&](std::size_t k) {
        if (stopped) return;
        // Which thread has which cell is left to chance: no rank could wait for another there.
        const std::unique_ptr<Communicator> one = one_rank();
        const SpreadOver alone(*one, HeldRows::all);
        check(k);
        ++done;
        if (!progress || std::this_thread::get_id() != own_thread) return;
        const double share = static_cast<double>(done) / static_cast<double>(count);
        if (!progress({"verifying", share})) stopped = true;
    });
    if (stopped) throw Cancelled();
}

}  // namespace mercer
