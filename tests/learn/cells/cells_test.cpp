// Machines of cells: how space is cut, what each cell learns, and what the whole says.
#include "mercer/learn/cells/cells.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <set>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/cells/detail/cell_growth.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

/// A board of squares of two colours, a wave over it, or its squares as several classes.
Dataset board(std::size_t rows, const std::string& labels = "colours", std::uint64_t seed = 3) {
    Random random(seed);
    Dataset data;
    std::vector<double> x;
    for (std::size_t i = 0; i < rows; ++i) {
        const double a = random.uniform(0, 4), b = random.uniform(0, 4);
        x.push_back(a);
        x.push_back(b);
        const auto square = static_cast<int>(a) + static_cast<int>(b);
        data.y.values.push_back(labels == "numbers" ? std::sin(3 * a) * b
                                : labels == "five"  ? square / 2 + (a > 2 ? 1 : 0)
                                                    : square % 2);
    }
    data.x = Rows::dense(std::move(x), 2);
    return data;
}

const FitSettings narrow{.kernel = rbf({.gamma = 4.0})};

Machine in_cells(const FitSettings& common, std::size_t rows, const std::string& task,
                 const SettingValues& values = {}) {
    return approximate(common, CellRule{.rows = rows}, [=](const FitSettings& own) {
        return machine_entry(task).make(own, values);
    });
}

double share_right(const Model& model, const Dataset& data) {
    const Labels said = model.predict_labels(data.x);
    std::size_t right = 0;
    for (std::size_t i = 0; i < data.size(); ++i) right += said.values[i] == data.y.values[i];
    return static_cast<double>(right) / static_cast<double>(data.size());
}

// ---- How space is cut.

TEST(CellTree, CutsUntilNoCellHasTooManyRows) {
    const Dataset data = board(3000);
    const GrownCells grown = grow_cells(data.x, 100, 1, std::size_t{1} << 30, {});
    std::vector<std::size_t> count(grown.tree.cells(), 0);
    for (const std::uint32_t k : grown.cell) ++count.at(k);
    EXPECT_GE(grown.tree.cells(), 30U);
    EXPECT_LE(grown.tree.cells(), 90U);
    EXPECT_LE(std::ranges::max(count), 100U);
    EXPECT_GE(std::ranges::min(count), 1U);
    EXPECT_EQ(grown.tree.place(data.x), grown.cell);
}

TEST(CellTree, PlacesARowTheSameAloneDenseSparseOrInDouble) {
    const Dataset data = board(2000);
    const Rows single = data.x.to_float();
    const CellTree tree = grow_cells(single, 50, 1, std::size_t{1} << 30, {}).tree;
    const auto place = tree.place(single);
    EXPECT_EQ(tree.place(single.to_sparse()), place);
    EXPECT_EQ(tree.place(single.to_double()), place);
    for (std::size_t i = 0; i < 50; ++i) {
        EXPECT_EQ(tree.place(single.slice(i, 1)).front(), place[i]);
    }
    EXPECT_THROW(tree.place(Rows::dense(std::vector<float>(3), 3)), InvalidInput);
}

TEST(CellTree, IsTheSameForAnyNumberOfThreads) {
    const Dataset data = board(5000);
    const ThreadLimit one(1);
    const GrownCells alone = grow_cells(data.x, 70, 9, std::size_t{1} << 30, {});
    const ThreadLimit three(3);
    const GrownCells together = grow_cells(data.x, 70, 9, std::size_t{1} << 30, {});
    EXPECT_EQ(alone.tree.planes().values(), together.tree.planes().values());
    EXPECT_EQ(alone.cell, together.cell);
    const GrownCells other = grow_cells(data.x, 70, 10, std::size_t{1} << 30, {});
    EXPECT_NE(alone.tree.planes().values(), other.tree.planes().values());
}

TEST(CellTree, LeavesEqualRowsTogether) {
    // A thousand equal rows, a thousand equal others, and some of their own.
    std::vector<double> x;
    for (int i = 0; i < 1000; ++i) x.insert(x.end(), {1, 2});
    for (int i = 0; i < 1000; ++i) x.insert(x.end(), {1, 2.5});
    for (int i = 0; i < 37; ++i) x.insert(x.end(), {0.01 * i, 5});
    const Rows rows = Rows::dense(std::move(x), 2);
    const GrownCells grown = grow_cells(rows, 20, 1, std::size_t{1} << 30, {});
    for (std::size_t i = 1; i < 1000; ++i) ASSERT_EQ(grown.cell[i], grown.cell[0]);
    for (std::size_t i = 1001; i < 2000; ++i) ASSERT_EQ(grown.cell[i], grown.cell[1000]);
    std::vector<std::size_t> count(grown.tree.cells(), 0);
    for (const std::uint32_t k : grown.cell) ++count[k];
    EXPECT_EQ(std::ranges::count_if(count, [](std::size_t c) { return c > 20; }), 2);
    // All the same: one cell.
    const Rows same = Rows::dense(std::vector<float>(500, 3.0F), 1);
    EXPECT_EQ(grow_cells(same, 20, 1, std::size_t{1} << 30, {}).tree.cells(), 1U);
    // One that differs among many: whatever sample was looked at.
    std::vector<float> nearly(5000, 3.0F);
    nearly[1234] = 4;
    const Rows almost = Rows::dense(std::move(nearly), 1);
    EXPECT_EQ(grow_cells(almost, 20, 1, std::size_t{1} << 30, {}).tree.cells(), 2U);
}

TEST(CellTree, CutsWhatLiesFarOutInFewForks) {
    // Each row ten times as far as the one before: centres would cut them off one by one.
    std::vector<double> x;
    for (int i = 0; i < 300; ++i) x.push_back(std::pow(10.0, i % 150) * (i < 150 ? 1 : -1));
    const Rows rows = Rows::dense(std::move(x), 1);
    const GrownCells grown = grow_cells(rows, 10, 1, std::size_t{1} << 30, {});
    EXPECT_GE(grown.tree.cells(), 30U);
    EXPECT_LE(grown.tree.cells(), 120U);
}

TEST(CellTree, RefusesForksThatAreNoTree) {
    const auto tree = [](std::vector<CellTree::Fork> forks) {
        return CellTree(Matrix<double>(forks.size(), 2), forks, "file");
    };
    EXPECT_EQ(tree({{1, -1}, {-2, -3}}).cells(), 3U);
    for (const auto& forks : std::vector<std::vector<CellTree::Fork>>{
             {{0, -1}},                      // round and round
             {{1, -1}, {0, -2}},             // back
             {{-1, -1}},                     // both ways to one cell
             {{-1, -3}},                     // a cell that is not there
             {{1, 1}, {-1, -2}},             // one fork twice
             {{2, -1}, {-2, -3}, {-4, -1}},  // a fork nobody leads to
             {{-1, INT64_MIN}}}) {
        EXPECT_THROW(tree(forks), InvalidInput);
    }
    EXPECT_THROW(CellTree(Matrix<double>(2, 2), {{-1, -2}}), InvalidInput);
    EXPECT_THROW(CellTree(Matrix<double>(1, 2, NAN), {{-1, -2}}), InvalidInput);
}

TEST(CellTree, GrowsOnlyTheWaysThatAreFollowed) {
    const Dataset data = board(4000);
    const std::vector<std::size_t> wanted{17, 2000};
    const GrownCells some = grow_cells(data.x, 100, 1, std::size_t{1} << 30, {}, wanted);
    for (const std::size_t i : wanted) {
        EXPECT_LE(std::ranges::count(some.cell, some.cell[i]), 100);
    }
    EXPECT_LT(some.tree.cells(), grow_cells(data.x, 100, 1, std::size_t{1} << 30, {}).tree.cells());
}

TEST(CellTree, KeepsToItsMemory) {
    const Dataset data = board(4000);
    EXPECT_THROW(grow_cells(data.x, 10, 1, 2000, {}), InvalidInput);
}

// ---- What is learnt.

TEST(Cells, EveryTaskOfClassesAndNumbersLearns) {
    const Dataset colours = board(1500), five = board(1500, "five"), wave = board(1500, "numbers");
    const Dataset fresh = board(500, "colours", 8), fresh_five = board(500, "five", 8);
    for (const char* task : {"svc", "nu-svc", "logistic", "squared-hinge", "perceptron"}) {
        SCOPED_TRACE(task);
        SettingValues values;
        if (std::string(task) == "svc") values = {{"C", 100.0}};
        if (std::string(task) == "nu-svc") values = {{"nu", 0.1}};
        if (machine_entry(task).find("lambda")) values = {{"lambda", 0.01}};
        EXPECT_GT(share_right(in_cells(narrow, 200, task, values).fit(colours), fresh), 0.93);
        EXPECT_GT(share_right(in_cells(narrow, 200, task, values).fit(five), fresh_five), 0.93);
    }
    for (const char* task : {"ridge", "svr", "nu-svr", "huber", "quantile"}) {
        SCOPED_TRACE(task);
        SettingValues values;
        if (machine_entry(task).find("C")) values = {{"C", 100.0}};
        if (machine_entry(task).find("lambda")) values = {{"lambda", 0.01}};
        const Model model = in_cells(narrow, 200, task, values).fit(wave);
        const Dataset there = board(500, "numbers", 8);
        const std::vector<double> said = model.predict(there.x);
        double squares = 0;
        for (std::size_t i = 0; i < said.size(); ++i) {
            squares += std::pow(said[i] - there.y.values[i], 2);
        }
        EXPECT_LT(std::sqrt(squares / 500), 0.2);
    }
}

TEST(Cells, AnswerAsTheMachineOfTheirRowsAlone) {
    const Dataset data = board(900);
    const SettingValues values{{"C", 10.0}};
    const Model model = in_cells(narrow, 150, "svc", values).fit(data);
    const Cells& cells = *cells_of(model);
    const auto place = cells.tree.place(data.x);
    const Matrix<double> all = model.decision(data.x);
    std::size_t learnt = 0;
    for (std::size_t k = 0; k < cells.all.size(); ++k) {
        std::vector<std::size_t> rows;
        for (std::size_t i = 0; i < data.size(); ++i) {
            if (place[i] == k) rows.push_back(i);
        }
        ASSERT_EQ(cells.all[k].rows, rows.size());
        const Dataset own = data.select(rows);
        if (!cells.all[k].model) {
            EXPECT_EQ(classes_of(own.y).count(), 1U);
            for (const std::size_t i : rows) EXPECT_EQ(all(i, 0), own.y.values[0] == 0 ? 1 : -1);
            continue;
        }
        ++learnt;
        const Model alone = machine_entry("svc").make(narrow, values).fit(own);
        EXPECT_EQ(alone.report().dual, cells.all[k].model->report().dual);
        const Matrix<double> wanted = alone.decision(own.x);
        for (std::size_t r = 0; r < rows.size(); ++r) EXPECT_EQ(all(rows[r], 0), wanted(r, 0));
        for (std::size_t p = 0; p < alone.origins().size(); ++p) {
            EXPECT_EQ(cells.all[k].model->origins()[p], rows[alone.origins()[p]]);
        }
    }
    EXPECT_GT(learnt, 3U);
}

TEST(Cells, AreTheSameForAnyNumberOfThreads) {
    const Dataset data = board(1200);
    const Machine machine = in_cells(narrow, 100, "svc", {{"C", 10.0}});
    const ThreadLimit one(1);
    const Model alone = machine.fit(data);
    const ThreadLimit four(4);
    const Model together = machine.fit(data);
    EXPECT_EQ(alone.decision(data.x).values(), together.decision(data.x).values());
    EXPECT_EQ(alone.report().dual, together.report().dual);
    EXPECT_EQ(alone.points(), together.points());
}

TEST(Cells, SumTheirReportsAndKeepTheWorstGap) {
    const Model model = in_cells(narrow, 100, "svc", {{"C", 10.0}}).fit(board(1200));
    double primal = 0, dual = 0, worst = 0;
    std::size_t points = 0;
    for (const Cell& cell : cells_of(model)->all) {
        if (!cell.model) continue;
        const Report own = cell.model->report();
        ASSERT_TRUE(own.is_bracketed());
        primal += own.primal;
        dual += own.dual;
        worst = std::max(worst, own.relative_gap);
        points += cell.model->expansion().size();
    }
    const Report report = model.report();
    EXPECT_TRUE(report.is_bracketed());
    EXPECT_DOUBLE_EQ(report.primal, primal);
    EXPECT_DOUBLE_EQ(report.dual, dual);
    EXPECT_EQ(report.relative_gap, worst);
    EXPECT_EQ(model.points(), points);
    EXPECT_EQ(model.expansion().size(), 0U);
    EXPECT_EQ(report.figures.at("cells"), static_cast<double>(cells_of(model)->all.size()));
}

TEST(Cells, ThatLackClassesNeverSayThem) {
    // Seven classes in stripes: most cells know two or three of them.
    Dataset data = board(2100);
    for (std::size_t i = 0; i < data.size(); ++i) {
        std::vector<double> row(2);
        data.x.copy_row(i, row);
        data.y.values[i] = std::floor(row[0] * 7 / 4);
    }
    for (const char* multi : {"ovo", "ovr"}) {
        SCOPED_TRACE(multi);
        const Model model =
            in_cells(narrow, 100, "svc", {{"C", 100.0}, {"multi_class", std::string(multi)}})
                .fit(data);
        const Cells& cells = *cells_of(model);
        const auto place = cells.tree.place(data.x);
        const std::vector<double> said = model.predict(data.x);
        bool some_lack = false;
        for (std::size_t i = 0; i < data.size(); ++i) {
            const Cell& cell = cells.all[place[i]];
            if (!cell.model) continue;
            some_lack = some_lack || cell.classes.size() < 7;
            const auto position = static_cast<std::size_t>(said[i]);
            ASSERT_NE(std::ranges::find(cell.classes, position), cell.classes.end());
            // Among its own classes the cell says what its machine says.
            const double own = cell.model->predict(data.x.slice(i, 1)).front();
            ASSERT_EQ(position, cell.classes[static_cast<std::size_t>(own)]);
        }
        EXPECT_TRUE(some_lack);
        EXPECT_GT(share_right(model, data), 0.95);
    }
}

TEST(Cells, KnowSparseRowsWeightsScalingAndNames) {
    Dataset data = board(800);
    data.y.names = {"white", "black"};
    data.weights.assign(800, 1);
    for (std::size_t i = 0; i < 800; i += 10) data.weights[i] = 0;
    FitSettings common{.kernel = rbf({.gamma = 4.0}), .scaling = ScalingRule::parse("standard")};
    common.double_precision = true;
    const Machine machine = in_cells(common, 100, "svc", {{"C", 10.0}});
    const Model dense = machine.fit(data);
    std::size_t rows = 0;
    for (const Cell& cell : cells_of(dense)->all) rows += cell.rows;
    EXPECT_EQ(rows, 720U) << "rows of weight 0 say nothing";
    EXPECT_EQ(dense.predict_labels(data.x).names, (std::vector<std::string>{"black", "white"}));
    Dataset sparse = data;
    sparse.x = data.x.to_sparse();
    common.scaling = {};
    const Machine plain = in_cells(common, 100, "svc", {{"C", 10.0}});
    EXPECT_EQ(plain.fit(sparse).predict(data.x), plain.fit(data).predict(data.x));
}

TEST(Cells, BalanceClassesOverAllRows) {
    Dataset data = board(1500);
    for (std::size_t i = 0; i < data.size(); ++i) {  // one in ten, more of them to the right
        std::vector<double> row(2);
        data.x.copy_row(i, row);
        data.y.values[i] = std::fmod(row[1] * 10, 1.0) < row[0] / 20 ? 1 : 0;
    }
    const Model model = in_cells(narrow, 200, "svc", {{"balanced", true}}).fit(data);
    const double ones = std::accumulate(data.y.values.begin(), data.y.values.end(), 0.0);
    for (const Cell& cell : cells_of(model)->all) {
        if (!cell.model) continue;
        EXPECT_NEAR(cell.model->trained().class_weights[1], 1500 / (2 * ones), 1e-12);
    }
    // A weight of a class that some cells lack is no error; one that nobody has is.
    const Dataset five = board(1500, "five");
    const auto weighed = [](const std::string& text) {
        return SettingValues{{"class_weights", std::vector<std::string>{text}}};
    };
    EXPECT_NO_THROW(in_cells(narrow, 100, "svc", weighed("4=2")).fit(five));
    EXPECT_THROW(in_cells(narrow, 100, "svc", weighed("9=2")).fit(five), InvalidInput);
}

TEST(Cells, LowerANuThatTheyCannotMeet) {
    const Model model = in_cells(narrow, 60, "nu-svc", {{"nu", 0.7}}).fit(board(900));
    bool lower = false;
    for (const Cell& cell : cells_of(model)->all) {
        EXPECT_NE(cell.state, CellState::refused);
        lower = lower || (cell.model && cell.model->trained().nu < 0.7);
    }
    EXPECT_TRUE(lower);
}

TEST(Cells, HaveProbabilitiesWhereDecisionsAreLogOdds) {
    const Dataset data = board(1000);
    const Model model = in_cells(narrow, 100, "logistic", {{"lambda", 0.1}}).fit(data);
    const Matrix<double> p = model.probabilities(data.x);
    for (std::size_t i = 0; i < 1000; ++i) EXPECT_NEAR(p(i, 0) + p(i, 1), 1, 1e-12);
    // Of others they are learnt afterwards.
    const Model margin = in_cells(narrow, 100, "svc").fit(data);
    EXPECT_FALSE(has_probabilities(margin));
    EXPECT_TRUE(
        has_probabilities(calibrate(margin, board(300, "colours", 5), CalibrationMethod::platt)));
    EXPECT_THROW(in_cells(narrow, 100, "svc", {{"probability", true}}).fit(data), InvalidInput);
}

TEST(Cells, LearnSeveralTargets) {
    const Dataset data = board(600, "numbers");
    Matrix<double> targets(600, 2);
    for (std::size_t i = 0; i < 600; ++i) {
        targets(i, 0) = data.y.values[i];
        targets(i, 1) = -2 * data.y.values[i];
    }
    const Model model =
        in_cells(narrow, 100, "ridge", {{"lambda", 0.01}}).fit(data, std::as_const(targets).view());
    const Matrix<double> f = model.decision(data.x);
    ASSERT_EQ(f.columns(), 2U);
    for (std::size_t i = 0; i < 600; ++i) EXPECT_NEAR(f(i, 1), -2 * f(i, 0), 1e-4);
}

TEST(Cells, RefuseWhatTheyCannotBe) {
    const Dataset data = board(300);
    const auto expect_refusal = [&](const Machine& machine, const std::string& why) {
        try {
            machine.fit(data);
            ADD_FAILURE() << why;
        } catch (const InvalidInput& error) {
            EXPECT_NE(std::string(error.what()).find(why), std::string::npos) << error.what();
        }
    };
    expect_refusal(in_cells(narrow, 50, "one-class"), "classes and numbers");
    expect_refusal(in_cells(narrow, 50, "knn"), "more than their expansion");
    expect_refusal(in_cells({.kernel = precomputed()}, 50, "svc"), "columns of numbers");
    expect_refusal(in_cells({.kernel = Kernel::parse("center(rbf(gamma=1))")}, 50, "svc"),
                   "centred");
    expect_refusal(in_cells(narrow, 1, "svc"), "at least 2");
    expect_refusal(in_cells(narrow, 50, "nu-svr", {{"tube", std::string("1 + x0")}}), "formula");
    for (const char* text : {"cells(rows=9)", "cells(rows=2000000)", "cells(rows=x)", "cells(n=5)",
                             "cells(rows=20", "cellular", "cells()"}) {
        EXPECT_THROW(CellRule::parse(text), InvalidInput) << text;
        EXPECT_THROW(check_approximation(text), InvalidInput) << text;
    }
    EXPECT_EQ(CellRule::parse("cells").rows, 2000U);
    EXPECT_EQ(CellRule::parse("cells(rows=500)").rows, 500U);
    EXPECT_NO_THROW(check_approximation("nystroem(centres=3)"));
}

TEST(Cells, StoppedInTheMiddleAnswerEverywhere) {
    const Dataset data = board(2000);
    FitSettings common = narrow;
    std::atomic<int> asked{0};
    common.progress = [&](const Moment&) { return ++asked < 40; };
    const ThreadLimit one(1);
    const Model model = in_cells(common, 60, "svc", {{"C", 10.0}}).fit(data);
    EXPECT_EQ(model.report().status, FitStatus::cancelled);
    const auto& all = cells_of(model)->all;
    const auto missed = std::ranges::count(all, CellState::not_reached, &Cell::state);
    EXPECT_GT(missed, 0);
    EXPECT_GT(std::ranges::count(all, CellState::learnt, &Cell::state), 0);
    EXPECT_EQ(model.report().figures.at("cells_not_reached"), static_cast<double>(missed));
    EXPECT_GT(share_right(model, data), 0.6);
    // Before any cell there is nothing to hand back.
    FitSettings at_once = narrow;
    at_once.progress = [](const Moment&) { return false; };
    EXPECT_THROW(in_cells(at_once, 60, "svc").fit(data), Cancelled);
    at_once = narrow;
    at_once.time_limit = 1e-9;
    EXPECT_THROW(in_cells(at_once, 60, "svc").fit(data), InvalidInput);
    // Means of numbers.
    asked = 0;
    const Dataset wave = board(2000, "numbers");
    const Model numbers = in_cells(common, 60, "svr").fit(wave);
    const auto& cells = *cells_of(numbers);
    const auto place = cells.tree.place(wave.x);
    for (std::size_t k = 0; k < cells.all.size(); ++k) {
        if (cells.all[k].model) continue;
        double sum = 0;
        for (std::size_t i = 0; i < wave.size(); ++i) sum += place[i] == k ? wave.y.values[i] : 0;
        EXPECT_NEAR(cells.all[k].constant[0], sum / static_cast<double>(cells.all[k].rows), 1e-12);
    }
}

TEST(Cells, ThatRefuseTheirRowsSayTheMostFrequentClass) {
    // Hard margins: squares that overlap cannot be told apart, and those cells say the majority.
    Dataset data = board(900);
    for (std::size_t i = 0; i < 900; ++i) {
        std::vector<double> row(2);
        data.x.copy_row(i, row);
        if (row[0] < 1 && i % 7 == 0) data.y.values[i] = 1 - data.y.values[i];
    }
    const FitSettings plain{.kernel = linear()};
    const Model model = in_cells(plain, 40, "hard").fit(data);
    const auto& all = cells_of(model)->all;
    EXPECT_GT(std::ranges::count(all, CellState::refused, &Cell::state), 0);
    EXPECT_GT(std::ranges::count(all, CellState::learnt, &Cell::state), 0);
    EXPECT_EQ(model.report().status, FitStatus::converged);
    EXPECT_GT(share_right(model, data), 0.7);
}

TEST(Cells, ArePutTogetherAgainFromTheirData) {
    const Dataset data = board(700);
    const Model model = in_cells(narrow, 100, "svc").fit(data);
    const CellProblems problems(model, data);
    std::size_t rows = 0;
    for (std::size_t k = 0; k < problems.size(); ++k) {
        const CellProblem problem = problems[k];
        rows += problem.data.size();
        EXPECT_EQ(problem.data.size(), cells_of(model)->all[k].rows);
        for (const std::size_t i : problem.model.origins()) EXPECT_LT(i, problem.data.size());
    }
    EXPECT_EQ(rows, 700U);
    EXPECT_THROW(CellProblems(model, board(100)), InvalidInput);
    EXPECT_THROW(CellProblems(machine_entry("svc").make(narrow, {}).fit(data), data), InvalidInput);
    EXPECT_THROW(require_one_machine(model, "its margin"), InvalidInput);
}

}  // namespace
}  // namespace mercer
