// Where a field on a grid has a value (level lines) or more (regions), by marching squares: the
// field is taken as linear along the edges of each cell.
#pragma once

#include <vector>

#include "mercer/chart/detail/canvas.hpp"

namespace mercer::chart {

/// Curves in the field's own coordinates, joined from cell to cell; closed ones end where they
/// began.
std::vector<Path> level_lines(const GridField& field, double value);

/// The region {f >= value} as polygons that do not overlap; full cells of a row are joined.
std::vector<Path> region_above(const GridField& field, double value);

}  // namespace mercer::chart
