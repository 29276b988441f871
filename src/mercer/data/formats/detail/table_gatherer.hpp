// Tables of numbers put together from parts, in memory or in a temporary file.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "mercer/data/formats/detail/table_rows.hpp"
#include "mercer/data/formats/detail/windows.hpp"

namespace mercer::formats {

/// Rows that are looked at together.
inline std::size_t gathered_block(std::size_t columns) {
    constexpr std::size_t numbers = std::size_t{1} << 21;
    return std::max<std::size_t>(1, numbers / columns);
}

/// Of some columns all values but the missing ones, in the order of the rows.
template <class T>
std::vector<std::vector<T>> present_values(const Store<T>& values, std::size_t columns,
                                           std::span<const std::size_t> which) {
    const std::size_t rows = values.size() / columns;
    std::vector<std::vector<T>> present(which.size());
    std::vector<T> some;
    for (std::size_t first = 0; first < rows; first += gathered_block(columns)) {
        some.resize(std::min(gathered_block(columns), rows - first) * columns);
        values.fetch(first * columns, some);
        for (std::size_t k = 0; k < which.size(); ++k) {
            for (std::size_t at = which[k]; at < some.size(); at += columns) {
                if (!std::isnan(some[at])) present[k].push_back(some[at]);
            }
        }
    }
    return present;
}

/// Rows gathered part by part; beyond what may be in memory they wait in a file. Their columns
/// stand as `order` of the layout wants them.
template <class T>
class TableGatherer {
   public:
    TableGatherer(const Input& input, const TableLayout& layout)
        : input_(input),
          layout_(layout),
          columns_(layout.features()),
          holding_(input.options, input.name),
          gaps_(columns_, 0) {}

    void append(const Input& window, TablePart<T>&& part) {
        note_gaps(part);
        put_in_order(part.values);
        values_.append(part.values);
        holding_.keep(values_);
        labels_.append(window, std::move(part.labels));
        weights_.insert(weights_.end(), part.weights.begin(), part.weights.end());
        rows_ += part.rows;
        rounded_ |= part.rounded;
    }

    bool is_rounded() const { return rounded_; }

    Dataset finish() {
        Dataset data = table_outline(input_, layout_, rows_);
        fill_gaps();
        data.y = labels_.finish();
        name_classes(layout_, data.y);
        data.weights = std::move(weights_);
        data.x = dense_rows(values_, columns_);
        return data;
    }

   private:
    void note_gaps(const TablePart<T>& part) {
        if (!part.missing) return;
        for (std::size_t k = 0; k < part.values.size(); ++k) {
            if (std::isnan(part.values[k])) gaps_[k % columns_] = 1;
        }
    }

    void put_in_order(std::vector<T>& values) const {
        if (layout_.order.empty()) return;
        std::vector<T> row(columns_);
        for (std::size_t from = 0; from < values.size(); from += columns_) {
            std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(from), columns_, row.begin());
            for (std::size_t j = 0; j < columns_; ++j) values[from + j] = row[layout_.order[j]];
        }
    }

    /// As many columns at a time are looked at as memory may hold.
    void fill_gaps() {
        if (std::ranges::find(gaps_, char{1}) == gaps_.end()) return;
        const std::vector<std::size_t> positions = feature_positions(layout_);
        // In the order of the file, so that the first column without any value is the one named.
        std::vector<std::size_t> place(columns_), open, here;
        for (std::size_t j = 0; j < columns_; ++j) {
            place[layout_.order.empty() ? j : layout_.order[j]] = j;
        }
        for (std::size_t f = 0; f < columns_; ++f) {
            if (gaps_[f] == 0) continue;
            open.push_back(f);
            here.push_back(place[f]);
        }
        std::vector<T> with(columns_, T{});
        const bool zero = input_.options.missing == MissingValues::zero;
        const std::size_t at_once =
            std::max<std::size_t>(1, holding_.most / 2 / (rows_ * sizeof(T)));
        for (std::size_t from = 0; from < open.size() && !zero; from += at_once) {
            const std::size_t count = std::min(at_once, open.size() - from);
            auto present = present_values(values_, columns_, std::span(here).subspan(from, count));
            for (std::size_t k = 0; k < count; ++k) {
                with[here[from + k]] = replacement(input_, std::move(present[k]),
                                                   layout_.column_text(positions[open[from + k]]));
            }
        }
        put_into_gaps(with);
    }

    void put_into_gaps(const std::vector<T>& with) {
        std::vector<T> some;
        for (std::size_t first = 0; first < rows_; first += gathered_block(columns_)) {
            some.resize(std::min(gathered_block(columns_), rows_ - first) * columns_);
            values_.fetch(first * columns_, some);
            bool any = false;
            for (std::size_t k = 0; k < some.size(); ++k) {
                if (!std::isnan(some[k])) continue;
                some[k] = with[k % columns_];
                any = true;
            }
            if (any) values_.replace(first * columns_, some);
        }
    }

    const Input& input_;
    const TableLayout& layout_;
    std::size_t columns_;
    Holding holding_;
    Store<T> values_{};
    LabelGatherer labels_{};
    std::vector<double> weights_{};
    std::size_t rows_ = 0;
    bool rounded_ = false;
    std::vector<char> gaps_;  ///< columns of the file with a missing value
};

}  // namespace mercer::formats
