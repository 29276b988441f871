#include "mercer/gram/operators.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>

#include "expressions.hpp"
#include "mercer/base/error.hpp"

namespace mercer {
namespace {

using testing::random_rows;

constexpr std::size_t n = 90;

Gram<double> example_gram() {
    return {Kernel::parse("rbf(gamma=0.8) + 0.2*linear"), random_rows(n, 7, 0.9, 1)};
}

/// Every operator is one symmetric matrix seen in four ways.
void expect_consistent(const SymmetricOperator<double>& op) {
    const std::size_t size = op.size();
    std::vector<std::size_t> all(size);
    std::iota(all.begin(), all.end(), 0);
    Matrix<double> k(size, size);
    op.rows(all, k.view());
    std::vector<double> diagonal(size);
    op.diagonal(diagonal);
    std::vector<double> x(size);
    Random random(5);
    for (double& value : x) value = random.normal();
    std::vector<double> y(size);
    op.apply(x, y);
    const std::vector<std::size_t> which = {size - 1, 0, 3, 0};
    const std::vector<std::size_t> columns = {2, size - 1, 2};
    Matrix<double> tile(4, 3);
    op.tile(which, columns, tile.view());
    for (std::size_t i = 0; i < size; ++i) {
        EXPECT_NEAR(diagonal[i], k(i, i), 1e-13);
        double sum = 0;
        for (std::size_t j = 0; j < size; ++j) {
            ASSERT_NEAR(k(i, j), k(j, i), 1e-13);
            sum += k(i, j) * x[j];
        }
        EXPECT_NEAR(y[i], sum, 1e-11);
    }
    for (std::size_t r = 0; r < 4; ++r) {
        for (std::size_t c = 0; c < 3; ++c) {
            EXPECT_NEAR(tile(r, c), k(which[r], columns[c]), 1e-13);
        }
    }
}

TEST(Operators, EachIsOneMatrix) {
    const Gram<double> gram = example_gram();
    expect_consistent(GramOperator<double>(gram));
    expect_consistent(StoredOperator<double>(gram));
    const auto inner = std::make_shared<GramOperator<double>>(gram);
    for (const std::size_t rows : {1, 3, 1000}) {
        expect_consistent(CachedOperator<double>(inner, rows * n * sizeof(double)));
    }
    expect_consistent(SubsetOperator<double>(inner, {5, 88, 0, 17, 41, 5}));
}

TEST(Operators, StoredAndComputedAgree) {
    const Gram<double> gram = example_gram();
    const StoredOperator<double> stored(gram);
    const GramOperator<double> computed(gram);
    const std::vector<std::size_t> which = {7, 89};
    Matrix<double> a(2, n);
    Matrix<double> b(2, n);
    stored.rows(which, a.view());
    computed.rows(which, b.view());
    for (std::size_t i = 0; i < 2 * n; ++i) EXPECT_NEAR(a.values()[i], b.values()[i], 1e-13);
}

TEST(Operators, EvaluationsCountWhatWasComputed) {
    const Gram<double> gram = example_gram();
    const auto inner = std::make_shared<GramOperator<double>>(gram);
    const CachedOperator<double> cached(inner, 10 * n * sizeof(double));
    const std::vector<std::size_t> which = {1, 2, 3};
    Matrix<double> out(3, n);
    cached.rows(which, out.view());
    EXPECT_EQ(cached.evaluations(), 3 * n);
    cached.rows(which, out.view());
    EXPECT_EQ(cached.evaluations(), 3 * n) << "served from the cache";
    EXPECT_EQ(StoredOperator<double>(gram).evaluations(), n * (n + 1) / 2);
}

TEST(Operators, MakeOperatorStoresOnlyWhatFits) {
    const Gram<float> gram(Kernel::parse("linear"), random_rows(n, 3, 1, 2));
    const auto roomy = make_operator(gram, n * n * sizeof(float));
    EXPECT_NE(dynamic_cast<const StoredOperator<float>*>(roomy.get()), nullptr);
    const auto tight = make_operator(gram, n * n * sizeof(float) - 1);
    const auto* cached = dynamic_cast<const CachedOperator<float>*>(tight.get());
    ASSERT_NE(cached, nullptr);
    EXPECT_LE(cached->cache().bytes(), n * n * sizeof(float) - 1);
}

TEST(Operators, AGivenMatrixIsChecked) {
    Matrix<double> k(2, 2);
    k.values() = {1, 0.5, 0.4, 1};
    EXPECT_THROW(StoredOperator<double>{k.view()}, InvalidInput);
    k.values() = {1, 0.5, 0.5, std::nan("")};
    EXPECT_THROW(StoredOperator<double>{k.view()}, InvalidInput);
    EXPECT_THROW(StoredOperator<double>{Matrix<double>(2, 3).view()}, InvalidInput);
    k.values() = {1, 0.5, 0.5, 1};
    expect_consistent(StoredOperator<double>(Matrix<double>(5, 5, 2.0).view()));
}

TEST(RowCache, TheRowUnusedForLongestGivesWay) {
    RowCache<float> cache(100, 4, 3 * 4 * sizeof(float));
    ASSERT_EQ(cache.slots(), 3U);
    for (const std::size_t row : {10, 20, 30}) cache.insert(row)[0] = static_cast<float>(row);
    EXPECT_EQ(cache.find(10)[0], 10.0F);  // used: now 20 is the oldest
    cache.insert(40)[0] = 40.0F;
    EXPECT_TRUE(cache.find(20).empty());
    for (const std::size_t row : {10, 30, 40}) {
        ASSERT_FALSE(cache.find(row).empty());
        EXPECT_EQ(cache.find(row)[0], static_cast<float>(row));
    }
    cache.clear();
    EXPECT_TRUE(cache.find(10).empty());
}

TEST(RowCache, KeepsItsPromisesUnderRandomUse) {
    Random random(3);
    RowCache<double> cache(50, 2, 8 * 2 * sizeof(double));
    std::vector<std::size_t> recent;  // newest last, at most 8
    for (int step = 0; step < 5000; ++step) {
        const std::size_t row = random.below(50);
        const bool expected = std::find(recent.begin(), recent.end(), row) != recent.end();
        const auto found = cache.find(row);
        ASSERT_EQ(!found.empty(), expected);
        if (expected) {
            ASSERT_EQ(found[1], static_cast<double>(row));
        } else {
            cache.insert(row)[1] = static_cast<double>(row);
        }
        std::erase(recent, row);
        recent.push_back(row);
        if (recent.size() > 8) recent.erase(recent.begin());
    }
    EXPECT_EQ(cache.hits() + cache.misses(), 5000U);
}

TEST(RowCache, AlwaysHasRoomForOneRow) {
    RowCache<float> cache(5, 1000, 0);
    EXPECT_EQ(cache.slots(), 1U);
    cache.insert(3)[999] = 1;
    EXPECT_EQ(cache.find(3)[999], 1);
}

}  // namespace
}  // namespace mercer
