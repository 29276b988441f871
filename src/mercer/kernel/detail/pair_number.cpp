// The numbers that leaves read of two rows, with their derivatives.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

using Row = Leaf::Row;

double sign(double v) {
    return v > 0 ? 1 : v < 0 ? -1 : 0;
}

/// Histograms have no entries below 0: the formulas mean nothing there.
void require_non_negative(const KernelNode& leaf, Row x, Row z) {
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double least = std::min(x[i], z[i]);
        if (!(least < 0)) continue;
        throw InvalidInput(leaf.entry().name + " needs entries >= 0, found " +
                           format_number(least) + " in column " + std::to_string(i) +
                           "; scale the data to [0, 1] or use another kernel");
    }
}

bool of_histograms(PairNumber number) {
    return number == PairNumber::chi2 || number == PairNumber::minima;
}

/// The sum over all choices of `degree` factors of their product, by the recursion that adds one
/// factor at a time: degree × columns steps instead of all choices.
double anova_sum(const KernelNode& leaf, Row x, Row z) {
    const auto degree = static_cast<std::size_t>(leaf.parameter("degree"));
    const double gamma = leaf.parameter("gamma");
    std::vector<double> chosen(degree + 1, 0.0);
    chosen[0] = 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double factor = std::exp(-gamma * (x[i] - z[i]) * (x[i] - z[i]));
        for (std::size_t j = std::min(degree, i + 1); j > 0; --j) {
            chosen[j] += factor * chosen[j - 1];
        }
    }
    return chosen[degree];
}

/// The same with its derivatives: the recursion of the value run on the value and its derivative in
/// γ, and for column c on all columns but c.
NumberSlopes anova_slopes(const KernelNode& leaf, Row x, Row z) {
    const double gamma = leaf.parameter("gamma");
    const auto degree = static_cast<std::size_t>(leaf.parameter("degree"));
    NumberSlopes result{.by_input = std::vector<double>(x.size())};
    std::vector<double> e(degree + 1);
    std::vector<double> slope(degree + 1);
    const auto run = [&](std::size_t left_out, std::size_t wanted) {
        std::ranges::fill(e, 0.0);
        std::ranges::fill(slope, 0.0);
        e[0] = 1;
        for (std::size_t k = 0; k < x.size(); ++k) {
            if (k == left_out) continue;
            const double square = (x[k] - z[k]) * (x[k] - z[k]);
            const double factor = std::exp(-gamma * square);
            for (std::size_t m = degree; m > 0; --m) {
                slope[m] += factor * (slope[m - 1] - square * e[m - 1]);
                e[m] += factor * e[m - 1];
            }
        }
        return e[wanted];
    };
    for (std::size_t c = 0; c < x.size(); ++c) {
        const double gap = x[c] - z[c];
        result.by_input[c] = -2 * gamma * gap * std::exp(-gamma * gap * gap) * run(c, degree - 1);
    }
    result.value = run(x.size(), degree);
    result.by_parameter = slope[degree];
    return result;
}

/// One column's part of a number that is a sum over columns.
struct Term {
    double value = 0;
    double by_input = 0;
    double by_parameter = 0;
};
Term term(PairNumber number, double period, double a, double b) {
    const double gap = a - b;
    switch (number) {
        case PairNumber::dot: return {a * b, b};
        case PairNumber::squared: return {gap * gap, 2 * gap};
        case PairNumber::absolute: return {std::fabs(gap), sign(gap)};
        case PairNumber::minima: return {std::min(a, b), a < b ? 1.0 : a == b ? 0.5 : 0.0};
        case PairNumber::chi2:
            if (a + b == 0) return {};  // 0/0 stands for an empty bin in both: no difference
            return {gap * gap / (a + b), gap * (a + 3 * b) / ((a + b) * (a + b))};
        default: {
            const double u = std::numbers::pi * gap / period;
            return {std::sin(u) * std::sin(u), std::sin(2 * u) * std::numbers::pi / period,
                    -std::sin(2 * u) * u / period};
        }
    }
}

}  // namespace

std::string number_parameter(PairNumber number) {
    if (number == PairNumber::sine) return "period";
    return number == PairNumber::anova ? "gamma" : "";
}

double number_value(const KernelNode& leaf, PairNumber number, Row x, Row z) {
    double sum = 0;
    if (number == PairNumber::nothing) return sum;
    if (number == PairNumber::anova) return anova_sum(leaf, x, z);
    if (of_histograms(number)) require_non_negative(leaf, x, z);
    switch (number) {
        case PairNumber::dot:
            for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * z[i];
            return sum;
        case PairNumber::squared:
            for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - z[i]) * (x[i] - z[i]);
            return sum;
        default: {
            const double period = number == PairNumber::sine ? leaf.parameter("period") : 1;
            for (std::size_t i = 0; i < x.size(); ++i)
                sum += term(number, period, x[i], z[i]).value;
            return sum;
        }
    }
}

NumberSlopes number_slopes(const KernelNode& leaf, PairNumber number, Row x, Row z) {
    if (number == PairNumber::anova) return anova_slopes(leaf, x, z);
    NumberSlopes result{.by_input = std::vector<double>(x.size())};
    if (number == PairNumber::nothing) return result;
    if (of_histograms(number)) require_non_negative(leaf, x, z);
    const double period = number == PairNumber::sine ? leaf.parameter("period") : 1;
    for (std::size_t k = 0; k < x.size(); ++k) {
        const Term t = term(number, period, x[k], z[k]);
        result.value += t.value;
        result.by_input[k] = t.by_input;
        result.by_parameter += t.by_parameter;
    }
    return result;
}

}  // namespace mercer
