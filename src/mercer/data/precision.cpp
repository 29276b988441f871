#include "mercer/data/rows.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

/// The columns of sparse rows that hold something, where they are few among all of them: a file may
/// claim thousands of millions. Empty: all columns are looked at.
template <class T>
std::vector<std::uint32_t> used_among_many(const Rows& rows) {
    if (!rows.is_sparse() || rows.columns() <= 2 * rows.nonzeros() + 1000) return {};
    const SparseView<T> x = rows.sparse_view<T>();
    std::vector<std::uint32_t> used;
    for_blocks(rows, [&](std::size_t first, std::size_t count) {
        used.insert(used.end(), x.index + x.starts[first], x.index + x.starts[first + count]);
        std::sort(used.begin(), used.end());
        used.erase(std::unique(used.begin(), used.end()), used.end());
    });
    return used;
}

template <class T>
Ranges ranges_of(const Rows& rows, const std::vector<std::uint32_t>& used) {
    const std::size_t columns = used.empty() ? rows.columns() : used.size();
    Ranges ranges(columns);
    if (!rows.is_sparse()) {
        const MatrixView<const T> x = rows.dense_view<T>();
        for_blocks(rows, [&](std::size_t first, std::size_t count) {
            for (std::size_t i = first; i < first + count; ++i) {
                for (std::size_t j = 0; j < x.columns; ++j) {
                    ranges.see(j, static_cast<double>(x(i, j)));
                }
            }
        });
        return ranges;
    }
    const SparseView<T> x = rows.sparse_view<T>();
    const auto place_of_column = [&](std::uint32_t column) {
        if (used.empty()) return std::size_t{column};
        const auto found = std::lower_bound(used.begin(), used.end(), column);
        return static_cast<std::size_t>(found - used.begin());
    };
    for_blocks(rows, [&](std::size_t first, std::size_t count) {
        for (std::size_t k = x.starts[first]; k < x.starts[first + count]; ++k) {
            const std::size_t j = place_of_column(x.index[k]);
            ranges.see(j, static_cast<double>(x.value[k]));
            ++ranges.entries[j];
        }
    });
    for (std::size_t j = 0; j < columns; ++j) {
        if (ranges.entries[j] < x.rows) ranges.see(j, 0);
    }
    return ranges;
}

}  // namespace

std::optional<std::size_t> column_hurt_by_single(const Rows& rows) {
    constexpr double half_ulp = 0x1p-24;  // of a float, relative to it
    constexpr double harmless = 1e-5;
    if (rows.is_sparse() && rows.nonzeros() == 0) return std::nullopt;
    const std::vector<std::uint32_t> used =
        rows.is_double() ? used_among_many<double>(rows) : used_among_many<float>(rows);
    const Ranges r =
        rows.is_double() ? ranges_of<double>(rows, used) : ranges_of<float>(rows, used);
    const auto column = [&](std::size_t j) { return used.empty() ? j : std::size_t{used[j]}; };
    for (std::size_t j = 0; j < r.low.size(); ++j) {
        const double largest = std::max(std::abs(r.low[j]), std::abs(r.high[j]));
        const double spread = r.high[j] - r.low[j];
        if (!(largest <= static_cast<double>(std::numeric_limits<float>::max()))) {
            return column(j);
        }
        if (spread == 0 && (rows.is_double() || largest == 0)) continue;
        if (!(half_ulp * largest <= harmless * spread)) return column(j);
    }
    return std::nullopt;
}

}  // namespace mercer
