// Ways to label points, random labels and short descriptions: formulas against counting, and bounds
// against what they promise.
#include "mercer/theory/capacity.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <set>

#include "data/support.hpp"
#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/theory/bounds.hpp"

namespace mercer {
namespace {

using testing::message_of;

Matrix<double> random_vectors(Random& random, std::size_t count, std::size_t columns) {
    Matrix<double> v(count, columns);
    for (double& value : v.values()) value = random.normal();
    return v;
}

/// Labellings seen by so many random planes through the origin: never too many, and all of them
/// for few points.
double seen_labellings(const Matrix<double>& v, Random& random, int planes) {
    std::set<std::vector<bool>> seen;
    for (int p = 0; p < planes; ++p) {
        std::vector<double> w(v.columns());
        for (double& value : w) value = random.normal();
        std::vector<bool> signs;
        for (std::size_t i = 0; i < v.rows(); ++i) {
            double sum = 0;
            for (std::size_t j = 0; j < w.size(); ++j) sum += w[j] * v(i, j);
            signs.push_back(sum > 0);
        }
        seen.insert(std::move(signs));
    }
    return static_cast<double>(seen.size());
}

TEST(Capacity, CoverIsOneHalfAtTwiceTheDimensionAndOneBelowIt) {
    for (const double n : {1, 2, 5, 30, 1000}) {
        EXPECT_NEAR(cover_separation(2 * n, n).value, 0.5, 1e-9) << n;
        EXPECT_NEAR(cover_separation(n, n).value, 1, 1e-12);
        if (n > 30) continue;
        EXPECT_NEAR(1 - cover_separation(n + 1, n).value, std::exp2(-n), 1e-13 * n);
    }
    // C(p, N) = C(p − 1, N) + C(p − 1, N − 1), Cover's own recursion.
    const auto count = [](double p, double n) {
        return std::exp(cover_separation(p, n).input("ln C"));
    };
    for (double p = 2; p <= 12; ++p) {
        for (double n = 2; n <= 8; ++n) {
            EXPECT_NEAR(count(p, n), count(p - 1, n) + count(p - 1, n - 1), 1e-6);
        }
    }
    EXPECT_NE(message_of([] { (void)cover_separation(0, 3); }).find("points"), std::string::npos);
    EXPECT_NE(message_of([] { (void)cover_separation(5, 0); }).find("dimensions"),
              std::string::npos);
}

TEST(Capacity, CoverIsTheShareOfRandomLabelsThatAHardMarginSeparates) {
    Random random(5);
    constexpr int p = 7;
    constexpr int n = 3;
    int separated = 0;
    constexpr int draws = 300;
    for (int d = 0; d < draws; ++d) {
        std::vector<std::vector<double>> rows;
        std::vector<double> signs;
        for (int i = 0; i < p; ++i) {
            rows.push_back({random.normal(), random.normal(), random.normal()});
            signs.push_back(random.uniform() < 0.5 ? 1 : -1);
        }
        // A row and its mirror image: two classes always, and the same planes through the origin.
        rows.push_back({-rows[0][0], -rows[0][1], -rows[0][2]});
        signs.push_back(-signs[0]);
        const Model model = hard_margin({.bias = false}).fit(testing::labelled(rows, signs));
        separated += model.report().status == FitStatus::converged ? 1 : 0;
    }
    const double expected = cover_separation(p, n).value;
    EXPECT_NEAR(separated / double{draws}, expected, 4 * std::sqrt(0.25 / draws));
}

TEST(Capacity, GrowthIsOrderedAndExactWhereItIsSaidToBe) {
    for (const double h : {1, 3, 10}) {
        for (const double m : {2, 5, 11, 40, 1000}) {
            const Bound growth = growth_bound(h, m);
            const Bound sauer = sauer_bound(h, m);
            EXPECT_LE(sauer.value, growth.value * (1 + 1e-12));
            EXPECT_EQ(sauer.vacuous, m <= h) << h << ' ' << m;
            const Bound exact = half_space_growth(h, m);
            EXPECT_LE(exact.value, sauer_bound(h + 1, m).value * (1 + 1e-12));
            EXPECT_EQ(exact.vacuous, m <= h + 1);
        }
    }
}

TEST(Capacity, RegionsAreCountedAsCoverCountsThem) {
    Random random(6);
    for (const std::size_t n : {1U, 2U, 3U, 5U}) {
        for (const std::size_t m : {1U, 2U, 4U, 9U, 14U}) {
            const auto found = log_labellings(random_vectors(random, m, n).view());
            ASSERT_TRUE(found);
            EXPECT_NEAR(
                *found,
                half_space_shattering(static_cast<double>(n), static_cast<double>(m), false), 1e-9)
                << n << ' ' << m;
        }
    }
    EXPECT_FALSE(log_labellings(random_vectors(random, 60, 20).view()));
}

TEST(Capacity, RegionsOfPointsThatAreNotInGeneralPosition) {
    Random random(7);
    for (int trial = 0; trial < 20; ++trial) {
        // Small whole numbers: repeats, opposites, zeros and many planes through one line.
        Matrix<double> v(6, 3);
        for (double& value : v.values()) value = std::floor(random.uniform(-1, 2));
        const auto found = log_labellings(v.view());
        ASSERT_TRUE(found);
        EXPECT_NEAR(std::exp(*found), seen_labellings(v, random, 40000), 1e-6);
    }
}

TEST(Capacity, EntropyOfKernelsOnData) {
    Random random(8);
    std::vector<std::vector<double>> rows(60);
    for (auto& row : rows) row = {random.normal(), random.normal()};
    const Dataset data = testing::labelled(rows, std::vector<double>(60, 1));
    const auto levels = vc_entropy(linear(), data.x, {}, {.sizes = {2, 3, 8, 20}, .draws = 20});
    for (const EntropyLevel& l : levels) {
        const auto m = static_cast<double>(l.rows);
        EXPECT_NEAR(l.entropy, half_space_shattering(2, m), 1e-9) << "in general position";
        EXPECT_NEAR(l.annealed, l.entropy, 1e-9);
        EXPECT_EQ(l.exact, 20U);
        EXPECT_LE(l.growth, sauer_shattering(3, m) + 1e-9);
        EXPECT_NEAR(l.most, m * std::numbers::ln2, 1e-12);
    }
    // Without a bias a dimension less; a Gaussian shatters whatever is distinct.
    const auto origin = vc_entropy(linear(), data.x, {}, {.sizes = {8}, .bias = false});
    EXPECT_NEAR(origin[0].entropy, half_space_shattering(2, 8, false), 1e-9);
    const auto gauss = vc_entropy(rbf({.gamma = 2.0}), data.x, {}, {.sizes = {10}, .draws = 5});
    EXPECT_NEAR(gauss[0].entropy, gauss[0].most, 1e-12);
    // Rows that repeat are fewer points: entropy falls, and the three numbers part.
    for (std::size_t i = 20; i < 60; ++i) rows[i] = rows[i % 20];
    const Dataset doubled = testing::labelled(rows, std::vector<double>(60, 1));
    const auto fewer = vc_entropy(linear(), doubled.x, {}, {.sizes = {8}, .draws = 60});
    EXPECT_LT(fewer[0].entropy, half_space_shattering(2, 8) - 0.05);
    EXPECT_LT(fewer[0].entropy, fewer[0].annealed);
    EXPECT_LE(fewer[0].annealed, fewer[0].growth);
    EXPECT_GT(fewer[0].deviation, 0);
    EXPECT_NE(message_of([&] {
                  (void)vc_entropy(linear(), data.x, {}, {.sizes = {61}});
              }).find("sizes = 61"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  (void)vc_entropy(sigmoid({.coef0 = -1}), data.x);
              }).find("not positive definite"),
              std::string::npos);
}

TEST(Capacity, RademacherByDrawsLiesBetweenTheBounds) {
    Random random(9);
    std::vector<std::vector<double>> rows(12);
    for (auto& row : rows) row = {random.normal(), random.normal(), random.normal()};
    const Dataset data = testing::labelled(rows, std::vector<double>(12, 1));
    for (const Kernel& k : {linear(), rbf({.gamma = 0.3}), polynomial({.degree = 2})}) {
        const Rademacher r = rademacher_complexity(k, data.x, {}, {.norm = 2, .draws = 4000});
        EXPECT_LE(r.estimate, r.by_trace + 4 * r.deviation) << k.text();
        EXPECT_GE(r.estimate, r.by_trace / std::numbers::sqrt2 - 4 * r.deviation) << k.text();
        // All 2^12 signs, by the definition: sup over ‖f‖ <= 2 of (1/m) Σ σ f is 2‖Σ σΦ‖/m.
        double exact = 0;
        for (unsigned bits = 0; bits < 1U << 12U; ++bits) {
            double form = 0;
            for (std::size_t i = 0; i < 12; ++i) {
                for (std::size_t j = 0; j < 12; ++j) {
                    const double sign = ((bits >> i) & 1U) == ((bits >> j) & 1U) ? 1 : -1;
                    form += sign * k(rows[i], rows[j]);
                }
            }
            exact += 2 * std::sqrt(std::max(form, 0.0)) / 12 / (1U << 12U);
        }
        EXPECT_NEAR(r.estimate, exact, 4 * r.deviation) << k.text();
        EXPECT_LT(r.deviation, 0.02 * exact);
    }
    const Rademacher once = rademacher_complexity(linear(), data.x, {}, {.seed = 3});
    EXPECT_EQ(once.estimate, rademacher_complexity(linear(), data.x, {}, {.seed = 3}).estimate);
    EXPECT_NE(message_of([&] {
                  (void)rademacher_complexity(linear(), data.x, {}, {.memory_bytes = 100});
              }).find("memory"),
              std::string::npos);
}

TEST(Capacity, DescriptionsOfThePlaneKeepEveryLabel) {
    // 001: so many directions are enough for points of margin ρ within R, and the nearest of them
    // labels all of them alike.
    Random random(10);
    for (const double margin : {0.9, 0.5, 0.1, 0.02}) {
        const Bound bits = margin_description(2, 2 * margin, 2);
        const double directions = std::round(std::exp2(bits.value));
        EXPECT_GT(directions, std::numbers::pi / std::asin(margin));
        EXPECT_LE(directions, std::numbers::pi / std::asin(margin) + 1);
        for (int trial = 0; trial < 200; ++trial) {
            const double angle = random.uniform(0, 2 * std::numbers::pi);
            const double step = 2 * std::numbers::pi / directions;
            const double told = std::round(angle / step) * step;
            // The hardest points: on the circle, at the margin, on either side.
            for (const double side : {-1.0, 1.0}) {
                for (const double turn : {-1.0, 1.0}) {
                    const double at = angle + turn * std::acos(side * margin);
                    EXPECT_GT(side * std::cos(at - told), 0) << margin;
                }
            }
        }
    }
    EXPECT_EQ(margin_description(3, 1, 1).value, 1);
    EXPECT_DOUBLE_EQ(margin_description(2, 1, 5).value, 5 * std::log2(5));
    EXPECT_NE(message_of([] { (void)margin_description(1, 2, 3); }).find("margin = 2"),
              std::string::npos);
}

TEST(Capacity, ShortDescriptionsBoundTheError) {
    const Bound clean = compression_risk({.rows = 1000, .delta = 0.05}, 3);
    const double choices = std::log(1000.0 * 999 * 998 / 6);
    EXPECT_NEAR(clean.value, (choices + std::log(1000 / 0.05)) / 997, 1e-10);
    EXPECT_GT(compression_risk({.empirical = 0.01, .rows = 1000, .delta = 0.05}, 3).value,
              clean.value);
    EXPECT_TRUE(compression_risk({.rows = 100}, 90).vacuous);
    EXPECT_NE(message_of([] { (void)compression_risk({.rows = 10}, 10); }).find("#SV = 10"),
              std::string::npos);
    EXPECT_NEAR(description_risk({.rows = 100, .delta = 0.1}, 8).value,
                (std::log(256) + std::log(10)) / 100, 1e-12);
}

/// Noisy moons are drawn again and again; the promise must hold more often than it may fail.
TEST(Capacity, BoundsOfTrainedMachinesHold) {
    Random random(11);
    const auto draw = [&](int rows) {
        std::vector<std::vector<double>> x;
        std::vector<double> y;
        for (int i = 0; i < rows; ++i) {
            const double sign = i % 2 == 0 ? 1 : -1;
            x.push_back({2.2 * sign + random.normal(), random.normal()});
            y.push_back(sign);
        }
        return testing::labelled(x, y);
    };
    const Dataset test = draw(4000);
    int said_something = 0;
    for (int trial = 0; trial < 8; ++trial) {
        const Dataset data = draw(400);
        const Model model = svc({.kernel = linear(), .C = 0.05}).fit(data);
        const Labels predicted = model.predict_labels(test.x);
        double wrong = 0;
        for (std::size_t i = 0; i < test.size(); ++i) {
            wrong += predicted.values[i] == test.y.values[i] ? 0 : 1.0 / 4000;
        }
        const auto bounds = model_bounds(model, data, {.leave_one_out = false})[0].bounds;
        int found = 0;
        for (const Bound& b : bounds) {
            if (b.name != "rademacher" && b.name != "compression") continue;
            ++found;
            EXPECT_EQ(b.confidence, 0.95);
            EXPECT_FALSE(b.estimate) << b.name;
            EXPECT_GE(b.value, wrong) << b.name;
            said_something += b.vacuous ? 0 : 1;
        }
        EXPECT_EQ(found, 2);
    }
    EXPECT_GT(said_something, 7);
}

}  // namespace
}  // namespace mercer
