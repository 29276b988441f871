#include "mercer/base/detail/patience.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

using Clock = std::chrono::steady_clock;

/// A tenth of a second or so on one modest processor.
constexpr double slice_operations = 2e9;

}  // namespace

struct Patience::State {
    Progress listener;
    double seconds = 0;
    Clock::time_point start = Clock::now();
    std::atomic<bool> over{false};
    std::atomic<bool> late{false};
};

Patience::Patience(Progress listener, double seconds) : state_(std::make_shared<State>()) {
    state_->listener = std::move(listener);
    state_->seconds = seconds;
}

bool Patience::operator()(const Moment& moment) const {
    State& s = *state_;
    if (s.over) return false;
    const std::chrono::duration<double> used = Clock::now() - s.start;
    if (s.seconds > 0 && used.count() >= s.seconds) {
        s.late = true;
        s.over = true;
    } else if (!keep_going(s.listener, moment)) {
        s.over = true;
    }
    return !s.over;
}

Progress Patience::progress() const {
    return [own = *this](const Moment& moment) { return own(moment); };
}

bool Patience::is_over() const {
    return state_->over;
}
bool Patience::out_of_time() const {
    return state_->late;
}

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
