// negative_distance: −‖x−z‖^beta
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

void slopes(const KernelNode& k, Numbers t, const LeafSlopes& out) {
    const double beta = k.parameter("beta");
    powers(t, beta / 2, out.value);
    for (double& v : out.value) v = -v;
    powers(t, beta / 2 - 1, out.by_number);
    for (double& v : out.by_number) v *= -beta / 2;
}

/// −r^β log r, with r² = t; 0 at r = 0.
void parameter_slope(const KernelNode& k, const std::string&, Numbers t, Out out) {
    slopes(k, t, {.value = out});
    std::vector<double> log_t(t.begin(), t.end());
    vector_log(log_t);
    for (std::size_t i = 0; i < out.size(); ++i) out[i] *= log_t[i] / 2;
}

Finding judge(const KernelNode& k, const Assumptions&) {
    if (k.parameter("beta") <= 2) {
        Finding found = Finding::conditional(
            "-|x-z|^beta is conditionally positive definite for 0 < beta <= 2 [Schoenberg 1938]; "
            "it is not positive definite, being 0 on the diagonal");
        found.distinct.separates = true;
        return found;
    }
    return Finding::refuted(
        "-|x-z|^beta is conditionally positive definite (order 1) for 0 < beta <= 2 only "
        "[Schoenberg 1938], found beta = " +
        format_number(k.parameter("beta")));
}

}  // namespace

const Leaf& negative_distance_leaf() {
    static const Leaf leaf{
        .entry = {.name = "negative_distance",
                  .aliases = {"power"},
                  .formula = "-|x-z|^beta",
                  .about = "conditionally positive definite for beta <= 2",
                  .parameters = {above_zero("beta", {}, 1.0)}},
        .reads = PairNumber::squared,
        .value = [](const KernelNode& k,
                    double t) { return -std::pow(std::sqrt(t), k.parameter("beta")); },
        .slopes = slopes,
        .parameter_slope = parameter_slope,
        .judge = judge,
        .enclose =
            [](const KernelNode& k, Interval t) {
                const double beta = k.parameter("beta");
                return beta == 2 ? -t : -pow(sqrt(t), beta);
            },
        .fast =
            [](const KernelNode& k) {
                return FastForm{
                    .steps = {{FastCode::power, k.parameter("beta") / 2}, {FastCode::affine, -1}},
                    .steep = true};
            },
    };
    return leaf;
}

Kernel negative_distance(double beta) {
    GivenParameters given;
    give_unless(given, "beta", beta, 1.0);
    return make_leaf(negative_distance_leaf(), std::move(given));
}

}  // namespace mercer
