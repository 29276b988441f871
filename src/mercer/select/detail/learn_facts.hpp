// What is to be known of a machine besides its error: how the error falls with more rows, which
// columns matter, and what they do.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "mercer/data/dataset.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/detail/budget.hpp"

namespace mercer {

using MachineMaker = std::function<Machine(const Progress&, double seconds, bool probability)>;

/// Halves, quarters, … of the training rows, several drawings of each as far as the time goes, and
/// last the machine of all of them, whose error is `error`; `seconds` is what that one took.
/// Empty where there is time for none.
std::vector<CurveSize> learning_curve(const MachineMaker& machine, const Dataset& train,
                                      const Dataset& test, double error, double seconds,
                                      std::uint64_t seed, Budget& budget, double time);

/// Names of columns and how far the value moves without them, over some rows; empty where the
/// model cannot be explained or the time is over.
std::vector<std::pair<std::string, double>> column_importance(const Model& model, const Rows& rows,
                                                              const Progress& progress);

/// Of the columns named, those that are no texts. Places are quantiles of the column in `train`,
/// or its levels.
std::vector<ColumnEffect> column_effects(const Model& model, const Dataset& train, const Rows& rows,
                                         const std::vector<std::string>& names,
                                         const Progress& progress);

}  // namespace mercer
