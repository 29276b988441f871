// subsequence: letters in the same order, gaps allowed [Lodhi et al. 2002]
#include "mercer/kernel/leaf/detail/lanes.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/kernel/leaf/text/subsequence.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// K'_q(i, j), q < length, of Lodhi et al. for some lanes: all common subsequences of q letters in
/// the first i and j letters, each weighted by decay^(letters from its first one to i and to j).
///     K'_0 = 1,  K'_q(i, j) = s + decay (K'_q(i-1, j) + K'_q(i, j-1)) - decay² K'_q(i-1, j-1)
/// with s = decay² K'_{q-1}(i-1, j-1) where the letters i and j are the same; k is the sum of all s
/// for q = length.
HWY_INLINE void some_lanes(const leaves::LaneBlock& block, std::size_t lane, std::size_t length,
                           double decay, bool up_to, double* before, double* sums) {
    const hn::CappedTag<double, leaves::lanes> d;
    const std::size_t n = hn::Lanes(d);
    const std::size_t layers = length - 1;
    const auto one = hn::Set(d, 1.0);
    const auto once = hn::Set(d, decay);
    const auto twice = hn::Set(d, decay * decay);
    std::vector<double> rows(block.columns * layers * n, 0.0);  // K'(i-1, j) for all j, q
    auto total = hn::Zero(d);
    for (std::size_t i = 0; i < block.rows; ++i) {
        const auto letter = hn::LoadU(d, &block.outer[i * leaves::lanes + lane]);
        // For each q: K'(i-1, j-1), K'(i, j-1)
        std::fill_n(before, 2 * layers * n, 0.0);
        double* row = rows.data();
        for (std::size_t j = 0; j < block.columns; ++j) {
            const auto same = hn::Eq(letter, hn::LoadU(d, &block.inner[j * leaves::lanes + lane]));
            auto lower = one;  // K'_{q-1}(i-1, j-1)
            auto found = lower;
            for (double* b = before; b != before + 2 * layers * n; b += 2 * n, row += n) {
                const auto corner = hn::LoadU(d, b);
                const auto up = hn::LoadU(d, row);
                const auto s = hn::IfThenElseZero(same, hn::Mul(twice, lower));
                const auto around = hn::Mul(once, hn::Add(up, hn::LoadU(d, b + n)));
                const auto now = hn::Add(hn::NegMulAdd(twice, corner, around), s);
                hn::StoreU(up, d, b);
                hn::StoreU(now, d, b + n);
                hn::StoreU(now, d, row);
                lower = corner;
                found = up_to ? hn::Add(found, corner) : corner;
            }
            total = hn::Add(total, hn::IfThenElseZero(same, found));
        }
    }
    hn::StoreU(hn::Mul(twice, total), d, sums + lane);
}

void subsequence_sweep(const leaves::LaneBlock& block, std::size_t length, double decay, bool up_to,
                       double* sums) {
    const std::size_t n = hn::Lanes(hn::CappedTag<double, leaves::lanes>());
    std::vector<double> before(2 * length * n);
    for (std::size_t lane = 0; lane < leaves::lanes; lane += n) {
        some_lanes(block, lane, length, decay, up_to, before.data(), sums);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(subsequence_sweep);

using namespace leaves;

class Pairs final : public ObjectPairs {
   public:
    Pairs(const KernelNode& node, std::span<const Object> texts)
        : length_(static_cast<std::size_t>(node.parameter("length"))),
          decay_(node.parameter("decay")),
          up_to_(node.parameter("up_to") == 1) {
        for (const Object& text : texts) items_.push_back(lane_text(node, text));
    }

    void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> out) const override {
        in_lanes(lane_pairs(items_[i], static_cast<const Pairs&>(z).items_, columns), out,
                 [&](const LaneBlock& block, std::array<double, lanes>& sums) {
                     MERCER_SIMD(subsequence_sweep)(block, length_, decay_, up_to_, sums.data());
                 });
        for (const double value : out) {
            if (std::isfinite(value)) continue;
            throw InvalidInput(
                "subsequence grows beyond all numbers for these texts; take a "
                "smaller length or decay");
        }
    }
    double pair_work() const override {
        return 2 * static_cast<double>(length_) * mean_cells(items_);
    }

   private:
    std::size_t length_;
    double decay_;
    bool up_to_;
    std::vector<LaneItem> items_{};
};

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> texts) {
    return std::make_unique<Pairs>(node, texts);
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "an inner product of subsequences weighted by the letters they span "
        "(Lodhi et al. 2002)");
}

}  // namespace

const Leaf& subsequence_leaf() {
    ParameterForm decay = above_zero("decay", {"lambda"}, 0.5);
    decay.high = 1;
    static const Leaf leaf{
        .entry = {.name = "subsequence",
                  .aliases = {"ssk"},
                  .formula = "sum over words u of `length` letters, over their places in x and in "
                             "z, of decay^(letters spanned in x and z)",
                  .about = "texts by the letters they have in the same order, gaps allowed; "
                           "up_to=true: of 1 .. length letters",
                  .parameters = {whole("length", {"p"}, 1, 100, 4.0), decay, truth("up_to"),
                                 alphabet_form(), window_forms()[0], window_forms()[1]}},
        .objects = ObjectKind::text,
        .prepare = prepare,
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
#endif  // HWY_ONCE
