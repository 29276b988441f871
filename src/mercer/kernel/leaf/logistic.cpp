// logistic: 1 / (1 + exp(theta − beta x·z))
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// out = f(k(t), t)
template <class F>
void map_logistic(const KernelNode& k, Numbers t, Out out, F f) {
    const double beta = k.parameter("beta");
    const double theta = k.parameter("theta");
    map_to(t, out, [&](double v) { return f(1 / (1 + std::exp(theta - beta * v)), v); });
}

void slopes(const KernelNode& k, Numbers t, const LeafSlopes& out) {
    const double beta = k.parameter("beta");
    map_logistic(k, t, out.value, [](double value, double) { return value; });
    map_logistic(k, t, out.by_number,
                 [&](double value, double) { return beta * (value * (1 - value)); });
}

void parameter_slope(const KernelNode& k, const std::string& canonical, Numbers t, Out out) {
    const bool rate = canonical == "beta";
    map_logistic(k, t, out,
                 [&](double value, double v) { return value * (1 - value) * (rate ? v : -1); });
}

/// 000 prints 1/(1 + exp(beta x.y - theta)), which falls as x.y grows: k(x,-x) > k(x,x) breaks
/// Cauchy-Schwarz. Here the sign is turned round, and the seed's condition examined.
Finding judge(const KernelNode& k, const Assumptions& assumptions) {
    const double beta = k.parameter("beta");
    const double theta = k.parameter("theta");
    if (beta == 0) return judge_constant(1 / (1 + std::exp(theta)));
    if (beta < 0) {
        return Finding::refuted(
            "with beta < 0 the value falls as x.z grows, so k(x,-x) > k(x,x), against "
            "Cauchy-Schwarz (Sompolinsky 2017 prints this sign); take beta > 0");
    }
    const std::string signs =
        "the Taylor coefficients of 1/(1 + exp(theta - beta t)) in t = x.z have both signs "
        "(its poles t = (theta +- i pi)/beta are off the real axis, against Pringsheim)";
    if (!assumptions.unit_norm) {
        return Finding::refuted(
            "for rows of any length: " + signs +
            ". Sompolinsky 2017 calls it admissible when all rows have length 1 and beta <= theta; "
            "that is not assumed here");
    }
    if (beta > theta) {
        return Finding::unknown(
            "for rows of length 1, Sompolinsky 2017 asks for beta <= theta, found beta = " +
            format_number(beta) + " > theta = " + format_number(theta) + "; " + signs);
    }
    return Finding::unknown(
        "rows of length 1 and beta <= theta (Sompolinsky 2017): x.z = 1 - |x-z|^2/2 makes it the "
        "radial "
        "function 1/(1 + exp(theta - beta + beta |x-z|^2/2)), rising and convex in x.z and in "
        "accord with Cauchy-Schwarz; but that is a sum of Gaussians in which every second one "
        "stands with a negative weight, so it is not completely monotone, and in high enough "
        "dimension the kernel is not positive definite [Schoenberg 1942]; in few dimensions it can "
        "be: test it on the data");
}

}  // namespace

const Leaf& logistic_leaf() {
    static const Leaf leaf{
        .entry = {.name = "logistic",
                  .formula = "1 / (1 + exp(theta - beta x.z))",
                  .about =
                      "the logistic function of the dot product; not positive definite in general",
                  .parameters = {any("beta", {}, 1.0), any("theta", {}, 1.0)}},
        .reads = PairNumber::dot,
        .value =
            [](const KernelNode& k, double t) {
                return 1 / (1 + std::exp(k.parameter("theta") - k.parameter("beta") * t));
            },
        .slopes = slopes,
        .parameter_slope = parameter_slope,
        .judge = judge,
        .fast =
            [](const KernelNode& k) {
                return FastForm{{{FastCode::affine, k.parameter("beta"), -k.parameter("theta")},
                                 {FastCode::logistic}}};
            },
    };
    return leaf;
}

Kernel logistic(const LogisticParameters& p) {
    GivenParameters given;
    give_unless(given, "beta", p.beta, 1.0);
    give_unless(given, "theta", p.theta, 1.0);
    return make_leaf(logistic_leaf(), std::move(given));
}

}  // namespace mercer
