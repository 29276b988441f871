#include "cli/common/ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <exception>
#include <new>
#include <numeric>
#include <vector>

#include "cli/common/session.hpp"
#include "mercer/base/error.hpp"
#include "mercer/dist/communicator.hpp"

namespace mercer::cli {
namespace {

/// Sends away what this process would print.
void fall_silent() {
    const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    std::fflush(stdout);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

}  // namespace

Complaint complaint_of(const std::function<void()>& work) {
    try {
        work();
        return {};
    } catch (const RankFailed& failed) {
        const std::string place =
            failed.rank() == 0 ? "" : fmt::format(" (said by rank {})", failed.rank());
        return {failed.code(), failed.what() + place};
    } catch (const InvalidInput& error) {
        return {exit_bad_input, in_flags(error.what())};
    } catch (const Cancelled&) {
        return {exit_interrupted, "interrupted"};
    } catch (const std::bad_alloc&) {
        return {exit_failure, "out of memory"};
    } catch (const std::exception& error) {
        return {exit_failure, error.what()};
    }
}

int run_on_all_ranks(const std::function<int()>& work,
                     const std::function<int(const Complaint&)>& complain) {
    std::unique_ptr<Communicator> ranks;
    const Complaint unable = complaint_of([&] { ranks = ranks_of_this_run(); });
    if (unable.code != 0) return complain(unable);
    if (ranks->rank() > 0) fall_silent();
    const SpreadOver spread(*ranks);
    int code = 0;
    bool heard = false;  // the failure is another rank's, or all have stopped
    const Complaint found = complaint_of([&] {
        try {
            code = work();
            ranks->broadcast(std::span(&code, 1));  // all have come to the end
        } catch (const RankFailed&) {
            heard = true;
            throw;
        } catch (const Cancelled&) {
            heard = ranks->stopped();
            throw;
        }
    });
    if (found.code == 0) return code;
    if (heard || ranks->fail(found.code, found.message) == ranks->rank()) return complain(found);
    return found.code;
}

void require_one_rank(const std::string& command) {
    const std::size_t size = current_ranks().size();
    if (size == 1) return;
    throw InvalidInput(fmt::format(
        "{} runs in one process, and mpirun has started {}; train can be spread over several",
        command, size));
}

bool is_first_rank() {
    return current_ranks().rank() == 0;
}

std::function<RowRange(std::size_t)> part_of_rank() {
    if (current_ranks().size() == 1) return {};
    return [](std::size_t total) { return own_rows(current_ranks(), total); };
}

std::size_t rows_of_all_ranks(std::size_t own) {
    const std::vector<std::size_t> all =
        current_ranks().all_gather(std::span<const std::size_t>(&own, 1));
    return std::accumulate(all.begin(), all.end(), std::size_t{0});
}

}  // namespace mercer::cli
