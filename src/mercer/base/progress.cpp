#include "mercer/base/progress.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <utility>

namespace mercer {
namespace {

std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

}  // namespace

Stopwatch::Stopwatch() : start_(now()) {}

double Stopwatch::seconds() const {
    return static_cast<double>(now() - start_) * 1e-9;
}

double Stopwatch::lap() {
    const double passed = seconds();
    start_ = now();
    return passed;
}

struct Run::State {
    Progress listener;
    double limit = 0;
    Stopwatch clock{};
    std::atomic<bool> over{false};
    std::atomic<bool> late{false};
};

Run::Run(Progress listener, double time_limit) : state_(std::make_shared<State>()) {
    state_->listener = std::move(listener);
    state_->limit = time_limit;
}

bool Run::goes_on(const Moment& moment) const {
    State& s = *state_;
    if (s.over) return false;
    if (s.limit > 0 && s.clock.seconds() + moment.needs >= s.limit) {
        s.late = true;
        s.over = true;
    } else if (!keep_going(s.listener, moment)) {
        s.over = true;
    }
    return !s.over;
}

Progress Run::progress() const {
    return [own = *this](const Moment& moment) { return own.goes_on(moment); };
}

double Run::seconds() const {
    return state_->clock.seconds();
}
double Run::time_left() const {
    constexpr double least = 1e-9;
    return state_->limit > 0 ? std::max(least, state_->limit - seconds()) : 0;
}

bool Run::is_over() const {
    return state_->over;
}
bool Run::out_of_time() const {
    return state_->late;
}

}  // namespace mercer
