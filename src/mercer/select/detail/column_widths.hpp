// A width for each column, by maximal evidence: a product of kernels on single columns whose
// parameters a Gaussian process finds on some rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer {

enum class ColumnShape {
    smooth,  ///< Gaussians
    kinked,  ///< Laplacians: continuous functions with kinks, closer to what trees find
};

struct ColumnWidths {
    std::string kernel{};  ///< factor * product over the columns
    double noise = 0.1;
    double evidence = 0;
};

/// A product of kernels of that shape, one a column of `width`, as a place to begin.
std::string product_of_columns(ColumnShape shape, std::size_t width);

/// Classes, of which there must be two, as ±1: what tells them apart has the same columns.
Dataset as_numbers(const Dataset& data);

/// Widths, factor and noise on at most `rows` of the data, from `start` (its noise too) on. The
/// settings say scaling, seed and the time. None where the evidence is nowhere defined.
std::optional<ColumnWidths> find_widths(const Dataset& data, const ColumnWidths& start,
                                        const FitSettings& common, std::size_t rows,
                                        std::size_t steps);

}  // namespace mercer
