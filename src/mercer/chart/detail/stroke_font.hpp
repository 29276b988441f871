// Letters as strokes, for pictures of dots: no fonts need be there. Drawn for this library on a
// grid of small whole numbers: letters stand on 0, capitals reach 8, small letters 5.5.
#pragma once

#include <string_view>
#include <vector>

#include "mercer/chart/detail/canvas.hpp"

namespace mercer::chart {

/// The strokes of a text whose first letter stands at (0, 0), x to the right and y downwards, for
/// letters of this size; `width` gets how far it reaches.
std::vector<Path> letter_strokes(std::string_view text, double size, double& width);

}  // namespace mercer::chart
