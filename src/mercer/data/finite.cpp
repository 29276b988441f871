#include "mercer/data/rows.hpp"

#include <cmath>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

void refuse(std::size_t row, std::size_t column, double value) {
    throw InvalidInput("row " + std::to_string(row + 1) + ", column " + std::to_string(column + 1) +
                       " is " + format_number(value) +
                       "; values must be finite: leave the row out or fill the value in");
}

template <class T>
void check_as(const Rows& rows) {
    if (!rows.is_sparse()) {
        const MatrixView<const T> view = rows.dense_view<T>();
        for (std::size_t i = 0; i < view.rows; ++i) {
            const auto row = view.row(i);
            for (std::size_t k = 0; k < row.size(); ++k) {
                if (!std::isfinite(row[k])) {
                    refuse(rows.origin(i), k, static_cast<double>(row[k]));
                }
            }
        }
        return;
    }
    const SparseView<T> view = rows.sparse_view<T>();
    for (std::size_t i = 0; i < view.rows; ++i) {
        const auto values = view.row_value(i);
        for (std::size_t k = 0; k < values.size(); ++k) {
            if (!std::isfinite(values[k])) {
                refuse(rows.origin(i), view.row_index(i)[k], static_cast<double>(values[k]));
            }
        }
    }
}

}  // namespace

void require_finite(const Rows& rows) {
    if (rows.size() == 0) return;
    rows.is_double() ? check_as<double>(rows) : check_as<float>(rows);
}

}  // namespace mercer
