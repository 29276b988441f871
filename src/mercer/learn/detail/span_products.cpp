#include "mercer/learn/detail/span_products.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"

namespace mercer {
namespace {

constexpr std::size_t pass_rows = 4096;  ///< fixed: sums depend on neither memory nor threads
constexpr std::size_t panel = 256;       ///< centres of a task

/// Where row i of a lower triangle begins among its rows, one after another.
constexpr std::size_t triangle(std::size_t i) {
    return i * (i + 1) / 2;
}

/// squares += the lower triangle of values values', tile by tile.
void add_squares(MatrixView<const double> values, std::span<double> squares) {
    const std::size_t m = values.rows;
    const std::size_t panels = (m + panel - 1) / panel;
    parallel_for(triangle(panels), [&](std::size_t tile) {
        std::size_t p = 0;
        while (triangle(p + 1) <= tile) ++p;
        const std::size_t q = tile - triangle(p);
        const std::size_t height = std::min(panel, m - p * panel);
        const std::size_t width = std::min(panel, m - q * panel);
        Matrix<double> product(height, width);
        multiply_transposed(values.block(p * panel, 0, height, values.columns),
                            values.block(q * panel, 0, width, values.columns), product.view());
        for (std::size_t i = 0; i < height; ++i) {
            const std::size_t row = p * panel + i;
            double* const to = squares.data() + triangle(row) + q * panel;
            const std::size_t end = std::min(width, row + 1 - q * panel);
            for (std::size_t j = 0; j < end; ++j) to[j] += product(i, j);
        }
    });
}

/// The symmetric matrix of a lower triangle.
void unpack_triangle(std::span<const double> lower, MatrixView<double> out) {
    for (std::size_t i = 0; i < out.rows; ++i) {
        for (std::size_t j = 0; j <= i; ++j) out(i, j) = out(j, i) = lower[triangle(i) + j];
    }
}

}  // namespace

/// Calls body(first, count) for one block of these rows after another.
void SpanProducts::for_blocks(std::size_t first, std::size_t last,
                              const std::function<void(std::size_t, std::size_t)>& body) const {
    for (std::size_t from = first; from < last; from += pass_rows) {
        const double done = static_cast<double>(from) / static_cast<double>(rows());
        if (!keep_going(progress_, {"pass", done})) throw Cancelled();
        body(from, std::min(pass_rows, last - from));
        sample_.release(from, std::min(pass_rows, last - from));
    }
}

void SpanProducts::kernel_blocks(std::size_t begin, std::size_t end,
                                 const std::function<void(std::size_t, const Points<float>&,
                                                          MatrixView<const float>)>& body) const {
    for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
        const auto points = span_.gram().prepare(sample_.block(first, count));
        Matrix<float> values(count, columns());
        span_.gram().block(points, span_.gram().reference(), values.view());
        body(first, points, std::as_const(values).view());
    });
}

void SpanProducts::multiply(std::span<const double> w, std::span<double> out) const {
    Matrix<double> beta(1, columns());
    std::ranges::copy(w, beta.row(0).begin());
    backward_solve(span_.factor(), beta.view());
    std::ranges::fill(out, 0.0);
    leaves().each([&](std::size_t begin, std::size_t end) {
        for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
            const auto points = span_.gram().prepare(sample_.block(first, count));
            span_.gram().add_product(span_.gram().reference(), points, std::as_const(beta).row(0),
                                     out.subspan(first, count));
        });
    });
}

void SpanProducts::sum(std::span<const double> c, std::span<double> w) const {
    Matrix<double> sums(1, columns());
    leaves().sum(
        [&](std::size_t begin, std::size_t end, std::span<double> total) {
            for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
                const auto points = span_.gram().prepare(sample_.block(first, count));
                span_.gram().add_product(points, span_.gram().reference(), c.subspan(first, count),
                                         total);
            });
        },
        sums.row(0));
    forward_solve(span_.factor(), sums.view());
    std::ranges::copy(sums.row(0), w.begin());
}

/// Adds to a lower triangle Σ h_i k_i k_i', and after it to the sums Σ right(o, i) k_i.
void SpanProducts::weigh_block(std::size_t first, std::span<const double> h,
                               MatrixView<const double> right, std::span<double> totals) const {
    const std::size_t m = columns();
    std::vector<std::size_t> some;  // of a hinge most rows have neither slope nor curvature
    for (std::size_t i = 0; i < h.size(); ++i) {
        bool counts = h[i] > 0;
        for (std::size_t o = 0; o < right.rows; ++o) counts = counts || right(o, i) != 0;
        if (counts) some.push_back(i);
    }
    if (some.empty()) return;
    Rows block = sample_.block(first, h.size());
    if (some.size() < h.size()) block = block.select(some);
    Matrix<float> values(m, some.size());
    span_.gram().block(span_.gram().reference(), span_.gram().prepare(block), values.view());
    Matrix<double> weighted(m, some.size());
    std::vector<double> root;
    for (const std::size_t i : some) root.push_back(std::sqrt(h[i]));
    parallel_ranges(m, 16, [&](std::size_t from, std::size_t to) {
        for (std::size_t k = from; k < to; ++k) {
            for (std::size_t i = 0; i < root.size(); ++i) {
                weighted(k, i) = root[i] * static_cast<double>(values(k, i));
            }
            for (std::size_t o = 0; o < right.rows; ++o) {
                double sum = 0;
                for (std::size_t i = 0; i < some.size(); ++i) {
                    sum += right(o, some[i]) * static_cast<double>(values(k, i));
                }
                totals[triangle(m) + o * m + k] += sum;
            }
        }
    });
    add_squares(std::as_const(weighted).view(), totals.first(triangle(m)));
}

void SpanProducts::weigh(const Weights& weights, MatrixView<double> g,
                         MatrixView<double> sums) const {
    const std::size_t m = columns();
    {
        std::vector<double> totals(triangle(m) + sums.rows * m);
        leaves().sum(
            [&](std::size_t begin, std::size_t end, std::span<double> total) {
                for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
                    std::vector<double> h(count);
                    Matrix<double> right(sums.rows, count);
                    weights(first, h, right.view());
                    weigh_block(first, h, std::as_const(right).view(), total);
                });
            },
            totals);
        unpack_triangle(totals, g);
        for (std::size_t o = 0; o < sums.rows; ++o) {
            std::ranges::copy_n(totals.begin() + static_cast<std::ptrdiff_t>(triangle(m) + o * m),
                                static_cast<std::ptrdiff_t>(m), sums.row(o).begin());
        }
    }
    // L⁻¹ S L'⁻¹: each row of a symmetric S solved once, then each column.
    forward_solve(span_.factor(), g);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < i; ++j) std::swap(g(i, j), g(j, i));
    }
    forward_solve(span_.factor(), g);
    if (sums.rows > 0) forward_solve(span_.factor(), sums);
}

double SpanProducts::diagonal() const {
    double sum = 0;
    leaves().sum(
        [&](std::size_t begin, std::size_t end, std::span<double> total) {
            for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
                std::vector<double> values(count);
                span_.gram().diagonal(span_.gram().prepare(sample_.block(first, count)), values);
                for (std::size_t k = 0; k < count; ++k) {
                    total[0] += sample_.weight(first + k) * values[k];
                }
            });
        },
        {&sum, 1});
    return sum;
}

}  // namespace mercer
