// Derivatives against central differences of the kernel's own value.

#include <gtest/gtest.h>

#include "kernel/support.hpp"
#include "mercer/kernel/parameters.hpp"

namespace mercer {
namespace {

using test::complaint;

/// Every kernel that has parameters or inputs to differentiate, and every operation.
const std::vector<std::string>& smooth_kernels() {
    static const std::vector<std::string> list = {
        "linear",
        "polynomial(degree=3, gamma=0.3, coef0=0.7)",
        "polynomial(degree=0)",
        "polynomial(degree=2, gamma=0)",
        "sigmoid(gamma=0.2, coef0=-0.3)",
        "sigmoid(gamma=0.2, delta=0.3)",
        "logistic(beta=0.4, theta=0.6)",
        "expdot(gamma=0.3)",
        "rbf(gamma=0.4)",
        "rbf(sigma=1.3)",
        "rbf(c=1.7)",
        "rbf(width=1.9)",
        "laplacian(gamma=0.4)",
        "laplacian(sigma=2)",
        "laplacian(gamma=0.4, norm=2)",
        "negative_distance(beta=1.4)",
        "negative_distance(beta=2)",
        "inverse_multiquadric(c=0.8)",
        "matern(nu=0.5, length=1.2)",
        "matern(nu=1.5, length=1.2)",
        "matern(nu=2.5, length=1.2)",
        "rational_quadratic(alpha=0.7, length=1.1)",
        "anova(gamma=0.5, degree=2)",
        "periodic(period=1.7, length=0.9)",
        "chi2(gamma=0.3)",
        "additive_chi2",
        "intersection",
        "bilinear([[2,0.5,0,0],[0.5,1,0,0],[0,0,1,0.2],[0,0,0.2,3]])",
        "2.5*rbf(gamma=0.4) + 0.3*linear + 0.8",
        "1.5*rbf(gamma=0.4)*polynomial(degree=2, gamma=0.2)*laplacian(gamma=0.1)",
        "(0.5*linear + 1.2)^3",
        "rbf(gamma=0.4)^0.5",
        "exp(0.2*linear + 0.1)",
        "normalize(polynomial(degree=2, gamma=0.3) + 0.4*linear)",
        "rbf_of(polynomial(degree=2, gamma=0.3), sigma=1.5)",
        "rbf(gamma=0.4)[0:2] + 0.7*linear[3,1]",
        "sets(1.3*rbf(gamma=0.4), width=2)",
    };
    return list;
}

std::vector<double> values_of(const Kernel& k) {
    std::vector<double> values;
    for (const KernelParameter& p : parameters(k)) values.push_back(p.value);
    return values;
}

constexpr double step = 1e-5;

class Derivatives : public ::testing::TestWithParam<std::string> {};

TEST_P(Derivatives, InParametersAgreeWithDifferences) {
    const Kernel k = Kernel::parse(GetParam());
    Random random(7);
    const auto rows = test::absolute(test::random_points(random, 6, 4));
    const std::vector<double> at = values_of(k);
    for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
        const auto slope = parameter_gradient(k, rows[r], rows[r + 1]);
        ASSERT_EQ(slope.size(), at.size());
        for (std::size_t p = 0; p < at.size(); ++p) {
            const auto value = [&](double shift) {
                auto moved = at;
                moved[p] += shift;
                return with_parameters(k, moved)(rows[r], rows[r + 1]);
            };
            // gamma = 0 is the end of the range of some kernels
            const double expected = (value(step) - value(-step)) / (2 * step);
            EXPECT_NEAR(slope[p], expected, 1e-7 * (1 + std::fabs(expected)))
                << parameters(k)[p].name << " of " << parameters(k)[p].part;
        }
    }
}

TEST_P(Derivatives, InTheInputAgreeWithDifferences) {
    const Kernel k = Kernel::parse(GetParam());
    Random random(8);
    const auto rows = test::absolute(test::random_points(random, 6, 4));
    for (std::size_t r = 0; r + 1 < rows.size(); ++r) {
        const PairDerivatives d = derivatives(k, rows[r], rows[r + 1]);
        EXPECT_NEAR(d.value, k(rows[r], rows[r + 1]), 1e-14 * (1 + std::fabs(d.value)));
        EXPECT_EQ(d.by_input, input_gradient(k, rows[r], rows[r + 1]));
        for (std::size_t c = 0; c < 4; ++c) {
            const auto value = [&](double shift) {
                auto moved = rows[r];
                moved[c] += shift;
                return k(moved, rows[r + 1]);
            };
            const double expected = (value(step) - value(-step)) / (2 * step);
            EXPECT_NEAR(d.by_input[c], expected, 1e-7 * (1 + std::fabs(expected)))
                << "column " << c;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Derivatives, ::testing::ValuesIn(smooth_kernels()),
                         [](const auto& one) { return "number" + std::to_string(one.index); });

TEST(DerivativesAtKinks, AreTheMeanOfBothSides) {
    const std::vector<double> x = {0.5, 1};
    for (const char* text : {"laplacian(gamma=1)", "laplacian(gamma=1, norm=2)", "matern(nu=0.5)",
                             "negative_distance(beta=1)"}) {
        EXPECT_EQ(input_gradient(Kernel::parse(text), x, x), std::vector<double>(2, 0.0)) << text;
    }
    EXPECT_EQ(input_gradient(intersection(), x, x), std::vector<double>(2, 0.5));
}

TEST(Parameters, AreListedInOrderAndReplaced) {
    const Kernel k = Kernel::parse("2*rbf(sigma=3) + polynomial(degree=2) + 0.5");
    const auto list = parameters(k);
    ASSERT_EQ(list.size(), 5U);
    EXPECT_EQ(list[0].name, "factor");
    EXPECT_EQ(list[1].name, "sigma");
    EXPECT_EQ(list[1].part, "rbf(sigma=3)");
    EXPECT_EQ(list[2].name, "gamma");
    EXPECT_EQ(list[3].name, "coef0");
    EXPECT_EQ(list[4].name, "value");
    const Kernel moved = with_parameters(k, std::vector<double>{4, 5, 0.1, 7, 8});
    EXPECT_EQ(moved.text(), "4*rbf(sigma=5) + polynomial(degree=2, gamma=0.1, coef0=7) + 8");
    EXPECT_EQ(Kernel::parse(moved.text()), moved);
    // A factor of 1 keeps its place, so that the parameters stay the same ones.
    EXPECT_EQ(parameters(with_parameters(k, std::vector<double>{1, 5, 0.1, 7, 8})).size(), 5U);
}

TEST(Parameters, OutOfRangeAreRefused) {
    const Kernel k = Kernel::parse("rbf(sigma=3)");
    EXPECT_NE(complaint([&] { with_parameters(k, std::vector<double>{-1}); }).find("sigma of rbf"),
              std::string::npos);
    EXPECT_NE(complaint([&] {
                  with_parameters(k, std::vector<double>{1, 2});
              }).find("1 parameters"),
              std::string::npos);
    EXPECT_NE(complaint([&] { parameters(Kernel::parse("rbf")); }).find("waits for data"),
              std::string::npos);
}

TEST(DerivativesThatDoNotExist, AreNamed) {
    const std::vector<double> x = {0.5, 1};
    const std::vector<double> z = {0.2, 2};
    const auto input = [&](const char* text) {
        return complaint([&] { input_gradient(Kernel::parse(text), x, z); });
    };
    EXPECT_NE(input("linear + ball(radius=1)").find("ball"), std::string::npos);
    EXPECT_NE(input("linear + map(linear, x0^2)").find("map(linear, x0^2)"), std::string::npos);
    EXPECT_NE(input("outer(x0)").find("outer(x0)"), std::string::npos);
    EXPECT_NE(input("center(linear)").find("center"), std::string::npos);
    EXPECT_NE(complaint([&] {
                  parameter_gradient(Kernel::parse("ball(radius=1)"), x, z);
              }).find("radius of ball"),
              std::string::npos);
    // Formulas do not depend on parameters.
    EXPECT_EQ(parameter_gradient(Kernel::parse("2*map(linear, x0^2)"), x, z).size(), 1U);
}

}  // namespace
}  // namespace mercer
