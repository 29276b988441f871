#include "mercer/theory/detail/kernel_enclosure.hpp"

#include <cmath>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/node.hpp"

namespace mercer {
namespace {

using Row = std::span<const double>;

/// value ± (1.01 (d + 3) u size + (d + 1) 2⁻¹⁰⁷³), see the header.
Interval around(double value, double size, std::size_t columns) {
    const auto d = static_cast<double>(columns);
    const double error = 1.01 * (d + 3) * 0x1p-53 * size + (d + 1) * 0x1p-1073;
    return {below(value - error), above(value + error)};
}

Interval dot(Row x, Row z) {
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sum += x[i] * z[i];
        size += std::abs(x[i] * z[i]);
    }
    return around(sum, size, x.size());
}

Interval squared_distance(Row x, Row z) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - z[i]) * (x[i] - z[i]);
    return positive_part(around(sum, sum, x.size()));
}

Interval city_distance(Row x, Row z) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += std::abs(x[i] - z[i]);
    return positive_part(around(sum, sum, x.size()));
}

bool is_whole(double value) {
    return value >= 0 && value == std::floor(value) && value < 1e6;
}

Interval of_dot(const KernelNode& node, Interval t) {
    switch (node.kind) {
        case KernelKind::polynomial:
            return power(Interval(node.parameter("coef0")) + node.parameter("gamma") * t,
                         static_cast<unsigned>(node.parameter("degree")));
        case KernelKind::sigmoid:
            return tanh(node.parameter("gamma") * t + Interval(node.parameter("coef0")));
        case KernelKind::exponential_dot: return exp(node.parameter("gamma") * t);
        default: return t;
    }
}

Interval matern(const KernelNode& node, Interval distance) {
    const double nu = node.parameter("nu");
    const Interval s = sqrt(Interval(2 * nu)) * distance / node.parameter("length");
    const Interval decay = exp(-s);
    if (nu == 0.5) return decay;
    const Interval linear = Interval(1) + s;
    return (nu == 1.5 ? linear : linear + square(s) / 3.0) * decay;
}

Interval of_distance(const KernelNode& node, Interval squared) {
    switch (node.kind) {
        case KernelKind::rbf: return exp(-(node.parameter("gamma") * squared));
        case KernelKind::negative_distance: {
            const double beta = node.parameter("beta");
            return beta == 2 ? -squared : -pow(sqrt(squared), beta);
        }
        case KernelKind::inverse_multiquadric:
            return Interval(1) / sqrt(squared + square(Interval(node.parameter("c"))));
        case KernelKind::matern: return matern(node, sqrt(squared));
        case KernelKind::rational_quadratic: {
            const Interval alpha(node.parameter("alpha"));
            const Interval length(node.parameter("length"));
            return exp(-(alpha * log1p(squared / (2.0 * alpha * square(length)))));
        }
        default: return exp(-(node.parameter("gamma") * sqrt(squared)));  // laplacian, norm = 2
    }
}

Interval value(const KernelNode& node, Row x, Row z);

Interval child(const KernelNode& node, Row x, Row z) {
    return value(node.children.front().node(), x, z);
}

Interval on_columns(const KernelNode& node, Row x, Row z) {
    std::vector<double> own_x, own_z;
    for (const std::size_t i : node.subset.positions(x.size())) {
        own_x.push_back(x[i]);
        own_z.push_back(z[i]);
    }
    return child(node, own_x, own_z);
}

Interval value(const KernelNode& node, Row x, Row z) {
    Interval result;
    switch (node.kind) {
        case KernelKind::linear:
        case KernelKind::polynomial:
        case KernelKind::sigmoid:
        case KernelKind::exponential_dot: return of_dot(node, dot(x, z));
        case KernelKind::laplacian:
            if (node.parameter("norm") == 2) return of_distance(node, squared_distance(x, z));
            return exp(-(node.parameter("gamma") * city_distance(x, z)));
        case KernelKind::constant: return node.value;
        case KernelKind::sum:
            for (const Kernel& part : node.children) result += value(part.node(), x, z);
            return result;
        case KernelKind::product:
            result = 1;
            for (const Kernel& part : node.children) result = result * value(part.node(), x, z);
            return result;
        case KernelKind::scale: return node.value * child(node, x, z);
        case KernelKind::power: return power(child(node, x, z), static_cast<unsigned>(node.value));
        case KernelKind::exp: return exp(child(node, x, z));
        case KernelKind::normalize:
            return child(node, x, z) / (sqrt(child(node, x, x)) * sqrt(child(node, z, z)));
        case KernelKind::rbf_of: {
            const Interval squared =
                child(node, x, x) + child(node, z, z) - 2.0 * child(node, x, z);
            return exp(-(node.parameter("gamma") * squared));
        }
        case KernelKind::columns: return on_columns(node, x, z);
        default: return of_distance(node, squared_distance(x, z));
    }
}

bool is_enclosable(const KernelNode& node) {
    switch (node.kind) {
        case KernelKind::logistic:
        case KernelKind::ball:
        case KernelKind::anova:
        case KernelKind::periodic:
        case KernelKind::chi2:
        case KernelKind::additive_chi2:
        case KernelKind::intersection:
        case KernelKind::bilinear:
        case KernelKind::outer:
        case KernelKind::precomputed:
        case KernelKind::user:
        case KernelKind::center:
        case KernelKind::map:
        case KernelKind::sets: return false;
        case KernelKind::polynomial: return is_whole(node.parameter("degree"));
        case KernelKind::power: return is_whole(node.value);
        default: return true;
    }
}

}  // namespace

void require_enclosable(const Kernel& kernel) {
    if (!is_enclosable(kernel.node())) {
        throw InvalidInput(
            "the rounding of kernel values has no proved bound here for " + quoted(kernel.text()) +
            "; there is one for linear, polynomial, sigmoid, expdot, rbf, "
            "laplacian, negative_distance, imq, matern, rq and their sums, products, "
            "whole powers, exp, normalize and rbf_of");
    }
    for (const Kernel& part : kernel.node().children) require_enclosable(part);
}

Interval enclose(const Kernel& kernel, Row x, Row z) {
    return value(kernel.node(), x, z);
}

}  // namespace mercer
