#include "mercer/kernel/leaf/text/detail/alignment.hpp"

#include <numbers>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/kernel/leaf/text/detail/alignment.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, leaves::lanes>;
using V = hn::Vec<D>;

/// Beyond these a lane is multiplied by a power of two, which changes no digit.
constexpr double largest = 0x1p400;
constexpr double smallest = 0x1p-400;

/// With weights g(n) of gaps of n letters and m(i, j) the sum over alignments that end with the
/// pair (i, j):
///     a(i, j) = sum over r <= i of g(i-r) m(r, j) = no_gap m + u,
///               u(i, j) = gap m(i-1, j) + longer u(i-1, j)
///     b(i, j) = sum over s <= j of g(j-s) a(i, s) = no_gap a + v,
///               v(i, j) = gap a(i, j-1) + longer v(i, j-1)
///     m(i, j) = weight(i, j) (start + b(i-1, j-1))
/// Row and column 0 stand before the texts: whole alignments begin there with m(0, 0) = 1 and end
/// in b; others begin anywhere (start = 1) and end anywhere: 1 + sum of all m.
class AlignmentSweep {
   public:
    AlignmentSweep(const leaves::LaneBlock& block, const leaves::AlignmentWeights& w,
                   std::size_t lane)
        : block_(block), w_(w), lane_(lane), state_(3 * (block.columns + 1) * hn::Lanes(d), 0.0) {}

    void run(double* logs) {
        V start = hn::Set(d, w_.whole ? 0.0 : 1.0);
        V total = start;
        V exponent = hn::Zero(d);
        for (std::size_t i = 0; i <= block_.rows; ++i) {
            V most = hn::Zero(d);
            total = hn::Add(total, row(i, start, most));
            if (w_.whole) finish(i, exponent, logs);
            most = hn::Max(most, total);
            const V down =
                hn::IfThenElse(hn::Gt(most, hn::Set(d, largest)), hn::Set(d, smallest), one());
            const auto tiny =
                hn::And(hn::Lt(most, hn::Set(d, smallest)), hn::Gt(most, hn::Zero(d)));
            const V factor = hn::IfThenElse(tiny, hn::Set(d, largest), down);
            if (hn::AllTrue(d, hn::Eq(factor, one()))) continue;
            for (std::size_t k = 0; k < state_.size(); k += hn::Lanes(d)) {
                hn::StoreU(hn::Mul(hn::LoadU(d, &state_[k]), factor), d, &state_[k]);
            }
            start = hn::Mul(start, factor);
            total = hn::Mul(total, factor);
            exponent =
                hn::Add(exponent,
                        hn::IfThenElse(tiny, hn::Set(d, -400.0),
                                       hn::IfThenZeroElse(hn::Eq(down, one()), hn::Set(d, 400.0))));
        }
        if (!w_.whole) store(total, exponent, logs);
    }

   private:
    static V one() { return hn::Set(D(), 1.0); }

    /// m(i, j) for all j, added up; `most` becomes the largest b.
    HWY_INLINE V row(std::size_t i, V start, V& most) {
        const std::size_t n = hn::Lanes(d);
        const V same = hn::Set(d, w_.same), other = hn::Set(d, w_.other);
        const V no_gap = hn::Set(d, w_.no_gap), gap = hn::Set(d, w_.gap);
        const V longer = hn::Set(d, w_.longer);
        const V letter =
            i == 0 ? one() : hn::LoadU(d, &block_.outer[(i - 1) * leaves::lanes + lane_]);
        const auto inside = hn::Le(hn::Set(d, static_cast<double>(i)),
                                   hn::LoadU(d, block_.outer_size.data() + lane_));
        const V length = hn::LoadU(d, block_.inner_size.data() + lane_);
        V sum = hn::Zero(d), a_before = sum, v = sum, corner = sum;
        double* s = state_.data();
        for (std::size_t j = 0; j <= block_.columns; ++j, s += 3 * n) {
            V m = hn::Zero(d);
            if (i > 0 && j > 0) {
                const V z = hn::LoadU(d, &block_.inner[(j - 1) * leaves::lanes + lane_]);
                const auto here =
                    hn::And(inside, hn::Le(hn::Set(d, static_cast<double>(j)), length));
                const V weight =
                    hn::IfThenElseZero(here, hn::IfThenElse(hn::Eq(letter, z), same, other));
                m = hn::Mul(weight, hn::Add(start, corner));
            } else if (w_.whole && i == 0 && j == 0) {
                m = one();
            }
            const V u = hn::MulAdd(gap, hn::LoadU(d, s), hn::Mul(longer, hn::LoadU(d, s + n)));
            v = hn::MulAdd(gap, a_before, hn::Mul(longer, v));
            const V a = hn::MulAdd(no_gap, m, u);
            const V b = hn::MulAdd(no_gap, a, v);
            corner = hn::LoadU(d, s + 2 * n);
            a_before = a;
            hn::StoreU(m, d, s);
            hn::StoreU(u, d, s + n);
            hn::StoreU(b, d, s + 2 * n);
            sum = hn::Add(sum, m);
            most = hn::Max(most, b);
        }
        return sum;
    }

    /// Lanes whose outer text ends with row i have their sum in b of their last column.
    void finish(std::size_t i, V exponent, double* logs) const {
        const std::size_t n = hn::Lanes(d);
        HWY_ALIGN double powers[leaves::lanes];
        hn::StoreU(exponent, d, powers);
        for (std::size_t l = 0; l < n; ++l) {
            if (block_.outer_size[lane_ + l] != static_cast<double>(i)) continue;
            const auto j = static_cast<std::size_t>(block_.inner_size[lane_ + l]);
            logs[lane_ + l] = std::log(state_[(3 * j + 2) * n + l]) + powers[l] * std::numbers::ln2;
        }
    }
    void store(V total, V exponent, double* logs) const {
        HWY_ALIGN double sums[leaves::lanes];
        HWY_ALIGN double powers[leaves::lanes];
        hn::StoreU(total, d, sums);
        hn::StoreU(exponent, d, powers);
        for (std::size_t l = 0; l < hn::Lanes(d); ++l) {
            logs[lane_ + l] = std::log(sums[l]) + powers[l] * std::numbers::ln2;
        }
    }

    static constexpr D d{};
    const leaves::LaneBlock& block_;
    const leaves::AlignmentWeights& w_;
    std::size_t lane_;
    std::vector<double> state_;  // m, u, b of the row before, column by column
};

void alignment_sweep(const leaves::LaneBlock& block, const leaves::AlignmentWeights& weights,
                     double* logs) {
    for (std::size_t lane = 0; lane < leaves::lanes; lane += hn::Lanes(D())) {
        AlignmentSweep(block, weights, lane).run(logs);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {
MERCER_SIMD_EXPORT(alignment_sweep);
}  // namespace

namespace leaves {

void AlignmentWeights::operator()(const LaneBlock& block, std::array<double, lanes>& logs) const {
    MERCER_SIMD(alignment_sweep)(block, *this, logs.data());
}

std::unique_ptr<const ObjectPairs> alignment_pairs(const KernelNode& node,
                                                   std::span<const Object> texts,
                                                   const AlignmentWeights& weights) {
    std::vector<LaneItem> items;
    for (const Object& text : texts) items.push_back(lane_text(node, text));
    return std::make_unique<NormalisedLanes<AlignmentWeights>>(weights, std::move(items));
}

}  // namespace leaves
}  // namespace mercer
#endif  // HWY_ONCE
