// Labels spread over a graph of all rows, labelled or not [Zhou, Bousquet, Lal, Weston and
// Schölkopf 2004, in the research list of 001]:
//
//     W_ij = k(x_i, x_j), W_ii = 0,   S = D^(−1/2) W D^(−1/2),   F = (1 − α)(I − αS)^(−1) Y
//
// and row i belongs to the class of the largest F_ic. (I − αS)^(−1) is a kernel on the nodes of the
// graph: a sum over all walks, the longer the lighter.
//
//   const LabelSpread s = spread_labels({.kernel = rbf({.gamma = 10.0})}, labelled, unlabelled.x);
//   s.unlabelled, s.labelled;                    // labels of either part
#pragma once

#include <cstddef>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/data/scaling.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

struct SpreadSettings {
    Kernel kernel = rbf();       ///< affinity; entries below 0 are an error
    double alpha = 0.99;         ///< share that comes from the neighbours, between 0 and 1
    std::size_t neighbours = 0;  ///< only the nearest so many of each row count; 0: all
    ScalingRule scaling{};
    std::size_t memory_bytes = std::size_t{1} << 30;  ///< for the matrix of all rows
    Progress progress{};
};

struct LabelSpread {
    Labels unlabelled{};      ///< found, one a row
    Labels labelled{};        ///< found for the labelled rows, which may differ from what was given
    Matrix<double> scores{};  ///< F: labelled rows first, one column a class in the usual order
    double residual = 0;      ///< largest |(I − αS)F − (1 − α)Y|
    std::size_t unreached = 0;  ///< unlabelled rows that no labelled one reaches: the first class
};

/// Throws InvalidInput for no labels, α outside (0, 1), one class, negative affinities, and graphs
/// beyond the memory allowed. Throws Cancelled.
LabelSpread spread_labels(const SpreadSettings& settings, const Dataset& labelled,
                          const Rows& unlabelled);

}  // namespace mercer
