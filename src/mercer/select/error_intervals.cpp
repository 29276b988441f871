// How much the rows can tell: intervals of error figures, and tails of the distributions they use.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/select/judge.hpp"

namespace mercer {
namespace {

/// The regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz's method,
/// Abramowitz and Stegun 26.5.8).
double incomplete_beta(double a, double b, double x) {
    if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
    if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(b, a, 1 - x);
    const double front = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                  a * std::log(x) + b * std::log1p(-x)) /
                         a;
    constexpr double tiny = 1e-300;
    double c = 1, d = 1 - (a + b) * x / (a + 1);
    d = 1 / (std::abs(d) < tiny ? tiny : d);
    double value = d;
    for (int m = 1; m < 10'000; ++m) {
        for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                                  -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
            d = 1 + term * d;
            d = 1 / (std::abs(d) < tiny ? tiny : d);
            c = 1 + term / c;
            if (std::abs(c) < tiny) c = tiny;
            value *= c * d;
        }
        if (std::abs(c * d - 1) < 1e-15) break;
    }
    return front * value;
}

/// The t beyond which lie 5 % on both sides together, by bisection.
double student_quantile(double degrees) {
    double low = 1, high = 1e6;
    for (int k = 0; k < 200; ++k) {
        const double middle = std::sqrt(low * high);
        (student_p(middle, degrees) > 0.05 ? low : high) = middle;
    }
    return high;
}

}  // namespace

ConfidenceInterval wilson_interval(std::size_t hits, std::size_t rows, double z) {
    if (rows == 0) return {0, 1};
    const auto n = static_cast<double>(rows);
    const double p = static_cast<double>(hits) / n;
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return {std::max(0.0, middle - half), std::min(1.0, middle + half)};
}

ConfidenceInterval rms_interval(std::span<const double> squares, std::size_t others) {
    const auto n = static_cast<double>(squares.size());
    if (squares.size() < 2) return {0, std::numeric_limits<double>::infinity()};
    double mean = 0, spread = 0;
    for (const double s : squares) mean += s / n;
    if (mean == 0) return {0, 0};
    for (const double s : squares) spread += (s - mean) * (s - mean) / (n - 1);
    // Few squares seldom show how far their own tail reaches: that of normal errors, whose squares
    // have a relative variance of 2, is the least that is assumed.
    const double relative = std::max(2.0, spread / (mean * mean));
    const double rows = others == 0 ? 1 / n : 1 / n + 1 / static_cast<double>(others);
    const double reach = student_quantile(n - 1) * std::sqrt(relative * rows) / 2;
    return {std::sqrt(mean) * std::exp(-reach), std::sqrt(mean) * std::exp(reach)};
}

double fair_coin_p(std::size_t a, std::size_t b) {
    const std::size_t n = a + b;
    const std::size_t least = std::min(a, b);
    if (n == 0 || 2 * least >= n) return 1;
    double sum = 0;
    const auto size = static_cast<double>(n);
    for (std::size_t k = 0; k <= least; ++k) {
        const auto i = static_cast<double>(k);
        sum += std::exp(std::lgamma(size + 1) - std::lgamma(i + 1) - std::lgamma(size - i + 1) -
                        size * std::log(2.0));
    }
    return std::min(1.0, 2 * sum);
}

double student_p(double t, double degrees) {
    if (std::isinf(t)) return 0;
    return incomplete_beta(degrees / 2, 0.5, degrees / (degrees + t * t));
}

}  // namespace mercer
