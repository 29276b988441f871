// Cells learnt by several ranks, some each, are those of one alone, to the last bit.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/dist/detail/thread_ranks.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/select/search.hpp"

namespace mercer {
namespace {

/// A board of squares of so many colours; with one, a wave over it. A corner is of one class.
Dataset spread_board(std::size_t rows, std::size_t colours, bool sparse = false) {
    Random random(3);
    Dataset data;
    std::vector<float> x;
    for (std::size_t i = 0; i < rows; ++i) {
        const double a = random.uniform(0, 4), b = random.uniform(0, 4);
        x.push_back(static_cast<float>(a));
        x.push_back(static_cast<float>(b));
        const auto square = static_cast<std::size_t>(a) + static_cast<std::size_t>(b);
        const bool corner = a < 1.5 && b < 1.5;
        data.y.values.push_back(colours == 1 ? std::sin(3 * a) * b
                                : corner     ? 0
                                             : static_cast<double>(square % colours));
        data.weights.push_back(i % 9 == 4 ? 0 : 1);
    }
    data.x = Rows::dense(std::move(x), 2);
    if (sparse) data.x = data.x.to_sparse();
    return data;
}

Machine spread_in_cells(const std::string& task, FitSettings common = {}) {
    common.kernel = rbf({.gamma = 4.0});
    return approximate(common, CellRule{.rows = 120},
                       [=](const FitSettings& own) { return machine_entry(task).make(own, {}); });
}

void expect_same_cells(const Model& found, const Model& alone) {
    const Cells& a = *cells_of(found);
    const Cells& b = *cells_of(alone);
    EXPECT_EQ(a.tree.planes().values(), b.tree.planes().values());
    ASSERT_EQ(a.all.size(), b.all.size());
    EXPECT_EQ(found.report().dual, alone.report().dual);
    EXPECT_EQ(found.report().status, alone.report().status);
    EXPECT_EQ(found.reports()[0].figures, alone.reports()[0].figures);
    EXPECT_EQ(found.trained().numbers, alone.trained().numbers);
    EXPECT_EQ(found.extras().find<Calibration>() == nullptr,
              alone.extras().find<Calibration>() == nullptr);
    for (std::size_t k = 0; k < b.all.size(); ++k) {
        SCOPED_TRACE("cell " + std::to_string(k));
        EXPECT_EQ(a.all[k].state, b.all[k].state);
        EXPECT_EQ(a.all[k].rows, b.all[k].rows);
        EXPECT_EQ(a.all[k].classes, b.all[k].classes);
        EXPECT_EQ(a.all[k].constant, b.all[k].constant);
        ASSERT_EQ(a.all[k].model == nullptr, b.all[k].model == nullptr);
        if (!b.all[k].model) continue;
        const Model& x = *a.all[k].model;
        const Model& y = *b.all[k].model;
        EXPECT_EQ(x.expansion().coefficients.values(), y.expansion().coefficients.values());
        EXPECT_EQ(x.expansion().bias, y.expansion().bias);
        EXPECT_EQ(x.expansion().kernel.text(), y.expansion().kernel.text());
        EXPECT_EQ(x.expansion().points.is_sparse(), y.expansion().points.is_sparse());
        EXPECT_EQ(x.origins(), y.origins());
        EXPECT_EQ(x.class_names(), y.class_names());
        EXPECT_EQ(x.trained().C, y.trained().C);
        EXPECT_EQ(x.trained().class_weights, y.trained().class_weights);
        EXPECT_EQ(x.report().dual, y.report().dual);
        EXPECT_EQ(x.expansion_values(y.expansion().points).values(),
                  y.expansion_values(y.expansion().points).values());
    }
}

TEST(SpreadCells, AreThoseOfOneRank) {
    const struct {
        const char* task;
        std::size_t colours;
        bool sparse;
        std::vector<std::size_t> counts;
    } cases[]{{"svc", 2, false, {2, 3, 30}},  // more ranks than cells
              {"svc", 3, true, {3}},
              {"logistic", 2, false, {30}},
              {"ridge", 1, false, {5}}};
    for (const auto& [task, colours, sparse, counts] : cases) {
        SCOPED_TRACE(task);
        const Dataset data = spread_board(1400, colours, sparse);
        const Model alone = spread_in_cells(task).fit(data);
        ASSERT_GE(cells_of(alone)->all.size(), 10U);
        for (const std::size_t count : counts) {
            run_ranks(count, [&, &task = task](Communicator& ranks) {
                const SpreadOver spread(ranks, HeldRows::all);
                expect_same_cells(spread_in_cells(task).fit(data), alone);
            });
        }
    }
}

TEST(SpreadCells, RowsOfAllRanksAreGathered) {
    const Dataset data = spread_board(9000, 2);  // two leaves: the third rank has no rows
    FitSettings common;
    common.scaling = ScalingRule::parse("standard");
    const Machine machine = approximate(common, CellRule{.rows = 900}, [](const FitSettings& own) {
        return machine_entry("ridge").make(own, {});
    });
    Dataset numbers = data;
    for (double& y : numbers.y.values) y *= 1.5;
    const Model alone = machine.fit(numbers);
    run_ranks(3, [&](Communicator& ranks) {
        const RowRange own = own_rows(ranks, data.size());
        std::vector<std::size_t> rows(own.size());
        std::iota(rows.begin(), rows.end(), own.first);
        expect_same_cells(machine.fit(numbers.select(rows)), alone);
    });
}

TEST(SpreadCells, ASearchInEachCellIsThatOfOneRank) {
    const Dataset data = spread_board(700, 2);
    const auto run = [&](Communicator* ranks) {
        return search_cells(svm_cell_task({.task = Task::svc}, data), {}, "rbf(gamma=1)",
                            {Axis::parse("gamma=1,8"), Axis::parse("C=1,30")}, data,
                            CellRule{.rows = 120}, {.folds = {.folds = 3}, .ranks = ranks});
    };
    const CellSearch alone = run(nullptr);
    run_ranks(3, [&](Communicator& ranks) {
        const CellSearch found = run(&ranks);
        expect_same_cells(found.model, alone.model);
        EXPECT_EQ(found.axes, alone.axes);
        EXPECT_EQ(found.points, alone.points);
        EXPECT_EQ(found.score, alone.score);
        for (std::size_t k = 0; k < alone.cells.size(); ++k) {
            EXPECT_EQ(found.cells[k].values, alone.cells[k].values);
            EXPECT_EQ(found.cells[k].usual, alone.cells[k].usual);
        }
    });
}

/// Whoever stops leaves out its own cells; all have the same model of what there is.
TEST(SpreadCells, OneRankThatStopsLeavesOutItsCells) {
    const Dataset data = spread_board(1400, 2);
    for (const bool by_clock : {false, true}) {
        std::vector<std::unique_ptr<Model>> models(2);
        run_ranks(2, [&](Communicator& ranks) {
            const SpreadOver spread(ranks, HeldRows::all);
            const ThreadLimit one(1);  // the one that is asked learns all of a rank's cells
            FitSettings common;
            if (ranks.rank() == 1) {
                if (by_clock) common.time_limit = 0.25;
                common.progress = [&](const Moment& moment) {
                    if (moment.task != "training") return true;
                    if (by_clock) std::this_thread::sleep_for(std::chrono::milliseconds(300));
                    return by_clock;
                };
            }
            models[ranks.rank()] =
                std::make_unique<Model>(spread_in_cells("svc", common).fit(data));
        });
        const Report& report = models[0]->reports()[0];
        EXPECT_EQ(report.status, by_clock ? FitStatus::time_limit : FitStatus::cancelled);
        EXPECT_GE(report.figures.at("cells_not_reached"), 3);
        EXPECT_LE(report.figures.at("cells_not_reached") * 2, report.figures.at("cells") + 2);
        expect_same_cells(*models[1], *models[0]);
    }
}

TEST(SpreadCells, OneRankThatStopsBeforeThereAreCellsStopsAll) {
    const Dataset data = spread_board(1400, 2);
    run_ranks(2, [&](Communicator& ranks) {
        const SpreadOver spread(ranks, HeldRows::all);
        FitSettings common;
        if (ranks.rank() == 1) common.progress = [](const Moment&) { return false; };
        EXPECT_THROW(spread_in_cells("svc", common).fit(data), Cancelled);
    });
}

TEST(SpreadCells, OneRankThatFailsEndsAll) {
    const Dataset data = spread_board(1400, 2);
    const auto body = [&](Communicator& ranks) {
        const SpreadOver spread(ranks, HeldRows::all);
        const ThreadLimit one(1);
        FitSettings common;
        if (ranks.rank() == 1) {
            common.progress = [](const Moment& moment) -> bool {
                if (moment.task == "training") throw std::runtime_error("enough");
                return true;
            };
        }
        spread_in_cells("svc", common).fit(data);
    };
    EXPECT_THROW(run_ranks(3, body), std::runtime_error);
}

}  // namespace
}  // namespace mercer
