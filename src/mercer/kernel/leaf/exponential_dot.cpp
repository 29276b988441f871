// expdot: exp(gamma x·z)
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

Finding judge(const KernelNode& k, const Assumptions& assumptions) {
    const double gamma = k.parameter("gamma");
    const auto series = exponential(*scale(base_series(linear(), true), gamma));
    if (gamma < 0) {
        return series ? judge_series(*series, assumptions)
                      : Finding::refuted("gamma < 0 gives Taylor coefficients of both signs");
    }
    Finding result = Finding::positive(
        "the series of exp has coefficients gamma^n/n! >= 0 for gamma >= 0 (Sompolinsky 2017: "
        "e^{xz})",
        true);
    result.series = series;
    result.distinct.positive_diagonal = true;
    if (gamma > 0) return strictly(std::move(result), "a Gaussian between factors above 0");
    return result;
}

}  // namespace

const Leaf& exponential_dot_leaf() {
    static const Leaf leaf{
        .entry = {.name = "expdot",
                  .aliases = {"exponential_dot"},
                  .formula = "exp(gamma x.z)",
                  .about = "the exponential of the dot product",
                  .parameters = {any("gamma", {}, 1.0)}},
        .reads = PairNumber::dot,
        .value = [](const KernelNode& k, double t) { return std::exp(k.parameter("gamma") * t); },
        .slopes = [](const KernelNode& k, Numbers t,
                     const LeafSlopes& out) { exponential_slopes(t, k.parameter("gamma"), out); },
        .parameter_slope = [](const KernelNode& k, const std::string&, Numbers t,
                              Out out) { exponential_rate_slope(t, k.parameter("gamma"), out); },
        .slope_kernel = [](const Kernel& k) { return k.node().parameter("gamma") * k; },
        .judge = judge,
        .enclose = [](const KernelNode& k, Interval t) { return exp(k.parameter("gamma") * t); },
        .fast =
            [](const KernelNode& k) {
                return FastForm{{{FastCode::exp, k.parameter("gamma")}}};
            },
    };
    return leaf;
}

Kernel exponential_dot(double gamma) {
    GivenParameters given;
    give_unless(given, "gamma", gamma, 1.0);
    return make_leaf(exponential_dot_leaf(), std::move(given));
}

}  // namespace mercer
