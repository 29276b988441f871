// Kernels that are nothing far away: sums skip what they cannot tell from 0, and nothing else.
#include "mercer/gram/locality/detail/locality.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/gram/operators.hpp"

namespace mercer {
namespace {

std::optional<Reach> reach_for(const char* kernel, double share, std::size_t columns = 5) {
    return reach_of(compile(Kernel::parse(kernel), columns), share);
}

/// Rows of one of several categories, 0 and 1 in columns of their own, and some numbers.
Rows rows_with_categories(std::size_t n, std::size_t categories, std::size_t numbers) {
    Random random(3);
    const std::size_t width = categories + numbers;
    std::vector<float> values(n * width, 0.0F);
    for (std::size_t i = 0; i < n; ++i) {
        values[i * width + random.below(categories)] = 1;
        for (std::size_t k = 0; k < numbers; ++k) {
            values[i * width + categories + k] = static_cast<float>(random.uniform());
        }
    }
    return Rows::dense(std::move(values), width);
}

std::vector<double> some_weights(std::size_t n) {
    Random random(8);
    std::vector<double> weights(n);
    for (double& weight : weights) weight = random.normal();
    return weights;
}

/// Σ_i weights_i k(x_i, x_j) by the formula of the Gaussian, in double precision.
double exact_sum(const Rows& x, double gamma, std::span<const double> weights, std::size_t j) {
    std::vector<double> a(x.columns()), b(x.columns());
    x.copy_row(j, b);
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        x.copy_row(i, a);
        double squared = 0;
        for (std::size_t k = 0; k < a.size(); ++k) squared += (a[k] - b[k]) * (a[k] - b[k]);
        sum += weights[i] * std::exp(-gamma * squared);
    }
    return sum;
}

TEST(Locality, TheReachOfAGaussianIsWhereItHasFallenToTheShare) {
    const auto reach = reach_for("rbf(gamma=2)", 1e-12);
    ASSERT_TRUE(reach);
    const double squared = std::log(1e12) / 2;
    EXPECT_GT(reach->squared, squared);
    EXPECT_LT(reach->squared, 1.01 * squared);
    EXPECT_NEAR(reach->nothing, 1e-12, 1e-15);
}

TEST(Locality, TheReachOfACombinationCoversItsWidestPart) {
    const auto wide = reach_for("rbf(gamma=0.5)", 1e-12);
    const auto sum = reach_for("3*rbf(gamma=2) + 0.5*rbf(gamma=0.5)", 1e-12);
    const auto product = reach_for("rbf(gamma=2) * rbf(gamma=0.5)", 1e-12);
    const auto laplacian = reach_for("laplacian(gamma=2)", 1e-12);
    ASSERT_TRUE(wide && sum && product);
    EXPECT_GT(sum->squared, 0.9 * wide->squared);
    EXPECT_NEAR(sum->nothing, 3.5e-12, 1e-15);
    EXPECT_LT(product->squared, wide->squared);
    for (const auto& [found, f] :
         {std::pair{sum, +[](double t) { return 3 * std::exp(-2 * t) + 0.5 * std::exp(-t / 2); }},
          std::pair{product, +[](double t) { return std::exp(-2.5 * t); }}}) {
        EXPECT_LT(f(found->squared), found->nothing);
        EXPECT_GT(f(0.95 * found->squared), found->nothing);
    }
    if (laplacian) {
        EXPECT_LT(std::exp(-2 * std::sqrt(laplacian->squared)), laplacian->nothing);
    }
}

TEST(Locality, KernelsThatDoNotFallOffHaveNoReach) {
    for (const char* kernel :
         {"linear", "polynomial(degree=2)", "rbf(gamma=1) + 0.1", "rbf(gamma=1) + linear",
          "sigmoid(gamma=1)", "rbf(gamma=1)[0:2] * rbf(gamma=1)[2:5]", "normalize(rbf(gamma=1))"}) {
        EXPECT_FALSE(reach_for(kernel, 1e-12)) << kernel;
    }
}

TEST(Locality, TheOrderKeepsCategoriesTogether) {
    const std::size_t n = 8000, categories = 20;
    const Rows x = rows_with_categories(n, categories, 3);
    const Gram<float> gram(rbf({.gamma = 32.0}), x);
    const std::vector<std::size_t> order = gram.near_order(gram.reference());
    ASSERT_EQ(order.size(), n);
    std::vector<std::size_t> sorted = order;
    std::ranges::sort(sorted);
    for (std::size_t i = 0; i < n; ++i) ASSERT_EQ(sorted[i], i);
    const auto category = [&](std::size_t i) {
        std::vector<double> row(x.columns());
        x.copy_row(i, row);
        return std::ranges::find(row, 1.0) - row.begin();
    };
    std::size_t changes = 0;
    for (std::size_t i = 1; i < n; ++i) {
        changes += category(order[i]) != category(order[i - 1]) ? 1 : 0;
    }
    EXPECT_EQ(changes, categories - 1);
    EXPECT_FALSE(gram.is_local(gram.reference()));
    EXPECT_TRUE(gram.is_local(gram.select_among(gram.reference(), order)));
}

TEST(Locality, RowsStayWhereTheyAreWhenTheKernelReachesFar) {
    const Rows x = rows_with_categories(8000, 20, 3);
    const Gram<float> wide(rbf({.gamma = 0.5}), x);
    EXPECT_TRUE(wide.near_order(wide.reference()).empty());
    const Gram<float> other(Kernel::parse("linear"), x);
    EXPECT_TRUE(other.near_order(other.reference()).empty());
    EXPECT_FALSE(other.is_local(other.reference()));
}

/// Some rows and columns in any order, columns repeated: the values of a block, but that what is
/// nothing is 0, and few of them computed.
TEST(Locality, TilesHaveTheValuesThatAreSomething) {
    const Gram<float> gram(rbf({.gamma = 32.0}), rows_with_categories(6000, 20, 3));
    const auto order = gram.near_order(gram.reference());
    const Points<float> points = gram.select_among(gram.reference(), order);
    const auto op = make_operator(gram, points, {.reuse = Reuse::marked});
    Random random(4);
    std::vector<std::size_t> which, columns;
    for (std::size_t k = 0; k < 300; ++k) which.push_back(random.below(6000));
    for (std::size_t k = 0; k < 1100; ++k) columns.push_back(random.below(6000));
    std::ranges::sort(which);
    columns[7] = columns[9] = columns[8];
    Matrix<float> tile(which.size(), columns.size(), 5.0F), block(which.size(), columns.size());
    op->tile(which, columns, tile.view());
    EXPECT_LT(op->evaluations(), which.size() * columns.size() / 4);
    gram.block(gram.select_among(points, which), gram.select_among(points, columns), block.view());
    std::size_t near = 0;
    for (std::size_t k = 0; k < tile.values().size(); ++k) {
        const float wanted = block.values()[k] < 0x1p-40F ? 0.0F : block.values()[k];
        EXPECT_NEAR(tile.values()[k], wanted, 1e-6 * wanted);
        near += wanted > 0 ? 1 : 0;
    }
    EXPECT_GT(near, 1000U);
    op->tile({}, columns, Matrix<float>(0, columns.size()).view());
    op->tile(which, {}, Matrix<float>(which.size(), 0).view());
}

/// Short rows by differences, and long ones of bytes.
class LocalSums : public ::testing::TestWithParam<std::size_t> {};

TEST_P(LocalSums, SkippedBlocksChangeNoDigitAndSaveMostOfTheWork) {
    const std::size_t categories = GetParam(), n = categories < 64 ? 6000 : 20000;
    const Rows x = rows_with_categories(n, categories, categories < 64 ? 3 : 0);
    const double gamma = 32;
    const Gram<float> gram(rbf({.gamma = gamma}), x);
    const std::vector<std::size_t> order = gram.near_order(gram.reference());
    ASSERT_FALSE(order.empty());
    const auto points = gram.select_among(gram.reference(), order);
    const std::vector<double> weights = some_weights(n);
    std::vector<double> ordered(n), given(n, 0.0), near(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) ordered[i] = weights[order[i]];
    const std::uint64_t all = gram.add_product(gram.reference(), gram.reference(), weights, given);
    const std::uint64_t few = gram.add_product(points, points, ordered, near);
    EXPECT_LT(few, all / 4);
    for (std::size_t i = 0; i < n; ++i) ASSERT_NEAR(near[i], given[order[i]], 1e-10) << i;
    for (std::size_t i = 0; i < n; i += 1601) {
        EXPECT_NEAR(given[i], exact_sum(x, gamma, weights, i), 2e-4) << i;
    }
    // However the columns are cut into tiles: nothing that is skipped would have counted.
    std::vector<std::size_t> some;
    for (std::size_t i = 100; i < n; i += 3) some.push_back(i);
    std::vector<double> part(some.size(), 0.0);
    gram.add_product(points, gram.select_among(points, some), ordered, part);
    for (std::size_t c = 0; c < some.size(); ++c) ASSERT_EQ(part[c], near[some[c]]) << c;
}

INSTANTIATE_TEST_SUITE_P(Widths, LocalSums, ::testing::Values(12, 100));

TEST(Locality, OperatorsOfLocalKernelsAddUpTheSameWhateverTheThreads) {
    const std::size_t n = 5000;
    const Gram<float> gram(rbf({.gamma = 32.0}), rows_with_categories(n, 15, 2));
    const auto order = gram.near_order(gram.reference());
    const auto points = gram.select_among(gram.reference(), order);
    const auto op = make_operator(gram, points, {.reuse = Reuse::marked});
    std::vector<std::size_t> which;
    for (std::size_t i = 7; i < n; i += 11) which.push_back(i);
    const std::vector<double> weights = some_weights(which.size());
    std::vector<double> one(n, 0.0), two(n, 0.0), rows(n, 0.0);
    {
        const ThreadLimit limit(1);
        op->add_rows(which, weights, Columns::all(), std::nullopt, one);
    }
    const ThreadLimit limit(3);
    op->add_rows(which, weights, Columns::all(), std::nullopt, two);
    EXPECT_EQ(one, two);
    Matrix<float> block(which.size(), n);
    op->rows(which, block.view());
    for (std::size_t r = 0; r < which.size(); ++r) {
        for (std::size_t j = 0; j < n; ++j)
            rows[j] += weights[r] * static_cast<double>(block(r, j));
    }
    for (std::size_t j = 0; j < n; ++j) ASSERT_NEAR(one[j], rows[j], 1e-9);
}

}  // namespace
}  // namespace mercer
