// laplacian: exp(−gamma Σ|x_k − z_k|), or exp(−gamma ‖x−z‖) with norm = 2
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

bool euclidean(const KernelNode& k) {
    return k.parameter("norm") == 2;
}

double value(const KernelNode& k, double t) {
    return std::exp(-k.parameter("gamma") * (euclidean(k) ? std::sqrt(t) : t));
}

void slopes(const KernelNode& k, Numbers t, const LeafSlopes& out) {
    const double gamma = k.parameter("gamma");
    if (!euclidean(k)) return exponential_slopes(t, -gamma, out);
    root_exponentials(t, gamma, out.value);
    root_exponential_slopes(t, gamma, out.by_number);
}

void parameter_slope(const KernelNode& k, const std::string&, Numbers t, Out out) {
    slopes(k, t, {.value = out});
    const bool root = euclidean(k);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= -(root ? std::sqrt(t[i]) : t[i]);
}

Finding judge(const KernelNode& k, const Assumptions&) {
    Finding found = Finding::positive(
        euclidean(k)
            ? "exp of gamma >= 0 times the conditionally positive definite -|x-z| [Schoenberg 1938]"
            : "a product over columns of exp(-gamma |xi-zi|), whose Fourier transform is a Cauchy "
              "density, positive (Bochner), for every gamma >= 0",
        true);
    found.distinct.positive_diagonal = true;
    return number_or_one(k, "gamma") > 0 ? strictly(found, transform_positive) : found;
}

FastForm fast(const KernelNode& k) {
    const FastStep decay{FastCode::exp, -k.parameter("gamma")};
    if (!euclidean(k)) return {.steps = {decay}};
    return {.steps = {{FastCode::root}, decay}, .steep = true};
}

}  // namespace

const Leaf& laplacian_leaf() {
    static const Leaf leaf{
        .entry = {.name = "laplacian",
                  .aliases = {"laplace"},
                  .formula = "exp(-gamma |x-z|_1)",
                  .about = "with norm=2 the Euclidean length; gamma = 1/sigma",
                  .parameters = {at_least_zero("gamma", auto_rule, true),
                                 other_form("sigma", {"lengthscale"}, "gamma", -1,
                                            [](double v) { return 1 / v; }),
                                 whole("norm", {}, 1, 2, 1.0)}},
        .reads = PairNumber::absolute,
        .reads_by_parameter =
            [](const KernelNode& k) {
                return euclidean(k) ? PairNumber::squared : PairNumber::absolute;
            },
        .value = value,
        .slopes = slopes,
        .parameter_slope = parameter_slope,
        .judge = judge,
        .enclose =
            [](const KernelNode& k, Interval t) {
                return exp(-(k.parameter("gamma") * (euclidean(k) ? sqrt(t) : t)));
            },
        .fast = fast,
    };
    return leaf;
}

Kernel laplacian(const LaplacianParameters& p) {
    GivenParameters given;
    if (p.gamma) given.emplace_back("gamma", *p.gamma);
    give_if_set(given, "sigma", p.sigma);
    give_unless(given, "norm", static_cast<double>(p.norm), 1.0);
    return make_leaf(laplacian_leaf(), std::move(given));
}

}  // namespace mercer
