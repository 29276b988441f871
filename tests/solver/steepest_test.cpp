// The linear program behind three-point steps, and feasible points, against brute force.
#include "mercer/solver/detail/steepest.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/base/random.hpp"
#include "mercer/solver/detail/canonical.hpp"
#include "mercer/solver/detail/feasible.hpp"
#include "solver/dual_cases.hpp"

namespace mercer::testing {
namespace {

struct Situation {
    std::vector<double> gradient, u, lower, upper;
    std::vector<std::array<double, 2>> column;
    std::size_t equalities = 2;

    DirectionView view() const {
        return {.gradient = gradient,
                .u = u,
                .lower = lower,
                .upper = upper,
                .column = column,
                .equalities = equalities};
    }
};

Situation random_situation(std::size_t n, std::size_t equalities, Random& random) {
    Situation s;
    s.equalities = equalities;
    for (std::size_t i = 0; i < n; ++i) {
        const double place = random.uniform();
        s.lower.push_back(0);
        s.upper.push_back(1);
        s.u.push_back(place < 0.4 ? 0.0 : place > 0.6 ? 1.0 : random.uniform(0.1, 0.9));
        s.gradient.push_back(random.normal());
        s.column.push_back({random.normal(), equalities == 2 ? random.normal() : 0.0});
        if (i % 7 == 6) s.column.back() = {0, 0};
        if (i % 5 == 4) s.column.back() = s.column[i - 1];
    }
    return s;
}

/// The steepest slope −g'd with Σ|d| = 1 over all directions of at most three points: every vertex
/// of the program is one of them.
double steepest_by_enumeration(const Situation& s) {
    const std::size_t n = s.u.size();
    const auto open = [&](std::size_t i, double d) {
        return std::abs(d) < 1e-14 || (d > 0 ? s.u[i] < s.upper[i] : s.u[i] > s.lower[i]);
    };
    double best = 0;
    const auto consider = [&](const std::array<std::size_t, 3>& at, std::array<double, 3> d) {
        const double size = std::abs(d[0]) + std::abs(d[1]) + std::abs(d[2]);
        if (size < 1e-12) return;
        for (const double way : {1.0, -1.0}) {
            double slope = 0, a1 = 0, a2 = 0;
            bool allowed = true;
            for (std::size_t k = 0; k < 3; ++k) {
                const double x = way * d[k] / size;
                slope -= s.gradient[at[k]] * x;
                a1 += s.column[at[k]][0] * x;
                a2 += s.column[at[k]][1] * x;
                allowed = allowed && open(at[k], x);
            }
            if (allowed && std::abs(a1) + std::abs(a2) < 1e-10) best = std::max(best, slope);
        }
    };
    for (std::size_t i = 0; i < n; ++i) {
        consider({i, i, i}, {1, 0, 0});
        for (std::size_t j = i + 1; j < n; ++j) {
            const auto& a = s.column[i];
            const auto& b = s.column[j];
            consider({i, j, j}, {b[0], -a[0], 0});
            consider({i, j, j}, {b[1], -a[1], 0});
            for (std::size_t k = j + 1; k < n; ++k) {
                const auto& c = s.column[k];
                consider({i, j, k}, {b[0] * c[1] - b[1] * c[0], c[0] * a[1] - c[1] * a[0],
                                     a[0] * b[1] - a[1] * b[0]});
            }
        }
    }
    return best;
}

TEST(Steepest, FindsTheSteepestDirectionAndItsMultipliers) {
    Random random(3);
    for (const std::size_t equalities : {1U, 2U}) {
        for (int round = 0; round < 200; ++round) {
            const Situation s = random_situation(4 + random.below(16), equalities, random);
            SteepestDirection steepest;
            steepest.solve(s.view(), 1e-12);
            const double expected = steepest_by_enumeration(s);
            EXPECT_NEAR(steepest.largest(), expected, 1e-9) << "round " << round;
            // The two programs have one optimum: the direction attains what the multipliers bound.
            const SparseDirection& d = steepest.direction();
            double slope = 0, size = 0, a1 = 0, a2 = 0;
            for (std::size_t k = 0; k < d.count; ++k) {
                const std::size_t i = d.index[k];
                slope -= s.gradient[i] * d.weight[k];
                size += std::abs(d.weight[k]);
                a1 += s.column[i][0] * d.weight[k];
                a2 += s.column[i][1] * d.weight[k];
                EXPECT_TRUE(d.weight[k] > 0 ? s.u[i] < s.upper[i] : s.u[i] > s.lower[i]);
            }
            EXPECT_NEAR(slope, expected, 1e-9);
            EXPECT_LE(size, 1 + 1e-12);
            EXPECT_NEAR(a1, 0, 1e-12);
            EXPECT_NEAR(a2, 0, 1e-12);
        }
    }
}

TEST(Feasible, MovesToTheNearestFeasiblePoint) {
    Random random(8);
    for (const Shape& shape : all_shapes()) {
        const std::size_t n = 20;
        const DualProblem problem = shape.make(n, random);
        std::optional<Infeasibility> contradiction;
        const CanonicalDual form = canonical_form(problem, n, contradiction);
        ASSERT_FALSE(contradiction);
        std::vector<double> start(form.variables);
        for (double& x : start) x = 2 * random.normal();
        std::vector<double> inside = start;
        for (std::size_t i = 0; i < start.size(); ++i) {
            inside[i] = std::clamp(start[i], form.lower[i], form.upper[i]);
        }
        std::vector<double> u = start;
        ASSERT_FALSE(make_feasible(form, u)) << shape.name;
        EXPECT_LE(equality_residual(form, u), 1e-12 * static_cast<double>(n)) << shape.name;
        for (std::size_t i = 0; i < u.size(); ++i) {
            EXPECT_GE(u[i], form.lower[i]);
            EXPECT_LE(u[i], form.upper[i]);
        }
        // What is feasible stays where it is, to the last bit.
        std::vector<double> again = u;
        ASSERT_FALSE(make_feasible(form, again));
        EXPECT_EQ(again, u) << shape.name;
    }
}

TEST(Feasible, IsTheEuclideanProjectionWhenAllMayMove) {
    // Conditions of the projection of z: z_i + λ'a_i − u_i is ≤ 0 at the lower bound, ≥ 0 at the
    // upper, 0 between; λ follows from two variables between.
    Random random(12);
    const std::size_t n = 30;
    const DualProblem problem = skew(n, random);
    std::optional<Infeasibility> contradiction;
    const CanonicalDual form = canonical_form(problem, n, contradiction);
    ASSERT_TRUE(form.general);
    std::vector<double> z(n);
    for (double& x : z) x = random.uniform(-0.9, 1.9);  // inside the box, and none at rest
    std::vector<double> u = z;
    ASSERT_FALSE(make_feasible(form, u));
    std::vector<std::size_t> between;
    for (std::size_t i = 0; i < n; ++i) {
        if (form.is_free(i, u[i])) between.push_back(i);
    }
    ASSERT_GE(between.size(), 3U);
    const auto& a = form.column[between[0]];
    const auto& b = form.column[between[1]];
    const double r0 = u[between[0]] - z[between[0]];
    const double r1 = u[between[1]] - z[between[1]];
    const double determinant = a[0] * b[1] - a[1] * b[0];
    const double l0 = (r0 * b[1] - r1 * a[1]) / determinant;
    const double l1 = (a[0] * r1 - b[0] * r0) / determinant;
    for (std::size_t i = 0; i < n; ++i) {
        const double wish = z[i] + l0 * form.column[i][0] + l1 * form.column[i][1];
        EXPECT_NEAR(u[i], std::clamp(wish, form.lower[i], form.upper[i]), 1e-8);
    }
}

TEST(Feasible, AStartStaysSparse) {
    const std::size_t n = 10000;
    DualProblem problem = box_problem(n, 0, 0, 1);
    problem.equalities = {{.coefficients = std::vector<double>(n, 1.0), .value = 100}};
    std::optional<Infeasibility> contradiction;
    const CanonicalDual form = canonical_form(problem, n, contradiction);
    std::vector<double> u(n, 0.0);
    ASSERT_FALSE(make_feasible(form, u));
    const auto moved = std::count_if(u.begin(), u.end(), [](double x) { return x != 0; });
    EXPECT_LE(moved, 400);
    EXPECT_GE(moved, 100);
}

}  // namespace
}  // namespace mercer::testing
