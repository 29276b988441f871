#include "mercer/feature/detail/kernel_sum.hpp"

#include <algorithm>
#include <memory>
#include <numeric>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"

namespace mercer {
namespace {

constexpr std::size_t band_bytes = std::size_t{64} << 20;  // kernel values of a band
/// Rows and points whose values are computed and summed before the next: they stay in the
/// second-level cache, and no memory is touched for all values of a band.
constexpr std::size_t strip_rows = 64;
constexpr std::size_t strip_points = 512;
/// Of fewer rows each is summed by itself.
constexpr std::size_t few_rows = 8;
/// Rows whose sums are taken together: those of all outputs stay in the first-level cache.
constexpr std::size_t rows_together(std::size_t outputs) {
    return outputs > 96 ? 16 : strip_rows;
}

/// Whether so few of the coefficients are there that a matrix product would mostly add zeros; or so
/// few altogether that it would not pay to open the library for it.
bool are_scattered(const Matrix<double>& coefficients) {
    const std::size_t points = coefficients.columns();
    const auto nonzero = static_cast<std::size_t>(
        std::ranges::count_if(coefficients.values(), [](double a) { return a != 0; }));
    return nonzero <= 16 * points || 4 * nonzero <= coefficients.rows() * points;
}

}  // namespace

template <class T>
KernelSum<T>::KernelSum(const Expansion& e)
    : gram_(make_gram<T>(e.kernel, e.reference.size() > 0 ? e.reference : e.points)),
      points_(e.reference.size() > 0 ? gram_.prepare(e.points) : gram_.reference()),
      self_(e.self) {
    // Where a pair takes long, threads share smaller tiles than strips.
    if (gram_.strip() >= strip_points) {
        if (e.outputs() <= 2) {
            way_ = Way::rows;
            few_ = e.coefficients;
            return;
        }
        if (are_scattered(e.coefficients)) {
            way_ = Way::scattered;
            // Sums over the entries of a sparse row are taken in its order, and values that are
            // given belong to the place of a point.
            either_way_ = !e.points.is_sparse() && !contains(e.kernel, KernelKind::precomputed);
            columns_ = SparseColumns<T>(e.coefficients.view());
            return;
        }
    }
    coefficients_ = Matrix<T>(e.outputs(), e.size());
    std::ranges::transform(e.coefficients.values(), coefficients_.values().begin(),
                           [](double v) { return static_cast<T>(v); });
}

template <class T>
void KernelSum<T>::add_to(const Rows& x, MatrixView<double> out, const Progress& progress) const {
    const std::size_t band = std::clamp<std::size_t>(
        band_bytes / sizeof(T) / std::max<std::size_t>(points_.size(), 1), 64, 4096);
    static_assert(64 % strip_rows == 0 && strip_rows % Gram<T>::window_step == 0);
    const Points<T> all = gram_.prepare(x);
    for (std::size_t first = 0; first < x.size(); first += band / strip_rows * strip_rows) {
        const double done = static_cast<double>(first) / static_cast<double>(x.size());
        if (!keep_going(progress, {"predicting", done})) throw Cancelled();
        const std::size_t count = std::min(band / strip_rows * strip_rows, x.size() - first);
        add_band(all, first, count, out.block(first, 0, count, out.columns));
    }
    if (self_ != 0) add_self(all, out);
}

template <class T>
void KernelSum<T>::add_band(const Points<T>& x, std::size_t first, std::size_t count,
                            MatrixView<double> out) const {
    if (way_ == Way::product) return add_products(x, first, count, out);
    parallel_ranges(count, strip_rows, [&](std::size_t from, std::size_t to) {
        const MatrixView<double> own = out.block(from, 0, to - from, out.columns);
        if (way_ == Way::rows) {
            add_rows(x, first + from, own);
        } else if (x.size() < few_rows) {
            add_single(x, first + from, own);
        } else {
            add_strip(x, first + from, own);
        }
    });
}

template <class T>
void KernelSum<T>::add_rows(const Points<T>& x, std::size_t first, MatrixView<double> out) const {
    const auto values = std::make_unique_for_overwrite<T[]>(out.rows * strip_points);
    std::vector<const T*> rows(out.rows);
    std::vector<double> sums(out.rows);
    for (std::size_t p = 0; p < points_.size(); p += strip_points) {
        const std::size_t count = std::min(strip_points, points_.size() - p);
        const MatrixView<T> tile(values.get(), out.rows, count);
        gram_.window(x, first, points_, p, tile);
        for (std::size_t i = 0; i < out.rows; ++i) rows[i] = tile.row(i).data();
        for (std::size_t c = 0; c < out.columns; ++c) {
            row_products<T>(rows, few_.row(c).subspan(p, count), sums);
            for (std::size_t i = 0; i < out.rows; ++i) out(i, c) += sums[i];
        }
    }
}

/// Row by row: to compute the values of so few across would take as long as those of 64.
template <class T>
void KernelSum<T>::add_single(const Points<T>& x, std::size_t first, MatrixView<double> out) const {
    const auto values = std::make_unique_for_overwrite<T[]>(out.rows * strip_points);
    std::vector<T> sums(columns_.rows);
    for (std::size_t p = 0; p < points_.size(); p += strip_points) {
        const std::size_t count = std::min(strip_points, points_.size() - p);
        const MatrixView<T> tile(values.get(), out.rows, count);
        gram_.window(x, first, points_, p, tile);
        for (std::size_t i = 0; i < out.rows; ++i) {
            std::ranges::fill(sums, T{0});
            add_scattered<T>(columns_, p, {tile.row(i).data(), count, 1}, sums);
            for (std::size_t c = 0; c < sums.size(); ++c) out(i, c) += static_cast<double>(sums[c]);
        }
    }
}

/// out(j, i) = k(x_{first + i}, point p + j)
template <class T>
void KernelSum<T>::fill_turned(const Points<T>& x, std::size_t first, std::size_t p,
                               MatrixView<T> out, T* scratch) const {
    if (either_way_) return gram_.window(points_, p, x, first, out);
    const MatrixView<T> tile(scratch, out.columns, out.rows);
    gram_.window(x, first, points_, p, tile);
    constexpr std::size_t side = 16;  // lines of the cache that are at hand together
    for (std::size_t j = 0; j < out.rows; j += side) {
        const std::size_t end = std::min(out.rows, j + side);
        for (std::size_t i = 0; i < out.columns; ++i) {
            for (std::size_t k = j; k < end; ++k) out(k, i) = tile(i, k);
        }
    }
}

/// With the rows across, so that what a point adds to an output is a vector of neighbours.
template <class T>
void KernelSum<T>::add_strip(const Points<T>& x, std::size_t first, MatrixView<double> out) const {
    const std::size_t outputs = columns_.rows, width = rows_together(outputs);
    std::vector<T> values(strip_points * strip_rows);  // places without a row stay 0
    const auto scratch =
        std::make_unique_for_overwrite<T[]>(either_way_ ? 0 : strip_points * strip_rows);
    std::vector<T> sums(outputs * width);
    std::vector<double> totals(outputs * strip_rows, 0.0);
    for (std::size_t p = 0; p < points_.size(); p += strip_points) {
        const std::size_t count = std::min(strip_points, points_.size() - p);
        fill_turned(x, first, p, {values.data(), count, out.rows, strip_rows}, scratch.get());
        for (std::size_t part = 0; part < out.rows; part += width) {
            std::ranges::fill(sums, T{0});
            add_scattered<T>(columns_, p, {values.data() + part, count, width, strip_rows}, sums);
            for (std::size_t c = 0; c < outputs; ++c) {
                double* const to = totals.data() + c * strip_rows + part;
                for (std::size_t k = 0; k < width; ++k) {
                    to[k] += static_cast<double>(sums[c * width + k]);
                }
            }
        }
    }
    for (std::size_t i = 0; i < out.rows; ++i) {
        for (std::size_t c = 0; c < outputs; ++c) out(i, c) += totals[c * strip_rows + i];
    }
}

/// The sums in double: a run of columns at a time goes through a matrix product, so that only short
/// sums are taken in T.
template <class T>
void KernelSum<T>::add_products(const Points<T>& x, std::size_t first, std::size_t count,
                                MatrixView<double> out) const {
    constexpr std::size_t run = 256;
    std::vector<std::size_t> which(count);
    std::iota(which.begin(), which.end(), first);
    Matrix<T> values(count, points_.size());
    gram_.block(count == x.size() ? x : gram_.select(x, which, false), points_, values.view());
    parallel_ranges(count, 32, [&](std::size_t from, std::size_t to) {
        Matrix<T> part(to - from, coefficients_.rows());
        for (std::size_t j = 0; j < points_.size(); j += run) {
            const std::size_t width = std::min(run, points_.size() - j);
            multiply_transposed(
                std::as_const(values).view().block(from, j, to - from, width),
                std::as_const(coefficients_).view().block(0, j, coefficients_.rows(), width),
                part.view());
            for (std::size_t i = from; i < to; ++i) {
                for (std::size_t c = 0; c < part.columns(); ++c) {
                    out(i, c) += static_cast<double>(part(i - from, c));
                }
            }
        }
    });
}

template <class T>
void KernelSum<T>::add_self(const Points<T>& x, MatrixView<double> out) const {
    std::vector<double> diagonal(x.size());
    gram_.diagonal(x, diagonal);
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t c = 0; c < out.columns; ++c) out(i, c) += self_ * diagonal[i];
    }
}

template class KernelSum<float>;
template class KernelSum<double>;

}  // namespace mercer
