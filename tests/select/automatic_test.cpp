#include "mercer/select/automatic.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/select/detail/column_widths.hpp"

namespace mercer {
namespace {

TEST(MedianDistance, IsThatOfAllPairs) {
    // Two places 3 apart: every pair that differs is 9 apart.
    const Rows rows = Rows::dense(std::vector<double>{0, 3, 0, 3, 0, 3}, 1);
    EXPECT_DOUBLE_EQ(median_squared_distance(rows), 9);
    EXPECT_DOUBLE_EQ(median_squared_distance(Rows::dense(std::vector<double>{1, 1}, 1)), 1);
    EXPECT_THROW(median_squared_distance(Rows::dense(std::vector<double>{1}, 1)), InvalidInput);
}

TEST(DefaultSearch, GrowsWhereTheBestLiesAtTheEdge) {
    // A checkerboard of many cells needs a far larger gamma than the distances suggest.
    const Dataset data = make("checkerboard", {.n = 1000, .cells = 8});
    const FoundSettings found =
        default_search(svm_search_task({.task = Task::svc}, "rbf(gamma=1)"), data);
    const double middle = 1 / median_squared_distance(data.x);
    EXPECT_GT(found.widened, 0U);
    EXPECT_GE(found.best().values[0], 16 * middle * (1 - 1e-9));
    // The first grid ends at 16 times the middle: what lies beyond was tried.
    double farthest = 0;
    for (const SearchPoint& point : found.result.points) {
        farthest = std::max(farthest, point.values[0]);
    }
    EXPECT_GT(farthest, 17 * middle);
    // What was found is at least as good as every point tried.
    for (const SearchPoint& point : found.result.points) {
        if (!point.done || std::isnan(point.mean)) continue;
        EXPECT_LE(point.mean, found.best().mean);
    }
}

TEST(DefaultSearch, LooksCloserAroundTheBest) {
    const Dataset data = make("moons", {.n = 120, .noise = 0.3});
    const SearchTask task = svm_search_task({.task = Task::svc}, "rbf(gamma=1)");
    const FoundSettings coarse = default_search(task, data);
    const FoundSettings fine = default_search(task, data, {.refinements = 2});
    EXPECT_GE(fine.best().mean, coarse.best().mean);
    // The grid has steps of 4; around its best there are now steps of 2 and of √2.
    const double best = coarse.best().values[0];
    const auto tried = [&](const FoundSettings& found, double gamma) {
        return std::ranges::any_of(found.result.points, [&](const SearchPoint& point) {
            return std::abs(point.values[0] / gamma - 1) < 1e-9;
        });
    };
    for (const double gamma : {2 * best, best / 2}) {
        EXPECT_TRUE(tried(fine, gamma));
        EXPECT_FALSE(tried(coarse, gamma));
    }
    const double now = fine.best().values[0];
    EXPECT_TRUE(tried(fine, now * std::sqrt(2)) || tried(fine, now / std::sqrt(2)));
    // Every point that was tried is one of the space that is returned.
    for (const SearchPoint& point : fine.result.points) {
        const std::vector<double>& values = fine.space.axes()[0].values;
        EXPECT_NE(std::ranges::find(values, point.values[0]), values.end());
    }
}

TEST(DefaultSearch, SaysWhatItCannotSearch) {
    const Dataset data = embedded("iris");
    SearchTask nothing;
    nothing.kernel = "linear";
    EXPECT_THROW(default_axes(nothing, data), InvalidInput);
    const FoundSettings found =
        default_search(svm_search_task({.task = Task::svc}, "linear"), data);
    EXPECT_EQ(found.space.axes().size(), 1U);
    EXPECT_EQ(found.space.axes()[0].name, "C");
}

/// Class and number follow the first column; the second is noise, on the same scale.
Dataset told_by_the_first(std::size_t rows) {
    Random random(4);
    Dataset data;
    std::vector<double> values;
    for (std::size_t i = 0; i < rows; ++i) {
        const double told = random.uniform(-3, 3);
        values.insert(values.end(), {told, random.uniform(-3, 3)});
        data.y.values.push_back(std::floor((told + 3) / 2));  // 0, 1, 2
    }
    data.x = Rows::dense(std::move(values), 2);
    return data;
}

TEST(ColumnWidths, OfColumnsThatTellNothingAreWide) {
    const Dataset data = told_by_the_first(90);
    for (const bool kinked : {false, true}) {
        for (const bool numbers : {false, true}) {
            const ColumnShape shape{.kinked = kinked};
            const auto found = find_widths(data, numbers, {.kernel = kernel_of_columns(shape, 2)},
                                           {.double_precision = true}, 90, 40);
            ASSERT_TRUE(found);
            std::vector<double> gammas;
            for (const KernelParameter& p : parameters(Kernel::parse(found->kernel))) {
                if (p.name == "gamma") gammas.push_back(p.value);
            }
            ASSERT_EQ(gammas.size(), 2U) << found->kernel;
            EXPECT_GT(gammas[0], 10 * gammas[1]) << found->kernel;
        }
    }
    // The sum beside the product has a factor and a width for each column more.
    EXPECT_EQ(parameters(Kernel::parse(kernel_of_columns({.with_sum = true}, 3))).size(),
              parameters(Kernel::parse(kernel_of_columns({}, 3))).size() + 6);
}

TEST(TargetOf, NamesAndFewWholeNumbersAreClasses) {
    Labels labels;
    for (int i = 0; i < 60; ++i) labels.values.push_back(i % 3);
    EXPECT_EQ(target_of(labels), Target::classes);
    for (double& v : labels.values) v += 0.25;
    EXPECT_EQ(target_of(labels), Target::numbers);
    for (std::size_t i = 0; i < labels.size(); ++i) labels.values[i] = static_cast<double>(i);
    EXPECT_EQ(target_of(labels), Target::numbers);
    labels.names = {"a", "b"};
    EXPECT_EQ(target_of(labels), Target::classes);
}

/// y follows x and c; `told` is y again under another name.
Table leaking_table(bool leak) {
    Random random(5);
    std::string text = leak ? "x,c,told,y\n" : "x,c,y\n";
    for (int i = 0; i < 200; ++i) {
        const double x = random.uniform(-2, 2);
        const bool b = random.uniform() < 0.5;
        const double y = std::sin(2 * x) + (b ? 1 : 0);
        text += std::to_string(x) + (b ? ",b," : ",a,") + (leak ? std::to_string(y) + "," : "") +
                std::to_string(y) + "\n";
    }
    return table_from_text(text);
}

TEST(LearnTable, JudgesOnRowsThatNothingWasChosenBy) {
    const Table table = leaking_table(false);
    const Dataset data = plan_columns(table, {.label = "y"})->dataset(table);
    const LearnResult r = learn_table(data, {.seconds = 6});
    EXPECT_TRUE(r.numbers);
    EXPECT_EQ(r.split.test.size(), 40U);
    std::set<std::size_t> all(r.split.train.begin(), r.split.train.end());
    for (const std::size_t i : r.split.test) EXPECT_TRUE(all.insert(i).second);
    EXPECT_EQ(all.size(), 200U);
    // The judgement is that of `tested`, told again.
    const Judgement again = judge(r.tested, data.select(r.split.test));
    EXPECT_DOUBLE_EQ(again.rmse, r.judgement.rmse);
    EXPECT_TRUE(r.model.recipe());
}

TEST(LearnTable, StudiesWhatItLearnt) {
    const Table table = leaking_table(false);
    const Dataset data = plan_columns(table, {.label = "y"})->dataset(table);
    const LearnResult r = learn_table(data, {.seconds = 600});  // more than it takes
    EXPECT_GT(r.judgement.r2, 0.9);
    EXPECT_TRUE(r.warnings.empty()) << r.warnings.front();
    // The map holds every point that was tried, the one chosen among them.
    for (const Candidate& c : r.candidates) {
        if (c.axes.empty()) continue;
        double best = HUGE_VAL;
        for (const TriedSettings& t : c.tried) {
            ASSERT_EQ(t.values.size(), c.axes.size());
            best = std::min(best, t.score);
        }
        EXPECT_DOUBLE_EQ(best, c.score) << c.name;
    }
    // More rows, smaller error; the last is the machine that was judged.
    ASSERT_GE(r.curve.size(), 3U);
    EXPECT_EQ(r.curve.back().rows, r.split.train.size());
    EXPECT_DOUBLE_EQ(r.curve.back().error, r.judgement.rmse);
    EXPECT_EQ(r.curve[r.curve.size() - 2].rows, r.split.train.size() / 2);
    EXPECT_GT(r.curve.front().error, r.curve.back().error);
    EXPECT_GT(r.curve.front().deviation, 0);
    // y = sin 2x + [c = b]: both effects are as made.
    ASSERT_EQ(r.effects.size(), 2U);
    EXPECT_EQ(r.importance.size(), 2U);
    for (const ColumnEffect& e : r.effects) {
        if (e.column == "c") {
            ASSERT_EQ(e.levels.size(), 2U);
            const std::size_t b = e.levels[0] == "b" ? 0 : 1;
            EXPECT_NEAR(e.means(0, b) - e.means(0, 1 - b), 1, 0.15);
        } else {
            ASSERT_GT(e.places.size(), 8U);
            for (std::size_t k = 1; k < e.places.size(); ++k) {
                const double made = std::sin(2 * e.places[k]) - std::sin(2 * e.places[0]);
                EXPECT_NEAR(e.means(0, k) - e.means(0, 0), made, 0.3);
            }
        }
    }
    EXPECT_TRUE(r.drift.empty());
}

TEST(LearnTable, TellsWhenLaterRowsDiffer) {
    Random random(9);
    std::string text = "x,y\n";
    for (int i = 0; i < 200; ++i) {
        const double x = random.normal() + (i < 160 ? 0 : 3);
        text += std::to_string(x) + (random.uniform() < 0.5 ? ",u\n" : ",v\n");
    }
    const Table table = table_from_text(text);
    const Dataset data = plan_columns(table, {.label = "y"})->dataset(table);
    const LearnResult r = learn_table(data, {.seconds = 5, .by_time = true, .study = false});
    ASSERT_EQ(r.drift.size(), 2U);
    EXPECT_TRUE(r.drift[0].differs);
    EXPECT_FALSE(r.drift[1].differs);
    EXPECT_TRUE(r.curve.empty());
    EXPECT_TRUE(std::ranges::any_of(r.warnings,
                                    [](const std::string& w) { return w.starts_with("drift: "); }));
}

TEST(LearnTable, SuspectsAColumnThatKnowsTheTarget) {
    const Table table = leaking_table(true);
    const Dataset data = plan_columns(table, {.label = "y"})->dataset(table);
    const LearnResult r = learn_table(data, {.seconds = 3});
    ASSERT_FALSE(r.warnings.empty());
    EXPECT_NE(r.warnings.front().find("leakage suspected: the column 'told'"), std::string::npos);
}

TEST(LearnTable, GroupsAreNeverOnBothSides) {
    const Table table = leaking_table(false);
    const Dataset data = plan_columns(table, {.label = "y"})->dataset(table);
    LearnSettings settings{.seconds = 3};
    for (std::size_t i = 0; i < data.size(); ++i) settings.groups.push_back(std::to_string(i / 20));
    const LearnResult r = learn_table(data, settings);
    std::set<std::string> learnt;
    for (const std::size_t i : r.split.train) learnt.insert(settings.groups[i]);
    for (const std::size_t i : r.split.test) EXPECT_FALSE(learnt.contains(settings.groups[i]));
}

TEST(LearnTable, RefusesWhatCannotBeLearnt) {
    Dataset few = embedded("iris").select(std::vector<std::size_t>{0, 50, 100});
    EXPECT_THROW(learn_table(few), InvalidInput);
    Dataset one = embedded("iris");
    one.y = {};
    EXPECT_THROW(learn_table(one), InvalidInput);
    EXPECT_THROW(learn_table(embedded("iris"), {.seconds = 0}), InvalidInput);
}

}  // namespace
}  // namespace mercer
