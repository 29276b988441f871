// The gradient of a kernel as kernels: against the derivative taken pair by pair.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mercer/base/random.hpp"
#include "mercer/kernel/detail/slope.hpp"
#include "mercer/kernel/parameters.hpp"

namespace mercer {
namespace {

TEST(Slope, TermsAddUpToTheDerivative) {
    const std::vector<std::string> kernels{
        "linear",
        "3",
        "polynomial(degree=1, gamma=0.5)",
        "polynomial(degree=4, gamma=0.3, coef0=2)",
        "rbf(gamma=0.7)",
        "rbf(sigma=2)",
        "0.25*rbf(gamma=0.7)",
        "sigmoid(gamma=0.2, coef0=0.1)",
        "expdot(gamma=0.3)",
        "inverse_multiquadric(c=1.5)",
        "rational_quadratic(alpha=0.8, length=1.3)",
        "rbf(gamma=0.2) + 2*polynomial(degree=2)",
        "rbf(gamma=0.2) * polynomial(degree=2) * linear",
        "exp(0.3*linear)",
        "(linear + 3)^3",
        "(rbf(gamma=0.4) + 1)^2 * rbf(gamma=0.1)",
    };
    Random random(5);
    for (const std::string& text : kernels) {
        const Kernel k = Kernel::parse(text);
        const auto terms = slope_terms(k);
        ASSERT_TRUE(terms) << text;
        for (int trial = 0; trial < 3; ++trial) {
            std::vector<double> x(4), z(4);
            for (double& v : x) v = random.normal();
            for (double& v : z) v = random.normal();
            std::vector<double> sum(4, 0.0);
            for (const SlopeTerm& term : *terms) {
                const double slope = term.slope(x, z);
                for (std::size_t c = 0; c < 4; ++c) {
                    sum[c] += slope * (term.difference ? z[c] - x[c] : x[c]);
                }
            }
            const std::vector<double> expected = input_gradient(k, z, x);
            for (std::size_t c = 0; c < 4; ++c) {
                EXPECT_NEAR(sum[c], expected[c], 1e-10 * (1 + std::abs(expected[c]))) << text;
            }
        }
    }
}

TEST(Slope, KernelsOfOtherShapesHaveNone) {
    for (const char* text : {"laplacian(gamma=1)", "normalize(linear)", "rbf(gamma=1)[0:2]"}) {
        EXPECT_FALSE(slope_terms(Kernel::parse(text))) << text;
    }
}

}  // namespace
}  // namespace mercer
