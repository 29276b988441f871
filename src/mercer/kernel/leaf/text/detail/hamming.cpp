#include "mercer/kernel/leaf/text/detail/hamming.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/kernel/leaf/text/detail/hamming.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

#ifndef MERCER_WORD_TEXT
#define MERCER_WORD_TEXT
namespace mercer::leaves {

/// A text of which the words that begin at its letters are compared. Before and behind there is a
/// margin, so that a vector can be read anywhere.
struct WordText {
    std::vector<std::uint8_t> bytes{};
    std::vector<std::uint8_t> whole{};  ///< 255 where a word begins, 0 where none does
    std::size_t words = 0;              ///< places where one might begin

    static constexpr std::size_t margin = 256;  // the longest vectors of any machine
    const std::uint8_t* letters() const { return bytes.data() + margin; }
};

}  // namespace mercer::leaves
#endif

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

HWY_INLINE std::uint8_t differing(const std::uint8_t* a, const std::uint8_t* b,
                                  std::size_t length) {
    unsigned count = 0;
    for (std::size_t k = 0; k < length; ++k) count += a[k] != b[k] ? 1U : 0U;
    return static_cast<std::uint8_t>(count);
}

/// How often `wanted` stands in a row at places that count.
HWY_INLINE std::uint64_t count_of(std::uint8_t wanted, const std::uint8_t* row,
                                  const std::uint8_t* whole, std::size_t size) {
    const hn::ScalableTag<std::uint8_t> d;
    const hn::Repartition<std::uint64_t, decltype(d)> wide;
    const std::size_t lanes = hn::Lanes(d);
    auto sums = hn::Zero(wide);
    for (std::size_t j = 0; j < size;) {
        auto found = hn::Zero(d);  // in bytes, so that there may be 255 rounds
        for (const std::size_t end = std::min(size, j + 255 * lanes); j < end; j += lanes) {
            const auto same = hn::Eq(hn::LoadU(d, row + j), hn::Set(d, wanted));
            found = hn::Sub(found, hn::And(hn::VecFromMask(d, same), hn::LoadU(d, whole + j)));
        }
        sums = hn::Add(sums, hn::SumsOf8(found));
    }
    return hn::GetLane(hn::SumOfLanes(wide, sums));
}

/// counts[d] += pairs of words at distance d < counts.size(). The distances of one word of x to all
/// of z follow from those of the word before along the diagonals: one letter leaves, one enters.
void hamming_counts(const leaves::WordText& x, const leaves::WordText& z, std::size_t length,
                    std::vector<std::uint8_t>& distances, std::span<std::uint64_t> counts) {
    const hn::ScalableTag<std::uint8_t> d;
    const std::size_t lanes = hn::Lanes(d);
    const std::uint8_t* a = x.letters();
    const std::uint8_t* b = z.letters();
    // Each row begins a byte before the last, which moves it along the diagonal.
    distances.assign(x.words + z.words + lanes, 0);
    std::uint8_t* row = distances.data() + x.words;
    for (std::size_t j = 0; j < z.words; ++j) row[j] = differing(a, b + j, length);
    for (std::size_t i = 0; i < x.words; ++i, --row) {
        for (std::size_t k = 0; k < counts.size() && x.whole[i] != 0; ++k) {
            counts[k] += count_of(static_cast<std::uint8_t>(k), row, z.whole.data(), z.words);
        }
        const auto leaving = hn::Set(d, a[i]);
        const auto entering = hn::Set(d, a[i + length]);
        for (std::size_t j = 0; j < z.words; j += lanes) {
            // Equal letters are −1 here, so that a difference is 1 + that.
            const auto gone = hn::VecFromMask(d, hn::Eq(leaving, hn::LoadU(d, b + j)));
            const auto come = hn::VecFromMask(d, hn::Eq(entering, hn::LoadU(d, b + j + length)));
            hn::StoreU(hn::Add(hn::LoadU(d, row + j), hn::Sub(come, gone)), d, row + j);
        }
        if (i + 1 < x.words) row[-1] = differing(a + i + 1, b, length);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {
MERCER_SIMD_EXPORT(hamming_counts);
}  // namespace

namespace leaves {
namespace {

WordText word_text(std::span<const std::uint8_t> letters, std::size_t length, bool breaks) {
    WordText result;
    result.words = letters.size() >= length ? letters.size() - length + 1 : 0;
    result.bytes.assign(letters.size() + 2 * WordText::margin, 0);
    std::ranges::copy(letters, result.bytes.begin() + WordText::margin);
    result.whole.assign(result.words + WordText::margin, 0);
    std::size_t sound = 0;  // letters in a row that belong to the alphabet
    for (std::size_t end = 1; end <= letters.size(); ++end) {
        sound = breaks && letters[end - 1] == no_letter ? 0 : sound + 1;
        if (sound >= length) result.whole[end - length] = 255;
    }
    return result;
}

class Pairs final : public ObjectPairs {
   public:
    Pairs(const KernelNode& node, std::span<const Object> texts, std::size_t length,
          std::vector<double> weights)
        : length_(length), weights_(std::move(weights)) {
        const Alphabet alphabet = alphabet_of(node);
        for (const Object& object : texts) {
            const auto text = in_window(node, std::get<std::string_view>(object));
            texts_.push_back(word_text(letters(text, alphabet), length, alphabet == Alphabet::dna));
        }
    }

    void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> out) const override {
        const auto& others = static_cast<const Pairs&>(z).texts_;
        std::vector<std::uint8_t> distances;
        std::vector<std::uint64_t> counts(weights_.size());
        for (std::size_t c = 0; c < columns.size(); ++c) {
            std::ranges::fill(counts, 0);
            MERCER_SIMD(hamming_counts)
            (texts_[i], others[columns[c]], length_, distances, counts);
            out[c] = 0;
            for (std::size_t d = 0; d < counts.size(); ++d) {
                out[c] += weights_[d] * static_cast<double>(counts[d]);
            }
        }
    }
    double pair_work() const override {
        double words = 0;
        for (const WordText& text : texts_) words += static_cast<double>(text.words);
        if (!texts_.empty()) words /= static_cast<double>(texts_.size());
        return words * words * (6 + 4 * static_cast<double>(weights_.size())) / 32;
    }

   private:
    std::size_t length_;
    std::vector<double> weights_;
    std::vector<WordText> texts_{};
};

}  // namespace

std::unique_ptr<const ObjectPairs> hamming_pairs(const KernelNode& node,
                                                 std::span<const Object> texts, std::size_t length,
                                                 std::vector<double> weights) {
    return std::make_unique<Pairs>(node, texts, length, std::move(weights));
}

double choose(double n, double k) {
    double result = 1;
    for (double i = 0; i < k; ++i) result = result * (n - i) / (i + 1);
    return std::round(result);
}

}  // namespace leaves
}  // namespace mercer
#endif  // HWY_ONCE
