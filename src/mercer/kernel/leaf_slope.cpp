#include "mercer/kernel/leaf_slope-inl.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/detail/vector_math.hpp"
#include "mercer/base/error.hpp"

namespace mercer {
namespace {

using Numbers = std::span<const double>;
using Out = std::span<double>;

/// out[i] = f(t[i]); nothing when `out` is not wanted.
template <class F>
void map_to(Numbers t, Out out, F f) {
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = f(t[i]);
}

/// out = scale exp(rate t), each.
void exponentials(Numbers t, double rate, double scale, Out out) {
    map_to(t, out, [rate](double v) { return rate * v; });
    vector_exp(out);
    if (scale == 1) return;
    for (double& v : out) v *= scale;
}

/// out = t^p for t >= 0; 0^p = 0 also for p < 0, where callers want the harmless value.
void powers(Numbers t, double p, Out out) {
    std::ranges::copy(t.first(out.size()), out.begin());
    vector_log(out);
    for (double& v : out) v *= p;
    vector_exp(out);
    for (std::size_t i = 0; i < out.size(); ++i) {
        if (t[i] <= 0) out[i] = p == 0 ? 1 : 0;
    }
}

double whole_power(double base, int exponent) {
    double result = 1;
    for (; exponent > 0; exponent /= 2, base *= base) {
        if (exponent % 2 == 1) result *= base;
    }
    return result;
}

// ---- functions of x·z

/// The argument u = rate t + offset of the power, tanh or the logistic function.
struct Argument {
    double rate = 0;
    double offset = 0;
    double operator()(double t) const { return rate * t + offset; }
};
Argument argument(const KernelNode& leaf) {
    if (leaf.kind == KernelKind::logistic) {
        return {leaf.parameter("beta"), -leaf.parameter("theta")};
    }
    return {leaf.parameter("gamma"), leaf.parameter("coef0")};
}

double logistic(double u) {
    return 1 / (1 + std::exp(-u));
}

/// out = factor × dk/du
void argument_slopes(const KernelNode& leaf, Numbers t, double factor, Out out) {
    const Argument u = argument(leaf);
    if (leaf.kind == KernelKind::polynomial) {
        const int degree = static_cast<int>(leaf.parameter("degree"));
        map_to(t, out, [&](double v) {
            return degree == 0 ? 0 : factor * degree * whole_power(u(v), degree - 1);
        });
        return;
    }
    const bool tanh = leaf.kind == KernelKind::sigmoid;
    map_to(t, out, [&](double v) {
        const double value = tanh ? std::tanh(u(v)) : logistic(u(v));
        return factor * (tanh ? 1 - value * value : value * (1 - value));
    });
}

void dot_leaf(const KernelNode& leaf, Numbers t, const LeafSlopes& out) {
    if (leaf.kind == KernelKind::exponential_dot) {
        const double gamma = leaf.parameter("gamma");
        exponentials(t, gamma, 1, out.value);
        exponentials(t, gamma, gamma, out.by_number);
        return;
    }
    const Argument u = argument(leaf);
    if (leaf.kind == KernelKind::polynomial) {
        const int degree = static_cast<int>(leaf.parameter("degree"));
        map_to(t, out.value, [&](double v) { return whole_power(u(v), degree); });
    } else {
        const bool tanh = leaf.kind == KernelKind::sigmoid;
        map_to(t, out.value, [&](double v) { return tanh ? std::tanh(u(v)) : logistic(u(v)); });
    }
    argument_slopes(leaf, t, u.rate, out.by_number);
}

// ---- functions of ‖x−z‖²

/// out = exp(−rate √t)
void root_exponentials(Numbers t, double rate, Out out) {
    map_to(t, out, [rate](double v) { return -rate * std::sqrt(v); });
    vector_exp(out);
}

/// d/dt exp(−rate √t) = −rate exp(−rate √t) / (2 √t); 0 at the kink t = 0, the mean of the two
/// one-sided derivatives along any line through it.
void root_exponential_slopes(Numbers t, double rate, Out out) {
    root_exponentials(t, rate, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
        out[i] = t[i] > 0 ? -rate * out[i] / (2 * std::sqrt(t[i])) : 0;
    }
}

/// With s = √(2ν) ‖x−z‖ / length (Rasmussen and Williams 2006, equation 4.17):
/// k = e^−s, (1 + s) e^−s, (1 + s + s²/3) e^−s.
void matern(const KernelNode& leaf, Numbers t, const LeafSlopes& out) {
    const double nu = leaf.parameter("nu");
    const double rate = std::sqrt(2 * nu) / leaf.parameter("length");
    root_exponentials(t, rate, out.value);
    if (nu < 1) return root_exponential_slopes(t, rate, out.by_number);
    for (std::size_t i = 0; i < out.value.size(); ++i) {
        const double s = rate * std::sqrt(t[i]);
        out.value[i] *= nu < 2 ? 1 + s : 1 + s + s * s / 3;
    }
    root_exponentials(t, rate, out.by_number);
    for (std::size_t i = 0; i < out.by_number.size(); ++i) {
        const double s = rate * std::sqrt(t[i]);
        out.by_number[i] *= nu < 2 ? -rate * rate / 2 : -rate * rate * (1 + s) / 6;
    }
}

void rational_quadratic(const KernelNode& leaf, Numbers t, const LeafSlopes& out) {
    const double alpha = leaf.parameter("alpha");
    const double length = leaf.parameter("length");
    const double scale = 1 / (2 * alpha * length * length);
    const auto fill = [&](double exponent, double factor, Out to) {
        map_to(t, to, [&](double v) { return 1 + scale * v; });
        vector_log(to);
        for (double& v : to) v *= exponent;
        vector_exp(to);
        for (double& v : to) v *= factor;
    };
    fill(-alpha, 1, out.value);
    fill(-alpha - 1, -alpha * scale, out.by_number);
}

void distance_leaf(const KernelNode& leaf, Numbers t, const LeafSlopes& out) {
    switch (leaf.kind) {
        case KernelKind::matern: return matern(leaf, t, out);
        case KernelKind::rational_quadratic: return rational_quadratic(leaf, t, out);
        case KernelKind::negative_distance: {
            const double beta = leaf.parameter("beta");
            powers(t, beta / 2, out.value);
            for (double& v : out.value) v = -v;
            powers(t, beta / 2 - 1, out.by_number);
            for (double& v : out.by_number) v *= -beta / 2;
            return;
        }
        case KernelKind::inverse_multiquadric: {
            const double square = leaf.parameter("c") * leaf.parameter("c");
            map_to(t, out.value, [&](double v) { return 1 / std::sqrt(v + square); });
            map_to(t, out.by_number,
                   [&](double v) { return -0.5 / ((v + square) * std::sqrt(v + square)); });
            return;
        }
        case KernelKind::ball: {
            const double radius = leaf.parameter("radius");
            map_to(t, out.value, [&](double v) { return std::sqrt(v) <= radius ? 1.0 : 0.0; });
            if (out.by_number.empty()) return;
            throw InvalidInput("ball(radius=…) jumps where |x-z| = radius and has no derivative");
        }
        default: {  // laplacian, norm = 2
            const double gamma = leaf.parameter("gamma");
            root_exponentials(t, gamma, out.value);
            root_exponential_slopes(t, gamma, out.by_number);
        }
    }
}

/// Leaves exp(−rate t).
double decay_rate(const KernelNode& leaf) {
    if (leaf.kind != KernelKind::periodic) return leaf.parameter("gamma");
    const double length = leaf.parameter("length");
    return 2 / (length * length);
}

// ---- in the parameters

void dot_parameter_slope(const KernelNode& leaf, const std::string& theta, Numbers t, Out out) {
    argument_slopes(leaf, t, theta == "theta" ? -1 : 1, out);
    if (theta == "coef0" || theta == "theta") return;
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= t[i];
}

void rational_quadratic_slope(const KernelNode& leaf, const std::string& theta, Numbers t,
                              Out out) {
    const double alpha = leaf.parameter("alpha");
    const double length = leaf.parameter("length");
    const double scale = 1 / (2 * alpha * length * length);
    std::vector<double> log_q(t.size());
    map_to(t, log_q, [&](double v) { return 1 + scale * v; });
    vector_log(log_q);
    rational_quadratic(leaf, t, {.value = out, .by_number = {}});
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double q = 1 + scale * t[i];
        const double share = scale * t[i] / q;  // (q − 1) / q
        out[i] *= theta == "alpha" ? share - log_q[i] : 2 * alpha * share / length;
    }
}

void matern_slope(const KernelNode& leaf, Numbers t, Out out) {
    const double nu = leaf.parameter("nu");
    const double length = leaf.parameter("length");
    const double rate = std::sqrt(2 * nu) / length;
    root_exponentials(t, rate, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double s = rate * std::sqrt(t[i]);
        out[i] *= (nu < 1 ? s : nu < 2 ? s * s : s * s * (1 + s) / 3) / length;
    }
}

}  // namespace

PairNumber pair_number(const KernelNode& leaf) {
    switch (leaf.kind) {
        case KernelKind::polynomial:
        case KernelKind::sigmoid:
        case KernelKind::logistic:
        case KernelKind::exponential_dot: return PairNumber::dot;
        case KernelKind::rbf:
        case KernelKind::ball:
        case KernelKind::negative_distance:
        case KernelKind::inverse_multiquadric:
        case KernelKind::matern:
        case KernelKind::rational_quadratic: return PairNumber::squared;
        case KernelKind::laplacian:
            return leaf.parameter("norm") == 2 ? PairNumber::squared : PairNumber::absolute;
        case KernelKind::chi2: return PairNumber::chi2;
        case KernelKind::periodic: return PairNumber::sine;
        case KernelKind::anova: return PairNumber::anova;
        case KernelKind::constant: return PairNumber::nothing;
        default: return PairNumber::whole;
    }
}

std::string number_parameter(const KernelNode& leaf) {
    if (leaf.kind == KernelKind::periodic) return "period";
    return leaf.kind == KernelKind::anova ? "gamma" : "";
}

void leaf_value(const KernelNode& leaf, std::span<const double> t, const LeafSlopes& out) {
    switch (pair_number(leaf)) {
        case PairNumber::nothing:
            std::ranges::fill(out.value, leaf.value);
            std::ranges::fill(out.by_number, 0.0);
            return;
        case PairNumber::whole:
        case PairNumber::anova:
            std::ranges::copy(t.first(out.value.size()), out.value.begin());
            std::ranges::fill(out.by_number, 1.0);
            return;
        case PairNumber::dot: return dot_leaf(leaf, t, out);
        case PairNumber::squared:
            if (leaf.kind != KernelKind::rbf) return distance_leaf(leaf, t, out);
            [[fallthrough]];
        default: {
            const double rate = decay_rate(leaf);
            exponentials(t, -rate, 1, out.value);
            exponentials(t, -rate, -rate, out.by_number);
        }
    }
}

void leaf_parameter_slope(const KernelNode& leaf, const std::string& canonical,
                          std::span<const double> t, std::span<double> out) {
    switch (leaf.kind) {
        case KernelKind::constant: std::ranges::fill(out, 1.0); return;
        case KernelKind::polynomial:
        case KernelKind::sigmoid:
        case KernelKind::logistic: return dot_parameter_slope(leaf, canonical, t, out);
        case KernelKind::rational_quadratic:
            return rational_quadratic_slope(leaf, canonical, t, out);
        case KernelKind::matern: return matern_slope(leaf, t, out);
        case KernelKind::ball:
            throw InvalidInput(
                "the radius of ball has no derivative: its values jump from 1 to 0; keep it fixed "
                "or use rbf, which falls off smoothly");
        default: break;
    }
    leaf_value(leaf, t, {.value = out, .by_number = {}});
    const double parameter = leaf.parameter(canonical);
    switch (leaf.kind) {
        case KernelKind::negative_distance: {  // −r^β log r, with r² = t; 0 at r = 0
            std::vector<double> log_t(t.begin(), t.end());
            vector_log(log_t);
            for (std::size_t i = 0; i < out.size(); ++i) out[i] *= log_t[i] / 2;
            return;
        }
        case KernelKind::inverse_multiquadric:
            for (double& v : out) v *= -parameter * v * v;
            return;
        case KernelKind::exponential_dot:
            for (std::size_t i = 0; i < out.size(); ++i) out[i] *= t[i];
            return;
        case KernelKind::periodic:  // length; exp(−2 t / length²)
            for (std::size_t i = 0; i < out.size(); ++i) {
                out[i] *= 4 * t[i] / (parameter * parameter * parameter);
            }
            return;
        default: {  // gamma of exp(−gamma t), or of exp(−gamma √t)
            const bool root = leaf.kind == KernelKind::laplacian && leaf.parameter("norm") == 2;
            for (std::size_t i = 0; i < out.size(); ++i) out[i] *= -(root ? std::sqrt(t[i]) : t[i]);
        }
    }
}

}  // namespace mercer
