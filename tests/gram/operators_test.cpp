#include "mercer/gram/detail/operators.hpp"
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
    const std::vector<double> weights = {0.5, -2, 1, 3};
    std::vector<double> some(3, 1.0), whole(size, 1.0);
    op.add_rows(which, weights, columns, std::nullopt, some);
    op.add_rows(which, weights, Columns::all(), std::nullopt, whole);
    for (std::size_t c = 0; c < 3; ++c) {
        double sum = 1;
        for (std::size_t r = 0; r < 4; ++r) {
            EXPECT_NEAR(tile(r, c), k(which[r], columns[c]), 1e-13);
            sum += weights[r] * k(which[r], columns[c]);
        }
        EXPECT_NEAR(some[c], sum, 1e-12);
    }
    for (std::size_t j = 0; j < size; ++j) {
        double sum = 1;
        for (std::size_t r = 0; r < 4; ++r) sum += weights[r] * k(which[r], j);
        ASSERT_NEAR(whole[j], sum, 1e-12);
    }
}

TEST(Operators, EachIsOneMatrix) {
    const Gram<double> gram = example_gram();
    expect_consistent(GramOperator<double>(gram));
    expect_consistent(StoredOperator<double>(gram));
    const auto inner = std::make_shared<GramOperator<double>>(gram);
    for (const std::size_t rows : {1UL, 3UL, 1000UL}) {
        for (const Keep keep : {Keep::everything, Keep::marked}) {
            expect_consistent(CachedOperator<double>(inner, rows * n * sizeof(double), keep));
        }
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

/// A store serves sums over any columns in any order of requests, however little room it has, and
/// whatever it threw away to make room for narrower rows.
TEST(Operators, AStoreMayForgetButNeverErrs) {
    const Gram<double> gram = example_gram();
    const auto inner = std::make_shared<GramOperator<double>>(gram);
    const StoredOperator<double> truth(gram);
    Random random(11);
    for (const std::size_t rows : {1UL, 4UL, 20UL, 1000UL}) {
        const CachedOperator<double> cached(inner, rows * n * sizeof(double), Keep::marked);
        for (int request = 0; request < 200; ++request) {
            std::vector<std::size_t> columns;
            for (std::size_t j = 0; request % 2 == 1 && j < n; ++j) {
                if (random.below(3) == 0) columns.push_back(j);
            }
            std::vector<std::size_t> which;
            std::vector<double> weights;
            std::vector<char> again;
            for (std::size_t i = random.below(8); i < n; i += 1 + random.below(16)) {
                which.push_back(i);
                weights.push_back(random.normal());
                again.push_back(random.below(2) == 0 ? 1 : 0);
            }
            const Columns asked = request % 2 == 1 ? Columns(columns) : Columns::all();
            const std::size_t width = asked.size(n);
            std::vector<double> sums(width, 0.0), expected(width, 0.0);
            const bool silent = request % 5 == 0;
            cached.add_rows(which, weights, asked, silent ? Announcement() : again, sums);
            truth.add_rows(which, weights, asked, std::nullopt, expected);
            for (std::size_t c = 0; c < width; ++c) ASSERT_NEAR(sums[c], expected[c], 1e-12);
            Matrix<double> tile(which.size(), width), same(which.size(), width);
            if (asked.is_all()) {
                cached.rows(which, tile.view());
                truth.rows(which, same.view());
            } else {
                cached.tile(which, columns, tile.view());
                truth.tile(which, columns, same.view());
            }
            for (std::size_t e = 0; e < tile.values().size(); ++e) {
                ASSERT_NEAR(tile.values()[e], same.values()[e], 1e-13);
            }
        }
    }
}

/// The two variables of a regression point ask for the same row: it must not be computed twice in
/// one place by two threads.
TEST(Operators, ARowAskedForTwiceAtOnce) {
    const Gram<float> gram(Kernel::parse("poly(degree=3, coef0=1)"), random_rows(600, 5, 1, 4));
    const StoredOperator<float> truth(gram);
    std::vector<std::size_t> twice(1200);
    for (std::size_t r = 0; r < 1200; ++r) twice[r] = r % 600;
    const std::vector<double> weights(1200, 0.5);
    for (int trial = 0; trial < 10; ++trial) {
        const CachedOperator<float> cached(std::make_shared<GramOperator<float>>(gram),
                                           gram.size() * gram.size() * sizeof(float));
        std::vector<double> sums(600, 0.0), expected(600, 0.0);
        if (trial % 2 == 0) {
            Matrix<float> tile(1200, 600);
            cached.tile(twice, std::span(twice).first(600), tile.view());
        }
        cached.add_rows(twice, weights, Columns::all(), std::nullopt, sums);
        truth.add_rows(twice, weights, Columns::all(), std::nullopt, expected);
        for (std::size_t j = 0; j < 600; ++j) {
            ASSERT_NEAR(sums[j], expected[j], 1e-4 * std::abs(expected[j]) + 1e-4);
        }
    }
}

TEST(Operators, OnlyMarkedRowsAreKept) {
    const auto inner = std::make_shared<GramOperator<double>>(example_gram());
    const CachedOperator<double> cached(inner, 10 * n * sizeof(double), Keep::marked);
    std::vector<double> sums(n);
    const auto cost = [&](std::size_t row, char again) {
        const std::uint64_t before = cached.evaluations();
        const std::vector<char> marks = {again};
        cached.add_rows(std::vector{row}, std::vector{1.0}, Columns::all(), marks, sums);
        return cached.evaluations() - before;
    };
    EXPECT_EQ(cost(3, 1), n);
    EXPECT_EQ(cost(4, 0), n);
    EXPECT_EQ(cost(3, 0), 0U);
    EXPECT_EQ(cost(4, 0), n);
    // Not announced again, row 3 stays until its place is wanted.
    EXPECT_EQ(cost(3, 0), 0U);
    EXPECT_EQ(cost(5, 1), n);
    EXPECT_EQ(cost(5, 1), 0U);
    EXPECT_EQ(cost(3, 0), n);
}

/// Whose second request fails.
class Fragile : public GramOperator<double> {
   public:
    using GramOperator<double>::GramOperator;
    void rows_to(std::span<const std::size_t> which, const Columns& columns,
                 std::span<double* const> out) const override {
        if (++requests_ == 2) throw InvalidInput("no more rows today");
        GramOperator<double>::rows_to(which, columns, out);
    }

   private:
    mutable int requests_ = 0;
};

TEST(Operators, ARowThatFailedIsNotTakenForKept) {
    const CachedOperator<double> cached(std::make_shared<Fragile>(example_gram()),
                                        10 * n * sizeof(double), Keep::marked);
    const StoredOperator<double> truth(example_gram());
    const std::vector<char> again = {1};
    std::vector<double> sums(n);
    cached.add_rows(std::vector<std::size_t>{1}, std::vector{1.0}, Columns::all(), again, sums);
    const std::vector<std::size_t> second = {2};
    EXPECT_THROW(cached.add_rows(second, std::vector{1.0}, Columns::all(), again, sums),
                 InvalidInput);
    std::fill(sums.begin(), sums.end(), 0.0);
    cached.add_rows(second, std::vector{1.0}, Columns::all(), again, sums);
    for (std::size_t j = 0; j < n; ++j) EXPECT_NEAR(sums[j], truth.matrix()(2, j), 1e-13);
}

TEST(Operators, MakeOperatorStoresOnlyWhatFits) {
    const Gram<float> gram(Kernel::parse("rbf(gamma=1)"), random_rows(n, 3, 1, 2));
    const auto roomy =
        make_operator(gram, {.reuse = Reuse::whole, .memory_bytes = n * n * sizeof(float)});
    EXPECT_NE(dynamic_cast<const StoredOperator<float>*>(roomy.get()), nullptr);
    const auto tight =
        make_operator(gram, {.reuse = Reuse::whole, .memory_bytes = n * n * sizeof(float) - 1});
    const auto* cached = dynamic_cast<const CachedOperator<float>*>(tight.get());
    ASSERT_NE(cached, nullptr);
    EXPECT_LE(cached->cache().bytes(), n * n * sizeof(float) - 1);
    const auto fresh = make_operator(gram, {});
    EXPECT_NE(dynamic_cast<const GramOperator<float>*>(fresh.get()), nullptr);
    const std::vector<std::size_t> some{4, 1};
    Matrix<float> of_part(2, 2);
    Matrix<float> of_whole(2, 2);
    const auto part = sub_operator(roomy, some);
    const std::vector<std::size_t> both{0, 1};
    part->rows(both, of_part.view());
    fresh->tile(some, some, of_whole.view());
    EXPECT_EQ(of_part.values(), of_whole.values());
    const auto points = make_operator(gram, gram.select(gram.reference(), some), {});
    EXPECT_EQ(points->size(), 2U);
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
    for (const std::size_t row : {10UL, 20UL, 30UL}) cache.insert(row)[0] = static_cast<float>(row);
    EXPECT_EQ(cache.find(10)[0], 10.0F);  // used: now 20 is the oldest
    cache.insert(40)[0] = 40.0F;
    EXPECT_TRUE(cache.find(20).empty());
    for (const std::size_t row : {10UL, 30UL, 40UL}) {
        ASSERT_FALSE(cache.find(row).empty());
        EXPECT_EQ(cache.find(row)[0], static_cast<float>(row));
    }
    cache.forget(30);
    EXPECT_TRUE(cache.find(30).empty());
    EXPECT_FALSE(cache.is_full());
    cache.insert(50);
    EXPECT_FALSE(cache.find(10).empty()) << "the slot given back is used first";
    cache.reset(2);
    EXPECT_TRUE(cache.find(10).empty());
    EXPECT_EQ(cache.slots(), 6U);
}

TEST(RowCache, NarrowRowsMakeRoom) {
    RowCache<float> cache(100, 4, 3 * 4 * sizeof(float));
    for (const std::size_t row : {10UL, 20UL, 30UL}) {
        const std::span<float> place = cache.insert(row);
        for (std::size_t j = 0; j < 4; ++j) place[j] = static_cast<float>(row + j);
    }
    cache.find(10);
    const std::vector<std::size_t> elements = {1, 3};
    cache.narrow(elements);
    EXPECT_EQ(cache.row_length(), 2U);
    EXPECT_EQ(cache.slots(), 6U);
    for (const std::size_t row : {40UL, 50UL, 60UL}) cache.insert(row)[0] = 0;
    cache.insert(70)[0] = 0;  // 20 was the oldest
    EXPECT_TRUE(cache.find(20).empty());
    for (const std::size_t row : {10UL, 30UL}) {
        ASSERT_EQ(cache.find(row).size(), 2U);
        EXPECT_EQ(cache.find(row)[0], static_cast<float>(row + 1));
        EXPECT_EQ(cache.find(row)[1], static_cast<float>(row + 3));
    }
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

TEST(RowCache, RowsThatMayBeSparedGiveWayFirst) {
    Random random(4);
    RowCache<double> cache(50, 2, 8 * 2 * sizeof(double));
    std::vector<std::size_t> wanted, spared;  // newest last, at most 8 together
    for (int step = 0; step < 20000; ++step) {
        const std::size_t row = random.below(50);
        const bool here = std::erase(wanted, row) + std::erase(spared, row) > 0;
        const auto found = cache.find(row);
        ASSERT_EQ(!found.empty(), here) << "in step " << step;
        if (here) {
            ASSERT_EQ(found[1], static_cast<double>(row));
        } else {
            // A row that was spared gives way before a slot is used for the first time.
            if (!spared.empty()) {
                spared.erase(spared.begin());
            } else if (wanted.size() == 8) {
                wanted.erase(wanted.begin());
            }
            cache.insert(row)[1] = static_cast<double>(row);
        }
        if (random.below(3) == 0) {
            cache.mark_dispensable(row);
            spared.push_back(row);
        } else {
            wanted.push_back(row);
        }
        EXPECT_EQ(cache.is_full(), wanted.size() == 8);
    }
}

TEST(RowCache, AlwaysHasRoomForOneRow) {
    RowCache<float> cache(5, 1000, 0);
    EXPECT_EQ(cache.slots(), 1U);
    cache.insert(3)[999] = 1;
    EXPECT_EQ(cache.find(3)[999], 1);
}

}  // namespace
}  // namespace mercer
