// What of a reduction is exact: distances in feature space, the best coefficients, center(k).
#include <algorithm>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/learn/detail/selection.hpp"
#include "mercer/learn/svm/detail/shared_fit.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {

std::vector<double> reduction::squared_norms(Expansion e, const Progress& progress) {
    e.bias.assign(e.outputs(), 0.0);
    e.self = 0;
    const Matrix<double> values = Evaluator(e, true)(e.points, progress);
    std::vector<double> result(e.outputs(), 0.0);
    for (std::size_t c = 0; c < e.outputs(); ++c) {
        for (std::size_t i = 0; i < e.size(); ++i) result[c] += e.coefficients(c, i) * values(i, c);
        result[c] = std::max(0.0, result[c]);
    }
    return result;
}

std::vector<double> squared_distances(const Expansion& a, const Expansion& b,
                                      const Progress& progress) {
    if (!(a.kernel == b.kernel)) {
        throw InvalidInput("expansions of different kernels have no distance: " +
                           quoted(a.kernel.text(), 100) + " and " + quoted(b.kernel.text(), 100));
    }
    if (a.outputs() != b.outputs()) {
        throw InvalidInput("the expansions have " + std::to_string(a.outputs()) + " and " +
                           std::to_string(b.outputs()) + " outputs");
    }
    Expansion d = a;  // the difference, one expansion over the points of both
    d.points = concatenate(a.points, b.points);
    d.coefficients = Matrix<double>(a.outputs(), d.points.size());
    for (std::size_t c = 0; c < a.outputs(); ++c) {
        const auto row = d.coefficients.row(c);
        std::ranges::copy(a.coefficients.row(c), row.begin());
        std::ranges::transform(b.coefficients.row(c),
                               row.begin() + static_cast<std::ptrdiff_t>(a.size()),
                               [](double v) { return -v; });
    }
    return reduction::squared_norms(std::move(d), progress);
}

Matrix<double> nearest_coefficients(const Expansion& expansion, const Rows& points) {
    Expansion plain = expansion;
    plain.bias.assign(expansion.outputs(), 0.0);
    plain.self = 0;
    const Matrix<double> values = Evaluator(plain, true)(points);
    Matrix<double> result(expansion.outputs(), points.size());
    for (std::size_t j = 0; j < points.size(); ++j) {
        for (std::size_t c = 0; c < expansion.outputs(); ++c) result(c, j) = values(j, c);
    }
    if (points.size() == 0) return result;
    const auto gram =
        make_gram<double>(plain.kernel, plain.reference.size() > 0 ? plain.reference : points);
    const Points<double> prepared =
        plain.reference.size() > 0 ? gram.prepare(points) : gram.reference();
    Matrix<double> k(points.size(), points.size());
    gram.block(prepared, prepared, k.view());
    reduction::factor_with_ridge(k, 1e-10);
    cholesky_solve(k.view(), result.view());
    return result;
}

Expansion without_center(const Expansion& e) {
    if (e.kernel.node().kind != KernelKind::center || e.self != 0) return e;
    // Σ a_i (k(x_i,x) − m(x) − m(x_i) + M) with m the mean over the sample and M the mean of m.
    const Kernel inner = e.kernel.node().children[0];
    const std::size_t n = e.reference.size();
    Expansion mean{.kernel = inner, .points = e.reference, .bias = {0}};
    mean.coefficients = Matrix<double>(1, n, 1 / static_cast<double>(n));
    const Evaluator means(mean, true);
    const Matrix<double> at_points = means(e.points);
    const Matrix<double> at_sample = means(e.reference);
    const double middle =
        std::accumulate(at_sample.values().begin(), at_sample.values().end(), 0.0) /
        static_cast<double>(n);
    Expansion result{.kernel = inner, .points = concatenate(e.points, e.reference), .bias = e.bias};
    result.coefficients = Matrix<double>(e.outputs(), e.size() + n);
    for (std::size_t c = 0; c < e.outputs(); ++c) {
        double sum = 0;
        for (std::size_t i = 0; i < e.size(); ++i) {
            const double a = e.coefficients(c, i);
            result.coefficients(c, i) = a;
            result.bias[c] += a * (middle - at_points(i, 0));
            sum += a;
        }
        for (std::size_t j = 0; j < n; ++j) {
            result.coefficients(c, e.size() + j) = -sum / static_cast<double>(n);
        }
    }
    return result;
}

}  // namespace mercer
