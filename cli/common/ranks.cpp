#include "cli/common/ranks.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <exception>
#include <functional>
#include <new>
#include <numeric>
#include <vector>

#include "cli/common/interrupt.hpp"
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

/// A process and the machine it runs on.
struct Whereabouts {
    std::size_t machine = 0;
    int process = 0;
};

/// Has last words said by the lowest rank of a machine that is left.
void introduce(Communicator& ranks) {
    char name[256] = "";
    gethostname(name, sizeof name - 1);
    const Whereabouts own{std::hash<std::string>{}(name), static_cast<int>(getpid())};
    const std::vector<Whereabouts> all = ranks.all_gather(std::span<const Whereabouts>(&own, 1));
    std::vector<int> before;
    for (std::size_t r = 0; r < ranks.rank(); ++r) {
        if (all[r].machine != own.machine) return;  // it speaks
        before.push_back(all[r].process);
    }
    share_last_words(fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3), before);
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
    if (ranks->size() > 1) complaint_of([&] { introduce(*ranks); });
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

bool shared_by_ranks(const std::string& command) {
    constexpr std::array shared{"train", "predict", "tune", "verify", "gram"};
    return std::ranges::find(shared, command) != shared.end();
}

void require_one_rank(const std::string& command) {
    const std::size_t size = current_ranks().size();
    if (size == 1) return;
    throw InvalidInput(fmt::format(
        "{} runs in one process, and mpirun has started {}; train, predict, tune, verify "
        "and gram can be spread over several",
        command, size));
}

bool several_ranks() {
    return current_ranks().size() > 1;
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

Labels labels_of_all_ranks(const Labels& own) {
    Communicator& ranks = current_ranks();
    if (ranks.size() == 1) return own;
    std::string names;
    for (const std::string& name : own.names) names += name + '\0';
    std::vector<std::size_t> texts_of, rows_of;
    const std::vector<char> texts = ranks.all_gather(std::span<const char>(names), &texts_of);
    Labels all;
    all.values = ranks.all_gather(std::span<const double>(own.values), &rows_of);
    auto text = texts.begin();
    auto row = all.values.begin();
    for (std::size_t r = 0; r < ranks.size(); ++r) {  // each numbers its names in its own way
        std::vector<double> position;
        for (const auto end = text + static_cast<std::ptrdiff_t>(texts_of[r]); text != end;) {
            const auto stop = std::find(text, end, '\0');
            const std::string name(text, stop);
            const auto found = std::ranges::find(all.names, name);
            position.push_back(static_cast<double>(found - all.names.begin()));
            if (found == all.names.end()) all.names.push_back(name);
            text = stop + 1;
        }
        for (std::size_t i = 0; i < rows_of[r]; ++i, ++row) {
            if (!position.empty()) *row = position[static_cast<std::size_t>(*row)];
        }
    }
    return all;
}

void texts_of_all_ranks(const std::string& own,
                        const std::function<void(std::string_view)>& write) {
    constexpr std::size_t most = std::size_t{1} << 24;  // of a message
    Communicator& ranks = current_ranks();
    const std::size_t size = own.size();
    const std::vector<std::size_t> sizes = ranks.all_gather(std::span<const std::size_t>(&size, 1));
    for (std::size_t r = 0; r < ranks.size(); ++r) {
        for (std::size_t from = 0; from < sizes[r]; from += most) {
            std::span<const char> part;
            if (r == ranks.rank()) {
                part = std::span<const char>(own).subspan(from, std::min(most, sizes[r] - from));
            }
            const std::vector<char> text = ranks.all_gather(part);
            if (ranks.rank() == 0) write({text.data(), text.size()});
        }
    }
}

}  // namespace mercer::cli
