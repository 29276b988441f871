// The radius-margin bound as a function of kernel parameters: its value, its slope, its minimum.
#include "mercer/theory/radius_margin.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/support.hpp"
#include "learn/small.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::message_of;

std::vector<double> signs(const Dataset& data) {
    std::vector<double> y;
    for (const std::int32_t c : classes_of(data.y).index) y.push_back(c == 0 ? 1 : -1);
    return y;
}

TEST(RadiusMargin, IsThatOfTheMachineWithSquaredSlacks) {
    const Dataset data = testing::with_double_rows(make("moons", {.n = 50, .noise = 0.3}));
    const Kernel kernel = rbf({.gamma = 1.0});
    const double C = 3;
    const RadiusMargin t = radius_margin_of(GramGradient(kernel, data.x), signs(data), C);
    // ½‖w̃‖² = ½‖w‖² + C/2 Σ ξ²: λ‖f‖² + Σ ξ² with λ = 1/C is 2/C times that.
    const Model model = risk_minimiser({.loss = Loss::squared_hinge,
                                        .common = {.kernel = kernel, .double_precision = true},
                                        .lambda = 1 / C})
                            .fit(data);
    EXPECT_NEAR(t.norm_squared, C * model.report().primal, 1e-4 * t.norm_squared);
    // A sphere in the space of K + I/C is that of rows with a coordinate of their own each.
    const Model ball =
        Svm(testing::closely({.task = Task::svdd, .common = {.kernel = kernel}, .C = 0, .nu = 0}))
            .fit(data);
    EXPECT_GT(t.radius_squared, std::pow(ball.report().radius, 2));
    EXPECT_LT(t.radius_squared, std::pow(ball.report().radius, 2) + 1 / C);
}

TEST(RadiusMargin, SlopeIsTheLimitOfDifferences) {
    const Dataset data = testing::with_double_rows(make("moons", {.n = 40, .noise = 0.3}));
    const Kernel kernel =
        Kernel::parse("0.7*rbf(gamma=0.8) + 0.2*polynomial(degree=2, gamma=0.5, coef0=1)");
    const GramGradient k(kernel, data.x);
    const std::vector<double> y = signs(data);
    const RadiusMargin t = radius_margin_of(k, y, 2);
    std::vector<double> values;
    for (const KernelParameter& p : k.parameters()) values.push_back(p.value);
    const double step = 1e-4;
    for (std::size_t p = 0; p < values.size(); ++p) {
        const auto at = [&](double shift) {
            std::vector<double> moved = values;
            moved[p] += shift;
            return std::log(radius_margin_of(k.with(moved), y, 2).value);
        };
        EXPECT_NEAR(t.gradient[p], (at(step) - at(-step)) / (2 * step), 1e-4)
            << k.parameters()[p].name;
    }
    const double up = std::log(radius_margin_of(k, y, 2 + step).value);
    const double down = std::log(radius_margin_of(k, y, 2 - step).value);
    EXPECT_NEAR(t.gradient_in_c, (up - down) / (2 * step), 1e-4);
}

TEST(RadiusMargin, MinimumIsBelowAGrid) {
    const Dataset data = make("moons", {.n = 80, .noise = 0.2});
    const RadiusMarginChoice c = minimise_radius_margin(rbf({.gamma = 1.0}), 1, data);
    EXPECT_LE(c.after, c.before);
    for (const double gamma : {0.1, 0.3, 1.0, 3.0, 10.0}) {
        for (const double C : {0.1, 1.0, 10.0, 100.0}) {
            const GramGradient k(rbf({.gamma = gamma}), data.x);
            EXPECT_GE(radius_margin_of(k, signs(data), C).value, c.after * (1 - 1e-3))
                << gamma << ' ' << C;
        }
    }
    EXPECT_NEAR(radius_margin_of(GramGradient(c.kernel, data.x), signs(data), c.C).value, c.after,
                1e-3 * c.after);
}

TEST(RadiusMargin, NonsenseIsRefused) {
    EXPECT_NE(
        message_of([] { minimise_radius_margin(rbf(), 1, embedded("iris")); }).find("two classes"),
        std::string::npos);
    const Dataset moons = make("moons", {.n = 40});
    EXPECT_NE(message_of([&] { minimise_radius_margin(rbf(), 0, moons); }).find("C = 0"),
              std::string::npos);
    EXPECT_NE(message_of([&] { minimise_radius_margin(rbf(), 1, moons, 100); }).find("memory"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
