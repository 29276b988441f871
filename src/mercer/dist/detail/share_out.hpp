// Pieces of work that ranks do each by itself.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <vector>

namespace mercer {

/// The rank of each piece: the longest goes to whoever has least so far, then the next.
inline std::vector<std::size_t> share_out(std::span<const double> costs, std::size_t ranks) {
    std::vector<std::size_t> order(costs.size()), rank_of(costs.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, std::ranges::greater(),
                             [&](std::size_t k) { return costs[k]; });
    std::vector<double> load(ranks, 0.0);
    for (const std::size_t piece : order) {
        const auto least = std::ranges::min_element(load);
        *least += costs[piece];
        rank_of[piece] = static_cast<std::size_t>(least - load.begin());
    }
    return rank_of;
}

}  // namespace mercer
