// Codebooks: the promise on every row, the linear program's optimum, and the files of codes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/groups/quantiser.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/solver/linear/detail/linear_program.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;

double euclidean(std::span<const double> x, std::span<const double> z) {
    double sum = 0;
    for (std::size_t k = 0; k < x.size(); ++k) sum += (x[k] - z[k]) * (x[k] - z[k]);
    return std::sqrt(sum);
}

Rows square(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(2 * n);
    for (double& v : values) v = random.uniform();
    return Rows::dense(std::move(values), 2);
}

/// Every row within R of its code, which is the nearest; the figures are those of the rows.
template <class Distance>
void expect_promise(const Codebook& book, const Rows& rows, double radius, Distance&& distance) {
    const auto x = full(rows), v = full(book.codes);
    double largest = 0, sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        double least = 1e300;
        for (const auto& code : v) least = std::min(least, distance(x[i], code));
        const double own = distance(x[i], v[book.nearest[i]]);
        ASSERT_LE(own, radius) << "row " << i;
        ASSERT_NEAR(own, least, 1e-7);
        largest = std::max(largest, own);
        sum += own * own;
    }
    EXPECT_NEAR(book.largest, largest, 1e-7);
    EXPECT_LE(book.largest, radius);
    EXPECT_NEAR(book.root_mean_square, std::sqrt(sum / static_cast<double>(x.size())), 1e-7);
    for (std::size_t c = 0; c < v.size(); ++c) EXPECT_EQ(v[c], x[book.chosen[c]]);
}

TEST(Quantiser, KeepsItsPromiseOnEveryRow) {
    for (const double radius : {0.1, 0.2, 0.3, 0.4}) {
        const Rows rows = square(400, 1);
        const Codebook book = quantise(rows, {.radius = radius});
        expect_promise(book, rows, radius, euclidean);
        EXPECT_EQ(book.status, FitStatus::converged);
        EXPECT_LE(book.bound, book.objective * (1 + 1e-9));
        EXPECT_GE(book.bound, book.objective * (1 - 2e-3));
    }
    // Distances exactly R count: a row of points one apart needs a third of them.
    std::vector<double> line(30);
    for (std::size_t i = 0; i < line.size(); ++i) line[i] = 1e3 + static_cast<double>(i);
    const Codebook book = quantise(Rows::dense(line, 1), {.radius = 1});
    EXPECT_EQ(book.codes.size(), 10U);
    EXPECT_EQ(book.largest, 1);
}

TEST(Quantiser, SolvesThePrintedProgram) {
    const Rows rows = square(60, 2);
    const auto x = full(rows);
    const double radius = 0.25;
    LinearProgram p;
    for (std::size_t n = 0; n < x.size(); ++n) p.add_row(1, infinite);
    for (const auto& centre : x) {
        std::vector<LinearProgram::Entry> entries;
        for (std::size_t n = 0; n < x.size(); ++n) {
            if (euclidean(centre, x[n]) <= radius) entries.emplace_back(n, 1.0);
        }
        p.add_column(1 / static_cast<double>(entries.size()), 0, infinite, entries);
    }
    const Codebook book = quantise(rows, {.radius = radius, .gap = 0});
    EXPECT_NEAR(book.objective, solve(p).objective, 1e-7);
    // No code is superfluous after pruning.
    for (std::size_t out = 0; out < book.chosen.size(); ++out) {
        bool needed = false;
        for (const auto& row : x) {
            bool covered = false;
            for (std::size_t c = 0; c < book.chosen.size(); ++c) {
                covered = covered || (c != out && euclidean(row, x[book.chosen[c]]) <= radius);
            }
            needed = needed || !covered;
        }
        EXPECT_TRUE(needed);
    }
}

TEST(Quantiser, ColumnsGeneratedOneByOneEndAtTheSameValue) {
    const Rows rows = square(1500, 3);  // dense neighbourhoods: generated
    const Codebook book = quantise(rows, {.radius = 0.25, .gap = 1e-4});
    expect_promise(book, rows, 0.25, euclidean);
    EXPECT_GE(book.bound, book.objective * (1 - 1e-4) - 1e-12);
}

TEST(Quantiser, WhatTheSimplexMethodLeavesUnfinishedIsCoveredUpToAGap) {
    const Rows rows = square(1000, 3);
    const Codebook book = quantise(rows, {.radius = 0.05, .simplex_steps = 50});
    EXPECT_EQ(book.status, FitStatus::converged);
    expect_promise(book, rows, 0.05, euclidean);
    EXPECT_GE(book.bound, book.objective * (1 - 0.02));
    const Codebook exact = quantise(rows, {.radius = 0.05});
    EXPECT_LE(book.bound, exact.objective * (1 + 1e-9));
    EXPECT_GE(book.objective, exact.bound * (1 - 1e-9));
    EXPECT_NE(book.objective, exact.objective);  // it was left unfinished
}

TEST(Quantiser, OtherDistances) {
    const Rows rows = square(200, 4);
    const auto city = [](std::span<const double> x, std::span<const double> z) {
        return std::fabs(x[0] - z[0]) + std::fabs(x[1] - z[1]);
    };
    expect_promise(quantise(rows, {.radius = 0.2, .distance = city}), rows, 0.2, city);
    const Kernel k = rbf({.gamma = 3.0});
    const auto induced = [&](std::span<const double> x, std::span<const double> z) {
        return std::sqrt(std::max(0.0, k(x, x) + k(z, z) - 2 * k(x, z)));
    };
    const Codebook book = quantise(rows, {.radius = 0.5, .kernel = k});
    expect_promise(book, rows, 0.5 + 1e-9, induced);
    EXPECT_LT(book.codes.size(), 40U);
}

TEST(Quantiser, LbgOfTheSameSizeHasTheSmallerMeanAndNoPromise) {
    const Rows rows = square(600, 5);
    const Codebook book = quantise(rows, {.radius = 0.15});
    const Codebook means = lbg_codebook(rows, book.codes.size());
    EXPECT_EQ(means.codes.size(), book.codes.size());
    EXPECT_LT(means.root_mean_square, book.root_mean_square);
    // Each code is the mean of its rows.
    const auto x = full(rows), v = full(means.codes);
    for (std::size_t c = 0; c < v.size(); ++c) {
        std::vector<double> mean(2, 0.0);
        double count = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            if (means.nearest[i] != c) continue;
            ++count;
            mean[0] += x[i][0];
            mean[1] += x[i][1];
        }
        ASSERT_GT(count, 0);
        EXPECT_NEAR(mean[0] / count, v[c][0], 2e-2);
        EXPECT_NEAR(mean[1] / count, v[c][1], 2e-2);
    }
}

TEST(Quantiser, LbgBegunAtTheProgramsCodesLowersTheMeanAndEndsAtAFixedPoint) {
    const Rows rows = make("moons", {.n = 400, .noise = 0.1, .seed = 2}).x;
    const Codebook first = quantise(rows, {.radius = 0.25});
    const Codebook means = lbg_codebook(rows, first.codes);
    EXPECT_EQ(means.status, FitStatus::converged);
    EXPECT_EQ(means.codes.size(), first.codes.size());
    EXPECT_LT(means.root_mean_square, 0.9 * first.root_mean_square);
    EXPECT_EQ(means.radius, 0) << "nothing is promised of single rows";
    // Each is the mean of its rows.
    std::vector<double> row(2), mean(2);
    for (std::size_t c = 0; c < means.codes.size(); ++c) {
        double x = 0, y = 0, count = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            if (means.nearest[i] != c) continue;
            rows.copy_row(i, row);
            x += row[0];
            y += row[1];
            ++count;
        }
        means.codes.copy_row(c, mean);
        ASSERT_GT(count, 0);
        EXPECT_NEAR(mean[0], x / count, 1e-5);
        EXPECT_NEAR(mean[1], y / count, 1e-5);
    }
    // It is where it began that decides: no seed.
    EXPECT_EQ(lbg_codebook(rows, first.codes).nearest, means.nearest);
    EXPECT_THROW(lbg_codebook(rows, Rows::dense(std::vector<double>(3), 3)), InvalidInput);
}

TEST(Quantiser, TheModelPredictsTheNearestCode) {
    Dataset data;
    data.x = square(300, 6);
    VectorQuantiserSettings settings{.radius = 0.2};
    settings.common.double_precision = true;
    const Model model = vector_quantiser(settings).fit(data);
    const Codebook book = quantise(data.x, {.radius = 0.2});
    const std::vector<double> code = load_from_memory(save_to_memory(model)).predict(data.x);
    const Matrix<double> f = model.decision(data.x);
    for (std::size_t i = 0; i < data.size(); ++i) {
        EXPECT_EQ(static_cast<std::size_t>(code[i]), book.nearest[i]);
        // f = −D².
        EXPECT_GE(f(i, static_cast<std::size_t>(code[i])), -0.2 * 0.2 - 1e-9);
    }
    EXPECT_EQ(model.report().figures.at("largest"), book.largest);
}

TEST(Quantiser, BadInputIsRefusedAndWorkCanBeStopped) {
    const Rows rows = square(100, 7);
    EXPECT_NE(message_of([&] { quantise(rows, {}); }).find("radius"), std::string::npos);
    EXPECT_THROW(quantise(rows, {.radius = std::nan("")}), InvalidInput);
    EXPECT_THROW(quantise(Rows(), {.radius = 1}), InvalidInput);
    EXPECT_THROW(quantise(rows, {.radius = 1, .memory_bytes = 1000}), InvalidInput);
    const auto backwards = [](std::span<const double>, std::span<const double>) { return -1.0; };
    EXPECT_THROW(quantise(rows, {.radius = 1, .distance = backwards}), InvalidInput);
    EXPECT_THROW(quantise(rows, {.radius = 1, .progress = [](const Moment&) { return false; }}),
                 Cancelled);
    // Stopped in the linear program, there is a codebook all the same.
    const Codebook early = quantise(rows, {.radius = 0.2, .progress = [](const Moment& m) {
                                               return m.task != "linear program";
                                           }});
    EXPECT_EQ(early.status, FitStatus::cancelled);
    expect_promise(early, rows, 0.2, euclidean);
}

}  // namespace
}  // namespace mercer
