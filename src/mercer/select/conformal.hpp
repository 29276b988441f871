// Predictions that are right as often as they say, whatever the distribution [Vovk, Gammerman and
// Shafer 2005; split form: Papadopoulos et al. 2002]: on n rows set aside it is noted how strange
// each true answer looked, and whatever looks no stranger than the ⌈(n + 1) c⌉-th of them belongs
// to the prediction. For rows drawn alike and independently the truth is covered with probability
// at least c, and at most c + 1/(n + 1) where no two are equally strange.
//
//   const Conformal c = conformal(model, set_aside, {.coverage = 0.9});
//   c.sets(model, test.x);          // classes that remain possible, one list a row
//   c.intervals(model, test.x);     // lowest and highest value, one pair a row (regression)
//   c.p_values(model, test.x);      // how usual a row is (single class), uniform for usual rows
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

struct ConformalSettings {
    double coverage = 0.9;  ///< between 0 and 1
    /// Classifiers: a threshold for each class, so that the coverage holds within each.
    bool by_class = false;
    /// Gaussian processes: errors in units of the predictive deviation, so that intervals are wider
    /// where less is known.
    bool scaled = false;
    Progress progress{};
};

class Conformal {
   public:
    /// Classifiers: the nonconformity of class c at x is 1 − p_c(x) where the model has
    /// probabilities, else the lead of the best other class over it (learn/calibration.hpp,
    /// class_scores). Regression: |y − f(x)|. Single class: −f(x); no labels needed. Throws
    /// InvalidInput for models of other tasks, no rows, labels the model does not know, a class
    /// without a row (by_class), and coverage outside (0, 1).
    Conformal(const Model& model, const Dataset& set_aside, const ConformalSettings& settings);

    std::size_t rows() const { return rows_; }
    double coverage() const { return settings_.coverage; }
    /// What an answer may be as strange as: one number, or one per class. Infinite where the rows
    /// set aside are too few for the coverage: then everything belongs to the prediction.
    const std::vector<double>& thresholds() const { return thresholds_; }

    /// Positions of the classes that remain possible, ascending; may be none, or all.
    std::vector<std::vector<std::size_t>> sets(const Model& model, const Rows& x) const;
    /// Two columns: lowest and highest value.
    Matrix<double> intervals(const Model& model, const Rows& x) const;
    /// (1 + number of rows set aside that are as strange) / (n + 1): for rows like those it is at
    /// most p with probability at most p. Small means an outlier.
    std::vector<double> p_values(const Model& model, const Rows& x) const;

   private:
    ConformalSettings settings_;
    std::size_t rows_ = 0;
    std::vector<double> thresholds_{};
    std::vector<double> nonconformity_{};  ///< single class: of the rows set aside, ascending
};
inline Conformal conformal(const Model& model, const Dataset& set_aside,
                           const ConformalSettings& settings = {}) {
    return Conformal(model, set_aside, settings);
}

/// The ⌈(n + 1) coverage⌉-th smallest of n numbers; infinite when there are not so many.
double conformal_quantile(std::vector<double> values, double coverage);

}  // namespace mercer
