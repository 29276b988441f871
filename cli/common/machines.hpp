// From the options of training to the machine they ask for.
#pragma once

#include "cli/machines/train_options.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer::cli {

/// `svm` are the settings of a support vector machine, tube and all, and not looked at otherwise.
/// Throws InvalidInput for values the machine cannot take.
Machine machine_of(const TrainOptions& options, const SvmSettings& svm, const Progress& progress);

/// The convergence of the Adatron beside SMO's, as the lines of a CSV file.
std::string curve_text(const TrainOptions& options, const Dataset& data, const Progress& progress);

}  // namespace mercer::cli
