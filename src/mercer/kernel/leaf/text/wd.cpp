// wd: runs of letters at the same place, weighted by their length, with shifts
// [Sonnenburg, Rätsch and Schölkopf 2005; Rätsch, Sonnenburg and Schölkopf 2005]
#include <cstring>

#include "mercer/kernel/leaf/detail/matches.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/kernel/leaf/text/wd.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Bit i of the words: x[i] = z[i], for i < count.
HWY_INLINE void match_bits(const std::uint8_t* x, const std::uint8_t* z, std::size_t count,
                           std::uint64_t* words) {
    const hn::CappedTag<std::uint8_t, 64> d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t first = 0;
    for (std::size_t w = 0; first < count; ++w, first += 64) {
        std::uint8_t bytes[8 + 8] = {};
        for (std::size_t part = 0; part < 64; part += lanes) {
            const auto same =
                hn::Eq(hn::LoadU(d, x + first + part), hn::LoadU(d, z + first + part));
            hn::StoreMaskBits(d, same, bytes + part / 8);
        }
        std::memcpy(words + w, bytes, 8);
    }
    if (first > count) words[first / 64 - 1] &= ~std::uint64_t{0} >> (first - count);
}

/// Sum of weight[j] times the places where j + 1 ones stand in a row. A place with j + 1 ones is
/// one with j ones before another such place: m_{j+1} = m_j & (m_j >> 1).
HWY_INLINE double weighted_runs(std::uint64_t* words, std::size_t count,
                                const std::vector<double>& weights) {
    double sum = 0;
    for (const double weight : weights) {
        int ones = 0;
        for (std::size_t w = 0; w < count; ++w) {
            const std::uint64_t m = words[w];
            ones += __builtin_popcountll(m);
            const std::uint64_t next = w + 1 < count ? words[w + 1] << 63U : 0;
            words[w] = m & (m >> 1U | next);
        }
        if (ones == 0) break;
        sum += weight * ones;
    }
    return sum;
}

void wd_row(const std::vector<std::uint8_t>& x, std::size_t length, const leaves::AlignedTexts& z,
            std::span<const std::uint32_t> columns, const std::vector<double>& weights,
            std::size_t most_shift, double* out) {
    std::vector<std::uint64_t> words(length / 64 + 1);
    const auto runs = [&](const std::uint8_t* a, const std::uint8_t* b, std::size_t count)
                          HWY_ATTR {
                              match_bits(a, b, count, words.data());
                              return weighted_runs(words.data(), (count + 63) / 64, weights);
                          };
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::uint8_t* other = z.letters(columns[c]);
        const std::size_t other_length = z.length(columns[c]);
        const std::size_t shorter = std::min(length, other_length);
        double sum = runs(x.data(), other, shorter);
        for (std::size_t s = 1; s <= most_shift; ++s) {
            const double ahead =
                s < length ? runs(x.data() + s, other, std::min(length - s, other_length)) : 0;
            const double behind =
                s < other_length ? runs(x.data(), other + s, std::min(length, other_length - s))
                                 : 0;
            sum += (ahead + behind) / (2 * (static_cast<double>(s) + 1));
        }
        out[c] = sum;
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(wd_row);

using namespace leaves;

class Pairs final : public ObjectPairs {
   public:
    Pairs(const KernelNode& node, std::span<const Object> texts)
        : shift_(static_cast<std::size_t>(node.parameter("shift"))), texts_(node, texts, shift_) {
        const double degree = node.parameter("degree");
        for (double j = 1; j <= degree; ++j) {
            weights_.push_back(2 * (degree - j + 1) / (degree * (degree + 1)));
        }
    }

    void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> out) const override {
        MERCER_SIMD(wd_row)
        (texts_.unlike(i), texts_.length(i), static_cast<const Pairs&>(z).texts_, columns, weights_,
         shift_, out.data());
    }
    double pair_work() const override {
        // words, a few instructions each for as many rounds as runs last
        return (2 * static_cast<double>(shift_) + 1) * (10 + 0.5 * texts_.mean_length());
    }

   private:
    std::size_t shift_;
    AlignedTexts texts_;
    std::vector<double> weights_{};
};

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> texts) {
    return std::make_unique<Pairs>(node, texts);
}

Finding judge(const KernelNode& node, const Assumptions&) {
    if (node.parameter("shift") == 0) {
        return Finding::positive(
            "counts of (place, run of letters) that two texts share, with weights > 0 "
            "(Sonnenburg et al. 2005)");
    }
    // Places i, i' of one run count with f(0) = 1, f(s) = 1/(2(|s| + 1)): its Fourier sum is
    // 1 + sum cos(s w)/(s + 1), and sum cos(s w)/(s + 1) >= -1/2 for any number of terms.
    return Finding::positive(
        "places of a run count by 1/(2(s + 1)) for a shift by s, whose Fourier sums are at least "
        "1/2 (Rogosinski and Szego 1928), and lengths with weights > 0 (Raetsch et al. 2005)");
}

}  // namespace

const Leaf& wd_leaf() {
    static const Leaf leaf{
        .entry = {.name = "wd",
                  .aliases = {"weighted_degree"},
                  .formula = "sum over j = 1 .. degree of 2 (degree-j+1) / (degree (degree+1)) "
                             "times the places where j letters agree",
                  .about = "aligned texts by the runs of letters at the same place; shift=s: also "
                           "at places up to s apart, by 1 / (2 (s+1))",
                  .parameters = {whole("degree", {"d"}, 1, 1000, 20.0),
                                 whole("shift", {}, 0, 10000, 0.0), alphabet_form(),
                                 window_forms()[0], window_forms()[1]}},
        .objects = ObjectKind::text,
        .prepare = prepare,
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
#endif  // HWY_ONCE
