// Sums of weighted degree kernels as one function. A run of letters that begins at position p
// counts by its length, so that Σ_r w_r k(x_r, z) is a sum over positions of a function of the
// letters that follow there: a table by the first few of them, and behind each entry the few x_r
// that go on alike (Sonnenburg, Rätsch and Rieck 2007, "Large scale learning with string kernels").
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "mercer/kernel/leaf/text/detail/matches.hpp"

namespace mercer::leaves {

/// How runs count: weights[j] for each run of j + 1 letters, of up to weights.size(); texts shifted
/// against each other by up to `shift`, by 1/(2(s+1)).
struct RunRule {
    std::vector<double> weights{};
    std::size_t shift = 0;
};

/// The letters of texts, numbered from 0 in as few bits as they need.
class LetterCode {
   public:
    LetterCode() = default;
    explicit LetterCode(const AlignedTexts& texts);
    std::size_t bits() const { return bits_; }
    /// The number of a letter, or `none` for one that does not occur.
    std::uint16_t operator()(std::uint8_t letter) const { return code_[letter]; }
    static constexpr std::uint16_t none = 0xffff;

   private:
    std::array<std::uint16_t, 256> code_{};
    std::size_t bits_ = 1;
};

class RunSums {
   public:
    /// Whether to sum so many texts at so many others is less work than going through the pairs.
    static bool pays(const AlignedTexts& texts, std::size_t count, std::size_t columns);

    RunSums(const RunRule& rule, const LetterCode& code, const AlignedTexts& texts,
            std::span<const std::uint32_t> which, std::span<const double> weights,
            std::size_t columns);

    /// sums[c] += the sum at text columns[c] of z.
    void add(const AlignedTexts& z, std::span<const std::uint32_t> columns,
             std::span<double> sums) const;

   private:
    /// Texts as words of bits.
    struct Packed {
        std::size_t stride = 0;
        std::vector<std::uint8_t> bits{};
        std::vector<std::size_t> length{};
        std::vector<std::vector<std::uint32_t>> runs{};  ///< of texts with letters that are none
    };
    Packed pack(const AlignedTexts& texts, std::span<const std::uint32_t> which) const;
    std::uint64_t key(const Packed& texts, std::size_t i, std::size_t position) const;
    std::size_t run(const Packed& texts, std::size_t i, std::size_t position) const;

    /// One of the x_r at one position: letters that follow there, as many as a key holds.
    struct Entry {
        std::uint64_t key = 0;
        double weight = 0;
    };
    /// Where an entry comes from, and how many letters count.
    struct Origin {
        std::uint32_t row = 0;
        std::uint32_t run = 0;
    };
    /// A text of z at one position.
    struct Place {
        const Packed& texts;
        std::size_t i = 0;
        std::size_t position = 0;
        std::uint64_t key = 0;
        std::size_t run = 0;
    };
    std::size_t common(std::size_t entry, std::size_t position, const Place& z) const;
    void fill_position(std::span<const double> weights, std::size_t position);
    double longer(std::size_t position, std::uint64_t first, const Place& z) const;
    void add_position(const Packed& z, std::size_t position, std::size_t there, double factor,
                      std::span<double> sums) const;

    RunRule rule_;
    LetterCode code_;
    Packed texts_{};                        ///< the x_r
    std::size_t in_key_ = 1;                ///< letters that a key holds
    std::size_t letters_ = 1;               ///< that the tables are by
    std::vector<double> total_{};           ///< of a run of j letters: the sum of its weights
    std::array<std::uint8_t, 65> whole_{};  ///< letters in so many equal bits
    std::vector<std::size_t> level_{};      ///< where the table by j letters begins; and their end
    std::size_t positions_ = 0;
    std::vector<double> tables_{};         ///< one after another, position by position
    std::vector<std::uint32_t> starts_{};  ///< of the entries behind each place of the last table
    /// A bit for each of these places that has entries behind it: few have, and bits stay near the
    /// processor.
    std::vector<std::uint64_t> behind_{};
    std::vector<Entry> entries_{};
    std::vector<Origin> origins_{};           ///< of the entries
    std::vector<char> plain_{};               ///< of a position: keys hold all that counts
    std::vector<std::size_t> first_entry_{};  ///< of each position
};

}  // namespace mercer::leaves
