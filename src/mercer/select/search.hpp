// The search for the settings and kernel parameters that predict best on rows held out.
//
//   SearchSpace space(svm_search_task({.task = Task::svc}, "rbf(gamma=1)"),
//                     {Axis::parse("gamma=1e-3:10:log5"), Axis::parse("C=1,10,100")}, data);
//   SearchResult found = search(space, data);
//   Model model = space.machine(found.points[*found.best].values).fit(data);
//
// Support vector machines share kernel values over all penalties, folds and pairs of classes
// (select/detail/shared_search.hpp); the scores are those of independent training within its
// tolerance.
//
// A model of cells (learn/cells/cells.hpp) is searched cell by cell: each chooses by folds of its
// own rows, as liquidSVM does (Steinwart and Thomann 2017).
//
//   CellSearch cells = search_cells(svm_cell_task({.task = Task::svc}, data), FitSettings{},
//                                   "rbf(gamma=1)", {Axis::parse("gamma=1:100:log5")}, data,
//                                   CellRule{.rows = 2000});
//   cells.model, cells.cells[0].values;
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/select/metrics.hpp"
#include "mercer/select/search_space.hpp"

namespace mercer MERCER_API {

class Communicator;

enum class SearchMethod {
    grid,     ///< every combination
    random,   ///< points drawn from the axes
    halving,  ///< drawn likewise; all learn from few rows, the best third from three times as many,
              ///< and so on, until the last learn from all
    bayesian,  ///< a few drawn, then one after another where a Gaussian process of the scores
               ///< expects the largest improvement (select/detail/bayesian.hpp)
};

struct SearchSettings {
    SearchMethod method = SearchMethod::grid;
    std::size_t points = 60;  ///< all but grid
    FoldRule folds{};
    std::optional<Metric> measure{};  ///< none: the usual one of the task
    std::string positive{};           ///< f1 of two classes: of this one; empty: of the last
    /// Choose the plainest point whose score is within one standard error of the best (Breiman and
    /// others 1984): the machine that fits least closely, axis after axis in the order given.
    bool one_standard_error = false;
    std::uint64_t seed = 1;  ///< of the points drawn and of the samples of halving
    /// A file to which every result is appended. A search with the same data, folds, task and seed
    /// takes from it what is done and ends as if it had never been interrupted.
    std::string journal{};
    bool share = true;    ///< false: every machine is trained by itself
    Progress progress{};  ///< return false to stop with what there is
    /// Processes that share the points, each of which has all rows; the result is the same on all,
    /// and that of one but for its seconds. Null: this process alone.
    Communicator* ranks = nullptr;
};

/// One point of the search and what came of it.
struct SearchPoint {
    std::vector<double> values{};  ///< one per axis
    std::vector<double> scores{};  ///< one per fold; empty when there is none
    double mean = 0;               ///< not a number when some fold has no score
    double deviation = 0;          ///< of the scores of the folds, with folds − 1 below
    double seconds = 0;            ///< of training and judging, summed over threads
    std::size_t rows = 0;          ///< most rows learnt from in a fold
    std::string status{};          ///< "converged", why not, or "not done"
    bool done = false;
};

struct SearchResult {
    Metric measure = Metric::accuracy;
    std::string positive{};  ///< f1 of two classes: the one it is of
    std::size_t folds = 0;
    std::vector<SearchPoint> points{};
    std::optional<std::size_t> best{};     ///< the point chosen; none when no point has a score
    std::optional<std::size_t> highest{};  ///< the best score, which one_standard_error may pass by
    bool shared = false;                   ///< kernel values were shared
    bool cancelled = false;
    std::size_t taken = 0;  ///< points taken from the journal
    double seconds = 0;
};

/// Throws InvalidInput for folds, scores and names that mean nothing for the data, for a journal of
/// another search, and when every point fails, with the first one's reason. A single point that
/// fails says so in its status. Same seed, same answer, for any number of threads.
SearchResult search(const SearchSpace& space, const Dataset& data,
                    const SearchSettings& settings = {});

/// The machine of a point, learnt from all rows by this process, or by these ranks together, each
/// of which has all rows (support vector machines).
Model learn_point(const SearchSpace& space, const SearchPoint& point, const Dataset& data,
                  Communicator* ranks = nullptr);

/// What one cell chose.
struct CellChoice {
    std::size_t rows = 0;
    std::vector<double> values{};  ///< one an axis; empty where nothing was searched
    double score = 0;              ///< over the folds; not a number where there is none
    /// Rows too few to be cut into folds: the middle values of the axes.
    bool usual = false;
};

struct CellSearch {
    Model model{};                      ///< of all cells
    std::vector<std::string> axes{};    ///< names of the values
    std::vector<std::size_t> points{};  ///< searched in each cell
    std::vector<CellChoice> cells{};    ///< in the order of the model's
    Metric measure = Metric::accuracy;
    std::size_t folds = 0;
    /// The mean score over cells, by their rows; cells of one class count as right, cells without
    /// a score not at all.
    double score = 0;
    double seconds = 0;
};

/// The task of a search with these settings and this kernel, for rows that stood here in the data;
/// none: all of them.
using CellTask = std::function<SearchTask(const FitSettings& common, const std::string& kernel,
                                          std::span<const std::size_t> origins)>;
/// A support vector machine: classes balanced are so over all rows, and widths of a tube go with
/// theirs.
CellTask svm_cell_task(const SvmSettings& settings, const Dataset& data);
/// Any other machine, with these settings held.
CellTask machine_cell_task(const MachineEntry& machine, const SettingValues& given);

/// Cuts the rows as `fit_cells` does, searches in each cell, and learns it with the best point from
/// all of its rows. `settings` says how to search; without axes each cell has a search of its own
/// (select/automatic.hpp). `kernel` is an expression as SearchTask has it, and what it takes from
/// data it takes from all rows. Where it is told to stop, cells not searched by then say their most
/// frequent class or mean. Ranks (`settings.ranks`) search some of the cells each.
///
/// Throws InvalidInput for a journal, and as `search` and `fit_cells` do.
CellSearch search_cells(const CellTask& task, const FitSettings& common, const std::string& kernel,
                        const std::vector<Axis>& axes, const Dataset& data, const CellRule& how,
                        const SearchSettings& settings = {});

}  // namespace mercer
