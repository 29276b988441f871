#include "mercer/learn/groups/label_spreading.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

/// W without its diagonal; with `neighbours` an edge stays when either end has it among its best.
void make_graph(Matrix<double>& w, std::size_t neighbours) {
    const std::size_t n = w.rows();
    for (std::size_t i = 0; i < n; ++i) {
        w(i, i) = 0;
        for (std::size_t j = 0; j < n; ++j) {
            if (w(i, j) >= 0) continue;
            throw InvalidInput(
                "an affinity must not be negative, and the kernel is below 0 for "
                "some rows; take a kernel such as rbf");
        }
    }
    if (neighbours == 0 || neighbours + 1 >= n) return;
    std::vector<double> least(n);
    for (std::size_t i = 0; i < n; ++i) {
        std::vector<double> row(w.row(i).begin(), w.row(i).end());
        const auto place = static_cast<std::ptrdiff_t>(neighbours) - 1;
        std::nth_element(row.begin(), row.begin() + place, row.end(), std::greater<>());
        least[i] = row[neighbours - 1];
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            if (w(i, j) < std::min(least[i], least[j])) w(i, j) = 0;
        }
    }
}

/// S = D^(−1/2) W D^(−1/2); a row without neighbours stays alone.
void normalise(Matrix<double>& w) {
    std::vector<double> root(w.rows(), 0.0);
    for (std::size_t i = 0; i < w.rows(); ++i) {
        double sum = 0;
        for (const double value : w.row(i)) sum += value;
        root[i] = sum > 0 ? 1 / std::sqrt(sum) : 0;
    }
    for (std::size_t i = 0; i < w.rows(); ++i) {
        // Not root_i root_j first: both may be huge where rows are far from all others.
        for (std::size_t j = 0; j < w.rows(); ++j) w(i, j) = w(i, j) * root[i] * root[j];
    }
}

Labels labels_of(const Labels& like, const Classes& classes, const Matrix<double>& f,
                 std::size_t first, std::size_t count) {
    Labels labels;
    labels.names = like.names;
    for (std::size_t i = first; i < first + count; ++i) {
        const auto row = f.row(i);
        const auto best = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
        if (like.are_text()) {
            const auto found = std::ranges::find(like.names, classes.names[best]);
            labels.values.push_back(static_cast<double>(found - like.names.begin()));
        } else {
            labels.values.push_back(classes.values[best]);
        }
    }
    return labels;
}

}  // namespace

LabelSpread spread_labels(const SpreadSettings& s, const Dataset& labelled,
                          const Rows& unlabelled) {
    require_range("alpha", s.alpha, s.alpha > 0 && s.alpha < 1, "greater than 0 and less than 1");
    labelled.check();
    if (labelled.size() == 0 || labelled.y.empty()) {
        throw InvalidInput("there are no labels to spread: give labelled rows");
    }
    const Classes classes = classes_of(labelled.y);
    if (classes.count() < 2) {
        throw InvalidInput("labels of two classes or more are spread; all rows have one label");
    }
    const Rows together = concatenate(labelled.x, unlabelled);
    require_finite(together);
    const std::size_t n = together.size();
    if (n > std::size_t{1} << 20 || 2 * n * n * sizeof(double) > s.memory_bytes) {
        throw InvalidInput("the graph of " + std::to_string(n) +
                           " rows does not fit the memory allowed; raise it or take fewer rows");
    }
    const Rows x = Scaling::fit(s.scaling, together).apply(together);
    const Gram<double> gram(s.kernel, x, labelled.feature_names, s.progress);
    Matrix<double> graph(n, n);
    gram.matrix(graph.view(), s.progress);
    make_graph(graph, s.neighbours);
    normalise(graph);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) graph(i, j) = (i == j ? 1 : 0) - s.alpha * graph(i, j);
    }
    const std::size_t k = classes.count();
    Matrix<double> y(k, n);  // one row a right-hand side
    for (std::size_t i = 0; i < labelled.size(); ++i) {
        y(static_cast<std::size_t>(classes.index[i]), i) = 1 - s.alpha;
    }
    Matrix<double> factor = graph;
    Matrix<double> solution = y;
    if (!cholesky(factor.view())) {
        throw InvalidInput("the graph cannot be solved in double precision; take a smaller alpha");
    }
    cholesky_solve(std::as_const(factor).view(), solution.view());
    LabelSpread result;
    result.scores = Matrix<double>(n, k);
    for (std::size_t c = 0; c < k; ++c) {
        for (std::size_t i = 0; i < n; ++i) {
            double product = 0;
            for (std::size_t j = 0; j < n; ++j) product += graph(i, j) * solution(c, j);
            result.residual = std::max(result.residual, std::abs(product - y(c, i)));
            result.scores(i, c) = solution(c, i);
        }
    }
    for (std::size_t i = labelled.size(); i < n; ++i) {
        const auto row = result.scores.row(i);
        result.unreached += std::ranges::all_of(row, [](double f) { return f <= 0; }) ? 1 : 0;
    }
    result.labelled = labels_of(labelled.y, classes, result.scores, 0, labelled.size());
    result.unlabelled =
        labels_of(labelled.y, classes, result.scores, labelled.size(), unlabelled.size());
    return result;
}

}  // namespace mercer
