// Strictly positive definite (004): by rule, and never where distinct rows give a singular matrix.
#include <gtest/gtest.h>

#include <functional>

#include "kernel/support.hpp"
#include "mercer/kernel/definiteness.hpp"

namespace mercer {
namespace {

using test::Points;

const char* const strict_kernels[] = {
    "rbf(gamma=0.5)",
    "rbf",
    "laplacian(gamma=1)",
    "laplacian(gamma=1, norm=2)",
    "matern(nu=0.5)",
    "matern(nu=2.5)",
    "inverse_multiquadric",
    "rational_quadratic(alpha=0.4)",
    "expdot(gamma=0.5)",
    "ball(radius=0)",
    // sums, factors, products
    "rbf(gamma=1) + linear",
    "linear + 0.1*rbf(gamma=1)",
    "2*rbf(gamma=1)",
    "rbf(gamma=0.3)*matern",
    "(linear + 1)*rbf(gamma=1)",
    "polynomial(degree=2)*rbf(gamma=1)",
    "periodic*rbf(gamma=1)",
    "rbf(gamma=1)[0:2]*rbf(gamma=2)",
    // factors on columns that together are all
    "rbf(gamma=1)[0:2]*rbf(gamma=2)[2:]",
    "rbf(gamma=1)[0]*2*laplacian(gamma=1)[1]*rbf(gamma=2)[2:]",
    "rbf(gamma=1)[0:2]*rbf(gamma=2)[1:]",
    "(rbf(gamma=1)[1:]*polynomial(degree=2))*rbf(gamma=2)[0]^2",
    "rbf(gamma=1)^2 + 0.5*rbf(gamma=1)",
    "-(-rbf(gamma=1) - 3)",
    "rbf(gamma=1) - 0.5*rbf(gamma=1)",
    // powers, exp, Gaussians of features
    "rbf(gamma=1)^3",
    "rbf(gamma=1)^0.3",
    "exp(linear)",
    "exp(0.5*linear + 1)",
    "exp(polynomial(degree=3, gamma=0.2))",
    "exp(negative_distance)",
    "exp(rbf(gamma=1) - 1)",
    "rbf_of(linear, gamma=0.5)",
    "rbf_of(negative_distance, gamma=0.5)",
    "rbf_of(polynomial(degree=2), gamma=0.1)",
    "normalize(rbf(gamma=1) + linear)",
    "rbf(gamma=1)[0:]",
};

/// Each with rows on which it is singular, or with what stands against it.
const char* const others[] = {
    "linear",
    "polynomial(degree=3)",
    "polynomial(degree=2, coef0=0)",
    "1",
    "rbf(gamma=0)",
    "0*rbf(gamma=1)",
    "expdot(gamma=0)",
    "periodic",
    "rbf(gamma=1)[0:2]",
    "rbf(gamma=1)[0:2] + rbf(gamma=1)[2]",
    "rbf(gamma=1)[0]*rbf(gamma=1)[2:]",
    "rbf(gamma=1)[0:2]*linear[2:]",
    "rbf(gamma=1)[0]*(rbf(gamma=1)[1] + rbf(gamma=1)[2:])",
    "linear*rbf(gamma=1)",
    "exp(linear) - 1",
    "exp(polynomial(degree=2, coef0=0))",
    "exp(rbf(gamma=1)[0])",
    "rbf_of(polynomial(degree=2, coef0=0), gamma=1)",
    "rbf_of(linear, gamma=0)",
    "normalize(linear)",
    "center(rbf(gamma=1))",
    "map(rbf(gamma=1), x0^2)",
    "(-linear)^2",
};

/// A grid about the origin, on which all of `others` fail: it is symmetric, has steps of a period,
/// repeats columns, holds rows on one ray, the origin and rectangles.
Points grid() {
    Points points;
    for (int i = -1; i <= 1; ++i) {
        for (int j = -1; j <= 1; ++j) {
            for (int k = -1; k <= 1; ++k) {
                points.push_back({1.0 * i, 1.0 * j, 1.0 * k});
            }
        }
    }
    points.push_back({2, 0, 0});
    return points;
}

TEST(StrictlyDefinite, ByRuleAndOnDistinctRows) {
    Random random(61);
    for (const char* text : strict_kernels) {
        const Kernel k = Kernel::parse(text);
        const Definiteness found = definiteness(k);
        EXPECT_TRUE(found.strict) << text << ": " << found.reasons.front().because;
        EXPECT_EQ(describe(found), "strictly positive definite") << text;
        EXPECT_EQ(found.definite, Definite::positive) << text;
        EXPECT_NE(found.reasons.front().because.find("strictly"), std::string::npos) << text;
        // More rows than columns, and few, so that full rank shows through rounding.
        const Points points = test::random_points(random, 9, 3);
        const Matrix<double> gram = test::gram(k.resolve(test::moments_of(points)), points);
        EXPECT_GT(test::relative_least_eigenvalue(gram), 1e-9) << text;
    }
}

TEST(StrictlyDefinite, WhatIsNotIsSingularOnDistinctRows) {
    for (const char* text : others) {
        const Kernel k = Kernel::parse(text);
        const Definiteness found = definiteness(k);
        EXPECT_FALSE(found.strict) << text;
        EXPECT_EQ(describe(found), "positive definite") << text;
        const Points points = grid();
        EXPECT_LT(test::relative_least_eigenvalue(test::gram(k, points)), 1e-13) << text;
    }
}

TEST(StrictlyDefinite, HistogramKernelsOfEntriesFromZero) {
    Random random(62);
    for (const char* text : {"chi2(gamma=0.5)", "exp(additive_chi2)", "exp(intersection)"}) {
        const Kernel k = Kernel::parse(text);
        EXPECT_FALSE(definiteness(k).strict) << text;
        EXPECT_TRUE(definiteness(k, {.non_negative = true}).strict) << text;
        const Points points = test::absolute(test::random_points(random, 9, 3));
        EXPECT_GT(test::relative_least_eigenvalue(test::gram(k, points)), 1e-9) << text;
    }
    EXPECT_FALSE(definiteness(intersection(), {.non_negative = true}).strict);
}

TEST(StrictlyDefinite, RandomCombinationsAreNeverSingularOnDistinctRows) {
    Random random(63);
    const std::vector<std::string> atoms = {"linear",
                                            "polynomial(degree=2, gamma=0.3)",
                                            "rbf(gamma=2)",
                                            "negative_distance",
                                            "linear[0:2]",
                                            "laplacian(gamma=2)",
                                            "rbf(gamma=2)[1]",
                                            "rbf(gamma=2)[0]",
                                            "rbf(gamma=2)[1:]",
                                            "polynomial(degree=2, coef0=0)",
                                            "1",
                                            "periodic"};
    const std::function<std::string(int)> build = [&](int depth) -> std::string {
        if (depth == 0) return atoms[random.below(atoms.size())];
        const std::string a = "(" + build(depth - 1) + ")";
        const std::string b = "(" + build(depth - 1) + ")";
        switch (random.below(7)) {
            case 0: return a + " + " + b;
            case 1: return a + " - 0.5*" + b;
            case 2: return a + "*" + b;
            case 3: return a + "^2";
            case 4: return "exp(0.3*" + a + ")";
            case 5: return "rbf_of(" + a + ", gamma=0.5)";
            default: return "normalize(" + a + ")";
        }
    };
    int claims = 0;
    const Points points = grid();
    for (int trial = 0; trial < 400; ++trial) {
        const Kernel k = Kernel::parse(build(1 + static_cast<int>(random.below(2))));
        if (!definiteness(k).strict) continue;
        const Matrix<double> gram = test::gram(k, points);
        if (!std::ranges::all_of(gram.values(), [](double v) { return std::abs(v) < 1e6; }))
            continue;
        EXPECT_GT(test::relative_least_eigenvalue(gram), 1e-12) << k.text();
        ++claims;
    }
    EXPECT_GT(claims, 80);
}

}  // namespace
}  // namespace mercer
