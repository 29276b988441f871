// Rows that belong to several classes at once: the ranking machine of Elisseeff and Weston (2001,
// in the research list of 001). One function a label, learnt together so that on every row the
// labels it has rank above those it has not:
//
//     minimise    ½ Σ_k ‖w_k‖² + C Σ_i 1/(|Y_i||Ȳ_i|) Σ ξ_ikl
//     subject to  <w_k − w_l, Φ(x_i)> ≥ 1 − ξ_ikl,  ξ ≥ 0,   for k in Y_i, l not in Y_i
//
// and a threshold t(x), linear in the scores by least squares, below which labels are left out. A
// constant added to the kernel takes the part of the biases. Rows with all labels or none say
// nothing of the ranking and only help to find the threshold.
//
//   const Model m = multi_label({.C = 10}).fit(data, labels.view());
//   m.predict_sets(test.x);                // 0 or 1, one column per label
//   multi_label_scores(m, test.x, truth.view()).hamming_loss;
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

struct MultiLabelSettings {
    FitSettings common{};
    double C = 1;
    bool bias = true;         ///< add 1 to the kernel
    double tolerance = 1e-3;  ///< on the relative gap
    std::size_t passes = 1000;
};

/// By coordinate ascent on the dual, which has a box alone. The model has one output a label (its
/// score), the names of the labels for target names, and a Threshold; one report for all. Rows
/// count by their weights.
class MultiLabel {
   public:
    explicit MultiLabel(MultiLabelSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::multi_label; }
    const MultiLabelSettings& settings() const { return settings_; }
    /// `labels` has one row per row of the data and a column per label, 0 or 1; `names` is empty or
    /// one a label. Throws InvalidInput for other numbers, fewer than two labels, no row with some
    /// labels but not all, and matrices beyond common.memory_bytes.
    Model fit(const Dataset& data, MatrixView<const double> labels,
              std::vector<std::string> names = {}) const;
    /// Throws InvalidInput: there must be labels.
    Model fit(const Dataset& data) const { return fit(data, {}); }

   private:
    MultiLabelSettings settings_;
};
inline MultiLabel multi_label(MultiLabelSettings settings = {}) {
    return MultiLabel(std::move(settings));
}

/// A row has the labels whose scores are above t(x) = Σ_k c_k score_k(x) + c_last.
struct Threshold final : ArrayExtra<Threshold> {
    Matrix<double> coefficients{};  ///< 1 × labels + 1

    Threshold() = default;
    explicit Threshold(Matrix<double> c) : coefficients(std::move(c)) {}
    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("threshold", self.coefficients);
    }
    void check(const ModelParts& model, const std::string& place) const override;
};

/// Schapire and Singer (2000); all are 0 at best but the last, which is 1.
struct MultiLabelScores {
    double hamming_loss = 0;  ///< share of labels wrongly given or left out
    double ranking_loss = 0;  ///< share of pairs of a label had and one not had in the wrong order
    double one_error = 0;     ///< share of rows whose first label is not had
    double average_precision = 0;
};
/// Rows with all labels or none do not count in the last three.
MultiLabelScores multi_label_scores(const Model& model, const Rows& x,
                                    MatrixView<const double> truth);

}  // namespace mercer
