// linear: x·z
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {

const Leaf& linear_leaf() {
    static const Leaf leaf{
        .entry = {.kind = KernelKind::linear,
                  .name = "linear",
                  .aliases = {"dot"},
                  .formula = "x.z",
                  .about = "the dot product"},
        .reads = PairNumber::dot,
        .value = [](const KernelNode&, double t) { return t; },
        .slopes = leaves::identity_slopes,
        .slope_kernel = [](const Kernel&) { return constant(1); },
        .judge =
            [](const KernelNode&, const Assumptions&) {
                Finding result = Finding::positive("the dot product itself");
                result.series = base_series(linear(), true);
                result.distinct.separates = true;
                return result;
            },
        .enclose = [](const KernelNode&, Interval t) { return t; },
        .fast = [](const KernelNode&) { return FastForm{}; },
    };
    return leaf;
}

Kernel linear() {
    return make_leaf(linear_leaf(), {});
}

std::optional<double> linear_factor(const Kernel& kernel) {
    const KernelNode& node = kernel.node();
    if (node.kind == KernelKind::linear) return 1.0;
    if (node.kind != KernelKind::scale) return std::nullopt;
    const auto inner = linear_factor(node.children[0]);
    return inner ? std::optional(node.value * *inner) : std::nullopt;
}

}  // namespace mercer
