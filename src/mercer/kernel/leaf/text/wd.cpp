// wd: runs of letters at the same place, weighted by their length, with shifts
// [Sonnenburg, Rätsch and Schölkopf 2005; Rätsch, Sonnenburg and Schölkopf 2005]
#include <algorithm>

#include "mercer/kernel/detail/object_sum.hpp"
#include "mercer/kernel/leaf/text/detail/matches.hpp"
#include "mercer/kernel/leaf/text/detail/run_sums.hpp"

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

/// Bit i: x[i] = z[i], for i < 64.
HWY_INLINE std::uint64_t match_word(const std::uint8_t* x, const std::uint8_t* z) {
    std::uint64_t word = 0;
#if HWY_TARGET == HWY_SCALAR
    for (unsigned i = 0; i < 64; ++i) word |= std::uint64_t{x[i] == z[i]} << i;
#else
    const hn::CappedTag<std::uint8_t, 64> d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t part = 0; part < 64; part += lanes) {
        const auto same = hn::Eq(hn::LoadU(d, x + part), hn::LoadU(d, z + part));
        std::uint64_t bits = 0;
        hn::StoreMaskBits(d, same, reinterpret_cast<std::uint8_t*>(&bits));
        word |= bits << part;
    }
#endif
    return word;
}

/// Levels of runs that are gone through before asking whether any are left: a branch that goes
/// wrong costs more than they do.
constexpr std::size_t levels = 4;

/// Sum of weights[j] times the places where j + 1 letters in a row agree. A place with j + 1 of
/// them is one with j before another such place: m_{j+1} = m_j & (m_j >> 1). There are `count`
/// letters in kWords words, or in `many` of them if kWords is 0.
template <std::size_t kWords>
HWY_INLINE double weighted_runs(const std::uint8_t* x, const std::uint8_t* z, std::size_t count,
                                const std::vector<double>& weights,
                                std::vector<std::uint64_t>& many) {
    std::uint64_t few[kWords + 1];
    std::uint64_t* words = kWords == 0 ? many.data() : few;
    const std::size_t n = kWords == 0 ? (count + 63) / 64 : kWords;
    for (std::size_t w = 0; w < n; ++w) words[w] = match_word(x + 64 * w, z + 64 * w);
    words[n - 1] &= ~std::uint64_t{0} >> (64 * n - count);
    double sum = 0;
    for (std::size_t first = 0; first < weights.size(); first += levels) {
        std::uint64_t left = 0;
        for (std::size_t j = 0; j < levels; ++j) {
            int ones = 0;
            left = 0;
            for (std::size_t w = 0; w < n; ++w) {
                const std::uint64_t m = words[w];
                const std::uint64_t next = w + 1 < n ? words[w + 1] << 63U : 0;
                ones += __builtin_popcountll(m);
                words[w] = m & (m >> 1U | next);
                left |= words[w];
            }
            sum += weights[first + j] * ones;
        }
        if (left == 0) break;
    }
    return sum;
}

HWY_INLINE double runs(const std::uint8_t* x, const std::uint8_t* z, std::size_t count,
                       const std::vector<double>& weights, std::vector<std::uint64_t>& many) {
    switch ((count + 63) / 64) {
        case 0: return 0;
        case 1: return weighted_runs<1>(x, z, count, weights, many);
        case 2: return weighted_runs<2>(x, z, count, weights, many);
        case 3: return weighted_runs<3>(x, z, count, weights, many);
        case 4: return weighted_runs<4>(x, z, count, weights, many);
        case 5: return weighted_runs<5>(x, z, count, weights, many);
        case 6: return weighted_runs<6>(x, z, count, weights, many);
        case 7: return weighted_runs<7>(x, z, count, weights, many);
        case 8: return weighted_runs<8>(x, z, count, weights, many);
        default: return weighted_runs<0>(x, z, count, weights, many);
    }
}

void wd_row(const std::vector<std::uint8_t>& x, std::size_t length, const leaves::AlignedTexts& z,
            std::span<const std::uint32_t> columns, const std::vector<double>& weights,
            std::size_t most_shift, double* out) {
    std::vector<std::uint64_t> many(length / 64 + 1);
    const std::uint8_t* own = x.data();
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::uint8_t* other = z.letters(columns[c]);
        const std::size_t size = z.length(columns[c]);
        double sum = runs(own, other, std::min(length, size), weights, many);
        for (std::size_t s = 1; s <= most_shift; ++s) {
            double both = 0;
            if (s < length) both += runs(own + s, other, std::min(length - s, size), weights, many);
            if (s < size) both += runs(own, other + s, std::min(length, size - s), weights, many);
            sum += both / (2 * (static_cast<double>(s) + 1));
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

class Pairs final : public SummedPairs {
   public:
    Pairs(const KernelNode& node, std::span<const Object> texts)
        : shift_(static_cast<std::size_t>(node.parameter("shift"))), texts_(node, texts, shift_) {
        const double degree = node.parameter("degree");
        for (double j = 1; j <= degree; ++j) {
            weights_.push_back(2 * (degree - j + 1) / (degree * (degree + 1)));
        }
        rule_ = {weights_, shift_};
        code_ = LetterCode(texts_);
        weights_.resize((weights_.size() + 3) / 4 * 4);  // as many levels are gone through at once
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

    std::unique_ptr<const ObjectSum> sum(std::span<const std::uint32_t> which,
                                         std::span<const double> weights,
                                         std::size_t columns) const override;
    bool sum_pays(std::size_t count, std::size_t columns) const override {
        return RunSums::pays(texts_, count, columns);
    }

    const AlignedTexts& texts() const { return texts_; }

   private:
    std::size_t shift_;
    AlignedTexts texts_;
    std::vector<double> weights_{};
    RunRule rule_{};
    LetterCode code_{};
};

class Sum final : public ObjectSum {
   public:
    explicit Sum(RunSums sums) : sums_(std::move(sums)) {}
    void add(const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> sums) const override {
        sums_.add(static_cast<const Pairs&>(z).texts(), columns, sums);
    }

   private:
    RunSums sums_;
};

std::unique_ptr<const ObjectSum> Pairs::sum(std::span<const std::uint32_t> which,
                                            std::span<const double> weights,
                                            std::size_t columns) const {
    return std::make_unique<Sum>(RunSums(rule_, code_, texts_, which, weights, columns));
}

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
