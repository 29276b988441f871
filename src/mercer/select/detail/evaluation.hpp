// The scores of some points of a search: the part in common of training each machine by itself and
// of sharing kernel values.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "mercer/data/dataset.hpp"
#include "mercer/select/cross_validation.hpp"
#include "mercer/select/metrics.hpp"
#include "mercer/select/search_space.hpp"

namespace mercer {

struct PointScore {
    std::vector<double> scores{};  ///< one a fold; empty when the point failed
    double seconds = 0;
    std::string status{};
};

/// What to evaluate and whom to tell. `done` and `progress` are called by one thread at a time.
struct Evaluation {
    const SearchSpace& space;
    const Dataset& data;
    std::span<const Split> folds{};
    Metric measure = Metric::accuracy;
    std::string positive{};  ///< the class whose f1 is meant, as of Truth
    std::span<const std::vector<double>> points{};
    std::vector<char> known{};  ///< one a point: its score is there already
    std::function<void(std::size_t point, PointScore)> done{};
    std::function<bool(double fraction)> progress{};  ///< of these points; false: stop
};

/// Truth as numbers: positions among all classes of the data, 1 and 0 for labels above 0 and others
/// (single-class machines), or targets.
class Truth {
   public:
    /// `positive` is the one of two classes whose f1 is meant, the last when empty. Throws
    /// InvalidInput when there is no such class, or there are more than two.
    Truth(Task task, const Dataset& data, const std::string& positive = "");
    /// The predictions of a model, which may know fewer classes, beside the truth of these rows.
    Judged judged(const ModelParts& model, const Matrix<double>& decisions,
                  std::span<const std::size_t> rows) const;
    const Classes& classes() const { return classes_; }
    std::size_t count() const { return count_; }
    /// Its name; empty for regressions, single classes and more than two.
    std::string positive() const;

   private:
    Task task_;
    Classes classes_{};
    std::vector<double> values_{};
    std::size_t count_ = 0;
    std::size_t positive_ = 1;
};

/// Adds the score of a model on the rows of one fold that it has not seen; false when its training
/// was cancelled. Throws InvalidInput where there is no machine, and Cancelled as `progress` says.
bool judge_fold(const Evaluation& evaluation, const Truth& truth, const Model& model,
                const Rows& held, const Split& fold, PointScore& score,
                const Progress& progress = {});

/// Every machine trained by itself on the rows of each fold. False when it was told to stop.
bool evaluate_alone(const Evaluation& evaluation);

}  // namespace mercer
