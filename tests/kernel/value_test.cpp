// Values of kernels against formulas written out here, the worked examples of the lectures, and
// the rules of construction as identities.
#include <gtest/gtest.h>

#include <functional>
#include <numbers>
#include <numeric>

#include "kernel/support.hpp"

namespace mercer {
namespace {

using test::complaint;
using test::Points;
using test::random_points;
using Row = std::vector<double>;

double dot(const Row& x, const Row& z) {
    return std::inner_product(x.begin(), x.end(), z.begin(), 0.0);
}

double sum_over(const Row& x, const Row& z, const std::function<double(double, double)>& f) {
    return std::transform_reduce(x.begin(), x.end(), z.begin(), 0.0, std::plus<>(), f);
}

double squared(const Row& x, const Row& z) {
    return sum_over(x, z, [](double a, double b) { return (a - b) * (a - b); });
}

/// Each kernel by name against its formula.
struct Case {
    const char* text;
    std::function<double(const Row&, const Row&)> formula;
};

const std::vector<Case>& real_cases() {
    static const std::vector<Case> cases = {
        {"linear", dot},
        {"poly", [](auto& x, auto& z) { return std::pow(1 + dot(x, z), 3); }},
        {"poly(2, 0.5, 0)", [](auto& x, auto& z) { return std::pow(0.5 * dot(x, z), 2); }},
        {"poly(d=4, s=0.5, c=2)",
         [](auto& x, auto& z) { return std::pow(2 + 0.5 * dot(x, z), 4); }},
        {"tanh(kappa=0.3, delta=1)",
         [](auto& x, auto& z) { return std::tanh(0.3 * dot(x, z) - 1); }},
        {"sigmoid(gamma=0.3, coef0=1)",
         [](auto& x, auto& z) { return std::tanh(0.3 * dot(x, z) + 1); }},
        {"logistic(beta=2, theta=0.5)",
         [](auto& x, auto& z) { return 1 / (1 + std::exp(0.5 - 2 * dot(x, z))); }},
        {"expdot(0.2)", [](auto& x, auto& z) { return std::exp(0.2 * dot(x, z)); }},
        {"rbf(0.7)", [](auto& x, auto& z) { return std::exp(-0.7 * squared(x, z)); }},
        {"gaussian(sigma=1.5)", [](auto& x, auto& z) { return std::exp(-squared(x, z) / 4.5); }},
        {"rbf(c=3)", [](auto& x, auto& z) { return std::exp(-squared(x, z) / 3); }},
        {"rbf(width=3)", [](auto& x, auto& z) { return std::exp(-squared(x, z) / 9); }},
        {"ball(2)", [](auto& x, auto& z) { return squared(x, z) <= 4 ? 1.0 : 0.0; }},
        {"power(1.5)", [](auto& x, auto& z) { return -std::pow(squared(x, z), 0.75); }},
        {"imq(2)", [](auto& x, auto& z) { return 1 / std::sqrt(squared(x, z) + 4); }},
        {"matern12(2)", [](auto& x, auto& z) { return std::exp(-std::sqrt(squared(x, z)) / 2); }},
        {"matern32(2)",
         [](auto& x, auto& z) {
             const double s = std::sqrt(3 * squared(x, z)) / 2;
             return (1 + s) * std::exp(-s);
         }},
        {"matern(nu=2.5)",
         [](auto& x, auto& z) {
             const double r2 = squared(x, z);
             return (1 + std::sqrt(5 * r2) + 5 * r2 / 3) * std::exp(-std::sqrt(5 * r2));
         }},
        {"rq(alpha=2, length=3)",
         [](auto& x, auto& z) { return std::pow(1 + squared(x, z) / 36, -2); }},
        {"laplacian(sigma=2)",
         [](auto& x, auto& z) {
             return std::exp(-sum_over(x, z, [](double a, double b) { return std::fabs(a - b); }) /
                             2);
         }},
        {"laplacian(gamma=0.4, norm=2)",
         [](auto& x, auto& z) { return std::exp(-0.4 * std::sqrt(squared(x, z))); }},
        {"periodic(period=3, length=2)",
         [](auto& x, auto& z) {
             double product = 1;
             for (std::size_t i = 0; i < x.size(); ++i) {
                 const double s = std::sin(std::numbers::pi * (x[i] - z[i]) / 3);
                 product *= std::exp(-2 * s * s / 4);
             }
             return product;
         }},
        {"bilinear([[1,2,0,0],[2,1,0,0],[0,0,3,0],[0,0,0,-1]])",
         [](auto& x, auto& z) {
             return x[0] * z[0] + 2 * x[0] * z[1] + 2 * x[1] * z[0] + x[1] * z[1] +
                    3 * x[2] * z[2] - x[3] * z[3];
         }},
        {"outer(1 + x0^2)", [](auto& x, auto& z) { return (1 + x[0] * x[0]) * (1 + z[0] * z[0]); }},
        {"2.5", [](auto&, auto&) { return 2.5; }},
    };
    return cases;
}

TEST(KernelValue, EqualsItsFormula) {
    Random random(11);
    for (const Case& c : real_cases()) {
        const Kernel k = Kernel::parse(c.text);
        for (int trial = 0; trial < 20; ++trial) {
            const Points p = random_points(random, 2, 4);
            const double expected = c.formula(p[0], p[1]);
            EXPECT_NEAR(k(p[0], p[1]), expected, 1e-13 * (1 + std::fabs(expected))) << c.text;
            EXPECT_NEAR(k(p[1], p[0]), expected, 1e-13 * (1 + std::fabs(expected))) << c.text;
        }
    }
}

TEST(KernelValue, HistogramKernelsEqualTheirFormulas) {
    Random random(12);
    for (int trial = 0; trial < 20; ++trial) {
        Points p = test::absolute(random_points(random, 2, 4));
        p[0][1] = p[1][1] = 0;  // an empty bin in both: 0/0 counts as 0
        double chi = 0;
        double least = 0;
        for (std::size_t i = 0; i < 4; ++i) {
            least += std::min(p[0][i], p[1][i]);
            if (i != 1) chi += std::pow(p[0][i] - p[1][i], 2) / (p[0][i] + p[1][i]);
        }
        EXPECT_NEAR(chi2(0.5)(p[0], p[1]), std::exp(-0.5 * chi), 1e-14);
        EXPECT_NEAR(additive_chi2()(p[0], p[1]), -chi, 1e-14);
        EXPECT_NEAR(intersection()(p[0], p[1]), least, 1e-14);
    }
    EXPECT_EQ(complaint([] {
                  chi2()(Row{1, -0.5}, Row{1, 1});
              }),
              "chi2 needs entries >= 0, found -0.5 in column 1; scale the data to [0, 1] or use "
              "another kernel");
}

TEST(KernelValue, AnovaSumsOverAllChoicesOfColumns) {
    Random random(13);
    const Points p = random_points(random, 2, 6);
    const auto factor = [&](std::size_t i) {
        return std::exp(-0.3 * (p[0][i] - p[1][i]) * (p[0][i] - p[1][i]));
    };
    for (int degree = 1; degree <= 7; ++degree) {
        double expected = 0;
        for (unsigned choice = 0; choice < 64; ++choice) {
            if (std::popcount(choice) != degree) continue;
            double product = 1;
            for (unsigned i = 0; i < 6; ++i) {
                if ((choice >> i & 1) != 0) product *= factor(i);
            }
            expected += product;
        }
        EXPECT_NEAR(anova({.gamma = 0.3, .degree = degree})(p[0], p[1]), expected, 1e-13);
    }
}

// ---- Worked examples printed in the lectures.

TEST(WorkedExample, Lecture004OrderTwoFeatures) {
    const Row x = {1, -1};
    const Row y = {-1, 2};
    const double r = std::sqrt(2.0);
    const auto phi = [r](const Row& v) {
        return Row{1, r * v[0], r * v[1], r * v[0] * v[1], v[0] * v[0], v[1] * v[1]};
    };
    EXPECT_NEAR(dot(phi(x), phi(y)), 4, 1e-13);
    EXPECT_EQ(polynomial({.degree = 2})(x, y), 4);
    // The same features through `map`.
    const Kernel mapped =
        Kernel::parse("map(linear, 1, sqrt(2)*x0, sqrt(2)*x1, sqrt(2)*x0*x1, x0^2, x1^2)");
    EXPECT_NEAR(mapped(x, y), 4, 1e-13);
}

TEST(WorkedExample, Lecture000ExponentialSeries) {
    Random random(14);
    for (int trial = 0; trial < 20; ++trial) {
        const double x = random.normal();
        const double z = random.normal();
        double sum = 0;
        double feature_x = 1;  // x^k / sqrt(k!)
        double feature_z = 1;
        for (int k = 0; k < 60; ++k) {
            sum += feature_x * feature_z;
            feature_x *= x / std::sqrt(k + 1.0);
            feature_z *= z / std::sqrt(k + 1.0);
        }
        EXPECT_NEAR(exponential_dot()(Row{x}, Row{z}), sum, 1e-12 * std::exp(std::fabs(x * z)));
        EXPECT_NEAR(exp(linear())(Row{x}, Row{z}), sum, 1e-12 * std::exp(std::fabs(x * z)));
    }
}

TEST(WorkedExample, Lecture002DegreeTwoMap) {
    Random random(15);
    const auto phi = [](const Row& v) {
        const double r = std::sqrt(2.0);
        return Row{v[0] * v[0], r * v[0] * v[1], v[1] * v[1], r * v[0], r * v[1], 1};
    };
    for (int trial = 0; trial < 20; ++trial) {
        const Points p = random_points(random, 2, 2);
        EXPECT_NEAR(polynomial({.degree = 2})(p[0], p[1]), dot(phi(p[0]), phi(p[1])), 1e-12);
        // 003: the homogeneous one, without the last three features.
        const double homogeneous = dot(phi(p[0]), phi(p[1])) - 2 * dot(p[0], p[1]) - 1;
        EXPECT_NEAR(polynomial({.degree = 2, .coef0 = 0})(p[0], p[1]), homogeneous, 1e-12);
    }
}

TEST(WorkedExample, Lecture000PolynomialKernel) {
    Random random(16);
    const Kernel k = Kernel::parse("(linear + 0.5)^2 - 0.25");
    for (int trial = 0; trial < 20; ++trial) {
        const Points p = random_points(random, 2, 3);
        double sum = dot(p[0], p[1]);
        for (std::size_t i = 0; i < 3; ++i) {
            for (std::size_t j = 0; j < 3; ++j) sum += p[0][i] * p[0][j] * p[1][i] * p[1][j];
        }
        EXPECT_NEAR(k(p[0], p[1]), sum, 1e-12 * (1 + std::fabs(sum)));
    }
}

// ---- Rules of construction: 002 theorem 1 and corollary 1, 004 "constructing kernels".

class Construction : public testing::Test {
   protected:
    /// Both sides at random pairs of rows with five columns.
    void expect_same(const Kernel& k, const std::function<double(const Row&, const Row&)>& value) {
        for (int trial = 0; trial < 20; ++trial) {
            const Points p = random_points(random_, 2, 5);
            const double expected = value(p[0], p[1]);
            EXPECT_NEAR(k(p[0], p[1]), expected, 1e-12 * (1 + std::fabs(expected))) << k.text();
        }
    }

    const Kernel k1_ = polynomial({.degree = 2, .gamma = 0.3});
    const Kernel k2_ = rbf({.gamma = 0.2});

   private:
    Random random_{17};
};

TEST_F(Construction, SumsProductsFactorsAndPolynomials) {
    expect_same(k1_ + k2_, [&](auto& x, auto& z) { return k1_(x, z) + k2_(x, z); });
    expect_same(k1_ - k2_, [&](auto& x, auto& z) { return k1_(x, z) - k2_(x, z); });
    expect_same(k1_ * k2_, [&](auto& x, auto& z) { return k1_(x, z) * k2_(x, z); });
    expect_same(0.3 * k1_, [&](auto& x, auto& z) { return 0.3 * k1_(x, z); });
    expect_same(k1_ * 0.3 + 2 - k2_ * -1.0,
                [&](auto& x, auto& z) { return 0.3 * k1_(x, z) + 2 + k2_(x, z); });
    expect_same(2 * pow(k1_, 3) + k1_ + 1,
                [&](auto& x, auto& z) { return 2 * std::pow(k1_(x, z), 3) + k1_(x, z) + 1; });
    expect_same(exp(k2_), [&](auto& x, auto& z) { return std::exp(k2_(x, z)); });
}

TEST_F(Construction, FunctionsAndMaps) {
    const Formula f = Formula::parse("1 + x0^2 + sin(x1)");
    expect_same(outer(f), [&](auto& x, auto& z) { return f(x) * f(z); });
    expect_same(outer(f) * k1_, [&](auto& x, auto& z) { return f(x) * k1_(x, z) * f(z); });
    const Kernel mapped = map(k2_, {Formula::parse("x0*x1"), Formula::parse("x2 - 1")});
    expect_same(mapped, [&](auto& x, auto& z) {
        return k2_(Row{x[0] * x[1], x[2] - 1}, Row{z[0] * z[1], z[2] - 1});
    });
}

TEST_F(Construction, FeatureSubsets) {
    const auto part = [](const Row& x, std::size_t first, std::size_t last) {
        return Row(x.begin() + static_cast<std::ptrdiff_t>(first),
                   x.begin() + static_cast<std::ptrdiff_t>(last));
    };
    expect_same(k1_[columns(0, 2)] + k2_[columns(2, 5)], [&](auto& x, auto& z) {
        return k1_(part(x, 0, 2), part(z, 0, 2)) + k2_(part(x, 2, 5), part(z, 2, 5));
    });
    expect_same(k1_[columns(0, 2)] * k2_[columns(2, 5)], [&](auto& x, auto& z) {
        return k1_(part(x, 0, 2), part(z, 0, 2)) * k2_(part(x, 2, 5), part(z, 2, 5));
    });
    // A second subset counts within the first.
    expect_same(Kernel::parse("linear[1:5][1:3]"),
                [&](auto& x, auto& z) { return dot(part(x, 2, 4), part(z, 2, 4)); });
    expect_same(Kernel::parse("linear[3,0]"),
                [](auto& x, auto& z) { return x[3] * z[3] + x[0] * z[0]; });
    expect_same(Kernel::parse("linear[3:]"),
                [&](auto& x, auto& z) { return dot(part(x, 3, 5), part(z, 3, 5)); });
}

TEST_F(Construction, NormalizedImagesHaveLengthOne) {
    const Kernel k = normalize(k1_);
    expect_same(k, [&](auto& x, auto& z) { return k1_(x, z) / std::sqrt(k1_(x, x) * k1_(z, z)); });
    expect_same(k, [&](auto& x, auto& z) { return k(x, z) + k(x, x) - 1; });
    EXPECT_EQ(normalize(linear())(Row{0, 0}, Row{1, 2}), 0);  // the zero row has no direction
    EXPECT_EQ(complaint([] { normalize(constant(-1))(Row{1}, Row{1}); }),
              "normalize needs k(x,x) >= 0, found -1; the kernel inside is not positive definite");
}

TEST_F(Construction, GaussianOfFeaturesIsTheGaussianOfTheLinearKernel) {
    const Kernel direct = rbf({.gamma = 0.4});
    expect_same(rbf_of(linear(), {.gamma = 0.4}), [&](auto& x, auto& z) { return direct(x, z); });
    expect_same(rbf_of(k1_, {.sigma = 2.0}), [&](auto& x, auto& z) {
        return std::exp(-(k1_(x, x) + k1_(z, z) - 2 * k1_(x, z)) / 8);
    });
}

TEST_F(Construction, CorollaryOneSplitsTheGaussian) {
    // exp(-|x-z|²/c) = exp(-|x|²/c) exp(2x·z/c) exp(-|z|²/c), the proof of 002 corollary 1.
    const Kernel k = outer(Formula::parse("exp(-norm^2/3)")) * exponential_dot(2.0 / 3);
    const Kernel gaussian = rbf({.c = 3.0});
    expect_same(k, [&](auto& x, auto& z) { return gaussian(x, z); });
}

TEST(KernelSets, SumOverAllPairsOfMembers) {
    Random random(18);
    const Points p = random_points(random, 2, 6);
    const Kernel inside = rbf({.gamma = 0.5});
    const auto member = [](const Row& x, std::size_t i, std::size_t head) {
        const auto first = x.begin() + static_cast<std::ptrdiff_t>(head + 2 * i);
        return Row(first, first + 2);
    };
    double all = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 3; ++j) {
            all += inside(member(p[0], i, 0), member(p[1], j, 0));
        }
    }
    EXPECT_NEAR(sets(inside, 2)(p[0], p[1]), all, 1e-13);

    Row x = {1, 0.5, 0.25, 9, 9};  // one member, the rest ignored
    Row z = {2, 1, 2, 3, 4};
    const double counted =
        inside(member(x, 0, 1), member(z, 0, 1)) + inside(member(x, 0, 1), member(z, 1, 1));
    EXPECT_NEAR(sets(inside, 2, true)(x, z), counted, 1e-14);
    x[0] = 0;
    EXPECT_EQ(sets(inside, 2, true)(x, z), 0);
    x[0] = 3;
    EXPECT_EQ(complaint([&] { sets(inside, 2, true)(x, z); }),
              "the first number of a counted set must be a whole number from 0 to 2, found 3");
    EXPECT_EQ(complaint([&] { sets(inside, 4)(p[0], p[1]); }),
              "sets of width 4 need rows of a multiple of 4 columns, found 6");
}

TEST(KernelCenter, IsTheDotProductOfCentredFeatures) {
    Random random(19);
    const Points sample = random_points(random, 7, 3);
    const Points p = random_points(random, 2, 3);
    const Matrix<double> rows = test::matrix_of(sample);
    Row mean(3, 0.0);
    for (const auto& row : sample) {
        for (std::size_t j = 0; j < 3; ++j) mean[j] += row[j] / 7;
    }
    double expected = 0;
    for (std::size_t j = 0; j < 3; ++j) expected += (p[0][j] - mean[j]) * (p[1][j] - mean[j]);
    EXPECT_NEAR(evaluate_centered(linear(), p[0], p[1], rows.view()), expected, 1e-13);
    // Behind a subset the sample is restricted too.
    const Kernel k = center(linear())[columns(1, 2)] + 1;
    EXPECT_NEAR(evaluate(k, p[0], p[1], rows.view()), (p[0][1] - mean[1]) * (p[1][1] - mean[1]) + 1,
                1e-13);
    EXPECT_NE(complaint([&] { center(linear())(p[0], p[1]); }).find("without a sample"),
              std::string::npos);
    // Each row of the centred Gram matrix sums to zero.
    const Matrix<double> k0 = test::gram(center(rbf({.gamma = 0.3})), sample);
    for (std::size_t i = 0; i < 7; ++i) {
        EXPECT_NEAR(std::accumulate(k0.row(i).begin(), k0.row(i).end(), 0.0), 0, 1e-13);
    }
}

TEST(KernelValue, MistakesAreNamed) {
    EXPECT_NE(complaint([] {
                  linear()(Row{1, 2}, Row{1});
              }).find("2 and 1 columns"),
              std::string::npos);
    EXPECT_NE(complaint([] { precomputed()(Row{1}, Row{1}); }).find("precomputed has no value"),
              std::string::npos);
    EXPECT_NE(complaint([] { rbf()(Row{1}, Row{1}); }).find("gamma=scale"), std::string::npos);
    EXPECT_NE(complaint([] { linear()[columns(0, 5)](Row{1}, Row{1}); }).find("0 to 0"),
              std::string::npos);
    EXPECT_NE(complaint([] { Kernel::parse("linear[age]")(Row{1}, Row{1}); }).find("'age'"),
              std::string::npos);
    EXPECT_NE(complaint([] { pow(linear(), 0.5)(Row{1}, Row{-1}); }).find("no power 0.5"),
              std::string::npos);
    EXPECT_NE(complaint([] { pow(linear(), -1)(Row{0}, Row{1}); }).find("no power -1"),
              std::string::npos);
    EXPECT_NE(complaint([] { Kernel::parse("outer(log(x0))")(Row{0}, Row{1}); }).find("-inf"),
              std::string::npos);
    EXPECT_NE(complaint([] {
                  Kernel::parse("bilinear([[1]])")(Row{0, 1}, Row{1, 1});
              }).find("2 columns"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
