// sigmoid: tanh(gamma x·z + coef0)
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// coef0 with the opposite sign.
ParameterForm delta_form() {
    ParameterForm form = any("delta", {}, {});
    form.canonical = "coef0";
    form.convert = [](double v) { return -v; };
    return form;
}

/// out = f(tanh(gamma t + coef0), t)
template <class F>
void map_tanh(const KernelNode& k, Numbers t, Out out, F f) {
    const double gamma = k.parameter("gamma");
    const double coef0 = k.parameter("coef0");
    map_to(t, out, [&](double v) { return f(std::tanh(gamma * v + coef0), v); });
}

void slopes(const KernelNode& k, Numbers t, const LeafSlopes& out) {
    const double gamma = k.parameter("gamma");
    map_tanh(k, t, out.value, [](double value, double) { return value; });
    map_tanh(k, t, out.by_number,
             [&](double value, double) { return gamma * (1 - value * value); });
}

void parameter_slope(const KernelNode& k, const std::string& canonical, Numbers t, Out out) {
    const bool rate = canonical == "gamma";
    map_tanh(k, t, out,
             [&](double value, double v) { return (1 - value * value) * (rate ? v : 1); });
}

Finding judge(const KernelNode& k, const Assumptions& assumptions) {
    if (number_or_one(k, "gamma") == 0) return judge_constant(std::tanh(k.parameter("coef0")));
    std::string because =
        "for every gamma other than 0: the Taylor coefficients of tanh(gamma t + coef0) in "
        "t = x.z have both signs (were they all >= 0, the singularity nearest to 0 would lie on "
        "the real axis, by Pringsheim, and tanh has none there)";
    because += assumptions.unit_norm
                   ? "; for rows of length 1 that refutes it in high enough dimension only "
                     "[Schoenberg 1942], so test it on the data"
                   : "; rows near the origin along one line show it. On given data it may still "
                     "pass: test it there";
    return assumptions.unit_norm ? Finding::unknown(because) : Finding::refuted(because);
}

}  // namespace

const Leaf& sigmoid_leaf() {
    static const Leaf leaf{
        .entry = {.name = "sigmoid",
                  .aliases = {"tanh"},
                  .formula = "tanh(gamma x.z + coef0)",
                  .about = "the neural-network kernel; not positive definite",
                  .parameters = {any("gamma", {"kappa"}, 1.0, true), any("coef0", {"theta"}, 0.0),
                                 delta_form()}},
        .reads = PairNumber::dot,
        .value =
            [](const KernelNode& k, double t) {
                return std::tanh(k.parameter("gamma") * t + k.parameter("coef0"));
            },
        .slopes = slopes,
        .parameter_slope = parameter_slope,
        .slope_kernel =
            [](const Kernel& k) { return k.node().parameter("gamma") * (constant(1) - pow(k, 2)); },
        .judge = judge,
        .enclose =
            [](const KernelNode& k, Interval t) {
                return tanh(k.parameter("gamma") * t + Interval(k.parameter("coef0")));
            },
        .fast =
            [](const KernelNode& k) {
                return FastForm{{{FastCode::affine, k.parameter("gamma"), k.parameter("coef0")},
                                 {FastCode::tanh}}};
            },
    };
    return leaf;
}

Kernel sigmoid(const SigmoidParameters& p) {
    GivenParameters given;
    give_unless(given, "gamma", p.gamma, 1.0);
    give_unless(given, "coef0", p.coef0, 0.0);
    return make_leaf(sigmoid_leaf(), std::move(given));
}

}  // namespace mercer
