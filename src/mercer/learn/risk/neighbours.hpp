// Nearest neighbours in feature space, for any kernel: a row belongs to the class that most of the
// k training rows nearest to it belong to, or has the mean of their numbers (001, "3-NN" of the
// MNIST table). Distances are those of feature/neighbours.hpp, and exact.
//
//   Model model = nearest_neighbours({.common = {.kernel = linear()}, .neighbours = 3}).fit(data);
//   Model best = nearest_neighbours({.path = {1, 3, 5, 7}}).fit(data);   // k by leave-one-out
//   Model numbers = nearest_neighbours_regression({.neighbours = 5}).fit(data);
//
// The model is an expansion over all rows whose coefficients are what each row says: ±1 of two
// classes, 1 for its own of several, its target. Its extra Nearest says that the answer is the mean
// of them over the nearest rows.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/words.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

inline constexpr Task knn_task = new_task("knn");
inline constexpr Task knn_regression_task = new_task("knn-regression");

/// What each of the nearest rows counts.
enum class NeighbourVote {
    uniform,   ///< the same
    distance,  ///< 1 / its distance; a row that is met exactly counts alone
};
constexpr Words neighbour_vote_words{std::pair{NeighbourVote::uniform, "uniform"},
                                     std::pair{NeighbourVote::distance, "distance"}};

struct NearestSettings {
    FitSettings common{};
    std::size_t neighbours = 5;
    /// Several numbers of neighbours to choose from by their leave-one-out error, all from one
    /// search; takes the place of `neighbours` when not empty. Of equals the first.
    std::vector<double> path{};
    NeighbourVote vote = NeighbourVote::uniform;
    /// Leave-one-out errors for a single number; with a path they are always there. No machine is
    /// trained again for them: a row is left out by not being its own neighbour.
    bool leave_one_out = false;
};

/// Reports among the figures `neighbours` and, where asked for, `loo_error`: the weighted share of
/// rows that their neighbours are wrong about, or the weighted mean of squared errors. With a path
/// there is the table "path", one row (neighbours, leave-one-out error) a value. A row of weight w
/// is as good as w rows, among the neighbours too: these count until they weigh k together. Of
/// classes with as many votes the first wins. Classifiers have probabilities: shares of the votes.
class NearestNeighbours {
   public:
    NearestNeighbours(Task task, NearestSettings settings)
        : task_(task), settings_(std::move(settings)) {}
    Task task() const { return task_; }
    const NearestSettings& settings() const { return settings_; }
    /// Throws InvalidInput when there are fewer rows than neighbours.
    Model fit(const Dataset& data) const;
    /// Several outputs, one column of `targets` each; of the regression.
    Model fit(const Dataset& data, MatrixView<const double> targets) const;

   private:
    Task task_;
    NearestSettings settings_;
};
inline NearestNeighbours nearest_neighbours(NearestSettings settings = {}) {
    return {knn_task, std::move(settings)};
}
inline NearestNeighbours nearest_neighbours_regression(NearestSettings settings = {}) {
    return {knn_regression_task, std::move(settings)};
}

/// That the answer is a mean over the nearest points.
struct Nearest final : ArrayExtra<Nearest> {
    Matrix<double> rule{};  ///< 1 × 2: how many, and 1 where votes go by distance
    std::optional<Matrix<double>> weights{};  ///< 1 × points; absent: all 1

    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("neighbours", self.rule);
        visit("neighbour_weights", self.weights);
    }
    void check(const ModelParts& model, const std::string& place) const override;
    std::string why_not_reduced() const override;
    bool decides() const override { return true; }
    Matrix<double> decide(const Model& model, const Rows& scaled,
                          const Progress& progress) const override;
};

}  // namespace mercer
