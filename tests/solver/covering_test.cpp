// Fractional coverings against the simplex method, and their bounds against what they promise.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/solver/linear/detail/covering.hpp"

namespace mercer {
namespace {

/// Points of a square, and who lies within a distance of whom.
struct Points {
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> members{};
    std::vector<double> cost{};

    Points(std::size_t count, double radius, std::uint64_t seed) {
        Random random(seed);
        std::vector<double> x(count), y(count);
        for (std::size_t i = 0; i < count; ++i) {
            x[i] = random.uniform();
            y[i] = random.uniform() * random.uniform();
        }
        for (std::size_t i = 0; i < count; ++i) {
            for (std::size_t j = 0; j < count; ++j) {
                if (std::hypot(x[i] - x[j], y[i] - y[j]) <= radius) {
                    members.push_back(static_cast<std::uint32_t>(j));
                }
            }
            starts.push_back(members.size());
            cost.push_back(random.uniform(0.5, 2) / static_cast<double>(starts[i + 1] - starts[i]));
        }
    }
    Covering problem() const { return {starts, members, cost}; }
    double least_cover(const std::vector<double>& weights) const {
        double least = infinite;
        for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
            double sum = 0;
            for (std::size_t e = starts[i]; e < starts[i + 1]; ++e) sum += weights[members[e]];
            least = std::min(least, sum);
        }
        return least;
    }
    LinearSolution by_simplex() const {
        LinearProgram p;
        for (std::size_t i = 0; i < cost.size(); ++i) p.add_row(1, infinite);
        for (std::size_t i = 0; i < cost.size(); ++i) {
            std::vector<LinearProgram::Entry> entries;
            for (std::size_t e = starts[i]; e < starts[i + 1]; ++e) {
                entries.emplace_back(members[e], 1.0);
            }
            p.add_column(cost[i], 0, infinite, entries);
        }
        return solve(p);
    }
};

TEST(Covering, BracketsTheOptimumOfTheProgram) {
    for (const double radius : {0.03, 0.1, 0.3}) {
        SCOPED_TRACE(radius);
        const Points points(400, radius, 5);
        const LinearSolution exact = points.by_simplex();
        ASSERT_EQ(exact.status, LinearStatus::optimal);
        const CoveringSolution found = cover(points.problem(), {.gap = 1e-3});
        EXPECT_EQ(found.status, LinearStatus::optimal);
        EXPECT_GE(points.least_cover(found.weights), 1 - 1e-12);
        EXPECT_LE(found.bound, exact.objective * (1 + 1e-9));
        EXPECT_GE(found.objective, exact.objective * (1 - 1e-7));
        EXPECT_LE(found.objective - found.bound, 1e-3 * found.objective);
        // Prices of a corner are repaired to a bound that is as good.
        const double bound = covering_bound(points.problem(), exact.prices);
        EXPECT_LE(bound, exact.objective * (1 + 1e-9));
        EXPECT_GE(bound, exact.objective * (1 - 1e-5));
    }
}

TEST(Covering, ProvesItsBoundsWheneverItIsStopped) {
    const Points points(300, 0.15, 6);
    const double optimum = points.by_simplex().objective;
    for (const std::size_t limit : {0UL, 40UL, 200UL}) {
        const CoveringSolution early =
            cover(points.problem(), {.gap = 1e-9, .iteration_limit = limit});
        EXPECT_EQ(early.status, LinearStatus::failed);
        EXPECT_EQ(early.iterations, limit);
        EXPECT_GE(points.least_cover(early.weights), 1 - 1e-12);
        EXPECT_LE(early.bound, optimum * (1 + 1e-9));
        EXPECT_GE(early.objective, optimum * (1 - 1e-7));
    }
    const CoveringSolution told =
        cover(points.problem(), {.gap = 1e-9, .progress = [](const Moment&) { return false; }});
    EXPECT_EQ(told.status, LinearStatus::cancelled);
    EXPECT_GE(points.least_cover(told.weights), 1 - 1e-12);
}

TEST(Covering, IsTheSameForAnyNumberOfThreads) {
    const Points points(1500, 0.1, 7);
    std::vector<std::vector<double>> found;
    for (const std::size_t threads : {1UL, 3UL}) {
        const ThreadLimit limit(threads);
        found.push_back(cover(points.problem(), {.iteration_limit = 200}).weights);
    }
    EXPECT_EQ(found[0], found[1]);
}

}  // namespace
}  // namespace mercer
