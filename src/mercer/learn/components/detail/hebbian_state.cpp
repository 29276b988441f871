#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/components/detail/hebbian_state.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"

namespace mercer {
namespace {

Matrix<double> transposed(const Matrix<double>& a) {
    Matrix<double> t(a.columns(), a.rows());
    for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t j = 0; j < a.columns(); ++j) t(j, i) = a(i, j);
    }
    return t;
}

/// Gram and Schmidt, twice for good measure; the largest |wᵢ·wⱼ − δᵢⱼ| there was.
double orthonormalise(Matrix<double>& w) {
    double skew = 0;
    for (int round = 0; round < 2; ++round) {
        for (std::size_t i = 0; i < w.rows(); ++i) {
            for (std::size_t j = 0; j < i; ++j) {
                const double overlap = dot(w.row(i), w.row(j));
                if (round == 0) skew = std::max(skew, std::abs(overlap));
                for (std::size_t r = 0; r < w.columns(); ++r) w(i, r) -= overlap * w(j, r);
            }
            const double length = std::sqrt(dot(w.row(i), w.row(i)));
            if (round == 0) skew = std::max(skew, std::abs(length * length - 1));
            for (double& value : w.row(i)) value /= length;
        }
    }
    return skew;
}

/// Averages over the latest updates: what the components do, measured.
constexpr double memory = 0.05;

}  // namespace

void HebbianStream::State::take(const Rows& rows, std::span<const double> weights) {
    std::vector<double> row(columns);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows.copy_row(i, row);
        window.insert(window.end(), row.begin(), row.end());
        window_weights.push_back(weights.empty() ? 1 : weights[i]);
    }
}

void HebbianStream::State::settle() {
    const Rows rows = Rows::dense(std::exchange(window, {}), columns);
    const std::vector<double> weights = std::exchange(window_weights, {});
    scaling = Scaling::fit(settings.common.scaling, rows);
    const Rows scaled = scaling.apply(rows);
    const auto all = make_gram<double>(settings.common.kernel, scaled, names);
    const IncompleteCholesky chosen = incomplete_cholesky(
        *make_operator(all, {}),
        {.rank = settings.dictionary, .tolerance = 1e-12, .progress = settings.common.progress});
    if (chosen.rank() == 0) throw InvalidInput("the kernel is 0 on all rows of the window");
    dictionary = scaled.select(chosen.pivots).owned();
    pivot_factor = chosen.pivot_factor();
    const std::size_t rank = chosen.rank();
    const std::size_t count = std::min(settings.components, rank);
    w = Matrix<double>(count, rank);
    Random random(settings.common.seed);
    for (double& value : w.values()) value = random.normal();
    orthonormalise(w);
    mean.assign(rank, 0.0);
    variance.assign(count, 0.0);
    drift = Matrix<double>(count, rank);
    gram = make_gram<double>(all.kernel(), dictionary, names);
    learn_all(rows, weights);
}

Matrix<double> HebbianStream::State::features(const Rows& rows,
                                              std::span<double> lengths_out) const {
    const Points<double> points = gram->prepare(scaling.apply(rows));
    Matrix<double> phi(rows.size(), dictionary.size());
    gram->block(points, gram->reference(), phi.view());
    gram->diagonal(points, lengths_out);
    forward_solve(pivot_factor.view(), phi.view());
    return phi;
}

void HebbianStream::State::learn_all(const Rows& rows, std::span<const double> weights) {
    std::vector<std::size_t> positions;
    for (std::size_t first = 0; first < rows.size(); first += settings.batch) {
        const std::size_t last = std::min(rows.size(), first + settings.batch);
        positions.resize(last - first);
        std::iota(positions.begin(), positions.end(), first);
        if (!keep_going(settings.common.progress, {"learning", -1})) throw Cancelled();
        learn(rows.select(positions),
              weights.empty() ? weights : weights.subspan(first, last - first));
    }
}

void HebbianStream::State::learn(const Rows& rows, std::span<const double> weights) {
    std::vector<double> length(rows.size());
    Matrix<double> phi = features(rows, length);
    const auto weight = [&](std::size_t i) { return weights.empty() ? 1 : weights[i]; };
    double batch_weight = 0;
    for (std::size_t i = 0; i < rows.size(); ++i) batch_weight += weight(i);
    if (!(batch_weight > 0)) return;
    total += batch_weight;
    std::vector<double> change(mean.size(), 0.0);
    for (std::size_t i = 0; i < rows.size(); ++i) {
        lengths += weight(i) * length[i];
        missed += weight(i) * std::max(0.0, length[i] - dot(phi.row(i), phi.row(i)));
        for (std::size_t r = 0; r < mean.size(); ++r) {
            change[r] += weight(i) * (phi(i, r) - mean[r]);
        }
    }
    for (std::size_t r = 0; r < mean.size() && settings.center; ++r) {
        mean[r] += change[r] / total;
    }
    centre(phi, weights, batch_weight);
    step(phi);
}

void HebbianStream::State::centre(Matrix<double>& phi, std::span<const double> weights,
                                  double sum) const {
    for (std::size_t i = 0; i < phi.rows(); ++i) {
        const double root = std::sqrt((weights.empty() ? 1 : weights[i]) / sum);
        for (std::size_t r = 0; r < mean.size(); ++r) {
            phi(i, r) = root * (phi(i, r) - mean[r]);
        }
    }
}

Matrix<double> HebbianStream::State::direction(const Matrix<double>& phi,
                                               Matrix<double>& spread) const {
    Matrix<double> y(w.rows(), phi.rows());
    multiply_transposed(w.view(), phi.view(), y.view());
    spread = Matrix<double>(w.rows(), w.rows());
    multiply_transposed(y.view(), y.view(), spread.view());
    Matrix<double> result(w.rows(), w.columns());
    const Matrix<double> phi_columns = transposed(phi);
    multiply_transposed(y.view(), phi_columns.view(), result.view());
    Matrix<double> lower = spread;
    for (std::size_t i = 0; i < lower.rows(); ++i) {
        std::ranges::fill(lower.row(i).subspan(i + 1), 0.0);
    }
    Matrix<double> deflation(w.rows(), w.columns());
    const Matrix<double> w_columns = transposed(w);
    multiply_transposed(lower.view(), w_columns.view(), deflation.view());
    for (std::size_t k = 0; k < result.values().size(); ++k) {
        result.values()[k] -= deflation.values()[k];
    }
    return result;
}

void HebbianStream::State::step(const Matrix<double>& phi) {
    Matrix<double> spread;
    const Matrix<double> move = direction(phi, spread);
    const double annealed = settings.anneal / (static_cast<double>(updates) + settings.anneal);
    // At first the averages are of all there was.
    const double share = std::max(memory, 1 / static_cast<double>(updates + 1));
    for (std::size_t i = 0; i < w.rows(); ++i) {
        const auto row = w.row(i);
        const double square = std::max(dot(row, row), 1e-300);
        const double own = spread(i, i) / square;
        variance[i] += share * (own - variance[i]);
        // By the average, unless this batch is far beyond it: a component that has just found a
        // large direction would be thrown out of it again. (Any nearer bound would make rows of
        // large projections count less, and so bend the components.)
        const double scale = std::max(own / 8, variance[i]);
        const double eta = scale > 0 ? settings.rate * annealed / scale : 0;
        for (std::size_t r = 0; r < row.size(); ++r) {
            drift(i, r) += share * (move(i, r) - drift(i, r));
            row[r] += eta * move(i, r);
        }
        const double after = dot(row, row);
        // The rule keeps lengths near 1; a batch unlike all before may break that.
        if (!(after > 0.5 && after < 2)) {
            const double length = std::sqrt(after);
            for (double& value : row) value = length > 0 ? value / length : 0;
        }
    }
    ++updates;
}

template <class Use>
void HebbianStream::State::each_block(const Rows& rows, std::span<const double> weights,
                                      const Use& use) const {
    constexpr std::size_t block = 512;
    std::vector<std::size_t> positions;
    for (std::size_t first = 0; first < rows.size(); first += block) {
        positions.resize(std::min(block, rows.size() - first));
        std::iota(positions.begin(), positions.end(), first);
        std::vector<double> length(positions.size());
        Matrix<double> phi = features(rows.select(positions), length);
        use(phi, length, weights.empty() ? weights : weights.subspan(first, positions.size()));
    }
}

void HebbianStream::State::measure(const Rows& rows, std::span<const double> weights) {
    orthonormalise(w);
    total = lengths = missed = 0;
    std::ranges::fill(mean, 0.0);
    each_block(rows, weights,
               [&](const Matrix<double>& phi, const std::vector<double>& length,
                   std::span<const double> part) {
                   for (std::size_t i = 0; i < phi.rows(); ++i) {
                       const double weight = part.empty() ? 1 : part[i];
                       total += weight;
                       lengths += weight * length[i];
                       missed += weight * std::max(0.0, length[i] - dot(phi.row(i), phi.row(i)));
                       for (std::size_t r = 0; r < mean.size(); ++r) mean[r] += weight * phi(i, r);
                   }
               });
    for (double& value : mean) value = settings.center ? value / total : 0;
    Matrix<double> cross(w.rows(), w.columns());
    each_block(rows, weights,
               [&](Matrix<double>& phi, const std::vector<double>&, std::span<const double> part) {
                   centre(phi, part, total);
                   Matrix<double> y(w.rows(), phi.rows());
                   multiply_transposed(w.view(), phi.view(), y.view());
                   const Matrix<double> phi_columns = transposed(phi);
                   Matrix<double> product(w.rows(), w.columns());
                   multiply_transposed(y.view(), phi_columns.view(), product.view());
                   for (std::size_t k = 0; k < product.values().size(); ++k) {
                       cross.values()[k] += product.values()[k];
                   }
               });
    for (std::size_t i = 0; i < w.rows(); ++i) {
        variance[i] = dot(cross.row(i), w.row(i));
        for (std::size_t r = 0; r < mean.size(); ++r) {
            drift(i, r) = cross(i, r) - variance[i] * w(i, r);
        }
    }
}

void HebbianStream::State::expand(const Matrix<double>& basis, ModelParts& model,
                                  Components& found) const {
    Expansion& e = model.expansion;
    e.kernel = gram->kernel();
    e.points = dictionary;
    e.coefficients = basis;
    backward_solve(pivot_factor.view(), e.coefficients.view());
    for (std::size_t j = 0; j < basis.rows(); ++j) {
        const auto alpha = e.coefficients.row(j);
        const double largest = *std::ranges::max_element(
            alpha, [](double a, double b) { return std::abs(a) < std::abs(b); });
        const double sign = largest < 0 ? -1 : 1;
        for (double& value : alpha) value *= sign;
        e.bias.push_back(-sign * dot(basis.row(j), mean));
    }
    if (!settings.center) return;
    Matrix<double> centre_weights(1, mean.size());
    std::ranges::copy(mean, centre_weights.row(0).begin());
    backward_solve(pivot_factor.view(), centre_weights.view());
    found.centre = std::move(centre_weights);
}

ModelParts HebbianStream::State::model() const {
    ModelParts result;
    result.task = Task::kpca;
    result.multi_class = MultiClass::one_vs_rest;
    result.columns = columns;
    result.feature_names = names;
    result.scaling = scaling;
    // Coefficients of both signs and any size: single precision would lose what they cancel.
    result.double_precision = true;
    Matrix<double> basis = w;
    const double skew = orthonormalise(basis);
    std::size_t kept = 0;
    while (kept < basis.rows() && variance[kept] > 0) ++kept;
    if (kept == 0) throw InvalidInput("the images of the rows seen do not vary");
    Matrix<double> first(kept, basis.columns());
    std::copy_n(basis.values().begin(), first.values().size(), first.values().begin());
    Components found;
    expand(first, result, found);
    const double square = dot(mean, mean);
    const double total_variance = std::max(0.0, lengths / total - square);
    Matrix<double> table(kept, 3);
    double explained = 0, worst = 0;
    for (std::size_t j = 0; j < kept; ++j) {
        table(j, 0) = total * variance[j];
        table(j, 1) = total_variance > 0 ? variance[j] / total_variance : 0;
        table(j, 2) = total * std::sqrt(dot(drift.row(j), drift.row(j)));
        explained += table(j, 1);
        worst = std::max(worst, table(j, 2) / (total * variance[0]));
    }
    found.eigenvalues = std::move(table);
    Matrix<double> moments(1, 3);
    moments(0, 0) = total;
    moments(0, 1) = total_variance;
    moments(0, 2) = square;
    found.moments = std::move(moments);
    result.extras.set(std::move(found));
    result.trained.bias = settings.center;
    result.trained.numbers = {{"components", static_cast<double>(settings.components)},
                              {"dictionary", static_cast<double>(settings.dictionary)},
                              {"batch", static_cast<double>(settings.batch)},
                              {"rate", settings.rate},
                              {"anneal", settings.anneal}};
    Report report;
    report.rows = seen;
    report.free_support_vectors = dictionary.size();
    report.iterations = updates;
    report.figures = {{"components", static_cast<double>(kept)},
                      {"total_variance", total_variance},
                      {"explained", explained},
                      {"residual", worst},
                      {"lost", lengths > 0 ? missed / lengths : 0},
                      {"skew", skew}};
    result.reports = {std::move(report)};
    return result;
}

}  // namespace mercer
