// Runs a plan's program over a tile of pairs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mercer/base/matrix.hpp"
#include "mercer/gram/detail/plan.hpp"

namespace mercer {

/// The pairwise numbers of one source for a tile: element (i, j) at values[i * stride + j], or
/// exact integers when the rows are bytes. Reading up to `padding` elements beyond a row is
/// allowed.
template <class T>
struct SourceTile {
    const T* values = nullptr;
    std::size_t stride = 0;
    bool distances = false;  ///< the numbers are squared distances already

    // Rows that are bytes × unit: x·z = unit² (integers[i, j] + x_shift[i]), and the squared
    // distance from whole numbers too, free of cancellation.
    const std::int32_t* integers = nullptr;
    const std::int32_t* x_shift = nullptr;
    const std::int32_t* x_norm = nullptr;
    const std::int32_t* z_norm = nullptr;
    double unit_squared = 1;
};

/// Elements that may be read (never written) past the end of a row of a source or of a z side.
inline constexpr std::size_t padding = 64;

template <class T>
struct ProgramTile {
    std::span<const SourceTile<T>> sources;
    std::span<const T* const> x_sides;  ///< x_sides[s][i]
    std::span<const T* const> z_sides;  ///< z_sides[s][j]
    std::span<T* const> out;            ///< one pointer a row
    std::size_t columns = 0;
    std::span<T> registers;  ///< scratch: register_count × register_length(columns)
};

/// Room one register needs for rows of `columns` elements.
inline std::size_t register_length(std::size_t columns) {
    return columns + padding;
}

/// out[i][j] = the program's value for row i of x and row j of z. Returns the first row with a
/// value that is not finite (a power, root or quotient outside its domain, or an overflow), or the
/// number of rows when there is none.
std::size_t run_program(const Program& program, const ProgramTile<float>& tile);
std::size_t run_program(const Program& program, const ProgramTile<double>& tile);

}  // namespace mercer
