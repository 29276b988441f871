// rbf: exp(−gamma ‖x−z‖²), the Gaussian
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

void parameter_slope(const KernelNode& k, const std::string&, Numbers t, Out out) {
    exponential_rate_slope(t, -k.parameter("gamma"), out);
    for (double& v : out) v = -v;
}

}  // namespace

const Leaf& rbf_leaf() {
    static const Leaf leaf{
        .entry = {.name = "rbf",
                  .aliases = {"gaussian"},
                  .formula = "exp(-gamma |x-z|^2)",
                  .about = "the Gaussian; gamma = 1/(2 sigma^2) = 1/c = 1/width^2",
                  .parameters = gaussian_forms(scale_rule, true)},
        .reads = PairNumber::squared,
        .value = [](const KernelNode& k, double t) { return std::exp(-k.parameter("gamma") * t); },
        .slopes = [](const KernelNode& k, Numbers t,
                     const LeafSlopes& out) { exponential_slopes(t, -k.parameter("gamma"), out); },
        .parameter_slope = parameter_slope,
        .slope_kernel = [](const Kernel& k) { return -2 * k.node().parameter("gamma") * k; },
        .judge =
            [](const KernelNode& k, const Assumptions&) {
                Finding found = Finding::positive(
                    "the Gaussian has a positive Fourier transform (Sompolinsky 2017, Bochner) for "
                    "every gamma >= 0",
                    true);
                found.distinct.positive_diagonal = true;
                return number_or_one(k, "gamma") > 0 ? strictly(found, transform_positive) : found;
            },
        .enclose = [](const KernelNode& k, Interval t) { return exp(-(k.parameter("gamma") * t)); },
        .fast =
            [](const KernelNode& k) {
                return FastForm{{{FastCode::exp, -k.parameter("gamma")}}};
            },
    };
    return leaf;
}

Kernel rbf(const RbfParameters& p) {
    return make_leaf(rbf_leaf(), gaussian_parameters(p));
}

std::optional<double> gaussian_gamma(const Kernel& kernel) {
    const KernelNode& node = kernel.node();
    if (node.leaf == &rbf_leaf()) return node.parameter("gamma");
    if (node.kind == KernelKind::scale && node.value > 0) return gaussian_gamma(node.children[0]);
    return std::nullopt;
}

}  // namespace mercer
