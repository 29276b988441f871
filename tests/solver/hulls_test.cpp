// Hard margins that are thin, or none: the nearest points of two hulls.
#include <gtest/gtest.h>

#include <cmath>

#include "mercer/solver/detail/canonical.hpp"
#include "mercer/solver/detail/hulls.hpp"
#include "mercer/solver/dual.hpp"
#include "solver/dual_cases.hpp"

namespace mercer::testing {
namespace {

struct Cloud {
    Matrix<double> x;
    std::vector<double> label;

    Matrix<double> gram(double gamma = 0) const {
        Matrix<double> k(x.rows(), x.rows());
        for (std::size_t i = 0; i < x.rows(); ++i) {
            for (std::size_t j = 0; j < x.rows(); ++j) {
                double dot = 0, distance = 0;
                for (std::size_t c = 0; c < x.columns(); ++c) {
                    dot += x(i, c) * x(j, c);
                    distance += (x(i, c) - x(j, c)) * (x(i, c) - x(j, c));
                }
                k(i, j) = gamma > 0 ? std::exp(-gamma * distance) : dot;
            }
        }
        return k;
    }
};

/// Points at random but for the last coordinate, which is ±half: the plane between leaves `half` on
/// either side, and the classes overlap so much in the other coordinates that no plane leaves more.
Cloud slices(std::size_t n, std::size_t columns, double half, std::uint64_t seed) {
    Random random(seed);
    Cloud cloud{Matrix<double>(n, columns), std::vector<double>(n)};
    for (std::size_t i = 0; i < n; ++i) {
        cloud.label[i] = i % 2 == 0 ? 1 : -1;
        for (std::size_t c = 0; c + 1 < columns; ++c) cloud.x(i, c) = random.uniform() - 0.5;
        if (i < 4) cloud.x(i, 0) = (i < 2 ? -0.5 : 0.5) + 0.1 * cloud.label[i];
        cloud.x(i, columns - 1) = cloud.label[i] * half;
    }
    return cloud;
}

/// Each point keeps its margin, and no machine has a larger one: w·(p − q) of any two points of the
/// hulls bounds it, and the solution's own weights are such points.
void expect_margin(const Matrix<double>& k, const std::vector<double>& label,
                   const DualSolution& solution, bool bias, double tolerance) {
    ASSERT_EQ(solution.status, DualStatus::converged) << describe(solution.status);
    const std::size_t n = label.size();
    const double b = bias ? -solution.multipliers[0] : 0.0;
    double sum = 0, squared = 0;
    for (std::size_t i = 0; i < n; ++i) {
        double f = b;
        for (std::size_t j = 0; j < n; ++j) f += solution.alpha[j] * label[j] * k(i, j);
        EXPECT_GE(label[i] * f, 1 - 2 * tolerance);
        sum += solution.alpha[i];
        squared += solution.alpha[i] * label[i] * (f - b);
    }
    EXPECT_NEAR(squared / sum, 1, 2 * tolerance);
    EXPECT_LE(solution.gap, 4 * tolerance * std::abs(solution.objective));
}

TEST(Hulls, ThinMarginsAreNotCreptTo) {
    // 60 such rows took 10⁸ steps of two points, to no end.
    for (const std::size_t n : {6U, 60U, 300U}) {
        for (const double half : {1e-2, 1e-4, 2e-5, 3e-6}) {
            const Cloud cloud = slices(n, 2, half, n);
            const Matrix<double> gram = cloud.gram();
            const StoredMatrix<double> k(gram);
            const DualProblem problem = classifier(cloud.label, infinity, true);
            for (const DualMethod method : methods) {
                SCOPED_TRACE(std::to_string(n) + " rows, half " + std::to_string(half * 1e6));
                DualSettings settings;
                settings.method = method;
                const DualSolution solution = solve_dual<double>(k, problem, settings);
                expect_margin(gram, cloud.label, solution, true, 1e-3);
                EXPECT_LT(solution.steps, 200'000U);
                EXPECT_NEAR(1 / std::sqrt(-2 * solution.objective), half, 1e-3 * half);
            }
        }
    }
}

TEST(Hulls, ThinMarginsThroughTheOrigin) {
    for (const std::size_t columns : {2U, 5U}) {
        for (const double half : {1e-3, 2e-5}) {
            const Cloud cloud = slices(80, columns, half, 7);
            const Matrix<double> gram = cloud.gram();
            const DualSolution solution = solve_dual<double>(
                StoredMatrix<double>(gram), classifier(cloud.label, infinity, false));
            expect_margin(gram, cloud.label, solution, false, 1e-3);
            EXPECT_NEAR(1 / std::sqrt(-2 * solution.objective), half, 1e-3 * half);
        }
    }
}

TEST(Hulls, TheNearestPointsAreThoseOfAnInteriorPoint) {
    // The same program with a bound on α that is never met.
    for (const bool bias : {true, false}) {
        for (const std::uint64_t seed : {1U, 2U, 3U}) {
            const Plane plane = random_plane(40, 2, 0, seed);
            const DualProblem problem = classifier(plane.label, infinity, bias);
            DualSettings settings;
            settings.tolerance = 1e-9;
            const StoredMatrix<double> k(plane.k);
            const DualSolution solution = solve_dual<double>(k, problem, settings);
            double largest = 0;
            for (const double a : solution.alpha) largest = std::max(largest, a);
            const DualProblem bounded = classifier(plane.label, 4 * largest, bias);
            const Matrix<double> q = full_q(plane.k, bounded);
            const double best = objective_at(q, bounded, interior_point_minimum(q, bounded));
            std::optional<Infeasibility> none;
            const auto hulls = hulls_of(canonical_form(problem, 40, none));
            ASSERT_TRUE(hulls);
            const HullPoints found = nearest_hull_points<double>(k, *hulls, {.tolerance = 1e-8});
            EXPECT_EQ(found.end, HullEnd::nearest);
            const auto sides = static_cast<double>(hulls->sides);
            EXPECT_NEAR(-0.5 * sides * sides / found.squared_distance, best, 1e-6 * std::abs(best));
        }
    }
}

TEST(Hulls, OnesThatMeetAreFoundToRounding) {
    for (const bool bias : {true, false}) {
        for (const std::size_t n : {8U, 40U, 200U}) {
            Random random(n);
            Cloud cloud = slices(n, 4, 0, n);
            for (std::size_t i = 0; i < n; ++i) cloud.x(i, 3) = random.normal();
            const Matrix<double> gram = cloud.gram();
            const DualProblem problem = classifier(cloud.label, infinity, bias);
            const DualSolution solution = solve_dual<double>(StoredMatrix<double>(gram), problem);
            if (solution.status == DualStatus::converged) {  // few points may well be separable
                EXPECT_LE(n, 8U);
                expect_margin(gram, cloud.label, solution, bias, 1e-3);
                continue;
            }
            ASSERT_EQ(solution.status, DualStatus::unbounded);
            double length = 0, worst = 0, sum = 0;
            std::vector<double> point(4, 0.0);
            for (std::size_t i = 0; i < n; ++i) {
                const double d = solution.recession->direction[i];
                EXPECT_GE(d, 0);
                sum += cloud.label[i] * d;
                for (std::size_t c = 0; c < 4; ++c) point[c] += cloud.label[i] * d * cloud.x(i, c);
            }
            for (const double c : point) length += c * c;
            worst = std::sqrt(length);
            EXPECT_LE(worst, 1e-7);
            if (bias) {
                EXPECT_NEAR(sum, 0, 1e-12);
            }
        }
    }
}

TEST(Hulls, DuplicatesAndDependentPointsChangeNothing) {
    Cloud cloud = slices(64, 3, 5e-5, 3);
    for (std::size_t i = 32; i < 64; ++i) {  // half of them twice, one column three times another
        for (std::size_t c = 0; c < 3; ++c) cloud.x(i, c) = cloud.x(i - 32, c);
    }
    for (std::size_t i = 0; i < 64; ++i) cloud.x(i, 1) = 3 * cloud.x(i, 0);
    const Matrix<double> gram = cloud.gram();
    const StoredMatrix<double> k(gram);
    DualProblem problem = classifier(cloud.label, infinity, true);
    const DualSolution solution = solve_dual<double>(k, problem);
    expect_margin(gram, cloud.label, solution, true, 1e-3);
    EXPECT_NEAR(1 / std::sqrt(-2 * solution.objective), 5e-5, 1e-7);
    // One of the copies on the other side: nothing separates it from itself.
    cloud.label[40] = -cloud.label[8];
    problem = classifier(cloud.label, infinity, true);
    const DualSolution none = solve_dual<double>(k, problem);
    ASSERT_EQ(none.status, DualStatus::unbounded);
    EXPECT_LE(std::abs(none.recession->curvature), 1e-13);
}

TEST(Hulls, NearlyEqualPointsOfTwoClassesUnderAGaussianKernel) {
    for (const double apart : {1e-2, 1e-3, 1e-4}) {
        Random random(11);
        Cloud cloud{Matrix<double>(100, 2), std::vector<double>(100)};
        for (std::size_t i = 0; i < 100; ++i) {
            cloud.label[i] = i % 2 == 0 ? 1 : -1;
            for (std::size_t c = 0; c < 2; ++c) {
                cloud.x(i, c) = i % 2 == 0 ? 3 * random.normal() : cloud.x(i - 1, c) + apart;
            }
        }
        const Matrix<double> gram = cloud.gram(1);
        for (const bool bias : {true, false}) {
            SCOPED_TRACE(apart);
            const DualSolution solution = solve_dual<double>(
                StoredMatrix<double>(gram), classifier(cloud.label, infinity, bias));
            expect_margin(gram, cloud.label, solution, bias, 1e-3);
        }
    }
}

TEST(Hulls, OnlyHardMarginsHaveThem) {
    std::optional<Infeasibility> none;
    const std::vector<double> label = {1, -1, 1};
    EXPECT_TRUE(hulls_of(canonical_form(classifier(label, infinity, true), 3, none)));
    EXPECT_TRUE(hulls_of(canonical_form(classifier(label, infinity, false), 3, none)));
    EXPECT_FALSE(hulls_of(canonical_form(classifier(label, 1, true), 3, none)));
    DualProblem other = classifier(label, infinity, true);
    other.p[1] = -2;
    EXPECT_FALSE(hulls_of(canonical_form(other, 3, none)));
    other = classifier(label, infinity, true);
    other.equalities[0].value = 1;
    EXPECT_FALSE(hulls_of(canonical_form(other, 3, none)));
    EXPECT_FALSE(hulls_of(canonical_form(classifier({1, 1, 1}, infinity, true), 3, none)));
}

}  // namespace
}  // namespace mercer::testing
