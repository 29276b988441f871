// polynomial: (coef0 + gamma x·z)^degree
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {
namespace {

using namespace leaves;

double whole_power(double base, int exponent) {
    double result = 1;
    for (; exponent > 0; exponent /= 2, base *= base) {
        if (exponent % 2 == 1) result *= base;
    }
    return result;
}

/// gamma t + coef0, and its powers.
struct Argument {
    explicit Argument(const KernelNode& k)
        : gamma(k.parameter("gamma")),
          coef0(k.parameter("coef0")),
          degree(static_cast<int>(k.parameter("degree"))) {}
    double operator()(double t) const { return gamma * t + coef0; }
    /// Of the power, in the argument.
    double slope(double t) const {
        return degree == 0 ? 0 : degree * whole_power((*this)(t), degree - 1);
    }

    double gamma;
    double coef0;
    int degree;
};

void slopes(const KernelNode& k, Numbers t, const LeafSlopes& out) {
    const Argument u(k);
    map_to(t, out.value, [&](double v) { return whole_power(u(v), u.degree); });
    map_to(t, out.by_number, [&](double v) { return u.gamma * u.slope(v); });
}

void parameter_slope(const KernelNode& k, const std::string& canonical, Numbers t, Out out) {
    const Argument u(k);
    const bool rate = canonical == "gamma";
    map_to(t, out, [&](double v) { return u.slope(v) * (rate ? v : 1); });
}

Kernel slope_kernel(const Kernel& k) {
    const Argument u(k.node());
    if (u.degree == 0) return constant(0);
    if (u.degree == 1) return constant(u.gamma);
    return u.degree * u.gamma *
           polynomial({.degree = u.degree - 1, .gamma = u.gamma, .coef0 = u.coef0});
}

/// By the signs of its binomial coefficients: odd against even powers.
Finding judge(const KernelNode& k, const Assumptions& assumptions) {
    const double degree = k.parameter("degree");
    const double coef0 = k.parameter("coef0");
    const double gamma = number_or_one(k, "gamma");
    if (gamma == 0 || degree == 0) return judge_constant(std::pow(coef0, degree));
    const auto series = [&] {
        const auto inner = add(constant_series(coef0), *scale(base_series(linear(), true), gamma));
        return power(*inner, static_cast<std::size_t>(degree));
    };
    if (gamma > 0 && coef0 >= 0) {
        Finding result = Finding::positive(
            "a polynomial of x.z with coefficients >= 0: degree is a whole number, gamma >= 0 and "
            "coef0 >= 0");
        if (is_number(k, "gamma")) result.series = series();
        // x and −x are one row to an even power without coef0; else x itself can be told.
        result.distinct.separates = coef0 > 0 || std::fmod(degree, 2) == 1;
        result.distinct.positive_diagonal = coef0 > 0;
        return result;
    }
    if (is_number(k, "gamma")) {
        if (const auto found = series()) return judge_series(*found, assumptions);
    }
    // A degree beyond the expansion, or gamma from data: the signs alone. With gamma < 0 an even
    // power is that of -coef0 - gamma t, an odd one its negative.
    const bool even = std::fmod(degree, 2) == 0;
    if (gamma < 0 && even && coef0 <= 0) {
        return Finding::positive(
            "an even power of -coef0 - gamma x.z, whose coefficients are >= 0");
    }
    if (gamma > 0 && degree == 1) {
        return Finding::conditional("gamma x.z plus a constant below 0: gamma >= 0 but coef0 < 0");
    }
    return Finding::refuted(
        "odd and even powers of x.z have coefficients of both signs, or all below 0 "
        "(coef0 < 0 or gamma < 0)");
}

/// All monomials up to the degree, or of it (001; 000: the table of digits).
FeatureDimension dimension(const KernelNode& k, std::size_t columns) {
    const auto degree = static_cast<std::uint64_t>(k.parameter("degree"));
    const double coef0 = k.parameter("coef0");
    if (number_or_one(k, "gamma") == 0 || degree == 0) {
        return FeatureDimension::constant(std::pow(coef0, static_cast<double>(degree)));
    }
    if (coef0 == 0) {
        return FeatureDimension::exactly(
            FeatureCount::monomials(columns, degree),
            "C(n + d - 1, d) monomials of degree d = " + std::to_string(degree));
    }
    return FeatureDimension::exactly(
        FeatureCount::binomial(columns + degree, degree),
        "C(n + d, d) monomials of degree 0 to d = " + std::to_string(degree));
}

}  // namespace

const Leaf& polynomial_leaf() {
    static const Leaf leaf{
        .entry = {.name = "polynomial",
                  .aliases = {"poly"},
                  .formula = "(coef0 + gamma x.z)^degree",
                  .about = "all monomials up to the degree; homogeneous with coef0=0",
                  .parameters = {whole("degree", {"d"}, 0, highest_degree, 3.0),
                                 any("gamma", {"s", "scale"}, 1.0, true),
                                 any("coef0", {"c", "offset"}, 1.0)}},
        .reads = PairNumber::dot,
        .value =
            [](const KernelNode& k, double t) {
                return std::pow(k.parameter("coef0") + k.parameter("gamma") * t,
                                k.parameter("degree"));
            },
        .slopes = slopes,
        .parameter_slope = parameter_slope,
        .slope_kernel = slope_kernel,
        .judge = judge,
        .dimension = dimension,
        .enclose =
            [](const KernelNode& k, Interval t) {
                return power(Interval(k.parameter("coef0")) + k.parameter("gamma") * t,
                             static_cast<unsigned>(k.parameter("degree")));
            },
        .fast =
            [](const KernelNode& k) {
                return FastForm{{{FastCode::affine, k.parameter("gamma"), k.parameter("coef0")},
                                 {FastCode::power, k.parameter("degree")}}};
            },
    };
    return leaf;
}

Kernel polynomial(const PolynomialParameters& p) {
    GivenParameters given;
    give_unless(given, "degree", static_cast<double>(p.degree), 3.0);
    give_unless(given, "gamma", p.gamma, 1.0);
    give_unless(given, "coef0", p.coef0, 1.0);
    return make_leaf(polynomial_leaf(), std::move(given));
}

}  // namespace mercer
