#include "mercer/data/scaling.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/entries.hpp"
#include "mercer/data/detail/memory.hpp"

namespace mercer {
namespace {

using Kind = ScalingRule::Kind;

constexpr std::size_t dense_limit = std::size_t{4} << 30;  // bytes

// ---- Column statistics -------------------------------------------------------------------------

struct ColumnRange {
    std::vector<double> sum;
    std::vector<double> low;
    std::vector<double> high;
    std::vector<std::size_t> entries;  ///< stored entries; the other rows have 0 there

    explicit ColumnRange(std::size_t columns)
        : sum(columns, 0.0),
          low(columns, std::numeric_limits<double>::infinity()),
          high(columns, -std::numeric_limits<double>::infinity()),
          entries(columns, 0) {}
};

template <class Visit>
void visit_entries(const Rows& rows, std::size_t first, std::size_t last, Visit&& visit) {
    if (rows.is_double()) {
        visit_entries<double>(rows, first, last, visit);
    } else {
        visit_entries<float>(rows, first, last, visit);
    }
}

/// At most 16 pieces, cut by the number of rows alone: the sums come out the same for any number
/// of threads, and a wide sparse set does not need a copy of its columns for each small piece.
std::size_t piece_size(std::size_t rows) {
    return std::max<std::size_t>(1024, (rows + 15) / 16);
}

/// make(first, last) of each piece, given to add in their order. Of wide rows only some are held at
/// a time: 16 times the statistics of a million columns would be half a gigabyte.
template <class Make, class Add>
void add_pieces(const Rows& rows, const Make& make, const Add& add) {
    const std::size_t grain = piece_size(rows.size());
    const std::size_t count = (rows.size() + grain - 1) / grain;
    constexpr std::size_t most_columns = std::size_t{1} << 21;
    const std::size_t held = std::clamp<std::size_t>(most_columns / (rows.columns() + 1), 1, 16);
    using Piece = decltype(make(std::size_t{0}, std::size_t{0}));
    for (std::size_t first = 0; first < count; first += held) {
        std::vector<std::optional<Piece>> pieces(std::min(held, count - first));
        parallel_for(pieces.size(), [&](std::size_t p) {
            const std::size_t row = (first + p) * grain;
            pieces[p] = make(row, std::min(rows.size(), row + grain));
        });
        for (const std::optional<Piece>& piece : pieces) add(*piece);
    }
}

ColumnRange column_ranges(const Rows& rows) {
    ColumnRange total(rows.columns());
    const auto ranges_of = [&](std::size_t first, std::size_t last) {
        ColumnRange piece(rows.columns());
        visit_entries(rows, first, last, [&](std::size_t j, double value) {
            if (!std::isfinite(value)) {
                throw InvalidInput("column " + std::to_string(j) +
                                   " holds a value that is not a finite number; "
                                   "remove or impute it before scaling");
            }
            piece.sum[j] += value;
            piece.low[j] = std::min(piece.low[j], value);
            piece.high[j] = std::max(piece.high[j], value);
            ++piece.entries[j];
        });
        return piece;
    };
    add_pieces(rows, ranges_of, [&](const ColumnRange& piece) {
        for (std::size_t j = 0; j < rows.columns(); ++j) {
            total.sum[j] += piece.sum[j];
            total.low[j] = std::min(total.low[j], piece.low[j]);
            total.high[j] = std::max(total.high[j], piece.high[j]);
            total.entries[j] += piece.entries[j];
        }
    });
    for (std::size_t j = 0; j < rows.columns(); ++j) {
        if (total.entries[j] == rows.size()) continue;
        total.low[j] = std::min(total.low[j], 0.0);
        total.high[j] = std::max(total.high[j], 0.0);
    }
    return total;
}

/// Square root of the mean squared distance to `mean`: the second pass, free of the cancellation
/// that the sum of squares minus the squared sum suffers from.
std::vector<double> deviations(const Rows& rows, const std::vector<double>& mean,
                               const std::vector<std::size_t>& entries) {
    std::vector<double> result(rows.columns(), 0.0);
    const auto squares_of = [&](std::size_t first, std::size_t last) {
        std::vector<double> squares(rows.columns(), 0.0);
        visit_entries(rows, first, last, [&](std::size_t j, double value) {
            squares[j] += (value - mean[j]) * (value - mean[j]);
        });
        return squares;
    };
    add_pieces(rows, squares_of, [&](const std::vector<double>& piece) {
        for (std::size_t j = 0; j < result.size(); ++j) result[j] += piece[j];
    });
    for (std::size_t j = 0; j < result.size(); ++j) {
        const auto zeros = static_cast<double>(rows.size() - entries[j]);
        result[j] += zeros * mean[j] * mean[j];
        result[j] = std::sqrt(result[j] / static_cast<double>(rows.size()));
    }
    return result;
}

}  // namespace

Scaling Scaling::fit(const ScalingRule& rule, const Rows& rows) {
    rule.check("scaling");
    Scaling result;
    if (rows.columns() == 0 && !rows.objects().empty()) return result;  // texts have no scale
    result.rule_ = rule;
    if (rule.kind != Kind::standard && rule.kind != Kind::minmax) return result;
    check_columns(rows, 64, "scaling");
    if (rows.size() == 0 || rows.columns() == 0) {
        throw InvalidInput("scaling " + rule.text() +
                           " needs at least one row and one column; got " +
                           std::to_string(rows.size()) + " rows and " +
                           std::to_string(rows.columns()) + " columns");
    }
    ColumnRange range = column_ranges(rows);
    if (rule.kind == Kind::minmax) {
        result.center_ = range.low;
        result.spread_.resize(rows.columns());
        std::transform(range.high.begin(), range.high.end(), range.low.begin(),
                       result.spread_.begin(), std::minus<>());
    } else {
        for (double& sum : range.sum) sum /= static_cast<double>(rows.size());
        result.center_ = std::move(range.sum);
        result.spread_ = deviations(rows, result.center_, range.entries);
        for (std::size_t j = 0; j < rows.columns(); ++j) {
            // Rounding leaves a constant column with a mean an ulp away and a deviation above 0.
            if (range.low[j] == range.high[j]) {
                result.center_[j] = range.low[j];
                result.spread_[j] = 0;
            }
        }
    }
    for (std::size_t j = 0; j < rows.columns(); ++j) {
        if (!std::isfinite(result.center_[j]) || !std::isfinite(result.spread_[j])) {
            throw InvalidInput("column " + std::to_string(j) + " spreads from " +
                               format_number(range.low[j]) + " to " + format_number(range.high[j]) +
                               ", too wide for scaling " + rule.text() +
                               "; scale it by a constant factor first");
        }
    }
    return result;
}

double Scaling::mapped(std::size_t column, double value) const {
    const double low = rule_.kind == Kind::minmax ? rule_.low : 0;
    if (spread_[column] == 0) {
        return rule_.kind == Kind::minmax && (rule_.low > 0 || rule_.high < 0) ? low : 0;
    }
    const double z = (value - center_[column]) / spread_[column];
    return rule_.kind == Kind::minmax ? low + (rule_.high - rule_.low) * z : z;
}

bool Scaling::keeps_zeros() const {
    for (std::size_t j = 0; j < center_.size(); ++j) {
        if (mapped(j, 0) != 0) return false;
    }
    return true;
}

namespace {

/// Each entry e of row i becomes map(i, column of e, value of e); the shape stays.
template <class T, class Map>
Rows map_entries(const Rows& rows, const Map& map) {
    constexpr std::size_t grain = 1024;
    if (rows.is_sparse()) {
        const SparseView<T> view = rows.sparse_view<T>();
        const std::size_t first = view.rows == 0 ? 0 : view.starts[0];
        std::vector<std::size_t> starts(view.rows + 1, 0);
        for (std::size_t i = 0; i < view.rows; ++i) starts[i + 1] = view.starts[i + 1] - first;
        std::vector<T> values(view.nonzeros());
        parallel_ranges(view.rows, grain, [&](std::size_t begin, std::size_t end) {
            for (std::size_t i = begin; i < end; ++i) {
                const auto index = view.row_index(i);
                const auto value = view.row_value(i);
                for (std::size_t e = 0; e < index.size(); ++e) {
                    values[starts[i] + e] = static_cast<T>(
                        map(i, std::size_t{index[e]}, static_cast<double>(value[e])));
                }
            }
        });
        std::vector<std::uint32_t> index(view.index + first, view.index + first + values.size());
        return Rows::sparse(std::move(starts), std::move(index), std::move(values), view.columns);
    }
    const MatrixView<const T> view = rows.dense_view<T>();
    std::vector<T> values(view.rows * view.columns);
    parallel_ranges(view.rows, grain, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const std::span<const T> row = view.row(i);
            for (std::size_t j = 0; j < row.size(); ++j) {
                values[i * view.columns + j] =
                    static_cast<T>(map(i, j, static_cast<double>(row[j])));
            }
        }
    });
    return Rows::dense(std::move(values), view.columns);
}

/// Lengths of all rows, safe from overflow: each row is measured in units of its largest entry.
std::vector<double> row_lengths(const Rows& rows) {
    std::vector<double> result(rows.size(), 0.0);
    parallel_ranges(rows.size(), 1024, [&](std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            double largest = 0;
            visit_entries(rows, i, i + 1, [&](std::size_t, double value) {
                largest = std::max(largest, std::abs(value));
            });
            if (largest == 0) continue;
            double sum = 0;
            visit_entries(rows, i, i + 1, [&](std::size_t, double value) {
                sum += (value / largest) * (value / largest);
            });
            result[i] = largest * std::sqrt(sum);
        }
    });
    return result;
}

}  // namespace

template <class T>
Rows Scaling::apply_as(const Rows& rows) const {
    if (rule_.kind == Kind::factor) {
        return map_entries<T>(
            rows, [&](std::size_t, std::size_t, double value) { return rule_.factor * value; });
    }
    if (rule_.kind == Kind::unit) {
        const std::vector<double> lengths = row_lengths(rows);
        return map_entries<T>(rows, [&](std::size_t i, std::size_t, double value) {
            return lengths[i] > 0 ? value / lengths[i] : value;
        });
    }
    return map_entries<T>(
        rows, [&](std::size_t, std::size_t j, double value) { return mapped(j, value); });
}

Rows Scaling::apply(const Rows& rows) const {
    if (rule_.kind == Kind::none) return rows;
    Rows source = rows;
    if (!center_.empty()) {
        if (rows.columns() > center_.size()) {
            throw InvalidInput("the rows have " + std::to_string(rows.columns()) +
                               " columns, but the scaling was fitted on " +
                               std::to_string(center_.size()) +
                               "; fit it on data that has all the columns");
        }
        if (rows.columns() < center_.size() && !rows.is_sparse()) {
            throw InvalidInput("the rows have " + std::to_string(rows.columns()) +
                               " columns, but the scaling was fitted on " +
                               std::to_string(center_.size()) +
                               "; every one must be there, since these are no sparse rows");
        }
        if (rows.columns() < center_.size()) source = rows.widened(center_.size());
        if (source.is_sparse() && !keeps_zeros()) {
            const std::size_t width = source.columns() * (source.is_double() ? 8 : 4);
            if (source.size() > dense_limit / width) {
                throw InvalidInput("scaling " + rule_.text() + " would fill the zeros of " +
                                   std::to_string(source.size()) + " sparse rows of " +
                                   std::to_string(source.columns()) +
                                   " columns, more than 4 GiB; use unit, a constant factor, or a "
                                   "minmax range that keeps zeros");
            }
            source = source.to_dense();
        }
    }
    const Rows scaled = source.is_double() ? apply_as<double>(source) : apply_as<float>(source);
    if (rows.objects().empty()) return scaled;
    return scaled.with_objects({rows.objects().begin(), rows.objects().end()});
}

Rows Scaling::undo(const Rows& rows) const {
    if (rule_.kind == Kind::none) return rows;
    if (rule_.kind == Kind::unit) {
        throw InvalidInput("scaling unit cannot be undone: it forgets the length of each row");
    }
    if (!center_.empty() && rows.columns() != center_.size()) {
        throw InvalidInput("the rows have " + std::to_string(rows.columns()) +
                           " columns, but the scaling was fitted on " +
                           std::to_string(center_.size()));
    }
    const auto original = [&](std::size_t j, double value) {
        if (rule_.kind == Kind::factor) return value / rule_.factor;
        if (spread_[j] == 0) return center_[j];
        const double width = rule_.kind == Kind::minmax ? rule_.high - rule_.low : 1;
        const double low = rule_.kind == Kind::minmax ? rule_.low : 0;
        return center_[j] + spread_[j] * (value - low) / width;
    };
    std::vector<double> values(rows.size() * rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const std::span<double> row(values.data() + i * rows.columns(), rows.columns());
        rows.copy_row(i, row);
        for (std::size_t j = 0; j < row.size(); ++j) row[j] = original(j, row[j]);
    }
    return Rows::dense(std::move(values), rows.columns());
}

}  // namespace mercer
