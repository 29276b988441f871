#include "cli/common/interrupt.hpp"

#include <unistd.h>

#include <csignal>

#include "cli/common/output.hpp"

namespace mercer::cli {
namespace {

volatile std::sig_atomic_t interrupts = 0;

extern "C" void count_interrupt(int) {
    if (interrupts > 0) _exit(130);
    interrupts = 1;
}

}  // namespace

StopOnInterrupt::StopOnInterrupt() {
    interrupts = 0;
    struct sigaction action {};
    action.sa_handler = count_interrupt;
    sigemptyset(&action.sa_mask);
    action.sa_flags = SA_RESTART;
    sigaction(SIGINT, &action, nullptr);
}

StopOnInterrupt::~StopOnInterrupt() {
    install_interrupt_handler();
}

bool StopOnInterrupt::requested() const {
    return interrupts > 0;
}

}  // namespace mercer::cli
