// A summary counts what is there.
#include "mercer/data/summary.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

Dataset dataset(std::vector<double> values, std::size_t columns, std::vector<double> labels = {}) {
    Dataset data;
    data.x = Rows::dense(std::move(values), columns);
    data.y.values = std::move(labels);
    return data;
}

bool advises(const Summary& summary, const std::string& word) {
    return std::any_of(summary.advice.begin(), summary.advice.end(), [&](const std::string& line) {
        return line.find(word) != std::string::npos;
    });
}

TEST(Summary, CountsEntriesRowsAndColumns) {
    const Dataset data = dataset({0, 2, 7, 0, -2, 7, 0, 2, 7, 0, 0, 7}, 3, {1, 2, 2, 1});
    for (const bool sparse : {false, true}) {
        Dataset form = data;
        if (sparse) form.x = data.x.to_sparse();
        const Summary s = summarize(form);
        EXPECT_EQ(s.rows, 4U);
        EXPECT_EQ(s.columns, 3U);
        EXPECT_EQ(s.sparse, sparse);
        EXPECT_EQ(s.nonzeros, 7U);
        EXPECT_DOUBLE_EQ(s.density, 7.0 / 12);
        EXPECT_EQ(s.low, -2);
        EXPECT_EQ(s.high, 7);
        EXPECT_TRUE(s.whole_numbers);
        EXPECT_EQ(s.constant_columns, (std::vector<std::size_t>{0, 2}));
        EXPECT_EQ(s.duplicates, 1U) << "the third row repeats the first";
        EXPECT_EQ(s.contradictions, 1U) << "under another label";
        EXPECT_EQ(s.zero_rows, 0U);
        EXPECT_DOUBLE_EQ(s.column[1].mean, 0.5);
        EXPECT_DOUBLE_EQ(s.column[1].deviation, std::sqrt((2.25 + 6.25 + 2.25 + 0.25) / 4));
        EXPECT_EQ(s.column[2].deviation, 0);
        ASSERT_EQ(s.label_kind, LabelKind::classes);
        EXPECT_EQ(s.classes[0], (std::pair<std::string, std::size_t>("1", 2)));
        EXPECT_TRUE(advises(s, "another label"));
    }
}

TEST(Summary, ManyEqualRowsAreAllCounted) {
    const Summary s = summarize(dataset(std::vector<double>(3000, 0.25), 3));
    EXPECT_EQ(s.duplicates, 999U);
    EXPECT_EQ(s.contradictions, 0U);
    EXPECT_EQ(s.label_kind, LabelKind::none);
}

TEST(Summary, TellsRealTargetsFromClasses) {
    const Summary sinc = summarize(make("sinc", {.n = 100}));
    EXPECT_EQ(sinc.label_kind, LabelKind::real);
    EXPECT_EQ(sinc.distinct, 100U);
    EXPECT_LT(sinc.label.low, sinc.label.mean);
    EXPECT_LT(sinc.label.mean, sinc.label.high);
    const Summary blobs = summarize(make("blobs", {.n = 100, .classes = 7}));
    EXPECT_EQ(blobs.label_kind, LabelKind::classes);
    EXPECT_EQ(blobs.classes.size(), 7U);
}

TEST(Summary, AdvisesOnWhatUsuallyGoesWrong) {
    EXPECT_TRUE(advises(summarize(dataset({1, 1000, 2, 5000, 3, 9000}, 2)), "columns differ"));
    EXPECT_TRUE(advises(summarize(dataset({0, 255, 17, 3}, 2)), "1/255"));
    EXPECT_FALSE(advises(summarize(make("moons")), "scale"));

    std::vector<double> labels(100, 1.0);
    std::fill_n(labels.begin(), 3, -1.0);
    Dataset data = make("rings", {.n = 100});
    data.y.values = labels;
    const Summary s = summarize(data);
    EXPECT_TRUE(s.grouped);
    EXPECT_TRUE(advises(s, "unbalanced"));
    EXPECT_TRUE(advises(s, "shuffle"));
    EXPECT_FALSE(summarize(make("rings", {.n = 100})).grouped);
}

TEST(Summary, EmptyDataIsDescribedToo) {
    const Summary s = summarize(Dataset{});
    EXPECT_EQ(s.rows, 0U);
    EXPECT_EQ(s.density, 0);
}

TEST(Summary, SeesRowsOfLengthOne) {
    EXPECT_TRUE(summarize(dataset({0.6, 0.8, 1, 0, 0, -1}, 2)).unit_rows);
    EXPECT_FALSE(summarize(dataset({0.6, 0.8, 1, 1}, 2)).unit_rows);
}

TEST(Summary, TellsWordsAndTrees) {
    const auto of = [](const std::vector<std::string>& texts) {
        Dataset data;
        data.x = Rows().with_objects({ObjectColumn::texts("t", texts)});
        return summarize(data).objects.at(0);
    };
    EXPECT_EQ(of({"One two, two", "TWO three3"}).words, 3U);
    EXPECT_FALSE(of({"One two"}).trees);
    EXPECT_TRUE(of({"(S (NP cats) (VP sleep))", " (A b) "}).trees);
    EXPECT_FALSE(of({"(S (NP cats) (VP sleep))", "(A b) (C d)"}).trees);
    EXPECT_FALSE(of({"(A (b)"}).trees);
}

}  // namespace
}  // namespace mercer
