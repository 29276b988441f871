#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "mercer/solver/detail/steepest.hpp"
#include "mercer/solver/detail/two_point.hpp"
#include "mercer/solver/tiles/detail/tile.hpp"

namespace mercer {
namespace {

constexpr double endless = std::numeric_limits<double>::infinity();

template <class T>
DirectionView view_of(const Tile<T>& tile) {
    return {.gradient = tile.gradient,
            .u = tile.u,
            .lower = tile.lower,
            .upper = tile.upper,
            .column = tile.column,
            .equalities = tile.equalities};
}

/// Keeps the steepest points of the direction and lets the second-order gain choose the last.
template <class T>
SparseDirection improved(const Tile<T>& tile, const SparseDirection& steepest, double floor) {
    if (steepest.count < 2) return steepest;
    std::size_t slot = 0;  // the point that moves least is the one to be replaced
    std::array<std::span<const T>, 3> rows;
    for (std::size_t k = 0; k < steepest.count; ++k) {
        rows[k] = {tile.row(steepest.index[k]), tile.size};
        if (std::abs(steepest.weight[k]) < std::abs(steepest.weight[slot])) slot = k;
    }
    return second_order_partner<T>(view_of(tile), steepest, slot,
                                   std::span<const std::span<const T>>(rows.data(), steepest.count),
                                   tile.diagonal, floor);
}

/// −g'd and d'Hd along the direction, the way to the nearest bound, and the scale of d'Hd.
struct Line {
    double slope = 0;
    double bend = 0;
    double room = endless;
    double scale = 0;
};

template <class T>
double room_of(const Tile<T>& tile, std::size_t k, double weight) {
    if (weight == 0) return endless;
    const double end = weight > 0 ? tile.upper[k] : tile.lower[k];
    return (end - tile.u[k]) / weight;
}

template <class T>
Line line_of(const Tile<T>& tile, const SparseDirection& d) {
    Line line;
    for (std::size_t a = 0; a < d.count; ++a) {
        const std::size_t k = d.index[a];
        line.slope -= tile.gradient[k] * d.weight[a];
        line.room = std::min(line.room, room_of(tile, k, d.weight[a]));
        line.scale += std::abs(d.weight[a]) * std::sqrt(std::abs(tile.diagonal[k]));
        line.bend += d.weight[a] * d.weight[a] * tile.diagonal[k];
        for (std::size_t b = a + 1; b < d.count; ++b) {
            line.bend +=
                2 * d.weight[a] * d.weight[b] * static_cast<double>(tile.row(k)[d.index[b]]);
        }
    }
    return line;
}

template <class T>
bool take_step(Tile<T>& tile, const SparseDirection& d, double step) {
    bool moved = false;
    for (std::size_t a = 0; a < d.count; ++a) {
        const std::size_t k = d.index[a];
        const double by = step * d.weight[a];
        const double before = tile.u[k];
        const double end = by > 0 ? tile.upper[k] : tile.lower[k];
        tile.u[k] = d.weight[a] != 0 && step >= room_of(tile, k, d.weight[a])
                        ? end
                        : std::clamp(before + by, tile.lower[k], tile.upper[k]);
        moved = moved || tile.u[k] != before;
        const T* h = tile.row(k);
        for (std::size_t j = 0; j < tile.size; ++j) {
            tile.gradient[j] += by * static_cast<double>(h[j]);
        }
    }
    return moved;
}

}  // namespace

template <class T>
TileOutcome solve_general_tile(Tile<T>& tile, const TileLimits& limits) {
    TileOutcome outcome;
    SteepestDirection steepest;
    for (;;) {
        steepest.solve(view_of(tile), 0.01);
        outcome.violation = 2 * steepest.largest();
        if (!(outcome.violation > limits.wanted(outcome.steps)) || steepest.direction().count == 0)
            break;
        if (outcome.steps >= limits.steps) break;
        ++outcome.steps;
        const SparseDirection d = improved(tile, steepest.direction(), limits.curvature_floor);
        const Line line = line_of(tile, d);
        if (line.room == endless &&
            line.bend <= limits.recession_tolerance * line.scale * line.scale) {
            outcome.unbounded = true;
            outcome.ray_count = d.count;
            outcome.ray = d.index;
            outcome.ray_weight = d.weight;
            break;
        }
        const double step = floored_step(line.slope, line.bend, line.room, limits.curvature_floor);
        if (!take_step(tile, d, step)) break;
    }
    return outcome;
}

template TileOutcome solve_general_tile<float>(Tile<float>&, const TileLimits&);
template TileOutcome solve_general_tile<double>(Tile<double>&, const TileLimits&);

}  // namespace mercer
