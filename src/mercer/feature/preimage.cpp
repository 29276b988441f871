#include "mercer/feature/preimage.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/feature/detail/preimage_state.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/kernel/detail/slope.hpp"
#include "mercer/kernel/parameters.hpp"

namespace mercer {
namespace {

constexpr Words methods{std::pair{PreimageMethod::fixed_point, "fixed-point"},
                        std::pair{PreimageMethod::gradient, "gradient"},
                        std::pair{PreimageMethod::distance, "distance"},
                        std::pair{PreimageMethod::regression, "regression"},
                        std::pair{PreimageMethod::best, "best"}};

constexpr std::size_t batch = 128;  // targets worked on together
constexpr std::size_t most_bytes = std::size_t{1} << 32;

Matrix<double> dense_of(const Rows& rows) {
    Matrix<double> result(rows.size(), rows.columns());
    for (std::size_t i = 0; i < rows.size(); ++i) rows.copy_row(i, result.row(i));
    return result;
}

void check_settings(const PreimageSettings& s) {
    if (s.starts == 0) throw InvalidInput("starts = 0 must be at least 1");
    if (s.iterations == 0) throw InvalidInput("iterations = 0 must be at least 1");
    if (s.neighbours < 2) {
        throw InvalidInput("neighbours = " + std::to_string(s.neighbours) + " must be at least 2");
    }
    if (s.landmarks == 0) throw InvalidInput("landmarks = 0 must be at least 1");
    require_range("tolerance", s.tolerance, s.tolerance >= 0 && s.tolerance < 1, "between 0 and 1");
    require_range("lambda", s.lambda, s.lambda > 0, "above 0");
}

bool has_derivative(const Kernel& kernel, std::span<const double> at) {
    try {
        input_gradient(kernel, at, at);
        return true;
    } catch (const InvalidInput&) {
        return false;
    }
}

PreimageTargets take_targets(const PreimageFinder::State& s, MatrixView<const double> coefficients,
                             const GramProduct<double>& product) {
    PreimageTargets targets{.coefficients = coefficients,
                            .with_points = Matrix<double>(coefficients.rows, s.size()),
                            .squares = {}};
    product(coefficients, targets.with_points.view(), s.settings.progress);
    for (std::size_t t = 0; t < coefficients.rows; ++t) {
        const auto a = coefficients.row(t);
        const double square =
            std::inner_product(a.begin(), a.end(), targets.with_points.row(t).begin(), 0.0);
        targets.squares.push_back(std::max(0.0, square));
    }
    return targets;
}

Matrix<double> positions(const std::vector<Preimage>& found, std::size_t columns) {
    Matrix<double> result(found.size(), columns);
    for (std::size_t t = 0; t < found.size(); ++t) {
        std::ranges::copy(found[t].z, result.row(t).begin());
    }
    return result;
}

/// With k(x, z) = a x·z every Ψ is itself the image of Σ α_i x_i.
std::vector<Preimage> exact_linear(const PreimageFinder::State& s, const PreimageTargets& targets) {
    Matrix<double> z(targets.size(), s.columns());
    multiply(targets.coefficients, s.x.view(), z.view());
    std::vector<Preimage> found(targets.size());
    for (std::size_t t = 0; t < found.size(); ++t) {
        found[t] = {.z = {z.row(t).begin(), z.row(t).end()}, .method = s.settings.method};
    }
    judge_all(s, targets, found);
    return found;
}

std::vector<Preimage> descend_from_all(const PreimageFinder::State& s,
                                       const PreimageTargets& targets,
                                       const Matrix<double>& given) {
    std::vector<Preimage> best = descend(s, targets, starts_of(s, targets, given, 0));
    for (std::size_t start = 1; start < s.settings.starts; ++start) {
        keep_better(best, descend(s, targets, starts_of(s, targets, given, start)));
    }
    return best;
}

std::vector<Preimage> best_of_all(const PreimageFinder::State& s, const PreimageTargets& targets,
                                  const Matrix<double>& given) {
    std::vector<Preimage> best = by_distances(s, targets);
    if (s.inverse) keep_better(best, by_regression(s, targets));
    if (s.gamma) keep_better(best, fixed_point(s, targets, given));
    if (!s.differentiable) return best;
    const Matrix<double> from = positions(best, s.columns());
    keep_better(best, descend(s, targets, from));
    if (!s.gamma) keep_better(best, descend(s, targets, starts_of(s, targets, given, 0)));
    return best;
}

std::vector<Preimage> find_batch(const PreimageFinder::State& s, const PreimageTargets& targets,
                                 const Matrix<double>& given) {
    if (is_linear(s.kernel)) return exact_linear(s, targets);
    switch (s.settings.method) {
        case PreimageMethod::fixed_point: return fixed_point(s, targets, given);
        case PreimageMethod::gradient: return descend_from_all(s, targets, given);
        case PreimageMethod::distance: return by_distances(s, targets);
        case PreimageMethod::regression: return by_regression(s, targets);
        case PreimageMethod::best: break;
    }
    return best_of_all(s, targets, given);
}

}  // namespace

std::string_view preimage_method_name(PreimageMethod method) {
    return methods.word(method);
}

PreimageMethod preimage_method_named(std::string_view name) {
    return methods.value(name, "method of pre-images");
}

// ---- Shared by the methods.

PreimageFinder::State::State(const Kernel& resolved, const Rows& rows, PreimageSettings chosen)
    : settings(std::move(chosen)),
      kernel(resolved),
      gram(make_gram<double>(resolved, rows)),
      x(dense_of(rows)),
      diagonal(rows.size()) {
    gram.diagonal(gram.reference(), diagonal);
    gamma = gaussian_gamma(kernel);
    differentiable = has_derivative(kernel, x.row(0));
    const bool descends =
        settings.method == PreimageMethod::gradient || settings.method == PreimageMethod::best;
    if (descends && differentiable) {
        if (const auto terms = slope_terms(kernel)) {
            slopes.emplace();
            for (const SlopeTerm& term : *terms) {
                slopes->push_back({make_gram<double>(term.slope, rows), term.difference});
            }
        }
    }
    if (settings.method == PreimageMethod::regression || settings.method == PreimageMethod::best) {
        inverse = learn_inverse(*this);
    }
}

void judge_at(double with_target, double self, double square, bool free_factor, Preimage& p) {
    p.factor = 1;
    if (free_factor) p.factor = self > 0 ? with_target / self : 0;
    p.squared_distance =
        std::max(0.0, square - 2 * p.factor * with_target + p.factor * p.factor * self);
}

void judge_all(const PreimageFinder::State& s, const PreimageTargets& targets,
               std::vector<Preimage>& found) {
    const Rows z = Rows::dense(positions(found, s.columns()).values(), s.columns());
    const Points<double> points = s.gram.prepare(z);
    std::vector<double> self(found.size());
    s.gram.diagonal(points, self);
    Matrix<double> values(found.size(), s.size());
    s.gram.block(points, s.gram.reference(), values.view());
    for (std::size_t t = 0; t < found.size(); ++t) {
        const auto row = values.row(t);
        const double with_target =
            std::inner_product(row.begin(), row.end(), targets.coefficients.row(t).begin(), 0.0);
        judge_at(with_target, self[t], targets.squares[t], s.settings.free_factor, found[t]);
    }
}

void keep_better(std::vector<Preimage>& best, std::vector<Preimage> other) {
    for (std::size_t t = 0; t < best.size(); ++t) {
        // What is not a number is never better, and anything is better than it.
        const bool better = other[t].squared_distance < best[t].squared_distance ||
                            !std::isfinite(best[t].squared_distance);
        if (better) best[t] = std::move(other[t]);
    }
}

std::vector<std::size_t> nearest_points(const PreimageFinder::State& s,
                                        const PreimageTargets& targets, std::size_t t,
                                        std::size_t count) {
    // ‖Ψ − Φ(x_i)‖² = ‖Ψ‖² − 2 <Ψ, Φ(x_i)> + k(x_i, x_i); with β free the angle counts instead.
    std::vector<double> far(s.size());
    for (std::size_t i = 0; i < far.size(); ++i) {
        const double f = targets.with_points(t, i);
        if (s.settings.free_factor) {
            far[i] = s.diagonal[i] > 0 ? -f * f / s.diagonal[i] : 0;
        } else {
            far[i] = s.diagonal[i] - 2 * f;
        }
    }
    std::vector<std::size_t> order(s.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    count = std::min(count, order.size());
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(count);
    std::ranges::partial_sort(order, middle, [&](std::size_t a, std::size_t b) {
        return far[a] != far[b] ? far[a] < far[b] : a < b;
    });
    order.resize(count);
    return order;
}

Matrix<double> starts_of(const PreimageFinder::State& s, const PreimageTargets& targets,
                         const Matrix<double>& given, std::size_t which) {
    Matrix<double> result(targets.size(), s.columns());
    for (std::size_t t = 0; t < targets.size(); ++t) {
        if (given.rows() > 0 && which == 0) {
            std::ranges::copy(given.row(t), result.row(t).begin());
            continue;
        }
        const std::size_t rank = given.rows() > 0 ? which - 1 : which;
        const auto near = nearest_points(s, targets, t, rank + 1);
        std::ranges::copy(s.x.row(near.back()), result.row(t).begin());
    }
    return result;
}

// ---- The finder.

PreimageFinder::PreimageFinder(const Kernel& kernel, const Rows& points,
                               PreimageSettings settings) {
    check_settings(settings);
    if (points.size() == 0) throw InvalidInput("a pre-image needs points: the expansion has none");
    // Its constructor refuses what has no value without a sample, and rows that are not finite.
    const FeatureVector checked(kernel, points, std::vector<double>(points.size(), 0.0));
    if (points.columns() > most_bytes / sizeof(double) / points.size()) {
        throw InvalidInput(
            "the points of the expansion take more than 4 GiB as dense rows; "
            "pre-images of them cannot be found");
    }
    const PreimageMethod method = settings.method;
    auto state = std::make_shared<State>(kernel, points, std::move(settings));
    const std::string name(preimage_method_name(method));
    if (method == PreimageMethod::fixed_point && !state->gamma) {
        throw InvalidInput("the method fixed-point is for Gaussian kernels, not " +
                           quoted(kernel.text(), 200) + "; use gradient");
    }
    if (method == PreimageMethod::gradient && !state->differentiable) {
        throw InvalidInput("the kernel " + quoted(kernel.text(), 200) +
                           " has no derivative for the method gradient; use distance");
    }
    if (method == PreimageMethod::regression && !state->inverse) {
        throw InvalidInput("the matrix of the kernel " + quoted(kernel.text(), 200) +
                           " is not positive definite: the method regression needs that, or a "
                           "larger lambda");
    }
    state_ = std::move(state);
}

std::vector<Preimage> PreimageFinder::find(MatrixView<const double> coefficients,
                                           const Rows& starts) const {
    const State& s = *state_;
    if (coefficients.columns != s.size()) {
        throw InvalidInput(std::to_string(coefficients.columns) + " coefficients for " +
                           std::to_string(s.size()) + " points");
    }
    if (starts.size() > 0 &&
        (starts.size() != coefficients.rows || starts.columns() > s.columns())) {
        throw InvalidInput("there must be one start for each target, of at most " +
                           std::to_string(s.columns()) + " columns");
    }
    require_finite(starts);
    const GramProduct<double> product(s.gram, std::size_t{1} << 28, s.settings.progress);
    std::vector<Preimage> all;
    for (std::size_t first = 0; first < coefficients.rows; first += batch) {
        const double done = static_cast<double>(first) / static_cast<double>(coefficients.rows);
        if (!keep_going(s.settings.progress, {"pre-images", done})) throw Cancelled();
        const std::size_t count = std::min(batch, coefficients.rows - first);
        const PreimageTargets targets =
            take_targets(s, coefficients.block(first, 0, count, s.size()), product);
        Matrix<double> given(starts.size() > 0 ? count : 0, s.columns());
        for (std::size_t t = 0; t < given.rows(); ++t) {
            starts.copy_row(first + t, given.row(t).first(starts.columns()));
        }
        std::vector<Preimage> found = find_batch(s, targets, given);
        std::ranges::move(found, std::back_inserter(all));
    }
    return all;
}

std::vector<Preimage> PreimageFinder::judge(MatrixView<const double> coefficients,
                                            const Rows& z) const {
    const State& s = *state_;
    if (coefficients.columns != s.size() || z.size() != coefficients.rows ||
        z.columns() > s.columns()) {
        throw InvalidInput(
            "there must be a coefficient for each point and one row for each "
            "target, of at most " +
            std::to_string(s.columns()) + " columns");
    }
    require_finite(z);
    const GramProduct<double> product(s.gram, 0);
    const PreimageTargets targets = take_targets(s, coefficients, product);
    std::vector<Preimage> result(z.size());
    for (std::size_t t = 0; t < z.size(); ++t) {
        result[t].z.resize(s.columns());
        z.copy_row(t, std::span(result[t].z).first(z.columns()));
    }
    judge_all(s, targets, result);
    return result;
}

Preimage preimage(const FeatureVector& target, const PreimageSettings& settings,
                  std::span<const double> start) {
    const PreimageFinder finder(target.kernel(), target.points(), settings);
    Rows starts;
    if (!start.empty()) {
        starts = Rows::dense(std::vector<double>(start.begin(), start.end()), start.size());
    }
    const MatrixView<const double> one(target.coefficients().data(), 1, target.size());
    return finder.find(one, starts).front();
}

Rows preimage_rows(std::span<const Preimage> preimages) {
    if (preimages.empty()) return {};
    std::vector<double> values;
    for (const Preimage& p : preimages) values.insert(values.end(), p.z.begin(), p.z.end());
    return Rows::dense(std::move(values), preimages.front().z.size());
}

}  // namespace mercer
