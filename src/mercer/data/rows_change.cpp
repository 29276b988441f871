// Rows made from rows: selections, other widths, other forms.
#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/rows_storage.hpp"
#include "mercer/data/rows.hpp"

namespace mercer {
namespace {

using rows_detail::at;
using rows_detail::rows_a_task;
using rows_detail::with_precision;
using Storage = Rows::Storage;

void check_positions(std::span<const std::size_t> positions, std::size_t limit, const char* what) {
    for (const std::size_t position : positions) {
        if (position < limit) continue;
        throw InvalidInput(std::string(what) + " " + std::to_string(position) +
                           " is not there: positions count from 0 and must be below " +
                           std::to_string(limit));
    }
}

template <class T>
void select_dense(const Storage& from, std::span<const std::size_t> positions, Storage& to) {
    const std::span<const T> source = from.numbers<T>();
    std::vector<T>& target = to.values<T>();
    target.resize(positions.size() * from.columns);
    parallel_ranges(positions.size(), rows_a_task, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            std::copy_n(source.data() + positions[i] * from.columns, from.columns,
                        target.data() + i * from.columns);
        }
    });
}

template <class T>
void select_sparse(const Storage& from, std::span<const std::size_t> positions, Storage& to) {
    to.starts.assign(positions.size() + 1, 0);
    for (std::size_t i = 0; i < positions.size(); ++i) {
        const std::size_t p = positions[i];
        to.starts[i + 1] = to.starts[i] + (from.starts[p + 1] - from.starts[p]);
    }
    to.index.resize(to.starts.back());
    to.values<T>().resize(to.starts.back());
    parallel_ranges(positions.size(), rows_a_task, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const std::size_t count = to.starts[i + 1] - to.starts[i];
            const std::size_t source = from.starts[positions[i]];
            std::copy_n(from.column_index().data() + source, count, to.index.data() + to.starts[i]);
            std::copy_n(from.numbers<T>().data() + source, count,
                        to.values<T>().data() + to.starts[i]);
        }
    });
}

template <class T>
void select_dense_columns(const Storage& from, std::span<const std::size_t> columns, Storage& to) {
    std::vector<T>& target = to.values<T>();
    target.resize(from.rows * columns.size());
    parallel_ranges(from.rows, rows_a_task, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const T* source = from.numbers<T>().data() + i * from.columns;
            T* out = target.data() + i * columns.size();
            for (std::size_t j = 0; j < columns.size(); ++j) out[j] = source[columns[j]];
        }
    });
}

template <class T>
void select_sparse_columns(const Storage& from, std::span<const std::size_t> columns, Storage& to) {
    // (old column, new column), sorted by the old: a column may be wanted more than once. A row is
    // merged against this list by binary search, so that no table of `from.columns` is needed.
    std::vector<std::pair<std::size_t, std::uint32_t>> wanted(columns.size());
    for (std::size_t j = 0; j < columns.size(); ++j) {
        wanted[j] = {columns[j], static_cast<std::uint32_t>(j)};
    }
    std::sort(wanted.begin(), wanted.end());
    std::vector<std::pair<std::uint32_t, T>> row;
    to.starts.assign(1, 0);
    to.starts.reserve(from.rows + 1);
    for (std::size_t i = 0; i < from.rows; ++i) {
        row.clear();
        for (std::size_t k = from.starts[i]; k < from.starts[i + 1]; ++k) {
            const std::size_t old = from.column_index()[k];
            auto found = std::lower_bound(wanted.begin(), wanted.end(), std::pair{old, 0U});
            for (; found != wanted.end() && found->first == old; ++found) {
                row.emplace_back(found->second, from.numbers<T>()[k]);
            }
        }
        std::sort(row.begin(), row.end(),
                  [](const auto& a, const auto& b) { return a.first < b.first; });
        for (const auto& [column, value] : row) {
            to.index.push_back(column);
            to.values<T>().push_back(value);
        }
        to.starts.push_back(to.index.size());
    }
}

/// The product overflows long before memory ends, so it is checked before it is taken.
void check_dense_size(std::size_t rows, std::size_t columns) {
    if (columns == 0 || rows <= std::vector<double>().max_size() / columns) return;
    throw InvalidInput(std::to_string(rows) + " x " + std::to_string(columns) +
                       " numbers do not fit in memory as dense rows; keep them sparse");
}

template <class T>
void make_dense(const Storage& from, Storage& to) {
    check_dense_size(from.rows, from.columns);
    to.values<T>().resize(from.rows * from.columns);
    parallel_ranges(from.rows, rows_a_task, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            T* out = to.values<T>().data() + i * from.columns;
            for (std::size_t k = from.starts[i]; k < from.starts[i + 1]; ++k) {
                out[from.column_index()[k]] = from.numbers<T>()[k];
            }
        }
    });
}

template <class T>
void make_sparse(const Storage& from, Storage& to) {
    if (from.columns > std::numeric_limits<std::uint32_t>::max()) {
        throw InvalidInput(std::to_string(from.columns) +
                           " columns are too many for sparse rows, which count them in 32 bits");
    }
    to.starts.assign(from.rows + 1, 0);
    const T* source = from.numbers<T>().data();
    parallel_ranges(from.rows, rows_a_task, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const T* row = source + i * from.columns;
            const auto zeros = std::count(row, row + from.columns, T{});
            to.starts[i + 1] = from.columns - static_cast<std::size_t>(zeros);
        }
    });
    for (std::size_t i = 0; i < from.rows; ++i) to.starts[i + 1] += to.starts[i];
    to.index.resize(to.starts.back());
    to.values<T>().resize(to.starts.back());
    parallel_ranges(from.rows, rows_a_task, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            std::size_t k = to.starts[i];
            for (std::size_t j = 0; j < from.columns; ++j) {
                const T value = source[i * from.columns + j];
                if (value == T{}) continue;
                to.index[k] = static_cast<std::uint32_t>(j);
                to.values<T>()[k++] = value;
            }
        }
    });
}

template <class From, class To>
void convert(std::span<const From> from, std::vector<To>& to) {
    to.resize(from.size());
    parallel_ranges(from.size(), rows_a_task * 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t k = first; k < last; ++k) to[k] = static_cast<To>(from[k]);
    });
}

}  // namespace

Rows Rows::select(std::span<const std::size_t> positions) const {
    const Storage& s = at(storage_);
    check_positions(positions, s.rows, "row");
    Storage result = s.like();
    result.rows = positions.size();
    result.origins.resize(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) result.origins[i] = origin(positions[i]);
    with_precision(s, [&](auto zero) {
        using T = decltype(zero);
        s.sparse ? select_sparse<T>(s, positions, result) : select_dense<T>(s, positions, result);
    });
    for (ObjectColumn& column : result.objects) column = column.select(positions);
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

Rows Rows::slice(std::size_t first, std::size_t count) const {
    const Storage& s = at(storage_);
    if (first > s.rows || count > s.rows - first) {
        throw InvalidInput("rows " + std::to_string(first) + " to " +
                           std::to_string(first + count) + " are not there: there are " +
                           std::to_string(s.rows));
    }
    Storage result = s.like();
    result.rows = count;
    result.origins.resize(count);
    for (std::size_t i = 0; i < count; ++i) result.origins[i] = origin(first + i);
    if (!result.objects.empty()) {
        std::vector<std::size_t> positions(count);
        std::iota(positions.begin(), positions.end(), first);
        for (ObjectColumn& column : result.objects) column = column.select(positions);
    }
    if (!storage_) return *this;
    result.owner = storage_;
    std::size_t begin = first * s.columns;
    std::size_t numbers = count * s.columns;
    if (s.sparse) {
        begin = s.starts[first];
        numbers = s.starts[first + count] - begin;
        result.starts.resize(count + 1);
        for (std::size_t i = 0; i <= count; ++i) result.starts[i] = s.starts[first + i] - begin;
        result.borrowed_index = s.column_index().subspan(begin, numbers);
    }
    with_precision(s, [&](auto zero) {
        using T = decltype(zero);
        const auto part = s.numbers<T>().subspan(begin, numbers);
        if constexpr (std::is_same_v<T, float>) {
            result.borrowed_floats = part;
        } else {
            result.borrowed_doubles = part;
        }
    });
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

Rows Rows::with_origins(std::vector<std::size_t> origins) const {
    if (origins.size() != size()) {
        throw InvalidInput(std::to_string(origins.size()) + " origins for " +
                           std::to_string(size()) + " rows");
    }
    Storage result = at(storage_);
    if (storage_ && !result.owner) {  // the numbers stay where they are
        const Storage& s = *storage_;
        result = s.like();
        result.starts = s.starts;
        result.owner = storage_;
        result.borrowed_floats = s.floats;
        result.borrowed_doubles = s.doubles;
        result.borrowed_index = s.index;
    }
    result.origins = std::move(origins);
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

Rows Rows::with_objects(std::vector<ObjectColumn> objects) const {
    const std::size_t rows = objects.empty() || size() > 0 ? size() : objects.front().size();
    for (std::size_t i = 0; i < objects.size(); ++i) {
        if (objects[i].size() != rows) {
            throw InvalidInput("the column " + quoted(objects[i].name()) + " has " +
                               std::to_string(objects[i].size()) + " rows, expected " +
                               std::to_string(rows));
        }
        for (std::size_t j = 0; j < i; ++j) {
            if (objects[i].name() != objects[j].name()) continue;
            throw InvalidInput("two columns are called " + quoted(objects[i].name()));
        }
    }
    if (size() == 0) {
        Storage result;
        result.rows = rows;
        result.columns = columns();
        result.sparse = true;  // of which the starts say how many rows there are
        result.starts.assign(rows + 1, 0);
        result.objects = std::move(objects);
        return Rows(std::make_shared<const Storage>(std::move(result)));
    }
    std::vector<std::size_t> origins = at(storage_).origins;
    if (origins.empty()) {
        origins.resize(rows);
        std::iota(origins.begin(), origins.end(), std::size_t{0});
    }
    Storage result = *with_origins(std::move(origins)).storage_;
    result.origins = storage_->origins;
    result.objects = std::move(objects);
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

Rows Rows::select_columns(std::span<const std::size_t> columns) const {
    const Storage& s = at(storage_);
    check_positions(columns, s.columns, "column");
    Storage result = s.like();
    result.columns = columns.size();
    with_precision(s, [&](auto zero) {
        using T = decltype(zero);
        s.sparse ? select_sparse_columns<T>(s, columns, result)
                 : select_dense_columns<T>(s, columns, result);
    });
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

Rows Rows::widened(std::size_t columns) const {
    const Storage& s = at(storage_);
    if (columns < s.columns) {
        throw InvalidInput("cannot widen rows of " + std::to_string(s.columns) + " columns to " +
                           std::to_string(columns));
    }
    if (columns == s.columns) return *this;
    Storage result = s.sparse ? s : s.like();
    result.columns = columns;
    if (!s.sparse) {
        check_dense_size(s.rows, columns);
        with_precision(s, [&](auto zero) {
            using T = decltype(zero);
            std::vector<T> wide(s.rows * columns);
            for (std::size_t i = 0; i < s.rows; ++i) {
                std::copy_n(s.numbers<T>().data() + i * s.columns, s.columns,
                            wide.data() + i * columns);
            }
            result.values<T>() = std::move(wide);
        });
    }
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

Rows Rows::owned() const {
    const Storage& s = at(storage_);
    if (!s.owner) return *this;
    Storage result = s.like();
    result.starts = s.starts;
    result.index.assign(s.column_index().begin(), s.column_index().end());
    with_precision(s, [&](auto zero) {
        using T = decltype(zero);
        result.values<T>().assign(s.numbers<T>().begin(), s.numbers<T>().end());
    });
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

Rows Rows::to_dense() const {
    const Storage& s = at(storage_);
    if (!s.sparse) return *this;
    Storage result = s.like();
    result.sparse = false;
    with_precision(s, [&](auto zero) { make_dense<decltype(zero)>(s, result); });
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

Rows Rows::to_sparse() const {
    const Storage& s = at(storage_);
    if (s.sparse) return *this;
    Storage result = s.like();
    result.sparse = true;
    with_precision(s, [&](auto zero) { make_sparse<decltype(zero)>(s, result); });
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

Rows Rows::to_float() const {
    const Storage& s = at(storage_);
    if (!s.in_double) return *this;
    Storage result = s.like();
    result.in_double = false;
    result.starts = s.starts;
    result.index.assign(s.column_index().begin(), s.column_index().end());
    convert(s.numbers<double>(), result.floats);
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

Rows Rows::to_double() const {
    const Storage& s = at(storage_);
    if (s.in_double) return *this;
    Storage result = s.like();
    result.in_double = true;
    result.starts = s.starts;
    result.index.assign(s.column_index().begin(), s.column_index().end());
    convert(s.numbers<float>(), result.doubles);
    return Rows(std::make_shared<const Storage>(std::move(result)));
}

}  // namespace mercer
