// Bounds as numbers: the formulas of 000 and 001, and what they promise on known distributions.
#include "mercer/theory/bounds.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::message_of;

/// Share of `draws` in which the event happens.
template <class Event>
double frequency(int draws, Event&& event) {
    Random random(7);
    int count = 0;
    for (int d = 0; d < draws; ++d) count += event(random) ? 1 : 0;
    return static_cast<double>(count) / draws;
}

double share_of_ones(Random& random, int rows, double p) {
    int ones = 0;
    for (int i = 0; i < rows; ++i) ones += random.uniform() < p ? 1 : 0;
    return static_cast<double>(ones) / rows;
}

TEST(Bounds, ChernoffHoldsOnCoinsAndIsNotFarOff) {
    for (const double p : {0.5, 0.2}) {
        for (const double epsilon : {0.1, 0.15, 0.2}) {
            const double found = frequency(20000, [&](Random& random) {
                return std::abs(share_of_ones(random, 60, p) - p) >= epsilon;
            });
            const Bound b = chernoff(60, epsilon);
            EXPECT_LE(found, b.value) << p << ' ' << epsilon;
            // Of fair coins the exponent is the true one: a bound squared would be broken.
            if (p == 0.5 && epsilon >= 0.15) {
                EXPECT_GT(found, b.value * b.value / 2);
            }
        }
    }
}

TEST(Bounds, ChernoffOfTwoSamplesHolds) {
    const double found = frequency(20000, [&](Random& random) {
        const double first = share_of_ones(random, 80, 0.4);
        return std::abs(first - share_of_ones(random, 80, 0.4)) >= 0.25;
    });
    EXPECT_GT(found, 0);
    EXPECT_LE(found, chernoff_two_samples(80, 0.25).value);
    EXPECT_DOUBLE_EQ(chernoff_two_samples(80, 0.25).value, 4 * std::exp(-80 * 0.0625 / 2));
}

/// A row is a point of [0, 1) with the label "above ½", turned round with probability 0.2. The
/// functions are thresholds "above t"; their risk is 0.2 + 0.6 |t − ½|.
struct Threshold {
    std::vector<std::pair<double, bool>> rows{};

    Threshold(Random& random, int m) {
        for (int i = 0; i < m; ++i) {
            const double x = random.uniform();
            rows.emplace_back(x, (x >= 0.5) != (random.uniform() < 0.2));
        }
    }
    static double risk(double t) { return 0.2 + 0.6 * std::abs(t - 0.5); }
    double empirical(double t) const {
        const auto wrong = std::ranges::count_if(
            rows, [&](const auto& row) { return (row.first >= t) != row.second; });
        return static_cast<double>(wrong) / static_cast<double>(rows.size());
    }
    /// sup over all t of R − R_emp: just below and at each point, where R_emp jumps, and at ½.
    double largest_excess() const {
        double most = risk(0.5) - empirical(0.5);
        for (const double end : {0.0, 1.0}) most = std::max(most, risk(end) - empirical(end));
        for (const auto& row : rows) {
            const double after = std::nextafter(row.first, 2);
            most = std::max(
                {most, risk(row.first) - empirical(row.first), risk(after) - empirical(after)});
        }
        return most;
    }
};

TEST(Bounds, UnionHoldsForTheWorstOfSeveral) {
    const std::vector<double> cuts{0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9};
    for (const double epsilon : {0.15, 0.2}) {
        const double found = frequency(4000, [&](Random& random) {
            const Threshold sample(random, 50);
            return std::ranges::any_of(
                cuts, [&](double t) { return Threshold::risk(t) - sample.empirical(t) > epsilon; });
        });
        const Bound all = union_bound(static_cast<double>(cuts.size()), 50, epsilon);
        EXPECT_LE(found, all.value);
        EXPECT_DOUBLE_EQ(all.value, 7 * chernoff(50, epsilon).value);
    }
}

TEST(Bounds, VcHoldsForTheMinimumOfTheEmpiricalRisk) {
    // Thresholds in one direction have dimension 1, and split m points in m + 1 ways.
    constexpr int m = 40;
    EXPECT_NEAR(std::exp(sauer_shattering(1, 2 * m)), 2 * m + 1, 1e-9);
    for (const double delta : {0.5, 0.1}) {
        const double by_dimension = vc_risk({0, m, delta}, 1).value;
        const double by_shattering = shattering_risk({0, m, delta}, std::log(2 * m + 1)).value;
        const double found = frequency(400, [&](Random& random) {
            return Threshold(random, m).largest_excess() > std::min(by_dimension, by_shattering);
        });
        EXPECT_LE(found, delta);
        EXPECT_LT(by_dimension, 1);
    }
}

TEST(Bounds, VcSolvedForTheDistanceIsTheProbabilityAgain) {
    const double log_n = sauer_shattering(4, 4000);
    const double epsilon = shattering_risk({0, 2000, 0.05}, log_n).value;
    EXPECT_NEAR(shattering_bound(log_n, 2000, epsilon).value, 0.05, 1e-12);
    const double alone = chernoff_risk({0, 300, 0.01}).value;
    EXPECT_NEAR(chernoff(300, alone).value, 0.01, 1e-12);
    const double several = union_risk({0, 300, 0.01}, 12).value;
    EXPECT_NEAR(union_bound(12, 300, several).value, 0.01, 1e-12);
    EXPECT_TRUE(shattering_bound(1, 10, 0.2).vacuous) << "Lemma 1 needs m epsilon² >= 2";
}

/// All ways in which thresholds of both directions, or half-planes, can split points, counted.
TEST(Bounds, ShatteringOfHalfPlanesIsCountedRight) {
    Random random(3);
    for (const std::size_t m : {2U, 3U, 4U, 5U, 7U}) {
        std::vector<std::pair<double, double>> points;
        for (std::size_t i = 0; i < m; ++i) points.emplace_back(random.normal(), random.normal());
        std::vector<unsigned> seen;
        // A split by a line can be had by the line through two of the points, turned and moved by a
        // hair so that either lies on the side wanted.
        for (std::size_t a = 0; a < m; ++a) {
            for (std::size_t b = 0; b < a; ++b) {
                const double dx = points[b].first - points[a].first;
                const double dy = points[b].second - points[a].second;
                unsigned code = 0;
                for (std::size_t i = 0; i < m; ++i) {
                    const double side = dx * (points[i].second - points[a].second) -
                                        dy * (points[i].first - points[a].first);
                    if (i != a && i != b && side > 0) code |= 1U << i;
                }
                const unsigned others = (1U << m) - 1 - (1U << a) - (1U << b);
                for (const unsigned own : {0U, 1U << a, 1U << b, (1U << a) | (1U << b)}) {
                    seen.push_back(code | own);
                    seen.push_back((~code & others) | own);
                }
            }
        }
        std::ranges::sort(seen);
        seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
        EXPECT_NEAR(std::exp(half_space_shattering(2, static_cast<double>(m))),
                    static_cast<double>(seen.size()), 1e-6)
            << m;
    }
    // 001: three points of the plane are shattered, four never.
    EXPECT_EQ(half_space_dimension(2), 3);
    EXPECT_EQ(half_space_dimension(5, false), 5);
    EXPECT_NEAR(half_space_shattering(2, 3), 3 * std::log(2), 1e-12);
    EXPECT_LT(half_space_shattering(2, 4), 4 * std::log(2) - 0.1);
}

TEST(Bounds, GrowthFunctionIsAboveSauersSum) {
    for (const double h : {1.0, 3.0, 10.0, 50.0}) {
        for (const double m : {2.0, 10.0, 51.0, 200.0, 1e4}) {
            EXPECT_LE(sauer_shattering(h, m), growth_function(h, m) + 1e-9) << h << ' ' << m;
            EXPECT_LE(growth_function(h, m), m * std::log(2) + 1e-12);
            if (m <= h) {
                EXPECT_NEAR(sauer_shattering(h, m), m * std::log(2), 1e-12);
            }
        }
    }
    EXPECT_NEAR(sauer_shattering(2, 5), std::log(1 + 5 + 10), 1e-12);
    EXPECT_NEAR(sauer_shattering(4, 6), std::log(1 + 6 + 15 + 20 + 15), 1e-12);
}

TEST(Bounds, ConfidenceTermIsThatOf001) {
    const Bound b = vc_risk({.empirical = 0.1, .rows = 1000, .delta = 0.05}, 20);
    const double phi = std::sqrt((20 * (std::log(100) + 1) - std::log(0.0125)) / 1000);
    EXPECT_NEAR(b.value, 0.1 + phi, 1e-14);
    EXPECT_EQ(b.confidence, 0.95);
    EXPECT_FALSE(b.vacuous);
    EXPECT_EQ(b.input("h"), 20);
    EXPECT_TRUE(vc_risk({.empirical = 0, .rows = 20, .delta = 0.05}, 20).vacuous);
    EXPECT_TRUE(vc_risk({.empirical = 0, .rows = 30, .delta = 0.05}, 20).vacuous);
}

TEST(Bounds, PlansAreTheFewestRowsThatDo) {
    const double epsilon = 0.07;
    const double delta = 0.02;
    const auto fewest = [&](const SamplePlan& plan, auto&& distance) {
        EXPECT_LE(distance(plan.rows), epsilon * (1 + 1e-12)) << plan.name;
        EXPECT_GT(distance(plan.rows - 1), epsilon) << plan.name;
    };
    fewest(rows_for_chernoff(epsilon, delta), [&](double m) {
        return chernoff_risk({0, m, delta}).value;
    });
    fewest(rows_for_union(30, epsilon, delta), [&](double m) {
        return union_risk({0, m, delta}, 30).value;
    });
    fewest(rows_for_vc(5, epsilon, delta), [&](double m) {
        return vc_risk({0, m, delta}, 5).value;
    });
    fewest(rows_for_shattering(5, epsilon, delta), [&](double m) {
        return shattering_risk({0, m, delta}, growth_function(5, 2 * m)).value;
    });
}

TEST(Bounds, MarginsHaveSmallDimensionInAnySpace) {
    EXPECT_DOUBLE_EQ(margin_dimension(2, 1.5, false).value, 9);
    EXPECT_DOUBLE_EQ(margin_dimension(2, 1.5, true).value, 10);
    EXPECT_DOUBLE_EQ(margin_dimension(2, 1.5, true, 4).value, 5);
    EXPECT_DOUBLE_EQ(margin_error(50, 2, 0.5).value, 16.0 / 50);
    EXPECT_DOUBLE_EQ(radius_margin(50, 2, 2, false).value, 16.0 / 50);
    EXPECT_FALSE(radius_margin(50, 2, 2, false).estimate);
    EXPECT_TRUE(radius_margin(50, 2, 2, true).estimate);
}

/// ‖w‖² of the shortest w with y_i <w, x_i> >= 1, which a hard margin through the origin finds.
double least_squared_norm(const Rows& x, std::size_t labelling) {
    Dataset data;
    data.x = x;
    for (std::size_t i = 0; i < x.size(); ++i) data.y.values.push_back(labelling >> i & 1U ? 1 : 2);
    Svm machine({.task = Task::hard_margin,
                 .common = {.kernel = linear(), .double_precision = true},
                 .bias = false,
                 .tolerance = 1e-9});
    return machine.fit(data).report().squared_norm;
}

/// The most that any labelling of the points with both labels needs; machines want two classes.
double hardest_labelling(const Rows& x) {
    double most = 0;
    for (std::size_t labelling = 1; labelling + 1 < std::size_t{1} << x.size(); ++labelling) {
        most = std::max(most, least_squared_norm(x, labelling));
    }
    return most;
}

/// 001, theorem 2, both ways. r orthogonal unit vectors are shattered by planes of norm √r, so that
/// the dimension of R = 1 and Λ = √r is met with equality; r + 1 points of the unit ball are not.
TEST(Bounds, MarginDimensionIsWhatCanBeShattered) {
    Random random(12);
    for (const std::size_t r : {2U, 3U, 4U}) {
        const auto size = static_cast<double>(r);
        EXPECT_NEAR(margin_dimension(1, std::sqrt(size), false).value, size, 1e-12);
        std::vector<double> orthogonal(r * r, 0.0);
        for (std::size_t i = 0; i < r; ++i) orthogonal[i * r + i] = 1;
        EXPECT_NEAR(hardest_labelling(Rows::dense(std::move(orthogonal), r)), size, 1e-6);
        for (int trial = 0; trial < 5; ++trial) {
            // As many directions as points, so that every labelling can be had at some price.
            std::vector<double> points((r + 1) * (r + 1));
            for (double& v : points) v = random.normal();
            for (std::size_t i = 0; i <= r; ++i) {
                const auto row = std::span(points).subspan(i * (r + 1), r + 1);
                double square = 0;
                for (const double v : row) square += v * v;
                for (double& v : row) v /= std::sqrt(square);
            }
            EXPECT_GT(hardest_labelling(Rows::dense(std::move(points), r + 1)), size + 0.5);
        }
    }
}

TEST(Bounds, SingleClassHasTheConstantsOf001) {
    const double m = 1e9;
    const double gamma = 0.8;
    const double slack = 100;
    const double c1 = 169744;
    const double c2 = std::log(2) / 42436;
    const double k =
        c1 * std::log2(c2 * gamma * gamma * m) / (gamma * gamma) +
        2 * slack / gamma * std::log2(std::exp(1) * ((2 * m - 1) * gamma / (2 * slack) + 1)) + 2;
    const Bound b = single_class_bound(m, gamma, slack, 0.05);
    EXPECT_NEAR(b.value, 2 / m * (k + std::log2(m * m / 0.1)), 1e-12);
    EXPECT_NEAR(b.input("k"), k, 1e-3);
    EXPECT_FALSE(b.vacuous);
    EXPECT_EQ(b.confidence, 0.95);
    // A region widened more, and fewer points outside, are surer.
    EXPECT_LT(single_class_bound(m, 0.9, slack, 0.05).value, b.value);
    EXPECT_LT(single_class_bound(m, gamma, 0, 0.05).value, b.value);
    EXPECT_TRUE(single_class_bound(1000, gamma, slack, 0.05).vacuous);
}

TEST(Bounds, NonsenseIsRefusedByName) {
    EXPECT_NE(message_of([] {
                  chernoff_risk({0.1, 100, 1});
              }).find("delta = 1 must be"),
              std::string::npos);
    EXPECT_NE(message_of([] { vc_risk({0.1, 100, 0}, 3); }).find("delta"), std::string::npos);
    EXPECT_NE(message_of([] {
                  vc_risk({1.5, 100, 0.1}, 3);
              }).find("error = 1.5"),
              std::string::npos);
    EXPECT_NE(message_of([] { vc_risk({0, 0, 0.1}, 3); }).find("rows = 0"), std::string::npos);
    EXPECT_NE(message_of([] { vc_risk({0, 10, 0.1}, -3); }).find("dimension"), std::string::npos);
    EXPECT_NE(message_of([] { union_risk({0, 10, 0.1}, 0); }).find("functions"), std::string::npos);
    EXPECT_NE(message_of([] { chernoff(10, 0); }).find("epsilon"), std::string::npos);
    EXPECT_NE(message_of([] { rows_for_vc(3, 2, 0.1); }).find("epsilon = 2"), std::string::npos);
    EXPECT_NE(message_of([] { rows_for_vc(1e14, 1e-6, 0.1); }).find("1e15 rows"),
              std::string::npos);
    EXPECT_NE(message_of([] { single_class_bound(10, 0, 0, 0.1); }).find("greater than 0"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
