// The problem restricted to a working set of q variables, with its q × q part of H packed so that
// it stays near the processor: H_kl = s_k s_l K(r_k, r_l), 1 MB at q = 512 in float.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "mercer/solver/detail/canonical.hpp"

namespace mercer {

/// Variables stand in the order of their groups; each group begins at a multiple of `tile_lanes`
/// and is filled up with variables that cannot move, so that loops need no remainder.
inline constexpr std::size_t tile_lanes = 16;
inline constexpr std::size_t no_variable = static_cast<std::size_t>(-1);

template <class T>
struct Tile {
    std::size_t size = 0;                ///< with the fillers
    std::size_t stride = 0;              ///< from row to row of h, see odd_stride
    std::vector<std::size_t> variable;   ///< no_variable for a filler
    std::array<std::size_t, 4> first{};  ///< group g stands at [first[g], first[g + 1])
    std::vector<T> h;                    ///< row k at h[k * stride]
    std::vector<double> diagonal;
    std::vector<double> gradient;
    std::vector<double> u;
    std::vector<double> lower;
    std::vector<double> upper;
    std::vector<std::array<double, 2>> column;  ///< general equalities only
    std::size_t equalities = 0;
    std::vector<double> scratch{};        ///< of steps of all free variables
    std::vector<float> single_scratch{};  ///< likewise

    const T* row(std::size_t k) const { return h.data() + k * stride; }
    T* row(std::size_t k) { return h.data() + k * stride; }
};

/// Rows an odd number of lanes apart: the entries of a column would otherwise meet in a few sets of
/// the processor's cache, and writing one would take several times as long.
inline std::size_t odd_stride(std::size_t size) {
    return (size / tile_lanes | 1) * tile_lanes;
}

struct TileLimits {
    double tolerance = 0;  ///< enough
    double goal = 0;  ///< what to go on to as long as it takes no more than `easy` steps in all
    std::uint64_t easy = 0;
    double curvature_floor = 0;
    double recession_tolerance = 0;
    std::uint64_t steps = 0;
    /// All free variables are moved together once two-point steps have cost this many times as much
    /// as that would.
    std::uint64_t patience = 24;

    /// The violation to be reached after so many steps.
    double wanted(std::uint64_t taken) const { return taken < easy ? goal : tolerance; }
};

/// What happened on the tile. u and gradient in the tile have been moved.
struct TileOutcome {
    std::uint64_t steps = 0;
    std::uint64_t newton_steps = 0;  ///< times that all free variables moved together
    double violation = 0;
    /// A direction without curvature and without end was met: positions and components of it.
    bool unbounded = false;
    std::size_t ray_count = 0;
    std::array<std::size_t, 3> ray{};
    std::array<double, 3> ray_weight{};
};

/// Two-point steps (one-point in group 0) with second-order selection [Fan, Chen and Lin 2005]:
/// i has the steepest descent, j of the same group promises the largest decrease b²/a. A step reads
/// two rows of H and passes three times over vectors of q doubles, about 40 q flops.
template <class T>
TileOutcome solve_group_tile(Tile<T>& tile, const TileLimits& limits);

/// Steps on all free variables of the tile together, down to their common minimum or until half of
/// them have met a bound (tile_newton.cpp); true when u and the gradient have moved. For tiles
/// without general equalities.
template <class T>
bool newton_on_tile(Tile<T>& tile);
/// What that costs, in two-point steps.
template <class T>
std::uint64_t newton_price(const Tile<T>& tile);

/// The two-point steps' like for equalities in general position, by steps of up to three points.
template <class T>
TileOutcome solve_general_tile(Tile<T>& tile, const TileLimits& limits);

}  // namespace mercer
