// Kernels of histograms, whose entries must be >= 0:
//   chi2           exp(−gamma Σ (x_k − z_k)² / (x_k + z_k))
//   additive_chi2  −Σ (x_k − z_k)² / (x_k + z_k)
//   intersection   Σ min(x_k, z_k)
#include <algorithm>

#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

constexpr const char* about = "for histograms: entries must be >= 0";

/// `known` where the entries are known to be >= 0.
Finding for_histograms(const Assumptions& assumptions, Finding known) {
    if (assumptions.non_negative) return known;
    const bool conditional = known.definite == Definite::conditional;
    return Finding::unknown("needs entries >= 0, which is not assumed here; for such data it is " +
                            std::string(conditional ? "conditionally " : "") + "positive definite");
}

void chi2_parameter_slope(const KernelNode& k, const std::string&, Numbers t, Out out) {
    exponential_rate_slope(t, -k.parameter("gamma"), out);
    for (double& v : out) v = -v;
}

}  // namespace

const Leaf& chi2_leaf() {
    static const Leaf leaf{
        .entry = {.name = "chi2",
                  .formula = "exp(-gamma sum (xi-zi)^2 / (xi+zi))",
                  .about = about,
                  .parameters = {at_least_zero("gamma", 1.0)}},
        .reads = PairNumber::chi2,
        .value = [](const KernelNode& k, double t) { return std::exp(-k.parameter("gamma") * t); },
        .slopes = [](const KernelNode& k, Numbers t,
                     const LeafSlopes& out) { exponential_slopes(t, -k.parameter("gamma"), out); },
        .parameter_slope = chi2_parameter_slope,
        .judge =
            [](const KernelNode& k, const Assumptions& assumptions) {
                Finding found = Finding::positive(
                    "for entries >= 0: exp of gamma >= 0 times the conditionally positive definite "
                    "-chi^2 [Schoenberg 1938]",
                    true);
                found.distinct.positive_diagonal = true;
                // χ² is a squared distance of features, 0 for equal rows only.
                if (number_or_one(k, "gamma") > 0) {
                    found = strictly(found, "a Gaussian of features that differ for distinct rows");
                }
                return for_histograms(assumptions, found);
            },
        .fast =
            [](const KernelNode& k) {
                return FastForm{{{FastCode::exp, -k.parameter("gamma")}}};
            },
    };
    return leaf;
}

const Leaf& additive_chi2_leaf() {
    static const Leaf leaf{
        .entry = {.name = "additive_chi2", .formula = "-sum (xi-zi)^2 / (xi+zi)", .about = about},
        .reads = PairNumber::chi2,
        .value = [](const KernelNode&, double t) { return -t; },
        .slopes =
            [](const KernelNode&, Numbers t, const LeafSlopes& out) {
                map_to(t, out.value, [](double v) { return -v; });
                std::ranges::fill(out.by_number, -1.0);
            },
        .judge =
            [](const KernelNode&, const Assumptions& assumptions) {
                Finding found = Finding::conditional(
                    "for entries >= 0: -(x-z)^2/(x+z) = 4xz/(x+z) - (x+z), a positive definite "
                    "kernel less a function of x and one of z");
                found.distinct.separates = true;
                return for_histograms(assumptions, found);
            },
        .fast =
            [](const KernelNode&) {
                return FastForm{{{FastCode::affine, -1}}};
            },
    };
    return leaf;
}

const Leaf& intersection_leaf() {
    static const Leaf leaf{
        .entry = {.name = "intersection",
                  .aliases = {"histogram_intersection"},
                  .formula = "sum min(xi, zi)",
                  .about = about},
        .reads = PairNumber::minima,
        .value = [](const KernelNode&, double t) { return t; },
        .slopes = identity_slopes,
        .judge =
            [](const KernelNode&, const Assumptions& assumptions) {
                Finding found = Finding::positive(
                    "for entries >= 0: min(x,z) is the overlap of the intervals from 0 to x and "
                    "from 0 to z, a dot product of their indicator functions");
                found.distinct.separates = true;  // Σ |xi − zi| is the squared distance
                return for_histograms(assumptions, found);
            },
        .dimension =
            [](const KernelNode&, std::size_t columns) {
                if (columns == 0) return FeatureDimension::constant(0);
                return FeatureDimension::endless(
                    "indicators of intervals of different lengths are independent");
            },
        .fast = [](const KernelNode&) { return FastForm{}; },
    };
    return leaf;
}

Kernel chi2(double gamma) {
    GivenParameters given;
    give_unless(given, "gamma", gamma, 1.0);
    return make_leaf(chi2_leaf(), std::move(given));
}

Kernel additive_chi2() {
    return make_leaf(additive_chi2_leaf(), {});
}

Kernel intersection() {
    return make_leaf(intersection_leaf(), {});
}

}  // namespace mercer
