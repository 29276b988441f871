// Programs that begin where others ended: the same minima as those of programs by themselves.
#include "mercer/solver/detail/path.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "solver/dual_cases.hpp"

namespace mercer {
namespace {

using testing::classifier;
using testing::Plane;
using testing::random_plane;
using testing::StoredMatrix;

/// The largest difference between v and Kβ, of what the solver sees.
double wrong_gradient(const Matrix<double>& k, const DualProblem& problem,
                      const DualSolution& solution) {
    double worst = 0;
    for (std::size_t i = 0; i < k.rows(); ++i) {
        double v = 0;
        for (std::size_t j = 0; j < problem.size(); ++j) {
            const std::size_t row = problem.row.empty() ? j : problem.row[j];
            v += problem.sign[j] * solution.alpha[j] * k(i, row);
        }
        worst = std::max(worst, std::abs(v - solution.row_gradient[i]));
    }
    return worst;
}

TEST(DualPath, AlongThePenaltyEachMinimumIsThatOfItsProgramAlone) {
    const Plane plane = random_plane(400, 2.0, 0.1, 3);
    const StoredMatrix<float> k(plane.k);
    for (const bool bias : {true, false}) {
        DualPath<float> path(k);
        double last = 0;
        for (const double c : {0.05, 0.2, 1.0, 7.0, 40.0, 300.0}) {
            const DualProblem problem = classifier(plane.label, c, bias);
            const double multiple = last > 0 ? std::min(c / last, path.best_multiple()) : 0;
            // A working set that cannot hold all, so that the tile kept is not the whole matrix.
            const DualSettings settings{.tolerance = 1e-5, .working_set = 64};
            const DualSolution found = path.solve(problem, settings, multiple);
            const DualSolution alone = solve_dual(k, problem, settings);
            EXPECT_EQ(found.status, DualStatus::converged);
            EXPECT_LE(found.violation, 1e-5);
            EXPECT_NEAR(found.objective, alone.objective, 1e-6 * std::abs(alone.objective));
            EXPECT_LE(wrong_gradient(k.seen(), problem, found), 1e-9 * (1 + c));
            last = c;
        }
    }
}

TEST(DualPath, MultiplesKnowTheirGradient) {
    // All variables free at the end: doubling the box lets nothing grow, and nothing is read but
    // for what the equality's rounding asks for.
    const Plane plane = random_plane(120, 30.0, 0.0, 5);
    const StoredMatrix<double> k(plane.k);
    DualPath<double> path(k);
    const DualSettings settings{.tolerance = 1e-6};
    path.solve(classifier(plane.label, 100, true), settings, 0);
    EXPECT_NEAR(path.best_multiple(), 1, 1e-6);
    const std::uint64_t before = k.evaluations();
    const DualSolution again =
        path.solve(classifier(plane.label, 200, true), settings, path.best_multiple());
    EXPECT_LE(again.violation, 1e-6);
    EXPECT_LT(k.evaluations() - before, 120U * 120U / 4);
}

TEST(DualPath, GoesOnWithAnotherOperatorAsIfItWereTheFirst) {
    const Plane first = random_plane(200, 1.0, 0.2, 9);
    const Plane second = random_plane(200, 3.0, 0.1, 10);
    const StoredMatrix<float> one(first.k), other(second.k);
    const DualSettings settings{.tolerance = 1e-5, .working_set = 64};
    DualPath<float> path(one);
    path.solve(classifier(first.label, 50, true), settings, 0);
    path.begin(other);
    EXPECT_FALSE(path.has_start());
    const DualProblem problem = classifier(second.label, 50, true);
    const DualSolution found = path.solve(problem, settings, 0);
    EXPECT_EQ(found.alpha, solve_dual(other, problem, settings).alpha);
}

TEST(DualPath, EntriesThatAreNoNumbersAreRefused) {
    Plane plane = random_plane(300, 1.0, 0.2, 9);
    plane.k(5, 9) = plane.k(9, 5) = std::nan("");
    const StoredMatrix<float> narrow(plane.k);
    const StoredMatrix<double> wide(plane.k);
    for (const bool bias : {true, false}) {
        const DualProblem problem = classifier(plane.label, 10, bias);
        EXPECT_THROW(solve_dual(narrow, problem), InvalidInput);
        EXPECT_THROW(solve_dual(wide, problem), InvalidInput);
    }
}

TEST(DualPath, ForgetsWhenTold) {
    const Plane plane = random_plane(200, 1.0, 0.2, 9);
    const StoredMatrix<float> k(plane.k);
    DualPath<float> path(k);
    path.solve(classifier(plane.label, 50, true), {}, 0);
    EXPECT_TRUE(path.has_start());
    path.forget();
    EXPECT_FALSE(path.has_start());
    const DualSolution small = path.solve(classifier(plane.label, 0.1, true), {}, 0);
    EXPECT_EQ(small.status, DualStatus::converged);
    EXPECT_LE(*std::ranges::max_element(small.alpha), 0.1);
}

TEST(DualPath, WhatIsAtItsBoundStaysThereWhateverIsRounded) {
    const Plane plane = random_plane(300, 1.0, 0.2, 4);
    const StoredMatrix<float> k(plane.k);
    DualPath<float> path(k);
    double last = 0;
    for (double c = 1e-7; c < 1e-4; c *= 1.37) {  // no margin is reached: all are at their bound
        const DualProblem problem = classifier(plane.label, c, false);
        const DualSolution found = path.solve(problem, {}, last > 0 ? c / last : 0);
        EXPECT_EQ(found.alpha, problem.upper);
        if (last > 0) {
            EXPECT_EQ(found.steps, 0U) << c;
        }
        last = c;
    }
}

TEST(DualPath, BeginsAtTheBoundsWhereTheBoxIsSmall) {
    const Plane plane = random_plane(300, 1.0, 0.2, 6);
    const StoredMatrix<double> k(plane.k);
    for (const bool bias : {true, false}) {
        DualPath<double> path(k);
        const DualProblem small = classifier(plane.label, 1e-4, bias);
        path.begin_at_bounds(small);
        ASSERT_TRUE(path.has_start());
        const DualSolution found = path.solve(small, {.tolerance = 1e-6}, 1);
        const DualSolution alone = solve_dual(k, small, {.tolerance = 1e-6});
        EXPECT_NEAR(found.objective, alone.objective, 1e-8 * std::abs(alone.objective));
        EXPECT_LE(wrong_gradient(k.seen(), small, found), 1e-12);
        EXPECT_LE(found.steps, alone.steps / 4);
    }
}

TEST(DualPath, BeginsAtZeroWhereTheBoxIsLarge) {
    const Plane plane = random_plane(300, 1.0, 0.2, 6);
    const StoredMatrix<double> k(plane.k);
    for (const double c : {100.0, HUGE_VAL}) {
        DualPath<double> path(k);
        path.begin_at_bounds(classifier(plane.label, c, false));
        EXPECT_FALSE(path.has_start());
    }
}

TEST(DualPath, AfterManyIterationsTheNextTileHoldsAllFreeVariables) {
    const Plane plane = random_plane(1500, 30.0, 0.1, 8);
    const StoredMatrix<float> k(plane.k);
    DualPath<float> path(k);
    const DualSettings settings{.tolerance = 1e-4, .working_set = 16};
    const DualProblem first = classifier(plane.label, 10, true);
    const DualSolution slow = path.solve(first, settings, 0);
    const auto free = static_cast<std::size_t>(
        std::ranges::count_if(slow.alpha, [](double a) { return a > 0 && a < 10; }));
    ASSERT_GT(slow.iterations, 48U);
    const DualSolution next = path.solve(classifier(plane.label, 20, true), settings, 1);
    EXPECT_GE(next.working_set, free);
    EXPECT_LT(next.iterations, slow.iterations / 2);
    EXPECT_LE(next.violation, 1e-4);
}

}  // namespace
}  // namespace mercer
