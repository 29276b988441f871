#include <algorithm>
#include <array>
#include <cmath>

#include "mercer/chart/chart.hpp"

namespace mercer::chart {
namespace {

/// Okabe and Ito's colours, darkened a little where they would be faint on white.
constexpr std::array<Colour, 8> palette{{{0, 104, 170},
                                         {204, 82, 0},
                                         {0, 138, 100},
                                         {176, 84, 146},
                                         {190, 140, 0},
                                         {60, 160, 210},
                                         {90, 90, 90},
                                         {130, 60, 20}}};

using Stops = std::array<std::array<double, 3>, 5>;
constexpr Stops viridis_stops{
    {{68, 1, 84}, {59, 82, 139}, {33, 145, 140}, {94, 201, 98}, {253, 231, 37}}};
constexpr Stops diverging_stops{
    {{33, 102, 172}, {146, 197, 222}, {250, 250, 250}, {244, 165, 130}, {178, 24, 43}}};
constexpr Stops blue_stops{
    {{250, 252, 255}, {208, 225, 242}, {148, 194, 222}, {74, 146, 198}, {8, 81, 156}}};
constexpr Stops grey_stops{
    {{255, 255, 255}, {191, 191, 191}, {128, 128, 128}, {64, 64, 64}, {0, 0, 0}}};

std::uint8_t level(double value) {
    return static_cast<std::uint8_t>(std::lround(std::clamp(value, 0.0, 255.0)));
}

}  // namespace

Colour colour(std::size_t i) {
    return palette[i % palette.size()];
}

Colour tint(std::size_t i) {
    const Colour full = colour(i);
    const auto pale = [](std::uint8_t v) { return level(255 - 0.22 * (255 - v)); };
    return {pale(full.red), pale(full.green), pale(full.blue)};
}

Colour colour(Ramp ramp, double t) {
    const Stops& stops = ramp == Ramp::viridis     ? viridis_stops
                         : ramp == Ramp::diverging ? diverging_stops
                         : ramp == Ramp::greys     ? grey_stops
                                                   : blue_stops;
    if (std::isnan(t)) return {204, 204, 204};
    const double place = std::clamp(t, 0.0, 1.0) * static_cast<double>(stops.size() - 1);
    const auto low = std::min(static_cast<std::size_t>(place), stops.size() - 2);
    const double f = place - static_cast<double>(low);
    const auto mix = [&](std::size_t c) {
        return level(stops[low][c] * (1 - f) + stops[low + 1][c] * f);
    };
    return {mix(0), mix(1), mix(2)};
}

}  // namespace mercer::chart
