// Sums of rows, where the solver's memory traffic is.
#pragma once

#include <span>

#include "mercer/base/matrix.hpp"

namespace mercer {

/// sum_j += Σ_r weight_r rows(r, j), in double precision and in the order of the rows whatever the
/// number of threads. Reads each entry once, 4 bytes for 2 flops in float: bound by memory.
template <class T>
void add_weighted_rows(MatrixView<const T> rows, std::span<const double> weight,
                       std::span<double> sum);

}  // namespace mercer
