#include "mercer/learn/svm/detail/hull_proof.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <optional>

#include "mercer/base/error.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/svm/detail/hull_equations.hpp"

namespace mercer {
namespace {

/// Roundings of a kernel value and of a sum of them, as a part of the terms: eight for each column
/// and each term.
double kernel_rounding(const Rows& x, std::size_t terms) {
    return 0x1p-50 * static_cast<double>(x.columns() + terms + 16);
}

struct Entry {
    std::size_t column;
    double value;
    friend auto operator<=>(const Entry&, const Entry&) = default;
};

/// The entries of row i that are not zero.
std::vector<Entry> entries_of(const Rows& x, std::size_t i, std::vector<double>& buffer) {
    std::vector<Entry> entries;
    const auto take = [&](const auto& view) {
        const auto index = view.row_index(i);
        const auto value = view.row_value(i);
        for (std::size_t k = 0; k < index.size(); ++k) {
            if (value[k] != 0) entries.push_back({index[k], static_cast<double>(value[k])});
        }
    };
    if (x.is_sparse()) {
        x.is_double() ? take(x.sparse_view<double>()) : take(x.sparse_view<float>());
        return entries;
    }
    buffer.resize(x.columns());
    x.copy_row(i, buffer);
    for (std::size_t j = 0; j < buffer.size(); ++j) {
        if (buffer[j] != 0) entries.push_back({j, buffer[j]});
    }
    return entries;
}

/// Weights that add up to 1, over each class where there is a bias.
void normalise(const Subproblem& problem, std::vector<double>& weights) {
    double sums[2] = {0, 0};
    const auto side = [&](std::size_t i) { return problem.bias && problem.target[i] < 0 ? 1 : 0; };
    for (std::size_t i = 0; i < weights.size(); ++i) sums[side(i)] += weights[i];
    for (std::size_t i = 0; i < weights.size(); ++i) weights[i] /= sums[side(i)];
}

/// Two rows that are the same and of different classes, and all the weight on them.
std::optional<HullProof> contradiction(const Subproblem& problem, const Rows& x) {
    std::map<std::vector<Entry>, std::size_t> first;
    std::vector<double> buffer;
    for (std::size_t i = 0; i < problem.size(); ++i) {
        const auto [place, fresh] = first.emplace(entries_of(x, i, buffer), i);
        if (fresh || problem.target[place->second] == problem.target[i]) continue;
        HullProof proof{.weights = std::vector<double>(problem.size(), 0.0)};
        proof.weights[i] = proof.weights[place->second] = 1;
        normalise(problem, proof.weights);
        return proof;
    }
    return std::nullopt;
}

/// The equations Σ w_i y_i (x_i, 1) = 0 of the rows that carry weight, or nothing where they are
/// too many to be written down.
std::optional<HullEquations> equations_of(const Subproblem& problem, const Rows& x,
                                          std::span<const std::size_t> support) {
    constexpr std::size_t most = std::size_t{1} << 22;
    std::vector<std::vector<Entry>> rows;
    std::map<std::size_t, std::size_t> place;
    std::vector<double> buffer;
    for (const std::size_t i : support) {
        rows.push_back(entries_of(x, i, buffer));
        for (const Entry& entry : rows.back()) place.emplace(entry.column, 0);
    }
    const std::size_t extra = problem.bias ? 1 : 0;
    if ((place.size() + extra) * support.size() > most) return std::nullopt;
    std::size_t next = extra;
    for (auto& [column, position] : place) position = next++;
    HullEquations equations(next, support.size());
    for (std::size_t a = 0; a < support.size(); ++a) {
        const double y = problem.target[support[a]] > 0 ? 1 : -1;
        if (problem.bias) equations.matrix(0, a) = y;
        for (const Entry& entry : rows[a]) {
            equations.matrix(place[entry.column], a) = y * entry.value;
        }
    }
    return equations;
}

/// The distance of the two weighted means, and a bound on it. `w` need not add up to anything: with
/// δ = Σ y w x and τ = Σ y w the difference of the means is δ/W₊ − n τ/W₊, n the mean of the
/// second.
std::pair<double, double> mean_distance(const HullEquations& equations, bool bias,
                                        std::span<const double> w) {
    constexpr double few = 0x1p-49;
    double weight[2] = {0, 0};
    for (std::size_t a = 0; a < w.size(); ++a) {
        weight[bias && equations.matrix(0, a) < 0 ? 1 : 0] += w[a];
    }
    const double slack = few + 0x1p-52 * static_cast<double>(w.size());
    const double tau = bias ? equations.residual(0, w) : 0;
    double squared = 0, bound = 0;
    for (std::size_t e = bias ? 1 : 0; e < equations.matrix.rows(); ++e) {
        const double first = equations.residual(e, w) / weight[0];
        double mean = 0, size = 0;  // n, and what its rounding is a part of
        for (std::size_t a = 0; a < w.size(); ++a) {
            if (!bias || equations.matrix(0, a) > 0) continue;
            mean -= w[a] * equations.matrix(e, a) / weight[1];
            size += w[a] * std::abs(equations.matrix(e, a)) / weight[1];
        }
        const double here = std::abs(first - mean * tau / weight[0]);
        const double error = slack * (std::abs(first) + size * std::abs(tau) / weight[0]);
        squared += here * here;
        bound += (here + error) * (here + error);
    }
    const double rows = static_cast<double>(equations.matrix.rows());
    return {std::sqrt(squared), std::sqrt(bound) * (1 + few + rows * 0x1p-52)};
}

/// From the rows themselves. Nothing when there are too many.
std::optional<HullProof> linear_proof(const Subproblem& problem, const Rows& x, double factor,
                                      const std::vector<double>& direction) {
    std::vector<std::size_t> support;
    std::vector<double> w;
    for (std::size_t i = 0; i < direction.size(); ++i) {
        if (!(direction[i] > 0)) continue;
        support.push_back(i);
        w.push_back(direction[i]);
    }
    const auto equations = equations_of(problem, x, support);
    if (!equations) return std::nullopt;
    const auto exact = equations->positive_solution(w);
    const std::vector<double>& best = exact.weights.empty() ? w : exact.weights;
    HullProof proof{.weights = std::vector<double>(direction.size(), 0.0)};
    for (std::size_t a = 0; a < support.size(); ++a) proof.weights[support[a]] = best[a];
    const auto [distance, bound] = mean_distance(*equations, problem.bias, best);
    proof.distance = std::sqrt(factor) * distance;
    proof.margin_bound = exact.proved ? 0 : std::sqrt(factor) * bound / (problem.bias ? 2 : 1);
    normalise(problem, proof.weights);
    return proof;
}

/// From d'Qd alone.
HullProof kernel_proof(const Subproblem& problem, const Rows& x, const RecessionDirection& found) {
    HullProof proof{.weights = found.direction, .estimated = true};
    double sum = 0;
    std::size_t terms = 0;
    for (std::size_t i = 0; i < problem.size(); ++i) {
        if (!problem.bias || problem.target[i] > 0) sum += found.direction[i];
        if (found.direction[i] > 0) ++terms;
    }
    normalise(problem, proof.weights);
    const double rounding = kernel_rounding(x, terms) * found.scale;
    proof.distance = std::sqrt(std::max(0.0, found.curvature)) / sum;
    // Below zero by more than rounding: the kernel is not positive definite, and nothing follows.
    proof.margin_bound =
        found.curvature < -rounding
            ? std::numeric_limits<double>::infinity()
            : std::sqrt(std::max(0.0, found.curvature) + rounding) / sum / (problem.bias ? 2 : 1);
    return proof;
}

}  // namespace

void HullProof::tell(Report& report) const {
    report.status = status();
    report.hull_weights = weights;
    report.hull_distance = distance;
    report.margin_bound = margin_bound;
    if (estimated) report.figures["margin_bound_is_estimate"] = 1;
}

HullProof prove_hulls(const Subproblem& problem, const Kernel& kernel, const Rows& x,
                      const RecessionDirection& found) {
    // A precomputed kernel knows rows by their place, not by what stands in them.
    if (!contains(kernel, KernelKind::precomputed)) {
        if (auto proof = contradiction(problem, x)) return std::move(*proof);
    }
    if (const auto factor = linear_factor(kernel)) {
        if (auto proof = linear_proof(problem, x, *factor, found.direction)) {
            return std::move(*proof);
        }
    }
    return kernel_proof(problem, x, found);
}

HullProof prove_hulls(const Subproblem& problem, const Kernel& kernel, const Rows& x,
                      std::span<const double> weights) {
    std::vector<std::size_t> support;
    double sums[2] = {0, 0};
    bool sound = weights.size() == problem.size();
    for (std::size_t i = 0; i < weights.size() && sound; ++i) {
        sound = weights[i] >= 0 && std::isfinite(weights[i]);
        if (!(weights[i] > 0)) continue;
        support.push_back(i);
        sums[problem.target[i] > 0 ? 0 : 1] += weights[i];
    }
    const bool present = problem.bias ? std::min(sums[0], sums[1]) > 0 : sums[0] + sums[1] > 0;
    if (!sound || !present) {
        throw InvalidInput("the weights that should prove that there is no hard margin are no " +
                           std::to_string(problem.size()) + " weights of points of the hulls");
    }
    // Both sums are brought to one half: A d = 0 and Σ d = 1.
    RecessionDirection found{.direction = std::vector<double>(weights.begin(), weights.end())};
    normalise(problem, found.direction);
    for (double& d : found.direction) d /= problem.bias ? 2 : 1;
    const auto gram = make_gram<double>(kernel, x);
    const Points<double> points = gram.select(gram.reference(), support);
    Matrix<double> k(support.size(), support.size());
    gram.block(points, points, k.view());
    for (std::size_t a = 0; a < support.size(); ++a) {
        for (std::size_t b = 0; b < support.size(); ++b) {
            const std::size_t i = support[a], j = support[b];
            const double sign = (problem.target[i] > 0) == (problem.target[j] > 0) ? 1 : -1;
            const double term = sign * found.direction[i] * found.direction[j] * k(a, b);
            found.curvature += term;
            found.scale += std::abs(term);
        }
    }
    return prove_hulls(problem, kernel, x, found);
}

}  // namespace mercer
