// Rows put one below the other.
#pragma once

#include "mercer/base/export.hpp"
#include "mercer/data/rows.hpp"

namespace mercer MERCER_API {

/// The rows of a, then those of b. Sparse when one of them is, in double precision when one of them
/// is, as wide as the wider; every row's origin is its new place.
Rows concatenate(const Rows& a, const Rows& b);

}  // namespace mercer
