#include "cli/common/failure.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>
#include <utility>

namespace mercer::cli {
namespace {

constexpr int failure_code = 1;

/// An exception that nobody caught. Where memory has run out, in a place that may not throw or
/// before main began, that is the end, and it is said; anything else is a mistake of ours.
[[noreturn]] void on_terminate() {
    try {
        if (std::current_exception()) throw;
    } catch (const std::bad_alloc&) {
        constexpr std::string_view text = "mercer: error: out of memory\n";
        [[maybe_unused]] const auto written = write(STDERR_FILENO, text.data(), text.size());
        _exit(failure_code);
    } catch (...) {
    }
    std::abort();
}

void install_terminate_handler(int, char**, char**) {
    std::set_terminate(on_terminate);
}

/// Before the first line of any library runs: those make tables as they are loaded.
__attribute__((section(".preinit_array"),
               used)) void (*const before_all)(int, char**, char**) = install_terminate_handler;

}  // namespace

void open_standard_streams() {
    // Open for the other direction only, so that whoever uses it is told.
    for (const auto& [number, mode] :
         {std::pair{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_RDWR}}) {
        if (fcntl(number, F_GETFD) != -1) continue;
        const int opened = open("/dev/null", mode);
        if (opened != number && opened >= 0) close(opened);
    }
}

}  // namespace mercer::cli
