// Machines of cells: space is cut into cells, each learns a machine from its own rows, and a row is
// answered by the machine of the cell it lies in. For problems that are rough, so that few rows far
// away matter, and too large to be learnt whole.
//
//   const Machine machine =
//       approximate(FitSettings{}, CellRule{.rows = 2000},
//                   [](const FitSettings& own) { return machine_entry("svc").make(own, {}); });
//   const Model model = machine.fit(data);
//   const Cells* cells = model.extras().find<Cells>();        // null: it is no model of cells
//   cells->all.size(), cells->all[0].model->report().relative_gap;
//
// Each fork of a tree has two centres, and a row goes on to the nearer of them; what is kept is the
// plane between the two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/words.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

/// Which cell a row lies in, by one product a fork.
class CellTree {
   public:
    /// Where the two ways of a fork lead: to a fork further on (>= 0), or to cell −1 − way.
    using Fork = std::array<std::int64_t, 2>;

    CellTree() = default;  ///< a single cell
    /// `planes` has a row for each fork: w, then t. A row x takes the first way where w·x <= t,
    /// else the second. Throws InvalidInput, beginning with `place`, unless every fork and every
    /// cell is reached from fork 0 by exactly one way, and all numbers are finite.
    CellTree(Matrix<double> planes, std::vector<Fork> forks, const std::string& place = "cells");

    std::size_t cells() const { return forks_.size() + 1; }
    const Matrix<double>& planes() const { return planes_; }
    const std::vector<Fork>& forks() const { return forks_; }

    /// The cell of each row. The same for a row whether it is dense or sparse, alone or among
    /// others. Throws InvalidInput for rows of other columns than the planes have.
    std::vector<std::uint32_t> place(const Rows& scaled) const;

   private:
    Matrix<double> planes_{};
    std::vector<Fork> forks_{};
};

enum class CellState {
    learnt,
    one_class,    ///< all its rows are of one class, which it says
    refused,      ///< its rows are too few for the machine, or not what it needs
    not_reached,  ///< training was stopped before
};

constexpr Words cell_state_words{
    std::pair{CellState::learnt, "learnt"}, std::pair{CellState::one_class, "one-class"},
    std::pair{CellState::refused, "refused"}, std::pair{CellState::not_reached, "not-reached"}};

/// One cell and what it says.
struct Cell {
    CellState state = CellState::learnt;
    std::size_t rows = 0;  ///< of the training data that lie in it
    /// Of its rows, scaled already, with the cell's own classes and settings; null unless learnt.
    std::shared_ptr<const Model> model{};
    std::vector<std::size_t> classes{};  ///< of the model's classes those it knows, ascending
    /// Unless learnt: decision values, one an output of the whole model, for the most frequent
    /// class of the rows, or their mean.
    std::vector<double> constant{};
};

/// What makes a model one of cells. Its expansion has no points.
struct Cells final : Extra {
    CellTree tree{};
    std::vector<Cell> all{};

    Cells() = default;
    Cells(CellTree forks, std::vector<Cell> cells)
        : tree(std::move(forks)), all(std::move(cells)) {}
    void check(const ModelParts& model, const std::string& place) const override;
    std::string why_not_reduced() const override;
    bool decides() const override { return true; }
    Matrix<double> decide(const Model& model, const Rows& scaled,
                          const Progress& progress) const override;
    /// Of all cells together.
    std::size_t points() const override;
};

/// Null for a model that is not one of cells.
const Cells* cells_of(const Model& model);
/// Throws InvalidInput for a model of cells: `what` ("its margin") is that of one machine.
void require_one_machine(const Model& model, const std::string& what);

/// Puts cells into the parts of a model, whose classes, columns and expansion without points are
/// there, and the sums of the cells' reports. `stopped` is why some were not reached.
void set_cells(ModelParts& model, Cells cells, FitStatus stopped = FitStatus::converged);

/// What one cell learns from.
struct CellRows {
    std::size_t cell = 0;
    Dataset data{};                      ///< rows scaled already
    Matrix<double> targets{};            ///< no columns: the labels count
    std::vector<std::size_t> origins{};  ///< where the rows stood in the data given
};
/// The machine of one cell, with these settings. May throw Cancelled, and InvalidInput where the
/// rows are too few for it.
using CellFit = std::function<Model(const CellRows& rows, const FitSettings& settings)>;

/// Rows of each class but those of weight 0; none of tasks without classes.
ClassCounts class_counts(Task task, const Dataset& data);

/// Cuts the rows into cells and learns one machine in each, on all threads, the largest cells
/// first. Where it is told to stop, cells not learnt by then say their most frequent class or their
/// mean; so does a cell whose rows are too few for the machine. Reports are sums over the cells:
/// nothing is said of one machine of all rows. Several ranks learn some of the cells each, and all
/// get the whole; one that is told to stop leaves out what is left of its own.
///
/// Throws InvalidInput for tasks other than classes and numbers, machines that answer by more than
/// their expansion, rows that are no numbers, where every cell refuses its rows, and where planes
/// or rows do not fit `memory_bytes`.
Model fit_cells(Task task, const FitSettings& settings, const CellRule& how, const Dataset& data,
                MatrixView<const double> targets, const CellFit& fit);

/// What one cell was learnt from, put together again: its model with origins among its own rows,
/// and those rows, scaled.
struct CellProblem {
    std::size_t cell = 0;
    Model model{};  ///< of nothing where the cell was not learnt
    Dataset data{};
};
/// The rows of the training data by cells, without those of weight 0; a row that a point of some
/// cell came from is that cell's.
class CellProblems {
   public:
    /// Throws InvalidInput for a model that is not one of cells, and for data that is not its.
    CellProblems(const Model& model, const Dataset& data);

    std::size_t size() const { return rows_.size(); }
    CellProblem operator[](std::size_t cell) const;

   private:
    const Cells& cells_;
    Dataset data_{};  ///< scaled
    std::vector<std::vector<std::size_t>> rows_{};
};

}  // namespace mercer
