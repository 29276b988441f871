// Nearest points in feature space against distances computed pair by pair.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/support.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/feature/neighbours.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;

/// Positions of the `count` nearest by the formula, of equals the first.
std::vector<std::uint32_t> by_hand(const Kernel& k, const std::vector<std::vector<double>>& points,
                                   const std::vector<double>& x, std::size_t count,
                                   std::size_t skip = static_cast<std::size_t>(-1)) {
    std::vector<std::pair<double, std::uint32_t>> all;
    for (std::size_t j = 0; j < points.size(); ++j) {
        if (j == skip) continue;
        const auto& z = points[j];
        all.emplace_back(k(z, z) - 2 * k(x, z), static_cast<std::uint32_t>(j));
    }
    std::ranges::sort(all);
    std::vector<std::uint32_t> result;
    for (std::size_t r = 0; r < count; ++r) result.push_back(all[r].second);
    return result;
}

void expect_nearest(const Kernel& kernel, const Rows& points, const Rows& x, std::size_t count) {
    const NeighbourSearch search(kernel, points);
    const auto p = full(points);
    const auto rows = full(x);
    const Neighbours found = search(x, count);
    ASSERT_EQ(found.size(), rows.size());
    const Matrix<double> squared = squared_distances(found, search.squared_lengths(x));
    for (std::size_t i = 0; i < rows.size(); ++i) {
        const auto expected = by_hand(search.kernel(), p, rows[i], count);
        const auto got = found.index.row(i);
        ASSERT_TRUE(std::ranges::equal(got, expected)) << kernel.text() << ", row " << i;
        const auto& z = p[expected.back()];
        const Kernel& k = search.kernel();
        const double d = k(rows[i], rows[i]) - 2 * k(rows[i], z) + k(z, z);
        ASSERT_NEAR(squared(i, count - 1), std::max(0.0, d), 1e-12 * (1 + std::abs(d)));
    }
    const Neighbours among = search.among(count);
    for (std::size_t i = 0; i < p.size(); ++i) {
        const auto expected = by_hand(search.kernel(), p, p[i], count, i);
        ASSERT_TRUE(std::ranges::equal(among.index.row(i), expected)) << kernel.text() << ", " << i;
    }
}

TEST(Neighbours, AreThoseOfTheFormulaForAnyKernel) {
    const Dataset data = make("blobs", {.n = 300, .noise = 2, .classes = 3, .columns = 7});
    const Dataset test =
        make("blobs", {.n = 40, .noise = 2, .seed = 4, .classes = 3, .columns = 7});
    for (const char* text :
         {"linear", "rbf(gamma=0.01)", "rbf(gamma=3)", "polynomial(degree=3)",
          "laplacian(gamma=0.2)", "negative_distance", "normalize(polynomial(degree=2))",
          "sigmoid(gamma=0.1)", "rbf(gamma=0.1)[0:3] + 0.1*linear[3:]"}) {
        expect_nearest(Kernel::parse(text), data.x, test.x, 4);
        expect_nearest(Kernel::parse(text), data.x.to_double(), test.x.to_double(), 4);
    }
}

TEST(Neighbours, NumbersFarFromTheOriginAreToldApart) {
    // In single precision blocks see next to nothing of these differences.
    Random random(5, 0);
    std::vector<float> values(400 * 3);
    for (float& v : values) v = 4096.0F + static_cast<float>(random.uniform());
    const Rows rows = Rows::dense(values, 3);
    const Rows some = rows.slice(0, 30);
    expect_nearest(linear(), rows, some, 5);
    expect_nearest(rbf({.gamma = 2.0}), rows, some, 5);
}

TEST(Neighbours, OfEqualsTheFirstIsNearer) {
    std::vector<float> values;
    for (int i = 0; i < 90; ++i) values.push_back(static_cast<float>(i % 3));
    const Rows rows = Rows::dense(values, 1);
    const NeighbourSearch search(linear(), rows);
    const Neighbours found = search(Rows::dense(std::vector<float>{1.2F}, 1), 4);
    EXPECT_EQ(found.index.values(), (std::vector<std::uint32_t>{1, 4, 7, 10}));
    const Neighbours among = search.among(2);
    EXPECT_EQ(among.index(1, 0), 4U);  // not itself
    EXPECT_EQ(among.index(4, 0), 1U);
    // Nothing tells any point from another: the first are taken, and soon.
    std::vector<float> far(5000);
    std::iota(far.begin(), far.end(), 0.0F);
    const NeighbourSearch narrow(rbf({.gamma = 1e6}), Rows::dense(far, 1));
    const Neighbours same = narrow(Rows::dense(std::vector<float>{-7.0F}, 1), 3);
    EXPECT_EQ(same.index.values(), (std::vector<std::uint32_t>{0, 1, 2}));
}

TEST(Neighbours, AreTheSameForAnyNumberOfThreadsAndForSparseRows) {
    const Dataset data = make("blobs", {.n = 400, .noise = 2, .classes = 4, .columns = 20});
    const NeighbourSearch dense(polynomial({.degree = 2}), data.x);
    const Neighbours one = [&] {
        const ThreadLimit limit(1);
        return dense.among(3);
    }();
    const ThreadLimit limit(3);
    EXPECT_EQ(dense.among(3).index.values(), one.index.values());
    EXPECT_EQ(dense.among(3).score.values(), one.score.values());
    const NeighbourSearch sparse(polynomial({.degree = 2}), data.x.to_sparse());
    EXPECT_EQ(sparse.among(3).index.values(), one.index.values());
}

TEST(Neighbours, CentredAndPrecomputedKernels) {
    const Dataset data = make("moons", {.n = 60});
    // A distance does not know where the origin is.
    const NeighbourSearch plain(rbf({.gamma = 2.0}), data.x.to_double());
    const NeighbourSearch centred(Kernel::parse("center(rbf(gamma=2))"), data.x.to_double());
    EXPECT_EQ(plain.among(4).index.values(), centred.among(4).index.values());
    const auto p = full(data.x);
    std::vector<double> matrix;
    for (const auto& a : p) {
        for (const auto& b : p) matrix.push_back(rbf({.gamma = 2.0})(a, b));
    }
    const NeighbourSearch given(precomputed(), Rows::dense(matrix, 60));
    EXPECT_EQ(plain.among(4).index.values(), given.among(4).index.values());
}

TEST(Neighbours, MistakesAreNamed) {
    const Dataset data = make("moons", {.n = 6});
    const NeighbourSearch search(linear(), data.x);
    EXPECT_NE(message_of([&] { search.among(6); }).find("from 1 to 5"), std::string::npos);
    EXPECT_NE(message_of([&] { search(data.x, 0); }).find("from 1 to 6"), std::string::npos);
    EXPECT_THROW(search.among(2, [](const Moment&) { return false; }), Cancelled);
}

}  // namespace
}  // namespace mercer
