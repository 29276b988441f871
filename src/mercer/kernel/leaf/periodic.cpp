// periodic: exp(−2 Σ sin²(π (x_k − z_k) / period) / length²)
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// k = exp(rate t)
double rate(const KernelNode& k) {
    const double length = k.parameter("length");
    return -2 / (length * length);
}

/// In the length; the period is a parameter of t.
void parameter_slope(const KernelNode& k, const std::string&, Numbers t, Out out) {
    const double length = k.parameter("length");
    exponential_rate_slope(t, rate(k), out);
    for (double& v : out) v *= 4 / (length * length * length);
}

}  // namespace

const Leaf& periodic_leaf() {
    static const Leaf leaf{
        .entry = {.name = "periodic",
                  .formula = "exp(-2 sum sin^2(pi (xi-zi) / period) / length^2)",
                  .about = "repeats along every column",
                  .parameters = {above_zero("period", {}, 1.0), length_form()}},
        .reads = PairNumber::sine,
        .value =
            [](const KernelNode& k, double t) {
                const double length = k.parameter("length");
                return std::exp(-2 * t / (length * length));
            },
        .slopes = [](const KernelNode& k, Numbers t,
                     const LeafSlopes& out) { exponential_slopes(t, rate(k), out); },
        .parameter_slope = parameter_slope,
        .judge =
            [](const KernelNode&, const Assumptions&) {
                // Not strictly: rows a period apart are one.
                Finding found = Finding::positive(
                    "exp of positive multiples of cos(2 pi (xi-zi)/period) - 1, which are "
                    "conditionally positive definite",
                    true);
                found.distinct.positive_diagonal = true;
                return found;
            },
        .dimension =
            [](const KernelNode&, std::size_t columns) {
                if (columns == 0) return FeatureDimension::constant(1);
                return FeatureDimension::endless(
                    "the Fourier series of exp(cos) ends nowhere, in one column already");
            },
        .fast =
            [](const KernelNode& k) {
                return FastForm{{{FastCode::exp, rate(k)}}};
            },
    };
    return leaf;
}

Kernel periodic(const PeriodicParameters& p) {
    GivenParameters given;
    give_unless(given, "period", p.period, 1.0);
    give_unless(given, "length", p.length, 1.0);
    return make_leaf(periodic_leaf(), std::move(given));
}

}  // namespace mercer
