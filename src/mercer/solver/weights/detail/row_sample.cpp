#include "mercer/solver/weights/detail/row_sample.hpp"

#include <cstdint>
#include <utility>

namespace mercer {

template <class T>
ExplicitRows<T> sample_rows(const ExplicitRows<T>& rows, std::size_t stride) {
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    std::vector<T> values;
    const auto place = [](std::size_t at) { return static_cast<std::ptrdiff_t>(at); };
    for (std::size_t r = 0; r < rows.size; r += stride) {
        const std::size_t first = rows.is_sparse() ? rows.starts[r] : r * rows.columns;
        const std::size_t last = rows.is_sparse() ? rows.starts[r + 1] : first + rows.columns;
        values.insert(values.end(), rows.values.begin() + place(first),
                      rows.values.begin() + place(last));
        if (rows.is_sparse()) {
            index.insert(index.end(), rows.index.begin() + place(first),
                         rows.index.begin() + place(last));
        }
        starts.push_back(values.size());
    }
    const std::size_t size = starts.size() - 1;
    if (!rows.is_sparse()) return ExplicitRows<T>::dense(size, rows.columns, std::move(values));
    return ExplicitRows<T>::sparse(rows.columns, std::move(starts), std::move(index),
                                   std::move(values));
}

CanonicalDual sample_form(const CanonicalDual& form, std::size_t stride) {
    CanonicalDual few;
    few.has_infinite_bounds = form.has_infinite_bounds;
    few.given = form.given;
    few.general = form.general;
    few.equalities = form.equalities;
    few.target = form.target;
    few.basis = form.basis;
    const auto times = static_cast<double>(stride);
    for (std::size_t i = 0; i < form.variables; ++i) {
        if (form.row[i] % stride != 0) continue;
        few.row.push_back(form.row[i] / stride);
        few.sign.push_back(form.sign[i]);
        few.p.push_back(form.p[i]);
        few.lower.push_back(times * form.lower[i]);
        few.upper.push_back(times * form.upper[i]);
        few.flip.push_back(form.flip[i]);
        few.group.push_back(form.group[i]);
        if (form.general) few.column.push_back(form.column[i]);
    }
    few.variables = few.row.size();
    few.rows = (form.rows + stride - 1) / stride;
    return few;
}

std::vector<double> sample_point(const CanonicalDual& form, const std::vector<double>& u,
                                 std::size_t stride) {
    std::vector<double> few;
    for (std::size_t i = 0; i < form.variables; ++i) {
        if (form.row[i] % stride == 0) few.push_back(static_cast<double>(stride) * u[i]);
    }
    return few;
}

template ExplicitRows<float> sample_rows(const ExplicitRows<float>&, std::size_t);
template ExplicitRows<double> sample_rows(const ExplicitRows<double>&, std::size_t);

}  // namespace mercer
