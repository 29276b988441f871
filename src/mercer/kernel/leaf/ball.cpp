// ball: 1 where ‖x−z‖ <= radius, else 0
#include "mercer/base/error.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

void slopes(const KernelNode& k, Numbers t, const LeafSlopes& out) {
    const double radius = k.parameter("radius");
    map_to(t, out.value, [&](double v) { return std::sqrt(v) <= radius ? 1.0 : 0.0; });
    if (out.by_number.empty()) return;
    throw InvalidInput("ball(radius=…) jumps where |x-z| = radius and has no derivative");
}

void parameter_slope(const KernelNode&, const std::string&, Numbers, Out) {
    throw InvalidInput(
        "the radius of ball has no derivative: its values jump from 1 to 0; keep it fixed or use "
        "rbf, which falls off smoothly");
}

Finding judge(const KernelNode& k, const Assumptions&) {
    if (k.parameter("radius") == 0) {
        return strictly(
            Finding::positive(
                "radius = 0 leaves 1 for equal rows and 0 otherwise, an identity matrix", true),
            "the identity matrix on distinct rows");
    }
    return Finding::refuted(
        "for radius > 0: the Fourier transform of a ball is a Bessel function, which "
        "changes sign (Bochner); x, y, z with |x-y|, |y-z| <= radius < |x-z| give a negative "
        "eigenvalue");
}

}  // namespace

const Leaf& ball_leaf() {
    static const Leaf leaf{
        .entry = {.name = "ball",
                  .aliases = {"indicator"},
                  .formula = "1 if |x-z| <= radius else 0",
                  .about = "near or not; not positive definite",
                  // No radius suits all data.
                  .parameters = {at_least_zero("radius", {})}},
        .reads = PairNumber::squared,
        .value = [](const KernelNode& k,
                    double t) { return std::sqrt(t) <= k.parameter("radius") ? 1.0 : 0.0; },
        .slopes = slopes,
        .parameter_slope = parameter_slope,
        .judge = judge,
        .fast =
            [](const KernelNode& k) {
                const double radius = k.parameter("radius");
                return FastForm{.steps = {{FastCode::at_most, radius * radius}}, .steep = true};
            },
    };
    return leaf;
}

Kernel ball(double radius) {
    return make_leaf(ball_leaf(), {{"radius", radius}});
}

}  // namespace mercer
