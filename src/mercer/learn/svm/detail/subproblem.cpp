#include "mercer/learn/svm/detail/subproblem.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

double sum(std::span<const double> values) {
    return std::accumulate(values.begin(), values.end(), 0.0);
}

void refuse_nu(double nu, double largest, const std::string& why) {
    throw InvalidInput("nu = " + format_number(nu) + " cannot be met: " + why +
                       "; the largest feasible value is " + format_number(largest));
}

/// α_i of a labelled point; ν-SVC bounds the sum over each class by half of ν (001, Chang and Lin).
DualProblem classifier(const Subproblem& p) {
    DualProblem dual;
    const std::size_t n = p.size();
    dual.lower.assign(n, 0.0);
    dual.upper = p.bound;
    dual.p.assign(n, p.task == Task::nu_svc ? 0.0 : -1.0);
    dual.sign.resize(n);
    for (std::size_t i = 0; i < n; ++i) {
        dual.sign[i] = static_cast<std::int8_t>(p.target[i] > 0 ? 1 : -1);
    }
    if (p.task == Task::nu_svc) {
        double positive = 0;
        for (std::size_t i = 0; i < n; ++i) positive += p.target[i] > 0 ? p.bound[i] : 0;
        const double all = sum(p.bound);
        const double largest = 2 * std::min(positive, all - positive) / all;
        if (p.nu > largest * (1 + 1e-12)) {
            refuse_nu(p.nu, largest, "the smaller class has too few rows");
        }
        dual.equalities = {{.coefficients = p.target, .value = 0},
                           {.coefficients = std::vector<double>(n, 1.0), .value = p.nu * all}};
    } else if (p.bias) {
        dual.equalities = {{.coefficients = p.target, .value = 0}};
    }
    return dual;
}

/// Two variables a point, on the same row with signs + and −: β_i = α_i − α*_i (001).
DualProblem regression(const Subproblem& p) {
    const std::size_t n = p.size();
    const bool automatic = p.task == Task::nu_svr;
    DualProblem dual;
    dual.lower.assign(2 * n, 0.0);
    std::vector<double> balance(2 * n);
    std::vector<double> width(2 * n);
    for (std::size_t half = 0; half < 2; ++half) {
        const double s = half == 0 ? 1 : -1;
        for (std::size_t i = 0; i < n; ++i) {
            dual.p.push_back((automatic ? 0 : p.epsilon) - s * p.target[i]);
            dual.upper.push_back(p.bound[i]);
            dual.row.push_back(i);
            dual.sign.push_back(static_cast<std::int8_t>(s));
            balance[half * n + i] = s;
            width[half * n + i] = p.tube.empty() ? 1 : p.tube[i];
        }
    }
    dual.equalities = {{.coefficients = balance, .value = 0}};
    if (automatic) {
        // Σ (α + α*) ζ = C ν m. Raising both variables of a point leaves β alone, so the equality
        // costs nothing against the inequality of 001 as long as it can be met.
        const double wanted = p.nu * sum(p.bound);
        double room = 0;
        for (std::size_t i = 0; i < 2 * n; ++i) room += width[i] * dual.upper[i];
        if (wanted > room * (1 + 1e-12)) {
            refuse_nu(p.nu, room / sum(p.bound), "the tube is too narrow for it");
        }
        dual.equalities.push_back({.coefficients = std::move(width), .value = wanted});
    }
    return dual;
}

DualProblem single_class(const Subproblem& p) {
    const std::size_t n = p.size();
    DualProblem dual;
    dual.lower.assign(n, 0.0);
    dual.p.assign(n, 0.0);
    dual.upper = p.bound;
    double total = p.nu * sum(p.bound);
    if (p.task == Task::svdd) {
        // Half of α'Kα − Σ α_i k_ii (002, equation 10), Σ α = 1.
        for (std::size_t i = 0; i < n; ++i) dual.p[i] = -0.5 * p.diagonal[i];
        total = 1;
    }
    dual.equalities = {{.coefficients = std::vector<double>(n, 1.0), .value = total}};
    return dual;
}

/// beta_i = Σ sign α over the variables of row i.
std::vector<double> row_coefficients(const DualProblem& dual, std::span<const double> alpha,
                                     std::size_t rows) {
    std::vector<double> beta(rows, 0.0);
    for (std::size_t i = 0; i < alpha.size(); ++i) {
        const std::size_t row = dual.row.empty() ? i : dual.row[i];
        beta[row] += (dual.sign.empty() ? 1 : dual.sign[i]) * alpha[i];
    }
    return beta;
}

}  // namespace

DualProblem make_dual(const Subproblem& problem) {
    if (is_classifier(problem.task)) return classifier(problem);
    if (is_regressor(problem.task)) return regression(problem);
    return single_class(problem);
}

std::vector<double> dual_start(const Subproblem& problem, std::span<const double> beta) {
    const DualProblem dual = make_dual(problem);
    std::vector<double> alpha(dual.size());
    double total = 0;
    for (std::size_t i = 0; i < alpha.size(); ++i) {
        const double own = beta[dual.row.empty() ? i : dual.row[i]];
        alpha[i] = std::max(0.0, dual.sign.empty() ? own : dual.sign[i] * own);
        total += alpha[i];
    }
    // Where the sum is given, coefficients are known up to a factor: 1/ρ (ν-classifiers), 2
    // (spheres).
    const bool given = problem.task == Task::nu_svc || dual.sign.empty();
    if (given && total > 0) {
        for (double& a : alpha) a *= dual.equalities.back().value / total;
    }
    for (std::size_t i = 0; i < alpha.size(); ++i) {  // what was at its bound is so again
        if (alpha[i] > dual.upper[i] * (1 - 1e-12)) alpha[i] = dual.upper[i];
    }
    return alpha;
}

Learned interpret(const Subproblem& problem, DualSolution& solution) {
    Learned learned;
    learned.beta = row_coefficients(make_dual(problem), solution.alpha, problem.size());
    const auto& lambda = solution.multipliers;
    switch (problem.task) {
        case Task::nu_svc: {
            // y_i (v_i − λ₁) = ρ on the margin. Dividing by ρ gives the C-machine with C = 1/ρ.
            learned.rho = lambda[1];
            if (!(learned.rho > 0)) {
                learned.rho = 0;  // no margin: the sign of f still tells the classes apart
                learned.bias = -lambda[0];
                break;
            }
            for (double& b : learned.beta) b /= learned.rho;
            for (double& v : solution.row_gradient) v /= learned.rho;
            learned.bias = -lambda[0] / learned.rho;
            break;
        }
        case Task::svr:
            learned.epsilon = problem.epsilon;
            learned.bias = -lambda[0];
            break;
        case Task::nu_svr:
            learned.epsilon = std::max(0.0, -lambda[1]);
            learned.bias = -lambda[0];
            break;
        case Task::one_class:
            learned.rho = lambda[0];
            learned.bias = -lambda[0];
            break;
        case Task::svdd: {
            double norm = 0;
            for (std::size_t i = 0; i < problem.size(); ++i) {
                norm += learned.beta[i] * solution.row_gradient[i];
            }
            learned.radius = std::sqrt(std::max(0.0, norm - 2 * lambda[0]));
            break;
        }
        default: learned.bias = lambda.empty() ? 0 : -lambda[0]; break;
    }
    return learned;
}

}  // namespace mercer
