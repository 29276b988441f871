#include "mercer/solver/detail/two_point.hpp"

#include <algorithm>

namespace mercer {

ClipInterval clip_interval(const TwoPoints& points) {
    const auto [a1, a2] = points.alpha;
    const auto [low1, low2] = points.lower;
    const auto [high1, high2] = points.upper;
    if (points.label[0] != points.label[1]) {
        return {std::max(low2, low1 - a1 + a2), std::min(high2, high1 - a1 + a2)};
    }
    return {std::max(low2, a1 + a2 - high1), std::min(high2, a1 + a2 - low1)};
}

double curvature(const TwoPoints& points) {
    return points.k11 + points.k22 - 2 * points.k12;
}

double unclipped_maximum(const TwoPoints& points, double floor) {
    const double bend = curvature(points);
    return points.alpha[1] +
           points.label[1] * (points.error[0] - points.error[1]) / (bend > 0 ? bend : floor);
}

std::array<double, 2> two_point_step(const TwoPoints& points, double floor) {
    const ClipInterval interval = clip_interval(points);
    const double wanted = unclipped_maximum(points, floor);
    const double second = std::clamp(wanted, interval.u, interval.v);
    const bool same = points.label[0] == points.label[1];
    // An end of the interval that is no bound of α_2 is where α_1 meets one of its own.
    if (wanted >= interval.v && interval.v != points.upper[1]) {
        return {same ? points.lower[0] : points.upper[0], second};
    }
    if (wanted <= interval.u && interval.u != points.lower[1]) {
        return {same ? points.upper[0] : points.lower[0], second};
    }
    const double first = points.alpha[0] + (same ? 1 : -1) * (points.alpha[1] - second);
    return {std::clamp(first, points.lower[0], points.upper[0]), second};
}

double floored_step(double slope, double curvature, double room, double floor) {
    return std::min(room, slope / (curvature > 0 ? curvature : floor));
}

std::array<double, 2> free_pair_minimum(const FreePair& p) {
    const double det = p.k11 * p.k22 - p.k12 * p.k12;
    const std::array<double, 2> free = {(p.k12 * p.slope[1] - p.k22 * p.slope[0]) / det,
                                        (p.k12 * p.slope[0] - p.k11 * p.slope[1]) / det};
    const auto inside = [&](std::size_t k) {
        return free[k] >= p.lower[k] && free[k] <= p.upper[k];
    };
    if (inside(0) && inside(1)) return free;
    // Else one of the two is at the bound beyond which it would go, and the other where that asks.
    std::array<double, 2> best{};
    double least = 0;
    for (std::size_t k = 0; k < 2; ++k) {
        if (inside(k)) continue;
        const std::size_t other = 1 - k;
        std::array<double, 2> at{};
        at[k] = free[k] > p.upper[k] ? p.upper[k] : p.lower[k];
        const double curvature = other == 0 ? p.k11 : p.k22;
        at[other] = std::clamp(-(p.slope[other] + p.k12 * at[k]) / curvature, p.lower[other],
                               p.upper[other]);
        const double value = p.slope[0] * at[0] + p.slope[1] * at[1] +
                             0.5 * (p.k11 * at[0] * at[0] + p.k22 * at[1] * at[1]) +
                             p.k12 * at[0] * at[1];
        if (value < least) {
            best = at;
            least = value;
        }
    }
    return best;
}

}  // namespace mercer
