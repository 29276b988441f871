// Numbers in pictures.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "mercer/chart/chart.hpp"

namespace mercer::chart {

/// Four significant digits at most: 0.25, 1e-05, 3.142.
std::string short_number(double value);
/// Two significant digits: levels that are not round need no more.
std::string level_number(double value);
/// Pixels, with up to two digits after the point.
std::string pixel_number(double value);
/// The numbers at ticks: with as many digits as tell neighbours apart.
std::vector<std::string> tick_texts(const std::vector<double>& places);

/// The ends of a heat map's colours.
std::pair<double, double> range_of(const HeatMap& map);

}  // namespace mercer::chart
