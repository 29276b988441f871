// Cells learnt by several ranks, each of which has all rows and learns some of the cells.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/dist/communicator.hpp"
#include "mercer/learn/cells/cells.hpp"

namespace mercer {

/// What is said of all cells besides their machines.
struct CellNews {
    bool log_odds = false;  ///< decisions of some are log-odds
    bool late = false;      ///< the time was over before all were learnt
    std::string refused{};  ///< why some cell refused its rows; empty: none did
};

class RankCells {
   public:
    /// By the rows of each cell alone. The ranks must outlive it.
    RankCells(Communicator& ranks, const std::vector<std::vector<std::size_t>>& rows);

    /// Those that this rank is to learn.
    const std::vector<std::size_t>& own() const { return own_; }
    /// Tells all what came of the cells that each has learnt.
    void exchange(std::vector<Cell>& cells, CellNews& news) const;

   private:
    Communicator& ranks_;
    std::vector<std::size_t> rank_of_;
    std::vector<std::size_t> own_{};
};

}  // namespace mercer
