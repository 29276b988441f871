// subsequence: letters in the same order, gaps allowed [Lodhi et al. 2002]
#include "mercer/kernel/leaf/detail/dual.hpp"
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

using D = hn::CappedTag<double, leaves::lanes>;
using V = hn::Vec<D>;

/// K'_q(i, j), q < length, of Lodhi et al. for some lanes: all common subsequences of q letters in
/// the first i and j letters, each weighted by decay^(letters from its first one to i and to j).
///     K'_0 = 1,  K'_q(i, j) = s + decay (K'_q(i-1, j) + K'_q(i, j-1)) - decay² K'_q(i-1, j-1)
/// with s = decay² K'_{q-1}(i-1, j-1) where the letters i and j are the same; k is the sum of all s
/// for q = length.
class SubsequenceSweep {
   public:
    SubsequenceSweep(const leaves::LaneBlock& block, std::size_t lane, std::size_t length,
                     double decay, bool up_to)
        : block_(block),
          lane_(lane),
          layers_(length - 1),
          decay_(decay),
          up_to_(up_to),
          rows_(block.columns * layers_ * hn::Lanes(D()), 0.0) {}

    V run() {
        V total = hn::Zero(D());
        for (std::size_t i = 0; i < block_.rows; ++i) {
            switch (layers_) {
                case 0: total = few<0>(i, total); break;
                case 1: total = few<1>(i, total); break;
                case 2: total = few<2>(i, total); break;
                case 3: total = few<3>(i, total); break;
                case 4: total = few<4>(i, total); break;
                default: total = many(i, total);
            }
        }
        return hn::Mul(hn::Set(D(), decay_ * decay_), total);
    }

   private:
    /// For layer q: K'_q(i-1, j-1) and K'_q(i, j-1), and `row` with K'_q(i-1, j); they move on by a
    /// column. `lower` is K'_{q-1}(i-1, j-1) and becomes K'_q(i-1, j-1).
    template <class Mask>
    HWY_INLINE void step(Mask same, V once, V twice, V& lower, V& corner, V& left,
                         double* row) const {
        const D d;
        const V up = hn::LoadU(d, row);
        const V s = hn::IfThenElseZero(same, hn::Mul(twice, lower));
        const V around = hn::Mul(once, hn::Add(up, left));
        left = hn::Add(hn::NegMulAdd(twice, corner, around), s);
        lower = corner;
        corner = up;
        hn::StoreU(left, d, row);
    }

    /// Row i, the layers in registers.
    template <std::size_t kLayers>
    HWY_INLINE V few(std::size_t i, V total) {
        const D d;
        const std::size_t n = hn::Lanes(d);
        const V once = hn::Set(d, decay_), twice = hn::Set(d, decay_ * decay_);
        const V letter = hn::LoadU(d, &block_.outer[i * leaves::lanes + lane_]);
        V corner[kLayers + 1], left[kLayers + 1];
        for (std::size_t q = 0; q < kLayers; ++q) corner[q] = left[q] = hn::Zero(d);
        double* row = rows_.data();
        for (std::size_t j = 0; j < block_.columns; ++j, row += kLayers * n) {
            const auto same =
                hn::Eq(letter, hn::LoadU(d, &block_.inner[j * leaves::lanes + lane_]));
            V lower = hn::Set(d, 1.0);
            V found = lower;
            for (std::size_t q = 0; q < kLayers; ++q) {
                step(same, once, twice, lower, corner[q], left[q], row + q * n);
                found = up_to_ ? hn::Add(found, lower) : lower;
            }
            total = hn::Add(total, hn::IfThenElseZero(same, found));
        }
        return total;
    }

    /// The same for any number of layers.
    V many(std::size_t i, V total) {
        const D d;
        const std::size_t n = hn::Lanes(d);
        const V once = hn::Set(d, decay_), twice = hn::Set(d, decay_ * decay_);
        const V letter = hn::LoadU(d, &block_.outer[i * leaves::lanes + lane_]);
        before_.assign(2 * layers_ * n, 0.0);
        double* row = rows_.data();
        for (std::size_t j = 0; j < block_.columns; ++j) {
            const auto same =
                hn::Eq(letter, hn::LoadU(d, &block_.inner[j * leaves::lanes + lane_]));
            V lower = hn::Set(d, 1.0);
            V found = lower;
            for (std::size_t q = 0; q < layers_; ++q, row += n) {
                V corner = hn::LoadU(d, &before_[2 * q * n]);
                V left = hn::LoadU(d, &before_[(2 * q + 1) * n]);
                step(same, once, twice, lower, corner, left, row);
                hn::StoreU(corner, d, &before_[2 * q * n]);
                hn::StoreU(left, d, &before_[(2 * q + 1) * n]);
                found = up_to_ ? hn::Add(found, lower) : lower;
            }
            total = hn::Add(total, hn::IfThenElseZero(same, found));
        }
        return total;
    }

    const leaves::LaneBlock& block_;
    std::size_t lane_;
    std::size_t layers_;
    double decay_;
    bool up_to_;
    std::vector<double> rows_;  // K'_q(i-1, j) for all j and q
    std::vector<double> before_{};
};

void subsequence_sweep(const leaves::LaneBlock& block, std::size_t length, double decay, bool up_to,
                       double* sums) {
    const D d;
    for (std::size_t lane = 0; lane < leaves::lanes; lane += hn::Lanes(d)) {
        hn::StoreU(SubsequenceSweep(block, lane, length, decay, up_to).run(), d, sums + lane);
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
    void slope_row(const std::string&, std::size_t i, const ObjectPairs& z,
                   std::span<const std::uint32_t> columns, std::span<double> out) const override {
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const LanePair pair(items_[i], static_cast<const Pairs&>(z).items_[columns[c]], 0);
            out[c] = decay_slope(*pair.outer, *pair.inner);
        }
    }
    double pair_work() const override {
        return 2 * static_cast<double>(length_) * mean_cells(items_);
    }

   private:
    /// ∂k/∂decay: the recursion of the sweep with slopes, a pair at a time.
    double decay_slope(const LaneItem& x, const LaneItem& z) const {
        const std::size_t layers = length_ - 1;
        const Dual once{decay_, 1};
        const Dual twice = once * once;
        std::vector<Dual> above(z.size * layers);
        Dual total;
        for (std::size_t i = 0; i < x.size; ++i) {
            std::vector<Dual> corner(layers);
            std::vector<Dual> left(layers);
            for (std::size_t j = 0; j < z.size; ++j) {
                const bool same = x.values[i] == z.values[j];
                Dual lower{1, 0};
                Dual found = lower;
                for (std::size_t q = 0; q < layers; ++q) {
                    Dual& here = above[j * layers + q];
                    const Dual up = here;
                    here = once * (up + left[q]) - twice * corner[q];
                    if (same) here = here + twice * lower;
                    left[q] = here;
                    lower = std::exchange(corner[q], up);
                    found = up_to_ ? found + lower : lower;
                }
                if (same) total = total + found;
            }
        }
        return (twice * total).slope;
    }

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
    // Made before: where memory runs out in the middle of the leaf, g++ 12 takes it down wrongly.
    std::vector<std::string> slopes{"decay"};
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
        .pair_slopes = std::move(slopes),
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
#endif  // HWY_ONCE
