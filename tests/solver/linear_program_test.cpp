// Linear programs: small ones by hand, random ones by their own certificate.
#include <gtest/gtest.h>

#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/solver/linear/detail/linear_program.hpp"

namespace mercer {
namespace {

TEST(LinearProgram, OneByHand) {
    // minimise −x − 2y, x + y ≤ 4, x + 3y ≤ 6, 0 ≤ x ≤ 3, 0 ≤ y: at (3, 1), value −5.
    LinearProgram p;
    const std::size_t a = p.add_row(-infinite, 4), b = p.add_row(-infinite, 6);
    p.add_column(-1, 0, 3, {{a, 1.0}, {b, 1.0}});
    p.add_column(-2, 0, infinite, {{a, 1.0}, {b, 3.0}});
    const LinearSolution s = solve(p);
    ASSERT_EQ(s.status, LinearStatus::optimal);
    EXPECT_NEAR(s.x[0], 3, 1e-9);
    EXPECT_NEAR(s.x[1], 1, 1e-9);
    EXPECT_NEAR(s.objective, -5, 1e-9);
    EXPECT_NEAR(s.dual_objective, -5, 1e-9);
    EXPECT_LE(s.infeasibility, 1e-9);
}

TEST(LinearProgram, RandomOnesProveTheirOptimum) {
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        Random random(seed);
        LinearProgram p;
        for (std::size_t i = 0; i < 30; ++i) p.add_row(1 + random.uniform(), infinite);
        for (std::size_t j = 0; j < 60; ++j) {
            std::vector<LinearProgram::Entry> entries;
            for (std::size_t i = 0; i < 30; ++i) {
                if (random.uniform() < 0.3) entries.emplace_back(i, random.uniform(0.1, 2));
            }
            p.add_column(random.uniform(0.5, 2), 0, j % 3 == 0 ? 2 : infinite, entries);
        }
        const LinearSolution s = solve(p);
        ASSERT_EQ(s.status, LinearStatus::optimal);
        EXPECT_LE(s.infeasibility, 1e-6);
        EXPECT_NEAR(s.objective, s.dual_objective, 1e-6 * s.objective);
    }
}

TEST(LinearProgram, GrownColumnByColumnEndsWhereTheWholeDoes) {
    Random random(3);
    LinearProgram whole;
    for (std::size_t i = 0; i < 20; ++i) whole.add_row(1, infinite);
    GrowingProgram grown(whole);
    for (std::size_t j = 0; j < 50; ++j) {
        std::vector<LinearProgram::Entry> entries;
        for (std::size_t i = 0; i < 20; ++i) {
            if (j < 20 ? i == j : random.uniform() < 0.4) entries.emplace_back(i, 1.0);
        }
        const double cost = random.uniform(1, 2);
        whole.add_column(cost, 0, infinite, entries);
        grown.add_column(cost, 0, infinite, entries);
        if (j < 19) continue;
        const LinearSolution a = grown.solve(), b = solve(whole);
        ASSERT_EQ(a.status, LinearStatus::optimal);
        EXPECT_NEAR(a.objective, b.objective, 1e-7);
        EXPECT_NEAR(a.objective, a.dual_objective, 1e-6);
    }
}

TEST(LinearProgram, WhatHasNoSolutionSaysSo) {
    LinearProgram none;
    const std::size_t r = none.add_row(2, infinite);
    none.add_column(1, 0, 1, {{r, 1.0}});
    EXPECT_EQ(solve(none).status, LinearStatus::infeasible);
    LinearProgram endless;
    const std::size_t q = endless.add_row(-infinite, 2);
    endless.add_column(-1, 0, infinite, {{q, -1.0}});
    EXPECT_EQ(solve(endless).status, LinearStatus::unbounded);
    EXPECT_EQ(solve(none, {.progress = [](const Moment&) { return false; }}).status,
              LinearStatus::cancelled);
}

TEST(LinearProgram, BadNumbersAreRefused) {
    LinearProgram p;
    EXPECT_THROW(p.add_row(2, 1), InvalidInput);
    EXPECT_THROW(p.add_row(std::nan(""), 1), InvalidInput);
    EXPECT_THROW(p.add_column(1, 0, 1, {{0, 1.0}}), InvalidInput);
    p.add_row(0, 1);
    EXPECT_THROW(p.add_column(infinite, 0, 1, {}), InvalidInput);
    EXPECT_THROW(p.add_column(1, 0, 1, {{0, std::nan("")}}), InvalidInput);
}

}  // namespace
}  // namespace mercer
