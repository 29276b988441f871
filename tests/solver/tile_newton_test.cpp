// The step of all free variables of a tile: where it ends is checked against the conditions of
// optimality, not against another solver.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/random.hpp"
#include "mercer/solver/tiles/detail/tile.hpp"

namespace mercer {
namespace {

/// A tile of two groups over a Gaussian matrix of points on a line: eigenvalues from n to 1e-4.
Tile<double> smooth_tile(std::size_t half, double upper, std::uint64_t seed) {
    Random random(seed);
    Tile<double> tile;
    const std::size_t n = 2 * half;
    tile.size = tile.stride = n;
    tile.first = {0, 0, half, n};
    tile.equalities = 2;
    std::vector<double> x(n);
    for (double& value : x) value = 3 * random.uniform();
    tile.h.resize(n * n);
    for (std::size_t k = 0; k < n; ++k) {
        for (std::size_t l = 0; l < n; ++l) {
            tile.h[k * n + l] = std::exp(-std::pow(x[k] - x[l], 2)) + (k == l ? 1e-4 : 0);
        }
        tile.variable.push_back(k);
        tile.diagonal.push_back(tile.h[k * n + k]);
        tile.lower.push_back(0);
        tile.upper.push_back(upper);
        tile.u.push_back(upper * (0.4 + 0.2 * random.uniform()));
        tile.gradient.push_back(random.uniform() - 0.5);
    }
    return tile;
}

double sum(const std::vector<double>& u, std::size_t first, std::size_t last) {
    return std::accumulate(u.begin() + static_cast<std::ptrdiff_t>(first),
                           u.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
}

/// ½ d'Hd + g'd of the way from `before` to `after`.
double change_of_objective(const Tile<double>& before, const Tile<double>& after) {
    double change = 0;
    for (std::size_t k = 0; k < before.size; ++k) {
        const double d = after.u[k] - before.u[k];
        change += 0.5 * (before.gradient[k] + after.gradient[k]) * d;
    }
    return change;
}

void expect_consistent(const Tile<double>& before, const Tile<double>& after) {
    for (std::size_t group = 0; group < 3; ++group) {
        EXPECT_NEAR(sum(before.u, before.first[group], before.first[group + 1]),
                    sum(after.u, after.first[group], after.first[group + 1]),
                    1e-9 * before.upper[0] * static_cast<double>(before.size));
    }
    double scale = 1;
    for (std::size_t k = 0; k < before.size; ++k) scale += std::abs(after.u[k] - before.u[k]);
    for (std::size_t k = 0; k < before.size; ++k) {
        EXPECT_GE(after.u[k], after.lower[k]);
        EXPECT_LE(after.u[k], after.upper[k]);
        double gradient = before.gradient[k];
        for (std::size_t l = 0; l < before.size; ++l) {
            gradient += before.row(k)[l] * (after.u[l] - before.u[l]);
        }
        EXPECT_NEAR(after.gradient[k], gradient, 1e-11 * scale);
    }
    EXPECT_LT(change_of_objective(before, after), 0);
}

/// The largest difference of gradients among free variables of a group: 0 at their minimum.
double disagreement(const Tile<double>& tile) {
    double worst = 0;
    for (std::size_t group = 1; group < 3; ++group) {
        double low = HUGE_VAL, high = -HUGE_VAL;
        for (std::size_t k = tile.first[group]; k < tile.first[group + 1]; ++k) {
            if (tile.u[k] <= tile.lower[k] || tile.u[k] >= tile.upper[k]) continue;
            low = std::min(low, tile.gradient[k]);
            high = std::max(high, tile.gradient[k]);
        }
        worst = std::max(worst, high - low);
    }
    return worst;
}

TEST(TileNewton, ReachesTheMinimumOfFreeVariablesInOneStep) {
    // A box so wide that nothing meets its bounds.
    const Tile<double> before = smooth_tile(40, 1e6, 1);
    Tile<double> after = before;
    ASSERT_TRUE(newton_on_tile(after));
    expect_consistent(before, after);
    EXPECT_LT(disagreement(after), 1e-4 * disagreement(before));
}

TEST(TileNewton, ThoseThatMeetABoundStayThereAndTheOthersReachTheirMinimum) {
    for (const std::uint64_t seed : {2UL, 3UL, 4UL}) {
        const Tile<double> before = smooth_tile(40, 5000, seed);
        Tile<double> after = before;
        ASSERT_TRUE(newton_on_tile(after));
        expect_consistent(before, after);
        const auto bounded = [&](double u) { return u == 0 || u == 5000; };
        EXPECT_GT(std::ranges::count_if(after.u, bounded), 0);
        EXPECT_LT(std::ranges::count_if(after.u, bounded), 80);
        EXPECT_LT(disagreement(after), 1e-3 * disagreement(before));
    }
}

TEST(TileNewton, ATileThatIsSolvedStays) {
    Tile<double> tile = smooth_tile(10, 1, 5);
    std::ranges::fill(tile.gradient, 0.25);
    const std::vector<double> u = tile.u;
    newton_on_tile(tile);
    for (std::size_t k = 0; k < u.size(); ++k) EXPECT_NEAR(tile.u[k], u[k], 1e-12);
}

TEST(TileNewton, TwoPointStepsAndAllTogetherEndAtTheSamePlace) {
    Tile<double> patient = smooth_tile(64, 1000, 6);
    Tile<double> hasty = patient;
    TileLimits limits{.tolerance = 1e-4, .curvature_floor = 1e-12, .steps = 20'000'000};
    limits.patience = 1'000'000;
    const TileOutcome slow = solve_group_tile(patient, limits);
    limits.patience = 1;
    const TileOutcome quick = solve_group_tile(hasty, limits);
    EXPECT_EQ(slow.newton_steps, 0u);
    EXPECT_GT(quick.newton_steps, 0u);
    EXPECT_LT(quick.steps, slow.steps / 10);
    const Tile<double> start = smooth_tile(64, 1000, 6);
    const double reached = change_of_objective(start, patient);
    EXPECT_NEAR(change_of_objective(start, hasty), reached, 1e-5 * std::abs(reached));
    EXPECT_LE(quick.violation, 1e-4);
}

TEST(TileNewton, WithoutFreeVariablesThereIsNothingToDoAndNothingToSay) {
    Tile<double> tile = smooth_tile(20, 1.0, 3);
    tile.u = tile.upper;
    const std::vector<double> before = tile.u;
    ::testing::internal::CaptureStdout();  // where BLAS complains of matrices without rows
    EXPECT_FALSE(newton_on_tile(tile));
    EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
    EXPECT_EQ(tile.u, before);
}

}  // namespace
}  // namespace mercer
