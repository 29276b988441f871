#include "mercer/learn/detail/checkpoint.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <filesystem>

#include "mercer/base/error.hpp"
#include "mercer/base/file.hpp"
#include "mercer/data/source.hpp"

namespace mercer {
namespace {

constexpr std::string_view checkpoint_magic = "mercer checkpoint 1\n";
constexpr std::size_t rows_at_once = std::size_t{1} << 20;  ///< that travel between ranks

std::string_view bytes_of(std::span<const double> values) {
    return {reinterpret_cast<const char*>(values.data()), values.size_bytes()};
}

/// What rank 0 has read: the numbers, then one for each row of all ranks.
struct Stored {
    std::size_t numbers = 0;
    std::size_t rows = 0;
    std::vector<double> values{};
};

Stored read_checkpoint(const std::string& path, const std::string& fingerprint) {
    const Content content = read_bytes(path);
    std::string_view bytes = content.view();
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput(Location{.file = path},
                           why + "; remove it, or name another `checkpoint`");
    };
    std::array<std::uint64_t, 2> counts{};
    if (!bytes.starts_with(checkpoint_magic)) refuse("this is no checkpoint");
    bytes.remove_prefix(checkpoint_magic.size());
    const std::size_t end = bytes.find('\n');
    if (end == std::string_view::npos || bytes.size() - end - 1 < sizeof counts) {
        refuse("this checkpoint is cut short");
    }
    if (bytes.substr(0, end) != fingerprint) {
        refuse("this checkpoint belongs to other data or other settings");
    }
    bytes.remove_prefix(end + 1);
    std::memcpy(counts.data(), bytes.data(), sizeof counts);
    bytes.remove_prefix(sizeof counts);
    Stored stored{.numbers = counts[0], .rows = counts[1]};
    if (bytes.size() % sizeof(double) != 0 || counts[0] > bytes.size() / sizeof(double) ||
        counts[1] != bytes.size() / sizeof(double) - counts[0]) {
        refuse("this checkpoint has not as many numbers as it says");
    }
    stored.values.resize(counts[0] + counts[1]);
    std::memcpy(stored.values.data(), bytes.data(), bytes.size());
    return stored;
}

}  // namespace

std::string fingerprint_of(MatrixView<const double> values) {
    std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a, a word at a time
    for (std::size_t i = 0; i < values.rows; ++i) {
        for (const double value : values.row(i)) {
            hash = (hash ^ std::bit_cast<std::uint64_t>(value)) * 0x100000001b3;
        }
    }
    return std::to_string(hash);
}

Checkpoint::Checkpoint(const RowLeaves& leaves, const std::string& fingerprint)
    : leaves_(leaves), fingerprint_(fingerprint + " rows " + std::to_string(leaves.rows())) {
    if (KeepCheckpoint* const keep = KeepCheckpoint::current()) {
        path_ = keep->next_path(leaves.rows());
    }
}

std::optional<CheckpointState> Checkpoint::load() const {
    if (path_.empty() || !KeepCheckpoint::current()->resumes()) return {};
    Communicator& ranks = leaves_.ranks();
    const bool first = ranks.rank() == 0;
    Stored stored;
    std::array<std::uint64_t, 3> outline{};  // is there one, and how many numbers
    std::error_code ignored;
    if (first && std::filesystem::exists(path_, ignored)) {
        stored = read_checkpoint(path_, fingerprint_);
        outline = {1, stored.numbers, stored.rows};
    }
    ranks.broadcast(std::span<std::uint64_t>(outline));
    if (outline[0] == 0) return {};
    stored.values.resize(outline[1] + (first ? outline[2] : 0));
    CheckpointState state{.by_rows = outline[2] > 0};
    ranks.broadcast(std::span(stored.values).first(outline[1]));
    state.numbers.assign(stored.values.begin(),
                         stored.values.begin() + static_cast<std::ptrdiff_t>(outline[1]));
    const std::span<const double> rows = std::span(stored.values).subspan(outline[1]);
    for (std::size_t begin = 0; begin < outline[2]; begin += rows_at_once) {
        const std::size_t count = std::min(rows_at_once, outline[2] - begin);
        std::vector<double> some(count);
        if (first) std::ranges::copy(rows.subspan(begin, count), some.begin());
        ranks.broadcast(std::span(some));
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t row = begin + k;
            const bool own = row >= leaves_.before() && row < leaves_.before() + leaves_.own();
            if (own) state.rows.push_back(some[k]);
        }
    }
    return state;
}

void Checkpoint::save(const CheckpointState& state) {
    if (path_.empty()) return;
    char due = since_.seconds() >= KeepCheckpoint::current()->interval() ? 1 : 0;
    leaves_.ranks().broadcast(std::span(&due, 1));
    if (due == 0) return;
    write(state);
    since_ = Stopwatch();
}

void Checkpoint::write(const CheckpointState& state) const {
    Communicator& ranks = leaves_.ranks();
    const std::size_t rows = state.by_rows ? leaves_.rows() : 0;
    const auto send = [&](Output* out) {
        for (std::size_t begin = 0; begin < rows; begin += rows_at_once) {
            const std::size_t end = std::min(begin + rows_at_once, rows);
            const std::size_t first = std::clamp(leaves_.before(), begin, end);
            const std::size_t last = std::clamp(leaves_.before() + leaves_.own(), begin, end);
            const auto own = last > first ? std::span<const double>(state.rows)
                                                .subspan(first - leaves_.before(), last - first)
                                          : std::span<const double>();
            const std::vector<double> all = ranks.all_gather(own);
            if (out) out->write(bytes_of(all));
        }
    };
    if (ranks.rank() > 0) return send(nullptr);
    write_whole(path_, [&](Output& out) {
        const std::array<std::uint64_t, 2> counts{state.numbers.size(), rows};
        out.write(checkpoint_magic);
        out.write(fingerprint_ + "\n");
        out.write({reinterpret_cast<const char*>(counts.data()), sizeof counts});
        out.write(bytes_of(state.numbers));
        send(&out);
    });
}

}  // namespace mercer
