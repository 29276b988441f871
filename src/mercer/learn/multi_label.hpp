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
//   const MultiLabelModel m = fit_multi_label({.C = 10}, data.x, labels.view());
//   m.predict(test.x);                     // 0 or 1, one column a label
//   multi_label_scores(m, test.x, truth.view()).hamming_loss;
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/report.hpp"

namespace mercer MERCER_API {

struct MultiLabelSettings {
    FitSettings common{};
    double C = 1;
    bool bias = true;         ///< add 1 to the kernel
    double tolerance = 1e-3;  ///< on the relative gap
    std::size_t passes = 1000;
};

struct MultiLabelModel {
    Expansion expansion{};  ///< one output a label
    Scaling scaling{};
    /// t(x) = Σ_k threshold[k] score_k(x) + threshold.back()
    std::vector<double> threshold{};
    double primal = 0;
    double dual = 0;
    double relative_gap = 0;  ///< NaN like primal where `convexity` is unknown or refuted
    Convexity convexity = Convexity::unknown;  ///< what the bracket rests on (learn/convexity.hpp)
    std::size_t passes = 0;
    bool converged = false;  ///< false: stopped by the limit or on request, with this gap

    std::size_t labels() const { return expansion.outputs(); }
    Matrix<double> scores(const Rows& x) const;
    Matrix<double> predict(const Rows& x) const;
};

/// By coordinate ascent on the dual, which has a box alone. `labels` has one row a row of x and a
/// column a label, 0 or 1. Throws InvalidInput for other numbers, fewer than two labels, no row
/// with some labels but not all, and matrices beyond common.memory_bytes.
MultiLabelModel fit_multi_label(const MultiLabelSettings& settings, const Rows& x,
                                MatrixView<const double> labels);

/// Schapire and Singer (2000); all are 0 at best but the last, which is 1.
struct MultiLabelScores {
    double hamming_loss = 0;  ///< share of labels wrongly given or left out
    double ranking_loss = 0;  ///< share of pairs of a label had and one not had in the wrong order
    double one_error = 0;     ///< share of rows whose first label is not had
    double average_precision = 0;
};
/// Rows with all labels or none do not count in the last three.
MultiLabelScores multi_label_scores(const MultiLabelModel& model, const Rows& x,
                                    MatrixView<const double> truth);

}  // namespace mercer
