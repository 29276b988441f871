// What is done where nobody says: a search without a grid, a machine for a table, and whether to
// learn from all rows or in the span of some.
//
//   const FoundSettings found = default_search(svm_search_task({.task = Task::svc}, "rbf"), data);
//   Model model = found.space.machine(found.best().values).fit(data);
//
//   const TrainingPlan plan = plan_training({.kernel = rbf()}, [](const FitSettings& common) {
//       return machine_entry("svc").make(common, {});
//   }, data);
//   plan.ways[plan.chosen].approximate, plan.why;
//
//   const LearnResult result = learn_table(data, {.seconds = 60});
//   result.model, result.judgement, result.warnings;
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/model.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/select/judge.hpp"
#include "mercer/select/search.hpp"

namespace mercer MERCER_API {

/// The median of the squared distances between pairs of rows, `pairs` of them drawn at random: a
/// Gaussian kernel with gamma = 1 / median sees most rows as neither alike nor unlike. 1 where all
/// rows are alike. Throws InvalidInput for fewer than two rows.
double median_squared_distance(const Rows& rows, std::uint64_t seed = 1, std::size_t pairs = 2000);

struct DefaultSearchSettings {
    SearchSettings search{};    ///< the method is a grid
    double seconds = 0;         ///< 0: no limit
    std::size_t widenings = 4;  ///< so often the grid grows where the best point lies at its edge
    /// So often values a smaller step from the best are tried, each step the root of the last.
    std::size_t refinements = 0;
    std::vector<Axis> axes{};  ///< to begin with; empty: `default_axes`
};

struct FoundSettings {
    SearchSpace space;
    SearchResult result{};
    std::size_t widened = 0;
    bool late = false;                   ///< its time ended it
    std::vector<std::string> remarks{};  ///< what more would help, in sentences

    const SearchPoint& best() const { return result.points.at(result.best.value()); }
};

/// The axes of such a search: a single gamma of the kernel around 1 / median squared distance, and
/// what the machine has of C, epsilon, lambda and nu.
std::vector<Axis> default_axes(const SearchTask& task, const Dataset& data);

/// Searches those axes, further where the best point lies at an end of one, and closer around the
/// best where that is wished. Throws InvalidInput where neither the kernel nor the machine has
/// anything to search, and as `search` does.
FoundSettings default_search(const SearchTask& task, const Dataset& data,
                             const DefaultSearchSettings& settings = {});

/// A way to train, and what it is expected to cost and to give.
struct TrainingWay {
    std::string approximate{};  ///< as `approximate` reads it; empty: from all rows
    std::size_t centres = 0;    ///< of a span
    std::size_t cell_rows = 0;  ///< of cells
    double seconds = 0;
    double bytes = 0;  ///< for kernel values or features
    double left = 0;   ///< the share of Σ k(x_i, x_i) that the centres leave, on rows of the pilot
    /// Of the pilot's rows held out: share wrong, or root mean squared error. Of cells it is that
    /// of cells as large as they will be.
    double pilot_error = 0;
    double expected_error = 0;  ///< of a machine learnt from all rows
    double deviation = 0;       ///< of the pilot's error, by the rows held out
    std::string certificate{};  ///< what its model could prove, in some words
    bool fits = true;           ///< into the memory of the settings
    /// Its trial came to an end. Else the time is the least it may take, and errors are not known.
    bool tried = true;
};

struct TrainingPlan {
    std::vector<TrainingWay> ways{};  ///< all rows first, then cells, then more and more centres
    std::size_t chosen = 0;
    std::size_t pilot_rows = 0;
    double growth = 0;   ///< time of all rows goes as rows to this power, as measured
    double support = 0;  ///< share of the largest pilot's rows that are support vectors
    double seconds = 0;  ///< that the pilot took
    std::string why{};   ///< one sentence
};

struct PlanSettings {
    double seconds = 600;  ///< that training may take, where the settings have no limit
    /// At most so many are learnt from; how many are depends on how long the first few take.
    std::size_t pilot_rows = 16'000;
    double pilot_seconds = 0;  ///< about so many; 0: a twentieth of what training may take, or 15
};

/// What `make` makes, tried on more and more rows of a pilot, from all of them and in the span of
/// some, and in some cells of all rows; judged on rows held out. Times grow as they were seen to
/// grow, errors fall as they were seen to fall; both are no more than estimates.
///
/// From all rows where that keeps within time and memory; else the way with the least error
/// expected among those that do, of equal ones the quickest.
/// Throws InvalidInput as the machine does, and Cancelled.
TrainingPlan plan_training(const FitSettings& common,
                           const std::function<Machine(const FitSettings&)>& make,
                           const Dataset& data, const PlanSettings& settings = {});

enum class Target { automatic, classes, numbers };

struct LearnSettings {
    Target target = Target::automatic;
    double seconds = 60;  ///< for everything
    double test = 0.2;    ///< the share of rows set aside
    /// Empty, or one a row: rows of one group are never on both sides.
    std::vector<std::string> groups{};
    bool by_time = false;  ///< the last rows are set aside: rows are in the order of time
    bool study = true;     ///< learning curve and effects of columns, with the time that is left
    std::uint64_t seed = 1;
    bool double_precision = false;
    Progress progress{};
};

/// Settings that were tried, and how they did on the folds.
struct TriedSettings {
    std::vector<double> values{};  ///< one an axis of the candidate
    double score = 0;              ///< as of Candidate
    double deviation = 0;
};

/// One machine that was tried, and how well it did on the folds of the sample searched on.
struct Candidate {
    std::string name{};  ///< "linear", "Gaussian", …
    Task task = Task::svc;
    std::string kernel{};  ///< as found
    std::map<std::string, double> settings{};
    std::vector<std::string> axes{};     ///< what was searched: "gamma", "C", …
    std::vector<TriedSettings> tried{};  ///< those with a score
    std::size_t points = 0;              ///< settings tried
    std::size_t rows = 0;                ///< of the sample
    double score = 0;                    ///< accuracy, or mean squared error, over the folds
    double deviation = 0;                ///< over the folds
    double seconds = 0;
    std::string status{};  ///< empty: fine; else why there is no score
};

/// The machine chosen, learnt from fewer rows and judged on the rows set aside.
struct CurveSize {
    std::size_t rows = 0;   ///< learnt from
    std::size_t draws = 0;  ///< samples of that size
    double error = 0;       ///< their mean share of wrong rows, or root mean squared error
    double deviation = 0;   ///< over the draws; 0 for a single one
};

/// What is predicted in the mean over rows set aside when one column is moved and the others stay
/// (partial dependence: Friedman 2001).
struct ColumnEffect {
    std::string column{};
    std::vector<double> places{};       ///< values of the column; dates in days since 1970
    std::vector<std::string> levels{};  ///< categories: what the places are called
    bool date = false;
    /// Classes: whose probability, or share of rows where there are none, each line is of.
    std::vector<std::string> lines{};
    Matrix<double> means{};  ///< (line, place); of numbers one line
};

/// Whether the rows set aside have another distribution than those learnt from.
struct ColumnDrift {
    std::string column{};
    std::string test{};    ///< "Kolmogorov-Smirnov" or "chi-square"
    double distance = 0;   ///< of the distribution functions, or half that of the shares
    double p_value = 1;    ///< of as large a one where nothing has changed
    bool differs = false;  ///< it is below 1 % divided by the columns tried, and not tiny in size
};

struct LearnResult {
    bool numbers = false;
    std::vector<Candidate> candidates{};
    std::size_t chosen = 0;
    Model tested{};         ///< learnt from the training part alone: what the judgement is of
    Judgement judgement{};  ///< on the rows set aside
    Split split{};
    Model model{};  ///< learnt from all rows, or `tested` where time was too short
    bool on_all_rows = false;
    bool verified = false;       ///< the certificate of `model` was recomputed and holds
    std::string verification{};  ///< what it says, or why there is none
    double predict_seconds = 0;  ///< a thousand rows
    double seconds = 0;
    std::vector<std::string> warnings{};
    std::vector<std::string> remarks{};
    std::vector<CurveSize> curve{};  ///< ascending; empty where there was no time
    /// Mean change of the value over rows set aside when a column is taken to its usual value, the
    /// largest first.
    std::vector<std::pair<std::string, double>> importance{};
    std::vector<ColumnEffect> effects{};  ///< of the most important columns
    /// Empty where rows were set aside at random, which makes both parts alike.
    std::vector<ColumnDrift> drift{};
};

/// Whether labels are classes or numbers: names are classes, and so are at most ten whole numbers.
Target target_of(const Labels& labels);

/// Finds the task, sets a test part aside, compares a linear machine, a Gaussian and a Laplacian
/// one, sums of kernels over the kinds of columns, and products of Gaussians or Laplacians with a
/// width for each column; trains the best and judges it on the rows set aside, which nothing was
/// chosen by. The choice depends on how far the time reaches; with the same points done, same seed,
/// same answer. Throws InvalidInput for data without labels, or with fewer than ten rows.
LearnResult learn_table(const Dataset& data, const LearnSettings& settings = {});

}  // namespace mercer
