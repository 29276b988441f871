// Weighted sums of rows, where the memory traffic of solvers is.
#pragma once

#include <cstddef>
#include <span>

namespace mercer {

/// sum_j += Σ_r weight_r rows[r][j], in double precision and in the order of the rows. Reads each
/// entry once, 4 bytes for 2 flops in float: bound by memory. On the calling thread.
template <class T>
void add_weighted_rows(std::span<const T* const> rows, std::span<const double> weight,
                       std::span<double> sum);

/// The same with columns shared out to threads; the result is the same whatever their number.
template <class T>
void add_weighted_rows_in_parallel(std::span<const T* const> rows, std::span<const double> weight,
                                   std::span<double> sum);

/// out[r] = Σ_j rows[r][j] x[j], in double precision. On the calling thread.
template <class T>
void row_products(std::span<const T* const> rows, std::span<const double> x, std::span<double> out);

/// sum_c += Σ_r weight_r rows[r][columns[c]] of rows that are `length` long, likewise in parallel.
template <class T>
void add_weighted_columns(std::span<const T* const> rows, std::size_t length,
                          std::span<const double> weight, std::span<const std::size_t> columns,
                          std::span<double> sum);
/// The same, where whoever has other parts of the rows must go the same way: by sums over whole
/// rows, or column by column, which rounds otherwise.
template <class T>
void add_weighted_columns(std::span<const T* const> rows, std::size_t length,
                          std::span<const double> weight, std::span<const std::size_t> columns,
                          std::span<double> sum, bool whole);
/// Which of them is the quicker.
inline bool whole_rows_are_quicker(std::size_t columns, std::size_t length) {
    return 8 * columns > length;
}

}  // namespace mercer
