// Rows set aside, so that a machine can be judged on what it has not seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// Positions of rows, each part in ascending order.
struct Split {
    std::vector<std::size_t> train{};
    std::vector<std::size_t> test{};
};

/// Draws the fraction `test` of the rows at random. With `classes` (one index a row) each class
/// gives its own share, and one of two rows or more is found on both sides. The same seed gives the
/// same rows. Throws InvalidInput unless 0 < test < 1 and both parts get a row.
Split split_rows(std::size_t rows, double test, std::uint64_t seed,
                 std::span<const std::int32_t> classes = {});

}  // namespace mercer
