// Sums Σ_p a_pc v_p of vectors v_p into several places c, of which each vector knows a few: pairs
// of classes, of which a support vector takes part in those of its own class.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"

namespace mercer {

/// The columns of a matrix of coefficients, without what is 0.
template <class T>
struct SparseColumns {
    SparseColumns() = default;
    explicit SparseColumns(MatrixView<const double> coefficients);

    std::size_t rows = 0;
    std::vector<std::size_t> starts{};  ///< of each column, and the end
    std::vector<std::uint32_t> row{};
    std::vector<T> value{};
};

/// sums[c × width …] += a_pc vectors(p, …) for the columns p of the matrix from `first` on, one for
/// each row of `vectors`, whose columns are the width: 1, 16 or 64. In T, so for short sums; their
/// bits do not depend on the width.
template <class T>
void add_scattered(const SparseColumns<T>& columns, std::size_t first, MatrixView<const T> vectors,
                   std::span<T> sums);

}  // namespace mercer
