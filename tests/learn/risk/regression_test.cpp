// Regression: known lines, the robustness property, and tubes of varying width (001).
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "learn/certificate.hpp"
#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

using testing::closely;
using testing::expect_same_decisions;
using testing::points;
using testing::weights_of;
using testing::with_double_rows;

TEST(SupportVectorRegression, FitsTheFlattestLineWithinTheTube) {
    // y = 2x + 1 on 0 … 4: the flattest line within ε passes (0, 1 + ε) and (4, 9 − ε).
    const Dataset data = points({{0}, {1}, {2}, {3}, {4}}, {1, 3, 5, 7, 9});
    for (const double epsilon : {0.0, 0.1, 0.5, 2.0}) {
        const SvmSettings settings = closely(
            {.task = Task::svr, .common = {.kernel = linear()}, .C = 1000, .epsilon = epsilon},
            1e-9);
        const Model model = Svm(settings).fit(data);
        const double slope = 2 - 2 * epsilon / 4;
        EXPECT_NEAR(weights_of(model)[0], slope, 1e-6);
        EXPECT_NEAR(model.expansion().bias[0], 1 + epsilon, 1e-6);
        EXPECT_NEAR(model.report().primal, slope * slope / 2, 1e-4);
        EXPECT_NEAR(model.report().dual, slope * slope / 2, 1e-4);
        EXPECT_EQ(model.report().margin_errors, 0U);
    }
}

TEST(SupportVectorRegression, IsConstantInATubeThatHoldsEverything) {
    // Then w = 0 and b may be anything between the highest and the lowest tube; the middle is
    // taken.
    const Dataset data = points({{0}, {1}, {2}}, {1, 3, 2});
    const Model model =
        Svm(closely({.task = Task::svr, .common = {.kernel = linear()}, .C = 10, .epsilon = 1.5}))
            .fit(data);
    EXPECT_EQ(model.expansion().size(), 0U);
    EXPECT_NEAR(model.expansion().bias[0], 2, 1e-9);
    EXPECT_EQ(model.report().dual, 0);
    EXPECT_EQ(model.report().relative_gap, 0);
    EXPECT_NEAR(model.predict(points({{77}}).x)[0], 2, 1e-9);
}

TEST(SupportVectorRegression, DoesNotMoveWithTargetsOutsideTheTube) {
    // 001, robustness: points outside move outward, the estimate stays.
    Dataset data = with_double_rows(make("sinc", {.n = 100, .seed = 6}));
    const SvmSettings settings = closely(
        {.task = Task::svr, .common = {.kernel = rbf({.gamma = 1.0})}, .C = 1, .epsilon = 0.15});
    const Model before = Svm(settings).fit(data);
    const Matrix<double> f = before.decision(data.x);
    std::size_t moved = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        const double residual = data.y.values[i] - f(i, 0);
        if (std::abs(residual) <= settings.epsilon + 1e-6) continue;
        data.y.values[i] += residual > 0 ? 5.0 * static_cast<double>(i + 1) : -0.5;
        ++moved;
    }
    ASSERT_GT(moved, 10U);
    const Model after = Svm(settings).fit(data);
    expect_same_decisions(before, after, data.x, 1e-5);
    EXPECT_GT(after.report().primal, before.report().primal + 1);
}

TEST(NuRegression, FindsTheTubeThatHoldsAllButNu) {
    const Dataset data = with_double_rows(make("sinc", {.n = 150, .seed = 7}));
    const Kernel kernel = rbf({.gamma = 1.0});
    double wider = std::numeric_limits<double>::infinity();
    for (const double nu : {0.11, 0.21, 0.41, 0.61}) {
        SCOPED_TRACE(nu);
        const SvmSettings settings =
            closely({.task = Task::nu_svr, .common = {.kernel = kernel}, .C = 1, .nu = nu});
        const Model model = Svm(settings).fit(data);
        const Report r = model.report();
        testing::expect_certified(model, data, settings);
        testing::expect_nu_property(model, data, settings);
        EXPECT_LT(r.epsilon, wider) << "more errors allowed, narrower tube";
        wider = r.epsilon;
        // With the ε that it found, ε-SVR gives the same machine.
        const Model same = Svm(closely({.task = Task::svr,
                                        .common = {.kernel = kernel},
                                        .C = 1,
                                        .epsilon = r.epsilon}))
                               .fit(data);
        expect_same_decisions(model, same, data.x, 1e-5);
    }
}

TEST(NuRegression, NeedsNoTubeWhenNuIsLarge) {
    // ν beyond the share of points outside any tube: ε = 0, and the equality is slack (001).
    const Dataset data = with_double_rows(make("sinc", {.n = 60, .seed = 7}));
    const Model model =
        Svm(closely(
                {.task = Task::nu_svr, .common = {.kernel = rbf({.gamma = 1.0})}, .C = 1, .nu = 1}))
            .fit(data);
    EXPECT_NEAR(model.report().epsilon, 0, 1e-6);
    EXPECT_LE(model.report().infeasibility, 1e-9);
    EXPECT_GE(model.report().relative_gap, -1e-9);
    EXPECT_LE(model.report().relative_gap, 1e-6);
    const Model same = Svm(closely({.task = Task::svr,
                                    .common = {.kernel = rbf({.gamma = 1.0})},
                                    .C = 1,
                                    .epsilon = 0}))
                           .fit(data);
    expect_same_decisions(model, same, data.x, 1e-4);
}

TEST(SeveralOutputs, EqualSeparateFits) {
    Dataset data = with_double_rows(make("sinc", {.n = 70, .seed = 9}));
    Matrix<double> targets(data.size(), 3);
    for (std::size_t i = 0; i < data.size(); ++i) {
        targets(i, 0) = data.y.values[i];
        targets(i, 1) = 10 * std::cos(static_cast<double>(i));
        targets(i, 2) = 4;
    }
    for (const Task task : {Task::svr, Task::nu_svr}) {
        const SvmSettings settings =
            closely({.task = task, .common = {.kernel = rbf({.gamma = 2.0})}, .C = 3, .nu = 0.31});
        const Model together = Svm(settings).fit(data, targets.view());
        ASSERT_EQ(together.reports().size(), 3U);
        const Matrix<double> f = together.decision(data.x);
        for (std::size_t c = 0; c < 3; ++c) {
            for (std::size_t i = 0; i < data.size(); ++i) data.y.values[i] = targets(i, c);
            const Model alone = Svm(settings).fit(data);
            const Matrix<double> g = alone.decision(data.x);
            for (std::size_t i = 0; i < data.size(); ++i) ASSERT_NEAR(f(i, c), g(i, 0), 1e-5);
            EXPECT_NEAR(together.reports()[c].dual, alone.report().dual,
                        1e-7 * std::abs(alone.report().dual));
        }
    }
    EXPECT_NE(testing::message_of([&] { svc({}).fit(data, targets.view()); }), "");
}

/// 001, "Toy example: some noisy data": the noise of a sinc modulated by ζ(x) = sin²((2π/3)x).
double zeta(double x) {
    const double sine = std::sin(2 * std::numbers::pi / 3 * x);
    return sine * sine;
}
double sinc(double x) {
    return x == 0 ? 1 : std::sin(std::numbers::pi * x) / (std::numbers::pi * x);
}
Dataset modulated_noise(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::vector<double>> rows;
    std::vector<double> y;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = random.uniform(-3, 3);
        rows.push_back({x});
        y.push_back(sinc(x) + zeta(x) * random.normal());
    }
    return points(rows, y);
}

/// R12 of the mission.
class ParametricTube : public ::testing::Test {
   protected:
    static SvmSettings settings(bool parametric) {
        SvmSettings s = closely(
            {.task = Task::nu_svr, .common = {.kernel = rbf({.gamma = 1.0})}, .C = 1, .nu = 0.2},
            1e-7);
        if (parametric) s.tube = Formula::parse("sin(2*pi/3*x0)^2");
        return s;
    }
    static double mean_squared_error(const Model& model) {
        double sum = 0;
        const int steps = 200;
        for (int i = 0; i <= steps; ++i) {
            const double x = -3 + 6.0 * i / steps;
            const double error = testing::value_at(model, {x}) - sinc(x);
            sum += error * error;
        }
        return sum / (steps + 1);
    }
};

TEST_F(ParametricTube, KeepsTheNuPropertyInItsWeightedForm) {
    // Σ (α + α*) ζ = C m ν with α ≤ C: errors weigh at most ν m, support vectors at least.
    const Dataset data = modulated_noise(200, 11);
    const SvmSettings s = settings(true);
    const Model model = Svm(s).fit(data);
    const Report r = model.report();
    EXPECT_EQ(r.status, FitStatus::converged);
    EXPECT_LE(r.kkt_violation, 2 * s.tolerance);
    EXPECT_LE(r.infeasibility, 1e-9);
    EXPECT_GE(r.relative_gap, -1e-9);
    EXPECT_LE(r.relative_gap, 1e-5);
    ASSERT_GT(r.epsilon, 0);
    const Matrix<double> f = model.decision(data.x);
    const double tie = 1;  // ζ ≤ 1
    double errors = 0;
    double support = 0;
    double used = 0;
    std::vector<double> width(data.size());
    for (std::size_t i = 0; i < data.size(); ++i) {
        double x = 0;
        data.x.copy_row(i, {&x, 1});
        width[i] = zeta(x);
        const double outside = std::abs(data.y.values[i] - f(i, 0)) - r.epsilon * width[i] - 1e-5;
        if (outside > 0) errors += width[i];
    }
    for (std::size_t p = 0; p < model.expansion().size(); ++p) {
        support += width[model.origins()[p]];
        used += std::abs(model.expansion().coefficients(0, p)) * width[model.origins()[p]];
    }
    const double allowed = s.nu * static_cast<double>(data.size());
    EXPECT_LE(errors, allowed + tie);
    EXPECT_GE(support, allowed - tie);
    EXPECT_NEAR(used, s.C * allowed, 1e-6 * allowed);
    // The certificate holds when it is computed again with the formula that the model carries.
    const Report again = recompute_reports(model, data).front();
    EXPECT_NEAR(again.primal, r.primal, 1e-8 * r.primal);
    EXPECT_NEAR(again.dual, r.dual, 1e-8 * r.primal);
    EXPECT_NEAR(again.kkt_violation, r.kkt_violation, 1e-8);
}

TEST_F(ParametricTube, FollowsTheNoiseWhereAConstantTubeDoesNot) {
    double with_shape = 0;
    double without = 0;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        const Dataset data = modulated_noise(150, seed);
        const Model shaped = Svm(settings(true)).fit(data);
        const Model constant = Svm(settings(false)).fit(data);
        with_shape += mean_squared_error(shaped) / 10;
        without += mean_squared_error(constant) / 10;
        // Where there is nearly no noise the constant tube holds every point and learns nothing
        // from them, while the shaped one closes round them.
        double constant_support = 0;
        double shaped_support = 0;
        for (std::size_t i = 0; i < data.size(); ++i) {
            double x = 0;
            data.x.copy_row(i, {&x, 1});
            if (zeta(x) > 0.1) continue;
            constant_support += std::ranges::count(constant.origins(), i) > 0 ? 1 : 0;
            shaped_support += std::ranges::count(shaped.origins(), i) > 0 ? 1 : 0;
        }
        EXPECT_GT(shaped_support, constant_support) << "seed " << seed;
    }
    EXPECT_LT(with_shape, 0.5 * without);
}

TEST_F(ParametricTube, IsTheSameAsFormulaColumnAndFunction) {
    const Dataset data = modulated_noise(100, 3);
    const SvmSettings by_formula = settings(true);
    SvmSettings by_column = settings(false);
    SvmSettings by_function = settings(false);
    const Formula formula = *by_formula.tube;
    for (const auto& row : testing::full(data.x)) by_column.tube_values.push_back(formula(row));
    by_function.tube_function = [formula](std::span<const double> row) { return formula(row); };
    const Model a = Svm(by_formula).fit(data);
    const Model b = Svm(by_column).fit(data);
    const Model c = Svm(by_function).fit(data);
    for (const Model* other : {&b, &c}) {
        EXPECT_EQ(a.expansion().coefficients.values(), other->expansion().coefficients.values());
        EXPECT_EQ(a.expansion().bias, other->expansion().bias);
        EXPECT_EQ(a.report().epsilon, other->report().epsilon);
        EXPECT_EQ(a.report().primal, other->report().primal);
    }
    // Only the formula travels with the model.
    EXPECT_NE(testing::message_of([&] { recompute_reports(b, data); }).find("tube"),
              std::string::npos);
}

TEST_F(ParametricTube, OfOneWidthIsThePlainTube) {
    const Dataset data = modulated_noise(100, 5);
    SvmSettings one = settings(false);
    one.tube = Formula::parse("1");
    SvmSettings half = settings(false);
    half.tube = Formula::parse("0.5");
    half.nu = one.nu / 2;  // Σ (α + α*) ζ = C m ν is the same equality
    const Model plain = Svm(settings(false)).fit(data);
    expect_same_decisions(plain, Svm(one).fit(data), data.x, 1e-4);
    const Model narrow = Svm(half).fit(data);
    expect_same_decisions(plain, narrow, data.x, 1e-4);
    EXPECT_NEAR(narrow.report().epsilon / 2, plain.report().epsilon, 1e-5);
}

TEST_F(ParametricTube, RefusesShapesItCannotUse) {
    const Dataset data = modulated_noise(20, 5);
    const auto message = [&](const std::function<void(SvmSettings&)>& change) {
        SvmSettings s = settings(false);
        change(s);
        return testing::message_of([&] { Svm(s).fit(data); });
    };
    EXPECT_NE(message([](auto& s) { s.tube = Formula::parse("x0 - 10"); }).find("row 1"),
              std::string::npos);
    EXPECT_NE(message([](auto& s) {
                  s.tube_values = {1, 2};
              }).find("2 widths for 20 rows"),
              std::string::npos);
    EXPECT_NE(message([](auto& s) { s.tube_values.assign(20, std::nan("")); }).find("row 1"),
              std::string::npos);
    EXPECT_NE(message([](auto& s) {
                  s.tube = Formula::parse("1");
                  s.task = Task::svr;
              }).find("nu-svr"),
              std::string::npos);
    // A tube of width 0 everywhere leaves no room for ν.
    EXPECT_NE(message([](auto& s) { s.tube_values.assign(20, 0.0); }).find("largest feasible"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
