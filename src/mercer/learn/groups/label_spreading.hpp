// Labels spread over a graph of all rows, labelled or not [Zhou, Bousquet, Lal, Weston and
// Schölkopf 2004, in the research list of 001]:
//
//     W_ij = k(x_i, x_j), W_ii = 0,   S = D^(−1/2) W D^(−1/2),   F = (1 − α)(I − αS)^(−1) Y
//
// and row i belongs to the class of the largest F_ic. (I − αS)^(−1) is a kernel on the nodes of the
// graph: a sum over all walks, the longer the lighter. A new row x belongs where its neighbours do
// [Delalleau, Bengio and Le Roux 2005]: to the class of the largest
//
//     f_c(x) = Σ_j k(x, x_j) F_jc / √D_j
//
// which is an expansion, and which at an unlabelled row of the graph is a multiple of F itself.
//
//   const LabelSpread s =
//       spread_labels({.common = {.kernel = rbf({.gamma = 10.0})}}, labelled, unlabelled.x);
//   s.unlabelled, s.labelled;                    // labels of either part
//   s.model.predict_labels(test.x);              // of rows that were in neither
#pragma once

#include <cstddef>
#include <string>
#include <utility>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/learn/extra.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

struct SpreadSettings {
    FitSettings common{};        ///< its kernel is the affinity; entries below 0 are an error
    double alpha = 0.99;         ///< share that comes from the neighbours, between 0 and 1
    std::size_t neighbours = 0;  ///< only the nearest so many of each row count; 0: all
};

struct LabelSpread {
    Labels unlabelled{};      ///< found, one per row
    Labels labelled{};        ///< found for the labelled rows, which may differ from what was given
    Matrix<double> scores{};  ///< F: labelled rows first, one column per class in the usual order
    double residual = 0;      ///< largest |(I − αS)F − (1 − α)Y|
    std::size_t unreached = 0;  ///< unlabelled rows that no labelled one reaches: the first class
    /// For other rows; its figures are residual, unreached, unlabelled. Origins count the labelled
    /// rows first.
    Model model{};
};

/// The label of a row counts by its weight; of weight 0 it is none. Throws InvalidInput for no
/// labels, α outside (0, 1), one class, negative affinities, and graphs beyond common.memory_bytes.
/// Throws Cancelled.
LabelSpread spread_labels(const SpreadSettings& settings, const Dataset& labelled,
                          const Rows& unlabelled);

/// The same as a machine: labels spread from the data it is given to these other rows.
class LabelSpreading {
   public:
    explicit LabelSpreading(SpreadSettings settings, Rows unlabelled = {})
        : settings_(std::move(settings)), unlabelled_(std::move(unlabelled)) {}
    Task task() const { return Task::spreading; }
    const SpreadSettings& settings() const { return settings_; }
    /// Told to stop, or out of time, it spreads the labels of few rows.
    Model fit(const Dataset& data) const;

   private:
    SpreadSettings settings_;
    Rows unlabelled_;
};
inline LabelSpreading label_spreading(SpreadSettings settings = {}) {
    return LabelSpreading(std::move(settings));
}

/// Of a graph of nearest rows: which points count for a new row. An edge is there when it is among
/// the `count` best of either end.
struct Neighbourhood final : ArrayExtra<Neighbourhood> {
    Matrix<double> count{};  ///< 1 × 1
    Matrix<double> least{};  ///< 1 × points: the least affinity among the best of each

    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("neighbours", self.count);
        visit("neighbour_affinity", self.least);
    }
    void check(const ModelParts& model, const std::string& place) const override;
    std::string why_not_reduced() const override;
    bool decides() const override { return true; }
    Matrix<double> decide(const Model& model, const Rows& scaled,
                          const Progress& progress) const override;
};

}  // namespace mercer
