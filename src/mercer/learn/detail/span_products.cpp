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

constexpr std::size_t block_rows = 4096;  ///< fixed: sums depend on neither memory nor threads
constexpr std::size_t panel = 256;        ///< centres of a task

/// Calls body(first, count) for one block of the rows after another.
template <class Body>
void for_blocks(std::size_t rows, const Progress& progress, const Body& body) {
    for (std::size_t first = 0; first < rows; first += block_rows) {
        const double done = static_cast<double>(first) / static_cast<double>(rows);
        if (!keep_going(progress, {"pass", done})) throw Cancelled();
        body(first, std::min(block_rows, rows - first));
    }
}

/// squares += values values', the lower triangle, tile by tile.
void add_squares(MatrixView<const double> values, Matrix<double>& squares) {
    const std::size_t m = values.rows;
    const std::size_t panels = (m + panel - 1) / panel;
    parallel_for(panels * (panels + 1) / 2, [&](std::size_t tile) {
        std::size_t p = 0;
        while ((p + 1) * (p + 2) / 2 <= tile) ++p;
        const std::size_t q = tile - p * (p + 1) / 2;
        const std::size_t height = std::min(panel, m - p * panel);
        const std::size_t width = std::min(panel, m - q * panel);
        Matrix<double> product(height, width);
        multiply_transposed(values.block(p * panel, 0, height, values.columns),
                            values.block(q * panel, 0, width, values.columns), product.view());
        for (std::size_t i = 0; i < height; ++i) {
            for (std::size_t j = 0; j < width; ++j) {
                squares(p * panel + i, q * panel + j) += product(i, j);
            }
        }
    });
}

}  // namespace

void SpanProducts::multiply(std::span<const double> w, std::span<double> out) const {
    Matrix<double> beta(1, columns());
    std::ranges::copy(w, beta.row(0).begin());
    backward_solve(span_.factor(), beta.view());
    std::ranges::fill(out, 0.0);
    for_blocks(rows(), progress_, [&](std::size_t first, std::size_t count) {
        const auto points = span_.gram().prepare(rows_.slice(first, count));
        span_.gram().add_product(span_.gram().reference(), points, std::as_const(beta).row(0),
                                 out.subspan(first, count));
    });
}

void SpanProducts::sum(std::span<const double> c, std::span<double> w) const {
    Matrix<double> sums(1, columns());
    for_blocks(rows(), progress_, [&](std::size_t first, std::size_t count) {
        const auto points = span_.gram().prepare(rows_.slice(first, count));
        span_.gram().add_product(points, span_.gram().reference(), c.subspan(first, count),
                                 sums.row(0));
    });
    forward_solve(span_.factor(), sums.view());
    std::ranges::copy(sums.row(0), w.begin());
}

void SpanProducts::weigh(std::span<const double> h, MatrixView<const double> right,
                         MatrixView<double> g, MatrixView<double> sums) const {
    const std::size_t m = columns();
    Matrix<double> squares(m, m);
    for (std::size_t o = 0; o < sums.rows; ++o) std::ranges::fill(sums.row(o), 0.0);
    for_blocks(rows(), progress_, [&](std::size_t first, std::size_t count) {
        std::vector<std::size_t> some;  // of a hinge most rows have neither slope nor curvature
        for (std::size_t i = first; i < first + count; ++i) {
            bool counts = h[i] > 0;
            for (std::size_t o = 0; o < right.rows; ++o) counts = counts || right(o, i) != 0;
            if (counts) some.push_back(i);
        }
        if (some.empty()) return;
        const Rows block = some.size() == count ? rows_.slice(first, count) : rows_.select(some);
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
                for (std::size_t o = 0; o < sums.rows; ++o) {
                    double sum = 0;
                    for (std::size_t i = 0; i < some.size(); ++i) {
                        sum += right(o, some[i]) * static_cast<double>(values(k, i));
                    }
                    sums(o, k) += sum;
                }
            }
        });
        add_squares(std::as_const(weighted).view(), squares);
    });
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < i; ++j) squares(j, i) = squares(i, j);
    }
    // L⁻¹ S L'⁻¹: each row of a symmetric S solved once, then each column.
    forward_solve(span_.factor(), squares.view());
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j) g(j, i) = squares(i, j);
    }
    forward_solve(span_.factor(), g);
    if (sums.rows > 0) forward_solve(span_.factor(), sums);
}

}  // namespace mercer
