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

/// Kernels on single columns: their product, in which all columns act together, and perhaps their
/// sum beside it, in which each acts by itself (Duvenaud, Nickisch and Rasmussen 2011).
struct ColumnShape {
    bool kinked = false;  ///< Laplacians: functions with kinks, closer to what trees find
    bool with_sum = false;

    std::string name() const;  ///< for people
};

struct ColumnWidths {
    std::string kernel{};  ///< factor * product over the columns, and their sum where wished
    double noise = 0.1;
    double evidence = 0;
};

/// A kernel of that shape over `width` columns, as a place to begin.
std::string kernel_of_columns(const ColumnShape& shape, std::size_t width);

/// Widths, factor and noise on at most `rows` of the data, from `start` (its noise too) on. The
/// settings say scaling, seed and the time. None where the evidence is nowhere defined.
///
/// Where the labels are not numbers, those for telling classes apart: each class against the rest
/// as ±1, and of several the mean, since a column matters that matters to one of them.
std::optional<ColumnWidths> find_widths(const Dataset& data, bool numbers,
                                        const ColumnWidths& start, const FitSettings& common,
                                        std::size_t rows, std::size_t steps);

}  // namespace mercer
