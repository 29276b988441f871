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
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
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

/// The machine of a point, learnt from all rows by this process, whichever others there are.
Model learn_point(const SearchSpace& space, const SearchPoint& point, const Dataset& data);

}  // namespace mercer
