// How space is cut into cells: forks of two centres, found by a few steps of 2-means on some rows
// of those that come to the fork, until no cell has more rows than it may.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mercer/learn/cells/cells.hpp"

namespace mercer {

struct GrownCells {
    CellTree tree{};
    std::vector<std::uint32_t> cell{};  ///< of each row, as the tree places it
};

/// Cells of at most `most` rows each, more only where rows are equal. The same for any number of
/// threads. Throws Cancelled as the listener says, and InvalidInput where the planes of so many
/// columns do not fit `memory_bytes`. `follow`, unless empty, are rows whose cells alone are
/// wanted: forks that lead to none of them are left out, and what is there stays one cell.
GrownCells grow_cells(const Rows& scaled, std::size_t most, std::uint64_t seed,
                      std::size_t memory_bytes, const Progress& progress,
                      std::span<const std::size_t> follow = {});

}  // namespace mercer
