#include <algorithm>
#include <cmath>
#include <limits>
#include <type_traits>

#include "mercer/solver/tile.hpp"
#include "mercer/solver/two_point.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/solver/tile_group.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mercer/base/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Wide = hn::CappedTag<double, 8>;

constexpr double endless = std::numeric_limits<double>::infinity();

template <class T>
HWY_INLINE hn::Vec<Wide> load_wide(const T* from) {
    const Wide d;
    if constexpr (std::is_same_v<T, double>) {
        return hn::LoadU(d, from);
    } else {
        return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, Wide>{}, from));
    }
}

template <class T>
HWY_INLINE hn::Vec<hn::Rebind<T, Wide>> narrow(hn::Vec<Wide> x) {
    if constexpr (std::is_same_v<T, double>) {
        return x;
    } else {
        return hn::DemoteTo(hn::Rebind<float, Wide>{}, x);
    }
}

template <class T>
HWY_INLINE hn::Vec<Wide> widen(hn::Vec<hn::Rebind<T, Wide>> x) {
    if constexpr (std::is_same_v<T, double>) {
        return x;
    } else {
        return hn::PromoteTo(Wide{}, x);
    }
}

struct Best {
    double value = -endless;
    std::size_t index = 0;
};

/// The largest lane and its index; of equal lanes the one that stands first.
HWY_INLINE Best reduce(hn::Vec<Wide> value, hn::Vec<Wide> index) {
    const Wide d;
    HWY_ALIGN double values[8];
    HWY_ALIGN double indices[8];
    hn::Store(value, d, values);
    hn::Store(index, d, indices);
    Best best{values[0], static_cast<std::size_t>(indices[0])};
    for (std::size_t k = 1; k < hn::Lanes(d); ++k) {
        const auto at = static_cast<std::size_t>(indices[k]);
        if (values[k] > best.value || (values[k] == best.value && at < best.index)) {
            best = {values[k], at};
        }
    }
    return best;
}

/// The extremes of one group: steepest way up, −g of the variables that can grow, and steepest way
/// down, g of those that can fall.
struct Extremes {
    Best grow;
    Best fall;
    double violation(bool paired) const {
        return paired ? grow.value + fall.value : std::max(grow.value, fall.value);
    }
};

/// Everything of one run over a tile.
template <class T>
struct Run {
    Tile<T>& tile;
    const TileLimits& limits;
    std::vector<double> shut_up;    ///< +infinity where u is at its upper bound, else 0
    std::vector<double> shut_down;  ///< +infinity where u is at its lower bound, else 0
    std::vector<T> diagonal;

    Run(Tile<T>& t, const TileLimits& l)
        : tile(t), limits(l), shut_up(t.size), shut_down(t.size), diagonal(t.size) {
        for (std::size_t k = 0; k < t.size; ++k) {
            note_bounds(k);
            diagonal[k] = static_cast<T>(t.diagonal[k]);
        }
    }

    void note_bounds(std::size_t k) {
        shut_up[k] = tile.u[k] < tile.upper[k] ? 0 : endless;
        shut_down[k] = tile.u[k] > tile.lower[k] ? 0 : endless;
    }

    /// gradient += step (H_i − H_j) over one group, and its extremes afterwards: one pass. A null
    /// row counts as zero.
    template <int kRows>
    HWY_INLINE Extremes move(std::size_t group, double step, const T* hi, const T* hj) {
        const Wide d;
        double* gradient = tile.gradient.data();
        const auto by = hn::Set(d, step);
        const auto lanes = hn::Lanes(d);
        auto grow = hn::Set(d, -endless), fall = grow;
        auto grow_at = hn::Zero(d), fall_at = grow_at;
        auto at = hn::Iota(d, static_cast<double>(tile.first[group]));
        const auto stride = hn::Set(d, static_cast<double>(lanes));
        for (std::size_t k = tile.first[group]; k < tile.first[group + 1]; k += lanes) {
            auto g = hn::LoadU(d, gradient + k);
            if constexpr (kRows > 0) {
                auto h = load_wide(hi + k);
                if constexpr (kRows > 1) h = hn::Sub(h, load_wide(hj + k));
                g = hn::MulAdd(by, h, g);
                hn::StoreU(g, d, gradient + k);
            }
            const auto up = hn::Sub(hn::Neg(g), hn::LoadU(d, shut_up.data() + k));
            const auto down = hn::Sub(g, hn::LoadU(d, shut_down.data() + k));
            const auto more = hn::Gt(up, grow);
            grow = hn::IfThenElse(more, up, grow);
            grow_at = hn::IfThenElse(more, at, grow_at);
            const auto less = hn::Gt(down, fall);
            fall = hn::IfThenElse(less, down, fall);
            fall_at = hn::IfThenElse(less, at, fall_at);
            at = hn::Add(at, stride);
        }
        return {reduce(grow, grow_at), reduce(fall, fall_at)};
    }

    /// The partner j of i with the largest b²/a among those that can fall. The gains are compared
    /// in the tile's own precision: a choice, not a value that anything depends on.
    HWY_INLINE Best partner(std::size_t group, std::size_t i) const {
        const Wide d;
        const hn::Rebind<T, Wide> n;
        const T* hi = tile.row(i);
        const double* gradient = tile.gradient.data();
        const auto gi = hn::Set(d, gradient[i]);
        const auto dii = hn::Set(n, diagonal[i]);
        const auto zero = hn::Zero(n);
        const auto floor = hn::Set(n, static_cast<T>(limits.curvature_floor));
        auto best = zero, best_at = zero;
        const auto lanes = hn::Lanes(d);
        auto at = hn::Iota(n, static_cast<T>(tile.first[group]));
        const auto stride = hn::Set(n, static_cast<T>(lanes));
        for (std::size_t k = tile.first[group]; k < tile.first[group + 1]; k += lanes) {
            const auto g = hn::LoadU(d, gradient + k);
            const auto b = narrow<T>(hn::Sub(hn::Sub(g, hn::LoadU(d, shut_down.data() + k)), gi));
            const auto h = hn::LoadU(n, hi + k);
            auto a = hn::Sub(hn::Add(dii, hn::LoadU(n, diagonal.data() + k)), hn::Add(h, h));
            a = hn::IfThenElse(hn::Gt(a, zero), a, floor);
            const auto positive = hn::IfThenElseZero(hn::Gt(b, zero), b);
            const auto gain = hn::Div(hn::Mul(positive, positive), a);
            const auto more = hn::Gt(gain, best);
            best = hn::IfThenElse(more, gain, best);
            best_at = hn::IfThenElse(more, at, best_at);
            at = hn::Add(at, stride);
        }
        return reduce(widen<T>(best), widen<T>(best_at));
    }

    /// The variable of group 0 that promises most, with its slope; by itself it may go where it
    /// likes.
    Best single(double& slope) const {
        Best best{0, tile.first[0]};
        slope = 0;
        for (std::size_t k = tile.first[0]; k < tile.first[1]; ++k) {
            const double g = tile.gradient[k];
            const double here = std::max(-g - shut_up[k], g - shut_down[k]);
            if (here <= 0) continue;
            const double a = tile.diagonal[k];
            const double gain = here * here / (a > 0 ? a : limits.curvature_floor);
            if (gain <= best.value) continue;
            best = {gain, k};
            slope = here;
        }
        return best;
    }

    /// Adds `by` to u_k, or puts it exactly on the bound when that is where it goes.
    bool shift(std::size_t k, double by, bool to_bound) {
        const double before = tile.u[k];
        const double end = by > 0 ? tile.upper[k] : tile.lower[k];
        tile.u[k] = to_bound ? end : std::clamp(before + by, tile.lower[k], tile.upper[k]);
        note_bounds(k);
        return tile.u[k] != before;
    }

    /// The one or two points of a step, and how far they may go.
    struct Line {
        std::size_t i = 0;
        std::size_t j = 0;
        double way = 1;  ///< +1: i grows
        double slope = 0;
        double bend = 0;
        double scale = 0;
        double room_i = 0;
        double room_j = endless;
    };

    Line single_line() const {
        Line line;
        line.i = single(line.slope).index;
        const std::size_t i = line.i;
        line.way = -tile.gradient[i] - shut_up[i] >= tile.gradient[i] - shut_down[i] ? 1 : -1;
        line.bend = tile.diagonal[i];
        line.scale = std::sqrt(std::abs(tile.diagonal[i]));
        line.room_i = line.way > 0 ? tile.upper[i] - tile.u[i] : tile.u[i] - tile.lower[i];
        return line;
    }

    Line pair_line(std::size_t group, const Extremes& extremes) const {
        Line line;
        line.i = extremes.grow.index;
        const Best best = partner(group, line.i);
        line.j = best.value > 0 ? best.index : extremes.fall.index;
        const double di = tile.diagonal[line.i];
        const double dj = tile.diagonal[line.j];
        line.slope = tile.gradient[line.j] - tile.gradient[line.i];
        line.bend = di + dj - 2 * static_cast<double>(tile.row(line.i)[line.j]);
        line.scale = std::sqrt(std::abs(di)) + std::sqrt(std::abs(dj));
        line.room_i = tile.upper[line.i] - tile.u[line.i];
        line.room_j = tile.u[line.j] - tile.lower[line.j];
        return line;
    }

    /// One step in `group`; false when rounding or an endless descent forbids it.
    bool step(std::size_t group, std::array<Extremes, 3>& extremes, TileOutcome& outcome) {
        const Line line = group == 0 ? single_line() : pair_line(group, extremes[group]);
        const double room = std::min(line.room_i, line.room_j);
        // No finite bound ahead and no curvature to stop the descent.
        if (room == endless && line.bend <= limits.recession_tolerance * line.scale * line.scale) {
            outcome.unbounded = true;
            outcome.ray_count = group == 0 ? 1 : 2;
            outcome.ray = {line.i, line.j, 0};
            outcome.ray_weight = {line.way, -1, 0};
            return false;
        }
        const double size = floored_step(line.slope, line.bend, room, limits.curvature_floor);
        bool moved = shift(line.i, line.way * size, size >= line.room_i);
        if (group == 0) {
            for (std::size_t g = 0; g < 3; ++g) {
                extremes[g] = move<1>(g, line.way * size, tile.row(line.i), nullptr);
            }
            return moved;
        }
        moved = shift(line.j, -size, size >= line.room_j) || moved;
        for (std::size_t g = 0; g < 3; ++g) {
            extremes[g] = move<2>(g, size, tile.row(line.i), tile.row(line.j));
        }
        return moved;
    }

    TileOutcome solve() {
        TileOutcome outcome;
        std::array<Extremes, 3> extremes;
        for (std::size_t g = 0; g < 3; ++g) extremes[g] = move<0>(g, 0, nullptr, nullptr);
        std::uint64_t newton_at = limits.patience * newton_price(tile);
        for (;;) {
            std::size_t worst = 0;
            outcome.violation = extremes[0].violation(false);
            for (std::size_t g = 1; g < 3; ++g) {
                const double here = extremes[g].violation(true);
                if (here <= outcome.violation) continue;
                outcome.violation = here;
                worst = g;
            }
            if (!(outcome.violation > limits.tolerance)) break;
            if (outcome.steps >= limits.steps) break;
            if (outcome.steps >= newton_at) {
                ++outcome.newton_steps;
                if (newton_on_tile(tile)) {
                    for (std::size_t k = 0; k < tile.size; ++k) note_bounds(k);
                    for (std::size_t g = 0; g < 3; ++g)
                        extremes[g] = move<0>(g, 0, nullptr, nullptr);
                }
                newton_at = outcome.steps + newton_price(tile);
                continue;
            }
            ++outcome.steps;
            if (!step(worst, extremes, outcome)) break;
        }
        return outcome;
    }
};

TileOutcome solve_float(Tile<float>& tile, const TileLimits& limits) {
    return Run<float>(tile, limits).solve();
}
TileOutcome solve_double(Tile<double>& tile, const TileLimits& limits) {
    return Run<double>(tile, limits).solve();
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(solve_float);
MERCER_SIMD_EXPORT(solve_double);

}  // namespace

template <>
TileOutcome solve_group_tile<float>(Tile<float>& tile, const TileLimits& limits) {
    return MERCER_SIMD(solve_float)(tile, limits);
}

template <>
TileOutcome solve_group_tile<double>(Tile<double>& tile, const TileLimits& limits) {
    return MERCER_SIMD(solve_double)(tile, limits);
}

}  // namespace mercer
#endif  // HWY_ONCE
