// Rows over numbers that somebody else keeps.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/data/rows.hpp"

namespace mercer {
namespace {

using Floats = std::vector<float>;

TEST(RowsBorrow, DenseNumbersStayWhereTheyAre) {
    auto numbers = std::make_shared<Floats>(Floats{1, 2, 3, 4, 5, 6});
    const float* first = numbers->data();
    Rows rows = Rows::borrow(MatrixView<const float>(first, 2, 3), numbers);
    EXPECT_EQ(rows.dense_view<float>().data, first);
    EXPECT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows.nonzeros(), 6U);
    EXPECT_EQ(rows.bytes(), 6 * sizeof(float));
    std::vector<double> row(3);
    rows.copy_row(1, row);
    EXPECT_EQ(row, (std::vector<double>{4, 5, 6}));
}

TEST(RowsBorrow, TheOwnerLivesAsLongAsTheRows) {
    auto numbers = std::make_shared<Floats>(Floats{1, 2});
    const std::weak_ptr<Floats> watch = numbers;
    {
        const Rows rows = Rows::borrow(MatrixView<const float>(numbers->data(), 1, 2), numbers);
        numbers.reset();
        EXPECT_FALSE(watch.expired());
        const Rows copy = rows;
        EXPECT_EQ(copy.dense_view<float>()(0, 1), 2);
    }
    EXPECT_TRUE(watch.expired());
}

TEST(RowsBorrow, WhatIsMadeFromThemOwnsItsNumbers) {
    Floats numbers{1, 0, 3, 4};
    const Rows rows = Rows::borrow(MatrixView<const float>(numbers.data(), 2, 2), nullptr);
    const std::vector<std::size_t> second{1};
    const std::vector<Rows> made{rows.owned(),     rows.select(second), rows.select_columns(second),
                                 rows.to_sparse(), rows.to_double(),    rows.widened(3)};
    const auto sum = [](const Rows& of) {
        double total = 0;
        std::vector<double> row(of.columns());
        for (std::size_t i = 0; i < of.size(); ++i) {
            of.copy_row(i, row);
            for (const double value : row) total += value;
        }
        return total;
    };
    const std::vector<double> expected{8, 7, 4, 8, 8, 8};
    numbers.assign(4, 100);
    for (std::size_t k = 0; k < made.size(); ++k) EXPECT_EQ(sum(made[k]), expected[k]) << k;
    EXPECT_EQ(sum(rows), 400);
}

TEST(RowsBorrow, SparseRowsAreCheckedAndConvertedAlike) {
    const std::vector<std::uint32_t> index{0, 2, 1};
    const std::vector<double> values{1, 2, 3};
    const Rows rows = Rows::borrow({0, 2, 3}, std::span(index), std::span(values), 3, nullptr);
    EXPECT_EQ(rows.sparse_view<double>().value, values.data());
    EXPECT_EQ(rows.sparse_view<double>().index, index.data());
    const Rows own = Rows::sparse({0, 2, 3}, index, values, 3);
    for (const Rows& form : {rows, rows.owned(), rows.to_float(), rows.widened(3)}) {
        EXPECT_EQ(form.to_dense().to_double().dense_view<double>()(1, 1), 3);
        EXPECT_EQ(form.nonzeros(), own.nonzeros());
    }
    const std::vector<std::size_t> last{2};
    EXPECT_EQ(rows.select_columns(last).to_dense().dense_view<double>()(0, 0), 2);
    EXPECT_THROW(Rows::borrow({0, 2, 3}, std::span(index), std::span(values), 2, nullptr),
                 InvalidInput);
    EXPECT_THROW(Rows::borrow({0, 3, 2}, std::span(index), std::span(values), 3, nullptr),
                 InvalidInput);
    EXPECT_THROW(Rows::borrow({0, 9}, std::span(index), std::span(values), 3, nullptr),
                 InvalidInput);
}

TEST(RowsBorrow, GapsBetweenRowsAreRefused) {
    const Floats numbers(8, 0.0F);
    EXPECT_THROW(Rows::borrow(MatrixView<const float>(numbers.data(), 2, 3, 4), nullptr),
                 InvalidInput);
}

}  // namespace
}  // namespace mercer
