#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/solver/detail/two_point.hpp"
#include "mercer/solver/tiles/detail/tile.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/solver/tiles/detail/tile_group.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

constexpr double endless = std::numeric_limits<double>::infinity();

struct Best {
    double value = -endless;
    std::size_t index = 0;
};

/// The largest lane and its index; of equal lanes the one that stands first. What is not a number
/// equals nothing: some index, so that the place is one of the tile all the same.
template <class D>
HWY_INLINE Best reduce(D d, hn::Vec<D> value, hn::Vec<D> index) {
    const auto largest = hn::MaxOfLanes(d, value);
    const auto some = hn::MaxOfLanes(d, index);
    const auto first = hn::MinOfLanes(d, hn::IfThenElse(hn::Eq(value, largest), index, some));
    return {static_cast<double>(hn::GetLane(largest)),
            static_cast<std::size_t>(hn::GetLane(first))};
}

/// a / b to choose by, where the last digits do not matter: a division takes as long as all else of
/// a pass over floats.
template <class D>
HWY_INLINE hn::Vec<D> ratio(D, hn::Vec<D> a, hn::Vec<D> b) {
    if constexpr (sizeof(hn::TFromD<D>) == 4) {
        return hn::Mul(a, hn::ApproximateReciprocal(b));
    } else {
        return hn::Div(a, b);
    }
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

/// Everything of one run over a tile. The gradient is kept in the tile's own precision, less a
/// middle value of each group, so that it has the more digits the nearer a variable is to
/// optimality. The state outside takes only u from a tile and computes its gradient from that.
template <class T>
struct Run {
    using Lanes = hn::CappedTag<T, tile_lanes>;

    Tile<T>& tile;
    const TileLimits& limits;
    std::array<double, 3> middle{};  ///< of the gradient, by group
    std::vector<T> gradient;
    std::vector<T> shut_up;    ///< +infinity where u is at its upper bound, else 0
    std::vector<T> shut_down;  ///< +infinity where u is at its lower bound, else 0
    std::vector<T> diagonal;

    Run(Tile<T>& t, const TileLimits& l)
        : tile(t),
          limits(l),
          gradient(t.size),
          shut_up(t.size),
          shut_down(t.size),
          diagonal(t.diagonal.begin(), t.diagonal.end()) {
        take();
    }

    /// What stands in the tile, as it is now.
    void take() {
        for (std::size_t group = 0; group < 3; ++group) {
            double least = endless, largest = -endless;
            for (std::size_t k = tile.first[group]; group > 0 && k < tile.first[group + 1]; ++k) {
                if (tile.u[k] < tile.upper[k]) least = std::min(least, tile.gradient[k]);
                if (tile.u[k] > tile.lower[k]) largest = std::max(largest, tile.gradient[k]);
            }
            middle[group] = std::isfinite(least + largest) ? 0.5 * (least + largest) : 0;
            for (std::size_t k = tile.first[group]; k < tile.first[group + 1]; ++k) {
                note_bounds(k);
                gradient[k] = static_cast<T>(tile.gradient[k] - middle[group]);
            }
        }
    }

    /// And back.
    void give() {
        for (std::size_t group = 0; group < 3; ++group) {
            for (std::size_t k = tile.first[group]; k < tile.first[group + 1]; ++k) {
                tile.gradient[k] = middle[group] + static_cast<double>(gradient[k]);
            }
        }
    }

    void note_bounds(std::size_t k) {
        constexpr T shut = std::numeric_limits<T>::infinity();
        shut_up[k] = tile.u[k] < tile.upper[k] ? 0 : shut;
        shut_down[k] = tile.u[k] > tile.lower[k] ? 0 : shut;
    }

    /// gradient += step (H_i − H_j) over one group, and its extremes afterwards: one pass. A null
    /// row counts as zero.
    template <int kRows>
    HWY_INLINE Extremes move(std::size_t group, double step, const T* hi, const T* hj) {
        const Lanes d;
        const auto by = hn::Set(d, static_cast<T>(step));
        const auto lanes = hn::Lanes(d);
        auto grow = hn::Set(d, -std::numeric_limits<T>::infinity()), fall = grow;
        auto grow_at = hn::Zero(d), fall_at = grow_at;
        auto at = hn::Iota(d, static_cast<T>(tile.first[group]));
        const auto stride = hn::Set(d, static_cast<T>(lanes));
        for (std::size_t k = tile.first[group]; k < tile.first[group + 1]; k += lanes) {
            auto g = hn::LoadU(d, gradient.data() + k);
            if constexpr (kRows > 0) {
                auto h = hn::LoadU(d, hi + k);
                if constexpr (kRows > 1) h = hn::Sub(h, hn::LoadU(d, hj + k));
                g = hn::MulAdd(by, h, g);
                hn::StoreU(g, d, gradient.data() + k);
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
        return {reduce(d, grow, grow_at), reduce(d, fall, fall_at)};
    }

    /// The partner j of i with the largest b²/a among those that can fall.
    HWY_INLINE Best partner(std::size_t group, std::size_t i) const {
        const Lanes d;
        const T* hi = tile.row(i);
        const auto gi = hn::Set(d, gradient[i]);
        const auto dii = hn::Set(d, diagonal[i]);
        const auto zero = hn::Zero(d);
        const auto floor = hn::Set(d, static_cast<T>(limits.curvature_floor));
        auto best = zero, best_at = zero;
        const auto lanes = hn::Lanes(d);
        auto at = hn::Iota(d, static_cast<T>(tile.first[group]));
        const auto stride = hn::Set(d, static_cast<T>(lanes));
        for (std::size_t k = tile.first[group]; k < tile.first[group + 1]; k += lanes) {
            const auto g = hn::LoadU(d, gradient.data() + k);
            const auto b = hn::Sub(hn::Sub(g, hn::LoadU(d, shut_down.data() + k)), gi);
            const auto h = hn::LoadU(d, hi + k);
            auto a = hn::Sub(hn::Add(dii, hn::LoadU(d, diagonal.data() + k)), hn::Add(h, h));
            a = hn::IfThenElse(hn::Gt(a, zero), a, floor);
            const auto positive = hn::IfThenElseZero(hn::Gt(b, zero), b);
            const auto gain = ratio(d, hn::Mul(positive, positive), a);
            const auto more = hn::Gt(gain, best);
            best = hn::IfThenElse(more, gain, best);
            best_at = hn::IfThenElse(more, at, best_at);
            at = hn::Add(at, stride);
        }
        return reduce(d, best, best_at);
    }

    /// The variable of group 0 that promises most; by itself it may go where it likes.
    HWY_INLINE std::size_t single() const {
        const Lanes d;
        const auto zero = hn::Zero(d);
        const auto floor = hn::Set(d, static_cast<T>(limits.curvature_floor));
        auto best = zero, best_at = hn::Set(d, static_cast<T>(tile.first[0]));
        const auto lanes = hn::Lanes(d);
        auto at = hn::Iota(d, static_cast<T>(tile.first[0]));
        const auto stride = hn::Set(d, static_cast<T>(lanes));
        for (std::size_t k = tile.first[0]; k < tile.first[1]; k += lanes) {
            const auto g = hn::LoadU(d, gradient.data() + k);
            const auto up = hn::Sub(hn::Neg(g), hn::LoadU(d, shut_up.data() + k));
            const auto down = hn::Sub(g, hn::LoadU(d, shut_down.data() + k));
            const auto slope = hn::Max(hn::Max(up, down), zero);
            auto a = hn::LoadU(d, diagonal.data() + k);
            a = hn::IfThenElse(hn::Gt(a, zero), a, floor);
            const auto gain = ratio(d, hn::Mul(slope, slope), a);
            const auto more = hn::Gt(gain, best);
            best = hn::IfThenElse(more, gain, best);
            best_at = hn::IfThenElse(more, at, best_at);
            at = hn::Add(at, stride);
        }
        return reduce(d, best, best_at).index;
    }

    /// What i and j together promise more than i by itself, (a_i g_j − h g_i)² / (a_i det), largest
    /// over the j of group 0 that can go where that asks for (Steinwart, Hush and Scovel 2011, §3).
    HWY_INLINE Best second(std::size_t i) const {
        const Lanes d;
        const T* hi = tile.row(i);
        const auto gi = hn::Set(d, gradient[i]);
        const auto ai = hn::Set(d, diagonal[i]);
        const auto zero = hn::Zero(d);
        // What is nearly the same point as i has no direction of its own.
        const auto least = hn::Set(d, static_cast<T>(1e-6) * diagonal[i] * diagonal[i]);
        auto best = zero, best_at = zero;
        const auto lanes = hn::Lanes(d);
        auto at = hn::Iota(d, static_cast<T>(tile.first[0]));
        const auto stride = hn::Set(d, static_cast<T>(lanes));
        for (std::size_t k = tile.first[0]; k < tile.first[1]; k += lanes) {
            const auto h = hn::LoadU(d, hi + k);
            const auto g = hn::LoadU(d, gradient.data() + k);
            const auto a = hn::LoadU(d, diagonal.data() + k);
            const auto way = hn::Sub(hn::Mul(h, gi), hn::Mul(ai, g));  // of j
            const auto up = hn::Sub(way, hn::LoadU(d, shut_up.data() + k));
            const auto down = hn::Sub(hn::Neg(way), hn::LoadU(d, shut_down.data() + k));
            const auto open = hn::Max(hn::Max(up, down), zero);
            const auto det = hn::Sub(hn::Mul(ai, a), hn::Mul(h, h));
            const auto gain =
                hn::IfThenElseZero(hn::Gt(det, least), ratio(d, hn::Mul(open, open), det));
            const auto more = hn::Gt(gain, best);
            best = hn::IfThenElse(more, gain, best);
            best_at = hn::IfThenElse(more, at, best_at);
            at = hn::Add(at, stride);
        }
        return reduce(d, best, best_at);
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
        line.i = single();
        const std::size_t i = line.i;
        const double up = static_cast<double>(-gradient[i] - shut_up[i]);
        const double down = static_cast<double>(gradient[i] - shut_down[i]);
        line.way = up >= down ? 1 : -1;
        line.slope = std::max({up, down, 0.0});
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
        line.slope = static_cast<double>(gradient[line.j]) - static_cast<double>(gradient[line.i]);
        line.bend = di + dj - 2 * static_cast<double>(tile.row(line.i)[line.j]);
        line.scale = std::sqrt(std::abs(di)) + std::sqrt(std::abs(dj));
        line.room_i = tile.upper[line.i] - tile.u[line.i];
        line.room_j = tile.u[line.j] - tile.lower[line.j];
        return line;
    }

    /// The step of i and of the best partner without an equality between them; false where there is
    /// none that is better than i's own.
    bool free_pair_step(std::size_t i, std::array<Extremes, 3>& extremes) {
        const Best best = second(i);
        if (!(best.value > 0)) return false;
        const std::size_t j = best.index;
        const FreePair pair{
            .slope = {static_cast<double>(gradient[i]), static_cast<double>(gradient[j])},
            .k11 = tile.diagonal[i],
            .k22 = tile.diagonal[j],
            .k12 = static_cast<double>(tile.row(i)[j]),
            .lower = {tile.lower[i] - tile.u[i], tile.lower[j] - tile.u[j]},
            .upper = {tile.upper[i] - tile.u[i], tile.upper[j] - tile.u[j]}};
        const auto [by_i, by_j] = free_pair_minimum(pair);
        if (!std::isfinite(by_i + by_j)) return false;
        const auto to_bound = [&](std::size_t k, double by) {
            return by != 0 && (by == pair.lower[k] || by == pair.upper[k]);
        };
        bool moved = shift(i, by_i, to_bound(0, by_i));
        moved = shift(j, by_j, to_bound(1, by_j)) || moved;
        if (!moved) return false;
        for (std::size_t g = 0; g < 3; ++g) {
            move<1>(g, by_i, tile.row(i), nullptr);
            extremes[g] = move<1>(g, by_j, tile.row(j), nullptr);
        }
        return true;
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
        if (group == 0 && line.bend > 0 && free_pair_step(line.i, extremes)) return true;
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
            if (!(outcome.violation > limits.wanted(outcome.steps))) break;
            if (outcome.steps >= limits.steps) break;
            if (outcome.steps >= newton_at) {
                ++outcome.newton_steps;
                give();
                if (newton_on_tile(tile)) {
                    take();
                    for (std::size_t g = 0; g < 3; ++g)
                        extremes[g] = move<0>(g, 0, nullptr, nullptr);
                }
                newton_at = outcome.steps + newton_price(tile);
                continue;
            }
            ++outcome.steps;
            if (!step(worst, extremes, outcome)) break;
        }
        give();
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
