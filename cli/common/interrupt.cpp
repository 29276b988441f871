#include "cli/common/interrupt.hpp"

#include <unistd.h>

#include <atomic>
#include <csignal>

#include "cli/common/session.hpp"

namespace mercer::cli {
namespace {

// A signal may come to any thread.
std::atomic<int> files_under_way{0};
std::atomic<bool> is_asked_for{false};
std::atomic<bool> wished{false};
std::atomic<bool> came_while_writing{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

extern "C" void on_interrupt(int) {
    if (files_under_way > 0) {
        if (came_while_writing.exchange(true)) _exit(exit_interrupted);
    } else if (!is_asked_for || wished.exchange(true)) {
        _exit(exit_interrupted);
    }
}

}  // namespace

void install_interrupt_handler() {
    struct sigaction action {};
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction before {};
    if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(SIGHUP, &action, nullptr);
    }
}

StopOnInterrupt::StopOnInterrupt() {
    wished = false;
    is_asked_for = true;
}

StopOnInterrupt::~StopOnInterrupt() {
    is_asked_for = false;
}

bool StopOnInterrupt::requested() const {
    return wished;
}

InterruptLater::InterruptLater(const std::string& path) : waiting_(path != "-") {
    if (waiting_) ++files_under_way;
}

InterruptLater::~InterruptLater() {
    if (!waiting_ || --files_under_way > 0) return;
    if (!came_while_writing.exchange(false)) return;
    if (!is_asked_for || wished.exchange(true)) _exit(exit_interrupted);
}

}  // namespace mercer::cli
