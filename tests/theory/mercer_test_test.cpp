// Known definite kernels pass, known indefinite ones are refuted by a vector that anyone can check.
#include "mercer/theory/mercer_test.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/error.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

std::vector<double> row(const Rows& rows, std::size_t i) {
    std::vector<double> result(rows.columns());
    rows.copy_row(i, result);
    return result;
}

/// Σ a_i a_j k(x_i, x_j) by the definition of the kernel, pair by pair.
double by_definition(const MercerTest& test, const Rows& rows) {
    double sum = 0;
    for (std::size_t i = 0; i < test.rows.size(); ++i) {
        for (std::size_t j = 0; j < test.rows.size(); ++j) {
            sum += test.witness[i] * test.witness[j] *
                   test.kernel(row(rows, test.rows[i]), row(rows, test.rows[j]));
        }
    }
    return sum;
}

TEST(MercerTest, DefiniteKernelsHaveNoNegativeEigenvalue) {
    const Dataset iris = embedded("iris");
    for (const char* text : {"rbf(gamma=0.3)", "linear", "polynomial(degree=3)",
                             "laplacian(gamma=1)", "rbf(gamma=1)*linear + 2", "matern(nu=2.5)"}) {
        const MercerTest test = mercer_test(Kernel::parse(text), iris.x);
        EXPECT_FALSE(test.indefinite) << text << " " << test.smallest;
        EXPECT_TRUE(test.witness.empty()) << text;
        EXPECT_EQ(test.rows.size(), 150U);
        ASSERT_EQ(test.values.size(), 150U);
        EXPECT_EQ(test.values.front(), test.largest);
        EXPECT_EQ(test.values.back(), test.smallest);
        EXPECT_GE(test.effective_rank, 1 - 1e-9) << text;
        EXPECT_LE(test.effective_rank, static_cast<double>(test.numerical_rank) + 1e-9) << text;
    }
}

TEST(MercerTest, ALinearKernelHasTheRankOfItsColumns) {
    const MercerTest test = mercer_test(linear(), embedded("iris").x);
    EXPECT_EQ(test.numerical_rank, 4U);
    // The trace is the sum of squared lengths.
    const Dataset iris = embedded("iris");
    double squares = 0;
    for (std::size_t i = 0; i < iris.size(); ++i) {
        for (const double x : row(iris.x, i)) squares += x * x;
    }
    EXPECT_NEAR(test.trace, squares, 1e-9 * squares);
}

TEST(MercerTest, IndefiniteKernelsAreRefutedByAWitness) {
    const Dataset data = make("blobs", {.n = 60, .columns = 3});
    for (const char* text :
         {"sigmoid(gamma=1,coef0=-1)", "-1*rbf(gamma=1)", "ball(2)", "linear - 3*rbf(gamma=0.1)"}) {
        const MercerTest test = mercer_test(Kernel::parse(text), data.x);
        ASSERT_TRUE(test.indefinite) << text;
        ASSERT_EQ(test.witness.size(), 60U);
        const double length =
            std::inner_product(test.witness.begin(), test.witness.end(), test.witness.begin(), 0.0);
        EXPECT_NEAR(length, 1, 1e-12);
        const double value = by_definition(test, data.x);
        EXPECT_LT(value, 0) << text;
        EXPECT_NEAR(value, test.smallest, 1e-9 * std::abs(test.largest) + test.tolerance) << text;
        EXPECT_NEAR(value, test.witness_value, 1e-9 * std::abs(test.largest) + test.tolerance);
    }
}

TEST(MercerTest, ConditionallyDefiniteKernelsAreNegativeOnlyOffTheHyperplane) {
    const Dataset iris = embedded("iris");
    const MercerTest distance = mercer_test(negative_distance(1.0), iris.x);
    EXPECT_TRUE(distance.indefinite);
    EXPECT_FALSE(distance.conditionally_indefinite) << distance.smallest_centered;
    // −‖x−z‖³ is not conditionally positive definite of order 1.
    const MercerTest cube = mercer_test(negative_distance(3.0), iris.x);
    EXPECT_TRUE(cube.conditionally_indefinite);
}

TEST(MercerTest, ASampleOfTheRowsIsDrawnOnceAndResolvedOnAll) {
    const Dataset digits = embedded("digits");
    const MercerTest test =
        mercer_test(Kernel::parse("rbf(gamma=scale)"), digits.x, {}, {.max_rows = 100, .seed = 4});
    const MercerTest again =
        mercer_test(Kernel::parse("rbf(gamma=scale)"), digits.x, {}, {.max_rows = 100, .seed = 4});
    ASSERT_EQ(test.rows.size(), 100U);
    EXPECT_EQ(test.rows, again.rows);
    EXPECT_TRUE(std::is_sorted(test.rows.begin(), test.rows.end()));
    EXPECT_EQ(std::adjacent_find(test.rows.begin(), test.rows.end()), test.rows.end());
    const MercerTest other =
        mercer_test(Kernel::parse("rbf(gamma=scale)"), digits.x, {}, {.max_rows = 50, .seed = 5});
    EXPECT_EQ(test.kernel, other.kernel) << "gamma does not depend on the rows drawn";
    EXPECT_FALSE(test.kernel.needs_data());
}

TEST(MercerTest, ManyRowsGoThroughLanczosAndAgreeWithTheStoredMatrix) {
    const Dataset data = make("rings", {.n = 4200});
    const Kernel kernel = Kernel::parse("rbf(gamma=0.5) - 1");
    const MercerTest all = mercer_test(kernel, data.x, {}, {.max_rows = 0});
    EXPECT_EQ(all.rows.size(), 4200U);
    EXPECT_TRUE(all.values.empty());
    EXPECT_TRUE(all.converged);
    ASSERT_TRUE(all.indefinite);
    EXPECT_LT(all.witness_value, 0);
    EXPECT_FALSE(all.conditionally_indefinite) << "pd minus a constant is conditionally pd";
    // Eigenvalues grow with the number of rows: a part of them is close, in proportion.
    const MercerTest part = mercer_test(kernel, data.x, {}, {.max_rows = 1000});
    EXPECT_NEAR(all.largest / 4200, part.largest / 1000, 0.1 * part.largest / 1000);
    EXPECT_LE(part.largest, all.largest) << "interlacing";
    EXPECT_GE(part.smallest, all.smallest - all.tolerance) << "interlacing";
}

TEST(MercerTest, ManyRowsOfADefiniteKernelArePassedByLanczos) {
    const Dataset data = make("rings", {.n = 4200});
    const MercerTest all =
        mercer_test(Kernel::parse("rbf(gamma=0.5)"), data.x, {}, {.max_rows = 0});
    const MercerTest part = mercer_test(Kernel::parse("rbf(gamma=0.5)"), data.x);
    EXPECT_FALSE(all.indefinite) << all.smallest;
    EXPECT_TRUE(all.converged);
    EXPECT_NEAR(all.trace, 4200, 1e-6);
    EXPECT_NEAR(all.effective_rank, part.effective_rank, 0.1 * part.effective_rank);
}

TEST(MercerTest, PairsTellOfSymmetryAndOfCauchySchwarz) {
    const Dataset data = make("blobs", {.n = 50, .columns = 2});
    const MercerTest good = mercer_test(Kernel::parse("rbf(gamma=1) + linear"), data.x);
    EXPECT_FALSE(good.asymmetric) << good.asymmetry;
    EXPECT_EQ(good.cauchy_schwarz_broken, 0U);
    // x_0 z_1 is no symmetric function.
    const Kernel crooked = function("crooked", [](auto x, auto z) { return x[0] * z[1]; });
    const MercerTest bad = mercer_test(crooked, data.x);
    EXPECT_TRUE(bad.asymmetric);
    EXPECT_GT(bad.asymmetry, 0.1);
    // k(x,x) = 0 and k(x,z) < 0: each pair is a proof.
    const MercerTest distance = mercer_test(negative_distance(1.0), data.x);
    EXPECT_EQ(distance.cauchy_schwarz_broken, 50U * 49U / 2U);
    EXPECT_TRUE(distance.indefinite);
}

TEST(MercerTest, NoRowsAreRefused) {
    EXPECT_THROW(mercer_test(linear(), Rows()), InvalidInput);
}

}  // namespace
}  // namespace mercer
