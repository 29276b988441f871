// rational_quadratic: (1 + ‖x−z‖² / (2 alpha length²))^−alpha
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// k = q^−alpha with q = 1 + scale t.
struct Form {
    explicit Form(const KernelNode& k)
        : alpha(k.parameter("alpha")),
          length(k.parameter("length")),
          scale(1 / (2 * alpha * length * length)) {}
    /// out = factor q^exponent
    void fill(Numbers t, double exponent, double factor, Out out) const {
        map_to(t, out, [&](double v) { return 1 + scale * v; });
        vector_log(out);
        for (double& v : out) v *= exponent;
        vector_exp(out);
        for (double& v : out) v *= factor;
    }

    double alpha;
    double length;
    double scale;
};

double value(const KernelNode& k, double t) {
    const double alpha = k.parameter("alpha");
    const double ratio = std::sqrt(t) / k.parameter("length");
    return std::exp(-alpha * std::log1p(ratio * ratio / (2 * alpha)));
}

void slopes(const KernelNode& k, Numbers t, const LeafSlopes& out) {
    const Form form(k);
    form.fill(t, -form.alpha, 1, out.value);
    form.fill(t, -form.alpha - 1, -form.alpha * form.scale, out.by_number);
}

void parameter_slope(const KernelNode& k, const std::string& canonical, Numbers t, Out out) {
    const Form form(k);
    std::vector<double> log_q(t.size());
    map_to(t, log_q, [&](double v) { return 1 + form.scale * v; });
    vector_log(log_q);
    form.fill(t, -form.alpha, 1, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double q = 1 + form.scale * t[i];
        const double share = form.scale * t[i] / q;  // (q − 1) / q
        out[i] *= canonical == "alpha" ? share - log_q[i] : 2 * form.alpha * share / form.length;
    }
}

Kernel slope_kernel(const Kernel& k) {
    const Form form(k.node());
    return -1 / (form.length * form.length) * pow(k, (form.alpha + 1) / form.alpha);
}

}  // namespace

const Leaf& rational_quadratic_leaf() {
    static const Leaf leaf{
        .entry = {.name = "rational_quadratic",
                  .aliases = {"rq"},
                  .formula = "(1 + |x-z|^2 / (2 alpha length^2))^(-alpha)",
                  .about = "a mixture of Gaussians of many widths",
                  .parameters = {above_zero("alpha", {}, 1.0), length_form()}},
        .reads = PairNumber::squared,
        .value = value,
        .slopes = slopes,
        .parameter_slope = parameter_slope,
        .slope_kernel = slope_kernel,
        .judge =
            [](const KernelNode&, const Assumptions&) {
                return strictly(
                    Finding::positive("(1 + s/(2 alpha length^2))^(-alpha) is completely monotone "
                                      "in s = |x-z|^2 [Schoenberg 1938], and so are its powers",
                                      true),
                    mixture_of_gaussians);
            },
        .enclose =
            [](const KernelNode& k, Interval t) {
                const Interval alpha(k.parameter("alpha"));
                const Interval length(k.parameter("length"));
                return exp(-(alpha * log1p(t / (2.0 * alpha * square(length)))));
            },
        .fast =
            [](const KernelNode& k) {
                const Form form(k);
                return FastForm{
                    {{FastCode::affine, form.scale, 1}, {FastCode::power, -form.alpha}}};
            },
    };
    return leaf;
}

Kernel rational_quadratic(const RationalQuadraticParameters& p) {
    GivenParameters given;
    give_unless(given, "alpha", p.alpha, 1.0);
    give_unless(given, "length", p.length, 1.0);
    return make_leaf(rational_quadratic_leaf(), std::move(given));
}

}  // namespace mercer
