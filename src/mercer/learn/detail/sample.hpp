// Data made ready to learn from, and what was learnt made into a model: what every machine does
// alike.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "mercer/learn/machine.hpp"
#include "mercer/solver/dual.hpp"

namespace mercer {

/// What became of a fit by what became of its dual; one without an optimum has no margin.
FitStatus fit_status(DualStatus status);

/// Checked data: rows of weight 0 gone, labels fit for the task, rows scaled.
struct Sample {
    Dataset data{};                          ///< rows unscaled
    std::vector<std::size_t> kept{};         ///< where each row stood in the data given
    Classes classes{};                       ///< classifiers
    std::shared_ptr<const Recipe> recipe{};  ///< that has been applied to the rows; or null
    Scaling scaling{};
    Rows x{};                  ///< the rows scaled
    Kernel kernel = linear();  ///< that of the settings, models a class in it fitted

    std::size_t size() const { return x.size(); }
    double weight(std::size_t i) const { return data.weights.empty() ? 1 : data.weights[i]; }
    std::size_t class_of(std::size_t i) const { return static_cast<std::size_t>(classes.index[i]); }
    /// +1 for the first class, −1 for all others: positive decisions mean the first of a pair.
    double sign_of(std::size_t i) const { return classes.index[i] == 0 ? 1 : -1; }
};

/// Throws InvalidInput for the target of a regression that is not finite, or so large that squares
/// of it overflow. `row` counts from 0 in the data given.
void check_target(double value, std::size_t row);

/// Throws InvalidInput for data the task cannot be learnt from: no rows, values that are not
/// finite, labels missing or of the wrong kind, fewer than two classes. Without `by_labels` the
/// targets of a regression come from elsewhere, and the labels are not looked at.
Sample take_sample(Task task, const Dataset& data, const FitSettings& settings,
                   bool by_labels = true);

/// The roles of the columns, without positions that a table of so many features cannot have: its
/// columns were chosen after it had been read, and then only names still mean something.
ColumnRoles roles_of(const Dataset& data);

/// The parts of a model but for the expansion, the numbers trained with and the reports.
ModelParts begin_model(Task task, const Sample& sample, const FitSettings& settings);

/// Puts the expansion among the parts: `coefficients` is outputs × rows of the sample, and rows
/// that no output uses are left out. `kernel` must be resolved.
void set_expansion(ModelParts& model, const Sample& sample, const Kernel& kernel,
                   const Matrix<double>& coefficients, std::vector<double> bias, double self = 0);

/// The same where only the rows at `positions` carry coefficients (outputs × positions).
void set_expansion(ModelParts& model, const Sample& sample, const Kernel& kernel,
                   const std::vector<std::size_t>& positions, Matrix<double> coefficients,
                   std::vector<double> bias, double self = 0);

}  // namespace mercer
