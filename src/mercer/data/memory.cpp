#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/source.hpp"

namespace mercer {
namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
/// What a source may grow to without anybody's word: text packed ten times as small is common, a
/// hundred times is a table of zeros, a thousand is what an attacker makes of nothing.
constexpr std::size_t usual_growth = 100;
constexpr std::size_t usual_room = 64 * mebibyte;

std::string first_line_of(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

/// A number of bytes; none for "max" and for what is no number.
std::size_t bytes_of_text(const std::string& text) {
    std::size_t bytes = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, bytes);
    const bool number = error == std::errc() && end == last && !text.empty();
    return number ? bytes : std::numeric_limits<std::size_t>::max();
}

std::size_t machine_memory() {
    const long pages = sysconf(_SC_PHYS_PAGES);
    const long page = sysconf(_SC_PAGESIZE);
    std::size_t bytes = std::size_t{1} << 40;
    if (pages > 0 && page > 0)
        bytes = static_cast<std::size_t>(pages) * static_cast<std::size_t>(page);
    for (const auto kind : {RLIMIT_AS, RLIMIT_DATA}) {
        rlimit limit{};
        if (getrlimit(kind, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
            bytes = std::min<std::size_t>(bytes, limit.rlim_cur);
        }
    }
    std::ifstream file("/proc/self/cgroup");
    const std::string groups(std::istreambuf_iterator<char>(file), {});
    return control_group_limit(groups, first_line_of, bytes);
}

/// 0: none was set.
std::atomic<std::size_t> chosen_limit{0};

std::size_t limit_of_environment() {
    const char* const text = std::getenv("MERCER_MEMORY_LIMIT");
    if (text == nullptr) return 0;
    const std::size_t mebibytes = bytes_of_text(text);
    return mebibytes < (std::size_t{1} << 40) ? mebibytes * mebibyte : 0;
}

std::size_t limit_given() {
    const std::size_t chosen = chosen_limit;
    return chosen != 0 ? chosen : limit_of_environment();
}

std::string in_megabytes(double bytes) {
    return format_number(std::ceil(bytes / static_cast<double>(mebibyte)));
}

}  // namespace

std::size_t control_group_limit(const std::string& groups,
                                const std::function<std::string(const std::string&)>& line,
                                std::size_t most) {
    const auto climb = [&](const std::string& root, std::string path, const char* file) {
        for (;;) {
            most = std::min(most, bytes_of_text(line(root + path + '/' + file)));
            const std::size_t slash = path.rfind('/');
            if (slash == std::string::npos) return;
            path.resize(slash);
        }
    };
    std::istringstream lines(groups);
    for (std::string text; std::getline(lines, text);) {  // "4:memory:/path" or "0::/path"
        const std::size_t first = text.find(':');
        const std::size_t second = text.find(':', first + 1);
        if (first == std::string::npos || second == std::string::npos) continue;
        const std::string kinds = ',' + text.substr(first + 1, second - first - 1) + ',';
        const std::string path = text.substr(second + 1);
        if (path.find("..") != std::string::npos) continue;
        if (kinds == ",,") climb("/sys/fs/cgroup", path, "memory.max");
        if (kinds.find(",memory,") != std::string::npos) {
            climb("/sys/fs/cgroup/memory", path, "memory.limit_in_bytes");
        }
    }
    return most;
}

std::size_t physical_memory() {
    // It may change while we run, but asking costs several files. (No static variable of a
    // function: its lock might be held when another thread forks.)
    static std::atomic<std::size_t> known{0};
    if (known == 0) known = std::max(machine_memory(), mebibyte);
    return known;
}

void set_memory_limit(std::size_t bytes) {
    chosen_limit = bytes;
}

std::size_t memory_limit() {
    const std::size_t given = limit_given();
    return given != 0 ? given : physical_memory() / 4 * 3;
}

std::size_t allowance(std::size_t source_bytes) {
    if (limit_given() != 0) return limit_given();
    const std::size_t most = memory_limit();
    if (source_bytes > (most - std::min(most, usual_room)) / usual_growth) return most;
    return std::min(most, usual_room + usual_growth * source_bytes);
}

void check_allowance(const std::string& name, double wanted, std::size_t source_bytes,
                     const std::string& what) {
    const std::size_t most = allowance(source_bytes);
    if (wanted <= static_cast<double>(most)) return;
    throw InvalidInput(Location{.file = name},
                       what + " would take " + in_megabytes(wanted) + " MB, and " +
                           std::to_string(source_bytes) + " bytes are given " +
                           in_megabytes(static_cast<double>(most)) +
                           " MB; if that is what you want, allow more by `memory_limit`");
}

void check_growth(const std::string& name, std::size_t unpacked, std::size_t source_bytes) {
    const std::size_t usual = usual_room + usual_growth * source_bytes;
    if (unpacked <= std::max(usual, limit_given())) return;
    throw InvalidInput(Location{.file = name},
                       "what is packed in it takes more than " +
                           in_megabytes(static_cast<double>(usual)) + " MB, and " +
                           std::to_string(source_bytes) +
                           " bytes are given no more; if that is what you want, allow more by "
                           "`memory_limit`");
}

void check_columns(const Rows& rows, double bytes_a_column, const std::string& what) {
    if (!rows.is_sparse()) return;
    // Features that were hashed have a million columns however few the rows.
    const std::size_t held = 16 * (rows.nonzeros() + rows.size()) + 2 * mebibyte;
    const double wanted = bytes_a_column * static_cast<double>(rows.columns());
    if (wanted <= static_cast<double>(allowance(held))) return;
    throw InvalidInput(what + " " + std::to_string(rows.columns()) + " columns would take " +
                       in_megabytes(wanted) + " MB, and rows with " +
                       std::to_string(rows.nonzeros()) + " entries are given " +
                       in_megabytes(static_cast<double>(allowance(held))) +
                       " MB; number the columns that occur anew, or allow more by `memory_limit`");
}

void fail_memory(const std::string& name) {
    throw InvalidInput(Location{.file = name},
                       "does not fit in memory (" + std::to_string(memory_limit() >> 20) +
                           " MB may be used for reading); cut it into parts, or allow more by "
                           "`memory_limit`");
}

}  // namespace mercer
