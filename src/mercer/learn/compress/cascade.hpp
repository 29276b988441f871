// Sequential evaluation with early rejection (001, "Face Detection", and ref 49: Romdhani, Torr,
// Schölkopf and Blake 2001). Most rows of a search are far from what is sought; the first kernels
// of an expansion already say so.
//
//     reject x after n kernels when  s f_n(x) < t_n,   f_n(x) = Σ_{j ≤ n} b_nj k(z_j, x) + bias,
//
// where b_n are the coefficients of the best approximation of w over the first n vectors, and s the
// sign of the class that is kept. The thresholds t_n are set on data.
//
//   Model quick = cascade(reduced, data, {.keep = "1", .false_negatives = 0.01});
//   CascadeRun run = run_cascade(quick, test.x);
//   run.average_kernels();
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

struct CascadeSettings {
    /// The class that must not be lost. Empty: the first of two, and the inside of one-class
    /// machines.
    std::string keep{};
    /// Of the rows of that class which the whole expansion accepts, at most this share is rejected
    /// early, on the data the thresholds are set with. The stages share it equally.
    double false_negatives = 0.01;
    /// Numbers of kernels after which rows may go, ascending. Empty: 1, 2, 3, 4, 6, 8, 11, 16, …
    std::vector<std::size_t> stages{};
    Progress progress{};
};

/// The model with its vectors put in the order in which they approximate w best, and thresholds to
/// stop at, its CascadeStages. It predicts as any model does; a row that was rejected has the
/// (signed) distance below the threshold for its decision. Best made of a reduced model
/// (learn/compress/reduce.hpp).
///
/// Throws InvalidInput for a model that is not a classifier of two classes, one-class or Parzen
/// machine, for data without rows of the class to keep, and settings out of range.
Model cascade(const Model& model, const Dataset& data, const CascadeSettings& settings);

/// What makes a model a cascade: one row a stage, kernels, threshold, then the b_nj.
struct CascadeStages final : ArrayExtra<CascadeStages> {
    Matrix<double> table{};

    CascadeStages() = default;
    explicit CascadeStages(Matrix<double> stages) : table(std::move(stages)) {}
    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("cascade", self.table);
    }
    void check(const ModelParts& model, const std::string& place) const override;
    /// Null: it has numbers for points of the long expansion.
    std::shared_ptr<const Extra> reduced(const std::shared_ptr<const Extra>& own,
                                         const Model& model,
                                         const Expansion& smaller) const override;
    bool decides() const override { return true; }
    Matrix<double> decide(const Model& model, const Rows& scaled,
                          const Progress& progress) const override;
};

bool is_cascade(const Model& model);
/// +1 when it is the class of positive decisions that a cascade keeps, and for other models.
double kept_sign(const Model& model);

struct CascadeRun {
    Matrix<double> decisions{};          ///< rows × 1
    std::vector<std::size_t> kernels{};  ///< evaluated for each row
    std::vector<std::size_t> stages{};   ///< numbers of kernels, ascending; the last is all
    std::vector<std::size_t> left{};     ///< rows not rejected after each of them

    double average_kernels() const;
};

/// Evaluates a cascade, in bands of rows from which the rejected drop out. Rows unscaled. Throws
/// InvalidInput for a model that is none, and Cancelled.
CascadeRun run_cascade(const Model& model, const Rows& x, const Progress& progress = {});
/// The same for rows that the model's scaling has been applied to.
CascadeRun run_cascade_scaled(const Model& model, const Rows& x, const Progress& progress = {});

}  // namespace mercer
