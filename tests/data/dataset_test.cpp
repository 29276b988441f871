#include "mercer/data/dataset.hpp"

#include <cmath>
#include <limits>

#include "data/support.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"

namespace mercer {
namespace {

using testing::message_of;

Rows random_rows(std::size_t rows, std::size_t columns) {
    Random random(3);
    std::vector<double> values(rows * columns);
    for (double& value : values) value = random.below(2) == 0 ? 0.0 : random.normal();
    return Rows::dense(std::move(values), columns);
}

TEST(Classes, NumbersAreOrderedByValue) {
    const Classes classes = classes_of({.values = {10, -1, 9, -1, 10}, .names = {}});
    EXPECT_EQ(classes.values, (std::vector<double>{-1, 9, 10}));
    EXPECT_EQ(classes.names, (std::vector<std::string>{"-1", "9", "10"}));
    EXPECT_EQ(classes.index, (std::vector<std::int32_t>{2, 0, 1, 0, 2}));
}

TEST(Classes, NamesAreOrderedAsPeopleDo) {
    const Labels labels{.values = {0, 1, 2, 1, 3},
                        .names = {"class 10", "class 9", "b", "class 09"}};
    const Classes classes = classes_of(labels);
    ASSERT_EQ(classes.count(), 4U);
    EXPECT_EQ(classes.names[0], "b");
    EXPECT_EQ(classes.names[3], "class 10");
    EXPECT_TRUE(classes.values.empty());
    for (std::size_t i = 0; i < labels.size(); ++i) {
        EXPECT_EQ(classes.names[static_cast<std::size_t>(classes.index[i])], labels.text(i));
    }
}

TEST(Classes, OnlyClassesThatOccurAreCounted) {
    EXPECT_EQ(classes_of({.values = {2, 0}, .names = {"a", "b", "c"}}).names,
              (std::vector<std::string>{"a", "c"}));
}

TEST(Classes, LabelsThatAreNoneAreRefused) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(message_of([&] { classes_of({.values = {1, nan}, .names = {}}); }), "");
    EXPECT_NE(message_of([&] { classes_of({.values = {0, 2}, .names = {"a", "b"}}); }), "");
    EXPECT_NE(message_of([&] { classes_of({.values = {0.5}, .names = {"a", "b"}}); }), "");
}

TEST(Dataset, SelectionKeepsRowsLabelsAndWeightsTogether) {
    Dataset data;
    data.x = random_rows(6, 3);
    data.y.values = {0, 1, 2, 3, 4, 5};
    data.weights = {1, 2, 3, 4, 5, 6};
    data.feature_names = {"a", "b", "c"};
    const std::vector<std::size_t> positions{5, 0, 5};
    const Dataset part = data.select(positions);
    EXPECT_EQ(part.y.values, (std::vector<double>{5, 0, 5}));
    EXPECT_EQ(part.weights, (std::vector<double>{6, 1, 6}));
    EXPECT_EQ(part.feature_names, data.feature_names);
    EXPECT_EQ(testing::full(part.x)[2], testing::full(data.x)[5]);
}

TEST(Dataset, PartsThatDisagreeAreRefused) {
    Dataset data;
    data.x = random_rows(3, 2);
    EXPECT_EQ(message_of([&] { data.check(); }), "");
    Dataset labels = data;
    labels.y.values = {1, 2};
    EXPECT_EQ(message_of([&] { labels.check(); }), "2 labels for 3 rows");
    Dataset weights = data;
    weights.weights = {1, -1, 0};
    EXPECT_NE(message_of([&] { weights.check(); }).find("weight -1 of row 1"), std::string::npos);
    Dataset names = data;
    names.feature_names = {"a"};
    EXPECT_EQ(message_of([&] { names.check(); }), "1 feature names for 2 columns");
}

TEST(ColumnMoments, AgreeWithPlainSumsInEveryForm) {
    const Rows rows = random_rows(5000, 7);
    std::vector<double> sum(7);
    std::vector<double> square(7);
    for (const auto& row : testing::full(rows)) {
        for (std::size_t j = 0; j < 7; ++j) {
            sum[j] += row[j];
            square[j] += row[j] * row[j];
        }
    }
    for (const Rows& form :
         {rows, rows.to_sparse(), rows.to_float(), rows.to_float().to_sparse()}) {
        const ColumnMoments moments = column_moments(form);
        EXPECT_EQ(moments.rows, 5000U);
        for (std::size_t j = 0; j < 7; ++j) {
            EXPECT_NEAR(moments.sum[j], sum[j], 1e-4);
            EXPECT_NEAR(moments.sum_of_squares[j], square[j], 1e-3);
        }
    }
}

TEST(ColumnMoments, DoNotDependOnTheNumberOfThreads) {
    const Rows rows = random_rows(9000, 5);
    set_threads(1);
    const ColumnMoments one = column_moments(rows);
    set_threads(3);
    const ColumnMoments three = column_moments(rows);
    set_threads(0);
    EXPECT_EQ(one.sum, three.sum);
    EXPECT_EQ(one.sum_of_squares, three.sum_of_squares);
}

}  // namespace
}  // namespace mercer
