#include "mercer/kernel/leaf/text/detail/run_sums.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "mercer/base/parallel.hpp"

namespace mercer::leaves {
namespace {

constexpr std::size_t key_bits = 57;  // that are sure to be there, from whichever bit of a byte on
constexpr std::size_t most_table_bits = 16;
constexpr std::size_t most_table_numbers = std::size_t{1} << 24;
constexpr std::size_t most_entries = std::size_t{1} << 27;
// Texts that go through a table while it is near the processor, as are their own bits.
constexpr std::size_t smallest_block = 256;
constexpr std::size_t largest_block = 16384;

std::size_t words_for(std::size_t places) {
    return (places + 63) / 64;
}

std::uint64_t big_endian(const std::uint8_t* bytes) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof(word));
    return std::endian::native == std::endian::little ? __builtin_bswap64(word) : word;
}

}  // namespace

LetterCode::LetterCode(const AlignedTexts& texts) {
    std::array<bool, 256> seen{};
    for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::uint8_t* letters = texts.letters(i);
        for (std::size_t p = 0; p < texts.length(i); ++p) seen[letters[p]] = true;
    }
    if (texts.breaks()) seen[no_letter] = false;
    code_.fill(none);
    std::size_t count = 0;
    for (std::size_t letter = 0; letter < seen.size(); ++letter) {
        if (seen[letter]) code_[letter] = static_cast<std::uint16_t>(count++);
    }
    bits_ = static_cast<std::size_t>(std::bit_width(std::max<std::size_t>(count, 2) - 1));
}

bool RunSums::pays(const AlignedTexts& texts, std::size_t count, std::size_t columns) {
    // Beside 64 letters of a pair, a position of a text costs about ten times as much, and one of
    // the tables, which must be filled before, as much as some thousand positions of texts.
    const auto rows = static_cast<double>(count);
    const auto others = static_cast<double>(columns);
    return rows * others > 40 * others + 40000 && count * texts.longest() < most_entries;
}

RunSums::Packed RunSums::pack(const AlignedTexts& texts,
                              std::span<const std::uint32_t> which) const {
    Packed packed;
    std::size_t longest = 0;
    for (const std::uint32_t i : which) longest = std::max(longest, texts.length(i));
    const std::size_t b = code_.bits();
    packed.stride = longest * b / 8 + 17;
    packed.bits.assign(packed.stride * which.size(), 0);
    packed.runs.resize(which.size());
    for (std::size_t r = 0; r < which.size(); ++r) {
        const std::uint8_t* letters = texts.letters(which[r]);
        const std::size_t length = texts.length(which[r]);
        packed.length.push_back(length);
        std::uint8_t* out = packed.bits.data() + r * packed.stride;
        bool strange = false;
        std::uint64_t word = 0;
        std::size_t held = 0;
        for (std::size_t p = 0; p < length; ++p) {
            const std::uint16_t code = code_(letters[p]);
            strange |= code == LetterCode::none;
            word = word << b | (code == LetterCode::none ? 0U : code);
            held += b;
            while (held >= 8) {
                held -= 8;
                *out++ = static_cast<std::uint8_t>(word >> held);
            }
        }
        if (held > 0) *out = static_cast<std::uint8_t>(word << (8 - held));
        if (!strange) continue;
        auto& runs = packed.runs[r];
        runs.assign(length + 1, 0);
        for (std::size_t p = length; p-- > 0;) {
            const bool none = code_(letters[p]) == LetterCode::none;
            runs[p] = none ? 0 : runs[p + 1] + 1;
        }
    }
    return packed;
}

std::uint64_t RunSums::key(const Packed& texts, std::size_t i, std::size_t position) const {
    const std::size_t bit = position * code_.bits();
    return big_endian(texts.bits.data() + i * texts.stride + bit / 8) << bit % 8;
}

/// Letters of text i from a position on that count, at most as many as the longest run has.
std::size_t RunSums::run(const Packed& texts, std::size_t i, std::size_t position) const {
    const std::size_t length = texts.length[i];
    if (position >= length) return 0;
    const std::size_t left =
        texts.runs[i].empty() ? length - position : std::size_t{texts.runs[i][position]};
    return std::min(left, rule_.weights.size());
}

RunSums::RunSums(const RunRule& rule, const LetterCode& code, const AlignedTexts& texts,
                 std::span<const std::uint32_t> which, std::span<const double> weights,
                 std::size_t columns)
    : rule_(rule), code_(code) {
    const std::size_t degree = rule.weights.size();
    const std::size_t b = code.bits();
    total_.assign(degree + 1, 0.0);
    for (std::size_t j = 0; j < degree; ++j) total_[j + 1] = total_[j] + rule.weights[j];
    for (std::size_t bit = 0; bit < whole_.size(); ++bit) {
        whole_[bit] = static_cast<std::uint8_t>(std::min(bit / b, key_bits / b));
    }
    in_key_ = key_bits / b;
    texts_ = pack(texts, which);
    positions_ = texts_.length.empty() ? 0 : *std::ranges::max_element(texts_.length);
    // By so many letters that hardly any place of the table has an entry behind it, and that
    // filling it takes no longer than reading it.
    const auto places = [&](std::size_t letters) { return std::size_t{1} << letters * b; };
    while (letters_ < degree && (letters_ + 1) * b <= most_table_bits &&
           places(letters_) < 32 * which.size() && places(letters_ + 1) <= 4 * columns &&
           places(letters_ + 1) * std::max<std::size_t>(positions_, 1) <= most_table_numbers) {
        ++letters_;
    }
    level_.assign(1, 0);
    for (std::size_t j = 0; j <= letters_; ++j) level_.push_back(level_[j] + places(j));
    tables_.resize(level_.back() * positions_);
    starts_.resize((places(letters_) + 1) * positions_);
    behind_.assign(words_for(places(letters_)) * positions_, 0);
    first_entry_.assign(positions_ + 1, 0);
    for (std::size_t p = 0; p < positions_; ++p) {
        std::size_t count = 0;
        for (std::size_t r = 0; r < which.size(); ++r) count += run(texts_, r, p) > letters_;
        first_entry_[p + 1] = first_entry_[p] + count;
    }
    entries_.resize(first_entry_.back());
    origins_.resize(entries_.size());
    plain_.assign(positions_, 0);
    parallel_for(positions_, [&](std::size_t p) { fill_position(weights, p); });
}

void RunSums::fill_position(std::span<const double> weights, std::size_t position) {
    const std::size_t b = code_.bits();
    const std::size_t places = std::size_t{1} << letters_ * b;
    double* const table = tables_.data() + position * level_.back();
    std::uint32_t* const starts = starts_.data() + position * (places + 1);
    std::fill_n(table, level_.back(), 0.0);
    std::fill_n(starts, places + 1, 0U);
    const auto place = [&](std::uint64_t key, std::size_t letters) {
        return letters == 0 ? std::uint64_t{0} : key >> (64 - letters * b);
    };
    // The weight of each beginning, from the longest up to none.
    for (std::size_t r = 0; r < weights.size(); ++r) {
        const std::size_t run = this->run(texts_, r, position);
        const std::uint64_t key = this->key(texts_, r, position);
        const std::size_t known = std::min(run, letters_);
        table[level_[known] + place(key, known)] += weights[r];
        if (run > letters_) ++starts[place(key, letters_) + 1];
    }
    for (std::size_t j = letters_; j > 0; --j) {
        const double* const longer = table + level_[j];
        double* const shorter = table + level_[j - 1];
        const std::size_t count = level_[j + 1] - level_[j];
        for (std::size_t c = 0; c < count; ++c) shorter[c >> b] += longer[c];
    }
    // And from there back: all that texts of this beginning get for it.
    table[0] = 0;
    for (std::size_t j = 1; j <= letters_; ++j) {
        double* const longer = table + level_[j];
        const double* const shorter = table + level_[j - 1];
        const std::size_t count = level_[j + 1] - level_[j];
        const double weight = rule_.weights[j - 1];
        for (std::size_t c = 0; c < count; ++c) longer[c] = shorter[c >> b] + weight * longer[c];
    }
    std::uint64_t* const behind = behind_.data() + position * words_for(places);
    for (std::size_t c = 0; c < places; ++c) {
        if (starts[c + 1] != 0) behind[c / 64] |= std::uint64_t{1} << c % 64;
        starts[c + 1] += starts[c];
    }
    Entry* const entries = entries_.data() + first_entry_[position];
    Origin* const origins = origins_.data() + first_entry_[position];
    std::vector<std::uint32_t> next(starts, starts + places);
    bool whole = rule_.weights.size() <= in_key_;
    for (std::size_t r = 0; r < weights.size(); ++r) {
        const std::size_t run = this->run(texts_, r, position);
        if (run <= letters_) continue;
        const std::uint64_t key = this->key(texts_, r, position);
        const std::uint32_t at = next[place(key, letters_)]++;
        entries[at] = {key, weights[r]};
        origins[at] = {static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(run)};
        whole = whole && run == rule_.weights.size();
    }
    plain_[position] = whole ? 1 : 0;
}

/// Letters that an entry and a text of z have in common, of those that count in both.
std::size_t RunSums::common(std::size_t entry, std::size_t position, const Place& z) const {
    const Origin& origin = origins_[entry];
    const std::size_t most = std::min<std::size_t>(z.run, origin.run);
    const auto equal = [&](std::uint64_t a, std::uint64_t b) -> std::size_t {
        return whole_[static_cast<std::size_t>(std::countl_zero(a ^ b))];
    };
    std::size_t length = equal(entries_[entry].key, z.key);
    for (std::size_t all = in_key_; length == all && length < most; all += in_key_) {
        length += equal(key(texts_, origin.row, position + length),
                        key(z.texts, z.i, z.position + length));
    }
    return std::min(length, most);
}

/// What the entries behind a place of the last table add for runs longer than it knows.
double RunSums::longer(std::size_t position, std::uint64_t place, const Place& z) const {
    const std::size_t places = std::size_t{1} << letters_ * code_.bits();
    const std::uint32_t* const starts = starts_.data() + position * (places + 1) + place;
    const std::size_t first = first_entry_[position] + starts[0];
    const std::size_t last = first_entry_[position] + starts[1];
    const double* const total = total_.data();
    const double known = total[letters_];
    double sum = 0;
    if (plain_[position] != 0) {
        for (std::size_t e = first; e < last; ++e) {
            const auto equal = static_cast<std::size_t>(std::countl_zero(entries_[e].key ^ z.key));
            const std::size_t length = std::min<std::size_t>(whole_[equal], z.run);
            sum += entries_[e].weight * (total[length] - known);
        }
        return sum;
    }
    for (std::size_t e = first; e < last; ++e) {
        sum += entries_[e].weight * (total[common(e, position, z)] - known);
    }
    return sum;
}

void RunSums::add_position(const Packed& z, std::size_t position, std::size_t there, double factor,
                           std::span<double> sums) const {
    const std::size_t b = code_.bits();
    const std::size_t places = std::size_t{1} << letters_ * b;
    const double* const table = tables_.data() + position * level_.back();
    const std::uint32_t* const starts = starts_.data() + position * (places + 1);
    const std::uint64_t* const behind = behind_.data() + position * words_for(places);
    const Entry* const entries = entries_.data() + first_entry_[position];
    // Some texts at a time: what they will read is sent for before it is read.
    constexpr std::size_t together = 64;
    std::array<std::uint64_t, together> keys{};
    std::array<std::size_t, together> runs{};
    std::array<std::uint8_t, together> late{};
    for (std::size_t first = 0; first < sums.size(); first += together) {
        const std::size_t count = std::min(together, sums.size() - first);
        std::size_t lates = 0;
        for (std::size_t k = 0; k < count; ++k) {
            runs[k] = run(z, first + k, there);
            keys[k] = key(z, first + k, there);
            const std::uint64_t at = keys[k] >> (64 - letters_ * b);
            __builtin_prefetch(table + level_[letters_] + at);
            late[lates] = static_cast<std::uint8_t>(k);
            if (runs[k] <= letters_ || (behind[at / 64] >> at % 64 & 1U) == 0) continue;
            __builtin_prefetch(starts + at);
            ++lates;
        }
        for (std::size_t l = 0; l < lates; ++l) {
            __builtin_prefetch(entries + starts[keys[late[l]] >> (64 - letters_ * b)]);
        }
        for (std::size_t k = 0; k < count; ++k) {
            if (runs[k] == 0) continue;
            const std::size_t known = std::min(runs[k], letters_);
            sums[first + k] += factor * table[level_[known] + (keys[k] >> (64 - known * b))];
        }
        for (std::size_t l = 0; l < lates; ++l) {
            const std::size_t k = late[l];
            sums[first + k] += factor * longer(position, keys[k] >> (64 - letters_ * b),
                                               {z, first + k, there, keys[k], runs[k]});
        }
    }
}

void RunSums::add(const AlignedTexts& z, std::span<const std::uint32_t> columns,
                  std::span<double> sums) const {
    const std::size_t block = std::clamp(columns.size() / 8, smallest_block, largest_block);
    parallel_ranges(columns.size(), block, [&](std::size_t first, std::size_t last) {
        const Packed packed = pack(z, columns.subspan(first, last - first));
        const std::span<double> own = sums.subspan(first, last - first);
        const std::size_t longest = *std::ranges::max_element(packed.length);
        for (std::size_t p = 0; p < positions_; ++p) {
            const std::size_t from = p - std::min(p, rule_.shift);
            for (std::size_t q = from; q <= p + rule_.shift && q < longest; ++q) {
                const auto apart = static_cast<double>(p > q ? p - q : q - p);
                add_position(packed, p, q, p == q ? 1 : 1 / (2 * (apart + 1)), own);
            }
        }
    });
}

}  // namespace mercer::leaves
