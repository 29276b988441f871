// The step of 002 theorem 2 against the printed theorem and against brute force.
#include "mercer/solver/detail/two_point.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "mercer/base/random.hpp"

namespace mercer {
namespace {

/// A small C-SVM in full: everything the theorem speaks of can be computed from it.
struct SmallMachine {
    std::vector<std::array<double, 3>> x;
    std::vector<double> y;
    std::vector<double> alpha;
    double c = 1;

    double kernel(std::size_t i, std::size_t j) const {
        return x[i][0] * x[j][0] + x[i][1] * x[j][1] + x[i][2] * x[j][2];
    }
    double dual(const std::vector<double>& a) const {
        double w = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            w += a[i];
            for (std::size_t j = 0; j < a.size(); ++j) {
                w -= 0.5 * a[i] * a[j] * y[i] * y[j] * kernel(i, j);
            }
        }
        return w;
    }
    double error(std::size_t j) const {
        double e = -y[j];
        for (std::size_t i = 0; i < alpha.size(); ++i) e += alpha[i] * y[i] * kernel(i, j);
        return e;
    }
    TwoPoints points() const {
        return {.alpha = {alpha[0], alpha[1]},
                .label = {y[0], y[1]},
                .error = {error(0), error(1)},
                .k11 = kernel(0, 0),
                .k22 = kernel(1, 1),
                .k12 = kernel(0, 1),
                .upper = {c, c}};
    }
};

SmallMachine random_machine(std::uint64_t seed, double y1, double y2) {
    Random random(seed);
    SmallMachine machine;
    machine.c = random.uniform(0.5, 3);
    for (std::size_t i = 0; i < 6; ++i) {
        machine.x.push_back({random.normal(), random.normal(), random.normal()});
        machine.y.push_back(i == 0 ? y1 : i == 1 ? y2 : (i % 2 == 0 ? 1 : -1));
        // Bounds are met often: the clip interval must be right there as well.
        const double u = random.uniform();
        machine.alpha.push_back(machine.c * (u < 0.2 ? 0.0 : u > 0.8 ? 1.0 : random.uniform()));
    }
    return machine;
}

constexpr std::array<std::array<double, 2>, 4> label_cases = {{{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}};

TEST(TwoPoint, ClipIntervalIsThePrintedOne) {
    TwoPoints points{.alpha = {0.3, 0.5}, .label = {1, -1}, .upper = {1, 1}};
    // y1 ≠ y2: U = max(0, α2 − α1), V = min(C, C − α1 + α2)
    EXPECT_DOUBLE_EQ(clip_interval(points).u, 0.2);
    EXPECT_DOUBLE_EQ(clip_interval(points).v, 1.0);
    points.alpha = {0.5, 0.3};
    EXPECT_DOUBLE_EQ(clip_interval(points).u, 0.0);
    EXPECT_DOUBLE_EQ(clip_interval(points).v, 0.8);
    // y1 = y2: U = max(0, α1 + α2 − C), V = min(C, α1 + α2)
    points.label = {-1, -1};
    EXPECT_DOUBLE_EQ(clip_interval(points).u, 0.0);
    EXPECT_DOUBLE_EQ(clip_interval(points).v, 0.8);
    points.alpha = {0.7, 0.8};
    EXPECT_DOUBLE_EQ(clip_interval(points).u, 0.5);
    EXPECT_DOUBLE_EQ(clip_interval(points).v, 1.0);
}

TEST(TwoPoint, HardMarginIsClippedBelowOnly) {
    TwoPoints points{.alpha = {0.3, 0.5}, .label = {1, -1}};
    EXPECT_EQ(clip_interval(points).v, HUGE_VAL);
    points.label = {1, 1};
    EXPECT_DOUBLE_EQ(clip_interval(points).v, 0.8);
    EXPECT_DOUBLE_EQ(clip_interval(points).u, 0.0);
}

TEST(TwoPoint, EveryPointOfTheIntervalIsFeasibleAndNoOtherIs) {
    for (const auto& [y1, y2] : label_cases) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            const SmallMachine machine = random_machine(seed, y1, y2);
            const TwoPoints points = machine.points();
            const ClipInterval interval = clip_interval(points);
            for (int k = 0; k <= 400; ++k) {
                const double second = machine.c * k / 400;
                const double first = points.alpha[0] + y1 * y2 * (points.alpha[1] - second);
                const bool feasible = first >= -1e-12 && first <= machine.c + 1e-12;
                const bool in_interval =
                    second >= interval.u - 1e-12 && second <= interval.v + 1e-12;
                EXPECT_EQ(feasible, in_interval) << "seed " << seed << " alpha2 " << second;
            }
        }
    }
}

TEST(TwoPoint, UnclippedMaximumIsStationary) {
    for (const auto& [y1, y2] : label_cases) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            const SmallMachine machine = random_machine(seed, y1, y2);
            const TwoPoints points = machine.points();
            const double second = unclipped_maximum(points, 1e-12);
            const double same = y1 * y2;
            const auto value = [&](double a2) {
                std::vector<double> a = machine.alpha;
                a[1] = a2;
                a[0] = points.alpha[0] + same * (points.alpha[1] - a2);
                return machine.dual(a);
            };
            // W is a parabola on the line: equal at equal distance, with curvature −K.
            const double h = 0.25;
            const double left = value(second - h);
            const double right = value(second + h);
            EXPECT_NEAR(left, right, 1e-9 * (1 + std::abs(left)));
            EXPECT_NEAR((left + right - 2 * value(second)) / (h * h), -curvature(points), 1e-7);
        }
    }
}

TEST(TwoPoint, StepBeatsAFineGridAndKeepsTheEquality) {
    for (const auto& [y1, y2] : label_cases) {
        for (std::uint64_t seed = 0; seed < 50; ++seed) {
            const SmallMachine machine = random_machine(seed, y1, y2);
            const TwoPoints points = machine.points();
            const auto [a1, a2] = two_point_step(points, 1e-12);
            EXPECT_NEAR(y1 * a1 + y2 * a2, y1 * points.alpha[0] + y2 * points.alpha[1], 1e-12);
            EXPECT_GE(a1, 0);
            EXPECT_GE(a2, 0);
            EXPECT_LE(a1, machine.c);
            EXPECT_LE(a2, machine.c);
            std::vector<double> a = machine.alpha;
            a[0] = a1;
            a[1] = a2;
            const double reached = machine.dual(a);
            const ClipInterval interval = clip_interval(points);
            for (int k = 0; k <= 1000; ++k) {
                a[1] = interval.u + (interval.v - interval.u) * k / 1000;
                a[0] = points.alpha[0] + y1 * y2 * (points.alpha[1] - a[1]);
                EXPECT_LE(machine.dual(a), reached + 1e-9) << "seed " << seed;
            }
        }
    }
}

/// Two variables of any dual: bounds of their own, an equality with coefficients ±1.
TwoPoints random_points(Random& random, double same, bool bent) {
    TwoPoints points{.label = {1, same}};
    for (std::size_t k = 0; k < 2; ++k) {
        points.lower[k] = random.uniform(-2, 0);
        points.upper[k] = random.uniform(0, 2);
        points.alpha[k] = random.uniform(points.lower[k], points.upper[k]);
        points.error[k] = random.normal();
    }
    if (bent) {
        points.k11 = random.uniform(0.1, 2);
        points.k22 = random.uniform(0.1, 2);
        points.k12 = random.uniform(-1, 1) * std::sqrt(points.k11 * points.k22);
    }
    return points;
}

/// Of f = −W, with ∂f/∂α_i = y_i E_i.
double change_of_objective(const TwoPoints& points, const std::array<double, 2>& to) {
    const double d0 = points.label[0] * (to[0] - points.alpha[0]);
    const double d1 = points.label[1] * (to[1] - points.alpha[1]);
    return points.error[0] * d0 + points.error[1] * d1 +
           0.5 * (points.k11 * d0 * d0 + points.k22 * d1 * d1) + points.k12 * d0 * d1;
}

TEST(TwoPoint, BeatsAFineGridForAnyBounds) {
    Random random(5);
    for (int round = 0; round < 200; ++round) {
        const double same = round % 2 == 0 ? 1 : -1;
        const TwoPoints points = random_points(random, same, true);
        const auto to = two_point_step(points, 1e-12);
        EXPECT_NEAR(to[0] + same * to[1], points.alpha[0] + same * points.alpha[1], 1e-12);
        const double reached = change_of_objective(points, to);
        EXPECT_LE(reached, 1e-15);
        for (int k = 0; k <= 1000; ++k) {
            const double a0 = points.lower[0] + (points.upper[0] - points.lower[0]) * k / 1000;
            const double a1 = points.alpha[1] - same * (a0 - points.alpha[0]);
            if (a1 < points.lower[1] || a1 > points.upper[1]) continue;
            EXPECT_GE(change_of_objective(points, {a0, a1}), reached - 1e-9);
        }
    }
}

TEST(TwoPoint, WithoutCurvatureGoesToTheEndOfTheLineExactly) {
    Random random(9);
    for (int round = 0; round < 100; ++round) {
        TwoPoints points = random_points(random, round % 2 == 0 ? 1 : -1, false);
        if (round % 3 == 0) points.k11 = -1;
        const auto to = two_point_step(points, 1e-12);
        const bool at_end = to[0] == points.lower[0] || to[0] == points.upper[0] ||
                            to[1] == points.lower[1] || to[1] == points.upper[1];
        EXPECT_TRUE(at_end);
        EXPECT_LE(change_of_objective(points, to), 0);
    }
}

TEST(FlooredStep, StopsAtTheMinimumOrAtTheRoom) {
    EXPECT_DOUBLE_EQ(floored_step(2, 4, 10, 1e-12), 0.5);
    EXPECT_DOUBLE_EQ(floored_step(2, 4, 0.25, 1e-12), 0.25);
    EXPECT_DOUBLE_EQ(floored_step(2, 0, 7, 1e-12), 7);
    EXPECT_DOUBLE_EQ(floored_step(2, -3, 7, 1e-12), 7);
    EXPECT_DOUBLE_EQ(floored_step(0, -3, 7, 1e-12), 0);
}

TEST(FreePair, NoOtherStepWithinTheBoundsIsLower) {
    Random random(7);
    for (int trial = 0; trial < 2000; ++trial) {
        FreePair pair;
        pair.k11 = 0.1 + random.uniform();
        pair.k22 = 0.1 + random.uniform();
        pair.k12 = 0.98 * (2 * random.uniform() - 1) * std::sqrt(pair.k11 * pair.k22);
        for (std::size_t k = 0; k < 2; ++k) {
            pair.slope[k] = 2 * random.uniform() - 1;
            pair.lower[k] = random.uniform() < 0.3 ? 0 : -random.uniform();
            pair.upper[k] = random.uniform() < 0.3 ? 0 : random.uniform();
        }
        const auto value = [&](double s, double t) {
            return pair.slope[0] * s + pair.slope[1] * t +
                   0.5 * (pair.k11 * s * s + pair.k22 * t * t) + pair.k12 * s * t;
        };
        const auto [s, t] = free_pair_minimum(pair);
        ASSERT_GE(s, pair.lower[0]);
        ASSERT_LE(s, pair.upper[0]);
        ASSERT_GE(t, pair.lower[1]);
        ASSERT_LE(t, pair.upper[1]);
        for (int other = 0; other < 50; ++other) {
            const double a = pair.lower[0] + random.uniform() * (pair.upper[0] - pair.lower[0]);
            const double b = pair.lower[1] + random.uniform() * (pair.upper[1] - pair.lower[1]);
            ASSERT_LE(value(s, t), value(a, b) + 1e-12) << trial;
        }
    }
}

}  // namespace
}  // namespace mercer
