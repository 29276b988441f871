// Rows given by a program may hold what no reader would let pass.
#pragma once

#include "mercer/base/export.hpp"
#include "mercer/data/rows.hpp"

namespace mercer MERCER_API {

/// Throws InvalidInput that names the first row and column whose value is not finite. A kernel of
/// distances would not notice by itself: the rounding guard max(‖x−z‖², 0) turns NaN into 0.
void require_finite(const Rows& rows);

}  // namespace mercer
