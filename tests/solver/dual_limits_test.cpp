// What the solver does when it cannot or must not go on to the end.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "mercer/base/error.hpp"
#include "mercer/solver/dual.hpp"
#include "solver/dual_cases.hpp"

namespace mercer::testing {
namespace {

void expect_feasible(const DualProblem& problem, const std::vector<double>& alpha) {
    ASSERT_EQ(alpha.size(), problem.size());
    for (std::size_t i = 0; i < alpha.size(); ++i) {
        EXPECT_GE(alpha[i], problem.lower[i]);
        EXPECT_LE(alpha[i], problem.upper[i]);
    }
    for (const Equality& equality : problem.equalities) {
        double sum = -equality.value;
        double scale = 1;
        for (std::size_t i = 0; i < alpha.size(); ++i) {
            sum += equality.coefficients[i] * alpha[i];
            scale += std::abs(equality.coefficients[i] * alpha[i]);
        }
        EXPECT_NEAR(sum, 0, 1e-12 * scale);
    }
}

DualProblem hard_margin(const std::vector<double>& label, bool bias) {
    return classifier(label, infinity, bias);
}

TEST(DualLimits, StepsAreCountedAndKeptTo) {
    const Plane plane = random_plane(200, 1, 0.2, 1);
    const StoredMatrix<double> k(plane.k);
    const DualProblem problem = classifier(plane.label, 100, true);
    for (const DualMethod method : methods) {
        DualSettings settings;
        settings.method = method;
        settings.iteration_limit = 25;
        const DualSolution solution = solve_dual<double>(k, problem, settings);
        EXPECT_EQ(solution.status, DualStatus::iteration_limit);
        EXPECT_EQ(solution.steps, 25U);
        expect_feasible(problem, solution.alpha);
        // Not to the tolerance, but what is reported is true: the gap still bounds the optimum.
        const DualSolution best = solve_dual<double>(k, problem);
        EXPECT_GT(solution.violation, settings.tolerance);
        EXPECT_LE(solution.objective - solution.gap, best.objective);
        EXPECT_GE(solution.objective, best.objective);
    }
}

TEST(DualLimits, TimeIsKeptTo) {
    const Plane plane = random_plane(400, 1, 0.2, 1);
    const StoredMatrix<double> k(plane.k);
    const DualProblem problem = classifier(plane.label, 1e6, true);
    for (const DualMethod method : methods) {
        DualSettings settings;
        settings.method = method;
        settings.tolerance = 1e-14;
        settings.time_limit = 0.05;
        settings.working_set = 32;
        settings.progress = [](const DualMoment&) {
            std::this_thread::sleep_for(std::chrono::milliseconds(60));
            return true;
        };
        const DualSolution solution = solve_dual<double>(k, problem, settings);
        EXPECT_EQ(solution.status, DualStatus::time_limit);
        EXPECT_GE(solution.seconds, 0.05);
        expect_feasible(problem, solution.alpha);
    }
}

TEST(DualLimits, ListenersMayCancel) {
    const Plane plane = random_plane(200, 1, 0.2, 1);
    const StoredMatrix<double> k(plane.k);
    const DualProblem problem = classifier(plane.label, 100, true);
    for (const DualMethod method : methods) {
        DualSettings settings;
        settings.method = method;
        settings.working_set = 16;
        int calls = 0;
        settings.progress = [&](const DualMoment&) { return ++calls < 2; };
        const DualSolution solution = solve_dual<double>(k, problem, settings);
        EXPECT_EQ(solution.status, DualStatus::cancelled);
        EXPECT_EQ(calls, 2);
        EXPECT_TRUE(std::isfinite(solution.gap));
        expect_feasible(problem, solution.alpha);
    }
}

TEST(DualLimits, OperatorsMayRefuse) {
    const Plane plane = random_plane(200, 1, 0.2, 1);
    const DualProblem problem = classifier(plane.label, 100, true);
    for (const DualMethod method : methods) {
        for (const std::uint64_t entries : {0U, 5000U, 20000U}) {
            StoredMatrix<double> k(plane.k);
            k.refuse_after = entries;
            DualSettings settings;
            settings.method = method;
            settings.working_set = 16;
            const DualSolution solution = solve_dual<double>(k, problem, settings);
            EXPECT_EQ(solution.status, DualStatus::cancelled);
            expect_feasible(problem, solution.alpha);
            // A gradient is handed out only if it is that of alpha.
            if (solution.row_gradient.empty()) {
                EXPECT_EQ(solution.gap, infinity);
                continue;
            }
            const Matrix<double> q = full_q(plane.k, problem);
            const std::vector<double> g = gradient_at(q, problem, solution.alpha);
            for (std::size_t i = 0; i < g.size(); ++i) {
                EXPECT_NEAR(plane.label[i] * solution.row_gradient[i] - 1, g[i], 1e-9);
            }
        }
    }
}

/// The direction proves that no α is best: feasible for ever, without curvature, downhill.
void expect_recession(const Matrix<double>& k, const DualProblem& problem,
                      const DualSolution& solution, double flat) {
    ASSERT_EQ(solution.status, DualStatus::unbounded) << describe(solution.status);
    ASSERT_TRUE(solution.recession);
    const std::vector<double>& d = solution.recession->direction;
    ASSERT_EQ(d.size(), problem.size());
    const Matrix<double> q = full_q(k, problem);
    double slope = 0, curvature = 0, size = 0;
    for (std::size_t i = 0; i < d.size(); ++i) {
        slope += problem.p[i] * d[i];
        size += std::abs(d[i]);
        if (std::isfinite(problem.lower[i])) {
            EXPECT_GE(d[i], 0);
        }
        if (std::isfinite(problem.upper[i])) {
            EXPECT_LE(d[i], 0);
        }
        for (std::size_t j = 0; j < d.size(); ++j) curvature += d[i] * d[j] * q(i, j);
    }
    for (const Equality& equality : problem.equalities) {
        double sum = 0;
        for (std::size_t i = 0; i < d.size(); ++i) sum += equality.coefficients[i] * d[i];
        EXPECT_NEAR(sum, 0, 1e-12);
    }
    EXPECT_NEAR(size, 1, 1e-12);
    EXPECT_LT(slope, -0.1);
    EXPECT_NEAR(slope, solution.recession->slope, 1e-12);
    EXPECT_LE(curvature, flat);
    expect_feasible(problem, solution.alpha);
}

TEST(DualUnbounded, ContradictingDuplicatesAreProvedAtOnce) {
    Plane plane = random_plane(60, 1, 0, 3);
    for (std::size_t j = 0; j < 60; ++j) plane.k(7, j) = plane.k(j, 7) = plane.k(4, j);
    plane.k(7, 7) = plane.k(4, 7) = plane.k(7, 4) = plane.k(4, 4);
    plane.label[7] = -plane.label[4];
    const StoredMatrix<double> k(plane.k);
    for (const DualMethod method : methods) {
        for (const bool bias : {true, false}) {
            DualSettings settings;
            settings.method = method;
            const DualProblem problem = hard_margin(plane.label, bias);
            expect_recession(plane.k, problem, solve_dual<double>(k, problem, settings), 1e-11);
        }
    }
}

TEST(DualUnbounded, HullsThatMeetAreProvedByACommonPoint) {
    // Points of the plane under a linear kernel, labels at random: no line separates them.
    const Matrix<double> gram = random_gram(80, 2, false, 5);
    Random random(6);
    for (const bool bias : {true, false}) {
        const DualProblem problem = hard_margin(random_labels(80, random), bias);
        const StoredMatrix<double> k(gram);
        for (const DualMethod method : methods) {
            DualSettings settings;
            settings.method = method;
            settings.working_set = 16;
            expect_recession(gram, problem, solve_dual<double>(k, problem, settings), 1e-10);
        }
        const StoredMatrix<float> rounded(gram);
        expect_recession(gram, problem, solve_dual<float>(rounded, problem), 1e-5);
    }
}

TEST(DualUnbounded, ALineWithoutEndAndWithoutCost) {
    // Three points with columns in general position, and nothing to stop them.
    const StoredMatrix<double> k(Matrix<double>(3, 3, 0.0));
    DualProblem problem = box_problem(3, -1, 0, infinity);
    problem.equalities = {{.coefficients = {1, 2, -1.5}, .value = 0},
                          {.coefficients = {-1, 0.5, 0.25}, .value = 0}};
    expect_recession(Matrix<double>(3, 3, 0.0), problem, solve_dual<double>(k, problem), 0);
}

TEST(DualUnbounded, SeparableSetsHaveAHardMargin) {
    for (const bool bias : {true, false}) {
        const Plane plane = random_plane(150, 1, 0, 9);
        const StoredMatrix<double> k(plane.k);
        const DualProblem problem = hard_margin(plane.label, bias);
        const Matrix<double> q = full_q(plane.k, problem);
        for (const DualMethod method : methods) {
            DualSettings settings;
            settings.method = method;
            settings.tolerance = 1e-5;
            settings.working_set = 32;
            const DualSolution solution = solve_dual<double>(k, problem, settings);
            ASSERT_EQ(solution.status, DualStatus::converged);
            // Every point keeps the margin y (f + b) ≥ 1, and the gap is certified although the
            // bounds are infinite.
            const double b = bias ? -solution.multipliers[0] : 0.0;
            for (std::size_t i = 0; i < 150; ++i) {
                EXPECT_GE(plane.label[i] * (solution.row_gradient[i] + b), 1 - 1e-5);
            }
            EXPECT_GE(solution.gap, 0);
            EXPECT_LE(solution.gap, 1e-3 * std::abs(solution.objective));
        }
    }
}

TEST(DualInfeasible, NuTooLargeIsExplained) {
    // Three of one class, seven of the other: e'α = 8 with α ≤ 1 and y'α = 0 asks for 4 and 4.
    const StoredMatrix<double> k(random_gram(10, 10, false, 1));
    std::vector<double> y(10, -1.0);
    y[0] = y[1] = y[2] = 1;
    DualProblem problem = classifier(y, 1, true);
    problem.equalities.push_back({.coefficients = std::vector<double>(10, 1.0), .value = 8});
    const DualSolution solution = solve_dual<double>(k, problem);
    ASSERT_EQ(solution.status, DualStatus::infeasible);
    ASSERT_TRUE(solution.infeasibility);
    const Infeasibility& why = *solution.infeasibility;
    EXPECT_FALSE(why.explanation.empty());
    // The combination of the equalities, over the box, misses the value wanted.
    ASSERT_EQ(why.combination.size(), 2U);
    double low = 0, high = 0;
    for (std::size_t i = 0; i < 10; ++i) {
        const double a = why.combination[0] * y[i] + why.combination[1];
        low += std::min(0.0, a);
        high += std::max(0.0, a);
    }
    EXPECT_NEAR(low, why.attainable_low, 1e-12);
    EXPECT_NEAR(high, why.attainable_high, 1e-12);
    EXPECT_NEAR(8 * why.combination[1], why.wanted, 1e-12);
    EXPECT_TRUE(why.wanted > high || why.wanted < low);
    // The largest ν that is feasible is feasible exactly.
    problem.equalities[1].value = 6;
    EXPECT_EQ(solve_dual<double>(k, problem).status, DualStatus::converged);
}

TEST(DualInfeasible, TwoGeneralEqualitiesThatNoPointMeets) {
    // Each equality can be met by itself, both cannot.
    const StoredMatrix<double> k(random_gram(4, 4, false, 1));
    DualProblem problem = box_problem(4, 0, 0, 1);
    const std::vector<double> a = {1, 2, 3, 4};
    const std::vector<double> b = {1.1, 1.9, 3.2, 3.7};
    problem.equalities = {{.coefficients = a, .value = 1}, {.coefficients = b, .value = 8}};
    const DualSolution solution = solve_dual<double>(k, problem);
    ASSERT_EQ(solution.status, DualStatus::infeasible);
    ASSERT_TRUE(solution.infeasibility);
    const Infeasibility& why = *solution.infeasibility;
    double high = 0;
    for (std::size_t i = 0; i < 4; ++i) {
        high += std::max(0.0, why.combination[0] * a[i] + why.combination[1] * b[i]);
    }
    EXPECT_GT(why.combination[0] * 1 + why.combination[1] * 8, high);
}

TEST(DualInfeasible, EqualitiesThatContradictEachOther) {
    const StoredMatrix<double> k(random_gram(3, 3, false, 1));
    DualProblem problem = box_problem(3, 0, 0, 1);
    problem.equalities = {{.coefficients = {1, 1, 1}, .value = 1},
                          {.coefficients = {2, 2, 2}, .value = 3}};
    EXPECT_EQ(solve_dual<double>(k, problem).status, DualStatus::infeasible);
    problem.equalities[1].value = 2;  // the same equality twice: nothing wrong
    EXPECT_EQ(solve_dual<double>(k, problem).status, DualStatus::converged);
    problem.equalities = {{.coefficients = {0, 0, 0}, .value = 1}};
    EXPECT_EQ(solve_dual<double>(k, problem).status, DualStatus::infeasible);
    problem.equalities[0].value = 0;
    EXPECT_EQ(solve_dual<double>(k, problem).status, DualStatus::converged);
}

TEST(DualInput, MistakesAreNamed) {
    const StoredMatrix<double> k(random_gram(3, 3, false, 1));
    const DualProblem good = classifier({1, -1, 1}, 1, true);
    const auto complaint = [&](const DualProblem& problem, const DualSettings& settings = {},
                               std::span<const double> start = {}) -> std::string {
        try {
            solve_dual<double>(k, problem, settings, start);
        } catch (const InvalidInput& error) {
            return error.what();
        }
        return "no complaint";
    };
    EXPECT_EQ(complaint(good), "no complaint");
    const auto with = [&](auto change) {
        DualProblem problem = good;
        change(problem);
        return complaint(problem);
    };
    using P = DualProblem&;
    const auto has = [](const std::string& text, const std::string& part) {
        return text.find(part) != std::string::npos;
    };
    EXPECT_TRUE(has(with([](P p) { p.upper.pop_back(); }), "upper has 2 entries; expected 3"));
    EXPECT_TRUE(has(with([](P p) { p.p[1] = NAN; }), "variable 1: p is"));
    EXPECT_TRUE(has(with([](P p) { p.lower[2] = 5; }), "variable 2: bounds [5, 1]"));
    EXPECT_TRUE(has(with([](P p) { p.sign[0] = 0; }), "variable 0: sign 0"));
    EXPECT_TRUE(has(with([](P p) { p.row = {0, 1, 3}; }), "variable 2: row 3"));
    EXPECT_TRUE(has(with([](P p) { p.equalities.resize(3, p.equalities[0]); }), "3 equalities"));
    EXPECT_TRUE(has(with([](P p) { p.equalities[0].value = INFINITY; }), "value of an equality"));
    EXPECT_TRUE(has(with([](P p) { p.equalities[0].coefficients[1] = NAN; }), "variable 1"));
    DualSettings settings;
    settings.tolerance = 0;
    EXPECT_TRUE(has(complaint(good, settings), "tolerance is 0; expected"));
    settings.tolerance = 1e-3;
    settings.working_set = 1U << 20;
    EXPECT_TRUE(has(complaint(good, settings), "working_set is 1048576"));
    EXPECT_TRUE(has(complaint(good, {}, std::vector<double>{1, 2}), "start has 2 entries"));
    EXPECT_TRUE(has(complaint(good, {}, std::vector<double>{1, NAN, 2}), "position 1"));
}

TEST(DualInput, EntriesThatAreNotFiniteAreRefused) {
    Matrix<double> gram = random_gram(40, 10, false, 1);
    Random random(2);
    const DualProblem problem = classifier(random_labels(40, random), 1, true);
    gram(5, 5) = NAN;
    EXPECT_THROW(solve_dual<double>(StoredMatrix<double>(gram), problem), InvalidInput);
    gram(5, 5) = 1;
    gram(3, 9) = gram(9, 3) = INFINITY;
    for (const DualMethod method : methods) {
        DualSettings settings;
        settings.method = method;
        EXPECT_THROW(solve_dual<double>(StoredMatrix<double>(gram), problem, settings),
                     InvalidInput);
    }
}

TEST(DualInput, SmallestProblems) {
    const StoredMatrix<double> one(Matrix<double>(1, 1, 2.0));
    EXPECT_EQ(solve_dual<double>(one, DualProblem{}).status, DualStatus::converged);
    // One variable in no equality: α = 1/K.
    DualProblem problem = box_problem(1, -1, 0, 10);
    DualSettings settings;
    settings.tolerance = 1e-12;
    EXPECT_NEAR(solve_dual<double>(one, problem, settings).alpha[0], 0.5, 1e-12);
    // One variable that an equality fixes.
    problem.equalities = {{.coefficients = {2}, .value = 3}};
    EXPECT_NEAR(solve_dual<double>(one, problem, settings).alpha[0], 1.5, 1e-12);
    // Bounds that leave nothing to choose.
    problem = box_problem(1, -1, 0.25, 0.25);
    EXPECT_EQ(solve_dual<double>(one, problem, settings).alpha[0], 0.25);
}

}  // namespace
}  // namespace mercer::testing
