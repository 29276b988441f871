#include "mercer/learn/detail/platt.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mercer {
namespace {

/// −log likelihood of one point with target t, z = a f + b.
double loss(double t, double z) {
    return z >= 0 ? t * z + std::log1p(std::exp(-z)) : (t - 1) * z + std::log1p(std::exp(z));
}

double total_loss(std::span<const double> f, std::span<const double> targets, const Sigmoid& s) {
    double sum = 0;
    for (std::size_t i = 0; i < f.size(); ++i) sum += loss(targets[i], s.a * f[i] + s.b);
    return sum;
}

struct Derivatives {
    double ga = 0, gb = 0;             // gradient
    double haa = 0, hab = 0, hbb = 0;  // Hessian
};

Derivatives derivatives(std::span<const double> f, std::span<const double> targets,
                        const Sigmoid& s) {
    // A ridge keeps the Hessian invertible when all decisions are equal.
    Derivatives d{.haa = 1e-12, .hbb = 1e-12};
    for (std::size_t i = 0; i < f.size(); ++i) {
        const double p = probability(s, f[i]);
        const double curvature = p * (1 - p);
        const double slope = targets[i] - p;
        d.haa += f[i] * f[i] * curvature;
        d.hab += f[i] * curvature;
        d.hbb += curvature;
        d.ga += f[i] * slope;
        d.gb += slope;
    }
    return d;
}

}  // namespace

double probability(const Sigmoid& sigmoid, double f) {
    const double z = sigmoid.a * f + sigmoid.b;
    return z >= 0 ? std::exp(-z) / (1 + std::exp(-z)) : 1 / (1 + std::exp(z));
}

Sigmoid prior_sigmoid(std::size_t positive, std::size_t negative) {
    return {
        .a = 0,
        .b = std::log((static_cast<double>(negative) + 1) / (static_cast<double>(positive) + 1))};
}

Sigmoid fit_sigmoid(std::span<const double> decisions, std::span<const double> labels) {
    const auto above =
        static_cast<std::size_t>(std::ranges::count_if(labels, [](double y) { return y > 0; }));
    const auto positive = static_cast<double>(above);
    const double negative = static_cast<double>(labels.size() - above);
    std::vector<double> targets(labels.size());
    std::ranges::transform(labels, targets.begin(), [&](double y) {
        return y > 0 ? (positive + 1) / (positive + 2) : 1 / (negative + 2);
    });
    Sigmoid s = prior_sigmoid(above, labels.size() - above);
    double value = total_loss(decisions, targets, s);
    for (int iteration = 0; iteration < 100; ++iteration) {
        const Derivatives d = derivatives(decisions, targets, s);
        if (std::abs(d.ga) < 1e-5 && std::abs(d.gb) < 1e-5) break;
        const double determinant = d.haa * d.hbb - d.hab * d.hab;
        const double da = -(d.hbb * d.ga - d.hab * d.gb) / determinant;
        const double db = -(d.haa * d.gb - d.hab * d.ga) / determinant;
        const double slope = d.ga * da + d.gb * db;
        double step = 1;
        for (; step > 1e-10; step /= 2) {
            const Sigmoid next{.a = s.a + step * da, .b = s.b + step * db};
            const double next_value = total_loss(decisions, targets, next);
            if (next_value < value + 1e-4 * step * slope) {
                s = next;
                value = next_value;
                break;
            }
        }
        if (step <= 1e-10) break;
    }
    return s;
}

std::vector<double> couple(const Matrix<double>& pairwise) {
    const std::size_t k = pairwise.rows();
    if (k == 2) return {pairwise(0, 1), pairwise(1, 0)};
    Matrix<double> q(k, k);
    for (std::size_t t = 0; t < k; ++t) {
        for (std::size_t j = 0; j < k; ++j) {
            if (j == t) continue;
            q(t, t) += pairwise(j, t) * pairwise(j, t);
            q(t, j) = -pairwise(j, t) * pairwise(t, j);
        }
    }
    std::vector<double> p(k, 1.0 / static_cast<double>(k));
    const double tolerance = 0.005 / static_cast<double>(k);
    for (std::size_t iteration = 0; iteration < std::max<std::size_t>(100, k); ++iteration) {
        std::vector<double> qp(k, 0.0);
        double pqp = 0;
        for (std::size_t t = 0; t < k; ++t) {
            for (std::size_t j = 0; j < k; ++j) qp[t] += q(t, j) * p[j];
            pqp += p[t] * qp[t];
        }
        double worst = 0;
        for (const double value : qp) worst = std::max(worst, std::abs(value - pqp));
        if (worst < tolerance) break;
        for (std::size_t t = 0; t < k; ++t) {
            const double change = (pqp - qp[t]) / q(t, t);
            p[t] += change;
            pqp = (pqp + change * (change * q(t, t) + 2 * qp[t])) / ((1 + change) * (1 + change));
            for (std::size_t j = 0; j < k; ++j) {
                qp[j] = (qp[j] + change * q(t, j)) / (1 + change);
                p[j] /= 1 + change;
            }
        }
    }
    return p;
}

}  // namespace mercer
