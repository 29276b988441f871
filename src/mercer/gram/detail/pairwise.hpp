// Pairwise numbers: products of rows, sums over columns that are not dot products, and products of
// sparse rows. All write out(i, j) for every row i of x and j of z, on the calling thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "mercer/base/matrix.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/detail/plan.hpp"

namespace mercer {

/// Rows laid out for vector instructions across rows: panels of `panel_width` rows, column by
/// column, so that element (j, k) stands at data[(j / panel_width * columns + k) * panel_width + j
/// % panel_width]. The last panel is filled up with zeros.
inline constexpr std::size_t panel_width = 64;

template <class T>
struct Panels {
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::unique_ptr<T[]> data{};

    Panels() = default;
    explicit Panels(MatrixView<const T> from);
};

/// x·z, or ‖x−z‖² by differences. Since z is laid out once and used many times, this is faster than
/// the matrix-product libraries, which pack both factors on each call. Columns [first, first +
/// out.columns) of z; first must be a multiple of panel_width, and out must have room for whole
/// panels (out.stride >= out.columns rounded up).
///
/// The limit is one fused multiply-add a column and vector (and one subtraction, on ports of its
/// own on some processors).
template <class T>
void panel_products(MatrixView<const T> x, const Panels<T>& z, std::size_t first,
                    MatrixView<T> out);
template <class T>
void panel_distances(MatrixView<const T> x, const Panels<T>& z, std::size_t first,
                     MatrixView<T> out);
/// The same where all columns but `some` are known to add nothing.
template <class T>
void panel_distances(MatrixView<const T> x, const Panels<T>& z, std::size_t first,
                     std::span<const std::uint32_t> some, MatrixView<T> out);

/// The sum over columns that `source` names (absolute, chi2, intersection, sine, anova),
/// same shape.
template <class T>
void columnwise_sums(const Source& source, MatrixView<const T> x, const Panels<T>& z,
                     std::size_t first, MatrixView<T> out);

/// x·z for sparse rows first_x … of x and first_z … of z.
///
/// A bundle of rows of x is spread over a dense strip (one vector a column); each row of z then
/// costs one multiply-add a nonzero for the whole bundle. Columns from `width` on are left out.
template <class T>
void sparse_products(const SparseView<T>& x, std::size_t first_x, const SparseView<T>& z,
                     std::size_t first_z, std::size_t width, MatrixView<T> out);

extern template struct Panels<float>;
extern template struct Panels<double>;

}  // namespace mercer
