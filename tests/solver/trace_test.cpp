// Plain smo takes the step of 002 theorem 2, and tells of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/solver/detail/two_point.hpp"
#include "mercer/solver/dual.hpp"
#include "solver/dual_cases.hpp"

namespace mercer::testing {
namespace {

std::vector<TwoPointStep> steps_of(const Matrix<double>& k, const DualProblem& problem,
                                   DualSolution& solution) {
    std::vector<TwoPointStep> steps;
    DualSettings settings;
    settings.method = DualMethod::smo;
    settings.tolerance = 1e-6;
    settings.trace = [&](const TwoPointStep& step) { steps.push_back(step); };
    solution = solve_dual<double>(StoredMatrix<double>(k), problem, settings);
    return steps;
}

TEST(Trace, EveryStepIsThatOfTheTheorem) {
    const Plane plane = random_plane(50, 1, 0.1, 4);
    const double c = 3;
    DualSolution solution;
    const auto steps = steps_of(plane.k, classifier(plane.label, c, true), solution);
    ASSERT_EQ(steps.size(), solution.steps);
    ASSERT_GT(steps.size(), 20U);
    // α from the trace alone, and with it all that the theorem speaks of.
    std::vector<double> alpha(50, 0.0);
    double last = 0;
    for (const TwoPointStep& s : steps) {
        const auto [i, j] = s.row;
        TwoPoints points{.alpha = {alpha[i], alpha[j]},
                         .label = {plane.label[i], plane.label[j]},
                         .k11 = plane.k(i, i),
                         .k22 = plane.k(j, j),
                         .k12 = plane.k(i, j),
                         .upper = {c, c}};
        for (std::size_t a = 0; a < 2; ++a) {
            const std::size_t row = s.row[a];
            points.error[a] = -plane.label[row];
            for (std::size_t l = 0; l < 50; ++l) {
                points.error[a] += alpha[l] * plane.label[l] * plane.k(l, row);
            }
            EXPECT_EQ(s.label[a], plane.label[row]);
            EXPECT_EQ(s.alpha[a], alpha[row]);
            EXPECT_FALSE(std::signbit(s.alpha[a]) || std::signbit(s.moved_to[a]));
            EXPECT_NEAR(s.error[a], points.error[a], 1e-9);
        }
        const ClipInterval clip = clip_interval(points);
        EXPECT_NEAR(s.clip[0], clip.u, 1e-12);
        EXPECT_NEAR(s.clip[1], clip.v, 1e-12);
        EXPECT_NEAR(s.curvature, curvature(points), 1e-12);
        const auto to = two_point_step(points, 1e-12);
        EXPECT_NEAR(s.moved_to[0], to[0], 1e-7);
        EXPECT_NEAR(s.moved_to[1], to[1], 1e-7);
        alpha[i] = s.moved_to[0];
        alpha[j] = s.moved_to[1];
        EXPECT_GE(s.objective, last - 1e-12);
        last = s.objective;
    }
    EXPECT_NEAR(last, -solution.objective, 1e-9);
    for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(alpha[i], solution.alpha[i], 1e-9);
}

TEST(Trace, OnePointMovesWhereThereIsNoEquality) {
    const Plane plane = random_plane(30, 1, 0.1, 5);
    DualSolution solution;
    const auto steps = steps_of(plane.k, classifier(plane.label, 2, false), solution);
    ASSERT_EQ(steps.size(), solution.steps);
    double last = 0;
    for (const TwoPointStep& s : steps) {
        EXPECT_EQ(s.row[0], s.row[1]);
        EXPECT_EQ(s.clip, (std::array<double, 2>{0, 2}));
        EXPECT_EQ(s.moved_to[1], std::clamp(s.unclipped, 0.0, 2.0));
        EXPECT_GE(s.objective, last);
        last = s.objective;
    }
}

TEST(Trace, OtherMethodsHaveNone) {
    const Plane plane = random_plane(20, 1, 0.1, 6);
    DualSettings settings;
    settings.trace = [](const TwoPointStep&) {};
    EXPECT_THROW(solve_dual<double>(StoredMatrix<double>(plane.k), classifier(plane.label, 1, true),
                                    settings),
                 InvalidInput);
    // Nor is there one of three points.
    settings.method = DualMethod::smo;
    Random random(1);
    EXPECT_THROW(solve_dual<double>(StoredMatrix<double>(plane.k), skew(20, random), settings),
                 InvalidInput);
}

}  // namespace
}  // namespace mercer::testing
