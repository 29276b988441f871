#include <algorithm>
#include <cmath>

#include "solver/dual_cases.hpp"

namespace mercer::testing {
namespace {

using Real = long double;

/// Gaussian elimination with row pivoting; a is n × n row-major, b becomes the solution.
void solve_linear(std::vector<Real> a, std::vector<Real>& b) {
    const std::size_t n = b.size();
    for (std::size_t c = 0; c < n; ++c) {
        std::size_t pivot = c;
        for (std::size_t r = c + 1; r < n; ++r) {
            if (std::abs(a[r * n + c]) > std::abs(a[pivot * n + c])) pivot = r;
        }
        for (std::size_t k = 0; k < n; ++k) std::swap(a[c * n + k], a[pivot * n + k]);
        std::swap(b[c], b[pivot]);
        for (std::size_t r = c + 1; r < n; ++r) {
            const Real factor = a[r * n + c] / a[c * n + c];
            for (std::size_t k = c; k < n; ++k) a[r * n + k] -= factor * a[c * n + k];
            b[r] -= factor * b[c];
        }
    }
    for (std::size_t c = n; c-- > 0;) {
        for (std::size_t k = c + 1; k < n; ++k) b[c] -= a[c * n + k] * b[k];
        b[c] /= a[c * n + c];
    }
}

/// One Newton step on  Qx + p − A'y − zl + zu = 0,  Ax = b,  zl (x−l) = μ,  zu (u−x) = μ.
struct Iterate {
    std::vector<Real> x, y, zl, zu;
};

Iterate newton_step(const Matrix<double>& q, const DualProblem& problem, const Iterate& at,
                    Real mu) {
    const std::size_t n = problem.size();
    const std::size_t m = problem.equalities.size();
    const std::size_t size = n + m;
    std::vector<Real> a(size * size, 0);
    std::vector<Real> b(size, 0);
    for (std::size_t i = 0; i < n; ++i) {
        const Real down = at.x[i] - problem.lower[i];
        const Real up = problem.upper[i] - at.x[i];
        Real residual = problem.p[i];
        for (std::size_t j = 0; j < n; ++j) {
            a[i * size + j] = q(i, j);
            residual += q(i, j) * at.x[j];
        }
        for (std::size_t k = 0; k < m; ++k) {
            residual -= problem.equalities[k].coefficients[i] * at.y[k];
        }
        a[i * size + i] += at.zl[i] / down + at.zu[i] / up;
        b[i] = -residual + mu / down - mu / up;
    }
    for (std::size_t k = 0; k < m; ++k) {
        b[n + k] = problem.equalities[k].value;
        for (std::size_t i = 0; i < n; ++i) {
            const Real c = problem.equalities[k].coefficients[i];
            a[(n + k) * size + i] = c;
            a[i * size + n + k] = -c;
            b[n + k] -= c * at.x[i];
        }
    }
    solve_linear(std::move(a), b);
    Iterate step{{b.begin(), b.begin() + static_cast<std::ptrdiff_t>(n)},
                 {b.begin() + static_cast<std::ptrdiff_t>(n), b.end()},
                 std::vector<Real>(n),
                 std::vector<Real>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        const Real down = at.x[i] - problem.lower[i];
        const Real up = problem.upper[i] - at.x[i];
        step.zl[i] = (mu - at.zl[i] * step.x[i]) / down - at.zl[i];
        step.zu[i] = (mu + at.zu[i] * step.x[i]) / up - at.zu[i];
    }
    return step;
}

}  // namespace

std::vector<double> interior_point_minimum(const Matrix<double>& q, const DualProblem& problem) {
    const std::size_t n = problem.size();
    Iterate at{std::vector<Real>(n), std::vector<Real>(problem.equalities.size(), 0),
               std::vector<Real>(n, 1), std::vector<Real>(n, 1)};
    for (std::size_t i = 0; i < n; ++i) {
        at.x[i] = 0.5L * (static_cast<Real>(problem.lower[i]) + problem.upper[i]);
    }
    Real mu = 1;
    for (int iteration = 0; iteration < 150; ++iteration) {
        const Iterate step = newton_step(q, problem, at, mu);
        Real length = 1;
        const auto limit = [&](Real value, Real change) {
            if (change < 0) length = std::min(length, -0.99L * value / change);
        };
        for (std::size_t i = 0; i < n; ++i) {
            limit(at.x[i] - problem.lower[i], step.x[i]);
            limit(problem.upper[i] - at.x[i], -step.x[i]);
            limit(at.zl[i], step.zl[i]);
            limit(at.zu[i], step.zu[i]);
        }
        for (std::size_t i = 0; i < n; ++i) {
            at.x[i] += length * step.x[i];
            at.zl[i] += length * step.zl[i];
            at.zu[i] += length * step.zu[i];
        }
        for (std::size_t k = 0; k < at.y.size(); ++k) at.y[k] += length * step.y[k];
        mu = std::max(1e-15L, length > 0.5L ? 0.2L * mu : mu);
    }
    return {at.x.begin(), at.x.end()};
}

}  // namespace mercer::testing
