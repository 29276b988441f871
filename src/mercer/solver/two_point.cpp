#include "mercer/solver/two_point.hpp"

#include <algorithm>

namespace mercer {

ClipInterval clip_interval(const TwoPoints& points) {
    const auto [a1, a2] = points.alpha;
    const double c = points.c;
    if (points.label[0] != points.label[1]) {
        return {std::max(0.0, a2 - a1), std::min(c, c - a1 + a2)};
    }
    return {std::max(0.0, a1 + a2 - c), std::min(c, a1 + a2)};
}

double curvature(const TwoPoints& points) {
    return points.k11 + points.k22 - 2 * points.k12;
}

double unclipped_maximum(const TwoPoints& points) {
    return points.alpha[1] +
           points.label[1] * (points.error[0] - points.error[1]) / curvature(points);
}

std::array<double, 2> two_point_step(const TwoPoints& points) {
    const ClipInterval interval = clip_interval(points);
    const double second = std::clamp(unclipped_maximum(points), interval.u, interval.v);
    const double first =
        points.alpha[0] + points.label[0] * points.label[1] * (points.alpha[1] - second);
    // Rounding in the difference may leave [0, C] by one unit in the last place.
    return {std::clamp(first, 0.0, points.c), second};
}

double floored_step(double slope, double curvature, double room, double floor) {
    return std::min(room, slope / (curvature > 0 ? curvature : floor));
}

std::array<double, 2> general_two_point_step(const GeneralPoints& points, double floor) {
    // Along d = (1/a_1, −1/a_2) the sum a'α does not change.
    std::array<double, 2> d = {1 / points.coefficient[0], -1 / points.coefficient[1]};
    double slope = -(points.gradient[0] * d[0] + points.gradient[1] * d[1]);
    if (slope < 0) {
        slope = -slope;
        d = {-d[0], -d[1]};
    }
    std::array<double, 2> room{};
    for (std::size_t k = 0; k < 2; ++k) {
        const double end = d[k] > 0 ? points.upper[k] : points.lower[k];
        room[k] = (end - points.alpha[k]) / d[k];
    }
    const double bend =
        points.q11 * d[0] * d[0] + points.q22 * d[1] * d[1] + 2 * points.q12 * d[0] * d[1];
    const double step = floored_step(slope, bend, std::min(room[0], room[1]), floor);
    std::array<double, 2> result = points.alpha;
    for (std::size_t k = 0; k < 2; ++k) {
        // A variable that reaches its bound is put there exactly: being "at the bound" is what
        // selection and shrinking ask about.
        const double end = d[k] > 0 ? points.upper[k] : points.lower[k];
        result[k] = step >= room[k] ? end : points.alpha[k] + step * d[k];
        result[k] = std::clamp(result[k], points.lower[k], points.upper[k]);
    }
    return result;
}

}  // namespace mercer
