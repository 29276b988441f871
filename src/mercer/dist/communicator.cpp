#include "mercer/dist/communicator.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <numeric>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/dist/detail/one_rank.hpp"

namespace mercer {
namespace {

class Alone final : public Communicator {
   public:
    std::size_t rank() const override { return 0; }
    std::size_t size() const override { return 1; }

   protected:
    void gather(const void* own, void* all, std::span<const std::size_t> bytes) override {
        if (bytes[0] > 0) std::memcpy(all, own, bytes[0]);
    }
    void exchange(const void* sent, std::span<const std::size_t> sent_bytes, void* received,
                  std::span<const std::size_t>) override {
        if (sent_bytes[0] > 0) std::memcpy(received, sent, sent_bytes[0]);
    }
};

thread_local Communicator* innermost = nullptr;
thread_local HeldRows innermost_rows = HeldRows::own;
thread_local KeepCheckpoint* innermost_checkpoint = nullptr;

enum class State : std::uint64_t { well, stops, fails };

constexpr std::size_t longest_message = std::size_t{1} << 30;  ///< bytes of all ranks together

}  // namespace

/// What a rank says before an exchange.
struct Communicator::Word {
    State state = State::well;
    std::uint64_t bytes = 0;  ///< of what it has to say in it, or of its message
    /// That itself, where it is short, which saves another exchange.
    std::array<std::byte, 240> text{};
};

namespace {

template <class Words>
bool any(const Words& words, State state) {
    return std::ranges::any_of(words, [&](const auto& word) { return word.state == state; });
}

}  // namespace

std::vector<Communicator::Word> Communicator::say(const Word& own) {
    std::vector<Word> all(size());
    const std::vector<std::size_t> bytes(size(), sizeof(Word));
    gather(&own, all.data(), bytes);
    return all;
}

/// The message of the lowest rank that fails, which all hear; `own` is this one's.
RankFailed Communicator::failure(const std::vector<Word>& words, std::span<const std::byte> own) {
    std::vector<std::size_t> bytes;
    std::size_t failed = words.size();
    for (std::size_t r = 0; r < words.size(); ++r) {
        const bool fails = words[r].state == State::fails;
        if (fails && failed == words.size()) failed = r;
        bytes.push_back(fails ? words[r].bytes : 0);
    }
    std::vector<std::byte> all(std::accumulate(bytes.begin(), bytes.end(), std::size_t{0}));
    gather(own.data(), all.data(), bytes);
    std::int32_t code = 0;  // then the text; those of lower ranks are empty
    std::memcpy(&code, all.data(), sizeof code);
    const auto* const text = reinterpret_cast<const char*>(all.data()) + sizeof code;
    return {failed, code, std::string(text, bytes[failed] - sizeof code)};
}

/// All ranks say what they have to say, or how much that is, or that they are not well.
std::vector<Communicator::Word> Communicator::meet(std::span<const std::byte> own) {
    Word word{State::well, own.size()};
    if (own.size() <= word.text.size()) std::ranges::copy(own, word.text.begin());
    std::vector<Word> words = say(word);
    if (any(words, State::fails)) throw failure(words, {});
    if (any(words, State::stops)) {
        stopped_ = true;
        throw Cancelled();
    }
    return words;
}

std::vector<std::byte> Communicator::gather_bytes(std::span<const std::byte> own,
                                                  std::vector<std::size_t>& counts) {
    counts = {own.size()};
    if (size() == 1) return {own.begin(), own.end()};
    const std::vector<Word> words = meet(own);
    counts.clear();
    for (const Word& word : words) counts.push_back(word.bytes);
    std::vector<std::byte> all;
    if (std::ranges::max(counts) <= Word{}.text.size()) {
        for (const Word& word : words) {
            const auto end = word.text.begin() + static_cast<std::ptrdiff_t>(word.bytes);
            all.insert(all.end(), word.text.begin(), end);
        }
    } else {
        all.resize(std::accumulate(counts.begin(), counts.end(), std::size_t{0}));
        gather_pieces(own, counts, all.data());
    }
    return all;
}

void Communicator::gather_to(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                             std::span<std::byte> all) {
    if (size() > 1) meet({});
    gather_pieces(own, sizes, all.data());
}

/// In messages that are not too long for those who carry them.
void Communicator::gather_pieces(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                                 std::byte* all) {
    const std::size_t most = longest_message / size();
    const std::size_t longest = std::ranges::max(sizes);
    if (longest <= most) return gather(own.data(), all, sizes);
    std::vector<std::byte> heard;
    for (std::size_t from = 0; from < longest; from += most) {
        const auto part = [&](std::size_t bytes) {
            return std::min(most, bytes - std::min(bytes, from));
        };
        std::vector<std::size_t> parts;
        for (const std::size_t bytes : sizes) parts.push_back(part(bytes));
        heard.resize(std::accumulate(parts.begin(), parts.end(), std::size_t{0}));
        gather(own.data() + std::min(own.size(), from), heard.data(), parts);
        std::size_t place = 0, at = 0;
        for (std::size_t r = 0; r < sizes.size(); ++r) {
            if (parts[r] > 0) std::memcpy(all + place + from, heard.data() + at, parts[r]);
            place += sizes[r];
            at += parts[r];
        }
    }
}

void Communicator::to_first(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                            std::span<std::byte> all) {
    const std::size_t most = longest_message / size();
    const std::size_t longest = std::ranges::max(sizes);
    std::vector<std::byte> heard;
    for (std::size_t from = 0; from < longest; from += most) {
        std::vector<std::size_t> parts, sent(size(), 0), received(size(), 0);
        for (const std::size_t bytes : sizes) {
            parts.push_back(std::min(most, bytes - std::min(bytes, from)));
        }
        sent[0] = parts[rank()];
        if (rank() == 0) received = parts;
        heard.resize(std::accumulate(received.begin(), received.end(), std::size_t{0}));
        exchange(own.data() + std::min(own.size(), from), sent, heard.data(), received);
        std::size_t place = 0, at = 0;
        for (std::size_t r = 0; rank() == 0 && r < sizes.size(); ++r) {
            if (parts[r] > 0) std::memcpy(all.data() + place + from, heard.data() + at, parts[r]);
            place += sizes[r];
            at += parts[r];
        }
    }
}

void Communicator::all_to_all(std::span<const double> sent,
                              std::span<const std::size_t> sent_counts, std::span<double> received,
                              std::span<const std::size_t> received_counts) {
    if (size() > 1) meet({});
    const auto in_bytes = [](std::span<const std::size_t> counts) {
        std::vector<std::size_t> bytes(counts.begin(), counts.end());
        for (std::size_t& count : bytes) count *= sizeof(double);
        return bytes;
    };
    exchange(sent.data(), in_bytes(sent_counts), received.data(), in_bytes(received_counts));
}

void Communicator::barrier() {
    if (size() > 1) meet({});
}

void Communicator::stop() {
    if (size() == 1) return;
    const std::vector<Word> words = say({State::stops});
    if (any(words, State::fails)) throw failure(words, {});
    stopped_ = true;
}

std::size_t Communicator::fail(int code, const std::string& message) {
    if (size() == 1) return 0;
    std::vector<std::byte> own(sizeof(std::int32_t) + message.size());
    const auto number = static_cast<std::int32_t>(code);
    std::memcpy(own.data(), &number, sizeof number);
    std::memcpy(own.data() + sizeof number, message.data(), message.size());
    return failure(say({State::fails, own.size()}), own).rank();
}

SpreadOver::SpreadOver(Communicator& ranks, HeldRows rows)
    : before_(innermost), rows_before_(innermost_rows) {
    innermost = &ranks;
    innermost_rows = rows;
}

SpreadOver::~SpreadOver() {
    innermost = before_;
    innermost_rows = rows_before_;
}

Communicator& current_ranks() {
    static Alone alone;
    return innermost ? *innermost : alone;
}

HeldRows held_rows() {
    return innermost_rows;
}

KeepCheckpoint::KeepCheckpoint(std::string path, bool resume, double interval)
    : before_(innermost_checkpoint), path_(std::move(path)), resume_(resume), interval_(interval) {
    innermost_checkpoint = this;
}

KeepCheckpoint::~KeepCheckpoint() {
    innermost_checkpoint = before_;
}

KeepCheckpoint* KeepCheckpoint::current() {
    return innermost_checkpoint;
}

ShareCheckpoint::ShareCheckpoint(KeepCheckpoint* of) : before_(innermost_checkpoint) {
    innermost_checkpoint = of;
}

ShareCheckpoint::~ShareCheckpoint() {
    innermost_checkpoint = before_;
}

std::string KeepCheckpoint::next_path(std::size_t rows) {
    if (rows_ == 0) rows_ = rows;
    if (rows != rows_) return {};
    const std::size_t number = files_++;
    return number == 0 ? path_ : path_ + "." + std::to_string(number);
}

void KeepCheckpoint::remove() const {
    for (std::size_t k = 0; k < files_; ++k) {
        std::error_code ignored;
        std::filesystem::remove(k == 0 ? path_ : path_ + "." + std::to_string(k), ignored);
    }
}

std::unique_ptr<Communicator> one_rank() {
    return std::make_unique<Alone>();
}

std::size_t leaf_rows(std::size_t total) {
    constexpr std::size_t most = 128;
    std::size_t rows = 8192;
    while ((total + rows - 1) / rows > most) rows *= 2;
    return rows;
}

RowRange own_rows(const Communicator& ranks, std::size_t total) {
    const std::size_t rows = leaf_rows(total);
    const std::size_t leaves = (total + rows - 1) / rows;
    const auto begin = [&](std::size_t rank) {
        return std::min(total, rank * leaves / ranks.size() * rows);
    };
    return {begin(ranks.rank()), begin(ranks.rank() + 1)};
}

}  // namespace mercer
