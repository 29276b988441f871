// Problems of every shape the dual comes in, a stored operator, and a solver that shares nothing
// with the one under test.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/random.hpp"
#include "mercer/solver/dual.hpp"

namespace mercer::testing {

inline constexpr double infinity = std::numeric_limits<double>::infinity();
inline constexpr std::array methods = {DualMethod::decomposition, DualMethod::smo,
                                       DualMethod::chunking};

/// A matrix kept in memory that counts what is asked of it and can be told to refuse.
template <class T>
class StoredMatrix : public SymmetricOperator<T> {
   public:
    explicit StoredMatrix(const Matrix<double>& k) : values_(k.rows(), k.rows()) {
        for (std::size_t i = 0; i < k.values().size(); ++i) {
            values_.values()[i] = static_cast<T>(k.values()[i]);
        }
    }

    std::size_t size() const override { return values_.rows(); }
    void diagonal(std::span<double> d) const override {
        for (std::size_t i = 0; i < size(); ++i) d[i] = static_cast<double>(values_(i, i));
    }
    void rows(std::span<const std::size_t> which, MatrixView<T> out) const override {
        serve(which.size() * size());
        for (std::size_t r = 0; r < which.size(); ++r) {
            for (std::size_t j = 0; j < size(); ++j) out(r, j) = values_(which[r], j);
        }
    }
    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<T> out) const override {
        serve(which.size() * columns.size());
        for (std::size_t r = 0; r < which.size(); ++r) {
            for (std::size_t j = 0; j < columns.size(); ++j) {
                out(r, j) = values_(which[r], columns[j]);
            }
        }
    }
    std::uint64_t evaluations() const override { return served_; }

    /// The entries as doubles: what the solver really sees.
    Matrix<double> seen() const {
        Matrix<double> k(size(), size());
        for (std::size_t i = 0; i < k.values().size(); ++i) {
            k.values()[i] = static_cast<double>(values_.values()[i]);
        }
        return k;
    }
    std::uint64_t refuse_after = std::numeric_limits<std::uint64_t>::max();

   private:
    void serve(std::uint64_t entries) const {
        if (served_ >= refuse_after) throw Cancelled();
        served_ += entries;
    }
    Matrix<T> values_;
    mutable std::uint64_t served_ = 0;
};

/// X X' of n random points in `rank` dimensions, every fourth a copy of an earlier one if asked.
inline Matrix<double> random_gram(std::size_t n, std::size_t rank, bool duplicates,
                                  std::uint64_t seed) {
    Random random(seed);
    Matrix<double> x(n, rank);
    for (std::size_t i = 0; i < n; ++i) {
        const bool copy = duplicates && i % 4 == 3;
        for (std::size_t j = 0; j < rank; ++j) x(i, j) = copy ? x(i / 2, j) : random.normal();
    }
    Matrix<double> k(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            for (std::size_t d = 0; d < rank; ++d) {
                k(i, j) += x(i, d) * x(j, d) / static_cast<double>(rank);
            }
        }
    }
    return k;
}

/// A Gaussian Gram matrix of points in the plane and labels that a disc decides, some wrong.
struct Plane {
    Matrix<double> k;
    std::vector<double> label;
};
inline Plane random_plane(std::size_t n, double gamma, double wrong, std::uint64_t seed) {
    Random random(seed);
    Matrix<double> x(n, 2);
    Plane plane{Matrix<double>(n, n), std::vector<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        x(i, 0) = random.normal();
        x(i, 1) = random.normal();
        const bool inside = x(i, 0) * x(i, 0) + x(i, 1) * x(i, 1) < 1.4;
        plane.label[i] = (inside != (random.uniform() < wrong)) ? 1 : -1;
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const double a = x(i, 0) - x(j, 0);
            const double b = x(i, 1) - x(j, 1);
            plane.k(i, j) = std::exp(-gamma * (a * a + b * b));
        }
    }
    return plane;
}

/// The duals of the machines over an operator of n rows; see 001 and Chang and Lin 2011.
struct Shape {
    std::string name;
    std::function<DualProblem(std::size_t n, Random& random)> make;
};

inline DualProblem box_problem(std::size_t n, double p, double lower, double upper) {
    DualProblem problem;
    problem.p.assign(n, p);
    problem.lower.assign(n, lower);
    problem.upper.assign(n, upper);
    return problem;
}

inline std::vector<double> random_labels(std::size_t n, Random& random) {
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; ++i)
        y[i] = i < 2 ? (i == 0 ? 1 : -1) : (random.uniform() < 0.5 ? 1 : -1);
    return y;
}

inline DualProblem classifier(const std::vector<double>& y, double c, bool bias) {
    DualProblem problem = box_problem(y.size(), -1, 0, c);
    problem.sign.assign(y.begin(), y.end());
    if (bias) problem.equalities = {{.coefficients = y, .value = 0}};
    return problem;
}

/// Two variables a row: α with sign +1, α* with −1.
inline DualProblem regression(std::size_t n, double c, double epsilon, Random& random) {
    DualProblem problem = box_problem(2 * n, 0, 0, c);
    std::vector<double> a(2 * n);
    for (std::size_t i = 0; i < n; ++i) {
        const double target = random.normal();
        problem.p[i] = epsilon - target;
        problem.p[n + i] = epsilon + target;
    }
    for (std::size_t i = 0; i < 2 * n; ++i) {
        problem.row.push_back(i % n);
        problem.sign.push_back(i < n ? 1 : -1);
        a[i] = i < n ? 1 : -1;
    }
    problem.equalities = {{.coefficients = a, .value = 0}};
    return problem;
}

inline DualProblem nu_classifier(std::size_t n, Random& random) {
    const std::vector<double> y = random_labels(n, random);
    DualProblem problem = classifier(y, 1, true);
    problem.p.assign(n, 0.0);
    double positive = 0;
    for (const double label : y) positive += label > 0 ? 1 : 0;
    const double most = 2 * std::min(positive, static_cast<double>(n) - positive);
    problem.equalities.push_back(
        {.coefficients = std::vector<double>(n, 1.0), .value = 0.5 * most});
    return problem;
}

inline DualProblem tube(std::size_t n, bool constant, Random& random) {
    DualProblem problem = regression(n, 1, 0, random);
    std::vector<double> zeta(2 * n);
    double sum = 0;
    for (std::size_t i = 0; i < n; ++i) {
        zeta[i] = zeta[n + i] = constant ? 1.0 : random.uniform(0.1, 2.0);
        sum += zeta[i];
    }
    problem.equalities.push_back({.coefficients = zeta, .value = 0.3 * sum});
    return problem;
}

/// One equality with any coefficients, some zero, and bounds on both sides of zero.
inline DualProblem weighted(std::size_t n, Random& random) {
    DualProblem problem = box_problem(n, 0, -1, 2);
    std::vector<double> a(n);
    for (std::size_t i = 0; i < n; ++i) {
        problem.p[i] = random.normal();
        a[i] = i % 5 == 4 ? 0.0 : random.uniform(0.2, 3) * (random.uniform() < 0.5 ? 1 : -1);
    }
    problem.equalities = {{.coefficients = a, .value = 0.7}};
    return problem;
}

inline DualProblem skew(std::size_t n, Random& random) {
    DualProblem problem = weighted(n, random);
    std::vector<double> a(n);
    for (double& x : a) x = random.normal();
    problem.equalities.push_back({.coefficients = a, .value = -0.4});
    return problem;
}

inline std::vector<Shape> all_shapes() {
    return {
        {"c_svc",
         [](std::size_t n, Random& r) { return classifier(random_labels(n, r), 2, true); }},
        {"bias_free",
         [](std::size_t n, Random& r) { return classifier(random_labels(n, r), 2, false); }},
        {"nu_svc", [](std::size_t n, Random& r) { return nu_classifier(n, r); }},
        {"epsilon_svr", [](std::size_t n, Random& r) { return regression(n, 3, 0.1, r); }},
        {"nu_svr", [](std::size_t n, Random& r) { return tube(n, true, r); }},
        {"parametric_tube", [](std::size_t n, Random& r) { return tube(n, false, r); }},
        {"one_class",
         [](std::size_t n, Random&) {
             DualProblem problem = box_problem(n, 0, 0, 1);
             problem.equalities = {{.coefficients = std::vector<double>(n, 1.0),
                                    .value = 0.3 * static_cast<double>(n)}};
             return problem;
         }},
        {"weighted_equality", [](std::size_t n, Random& r) { return weighted(n, r); }},
        {"two_skew_equalities", [](std::size_t n, Random& r) { return skew(n, r); }},
        {"partly_free_of_equalities",
         [](std::size_t n, Random& r) {
             DualProblem problem = classifier(random_labels(n, r), 2, true);
             for (std::size_t i = 0; i < n; i += 3) problem.equalities[0].coefficients[i] = 0;
             return problem;
         }},
    };
}

/// Q of the problem in full.
inline Matrix<double> full_q(const Matrix<double>& k, const DualProblem& problem) {
    const std::size_t n = problem.size();
    Matrix<double> q(n, n);
    const auto row = [&](std::size_t i) { return problem.row.empty() ? i : problem.row[i]; };
    const auto sign = [&](std::size_t i) { return problem.sign.empty() ? 1 : problem.sign[i]; };
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) q(i, j) = sign(i) * sign(j) * k(row(i), row(j));
    }
    return q;
}

inline std::vector<double> gradient_at(const Matrix<double>& q, const DualProblem& problem,
                                       const std::vector<double>& alpha) {
    std::vector<double> g = problem.p;
    for (std::size_t i = 0; i < g.size(); ++i) {
        for (std::size_t j = 0; j < g.size(); ++j) g[i] += q(i, j) * alpha[j];
    }
    return g;
}

inline double objective_at(const Matrix<double>& q, const DualProblem& problem,
                           const std::vector<double>& alpha) {
    const std::vector<double> g = gradient_at(q, problem, alpha);
    double f = 0;
    for (std::size_t i = 0; i < g.size(); ++i) f += 0.5 * alpha[i] * (g[i] + problem.p[i]);
    return f;
}

/// The minimiser by a primal-dual interior-point method (interior_point.cpp): Newton's method on
/// the perturbed optimality conditions, dense, for finite bounds and a positive semidefinite Q.
std::vector<double> interior_point_minimum(const Matrix<double>& q, const DualProblem& problem);

}  // namespace mercer::testing
