// Base kernels and algebra as people call them; the trees are made in build.cpp.
#include "mercer/kernel/kernel.hpp"

#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/build-inl.hpp"

namespace mercer {
namespace {

/// A parameter that the caller left at its default is not part of the expression.
void give_unless(GivenParameters& given, const char* name, const Parameter& value,
                 const Parameter& fallback) {
    if (value != fallback) given.emplace_back(name, value);
}

void give_if_set(GivenParameters& given, const char* name, const std::optional<double>& value) {
    if (value) given.emplace_back(name, *value);
}

GivenParameters gaussian_parameters(const RbfParameters& p) {
    GivenParameters given;
    if (p.gamma) given.emplace_back("gamma", *p.gamma);
    give_if_set(given, "sigma", p.sigma);
    give_if_set(given, "c", p.c);
    give_if_set(given, "width", p.width);
    return given;
}

}  // namespace

// ---- Base kernels.

Kernel linear() {
    return make_leaf(KernelKind::linear, {});
}

Kernel polynomial(const PolynomialParameters& p) {
    GivenParameters given;
    give_unless(given, "degree", static_cast<double>(p.degree), 3.0);
    give_unless(given, "gamma", p.gamma, 1.0);
    give_unless(given, "coef0", p.coef0, 1.0);
    return make_leaf(KernelKind::polynomial, std::move(given));
}

Kernel rbf(const RbfParameters& p) {
    return make_leaf(KernelKind::rbf, gaussian_parameters(p));
}

Kernel laplacian(const LaplacianParameters& p) {
    GivenParameters given;
    if (p.gamma) given.emplace_back("gamma", *p.gamma);
    give_if_set(given, "sigma", p.sigma);
    give_unless(given, "norm", static_cast<double>(p.norm), 1.0);
    return make_leaf(KernelKind::laplacian, std::move(given));
}

Kernel sigmoid(const SigmoidParameters& p) {
    GivenParameters given;
    give_unless(given, "gamma", p.gamma, 1.0);
    give_unless(given, "coef0", p.coef0, 0.0);
    return make_leaf(KernelKind::sigmoid, std::move(given));
}

Kernel logistic(const LogisticParameters& p) {
    GivenParameters given;
    give_unless(given, "beta", p.beta, 1.0);
    give_unless(given, "theta", p.theta, 1.0);
    return make_leaf(KernelKind::logistic, std::move(given));
}

Kernel exponential_dot(double gamma) {
    GivenParameters given;
    give_unless(given, "gamma", gamma, 1.0);
    return make_leaf(KernelKind::exponential_dot, std::move(given));
}

Kernel bilinear(const Matrix<double>& a) {
    if (a.rows() == 0 || a.rows() != a.columns()) {
        throw InvalidInput("the matrix of bilinear must be square, found " +
                           std::to_string(a.rows()) + " rows and " + std::to_string(a.columns()) +
                           " columns");
    }
    for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t j = 0; j < a.columns(); ++j) {
            if (!std::isfinite(a(i, j))) {
                throw InvalidInput("the matrix of bilinear must have finite entries, found " +
                                   format_number(a(i, j)) + " in row " + std::to_string(i) +
                                   ", column " + std::to_string(j));
            }
            if (a(i, j) == a(j, i)) continue;
            throw InvalidInput("the matrix of bilinear must be symmetric, found " +
                               format_number(a(i, j)) + " in row " + std::to_string(i) +
                               ", column " + std::to_string(j) + " and " + format_number(a(j, i)) +
                               " opposite; use (A + A')/2");
        }
    }
    return make_node({.kind = KernelKind::bilinear, .matrix = a});
}

Kernel outer(const Formula& f) {
    return make_node({.kind = KernelKind::outer, .formulas = {f}});
}

Kernel ball(double radius) {
    return make_leaf(KernelKind::ball, {{"radius", radius}});
}

Kernel negative_distance(double beta) {
    GivenParameters given;
    give_unless(given, "beta", beta, 1.0);
    return make_leaf(KernelKind::negative_distance, std::move(given));
}

Kernel anova(const AnovaParameters& p) {
    GivenParameters given;
    give_unless(given, "gamma", p.gamma, 1.0);
    give_unless(given, "degree", static_cast<double>(p.degree), 2.0);
    return make_leaf(KernelKind::anova, std::move(given));
}

Kernel inverse_multiquadric(double c) {
    GivenParameters given;
    give_unless(given, "c", c, 1.0);
    return make_leaf(KernelKind::inverse_multiquadric, std::move(given));
}

Kernel matern(const MaternParameters& p) {
    GivenParameters given;
    give_unless(given, "nu", p.nu, 1.5);
    give_unless(given, "length", p.length, 1.0);
    return make_leaf(KernelKind::matern, std::move(given));
}

Kernel rational_quadratic(const RationalQuadraticParameters& p) {
    GivenParameters given;
    give_unless(given, "alpha", p.alpha, 1.0);
    give_unless(given, "length", p.length, 1.0);
    return make_leaf(KernelKind::rational_quadratic, std::move(given));
}

Kernel periodic(const PeriodicParameters& p) {
    GivenParameters given;
    give_unless(given, "period", p.period, 1.0);
    give_unless(given, "length", p.length, 1.0);
    return make_leaf(KernelKind::periodic, std::move(given));
}

Kernel chi2(double gamma) {
    GivenParameters given;
    give_unless(given, "gamma", gamma, 1.0);
    return make_leaf(KernelKind::chi2, std::move(given));
}

Kernel additive_chi2() {
    return make_leaf(KernelKind::additive_chi2, {});
}

Kernel intersection() {
    return make_leaf(KernelKind::intersection, {});
}

Kernel precomputed() {
    return make_leaf(KernelKind::precomputed, {});
}

Kernel constant(double value) {
    return make_constant(value);
}

// ---- Algebra.

Kernel operator+(const Kernel& a, const Kernel& b) {
    return make_sum({a, b});
}
Kernel operator-(const Kernel& a, const Kernel& b) {
    return make_sum({a, make_scale(-1, b)});
}
Kernel operator*(const Kernel& a, const Kernel& b) {
    return make_product({a, b});
}
Kernel operator+(const Kernel& a, double b) {
    return make_sum({a, make_constant(b)});
}
Kernel operator+(double a, const Kernel& b) {
    return make_sum({make_constant(a), b});
}
Kernel operator-(const Kernel& a, double b) {
    return make_sum({a, make_constant(-b)});
}
Kernel operator*(double a, const Kernel& b) {
    return make_scale(a, b);
}
Kernel operator*(const Kernel& a, double b) {
    return make_scale(b, a);
}
Kernel pow(const Kernel& k, double exponent) {
    return make_power(k, exponent);
}
Kernel exp(const Kernel& k) {
    return make_wrapped(KernelKind::exp, k);
}
Kernel normalize(const Kernel& k) {
    return make_wrapped(KernelKind::normalize, k);
}
Kernel center(const Kernel& k) {
    return make_wrapped(KernelKind::center, k);
}
Kernel rbf_of(const Kernel& k, const RbfParameters& p) {
    return make_rbf_of(k, gaussian_parameters(p));
}

Kernel map(const Kernel& k, std::vector<Formula> coordinates) {
    if (coordinates.empty()) throw InvalidInput("map needs at least one formula, found none");
    return make_node(
        {.kind = KernelKind::map, .children = {k}, .formulas = std::move(coordinates)});
}

Kernel sets(const Kernel& k, std::size_t width, bool counted) {
    const KernelEntry& entry = kernel_entry(KernelKind::sets);
    const auto value = static_cast<double>(width);
    const std::string problem = parameter_problem(entry, entry.parameters.front(), value);
    if (!problem.empty()) throw InvalidInput(problem);
    if (contains(k.node(), KernelKind::center)) {
        throw InvalidInput(
            "center inside sets has no sample of single vectors; write center(sets(...)), which "
            "centres the sets");
    }
    return make_node(
        {.kind = KernelKind::sets, .children = {k}, .value = value, .counted = counted});
}

}  // namespace mercer
