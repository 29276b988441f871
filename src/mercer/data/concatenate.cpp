#include "mercer/data/rows.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "mercer/base/error.hpp"

namespace mercer {
namespace {

template <class T>
Rows stack_dense(const Rows& a, const Rows& b) {
    const MatrixView<const T> first = a.dense_view<T>();
    const MatrixView<const T> second = b.dense_view<T>();
    std::vector<T> values;
    values.reserve((a.size() + b.size()) * a.columns());
    for (std::size_t i = 0; i < a.size(); ++i) {
        values.insert(values.end(), first.row(i).begin(), first.row(i).end());
    }
    for (std::size_t i = 0; i < b.size(); ++i) {
        values.insert(values.end(), second.row(i).begin(), second.row(i).end());
    }
    return Rows::dense(std::move(values), a.columns());
}

template <class T>
Rows stack_sparse(const Rows& a, const Rows& b) {
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    std::vector<T> values;
    starts.reserve(a.size() + b.size() + 1);
    index.reserve(a.nonzeros() + b.nonzeros());
    values.reserve(a.nonzeros() + b.nonzeros());
    for (const Rows* rows : {&a, &b}) {
        const SparseView<T> view = rows->sparse_view<T>();
        for (std::size_t i = 0; i < rows->size(); ++i) {
            index.insert(index.end(), view.row_index(i).begin(), view.row_index(i).end());
            values.insert(values.end(), view.row_value(i).begin(), view.row_value(i).end());
            starts.push_back(index.size());
        }
    }
    return Rows::sparse(std::move(starts), std::move(index), std::move(values), a.columns());
}

/// The numbers by themselves, then each column of objects.
Rows with_all_objects(const Rows& a, const Rows& b) {
    if (a.size() == 0) return b;
    if (b.size() == 0) return a;
    if (a.object_names() != b.object_names()) {
        throw InvalidInput("the two sets of rows have different columns of texts or graphs");
    }
    std::vector<ObjectColumn> columns;
    for (std::size_t k = 0; k < a.objects().size(); ++k) {
        columns.push_back(concatenate(a.objects()[k], b.objects()[k]));
    }
    return concatenate(a.with_objects({}), b.with_objects({})).with_objects(std::move(columns));
}

}  // namespace

Rows concatenate(const Rows& a, const Rows& b) {
    if (!a.objects().empty() || !b.objects().empty()) return with_all_objects(a, b);
    const std::size_t columns = std::max(a.columns(), b.columns());
    // Rows without columns are kept sparse, whose starts say how many there are.
    const bool sparse = a.is_sparse() || b.is_sparse() || columns == 0;
    const bool in_double = a.is_double() || b.is_double();
    const auto alike = [&](const Rows& rows) {
        const Rows form = sparse ? rows.to_sparse() : rows;
        const Rows wide = form.columns() < columns ? form.widened(columns) : form;
        return in_double ? wide.to_double() : wide;
    };
    if (a.size() == 0 && b.size() == 0) return alike(a);
    if (sparse) {
        return in_double ? stack_sparse<double>(alike(a), alike(b))
                         : stack_sparse<float>(alike(a), alike(b));
    }
    return in_double ? stack_dense<double>(alike(a), alike(b))
                     : stack_dense<float>(alike(a), alike(b));
}

}  // namespace mercer
