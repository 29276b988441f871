// Definiteness by rule: each rule, and every verdict against eigenvalues.
#include "mercer/kernel/definiteness.hpp"

#include <gtest/gtest.h>

#include <functional>

#include "kernel/support.hpp"

namespace mercer {
namespace {

using test::Points;

constexpr auto positive = Definite::positive;
constexpr auto conditional = Definite::conditional;
constexpr auto unknown = Definite::unknown;
constexpr auto refuted = Definite::refuted;

struct Verdict {
    const char* text;
    Definite expected;
    const char* because;  ///< part of the first reason
};

/// One line a rule and side of a deciding range. Entries are assumed >= 0, so that the histogram
/// kernels take part; no other rule looks at that.
const Verdict verdicts[] = {
    // dot products and the Taylor signs
    {"linear", positive, "dot product"},
    {"polynomial(degree=3)", positive, "coef0 >= 0"},
    {"polynomial(degree=3, coef0=0)", positive, "coef0 >= 0"},
    {"polynomial(degree=3, gamma=scale)", positive, "gamma >= 0"},
    {"polynomial(degree=2, coef0=-1)", refuted, "coefficient of t is below 0"},
    {"polynomial(degree=3, coef0=-1)", refuted, "coefficient of t^2 is below 0"},
    {"polynomial(degree=1, coef0=-1)", conditional, "only the constant"},
    {"polynomial(degree=1, gamma=auto, coef0=-1)", conditional, "coef0 < 0"},
    {"polynomial(degree=2, gamma=-1, coef0=0)", positive, "no coefficient is below 0"},
    {"polynomial(degree=2, gamma=-1, coef0=-1)", positive, "no coefficient is below 0"},
    {"polynomial(degree=3, gamma=-1, coef0=0)", refuted, "is below 0"},
    {"polynomial(degree=100, coef0=-1)", refuted, "odd and even powers"},
    {"polynomial(degree=100, gamma=-0.01, coef0=-0.1)", positive, "an even power"},
    {"polynomial(degree=0, coef0=-1)", positive, "constant"},
    {"polynomial(degree=3, gamma=0, coef0=-1)", conditional, "constant"},
    {"(linear + 0.5)^2 - 0.25", positive, "t + t^2"},
    {"(linear + 0.3)^2 - 0.09", positive, "no coefficient is below 0"},
    {"(linear - 1)^2", refuted, "1 - 2 t + t^2"},
    {"(linear - 1)^2 + 2*linear", positive, "1 + t^2"},
    {"(linear - 1)^2 + linear", refuted, "is below 0"},
    {"(linear + 1)*(linear - 1)", conditional, "-1 + t^2"},
    {"(-linear)^2", positive, "t^2"},
    {"polynomial(degree=2)[0:2] - 1", positive, "t = linear[0:2]"},
    {"map(polynomial(degree=2) - 1, x0, x1)", positive, "on other points"},
    {"map(linear - linear^2, x0, x1)", unknown, "on other points"},
    {"expdot(gamma=0.3)", positive, "gamma >= 0"},
    {"expdot(gamma=-0.3)", refuted, "is below 0"},
    {"expdot(gamma=0)", positive, "gamma >= 0"},
    {"exp(linear) - 1", positive, "0.1667 t^3"},
    {"exp(-linear)", refuted, "is below 0"},
    {"exp(linear) - 1 - linear", positive, "0.5 t^2"},
    {"exp(linear) - 2*linear", refuted, "is below 0"},
    {"10*(linear + 1)^64 - exp(linear)", unknown, "further coefficients"},
    {"rbf(gamma=0.5)^3 - rbf(gamma=0.5)", unknown, "does not prove it"},
    {"rbf(gamma=0.5) + (linear + 0.3)^2 - 0.09", positive, "collected by base kernel"},
    {"rbf(gamma=0.5) + linear - linear^2", unknown, "collected in powers of t = linear"},
    {"(exp(linear) - 1)*linear", positive, "Schur"},
    {"sigmoid(gamma=0.5, coef0=1)", refuted, "both signs"},
    {"sigmoid(gamma=0.5, coef0=-1)", refuted, "both signs"},
    {"sigmoid(gamma=scale)", refuted, "both signs"},
    {"sigmoid(gamma=0, coef0=1)", positive, "constant"},
    {"sigmoid(gamma=0, coef0=-1)", conditional, "constant"},
    {"logistic(beta=1, theta=1)", refuted, "not assumed here"},
    {"logistic(beta=-1, theta=1)", refuted, "Cauchy-Schwarz"},
    {"logistic(beta=0, theta=1)", positive, "constant"},
    // distances
    {"rbf(gamma=0.5)", positive, "Fourier"},
    {"rbf", positive, "every gamma >= 0"},
    {"ball(radius=1)", refuted, "Bessel"},
    {"ball(radius=0)", positive, "identity"},
    {"negative_distance", conditional, "0 < beta <= 2"},
    {"negative_distance(beta=2)", conditional, "0 < beta <= 2"},
    {"negative_distance(beta=2.5)", refuted, "found beta = 2.5"},
    {"inverse_multiquadric(c=2)", positive, "completely monotone"},
    {"matern(nu=0.5)", positive, "Student"},
    {"matern(nu=2.5)", positive, "Student"},
    {"rational_quadratic(alpha=0.4)", positive, "completely monotone"},
    // columns
    {"laplacian(gamma=0.5)", positive, "Cauchy density"},
    {"laplacian(gamma=0.5, norm=2)", positive, "conditionally positive definite -|x-z|"},
    {"anova(gamma=0.5, degree=2)", positive, "products of one-column Gaussians"},
    {"periodic(period=2)", positive, "cos"},
    {"chi2(gamma=0.5)", positive, "entries >= 0"},
    {"additive_chi2", conditional, "entries >= 0"},
    {"intersection", positive, "overlap"},
    {"map(intersection, x0, x1)", unknown, "on other points"},
    // the rest of the leaves
    {"bilinear([[2,1,0],[1,2,0],[0,0,0]])", positive, "positive semi-definite"},
    {"bilinear([[1,2,0],[2,1,0],[0,0,1]])", refuted, "v'Av ="},
    {"outer(x0 - x1)", positive, "one feature"},
    {"2", positive, "constant >= 0"},
    {"-2", conditional, "any constant"},
    // sums, factors, products
    {"linear + rbf(gamma=1)", positive, "theorem 1.1"},
    {"rbf(gamma=1) - 1", conditional, "only the constant"},
    {"negative_distance + rbf(gamma=1) - 3", conditional, "sum of conditionally"},
    {"negative_distance - rbf(gamma=1)", unknown, "not all coefficients"},
    {"negative_distance + ball(radius=1)", unknown, "'ball(radius=1)' is not positive definite"},
    {"2*rbf(gamma=1)", positive, "factor >= 0"},
    {"2*negative_distance", conditional, "factor >= 0"},
    {"0*sigmoid", positive, "the kernel 0"},
    {"-rbf(gamma=1)", refuted, "diagonal <= 0"},
    {"-negative_distance", unknown, "turns the sign"},
    {"-(-rbf(gamma=1) - 3)", positive, "no coefficient"},
    {"linear*rbf(gamma=1)", positive, "Schur"},
    {"negative_distance*rbf(gamma=1)", unknown, "needs positive definite factors"},
    {"negative_distance*negative_distance", unknown, "needs positive definite factors"},
    {"outer(1 + x0)*rbf(gamma=1)", positive, "Schur"},
    // powers
    {"rbf(gamma=1)^3", positive, "whole power"},
    {"linear^0", positive, "constant 1"},
    {"negative_distance^1", conditional, "Schoenberg"},
    {"negative_distance^2", unknown, "needs a positive definite kernel"},
    {"rbf(gamma=1)^0.3", positive, "infinitely divisible"},
    {"laplacian(gamma=1)^0.3", positive, "infinitely divisible"},
    {"matern(nu=2.5)^0.1", positive, "infinitely divisible"},
    {"(2*rational_quadratic*matern(nu=1.5))^0.2", positive, "infinitely divisible"},
    {"exp(polynomial(degree=2, gamma=0.3))^0.3", positive, "infinitely divisible"},
    {"exp(negative_distance)^0.3", positive, "infinitely divisible"},
    {"normalize(expdot(gamma=0.3))[0:2]^0.3", positive, "infinitely divisible"},
    {"periodic^0.3", positive, "infinitely divisible"},
    {"chi2^0.3", positive, "infinitely divisible"},
    {"inverse_multiquadric^0.3", positive, "infinitely divisible"},
    {"intersection^0.5", unknown, "not known to be one"},
    {"rbf(gamma=1)^-1", unknown, "below 0"},
    // one kernel inside
    {"exp(rbf(gamma=1))", positive, "corollary 1"},
    {"exp(negative_distance)", positive, "Schoenberg 1938"},
    {"exp(linear - 3)", positive, "Schoenberg 1938"},
    {"exp(ball(radius=1))", unknown, "at least conditionally"},
    {"normalize(polynomial(degree=2))", positive, "1/sqrt"},
    {"normalize(negative_distance + 9)", unknown, "needs a positive definite"},
    {"center(linear)", positive, "enough"},
    {"center(negative_distance(beta=1.5))", positive, "enough"},
    {"center(ball(radius=1))", unknown, "at least conditionally"},
    {"rbf_of(polynomial(degree=2), gamma=0.1)", positive, "squared distance"},
    {"rbf_of(negative_distance, gamma=0.5)", positive, "squared distance"},
    {"rbf_of(ball(radius=1), gamma=0.5)", unknown, "at least conditionally"},
    {"rbf(gamma=1)[0:2]", positive, "fewer columns"},
    {"negative_distance[0:2]", conditional, "fewer columns"},
    {"map(negative_distance, x0^2, x1)", conditional, "other points"},
    {"sets(rbf(gamma=1), width=1)", positive, "sum over its members"},
    {"sets(negative_distance, width=1)", conditional, "same size"},
    {"sets(negative_distance, width=1, counted=true)", unknown, "different sizes"},
    {"precomputed", unknown, "matrix"},
};
TEST(Definiteness, EveryRuleAndItsReason) {
    for (const Verdict& v : verdicts) {
        const Definiteness found = definiteness(Kernel::parse(v.text), {.non_negative = true});
        EXPECT_EQ(describe(found.definite), describe(v.expected)) << v.text;
        ASSERT_FALSE(found.reasons.empty());
        EXPECT_EQ(found.reasons.front().part, Kernel::parse(v.text).text());
        EXPECT_EQ(found.reasons.front().definite, found.definite) << v.text;
        EXPECT_NE(found.reasons.front().because.find(v.because), std::string::npos)
            << v.text << ": " << found.reasons.front().because;
    }
}

/// Whatever a rule claims must show in the eigenvalues on any data; several samples of each.
TEST(Definiteness, ClaimsHoldOnRandomData) {
    Random random(41);
    int claims = 0;
    for (const Verdict& v : verdicts) {
        if (v.expected == unknown || v.expected == refuted) continue;
        for (const std::size_t columns : {3u, 7u}) {
            const std::string text = v.text;
            const bool three = text.find("[[2,1,0]") != std::string::npos;
            Points points = test::absolute(test::random_points(random, 24, three ? 3 : columns));
            // Scattered signs for all but the histogram kernels, which refuse them.
            const bool histogram = text.find("chi2") != std::string::npos ||
                                   text.find("intersection") != std::string::npos;
            if (!histogram) points = test::random_points(random, 24, points.front().size());
            const Kernel k = Kernel::parse(text).resolve(test::moments_of(points));
            Matrix<double> gram = test::gram(k, points);
            if (v.expected == conditional) gram = test::centred(gram);
            EXPECT_GT(test::relative_least_eigenvalue(gram), -1e-12) << text << ", " << columns;
            ++claims;
        }
    }
    EXPECT_GT(claims, 120);
}

TEST(Definiteness, WhatIsRefutedShowsANegativeEigenvalue) {
    Random random(42);
    const Points line = [] {
        Points result;
        for (int i = -6; i <= 6; ++i) result.push_back({i / 4.0, 0, 0});
        return result;
    }();
    const Points cloud = test::random_points(random, 40, 3);
    const std::pair<const char*, const Points*> cases[] = {
        {"polynomial(degree=2, coef0=-1)", &line},
        {"polynomial(degree=3, coef0=-1)", &line},
        {"(linear - 1)^2", &line},
        {"(linear - 1)^2 + linear", &line},
        {"expdot(gamma=-0.3)", &line},
        {"exp(-linear)", &line},
        {"exp(linear) - 2*linear", &line},
        {"sigmoid(gamma=0.5, coef0=1)", &line},
        {"sigmoid(gamma=0.5, coef0=-1)", &line},
        {"sigmoid(gamma=1)", &line},
        {"logistic(beta=1, theta=1)", &line},
        {"logistic(beta=-1, theta=1)", &line},
        {"ball(radius=1)", &cloud},
        {"negative_distance(beta=2.5)", &cloud},
        {"bilinear([[1,2,0],[2,1,0],[0,0,1]])", &cloud},
        {"-rbf(gamma=1)", &cloud},
    };
    for (const auto& [text, points] : cases) {
        const Kernel k = Kernel::parse(text);
        const Definiteness found = definiteness(k);
        EXPECT_EQ(found.definite, refuted) << text;
        EXPECT_EQ(describe(found.definite), "not positive definite");
        EXPECT_LT(test::relative_least_eigenvalue(test::gram(k, *points)), -1e-9) << text;
        // Neither is any of them conditionally positive definite.
        EXPECT_LT(test::relative_least_eigenvalue(test::centred(test::gram(k, *points))), -1e-9)
            << text;
    }
    // What is only conditionally positive definite is not positive definite.
    for (const char* text :
         {"negative_distance", "rbf(gamma=1) - 1", "polynomial(degree=1, coef0=-1)"}) {
        EXPECT_LT(test::relative_least_eigenvalue(test::gram(Kernel::parse(text), cloud)), -1e-3)
            << text;
    }
    // Nor does conditional definiteness survive sets of different sizes.
    Points sets;
    for (int i = 0; i < 12; ++i) {
        sets.push_back({static_cast<double>(i % 4), random.normal(), random.normal(), 10.0});
    }
    const Kernel counted = Kernel::parse("sets(negative_distance, width=1, counted=true)");
    EXPECT_LT(test::relative_least_eigenvalue(test::centred(test::gram(counted, sets))), -1e-6);
}

TEST(Definiteness, LogisticOnTheSphereIsNotProvedBecauseItIsNotTrueInEveryDimension) {
    const Kernel k = logistic({.beta = 1, .theta = 1});
    const Definiteness found = definiteness(k, {.unit_norm = true});
    EXPECT_EQ(found.definite, unknown);
    EXPECT_NE(found.reasons.front().because.find("beta <= theta"), std::string::npos);
    EXPECT_NE(definiteness(logistic({.beta = 2, .theta = 1}), {.unit_norm = true})
                  .reasons.front()
                  .because.find("found beta = 2 > theta = 1"),
              std::string::npos);
    // The third Taylor coefficient at 0 is negative, as the reason says: f''' < 0 there.
    const auto f = [&](double t) { return k(std::vector<double>{t}, std::vector<double>{1}); };
    const double h = 0.01;
    const double third = (f(2 * h) - 2 * f(h) + 2 * f(-h) - f(-2 * h)) / (2 * h * h * h);
    EXPECT_LT(third, -1e-3);
}

TEST(Definiteness, AssumptionsAreSeenOnlyWhereTheyHold) {
    EXPECT_EQ(definiteness(chi2()).definite, unknown);
    EXPECT_EQ(definiteness(chi2(), {.non_negative = true}).definite, positive);
    EXPECT_EQ(definiteness(chi2()[columns(0, 2)], {.non_negative = true}).definite, positive);
    EXPECT_EQ(definiteness(sets(chi2(), 2), {.non_negative = true}).definite, positive);
    const auto because = [](const char* text) {
        return definiteness(Kernel::parse(text), {.unit_norm = true}).reasons.front().because;
    };
    EXPECT_NE(because("(linear - 1)^2").find("high enough dimension"), std::string::npos);
    EXPECT_NE(because("sigmoid").find("high enough dimension"), std::string::npos);
    // A subset of the columns of a unit row is not a unit row.
    EXPECT_EQ(because("(linear[0] - 1)^2").find("high enough dimension"), std::string::npos);
}

TEST(Definiteness, UserFunctionsAreWhatTheyAreDeclared) {
    const auto f = [](auto, auto) { return 1.0; };
    EXPECT_EQ(definiteness(function("definiteness_test_f", f)).definite, unknown);
    EXPECT_EQ(definiteness(function("definiteness_test_g", f, true)).definite, positive);
    EXPECT_EQ(definiteness(Kernel::parse("user(definiteness_test_g) + linear")).definite, positive);
}

TEST(Definiteness, ReasonsWalkTheTreeWholeFirst) {
    const Definiteness found = definiteness(Kernel::parse("exp(linear - 1) + rbf*ball(1)"));
    std::vector<std::pair<std::size_t, std::string>> parts;
    for (const Reason& reason : found.reasons) parts.emplace_back(reason.depth, reason.part);
    const std::vector<std::pair<std::size_t, std::string>> expected = {
        {0, "exp(linear - 1) + rbf*ball(radius=1)"},
        {1, "exp(linear - 1)"},
        {2, "linear - 1"},
        {3, "linear"},
        {3, "-1"},
        {1, "rbf*ball(radius=1)"},
        {2, "rbf"},
        {2, "ball(radius=1)"}};
    EXPECT_EQ(parts, expected);
    for (const Reason& reason : found.reasons) EXPECT_FALSE(reason.because.empty()) << reason.part;
}

TEST(Definiteness, BilinearAgreesWithEigenvaluesOfTheMatrix) {
    Random random(43);
    int refused = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const std::size_t n = 1 + random.below(6);
        // B B' of rank n or n-1 is semi-definite; a shift may turn it.
        const Points b =
            test::random_points(random, n, trial % 2 == 0 ? n : std::max<std::size_t>(n - 1, 1));
        Matrix<double> a(n, n);
        const double shift = trial % 3 == 0 ? 0.3 : 0.0;
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                for (std::size_t c = 0; c < b[i].size(); ++c) a(i, j) += b[i][c] * b[j][c];
            }
            a(i, i) -= shift;
        }
        const bool semi_definite = test::relative_least_eigenvalue(a) > -1e-13;
        EXPECT_EQ(definiteness(bilinear(a)).definite == positive, semi_definite);
        refused += semi_definite ? 0 : 1;
    }
    EXPECT_GT(refused, 20);
}

TEST(Definiteness, RandomCombinationsNeverClaimWhatEigenvaluesDeny) {
    Random random(44);
    const std::vector<std::string> atoms = {"linear",
                                            "polynomial(degree=2, gamma=0.3)",
                                            "rbf(gamma=0.5)",
                                            "negative_distance",
                                            "ball(radius=1)",
                                            "sigmoid(gamma=0.2)",
                                            "matern(nu=1.5)",
                                            "1",
                                            "-0.5",
                                            "linear[0:2]",
                                            "laplacian(gamma=1)",
                                            "expdot(gamma=0.1)"};
    const std::function<std::string(int)> build = [&](int depth) -> std::string {
        if (depth == 0) return atoms[random.below(atoms.size())];
        // Named, because the order in which a compiler works out both sides of + is its own.
        const std::string a = "(" + build(depth - 1) + ")";
        const std::string b = "(" + build(depth - 1) + ")";
        switch (random.below(9)) {
            case 0: return a + " + " + b;
            case 1: return a + " - 0.5*" + b;
            case 2: return a + "*" + b;
            case 3: return a + "^2";
            case 4: return "exp(0.2*" + a + ")";
            case 5: return "-0.7*" + a;
            case 6: return "rbf_of(" + a + ", gamma=0.1)";
            case 7: return a + "^3";
            // A centre within a centre costs the plain formula n² evaluations for each of n².
            default: return a.find("center") == std::string::npos ? "center" + a : a + "^2";
        }
    };
    int claims = 0;
    for (int trial = 0; trial < 200; ++trial) {
        const Kernel k = Kernel::parse(build(1 + static_cast<int>(random.below(3))));
        const Definite found = definiteness(k).definite;
        if (found == unknown || found == refuted) continue;
        const Points points = test::random_points(random, 8, 3);
        Matrix<double> gram = test::gram(k, points);
        double size = 0;
        bool finite = true;
        for (const double value : gram.values()) {
            finite &= std::isfinite(value);
            size = std::max(size, std::fabs(value));
        }
        if (!finite) continue;
        if (found == conditional) gram = test::centred(gram);
        EXPECT_GE(test::eigenvalues(gram).front(), -1e-11 * (1 + size)) << k.text();
        ++claims;
    }
    EXPECT_GT(claims, 60);
}

}  // namespace
}  // namespace mercer
