#include "mercer/learn/passes/detail/span_products.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"

namespace mercer {

void SpanProducts::kernel_blocks(std::size_t begin, std::size_t end,
                                 const std::function<void(std::size_t, const Points<float>&,
                                                          MatrixView<const float>)>& body) const {
    for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
        const auto points = span_.gram().prepare(sample().block(first, count));
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
            const auto points = span_.gram().prepare(sample().block(first, count));
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
                const auto points = span_.gram().prepare(sample().block(first, count));
                span_.gram().add_product(points, span_.gram().reference(), c.subspan(first, count),
                                         total);
            });
        },
        sums.row(0));
    forward_solve(span_.factor(), sums.view());
    std::ranges::copy(sums.row(0), w.begin());
}

/// Of the rows whose kernel values are given, in pieces of fixed size that threads share.
void SpanProducts::add_through(MatrixView<const float> values, MatrixView<const double> beta,
                               const std::function<void(MatrixView<double>)>& between,
                               std::span<double> totals) const {
    constexpr std::size_t piece_rows = 256;
    const std::size_t m = columns(), outputs = beta.rows;
    const std::size_t pieces = (values.rows + piece_rows - 1) / piece_rows;
    Matrix<double> image(outputs, values.rows), parts(pieces * outputs, m);
    // body(piece, output, its rows, its part of the image)
    const auto for_pieces = [&](const auto& body) {
        parallel_for(pieces, [&](std::size_t piece) {
            const std::size_t from = piece * piece_rows;
            std::vector<const float*> rows;
            for (std::size_t i = from; i < std::min(from + piece_rows, values.rows); ++i) {
                rows.push_back(values.row(i).data());
            }
            for (std::size_t o = 0; o < outputs; ++o) {
                body(piece, o, std::span<const float* const>(rows),
                     image.row(o).subspan(from, rows.size()));
            }
        });
    };
    for_pieces([&](std::size_t, std::size_t o, std::span<const float* const> rows,
                   std::span<double> own) { row_products<float>(rows, beta.row(o), own); });
    between(image.view());
    for_pieces([&](std::size_t piece, std::size_t o, std::span<const float* const> rows,
                   std::span<double> own) {
        add_weighted_rows<float>(rows, own, parts.row(piece * outputs + o));
    });
    for (std::size_t k = 0; k < parts.rows(); ++k) {
        const std::span<const double> part = std::as_const(parts).row(k);
        double* const to = totals.data() + k % outputs * m;
        for (std::size_t j = 0; j < m; ++j) to[j] += part[j];
    }
}

void SpanProducts::through(MatrixView<const double> p, const Between& between,
                           MatrixView<double> sums) const {
    const std::size_t m = columns();
    Matrix<double> beta(p.rows, m), totals(p.rows, m);
    for (std::size_t o = 0; o < p.rows; ++o) std::ranges::copy(p.row(o), beta.row(o).begin());
    backward_solve(span_.factor(), beta.view());
    const auto add = [&](std::size_t begin, std::size_t end, std::span<double> total) {
        for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
            const std::size_t bytes = count * m * sizeof(float);
            if (values_.bytes() < bytes) values_ = LargeBuffer(bytes);
            const MatrixView<float> values(values_.as<float>(), count, m);
            span_.gram().block(span_.gram().prepare(sample().block(first, count)),
                               span_.gram().reference(), values);
            add_through(
                values, std::as_const(beta).view(),
                [&](MatrixView<double> image) { between(first, image); }, total);
        });
    };
    leaves().sum(add, totals.values());
    forward_solve(span_.factor(), totals.view());
    for (std::size_t o = 0; o < p.rows; ++o) std::ranges::copy(totals.row(o), sums.row(o).begin());
}

/// Measured: a value takes as long as 25 products and 1.7 more for each column.
double SpanProducts::making_cost() const {
    const Rows& rows = sample().data.x;
    if (rows.is_sparse() || !rows.objects().empty()) return FeatureProducts::making_cost();
    return 25 + 1.7 * static_cast<double>(rows.columns());
}

/// Adds to a lower triangle Σ h_i k_i k_i', and after it to the sums Σ right(o, i) k_i.
void SpanProducts::weigh_block(std::size_t first, std::span<const double> h,
                               MatrixView<const double> right, std::span<double> totals) const {
    const std::size_t m = columns();
    const std::vector<std::size_t> some = counting_rows(h, right);
    if (some.empty()) return;
    Rows block = sample().block(first, h.size());
    if (some.size() < h.size()) block = block.select(some);
    Matrix<float> values(m, some.size());
    span_.gram().block(span_.gram().reference(), span_.gram().prepare(block), values.view());
    add_weighted_squares(std::as_const(values).view(), some, h, right, totals);
}

void SpanProducts::weigh(const Weights& weights, MatrixView<double> g,
                         MatrixView<double> sums) const {
    const std::size_t m = columns();
    weigh_blocks(
        weights,
        [&](std::size_t first, std::span<const double> h, MatrixView<const double> right,
            std::span<double> totals) { weigh_block(first, h, right, totals); },
        g, sums);
    // L⁻¹ S L'⁻¹: each row of a symmetric S solved once, then each column.
    forward_solve(span_.factor(), g);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < i; ++j) std::swap(g(i, j), g(j, i));
    }
    forward_solve(span_.factor(), g);
    if (sums.rows > 0) forward_solve(span_.factor(), sums);
}

void SpanProducts::write(ModelParts& model, Matrix<double> weights,
                         std::vector<double> bias) const {
    backward_solve(span_.factor(), weights.view());
    span_.write(model, std::move(weights), std::move(bias));
    model.trained.numbers["centres"] = static_cast<double>(span_.size());
}

double SpanProducts::diagonal() const {
    double sum = 0;
    leaves().sum(
        [&](std::size_t begin, std::size_t end, std::span<double> total) {
            for_blocks(begin, end, [&](std::size_t first, std::size_t count) {
                std::vector<double> values(count);
                span_.gram().diagonal(span_.gram().prepare(sample().block(first, count)), values);
                for (std::size_t k = 0; k < count; ++k) {
                    total[0] += sample().weight(first + k) * values[k];
                }
            });
        },
        {&sum, 1});
    return sum;
}

}  // namespace mercer
