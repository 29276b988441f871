// How good predictions are, as one number.
//
// How far a regression misses, as a distribution.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

enum class Metric {
    accuracy,
    balanced_accuracy,  ///< mean over the classes of the share recognised
    f1,                 ///< of the positive of two classes; the mean over the classes of more
    auc,                ///< two classes: how often the decision orders a pair of rows rightly
    log_loss,           ///< mean of −log of the probability given to the true class
    mean_squared_error,
    mean_absolute_error,
    r2,  ///< 1 − squared error / that of the mean; 0 for constant targets missed, 1 for those met
};
/// "accuracy", "balanced-accuracy", "f1", "auc", "log-loss", "mse", "mae", "r2"; and back, throwing
/// InvalidInput.
std::string measure_name(Metric measure);
Metric measure_named(std::string_view name);
bool larger_is_better(Metric measure);
/// Accuracy, or the mean squared error of regressions.
Metric usual_measure(Task task);
/// Throws InvalidInput where the measure means nothing for the task.
void check_measure(Metric measure, Task task, std::size_t classes);

/// Throws InvalidInput where a positive class is named and the measure is not its f1.
void check_positive(const std::string& positive, Metric measure);

/// Predictions on rows that the machine had not seen, beside the truth.
struct Judged {
    std::size_t classes = 0;             ///< 0: regression
    std::size_t positive = 1;            ///< two classes: the one whose f1 is meant
    std::vector<double> truth{};         ///< positions of classes, or targets
    std::vector<double> predicted{};     ///< the same
    std::vector<double> decision{};      ///< two classes: the larger, the more the last of them
    Matrix<double> probabilities{0, 0};  ///< one column per class, for log_loss
};

/// Not a number where there is no answer: no rows, or an AUC of one class alone.
double judge(Metric measure, const Judged& judged);

/// The scale σ of a Laplace density e^(−|z|/σ)/(2σ) for the errors z of predictions on rows that
/// the machine had not seen: their mean size, once those beyond five standard deviations of the
/// first estimate are left out (Lin and Weng 2004, the rule of LIBSVM's -b 1).
double laplace_scale(const Labels& predicted, const Labels& truth);

}  // namespace mercer
