// matern: with s = √(2ν) ‖x−z‖ / length (Rasmussen and Williams 2006, equation 4.17)
// e^−s, (1 + s) e^−s and (1 + s + s²/3) e^−s for ν = 1/2, 3/2 and 5/2
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

ParameterForm smoothness() {
    ParameterForm form = above_zero("nu", {}, 1.5);
    form.choices = {0.5, 1.5, 2.5};
    return form;
}

double value(const KernelNode& k, double t) {
    const double nu = k.parameter("nu");
    const double s = std::sqrt(2 * nu) * (std::sqrt(t) / k.parameter("length"));
    if (nu == 0.5) return std::exp(-s);
    return (nu == 1.5 ? 1 + s : 1 + s + s * s / 3) * std::exp(-s);
}

void slopes(const KernelNode& k, Numbers t, const LeafSlopes& out) {
    const double nu = k.parameter("nu");
    const double rate = std::sqrt(2 * nu) / k.parameter("length");
    root_exponentials(t, rate, out.value);
    if (nu < 1) return root_exponential_slopes(t, rate, out.by_number);
    for (std::size_t i = 0; i < out.value.size(); ++i) {
        const double s = rate * std::sqrt(t[i]);
        out.value[i] *= nu < 2 ? 1 + s : 1 + s + s * s / 3;
    }
    root_exponentials(t, rate, out.by_number);
    for (std::size_t i = 0; i < out.by_number.size(); ++i) {
        const double s = rate * std::sqrt(t[i]);
        out.by_number[i] *= nu < 2 ? -rate * rate / 2 : -rate * rate * (1 + s) / 6;
    }
}

void parameter_slope(const KernelNode& k, const std::string&, Numbers t, Out out) {
    const double nu = k.parameter("nu");
    const double length = k.parameter("length");
    const double rate = std::sqrt(2 * nu) / length;
    root_exponentials(t, rate, out);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const double s = rate * std::sqrt(t[i]);
        out[i] *= (nu < 1 ? s : nu < 2 ? s * s : s * s * (1 + s) / 3) / length;
    }
}

Interval enclose(const KernelNode& k, Interval t) {
    const double nu = k.parameter("nu");
    const Interval s = sqrt(Interval(2 * nu)) * sqrt(t) / k.parameter("length");
    const Interval decay = exp(-s);
    if (nu == 0.5) return decay;
    const Interval linear = Interval(1) + s;
    return (nu == 1.5 ? linear : linear + square(s) / 3.0) * decay;
}

}  // namespace

const Leaf& matern_leaf() {
    static const Leaf leaf{
        .entry = {.name = "matern",
                  .aliases = {"matern12", "matern32", "matern52"},
                  .formula = "Matern of smoothness nu in |x-z| / length",
                  .about = "nu is 0.5, 1.5 or 2.5",
                  .parameters = {smoothness(), length_form()},
                  .presets = {{"matern12", {{"nu", 0.5}}},
                              {"matern32", {{"nu", 1.5}}},
                              {"matern52", {{"nu", 2.5}}}}},
        .reads = PairNumber::squared,
        .value = value,
        .slopes = slopes,
        .parameter_slope = parameter_slope,
        .judge =
            [](const KernelNode&, const Assumptions&) {
                return strictly(
                    Finding::positive("the Fourier transform is a Student t density, positive "
                                      "(Bochner), for nu = 0.5, 1.5, 2.5; and infinitely divisible "
                                      "[Grosswald 1976]",
                                      true),
                    transform_positive);
            },
        .enclose = enclose,
        .fast =
            [](const KernelNode& k) {
                const double nu = k.parameter("nu");
                return FastForm{.steps = {{FastCode::matern, nu, 1 / k.parameter("length")}},
                                .steep = nu < 1};
            },
    };
    return leaf;
}

Kernel matern(const MaternParameters& p) {
    GivenParameters given;
    give_unless(given, "nu", p.nu, 1.5);
    give_unless(given, "length", p.length, 1.0);
    return make_leaf(matern_leaf(), std::move(given));
}

}  // namespace mercer
