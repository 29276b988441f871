#include "cli/common/interrupt.hpp"

#include <unistd.h>

#include <algorithm>
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

constexpr std::size_t most_words = 1024, most_before = 256;
/// A text that a signal handler may read.
struct HandlerText {
    char text[most_words]{};
    std::atomic<std::size_t> size{0};

    void set(const std::string& from) {
        size = 0;
        const std::size_t count = std::min(from.size(), most_words - 1);
        std::copy_n(from.begin(), count, text);
        text[count] = 0;
        size = count;
    }
};
HandlerText last_words, words_file, words_without_file;
std::atomic<int> last_words_to{STDERR_FILENO};
int said_before[most_before];
std::atomic<std::size_t> said_before_count{0};
static_assert(std::atomic<std::size_t>::is_always_lock_free);

void say_last_words() {
    for (std::size_t k = 0; k < said_before_count; ++k) {
        if (kill(said_before[k], 0) == 0) return;
    }
    const bool there = words_file.size == 0 || access(words_file.text, F_OK) == 0;
    HandlerText& words = there ? last_words : words_without_file;
    const std::size_t size = words.size;
    last_words.size = words_without_file.size = 0;
    if (size > 0 && ::write(last_words_to, words.text, size) < 0) return;  // nobody to tell
}

extern "C" void on_interrupt(int number) {
    if (number == SIGTERM) say_last_words();
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
    action.sa_flags = SA_RESTART | SA_ONSTACK;  // base/detail/gemm.cpp says why
    sigaction(SIGINT, &action, nullptr);
    sigaction(SIGTERM, &action, nullptr);
    struct sigaction before {};
    if (sigaction(SIGHUP, nullptr, &before) == 0 && before.sa_handler != SIG_IGN) {
        sigaction(SIGHUP, &action, nullptr);
    }
}

void set_last_words(const std::string& text, const std::string& file,
                    const std::string& otherwise) {
    last_words.set("");
    words_without_file.set(otherwise);
    words_file.set(file);
    last_words.set(text);
}

void share_last_words(int descriptor, const std::vector<int>& before) {
    last_words_to = descriptor;
    const std::size_t count = std::min(before.size(), most_before);
    std::copy_n(before.begin(), count, said_before);
    said_before_count = count;
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
