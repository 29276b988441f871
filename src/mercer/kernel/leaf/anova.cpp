// anova: the sum over all choices of `degree` columns of Π exp(−gamma (x_k − z_k)²) over them
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

}  // namespace

const Leaf& anova_leaf() {
    static const Leaf leaf{
        .entry = {.name = "anova",
                  .formula = "sum over choices of `degree` columns of prod exp(-gamma (xi-zi)^2)",
                  .about = "interactions of exactly `degree` columns",
                  .parameters = {at_least_zero("gamma", 1.0),
                                 whole("degree", {"d"}, 1, highest_degree, 2.0)}},
        .reads = PairNumber::anova,
        .value = [](const KernelNode&, double t) { return t; },
        .slopes = identity_slopes,
        .judge =
            [](const KernelNode&, const Assumptions&) {
                return Finding::positive(
                    "sums of products of one-column Gaussians, for every gamma >= 0");
            },
        .dimension =
            [](const KernelNode& k, std::size_t columns) {
                const double degree = k.parameter("degree");
                if (degree > static_cast<double>(columns)) return FeatureDimension::constant(0);
                if (degree == 0 || number_or_one(k, "gamma") == 0) {
                    return FeatureDimension::constant(1);
                }
                return FeatureDimension::endless("that of a Gaussian of one column already");
            },
        .fast = [](const KernelNode&) { return FastForm{}; },
    };
    return leaf;
}

Kernel anova(const AnovaParameters& p) {
    GivenParameters given;
    give_unless(given, "gamma", p.gamma, 1.0);
    give_unless(given, "degree", static_cast<double>(p.degree), 2.0);
    return make_leaf(anova_leaf(), std::move(given));
}

}  // namespace mercer
