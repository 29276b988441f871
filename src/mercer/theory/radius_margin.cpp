#include "mercer/theory/radius_margin.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/svm/detail/subproblem.hpp"
#include "mercer/solver/detail/lbfgs.hpp"

namespace mercer {
namespace {

constexpr double enough = 1e-8;  // of both problems
constexpr double no_bound = std::numeric_limits<double>::infinity();

/// Signs of the two classes.
std::vector<double> signs_of(const Dataset& data) {
    if (data.y.empty()) throw InvalidInput("a margin needs labels, and the data has none");
    const Classes classes = classes_of(data.y);
    if (classes.count() != 2) {
        throw InvalidInput("the radius-margin bound is that of two classes, and there are " +
                           std::to_string(classes.count()));
    }
    std::vector<double> y;
    for (const std::int32_t index : classes.index) y.push_back(index == 0 ? 1.0 : -1.0);
    return y;
}

/// What moves: C first, then the positive parameters of the kernel.
struct Moved {
    std::vector<double> values{};
    std::vector<std::size_t> parameters{};
};

Moved moved_of(const GramGradient& k) {
    Moved moved;
    for (std::size_t p = 0; p < k.parameters().size(); ++p) {
        moved.values.push_back(k.parameters()[p].value);
        if (moved.values.back() > 0) moved.parameters.push_back(p);
    }
    return moved;
}

GramGradient at(const GramGradient& first, const Moved& moved, std::span<const double> logarithms) {
    std::vector<double> now = moved.values;
    for (std::size_t j = 0; j < moved.parameters.size(); ++j) {
        now[moved.parameters[j]] = std::exp(logarithms[j + 1]);
    }
    return first.with(now);
}

}  // namespace

RadiusMargin radius_margin_of(const GramGradient& k, std::span<const double> y, double C) {
    require_range("C", C, C > 0, "greater than 0");
    const std::size_t n = k.size();
    Matrix<double> matrix(n, n);
    k.matrix(matrix.view());
    for (std::size_t i = 0; i < n; ++i) matrix(i, i) += 1 / C;
    const auto op = matrix_operator<double>(std::as_const(matrix).view());

    Subproblem margin{.task = Task::hard_margin, .target = {y.begin(), y.end()}};
    margin.bound.assign(n, no_bound);
    DualSolution plane = solve_dual(*op, make_dual(margin), {.tolerance = enough});
    const std::vector<double> a = interpret(margin, plane).beta;  // α_i y_i

    Subproblem sphere{.task = Task::svdd};
    sphere.bound.assign(n, no_bound);
    sphere.diagonal.resize(n);
    op->diagonal(sphere.diagonal);
    DualSolution ball = solve_dual(*op, make_dual(sphere), {.tolerance = enough});
    const std::vector<double> b = interpret(sphere, ball).beta;

    RadiusMargin result;
    // Half of ‖w‖² is the optimum of the one dual, and minus half of R² that of the other.
    result.norm_squared = -2 * plane.objective;
    result.radius_squared = -2 * ball.objective;
    result.value = result.norm_squared * result.radius_squared;
    Matrix<double>& w = matrix;  // the slopes of ln T in each entry of K
    double in_ridge = 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const double radius = (i == j ? b[i] : 0) - b[i] * b[j];
            w(i, j) = radius / result.radius_squared - a[i] * a[j] / result.norm_squared;
        }
        in_ridge += w(i, i);
    }
    result.gradient = k.contract(std::as_const(w).view());
    result.gradient_in_c = -in_ridge / (C * C);
    return result;
}

RadiusMarginChoice minimise_radius_margin(const Kernel& kernel, double C, const Dataset& data,
                                          std::size_t memory_bytes, const Progress& progress) {
    require_range("C", C, C > 0, "greater than 0");
    data.check();
    require_finite(data.x);
    const std::vector<double> y = signs_of(data);
    const std::size_t n = data.size();
    if (n > std::size_t{1} << 20 || 3 * n * n * sizeof(double) > memory_bytes) {
        throw InvalidInput("matrices of " + std::to_string(n) +
                           " rows do not fit the memory allowed; raise it or take fewer rows");
    }
    const GramGradient first(kernel, data.x, data.feature_names,
                             memory_bytes - 2 * n * n * sizeof(double));
    CurvatureTest curvature(first.kernel(), data.x, Directions::balanced);
    require_convex(curvature({}, FitStatus::converged, progress), first.kernel(),
                   Directions::balanced, "radius and margin bound errors");
    const Moved moved = moved_of(first);
    const auto descend = [&](std::span<const double> x, std::span<double> gradient) {
        const double c = std::exp(x[0]);
        const RadiusMargin t = radius_margin_of(at(first, moved, x), y, c);
        gradient[0] = t.gradient_in_c * c;
        for (std::size_t j = 0; j < moved.parameters.size(); ++j) {
            gradient[j + 1] = t.gradient[moved.parameters[j]] * std::exp(x[j + 1]);
        }
        return std::log(t.value);
    };
    std::vector<double> start{std::log(C)};
    for (const std::size_t p : moved.parameters) start.push_back(std::log(moved.values[p]));
    LbfgsSettings settings{.iteration_limit = 60, .gradient_tolerance = 1e-4};
    settings.value_tolerance = 1e-8;
    for (const double x : start) {
        // A hundred thousand times either way is where a parameter has ceased to matter.
        settings.lower.push_back(x - 11.5);
        settings.upper.push_back(x + 11.5);
    }
    bool stopped = false;
    settings.progress = [&](std::size_t, double) {
        stopped = !keep_going(progress, {.task = "radius-margin bound", .fraction = -1});
        return !stopped;
    };
    const LbfgsSolution s = minimise(start, descend, settings);
    if (stopped) throw Cancelled();
    const GramGradient best = at(first, moved, s.x);
    std::vector<KernelParameter> at_limit;
    for (const std::size_t j : s.at_bounds) {
        if (j > 0) at_limit.push_back(best.parameters()[moved.parameters[j - 1]]);
    }
    return {.kernel = best.kernel(),
            .C = std::exp(s.x[0]),
            .before = std::exp(s.history.front()),
            .after = std::exp(s.value),
            .evaluations = s.evaluations,
            .status = describe(s),
            .C_at_limit = !s.at_bounds.empty() && s.at_bounds[0] == 0,
            .at_limit = std::move(at_limit)};
}

}  // namespace mercer
