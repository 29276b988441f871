// The stored entries of rows, dense or sparse, one after another.
#pragma once

#include <cstddef>
#include <span>

#include "mercer/data/rows.hpp"

namespace mercer {

/// Calls visit(column, value) for the stored entries of rows [first, last).
template <class T, class Visit>
void visit_entries(const Rows& rows, std::size_t first, std::size_t last, Visit&& visit) {
    if (rows.is_sparse()) {
        const SparseView<T> view = rows.sparse_view<T>();
        for (std::size_t i = first; i < last; ++i) {
            const auto index = view.row_index(i);
            const auto value = view.row_value(i);
            for (std::size_t e = 0; e < index.size(); ++e) {
                visit(std::size_t{index[e]}, static_cast<double>(value[e]));
            }
        }
        return;
    }
    const MatrixView<const T> view = rows.dense_view<T>();
    for (std::size_t i = first; i < last; ++i) {
        const std::span<const T> row = view.row(i);
        for (std::size_t j = 0; j < row.size(); ++j) visit(j, static_cast<double>(row[j]));
    }
}

}  // namespace mercer
