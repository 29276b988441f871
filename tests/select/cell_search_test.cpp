// A search in each cell, and one in the span of some rows.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/select/search.hpp"

namespace mercer {
namespace {

const FitSettings plain_settings{};

Dataset squares(std::size_t rows) {
    return make("checkerboard", {.n = rows, .noise = 0.05});
}

TEST(CellSearch, ChoosesInEachCellAsASearchOfItsRowsWould) {
    const Dataset data = squares(900);
    const std::vector<Axis> axes{Axis::parse("gamma=0.5,4,32"), Axis::parse("C=1,30")};
    const SearchSettings how{.folds = {.folds = 3}};
    const SvmSettings svc{.task = Task::svc};
    const CellSearch found = search_cells(svm_cell_task(svc, data), plain_settings, "rbf(gamma=1)",
                                          axes, data, CellRule{.rows = 200}, how);
    EXPECT_EQ(found.axes, (std::vector<std::string>{"gamma", "C"}));
    const CellProblems problems(found.model, data);
    ASSERT_EQ(found.cells.size(), problems.size());
    std::size_t searched = 0;
    double right = 0;
    for (std::size_t k = 0; k < problems.size(); ++k) {
        const CellProblem problem = problems[k];
        EXPECT_EQ(found.cells[k].rows, problem.data.size());
        right += found.cells[k].score * static_cast<double>(found.cells[k].rows);
        if (found.points[k] == 0) continue;
        ++searched;
        EXPECT_EQ(found.points[k], 6U);
        const SearchSpace space(svm_search_task(svc, "rbf(gamma=1)"), axes, problem.data);
        const SearchResult own = search(space, problem.data, how);
        EXPECT_EQ(found.cells[k].values, own.points[*own.best].values);
        EXPECT_EQ(found.cells[k].score, own.points[*own.best].mean);
        const Model& model = *cells_of(found.model)->all[k].model;
        EXPECT_EQ(model.trained().C, found.cells[k].values[1]);
        EXPECT_EQ(model.expansion().kernel.text(), space.kernel(found.cells[k].values).text());
    }
    EXPECT_GE(searched, 4U);
    EXPECT_NEAR(found.score, right / 900, 1e-12);
    EXPECT_GT(found.score, 0.85);
}

TEST(CellSearch, IsTheSameForAnyNumberOfThreads) {
    const Dataset data = squares(600);
    const auto run = [&] {
        return search_cells(svm_cell_task({.task = Task::svc}, data), plain_settings,
                            "rbf(gamma=1)", {Axis::parse("gamma=1:30:log4")}, data,
                            CellRule{.rows = 100});
    };
    const ThreadLimit one(1);
    const CellSearch alone = run();
    const ThreadLimit three(3);
    const CellSearch together = run();
    EXPECT_EQ(alone.model.decision(data.x).values(), together.model.decision(data.x).values());
    EXPECT_EQ(alone.score, together.score);
}

TEST(CellSearch, ServesOtherMachinesDefaultsAndPlaceholders) {
    const Dataset data = squares(500);
    const CellSearch logistic =
        search_cells(machine_cell_task(machine_entry("logistic"), {}), plain_settings,
                     "rbf(gamma=4)", {Axis::parse("lambda=0.01,1")}, data, CellRule{.rows = 150});
    EXPECT_GT(logistic.score, 0.7);
    const CellSearch by_itself =
        search_cells(svm_cell_task({.task = Task::svc}, data), plain_settings, "rbf", {}, data,
                     CellRule{.rows = 150});
    EXPECT_EQ(by_itself.axes, (std::vector<std::string>{"gamma", "C"}));
    EXPECT_GT(by_itself.score, 0.85);
    const CellSearch powers =
        search_cells(svm_cell_task({.task = Task::svc}, data), plain_settings,
                     "polynomial(degree=$d)", {Axis::parse("d=1,3")}, data, CellRule{.rows = 150});
    std::set<double> chosen;
    for (const CellChoice& cell : powers.cells) {
        if (!cell.values.empty()) chosen.insert(cell.values[0]);
    }
    EXPECT_TRUE(chosen.contains(3));
    const Dataset wave = make("sinc", {.n = 400, .noise = 0.1});
    const CellSearch numbers =
        search_cells(svm_cell_task({.task = Task::svr}, wave), plain_settings, "rbf(gamma=1)",
                     {Axis::parse("C=0.1,10")}, wave, CellRule{.rows = 100});
    EXPECT_EQ(numbers.measure, Metric::mean_squared_error);
    EXPECT_LT(numbers.score, 0.05);
}

TEST(CellSearch, TakesMiddleValuesWhereFoldsCannotBe) {
    // One row of the other class in each of some cells.
    Dataset data = squares(300);
    for (std::size_t i = 0; i < 300; ++i) data.y.values[i] = i == 7 || i == 150 ? 1 : -1;
    const CellSearch found =
        search_cells(svm_cell_task({.task = Task::svc}, data), plain_settings, "rbf(gamma=1)",
                     {Axis::parse("C=100,1,10")}, data, CellRule{.rows = 60});
    std::size_t usual = 0;
    for (const CellChoice& cell : found.cells) {
        if (!cell.usual) continue;
        ++usual;
        EXPECT_EQ(cell.values, (std::vector<double>{10}));
        EXPECT_TRUE(std::isnan(cell.score));
    }
    EXPECT_GE(usual, 1U);
    EXPECT_EQ(found.score, 1) << "all other cells are of one class";
}

TEST(CellSearch, GroupsGoWithTheirRows) {
    const Dataset data = squares(400);
    SearchSettings how{.folds = {.kind = FoldKind::grouped, .folds = 3}};
    for (std::size_t i = 0; i < 400; ++i) how.folds.keys.push_back("g" + std::to_string(i % 20));
    const CellSearch found =
        search_cells(svm_cell_task({.task = Task::svc}, data), plain_settings, "rbf(gamma=4)",
                     {Axis::parse("C=1,10")}, data, CellRule{.rows = 120}, how);
    EXPECT_GT(found.score, 0.7);
}

TEST(CellSearch, RefusesWhatItCannotDo) {
    const Dataset data = squares(300);
    const auto run = [&](const SearchSettings& how, const std::string& axis) {
        return search_cells(svm_cell_task({.task = Task::svc}, data), plain_settings,
                            "rbf(gamma=1)", {Axis::parse(axis)}, data, CellRule{.rows = 60}, how);
    };
    EXPECT_THROW(run({.journal = "/tmp/none"}, "C=1,2"), InvalidInput);
    EXPECT_THROW(run({}, "delta=1,2"), InvalidInput);
    EXPECT_THROW(run({}, "C=-1,2"), InvalidInput);
}

TEST(CellSearch, StoppedEarlyAnswersEverywhere) {
    const Dataset data = squares(900);
    FitSettings common;
    int asked = 0;
    common.progress = [&](const Moment&) { return ++asked < 30; };
    const ThreadLimit one(1);
    const CellSearch found = search_cells(
        svm_cell_task({.task = Task::svc}, data), common, "rbf(gamma=1)",
        {Axis::parse("gamma=1,10"), Axis::parse("C=1,10")}, data, CellRule{.rows = 80});
    EXPECT_EQ(found.model.report().status, FitStatus::cancelled);
    EXPECT_EQ(found.model.predict(data.x).size(), 900U);
}

// ---- In the span of some rows.

TEST(SpanSearch, SharesFeaturesAndScoresAsMachinesTrainedAlone) {
    const Dataset data = squares(500);
    for (const char* scaling : {"none", "standard"}) {
        FitSettings common;
        common.scaling = ScalingRule::parse(scaling);
        const SearchSpace space(search_task(machine_entry("ridge"), common, {}, "rbf(gamma=1)",
                                            Nystroem{.centres = 60}),
                                {Axis::parse("gamma=1,4"), Axis::parse("lambda=0.01,0.1,1")}, data);
        const SearchResult shared = search(space, data, {.folds = {.folds = 3}});
        const SearchResult alone = search(space, data, {.folds = {.folds = 3}, .share = false});
        EXPECT_TRUE(shared.shared);
        EXPECT_FALSE(alone.shared);
        ASSERT_EQ(shared.points.size(), 6U);
        for (std::size_t p = 0; p < 6; ++p) {
            // Of scaled rows the centres are the same; else those of all rows instead of a fold's.
            const double room = scaling == std::string("standard") ? 1e-3 : 0.1;
            EXPECT_NEAR(shared.points[p].mean, alone.points[p].mean, room * alone.points[p].mean);
        }
        const Model model = learn_point(space, shared.points[*shared.best], data);
        EXPECT_LE(model.expansion().size(), 60U);
    }
}

TEST(SpanSearch, SearchesSupportVectorMachinesAndNamesWhatFails) {
    const Dataset data = squares(400);
    const SearchSpace space(
        svm_search_task({.task = Task::svc}, "rbf(gamma=1)", Nystroem{.centres = 80}),
        {Axis::parse("gamma=1,10"), Axis::parse("C=1,10")}, data);
    const SearchResult found = search(space, data);
    ASSERT_TRUE(found.best);
    EXPECT_GT(found.points[*found.best].mean, 0.8);
    EXPECT_EQ(found.points[*found.best].rows, 320U);
    // A kernel that has no span: every point says why.
    const SearchSpace other(
        svm_search_task({.task = Task::svc}, "sigmoid(gamma=1, coef0=-1)", Nystroem{.centres = 80}),
        {Axis::parse("C=1,10")}, data);
    try {
        search(other, data);
        ADD_FAILURE();
    } catch (const InvalidInput& error) {
        EXPECT_NE(std::string(error.what()).find("positive definite"), std::string::npos);
    }
}

}  // namespace
}  // namespace mercer
