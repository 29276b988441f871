#include "mercer/data/rows.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/rows_storage.hpp"

namespace mercer {
namespace {

using rows_detail::at;
using rows_detail::rows_a_task;
using rows_detail::with_precision;
using Storage = Rows::Storage;

template <class T>
Storage dense_storage(std::vector<T> values, std::size_t columns) {
    if (columns == 0 ? !values.empty() : values.size() % columns != 0) {
        throw InvalidInput(std::to_string(values.size()) + " numbers do not make whole rows of " +
                           std::to_string(columns) + " columns");
    }
    Storage storage;
    storage.rows = columns == 0 ? 0 : values.size() / columns;
    storage.columns = columns;
    storage.in_double = std::is_same_v<T, double>;
    storage.values<T>() = std::move(values);
    return storage;
}

/// Row first in [first, last) that breaks the rules of SparseView, or last.
std::size_t first_bad_row(const std::vector<std::size_t>& starts,
                          std::span<const std::uint32_t> index, std::size_t columns,
                          std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
        const std::size_t begin = starts[i];
        const std::size_t end = starts[i + 1];
        if (begin > end || end > index.size()) return i;
        if (begin == end) continue;
        bool ascending = true;
        for (std::size_t k = begin + 1; k < end; ++k) ascending &= index[k - 1] < index[k];
        if (!ascending || index[end - 1] >= columns) return i;
    }
    return last;
}

void check_sparse(const std::vector<std::size_t>& starts, std::span<const std::uint32_t> index,
                  std::size_t value_count, std::size_t columns) {
    if (starts.empty() || starts.front() != 0 || starts.back() != index.size() ||
        value_count != index.size()) {
        throw InvalidInput("sparse rows: starts must run from 0 to the number of entries (" +
                           std::to_string(index.size()) + " indices, " +
                           std::to_string(value_count) + " values)");
    }
    const std::size_t rows = starts.size() - 1;
    constexpr std::size_t grain = rows_a_task * 16;
    std::vector<std::size_t> bad((rows + grain - 1) / grain, rows);
    parallel_for(bad.size(), [&](std::size_t task) {
        const std::size_t last = std::min(rows, (task + 1) * grain);
        const std::size_t found = first_bad_row(starts, index, columns, task * grain, last);
        if (found != last) bad[task] = found;
    });
    for (const std::size_t row : bad) {
        if (row == rows) continue;
        throw InvalidInput("sparse rows: row " + std::to_string(row) +
                           " must have starts in order and columns strictly increasing below " +
                           std::to_string(columns));
    }
}

template <class T>
Storage sparse_storage(std::vector<std::size_t> starts, std::vector<std::uint32_t> index,
                       std::vector<T> values, std::size_t columns) {
    check_sparse(starts, index, values.size(), columns);
    Storage storage;
    storage.rows = starts.size() - 1;
    storage.columns = columns;
    storage.sparse = true;
    storage.in_double = std::is_same_v<T, double>;
    storage.starts = std::move(starts);
    storage.index = std::move(index);
    storage.values<T>() = std::move(values);
    return storage;
}

template <class T>
void lend(Storage& storage, std::span<const T> values, std::shared_ptr<const void> owner) {
    storage.in_double = std::is_same_v<T, double>;
    // Without an owner the numbers would be taken for the storage's own.
    storage.owner = owner ? std::move(owner) : std::make_shared<const char>();
    if constexpr (std::is_same_v<T, float>) {
        storage.borrowed_floats = values;
    } else {
        storage.borrowed_doubles = values;
    }
}

template <class T>
Storage lent_dense(MatrixView<const T> values, std::shared_ptr<const void> owner) {
    if (values.stride != values.columns) {
        throw InvalidInput("borrowed rows must follow one another without gaps, but rows of " +
                           std::to_string(values.columns) + " numbers start every " +
                           std::to_string(values.stride) + "; copy them first");
    }
    Storage storage;
    storage.rows = values.rows;
    storage.columns = values.columns;
    lend(storage, std::span<const T>(values.data, values.rows * values.columns), std::move(owner));
    return storage;
}

template <class T>
Storage lent_sparse(std::vector<std::size_t> starts, std::span<const std::uint32_t> index,
                    std::span<const T> values, std::size_t columns,
                    std::shared_ptr<const void> owner) {
    check_sparse(starts, index, values.size(), columns);
    Storage storage;
    storage.rows = starts.size() - 1;
    storage.columns = columns;
    storage.sparse = true;
    storage.starts = std::move(starts);
    storage.borrowed_index = index;
    lend(storage, values, std::move(owner));
    return storage;
}

}  // namespace

Rows Rows::borrow(MatrixView<const float> values, std::shared_ptr<const void> owner) {
    return Rows(std::make_shared<const Storage>(lent_dense(values, std::move(owner))));
}

Rows Rows::borrow(MatrixView<const double> values, std::shared_ptr<const void> owner) {
    return Rows(std::make_shared<const Storage>(lent_dense(values, std::move(owner))));
}

Rows Rows::borrow(std::vector<std::size_t> starts, std::span<const std::uint32_t> index,
                  std::span<const float> values, std::size_t columns,
                  std::shared_ptr<const void> owner) {
    return Rows(std::make_shared<const Storage>(
        lent_sparse(std::move(starts), index, values, columns, std::move(owner))));
}

Rows Rows::borrow(std::vector<std::size_t> starts, std::span<const std::uint32_t> index,
                  std::span<const double> values, std::size_t columns,
                  std::shared_ptr<const void> owner) {
    return Rows(std::make_shared<const Storage>(
        lent_sparse(std::move(starts), index, values, columns, std::move(owner))));
}

Rows Rows::dense(std::vector<float> values, std::size_t columns) {
    return Rows(std::make_shared<const Storage>(dense_storage(std::move(values), columns)));
}

Rows Rows::dense(std::vector<double> values, std::size_t columns) {
    return Rows(std::make_shared<const Storage>(dense_storage(std::move(values), columns)));
}

Rows Rows::sparse(std::vector<std::size_t> starts, std::vector<std::uint32_t> index,
                  std::vector<float> values, std::size_t columns) {
    return Rows(std::make_shared<const Storage>(
        sparse_storage(std::move(starts), std::move(index), std::move(values), columns)));
}

Rows Rows::sparse(std::vector<std::size_t> starts, std::vector<std::uint32_t> index,
                  std::vector<double> values, std::size_t columns) {
    return Rows(std::make_shared<const Storage>(
        sparse_storage(std::move(starts), std::move(index), std::move(values), columns)));
}

std::size_t Rows::size() const {
    return at(storage_).rows;
}
std::size_t Rows::columns() const {
    return at(storage_).columns;
}
bool Rows::is_sparse() const {
    return at(storage_).sparse;
}
bool Rows::is_double() const {
    return at(storage_).in_double;
}

std::size_t Rows::nonzeros() const {
    const Storage& s = at(storage_);
    return s.numbers<float>().size() + s.numbers<double>().size();
}

std::size_t Rows::bytes() const {
    const Storage& s = at(storage_);
    return s.numbers<float>().size_bytes() + s.numbers<double>().size_bytes() +
           (s.starts.size() + s.origins.size()) * sizeof(std::size_t) +
           s.column_index().size_bytes() +
           std::accumulate(
               s.objects.begin(), s.objects.end(), std::size_t{0},
               [](std::size_t sum, const ObjectColumn& column) { return sum + column.bytes(); });
}

template <class T>
MatrixView<const T> Rows::dense_view() const {
    const Storage& s = at(storage_);
    if (s.sparse || s.in_double != std::is_same_v<T, double>) {
        throw InvalidInput("these rows are not stored as dense numbers of the precision asked for");
    }
    return {s.numbers<T>().data(), s.rows, s.columns};
}

template <class T>
SparseView<T> Rows::sparse_view() const {
    const Storage& s = at(storage_);
    if (!s.sparse || s.in_double != std::is_same_v<T, double>) {
        throw InvalidInput(
            "these rows are not stored as sparse numbers of the precision asked for");
    }
    return {s.rows, s.columns, s.starts.data(), s.column_index().data(), s.numbers<T>().data()};
}

template MatrixView<const float> Rows::dense_view<float>() const;
template MatrixView<const double> Rows::dense_view<double>() const;
template SparseView<float> Rows::sparse_view<float>() const;
template SparseView<double> Rows::sparse_view<double>() const;

void Rows::copy_row(std::size_t i, std::span<double> out) const {
    const Storage& s = at(storage_);
    if (i >= s.rows || out.size() != s.columns) {
        throw InvalidInput("row " + std::to_string(i) + " into " + std::to_string(out.size()) +
                           " places: there are " + std::to_string(s.rows) + " rows of " +
                           std::to_string(s.columns) + " columns");
    }
    with_precision(s, [&](auto zero) {
        using T = decltype(zero);
        const std::span<const T> values = s.numbers<T>();
        if (!s.sparse) {
            std::copy_n(values.data() + i * s.columns, s.columns, out.data());
            return;
        }
        std::fill(out.begin(), out.end(), 0.0);
        const std::span<const std::uint32_t> index = s.column_index();
        for (std::size_t k = s.starts[i]; k < s.starts[i + 1]; ++k) out[index[k]] = values[k];
    });
}

std::span<const ObjectColumn> Rows::objects() const {
    return at(storage_).objects;
}

const ObjectColumn* Rows::object(std::string_view name) const {
    for (const ObjectColumn& column : at(storage_).objects) {
        if (column.name() == name) return &column;
    }
    return nullptr;
}

std::vector<ObjectName> Rows::object_names() const {
    std::vector<ObjectName> names;
    for (const ObjectColumn& column : objects()) names.push_back({column.name(), column.kind()});
    return names;
}

void require_numbers_only(const Rows& rows, const std::string& what) {
    if (rows.objects().empty()) return;
    const ObjectColumn& column = rows.objects().front();
    throw InvalidInput("the column " + quoted(column.name()) + " holds " +
                       std::string(object_words.word(column.kind())) + ", with which " + what +
                       " can do nothing; leave it out");
}

std::size_t Rows::origin(std::size_t i) const {
    const Storage& s = at(storage_);
    return s.origins.empty() ? i : s.origins.at(i);
}

}  // namespace mercer
