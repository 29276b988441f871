// When single precision is enough to hold the numbers of a file.
#pragma once

#include <cstddef>
#include <optional>

#include "mercer/base/export.hpp"
#include "mercer/data/rows.hpp"

namespace mercer MERCER_API {

/// The first column in which rounding to float may move a value by more than a 100000th of what
/// the column's values differ by, so that differences between rows are no longer what they were:
/// numbers that vary little around a large value, such as times in seconds. In rows that are float
/// already a column that is constant, but not zero, counts as hurt: what it varied by may be gone.
std::optional<std::size_t> column_hurt_by_single(const Rows& rows);

}  // namespace mercer
