#include "mercer/data/rows.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace mercer {
namespace {

struct Ranges {
    std::vector<double> low;
    std::vector<double> high;
    std::vector<std::size_t> entries;

    explicit Ranges(std::size_t columns)
        : low(columns, std::numeric_limits<double>::infinity()),
          high(columns, -std::numeric_limits<double>::infinity()),
          entries(columns, 0) {}
    void see(std::size_t column, double value) {
        // What is no number makes the range no number either.
        low[column] = value < low[column] || std::isnan(value) ? value : low[column];
        high[column] = value > high[column] || std::isnan(value) ? value : high[column];
    }
};

template <class T>
Ranges ranges_of(const Rows& rows) {
    Ranges ranges(rows.columns());
    if (!rows.is_sparse()) {
        const MatrixView<const T> x = rows.dense_view<T>();
        for (std::size_t i = 0; i < x.rows; ++i) {
            for (std::size_t j = 0; j < x.columns; ++j) {
                ranges.see(j, static_cast<double>(x(i, j)));
            }
        }
        return ranges;
    }
    const SparseView<T> x = rows.sparse_view<T>();
    for (std::size_t i = 0; i < x.rows; ++i) {
        const auto index = x.row_index(i);
        const auto value = x.row_value(i);
        for (std::size_t k = 0; k < index.size(); ++k) {
            ranges.see(index[k], static_cast<double>(value[k]));
            ++ranges.entries[index[k]];
        }
    }
    for (std::size_t j = 0; j < x.columns; ++j) {
        if (ranges.entries[j] < x.rows) ranges.see(j, 0);
    }
    return ranges;
}

}  // namespace

std::optional<std::size_t> column_hurt_by_single(const Rows& rows) {
    constexpr double half_ulp = 0x1p-24;  // of a float, relative to it
    constexpr double harmless = 1e-5;
    const Ranges r = rows.is_double() ? ranges_of<double>(rows) : ranges_of<float>(rows);
    for (std::size_t j = 0; j < rows.columns(); ++j) {
        const double largest = std::max(std::abs(r.low[j]), std::abs(r.high[j]));
        const double spread = r.high[j] - r.low[j];
        if (!(largest <= static_cast<double>(std::numeric_limits<float>::max()))) return j;
        if (spread == 0 && (rows.is_double() || largest == 0)) continue;
        if (!(half_ulp * largest <= harmless * spread)) return j;
    }
    return std::nullopt;
}

}  // namespace mercer
