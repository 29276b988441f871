#include "mercer/learn/passes/detail/feature_products.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

constexpr std::size_t pass_rows = 4096;  ///< fixed: sums depend on neither memory nor threads
constexpr std::size_t panel = 256;       ///< columns of a task
constexpr std::size_t half_panel = 128;
constexpr std::size_t piece_rows = 1024;  ///< rows of a task, where there is one panel alone

/// squares += what values values' has in some rows and columns, those on the diagonal and below it.
void add_block(MatrixView<const double> values, std::size_t row, std::size_t height,
               std::size_t column, std::size_t width, std::span<double> squares) {
    Matrix<double> product(height, width);
    multiply_transposed(values.block(row, 0, height, values.columns),
                        values.block(column, 0, width, values.columns), product.view());
    for (std::size_t i = row; i < row + height; ++i) {
        double* const to = squares.data() + triangle(i) + column;
        const std::size_t end = std::min(width, i + 1 - column);
        for (std::size_t j = 0; j < end; ++j) to[j] += product(i - row, j);
    }
}

/// The same of a tile. One on the diagonal is cut again, or half of its products would be thrown
/// away.
void add_tile(MatrixView<const double> values, std::size_t p, std::size_t q,
              std::span<double> squares) {
    const std::size_t row = p * panel, column = q * panel;
    const std::size_t height = std::min(panel, values.rows - row);
    const std::size_t width = std::min(panel, values.rows - column);
    if (p != q) return add_block(values, row, height, column, width, squares);
    for (std::size_t first = row; first < row + height; first += half_panel) {
        const std::size_t own = std::min(half_panel, row + height - first);
        add_block(values, first, own, column, first + own - column, squares);
    }
}

/// squares += the lower triangle of values values': tile by tile or, where there is one tile alone,
/// piece by piece of the rows.
void add_squares(MatrixView<const double> values, std::span<double> squares) {
    const std::size_t panels = (values.rows + panel - 1) / panel;
    if (panels > 1) {
        parallel_for(triangle(panels), [&](std::size_t tile) {
            std::size_t p = 0;
            while (triangle(p + 1) <= tile) ++p;
            add_tile(values, p, tile - triangle(p), squares);
        });
        return;
    }
    const std::size_t pieces = (values.columns + piece_rows - 1) / piece_rows;
    Matrix<double> parts(pieces, squares.size());
    parallel_for(pieces, [&](std::size_t piece) {
        const std::size_t first = piece * piece_rows;
        const std::size_t count = std::min(piece_rows, values.columns - first);
        add_tile(values.block(0, first, values.rows, count), 0, 0, parts.row(piece));
    });
    for (std::size_t piece = 0; piece < pieces; ++piece) {
        const std::span<const double> part = parts.row(piece);
        for (std::size_t k = 0; k < part.size(); ++k) squares[k] += part[k];
    }
}

/// The symmetric matrix of a lower triangle.
void unpack_triangle(std::span<const double> lower, MatrixView<double> out) {
    for (std::size_t i = 0; i < out.rows; ++i) {
        for (std::size_t j = 0; j <= i; ++j) out(i, j) = out(j, i) = lower[triangle(i) + j];
    }
}

}  // namespace

std::vector<std::size_t> counting_rows(std::span<const double> h, MatrixView<const double> right) {
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < h.size(); ++i) {
        bool counts = h[i] > 0;
        for (std::size_t o = 0; o < right.rows; ++o) counts = counts || right(o, i) != 0;
        if (counts) some.push_back(i);
    }
    return some;
}

namespace {

/// Σ_i a_i b_i. Several sums, so that no addition waits for the one before it.
template <class T>
double mixed_dot(std::span<const double> a, std::span<const T> b) {
    std::array<double, 4> sum{};
    std::size_t i = 0;
    for (; i + 4 <= a.size(); i += 4) {
        for (std::size_t j = 0; j < 4; ++j) sum[j] += a[i + j] * static_cast<double>(b[i + j]);
    }
    for (; i < a.size(); ++i) sum[0] += a[i] * static_cast<double>(b[i]);
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

}  // namespace

template <class T>
void add_weighted_squares(MatrixView<const T> values, std::span<const std::size_t> some,
                          std::span<const double> h, MatrixView<const double> right,
                          std::span<double> totals) {
    const std::size_t m = values.rows;
    Matrix<double> weighted(m, some.size());
    std::vector<double> root(some.size());
    Matrix<double> sums(right.rows, some.size());
    for (std::size_t i = 0; i < some.size(); ++i) {
        root[i] = std::sqrt(h[some[i]]);
        for (std::size_t o = 0; o < right.rows; ++o) sums(o, i) = right(o, some[i]);
    }
    parallel_ranges(m, 16, [&](std::size_t from, std::size_t to) {
        for (std::size_t k = from; k < to; ++k) {
            for (std::size_t i = 0; i < root.size(); ++i) {
                weighted(k, i) = root[i] * static_cast<double>(values(k, i));
            }
            for (std::size_t o = 0; o < right.rows; ++o) {
                totals[triangle(m) + o * m + k] +=
                    mixed_dot<T>(std::as_const(sums).row(o), values.row(k));
            }
        }
    });
    add_squares(std::as_const(weighted).view(), totals.first(triangle(m)));
}

template void add_weighted_squares(MatrixView<const float>, std::span<const std::size_t>,
                                   std::span<const double>, MatrixView<const double>,
                                   std::span<double>);
template void add_weighted_squares(MatrixView<const double>, std::span<const std::size_t>,
                                   std::span<const double>, MatrixView<const double>,
                                   std::span<double>);

void FeatureProducts::for_blocks(std::size_t first, std::size_t last,
                                 const std::function<void(std::size_t, std::size_t)>& body) const {
    for (std::size_t from = first; from < last; from += pass_rows) {
        const double done = static_cast<double>(from) / static_cast<double>(rows());
        if (!keep_going(progress_, {"pass", done})) throw Cancelled();
        body(from, std::min(pass_rows, last - from));
        sample_.release(from, std::min(pass_rows, last - from));
    }
}

void FeatureProducts::through(MatrixView<const double> p, const Between& between,
                              MatrixView<double> sums) const {
    Matrix<double> image(p.rows, rows());
    for (std::size_t o = 0; o < p.rows; ++o) multiply(p.row(o), image.row(o));
    between(0, image.view());
    for (std::size_t o = 0; o < p.rows; ++o) sum(std::as_const(image).row(o), sums.row(o));
}

void FeatureProducts::weigh_blocks(const Weights& weights, const AddBlock& add,
                                   MatrixView<double> g, MatrixView<double> sums) const {
    const std::size_t m = columns();
    std::vector<double> totals(triangle(m) + sums.rows * m);
    leaves().sum(
        [&](std::size_t begin, std::size_t end, std::span<double> total) {
            for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
                std::vector<double> h(count);
                Matrix<double> right(sums.rows, count);
                weights(first, h, right.view());
                add(first, h, std::as_const(right).view(), total);
            });
        },
        totals);
    unpack_triangle(totals, g);
    for (std::size_t o = 0; o < sums.rows; ++o) {
        std::ranges::copy_n(totals.begin() + static_cast<std::ptrdiff_t>(triangle(m) + o * m),
                            static_cast<std::ptrdiff_t>(m), sums.row(o).begin());
    }
}

}  // namespace mercer
