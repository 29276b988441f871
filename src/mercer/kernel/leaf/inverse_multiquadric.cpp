// inverse_multiquadric: 1 / √(‖x−z‖² + c²)
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

void slopes(const KernelNode& k, Numbers t, const LeafSlopes& out) {
    const double square = k.parameter("c") * k.parameter("c");
    map_to(t, out.value, [&](double v) { return 1 / std::sqrt(v + square); });
    map_to(t, out.by_number,
           [&](double v) { return -0.5 / ((v + square) * std::sqrt(v + square)); });
}

void parameter_slope(const KernelNode& k, const std::string&, Numbers t, Out out) {
    slopes(k, t, {.value = out});
    const double c = k.parameter("c");
    for (double& v : out) v *= -c * v * v;
}

}  // namespace

const Leaf& inverse_multiquadric_leaf() {
    static const Leaf leaf{
        .entry = {.name = "inverse_multiquadric",
                  .aliases = {"imq"},
                  .formula = "1 / sqrt(|x-z|^2 + c^2)",
                  .about = "heavy tails",
                  .parameters = {above_zero("c", {}, 1.0)}},
        .reads = PairNumber::squared,
        .value = [](const KernelNode& k,
                    double t) { return 1 / std::hypot(std::sqrt(t), k.parameter("c")); },
        .slopes = slopes,
        .parameter_slope = parameter_slope,
        .slope_kernel = [](const Kernel& k) { return -1.0 * pow(k, 3); },
        .judge =
            [](const KernelNode&, const Assumptions&) {
                return strictly(
                    Finding::positive("(s + c^2)^(-1/2) is completely monotone in s = |x-z|^2 "
                                      "[Schoenberg 1938], and so are its powers",
                                      true),
                    mixture_of_gaussians);
            },
        .enclose =
            [](const KernelNode& k, Interval t) {
                return Interval(1) / sqrt(t + square(Interval(k.parameter("c"))));
            },
        .fast =
            [](const KernelNode& k) {
                const double c = k.parameter("c");
                return FastForm{{{FastCode::affine, 1, c * c}, {FastCode::power, -0.5}}};
            },
    };
    return leaf;
}

Kernel inverse_multiquadric(double c) {
    GivenParameters given;
    give_unless(given, "c", c, 1.0);
    return make_leaf(inverse_multiquadric_leaf(), std::move(given));
}

}  // namespace mercer
