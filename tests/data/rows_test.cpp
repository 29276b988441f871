#include "mercer/data/rows.hpp"

#include <cstdint>
#include <numeric>

#include "data/support.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;

/// Random rows with about two zeros in three.
std::vector<double> random_values(std::size_t count, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values(count);
    for (double& value : values) value = random.below(3) == 0 ? random.normal() : 0.0;
    return values;
}

/// The four forms of the same numbers; single precision first rounds them.
std::vector<Rows> forms(std::size_t rows, std::size_t columns) {
    const std::vector<double> values = random_values(rows * columns, 7);
    const Rows single =
        Rows::dense(std::vector<float>(values.begin(), values.end()), columns).to_double();
    return {single, single.to_sparse(), single.to_float(), single.to_float().to_sparse()};
}

TEST(Rows, FormsHoldTheSameNumbers) {
    const std::vector<Rows> all = forms(2500, 17);
    for (const Rows& rows : all) {
        EXPECT_EQ(full(rows), full(all[0]));
        EXPECT_EQ(full(rows.to_dense().to_float()), full(all[0]));
        EXPECT_EQ(full(rows.to_sparse().to_double()), full(all[0]));
    }
    EXPECT_TRUE(all[3].is_sparse());
    EXPECT_FALSE(all[3].is_double());
    EXPECT_LT(all[3].nonzeros(), all[2].nonzeros());
    EXPECT_LT(all[2].bytes(), all[0].bytes());
}

TEST(Rows, SelectionsAgreeInEveryForm) {
    const std::vector<std::size_t> positions{3, 1200, 3, 0, 999};
    const std::vector<std::size_t> columns{16, 2, 2, 0};
    for (const Rows& rows : forms(1300, 17)) {
        const auto before = full(rows);
        const Rows chosen = rows.select(positions);
        const Rows cut = rows.select_columns(columns);
        ASSERT_EQ(chosen.size(), positions.size());
        for (std::size_t i = 0; i < positions.size(); ++i) {
            EXPECT_EQ(full(chosen)[i], before[positions[i]]);
            EXPECT_EQ(chosen.origin(i), positions[i]);
        }
        for (std::size_t i = 0; i < rows.size(); i += 131) {
            for (std::size_t j = 0; j < columns.size(); ++j) {
                EXPECT_EQ(full(cut)[i][j], before[i][columns[j]]);
            }
        }
        const std::vector<std::size_t> again{4, 0};
        EXPECT_EQ(chosen.select(again).origin(0), positions[4]);
        EXPECT_EQ(chosen.to_double().to_dense().origin(1), positions[1]);
        EXPECT_EQ(rows.origin(5), 5U);
    }
}

TEST(Rows, WideningAddsZeros) {
    for (const Rows& rows : forms(20, 5)) {
        const auto before = full(rows);
        const Rows wide = rows.widened(9);
        ASSERT_EQ(wide.columns(), 9U);
        for (std::size_t i = 0; i < rows.size(); ++i) {
            auto expected = before[i];
            expected.resize(9, 0.0);
            EXPECT_EQ(full(wide)[i], expected);
        }
        EXPECT_NE(message_of([&] { rows.widened(4); }), "");
    }
}

TEST(Rows, SparseRowsAreChecked) {
    const auto make = [](std::vector<std::size_t> starts, std::vector<std::uint32_t> index) {
        std::vector<float> values(index.size(), 1.0F);
        return message_of(
            [&] { Rows::sparse(std::move(starts), std::move(index), std::move(values), 4); });
    };
    EXPECT_EQ(make({0, 2, 3}, {0, 3, 1}), "");
    EXPECT_NE(make({}, {}), "");
    EXPECT_NE(make({1, 2}, {0, 1}), "");
    EXPECT_NE(make({0, 1}, {0, 1}), "");
    EXPECT_NE(make({0, 3, 2, 4}, {0, 1, 2, 3}), "");
    EXPECT_NE(make({0, 9, 2}, {0, 1}), "");
    EXPECT_NE(make({0, 2}, {1, 1}), "");
    EXPECT_NE(make({0, 2}, {2, 1}), "");
    EXPECT_NE(make({0, 1}, {4}), "");
}

TEST(Rows, MistakesAreNamed) {
    EXPECT_NE(message_of([] { Rows::dense(std::vector<float>(5), 2); }), "");
    EXPECT_NE(message_of([] { Rows::dense(std::vector<float>(5), 0); }), "");
    const Rows rows = Rows::dense(std::vector<float>(6), 2);
    const std::vector<std::size_t> beyond{3};
    EXPECT_NE(message_of([&] { rows.select(beyond); }), "");
    EXPECT_NE(message_of([&] { rows.select_columns(beyond); }), "");
    EXPECT_NE(message_of([&] { rows.dense_view<double>(); }), "");
    EXPECT_NE(message_of([&] { rows.sparse_view<float>(); }), "");
    std::vector<double> out(3);
    EXPECT_NE(message_of([&] { rows.copy_row(0, out); }), "");
    const Rows wide = Rows::sparse({0, 1}, {7}, std::vector<float>{1}, SIZE_MAX / 2);
    EXPECT_NE(message_of([&] { wide.select(std::vector<std::size_t>(9, 0)).to_dense(); }), "");
}

TEST(Rows, NothingIsAValueToo) {
    const Rows rows;
    EXPECT_EQ(rows.size(), 0U);
    EXPECT_EQ(rows.columns(), 0U);
    EXPECT_EQ(rows.to_sparse().to_double().size(), 0U);
    EXPECT_EQ(rows.select({}).size(), 0U);
    // Rows without columns keep their number through every change of form.
    const Rows bare = Rows::sparse({0, 0, 0}, {}, std::vector<float>(), 0);
    EXPECT_EQ(bare.to_dense().size(), 2U);
    EXPECT_EQ(bare.to_dense().widened(3).size(), 2U);
}

}  // namespace
}  // namespace mercer
