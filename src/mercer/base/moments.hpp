// Sums over the columns of a data set, which settle what a kernel leaves open (gamma=scale).
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// Sums over each column of a data set: enough for means, variances and the "scale" width of a
/// Gaussian kernel, without the data itself.
struct ColumnMoments {
    std::size_t rows = 0;
    std::vector<double> sum;
    std::vector<double> sum_of_squares;
};

}  // namespace mercer
