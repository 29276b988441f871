// Pairwise sums over columns whose derivative in a parameter is a sum over columns too, and so
// cannot be had from the Gram engine: |x−z|₁, the periodic kernel's sine sum, anova.
#pragma once

#include <cstddef>
#include <span>

#include "mercer/data/rows.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {

/// A window of pairs of rows of one sample.
struct PairWindow {
    std::size_t first_row = 0;
    std::size_t rows = 0;
    std::size_t first_column = 0;
    std::size_t columns = 0;
};

/// value[i * columns + j] = the number of the pair, slope likewise its derivative in the parameter
/// it depends on (may be empty). For absolute, sine and anova. Runs on the calling thread.
void column_numbers(PairNumber number, const KernelNode& leaf, const Rows& sample,
                    const PairWindow& window, std::span<double> value, std::span<double> slope);

}  // namespace mercer
