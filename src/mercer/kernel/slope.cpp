#include "mercer/kernel/slope.hpp"

#include "mercer/kernel/node.hpp"

namespace mercer {
namespace {

using Terms = std::optional<std::vector<SlopeTerm>>;

Terms one(Kernel slope, bool difference) {
    return std::vector<SlopeTerm>{{std::move(slope), difference}};
}

/// Every term times a factor, which is a kernel too: the chain rule.
Terms times(const Kernel& factor, Terms terms) {
    if (!terms) return std::nullopt;
    for (SlopeTerm& term : *terms) term.slope = factor * term.slope;
    return terms;
}

Terms polynomial_terms(const KernelNode& node) {
    const double degree = node.parameter("degree");
    const double gamma = node.parameter("gamma");
    if (degree == 0) return std::vector<SlopeTerm>{};
    if (degree == 1) return one(constant(gamma), false);
    return one(degree * gamma *
                   polynomial({.degree = static_cast<int>(degree) - 1,
                               .gamma = gamma,
                               .coef0 = node.parameter("coef0")}),
               false);
}

/// (Π k_i)' = Σ_i k_i' Π_{j≠i} k_j, and for a sum the terms of all.
Terms of_children(const KernelNode& node, bool product) {
    std::vector<SlopeTerm> all;
    for (std::size_t i = 0; i < node.children.size(); ++i) {
        Terms part = slope_terms(node.children[i]);
        for (std::size_t j = 0; product && j < node.children.size(); ++j) {
            if (j != i) part = times(node.children[j], std::move(part));
        }
        if (!part) return std::nullopt;
        all.insert(all.end(), part->begin(), part->end());
    }
    return all;
}

}  // namespace

std::optional<std::vector<SlopeTerm>> slope_terms(const Kernel& kernel) {
    const KernelNode& node = kernel.node();
    switch (node.kind) {
        case KernelKind::constant: return std::vector<SlopeTerm>{};
        case KernelKind::linear: return one(constant(1), false);
        case KernelKind::polynomial: return polynomial_terms(node);
        case KernelKind::exponential_dot: return one(node.parameter("gamma") * kernel, false);
        case KernelKind::sigmoid:
            return one(node.parameter("gamma") * (constant(1) - pow(kernel, 2)), false);
        case KernelKind::rbf: return one(-2 * node.parameter("gamma") * kernel, true);
        case KernelKind::inverse_multiquadric: return one(-1.0 * pow(kernel, 3), true);
        case KernelKind::rational_quadratic: {
            const double alpha = node.parameter("alpha");
            const double length = node.parameter("length");
            return one(-1 / (length * length) * pow(kernel, (alpha + 1) / alpha), true);
        }
        case KernelKind::scale: return times(constant(node.value), slope_terms(node.children[0]));
        case KernelKind::exp: return times(kernel, slope_terms(node.children[0]));
        case KernelKind::power:
            if (node.value == 1) return slope_terms(node.children[0]);
            return times(node.value * pow(node.children[0], node.value - 1),
                         slope_terms(node.children[0]));
        case KernelKind::sum: return of_children(node, false);
        case KernelKind::product: return of_children(node, true);
        default: return std::nullopt;
    }
}

}  // namespace mercer
