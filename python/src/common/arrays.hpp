// NumPy arrays seen as rows and matrices, and back.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/data/rows.hpp"

namespace mercer::python {

namespace nb = nanobind;

/// Keeps a Python object alive; may be given up by any thread.
std::shared_ptr<const void> keep_alive(nb::object object);

/// Numbers handed over to NumPy without a copy.
template <class T>
nb::ndarray<nb::numpy, T> give(std::vector<T> values, std::vector<std::size_t> shape) {
    auto* held = new std::vector<T>(std::move(values));
    nb::capsule owner(held, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return {held->data(), shape.size(), shape.data(), owner};
}
template <class T>
nb::ndarray<nb::numpy, T> give(Matrix<T> matrix) {
    const std::vector<std::size_t> shape{matrix.rows(), matrix.columns()};
    return give(std::move(matrix.values()), shape);
}
template <class T>
nb::ndarray<nb::numpy, T> give(std::vector<T> values) {
    const std::vector<std::size_t> shape{values.size()};
    return give(std::move(values), shape);
}

using Numbers = nb::ndarray<const double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline std::vector<double> copy_of(const Numbers& numbers) {
    return {numbers.data(), numbers.data() + numbers.size()};
}

/// Rows as NumPy arrays: (values,) or (values, columns, starts). Those in memory are copied; those
/// that are not, and all with `look`, are looked at where they lie, and cannot be written to.
nb::tuple rows_to_arrays(const Rows& rows, bool look = false);

/// Columns of texts as Python has them: {name: list of str}; columns of graphs have empty lists.
nb::dict texts_of(const Rows& rows);

void bind_rows(nb::module_& m);

}  // namespace mercer::python
