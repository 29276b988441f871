// Definiteness of the base kernels, with the ranges of parameters that decide.
//
// Sources: 000 §2.2 (Mercer, Taylor signs, Fourier signs), 001 (pd and cpd), Schoenberg 1938
// (f(|x-z|) is pd in every dimension iff f(sqrt) is completely monotone; -|x-z|^beta is cpd iff
// beta <= 2), Schoenberg 1942 (f(x·z) on spheres of every dimension iff the Taylor coefficients are
// >= 0), Bochner 1933, Berg, Christensen and Ressel 1984.
#include <cmath>

#include "mercer/base/text.hpp"
#include "mercer/kernel/rules-inl.hpp"

namespace mercer {
namespace {

Finding positive(std::string because, bool divisible = false) {
    return {Definite::positive, std::move(because), divisible, {}};
}
Finding conditional(std::string because) {
    return {Definite::conditional, std::move(because), false, {}};
}
Finding unknown(std::string because) {
    return {Definite::unknown, std::move(because), false, {}};
}
Finding refuted(std::string because) {
    return {Definite::refuted, std::move(because), false, {}};
}

/// The number, or 1 for a rule: a rule always gives a positive number.
double number_or_one(const KernelNode& node, std::string_view name) {
    const Parameter value = canonical_parameter(node, name);
    const double* number = std::get_if<double>(&value);
    return number ? *number : 1.0;
}

bool is_number(const KernelNode& node, std::string_view name) {
    return std::holds_alternative<double>(canonical_parameter(node, name));
}

Finding judge_constant(double value) {
    Finding result =
        value >= 0
            ? positive("a constant >= 0 is the product of a constant feature with itself", true)
            : conditional(
                  "any constant vanishes against weights that sum to 0; below 0 it is not "
                  "positive definite");
    result.series = constant_series(value);
    return result;
}

/// (coef0 + gamma t)^degree, by the signs of its binomial coefficients: odd against even powers.
Finding judge_polynomial(const KernelNode& node, const Assumptions& assumptions) {
    const double degree = node.parameter("degree");
    const double coef0 = node.parameter("coef0");
    const double gamma = number_or_one(node, "gamma");
    if (gamma == 0 || degree == 0) return judge_constant(std::pow(coef0, degree));
    if (gamma > 0 && coef0 >= 0) {
        Finding result = positive(
            "a polynomial of x.z with coefficients >= 0: degree is a whole number, gamma >= 0 and "
            "coef0 >= 0");
        if (!is_number(node, "gamma")) return result;
        const auto inner = add(constant_series(coef0), *scale(base_series(linear(), true), gamma));
        result.series = power(*inner, static_cast<std::size_t>(degree));
        return result;
    }
    if (is_number(node, "gamma")) {
        const auto inner = add(constant_series(coef0), *scale(base_series(linear(), true), gamma));
        if (const auto series = power(*inner, static_cast<std::size_t>(degree))) {
            return judge_series(*series, assumptions);
        }
    }
    // A degree beyond the expansion, or gamma from data: the signs alone. With gamma < 0 an even
    // power is that of -coef0 - gamma t, an odd one its negative.
    const bool even = std::fmod(degree, 2) == 0;
    if (gamma < 0 && even && coef0 <= 0) {
        return positive("an even power of -coef0 - gamma x.z, whose coefficients are >= 0");
    }
    if (gamma > 0 && degree == 1) {
        return conditional("gamma x.z plus a constant below 0: gamma >= 0 but coef0 < 0");
    }
    return refuted(
        "odd and even powers of x.z have coefficients of both signs, or all below 0 "
        "(coef0 < 0 or gamma < 0)");
}

Finding judge_exponential_dot(const KernelNode& node, const Assumptions& assumptions) {
    const double gamma = node.parameter("gamma");
    const auto series = exponential(*scale(base_series(linear(), true), gamma));
    if (gamma < 0) {
        return series ? judge_series(*series, assumptions)
                      : refuted("gamma < 0 gives Taylor coefficients of both signs");
    }
    Finding result = positive(
        "the series of exp has coefficients gamma^n/n! >= 0 for gamma >= 0 (Sompolinsky 2017: "
        "e^{xz})",
        true);
    result.series = series;
    return result;
}

Finding judge_sigmoid(const KernelNode& node, const Assumptions& assumptions) {
    if (number_or_one(node, "gamma") == 0)
        return judge_constant(std::tanh(node.parameter("coef0")));
    std::string because =
        "for every gamma other than 0: the Taylor coefficients of tanh(gamma t + coef0) in "
        "t = x.z have both signs (were they all >= 0, the singularity nearest to 0 would lie on "
        "the real axis, by Pringsheim, and tanh has none there)";
    because += assumptions.unit_norm
                   ? "; for rows of length 1 that refutes it in high enough dimension only "
                     "[Schoenberg 1942], so test it on the data"
                   : "; rows near the origin along one line show it. On given data it may still "
                     "pass: test it there";
    return assumptions.unit_norm ? unknown(because) : refuted(because);
}

/// 000 prints 1/(1 + exp(beta x.y - theta)), which falls as x.y grows: k(x,-x) > k(x,x) breaks
/// Cauchy-Schwarz. Here the sign is turned round, and the seed's condition examined.
Finding judge_logistic(const KernelNode& node, const Assumptions& assumptions) {
    const double beta = node.parameter("beta");
    const double theta = node.parameter("theta");
    if (beta == 0) return judge_constant(1 / (1 + std::exp(theta)));
    if (beta < 0) {
        return refuted(
            "with beta < 0 the value falls as x.z grows, so k(x,-x) > k(x,x), against "
            "Cauchy-Schwarz (Sompolinsky 2017 prints this sign); take beta > 0");
    }
    const std::string signs =
        "the Taylor coefficients of 1/(1 + exp(theta - beta t)) in t = x.z have both signs "
        "(its poles t = (theta +- i pi)/beta are off the real axis, against Pringsheim)";
    if (!assumptions.unit_norm) {
        return refuted(
            "for rows of any length: " + signs +
            ". Sompolinsky 2017 calls it admissible when all rows have length 1 and beta <= theta; "
            "that is not assumed here");
    }
    const std::string dimension =
        " with a negative weight, so it is not completely monotone, and in high enough dimension "
        "the kernel is not positive definite [Schoenberg 1942]; in few dimensions it can be: test "
        "it on the data";
    if (beta > theta) {
        return unknown(
            "for rows of length 1, Sompolinsky 2017 asks for beta <= theta, found beta = " +
            format_number(beta) + " > theta = " + format_number(theta) + "; " + signs);
    }
    return unknown(
        "rows of length 1 and beta <= theta (Sompolinsky 2017): x.z = 1 - |x-z|^2/2 makes it the "
        "radial "
        "function 1/(1 + exp(theta - beta + beta |x-z|^2/2)), rising and convex in x.z and in "
        "accord with Cauchy-Schwarz; but that is a sum of Gaussians in which every second one "
        "stands" +
        dimension);
}

Finding judge_ball(const KernelNode& node) {
    if (node.parameter("radius") == 0) {
        return positive("radius = 0 leaves 1 for equal rows and 0 otherwise, an identity matrix",
                        true);
    }
    return refuted(
        "for radius > 0: the Fourier transform of a ball is a Bessel function, which "
        "changes sign (Bochner); x, y, z with |x-y|, |y-z| <= radius < |x-z| give a negative "
        "eigenvalue");
}

Finding judge_distance(const KernelNode& node) {
    switch (node.kind) {
        case KernelKind::rbf:
            return positive(
                "the Gaussian has a positive Fourier transform (Sompolinsky 2017, Bochner) for "
                "every gamma >= 0",
                true);
        case KernelKind::ball: return judge_ball(node);
        case KernelKind::negative_distance:
            if (node.parameter("beta") <= 2) {
                return conditional(
                    "-|x-z|^beta is conditionally positive definite for 0 < beta <= 2 [Schoenberg "
                    "1938]; it is not positive definite, being 0 on the diagonal");
            }
            return refuted(
                "-|x-z|^beta is conditionally positive definite (order 1) for 0 < beta <= "
                "2 only [Schoenberg 1938], found beta = " +
                format_number(node.parameter("beta")));
        case KernelKind::inverse_multiquadric:
            return positive(
                "(s + c^2)^(-1/2) is completely monotone in s = |x-z|^2 [Schoenberg "
                "1938], and so are its powers",
                true);
        case KernelKind::matern:
            return positive(
                "the Fourier transform is a Student t density, positive (Bochner), for nu = 0.5, "
                "1.5, 2.5; and infinitely divisible [Grosswald 1976]",
                true);
        default:
            return positive(
                "(1 + s/(2 alpha length^2))^(-alpha) is completely monotone in s = "
                "|x-z|^2 [Schoenberg 1938], and so are its powers",
                true);
    }
}

Finding judge_histogram(const KernelNode& node, const Assumptions& assumptions) {
    if (!assumptions.non_negative) {
        return unknown("needs entries >= 0, which is not assumed here; for such data it is " +
                       std::string(node.kind == KernelKind::additive_chi2 ? "conditionally " : "") +
                       "positive definite");
    }
    if (node.kind == KernelKind::chi2) {
        return positive(
            "for entries >= 0: exp of gamma >= 0 times the conditionally positive "
            "definite -chi^2 [Schoenberg 1938]",
            true);
    }
    if (node.kind == KernelKind::additive_chi2) {
        return conditional(
            "for entries >= 0: -(x-z)^2/(x+z) = 4xz/(x+z) - (x+z), a positive definite kernel less "
            "a function of x and one of z");
    }
    return positive(
        "for entries >= 0: min(x,z) is the overlap of the intervals from 0 to x and from 0 to z, a "
        "dot product of their indicator functions");
}

Finding judge_columns(const KernelNode& node, const Assumptions& assumptions) {
    switch (node.kind) {
        case KernelKind::laplacian:
            if (node.parameter("norm") == 2) {
                return positive(
                    "exp of gamma >= 0 times the conditionally positive definite "
                    "-|x-z| [Schoenberg 1938]",
                    true);
            }
            return positive(
                "a product over columns of exp(-gamma |xi-zi|), whose Fourier transform "
                "is a Cauchy density, positive (Bochner), for every gamma >= 0",
                true);
        case KernelKind::anova:
            return positive("sums of products of one-column Gaussians, for every gamma >= 0");
        case KernelKind::periodic:
            return positive(
                "exp of positive multiples of cos(2 pi (xi-zi)/period) - 1, which are "
                "conditionally positive definite",
                true);
        default: return judge_histogram(node, assumptions);
    }
}

Finding judge_bilinear(const KernelNode& node) {
    const double least = least_curvature(node.matrix);
    if (least < 0) {
        return refuted("the matrix A has v'Av = " + rounded(least) +
                       " at some v of length 1; it must be positive semi-definite");
    }
    return positive("the matrix A is positive semi-definite (Cholesky, eigenvalues down to -" +
                    format_number(psd_tolerance) +
                    " times its size counted as 0), so x'Az is a dot product of A^(1/2)x");
}

}  // namespace

Finding judge_leaf(const KernelNode& node, const Assumptions& assumptions) {
    switch (node.kind) {
        case KernelKind::linear: {
            Finding result = positive("the dot product itself");
            result.series = base_series(linear(), true);
            return result;
        }
        case KernelKind::polynomial: return judge_polynomial(node, assumptions);
        case KernelKind::sigmoid: return judge_sigmoid(node, assumptions);
        case KernelKind::logistic: return judge_logistic(node, assumptions);
        case KernelKind::exponential_dot: return judge_exponential_dot(node, assumptions);
        case KernelKind::bilinear: return judge_bilinear(node);
        case KernelKind::outer:
            return positive("f(x) f(z) is a dot product of one feature (Ralescu 2016 theorem 1.4)");
        case KernelKind::constant: return judge_constant(node.value);
        case KernelKind::precomputed:
            return unknown("a given matrix says nothing before it is seen; test its eigenvalues");
        case KernelKind::user:
            if (node.known_pd) return positive("declared positive definite by whoever wrote it");
            return unknown("a program's function, not declared positive definite; test it on data");
        default:
            return node.kind <= KernelKind::rational_quadratic ? judge_distance(node)
                                                               : judge_columns(node, assumptions);
    }
}

Finding judge_series(const Series& series, const Assumptions& assumptions) {
    const std::string t = series.base ? " in t = " + series.base_text : "";
    const std::string start = "as a series" + t + " it is " + series.text() + ": ";
    Finding result;
    result.series = series;
    if (const auto n = series.first_negative()) {
        const std::string which =
            "the coefficient of t" + (*n == 1 ? "" : "^" + std::to_string(*n)) + " is below 0";
        if (!series.dot_product) {
            result.because = start + which + ", so the rule of Taylor signs does not prove it";
        } else if (assumptions.unit_norm && series.base->node().kind == KernelKind::linear) {
            result.because = "not so in high enough dimension [Schoenberg 1942], " + start + which +
                             "; rows of length 1 in few dimensions may pass: test it on the data";
        } else {
            result.definite = Definite::refuted;
            result.because =
                start + which +
                ", and rows along one line give independent features 1, x, x^2, ... "
                "(Sompolinsky 2017: a function of x.z is admissible iff its Taylor coefficients "
                "are >= 0)";
        }
        return result;
    }
    if (series.tail == Series::Tail::unknown) {
        result.because = start + "the signs of the further coefficients are not known";
    } else if (series.negative(0)) {
        result.definite = Definite::conditional;
        result.because = start +
                         "only the constant is below 0, which vanishes against weights that "
                         "sum to 0";
    } else {
        result.definite = Definite::positive;
        result.because = start +
                         "no coefficient is below 0 (Sompolinsky 2017: Taylor-sign rule; Ralescu "
                         "2016 corollary 1)";
    }
    return result;
}

}  // namespace mercer
