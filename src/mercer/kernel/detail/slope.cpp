#include "mercer/kernel/detail/slope.hpp"

#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

using Terms = std::optional<std::vector<SlopeTerm>>;

/// A leaf's own: a function of x·z or of ‖x−z‖².
Terms of_leaf(const Kernel& kernel) {
    const KernelNode& node = kernel.node();
    const PairNumber number = pair_number(node);
    if (number == PairNumber::nothing) return std::vector<SlopeTerm>{};
    if (node.leaf->slope_kernel == nullptr) return std::nullopt;
    const Kernel slope = node.leaf->slope_kernel(kernel);
    const bool zero = slope.node().kind == KernelKind::constant && slope.node().value == 0;
    if (zero) return std::vector<SlopeTerm>{};
    return std::vector<SlopeTerm>{{slope, number == PairNumber::squared}};
}

/// Every term times a factor, which is a kernel too: the chain rule.
Terms times(const Kernel& factor, Terms terms) {
    if (!terms) return std::nullopt;
    for (SlopeTerm& term : *terms) term.slope = factor * term.slope;
    return terms;
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
    if (node.leaf != nullptr) return of_leaf(kernel);
    switch (node.kind) {
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
