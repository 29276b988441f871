// A single class separated from the origin without errors (001), and nested quantile regions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/support.hpp"
#include "learn/certificate.hpp"
#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/risk/regions.hpp"

namespace mercer {
namespace {

using testing::closely;
using testing::message_of;
using testing::points;

SvmSettings hard_origin(Kernel kernel) {
    return closely({.task = Task::one_class, .common = {.kernel = std::move(kernel)}, .nu = 0});
}

Dataset cloud(double x, double y, std::size_t rows, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::vector<double>> all;
    for (std::size_t i = 0; i < rows; ++i)
        all.push_back({x + random.normal(), y + random.normal()});
    return points(all);
}

TEST(Origin, IsSeparatedByThePlaneThroughTheNearestPointOfTheHull) {
    // The hull of (2, 0), (0, 2) and (3, 3) is nearest to the origin at (1, 1).
    const Dataset data = points({{2, 0}, {0, 2}, {3, 3}});
    const Model model = Svm(hard_origin(linear())).fit(data);
    const Report r = model.report();
    EXPECT_EQ(r.status, FitStatus::converged);
    EXPECT_NEAR(r.margin, std::sqrt(2.0), 1e-6);
    EXPECT_EQ(r.rho, 1);
    const Matrix<double> w = weight_vectors(model.expansion());
    EXPECT_NEAR(w(0, 0), 0.5, 1e-6);
    EXPECT_NEAR(w(0, 1), 0.5, 1e-6);
    EXPECT_EQ(model.expansion().bias[0], -1);
    EXPECT_GE(r.primal, r.dual);
    EXPECT_LT(r.relative_gap, 1e-6);
}

TEST(Origin, IsTheLimitOfSmallNu) {
    const Dataset data = make("moons", {.n = 60, .noise = 0.1, .seed = 2});
    const Kernel kernel = rbf({.gamma = 2.0});
    const Model hard = Svm(hard_origin(kernel)).fit(data);
    // With ν = 1/m no multiplier can meet its bound: nothing is left outside either.
    const Model soft =
        Svm(closely({.task = Task::one_class, .common = {.kernel = kernel}, .nu = 1.0 / 60}))
            .fit(data);
    EXPECT_NEAR(hard.report().margin, soft.report().margin, 1e-5);
    EXPECT_EQ(hard.report().margin_errors, 0U);
    const Matrix<double> a = hard.decision(data.x);
    const Matrix<double> b = soft.decision(data.x);
    for (std::size_t i = 0; i < data.size(); ++i) {
        EXPECT_GT(a(i, 0), -1e-5);
        EXPECT_NEAR(a(i, 0), b(i, 0) / soft.report().rho, 1e-4);
    }
    const Report again = recompute_reports(hard, data).front();
    EXPECT_NEAR(again.primal, hard.report().primal, 1e-6 * again.primal);
    EXPECT_NEAR(again.dual, hard.report().dual, 1e-6 * again.dual);
    EXPECT_EQ(again.rho, 1);
    EXPECT_TRUE(again.is_bracketed());
}

TEST(Origin, InTheHullOfTheRowsIsProved) {
    const Dataset around = points({{1, 0}, {-1, 1}, {-1, -1}, {2, 2}});
    const Model model = Svm(hard_origin(linear())).fit(around);
    const Report r = model.report();
    ASSERT_EQ(r.status, FitStatus::not_separable);
    ASSERT_EQ(r.hull_weights.size(), 4U);
    double sum = 0, x = 0, y = 0;
    std::vector<double> row(2);
    for (std::size_t i = 0; i < 4; ++i) {
        around.x.copy_row(i, row);
        EXPECT_GE(r.hull_weights[i], 0);
        sum += r.hull_weights[i];
        x += r.hull_weights[i] * row[0];
        y += r.hull_weights[i] * row[1];
    }
    EXPECT_NEAR(sum, 1, 1e-12);
    EXPECT_NEAR(std::hypot(x, y), 0, 1e-9);
    EXPECT_EQ(r.margin_bound, 0);
    EXPECT_EQ(recompute_reports(model, around).front().status, FitStatus::not_separable);
    // Moved away from the origin it is separable again, and by a Gaussian always.
    EXPECT_EQ(
        Svm(hard_origin(linear())).fit(points({{4, 0}, {2, 1}, {2, -1}, {5, 2}})).report().status,
        FitStatus::converged);
    EXPECT_EQ(Svm(hard_origin(rbf({.gamma = 0.5}))).fit(around).report().status,
              FitStatus::converged);
}

double inside_share(const Model& model, const Rows& x, double share) {
    const std::vector<double> found = model.predict(x);
    return static_cast<double>(
               std::ranges::count_if(found, [&](double s) { return s > 0 && s <= share; })) /
           static_cast<double>(found.size());
}

TEST(Regions, AreNestedAndHoldTheirShares) {
    const std::vector<double> shares{0.2, 0.5, 0.8, 0.95};
    for (const auto& [kernel, data] :
         {std::pair{rbf({.gamma = 0.5}), cloud(0, 0, 150, 1)},
          std::pair{rbf({.gamma = 4.0}), make("moons", {.n = 120, .noise = 0.1, .seed = 3})},
          std::pair{linear(), cloud(6, 5, 80, 2)}}) {
        const Model model =
            regions({.common = {.kernel = kernel}, .shares = shares, .tolerance = 1e-4}).fit(data);
        const Report r = model.report();
        EXPECT_EQ(r.status, FitStatus::converged) << kernel.text();
        EXPECT_GE(r.relative_gap, -1e-9);
        EXPECT_LE(r.relative_gap, 1e-4);
        const Matrix<double>& levels = model.extras().array("regions");
        ASSERT_EQ(levels.rows(), 4U);
        const auto m = static_cast<double>(data.size());
        const Matrix<double> decisions = model.decision(data.x);
        for (std::size_t j = 0; j < 4; ++j) {
            const double inside = inside_share(model, data.x, shares[j]);
            EXPECT_EQ(levels(j, 0), shares[j]);
            EXPECT_NEAR(levels(j, 2), inside, 1e-12);
            EXPECT_GE(inside, shares[j] - 1e-12) << "the ν-property";
            // Without the rows on the plane itself it would be too few.
            double least = 1e300, size = 0;
            for (const double value : decisions.values()) {
                size = std::max(size, std::abs(value + r.rho));
                if (value >= levels(j, 1)) least = std::min(least, value);
            }
            const auto on_it = std::ranges::count_if(decisions.values(), [&](double value) {
                return value >= levels(j, 1) && value < least + 1e-3 * size;
            });
            EXPECT_LT(inside - static_cast<double>(on_it) / m, shares[j]);
            EXPECT_LT(on_it, m / 4);
            if (j == 0) continue;
            EXPECT_LT(levels(j, 1), levels(j - 1, 1)) << "nested";
        }
        EXPECT_EQ(levels(3, 1), 0) << "decisions are those of the largest";
    }
}

TEST(Regions, UnderAnIndefiniteKernelClaimNothing) {
    const Dataset data = cloud(0, 0, 60, 3);
    for (const char* text : {"sigmoid(gamma=1, coef0=-1)", "rbf(gamma=1) - 2*rbf(gamma=0.2)"}) {
        const Report r = regions({.common = {.kernel = Kernel::parse(text)}}).fit(data).report();
        EXPECT_FALSE(r.is_bracketed()) << text;
        EXPECT_TRUE(std::isnan(r.primal)) << text;
        EXPECT_TRUE(std::isnan(r.relative_gap)) << text;
    }
}

TEST(Regions, OfOneShareAreTheOneClassMachine) {
    const Dataset data = cloud(1, 0, 120, 4);
    const Kernel kernel = rbf({.gamma = 0.5});
    const Model one =
        regions({.common = {.kernel = kernel}, .shares = {0.8}, .tolerance = 1e-6}).fit(data);
    const Model usual =
        Svm(closely({.task = Task::one_class, .common = {.kernel = kernel}, .nu = 0.2})).fit(data);
    // Both are optima of one problem, in other units: the same normal vector.
    const double scale = std::sqrt(usual.report().squared_norm / one.report().squared_norm);
    const Matrix<double> a = one.decision(data.x);
    const Matrix<double> b = usual.decision(data.x);
    for (std::size_t i = 0; i < data.size(); ++i) {
        EXPECT_NEAR((a(i, 0) + one.report().rho) * scale, b(i, 0) + usual.report().rho,
                    2e-3 * usual.report().rho);
    }
}

TEST(Regions, SeparateMachinesNeedNotBeNested) {
    // What the joint construction is for: one-class machines of two ν, and a row inside the smaller
    // region that is outside the larger one.
    int crossed = 0;
    for (std::uint64_t seed = 1; seed <= 6 && crossed == 0; ++seed) {
        const Dataset data = make("moons", {.n = 60, .noise = 0.3, .seed = seed});
        const Kernel kernel = rbf({.gamma = 1.0});
        const auto machine = [&](double nu) {
            return Svm(closely({.task = Task::one_class, .common = {.kernel = kernel}, .nu = nu}))
                .fit(data);
        };
        const Model small = machine(0.7), large = machine(0.5);
        const Dataset probe = make("moons", {.n = 3000, .noise = 0.5, .seed = 9});
        const Matrix<double> s = small.decision(probe.x), l = large.decision(probe.x);
        for (std::size_t i = 0; i < probe.size(); ++i) crossed += s(i, 0) > 0 && l(i, 0) < 0;
    }
    EXPECT_GT(crossed, 0);
}

TEST(Regions, CountRowsByWeightAndRefuseNonsense) {
    Dataset data = cloud(0, 0, 60, 5);
    Dataset doubled = data;
    data.weights.assign(60, 1.0);
    std::vector<std::size_t> twice;
    for (std::size_t i = 0; i < 60; ++i) {
        twice.push_back(i);
        if (i % 3 == 0) {
            twice.push_back(i);
            data.weights[i] = 2;
        }
    }
    doubled.x = data.x.select(twice);
    const RegionSettings settings{.common = {.kernel = rbf({.gamma = 0.7})}, .tolerance = 1e-6};
    const Matrix<double> a = regions(settings).fit(data).decision(data.x);
    const Matrix<double> b = regions(settings).fit(doubled).decision(data.x);
    for (std::size_t i = 0; i < 60; ++i) EXPECT_NEAR(a(i, 0), b(i, 0), 2e-3);
    for (const std::vector<double>& wrong :
         {std::vector<double>{}, {0.0}, {1.0}, {0.5, 0.5}, {-0.1, 0.5}}) {
        RegionSettings bad = settings;
        bad.shares = wrong;
        EXPECT_NE(message_of([&] { (void)regions(bad).fit(data); }).find("share"),
                  std::string::npos);
    }
}

}  // namespace
}  // namespace mercer
