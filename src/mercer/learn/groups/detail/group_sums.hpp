// Sums of kernel values over groups of rows, each pair of rows computed once. For kernel_lloyd.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "mercer/base/matrix.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer {

/// sums(c, i) = Σ_{j in c} weights[j] k(x_j, x_i) over the rows of the reference sample, group[j]
/// of which is that of row j. No kernel value is kept: each goes into the sums of both of its rows
/// as long as it is near the processor, which halves the values of a sum row by row. `ask` is
/// called now and then on the calling thread, and may throw. Returns how many values were computed.
template <class T>
std::uint64_t group_sums(const Gram<T>& gram, std::span<const std::size_t> group,
                         std::span<const double> weights, const std::function<void()>& ask,
                         MatrixView<double> sums);

extern template std::uint64_t group_sums(const Gram<float>&, std::span<const std::size_t>,
                                         std::span<const double>, const std::function<void()>&,
                                         MatrixView<double>);
extern template std::uint64_t group_sums(const Gram<double>&, std::span<const std::size_t>,
                                         std::span<const double>, const std::function<void()>&,
                                         MatrixView<double>);

}  // namespace mercer
