// The dimension of a feature space by rule against the rank of Gram matrices on many rows.
#include "mercer/kernel/definiteness.hpp"

#include <gtest/gtest.h>

#include "kernel/support.hpp"

namespace mercer {
namespace {

using Kind = FeatureDimension::Kind;
using test::Points;

std::size_t rank_of(const Matrix<double>& gram) {
    const std::vector<double> values = test::eigenvalues(gram);
    std::size_t rank = 0;
    for (const double v : values) rank += v > 1e-12 * values.back() ? 1 : 0;
    return rank;
}

TEST(FeatureDimension, ExactRulesAreTheRankOnManyRows) {
    Random random(71);
    const std::pair<const char*, std::size_t> cases[] = {
        {"linear", 3},
        {"polynomial(degree=2)", 10},
        {"polynomial(degree=3)", 20},
        {"polynomial(degree=2, coef0=0)", 6},
        {"polynomial(degree=3, gamma=scale)", 20},
        {"polynomial(degree=2, gamma=-1, coef0=-1)", 10},
        {"polynomial(degree=0)", 1},
        {"(linear + 0.5)^2 - 0.25", 9},
        {"linear + linear^3", 13},
        {"(linear - 1)^2 + 2*linear", 7},
        {"polynomial(degree=2)[0:2]", 6},
        {"linear[0,2]^2", 3},
        {"2.5", 1},
        {"0*rbf(gamma=1)", 0},
        {"3*linear", 3},
        {"normalize(polynomial(degree=2))", 10},
        {"sets(polynomial(degree=2), width=1)", 3},
    };
    const Points points = test::random_points(random, 30, 3);
    for (const auto& [text, expected] : cases) {
        const Kernel k = Kernel::parse(text);
        const FeatureDimension found = feature_dimension(k, 3);
        EXPECT_EQ(found.kind, Kind::exact) << text << ": " << found.because;
        EXPECT_EQ(found.count.exact(), expected) << text;
        EXPECT_EQ(describe(found), std::to_string(expected));
        if (expected == 0) continue;
        EXPECT_EQ(rank_of(test::gram(k.resolve(test::moments_of(points)), points)), expected)
            << text;
    }
}

TEST(FeatureDimension, BoundsAreNeverBelowTheRank) {
    Random random(72);
    const Points points = test::random_points(random, 40, 3);
    for (const char* text :
         {"linear[0:2] + polynomial(degree=2)", "linear[0]*linear[1:3]",
          "(linear[0:2] + linear[1:3])^2", "bilinear([[2,1,0],[1,2,0],[0,0,0]])", "outer(x0 - x1)",
          "center(polynomial(degree=2))", "map(polynomial(degree=2), x0, x0*x1)",
          "outer(x0)*polynomial(degree=2)"}) {
        const Kernel k = Kernel::parse(text);
        const FeatureDimension found = feature_dimension(k, 3);
        ASSERT_EQ(found.kind, Kind::at_most) << text << ": " << found.because;
        const std::size_t rank = rank_of(test::gram(k, points));
        EXPECT_LE(rank, *found.count.exact()) << text;
        EXPECT_LE(*found.count.exact(), 3 * rank) << text << ": no bound to speak of";
        EXPECT_NE(found.because, "");
    }
}

TEST(FeatureDimension, InfiniteMeansFullRankForEverMoreRows) {
    Random random(73);
    for (const char* text :
         {"rbf(gamma=2)", "laplacian(gamma=1)", "matern", "exp(linear)", "expdot", "periodic",
          "anova(gamma=1, degree=2)", "rbf(gamma=2)[0:2]", "linear + rbf(gamma=2)",
          "linear*rbf(gamma=2)", "periodic[0]*polynomial(degree=2)", "periodic[0]^2",
          "exp(linear[0:2])", "rbf_of(linear[0:2], gamma=1)", "normalize(periodic)",
          "center(rbf(gamma=2))", "sets(rbf(gamma=2), width=1)"}) {
        const Kernel k = Kernel::parse(text);
        const FeatureDimension found = feature_dimension(k, 3);
        EXPECT_EQ(found.kind, Kind::infinite) << text << ": " << found.because;
        EXPECT_EQ(describe(found), "infinite");
        const Points points = test::random_points(random, 14, 3);
        EXPECT_GE(rank_of(test::gram(k, points)), 13U) << text;
    }
    EXPECT_EQ(feature_dimension(intersection(), 3, {.non_negative = true}).kind, Kind::infinite);
    EXPECT_EQ(feature_dimension(anova({.degree = 4}), 3).count.exact(), 0U);
}

TEST(FeatureDimension, IsNotClaimedWithoutAFeatureSpaceOrARule) {
    for (const char* text :
         {"sigmoid", "negative_distance", "intersection", "precomputed", "map(rbf(gamma=1), x0)",
          "outer(x0)*rbf(gamma=1)", "exp(outer(x0))", "linear - linear^2"}) {
        const FeatureDimension found = feature_dimension(Kernel::parse(text), 3);
        EXPECT_EQ(found.kind, Kind::unknown) << text << ": " << describe(found);
        EXPECT_NE(found.because, "") << text;
    }
    EXPECT_THROW((void)feature_dimension(Kernel::parse("linear[5]"), 3), InvalidInput);
}

TEST(FeatureDimension, CountsBeyondIntegersAreLogarithms) {
    // Pascal's rule, across the border of 2^64.
    for (const std::uint64_t n : {10U, 60U, 66U, 67U, 68U, 80U, 300U}) {
        for (const std::uint64_t k : {1U, 7U, 20U, 33U, 40U}) {
            const FeatureCount whole = FeatureCount::binomial(n, k);
            const FeatureCount sum =
                FeatureCount::binomial(n - 1, k) + FeatureCount::binomial(n - 1, k - 1);
            if (whole.exact() && sum.exact()) {
                EXPECT_EQ(*whole.exact(), *sum.exact()) << n << ' ' << k;
            } else if (whole.exact() != 0U) {
                EXPECT_NEAR(whole.log10(), sum.log10(), 1e-9) << n << ' ' << k;
            }
        }
    }
    EXPECT_EQ(FeatureCount::binomial(67, 33).text(), "14226520737620288370");
    EXPECT_FALSE(FeatureCount::binomial(68, 34).exact());
    EXPECT_EQ(FeatureCount::binomial(68, 34).text(), "2.845e19");
    EXPECT_EQ((FeatureCount(1U << 31U) * FeatureCount(1U << 31U)).text(), "4611686018427387904");
    EXPECT_EQ((FeatureCount::binomial(68, 34) * FeatureCount(0)).text(), "0");
    // The table of digits (000): degrees 1 to 7 of 256 columns.
    double last = 0;
    for (int degree = 1; degree <= 7; ++degree) {
        const FeatureDimension found = feature_dimension(polynomial({.degree = degree}), 256);
        ASSERT_TRUE(found.count.exact());
        EXPECT_GT(found.count.log10(), last + 1);
        last = found.count.log10();
    }
    EXPECT_NEAR(last, std::log10(1.565e13), 0.1);
    const FeatureDimension huge = feature_dimension(polynomial({.degree = 900}), 1'000'000);
    EXPECT_FALSE(huge.count.exact());
    EXPECT_TRUE(std::isinf(huge.count.approximate()));
    EXPECT_NE(huge.count.text().find('e'), std::string::npos);
}

}  // namespace
}  // namespace mercer
