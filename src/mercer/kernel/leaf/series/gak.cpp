// gak: all alignments in time of two series [Cuturi et al. 2007; Cuturi 2011]
#include <numbers>

#include "mercer/kernel/leaf/detail/dual.hpp"
#include "mercer/kernel/leaf/detail/lanes.hpp"
#include "mercer/kernel/leaf/series/detail/series_rows.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/kernel/leaf/series/gak.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::CappedTag<double, leaves::lanes>;
using V = hn::Vec<D>;

/// A row beyond these is multiplied by a power of two, which changes no digit.
constexpr double largest = 0x1p400;
constexpr double smallest = 0x1p-400;

/// K(i, j) = c(i, j) (K(i-1, j) + K(i, j-1) + K(i-1, j-1)), K(0, 0) = 1, with the local kernel
/// c = f / (2 - f), f = (1 - |i - j| / band) exp(-rate |x_i - z_j|²).
class GakSweep {
   public:
    GakSweep(const leaves::LaneBlock& block, double rate, double band, std::size_t lane)
        : block_(block),
          rate_(rate),
          band_(band),
          lane_(lane),
          row_((block.columns + 1) * hn::Lanes(D()), 0.0) {}

    void run(double* logs) {
        const D d;
        V exponent = hn::Zero(d);
        hn::StoreU(hn::Set(d, 1.0), d, row_.data());
        finish(0, exponent, logs);
        for (std::size_t i = 1; i <= block_.rows; ++i) {
            const V most = next_row(i);
            finish(i, exponent, logs);
            const auto huge = hn::Gt(most, hn::Set(d, largest));
            const auto tiny =
                hn::And(hn::Lt(most, hn::Set(d, smallest)), hn::Gt(most, hn::Zero(d)));
            if (hn::AllFalse(d, hn::Or(huge, tiny))) continue;
            const V factor =
                hn::IfThenElse(huge, hn::Set(d, smallest),
                               hn::IfThenElse(tiny, hn::Set(d, largest), hn::Set(d, 1.0)));
            for (std::size_t k = 0; k < row_.size(); k += hn::Lanes(d)) {
                hn::StoreU(hn::Mul(hn::LoadU(d, &row_[k]), factor), d, &row_[k]);
            }
            exponent = hn::Add(exponent, hn::IfThenElseZero(huge, hn::Set(d, 400.0)));
            exponent = hn::Sub(exponent, hn::IfThenElseZero(tiny, hn::Set(d, 400.0)));
        }
    }

   private:
    /// Vectors i and j, counted from 1, with 0 behind the end of an inner series: what stands there
    /// must not decide how a row is scaled.
    HWY_INLINE V local(std::size_t i, std::size_t j) const {
        const D d;
        const std::size_t width = block_.width;
        const double* x = &block_.outer[(i - 1) * width * leaves::lanes + lane_];
        const double* z = &block_.inner[(j - 1) * width * leaves::lanes + lane_];
        V squared = hn::Zero(d);
        for (std::size_t c = 0; c < width; ++c) {
            const V gap =
                hn::Sub(hn::LoadU(d, x + c * leaves::lanes), hn::LoadU(d, z + c * leaves::lanes));
            squared = hn::MulAdd(gap, gap, squared);
        }
        V f = hn::Exp(d, hn::Max(hn::Mul(hn::Set(d, -rate_), squared), hn::Set(d, -700.0)));
        if (band_ > 0) {
            const double apart = i > j ? static_cast<double>(i - j) : static_cast<double>(j - i);
            f = hn::Mul(f, hn::Set(d, 1 - apart / band_));
        }
        const auto inside = hn::Le(hn::Set(d, static_cast<double>(j)),
                                   hn::LoadU(d, block_.inner_size.data() + lane_));
        return hn::IfThenElseZero(inside, hn::Div(f, hn::Sub(hn::Set(d, 2.0), f)));
    }

    /// The row becomes K(i, ·); the largest of them in each lane.
    HWY_INLINE V next_row(std::size_t i) {
        const D d;
        const std::size_t n = hn::Lanes(d);
        V corner = hn::LoadU(d, row_.data());
        V left = hn::Zero(d);
        V most = left;
        hn::StoreU(left, d, row_.data());
        for (std::size_t j = 1; j <= block_.columns; ++j) {
            double* here = &row_[j * n];
            const V up = hn::LoadU(d, here);
            const double apart = i > j ? static_cast<double>(i - j) : static_cast<double>(j - i);
            if (band_ > 0 && apart >= band_) {
                left = hn::Zero(d);
            } else {
                left = hn::Mul(local(i, j), hn::Add(hn::Add(up, left), corner));
            }
            corner = up;
            hn::StoreU(left, d, here);
            most = hn::Max(most, left);
        }
        return most;
    }

    /// Lanes whose outer series ends with row i have their sum in their last column.
    void finish(std::size_t i, V exponent, double* logs) const {
        const D d;
        HWY_ALIGN double powers[leaves::lanes];
        hn::StoreU(exponent, d, powers);
        for (std::size_t l = 0; l < hn::Lanes(d); ++l) {
            if (block_.outer_size[lane_ + l] != static_cast<double>(i)) continue;
            const auto j = static_cast<std::size_t>(block_.inner_size[lane_ + l]);
            logs[lane_ + l] = std::log(row_[j * hn::Lanes(d) + l]) + powers[l] * std::numbers::ln2;
        }
    }

    const leaves::LaneBlock& block_;
    double rate_;
    double band_;
    std::size_t lane_;
    std::vector<double> row_;  // K(i, j), column by column
};

void gak_sweep(const leaves::LaneBlock& block, double rate, double band, double* logs) {
    for (std::size_t lane = 0; lane < leaves::lanes; lane += hn::Lanes(D())) {
        GakSweep(block, rate, band, lane).run(logs);
    }
}

}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(gak_sweep);

using namespace leaves;

struct Sweep {
    double rate = 1;
    double band = 0;
    double width = 1;

    void operator()(const LaneBlock& block, std::array<double, lanes>& logs) const {
        MERCER_SIMD(gak_sweep)(block, rate, band, logs.data());
    }
    /// ∂ log K/∂ sigma: the same recursion with slopes, a pair at a time.
    double log_slope(const std::string&, const LaneItem& x, const LaneItem& z) const {
        std::vector<Dual> row(z.size + 1);
        row[0].value = 1;
        for (std::size_t i = 1; i <= x.size; ++i) {
            Dual corner = std::exchange(row[0], {});
            double most = 0;
            for (std::size_t j = 1; j <= z.size; ++j) {
                const Dual up = row[j];
                row[j] = local(x, z, i, j) * (up + row[j - 1] + corner);
                corner = up;
                most = std::max(most, row[j].value);
            }
            // Values and slopes have one factor; only their ratio is wanted.
            for (Dual& cell : row) {
                if (most > 0) cell = {cell.value / most, cell.slope / most};
            }
        }
        return row[z.size].value > 0 ? row[z.size].slope / row[z.size].value : 0;
    }
    /// c = f / (2 − f), ∂f/∂sigma = f |x_i − z_j|² / sigma³.
    Dual local(const LaneItem& x, const LaneItem& z, std::size_t i, std::size_t j) const {
        const double apart = i > j ? static_cast<double>(i - j) : static_cast<double>(j - i);
        if (band > 0 && apart >= band) return {};
        double squared = 0;
        for (std::size_t c = 0; c < x.width; ++c) {
            const double gap = x.values[(i - 1) * x.width + c] - z.values[(j - 1) * x.width + c];
            squared += gap * gap;
        }
        const double sigma = 1 / std::sqrt(2 * rate);
        const double f = std::exp(-rate * squared) * (band > 0 ? 1 - apart / band : 1);
        return {f / (2 - f), 2 / ((2 - f) * (2 - f)) * f * squared / (sigma * sigma * sigma)};
    }
    double cell_work() const { return 8 + width; }
};

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> rows) {
    const double sigma = node.parameter("sigma");
    const double width = node.parameter("width");
    std::vector<LaneItem> items;
    for (const Object& row : rows) {
        const auto series = series_of(node, row);
        items.push_back(lane_item({series.begin(), series.end()}, static_cast<std::size_t>(width)));
    }
    const Sweep sweep{
        .rate = 1 / (2 * sigma * sigma), .band = node.parameter("band"), .width = width};
    return std::make_unique<NormalisedLanes<Sweep>>(sweep, std::move(items));
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "a sum over alignments whose local kernel c has c / (1 + c) = f/2 positive definite "
        "(Cuturi et al. 2007)");
}

}  // namespace

const Leaf& gak_leaf() {
    // Made before: where memory runs out in the middle of the leaf, g++ 12 takes it down wrongly.
    std::vector<std::string> slopes{"sigma"};
    static const Leaf leaf{
        .entry = {.name = "gak",
                  .aliases = {"global_alignment"},
                  .formula = "S(x,z) / sqrt(S(x,x) S(z,z)), S the sum over alignments of prod c, "
                             "c = f / (2-f), f = exp(-|xi-zj|^2 / (2 sigma^2))",
                  .about = "series by all their alignments in time; a row is vectors of `width` "
                           "numbers; band=b: f times 1 - |i-j| / b",
                  .parameters = {above_zero("sigma", {}, 1.0), width_form(),
                                 whole("band", {}, 0, 1e6, 0.0), counted_form()}},
        .prepare = prepare,
        .pair_slopes = std::move(slopes),
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
#endif  // HWY_ONCE
