#include "mercer/theory/alignment.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/gram/gradient.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/solver/detail/lbfgs.hpp"

namespace mercer {
namespace {

/// Σ_ij A_ij B_ij, rows summed apart and added in their order.
double inner_product(MatrixView<const double> a, MatrixView<const double> b) {
    std::vector<double> sums(a.rows);
    parallel_ranges(a.rows, 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const auto x = a.row(i);
            const auto y = b.row(i);
            sums[i] = std::inner_product(x.begin(), x.end(), y.begin(), 0.0);
        }
    });
    return std::accumulate(sums.begin(), sums.end(), 0.0);
}

Matrix<double> copy_of(MatrixView<const double> m) {
    Matrix<double> copy(m.rows, m.columns);
    for (std::size_t i = 0; i < m.rows; ++i) {
        std::copy(m.row(i).begin(), m.row(i).end(), copy.row(i).begin());
    }
    return copy;
}

double plain_alignment(MatrixView<const double> k, MatrixView<const double> t) {
    const double lengths = inner_product(k, k) * inner_product(t, t);
    return lengths > 0 ? inner_product(k, t) / std::sqrt(lengths) : 0;
}

void check_sample(const Dataset& data, bool as_numbers, std::size_t memory_bytes,
                  std::size_t matrices) {
    data.check();
    require_finite(data.x);
    if (data.y.empty()) throw InvalidInput("alignment needs labels, and the data has none");
    if (data.size() < 2) throw InvalidInput("alignment needs two rows or more");
    if (as_numbers && data.y.are_text()) {
        throw InvalidInput("targets must be numbers, and the labels are names");
    }
    if (!as_numbers && classes_of(data.y).count() < 2) {
        throw InvalidInput("alignment needs rows of two classes; all rows have one label");
    }
    const std::size_t n = data.size();
    if (n > std::size_t{1} << 20 || matrices * n * n * sizeof(double) > memory_bytes) {
        throw InvalidInput("matrices of " + std::to_string(n) +
                           " rows do not fit the memory allowed; raise it or take fewer rows");
    }
}

/// The alignment and the weights W whose product with ∂K is its slope; K and T are overwritten.
struct Weighted {
    double value = 0;
    Matrix<double> weights{};
};
Weighted weigh(Matrix<double> k, Matrix<double> t, bool centred) {
    if (centred) {
        center_gram(k.view());
        center_gram(t.view());
    }
    const double kk = inner_product(std::as_const(k).view(), std::as_const(k).view());
    const double tt = inner_product(std::as_const(t).view(), std::as_const(t).view());
    const double kt = inner_product(std::as_const(k).view(), std::as_const(t).view());
    const double lengths = std::sqrt(kk * tt);
    if (!(lengths > 0)) return {.weights = Matrix<double>(k.rows(), k.rows())};
    const double value = kt / lengths;
    // <HΔH, HTH> = <Δ, HTH>, so that the centred matrices weigh the plain slopes.
    for (std::size_t i = 0; i < k.rows(); ++i) {
        for (std::size_t j = 0; j < k.rows(); ++j) {
            t(i, j) = t(i, j) / lengths - value * k(i, j) / kk;
        }
    }
    return {.value = value, .weights = std::move(t)};
}

}  // namespace

double alignment(MatrixView<const double> k, MatrixView<const double> target, bool centred) {
    if (k.rows != k.columns || target.rows != target.columns || k.rows != target.rows) {
        throw InvalidInput("alignment compares two square matrices of one size");
    }
    if (!centred) return plain_alignment(k, target);
    Matrix<double> a = copy_of(k);
    Matrix<double> b = copy_of(target);
    center_gram(a.view());
    center_gram(b.view());
    return plain_alignment(std::as_const(a).view(), std::as_const(b).view());
}

Matrix<double> target_matrix(const Labels& labels, bool as_numbers) {
    const std::size_t n = labels.size();
    Matrix<double> t(n, n);
    if (as_numbers) {
        std::vector<double> y = labels.values;
        const double mean = std::accumulate(y.begin(), y.end(), 0.0) /
                            static_cast<double>(std::max<std::size_t>(n, 1));
        for (double& value : y) value -= mean;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) t(i, j) = y[i] * y[j];
        }
        return t;
    }
    const Classes classes = classes_of(labels);
    const double other = -1 / static_cast<double>(std::max<std::size_t>(classes.count(), 2) - 1);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            t(i, j) = classes.index[i] == classes.index[j] ? 1 : other;
        }
    }
    return t;
}

Alignment kernel_alignment(const Kernel& kernel, const Dataset& data, bool as_numbers,
                           std::size_t memory_bytes, const Progress& progress) {
    check_sample(data, as_numbers, memory_bytes, 2);
    const auto gram = make_gram<double>(kernel, data.x, data.feature_names, progress);
    Matrix<double> k(data.size(), data.size());
    gram.matrix(k.view(), progress);
    Matrix<double> t = target_matrix(data.y, as_numbers);
    Alignment result;
    result.plain = plain_alignment(std::as_const(k).view(), std::as_const(t).view());
    center_gram(k.view());
    center_gram(t.view());
    result.centred = plain_alignment(std::as_const(k).view(), std::as_const(t).view());
    return result;
}

AlignmentGradient alignment_gradient(const Kernel& kernel, const Dataset& data, bool centred,
                                     bool as_numbers, std::size_t memory_bytes) {
    check_sample(data, as_numbers, memory_bytes, 2);
    const GramGradient g(kernel, data.x, data.feature_names);
    Matrix<double> k(data.size(), data.size());
    g.matrix(k.view());
    const Weighted w = weigh(std::move(k), target_matrix(data.y, as_numbers), centred);
    return {
        .value = w.value, .parameters = g.parameters(), .gradient = g.contract(w.weights.view())};
}

AlignedKernel align_parameters(const Kernel& kernel, const Dataset& data, bool as_numbers,
                               std::size_t memory_bytes, const Progress& progress) {
    check_sample(data, as_numbers, memory_bytes, 3);
    const std::size_t n = data.size();
    const GramGradient first(kernel, data.x, data.feature_names,
                             memory_bytes - 2 * n * n * sizeof(double));
    std::vector<double> values;
    std::vector<std::size_t> moved;
    for (std::size_t p = 0; p < first.parameters().size(); ++p) {
        values.push_back(first.parameters()[p].value);
        if (values.back() > 0) moved.push_back(p);
    }
    if (moved.empty()) {
        throw InvalidInput("the kernel " + first.kernel().text() +
                           " has no positive parameter that could be moved");
    }
    const Matrix<double> target = target_matrix(data.y, as_numbers);
    const auto at = [&](std::span<const double> logarithms) {
        std::vector<double> now = values;
        for (std::size_t j = 0; j < moved.size(); ++j) now[moved[j]] = std::exp(logarithms[j]);
        return first.with(now);
    };
    const auto climb = [&](std::span<const double> x, std::span<double> gradient) {
        const GramGradient g = at(x);
        Matrix<double> k(n, n);
        g.matrix(k.view());
        const Weighted w = weigh(std::move(k), target, true);
        const std::vector<double> slope = g.contract(w.weights.view());
        for (std::size_t j = 0; j < moved.size(); ++j) {
            gradient[j] = -slope[moved[j]] * std::exp(x[j]);
        }
        return -w.value;
    };
    std::vector<double> start;
    LbfgsSettings settings{.iteration_limit = 100};
    for (const std::size_t p : moved) {
        start.push_back(std::log(values[p]));
        // A hundred thousand times either way is where a parameter has ceased to matter.
        settings.lower.push_back(start.back() - 11.5);
        settings.upper.push_back(start.back() + 11.5);
    }
    bool stopped = false;
    settings.progress = [&](std::size_t, double) {
        stopped = !keep_going(progress, {.task = "alignment", .fraction = -1});
        return !stopped;
    };
    const LbfgsSolution solution = minimise(start, climb, settings);
    if (stopped) throw Cancelled();
    const GramGradient best = at(solution.x);
    std::vector<KernelParameter> at_limit;
    for (const std::size_t j : solution.at_bounds) at_limit.push_back(best.parameters()[moved[j]]);
    return {.kernel = best.kernel(),
            .before = -solution.history.front(),
            .after = -solution.value,
            .evaluations = solution.evaluations,
            .status = describe(solution),
            .at_limit = std::move(at_limit)};
}

}  // namespace mercer
