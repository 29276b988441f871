// From the options of training to the machine they ask for.
#pragma once

#include <functional>
#include <string>

#include "cli/machines/train_options.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer::cli {

/// How the machine is made of what all machines are told alike. `svm` are the settings of a support
/// vector machine, tube and all, and not looked at otherwise. Throws InvalidInput for values the
/// machine cannot take.
std::function<Machine(const FitSettings&)> maker_of(const TrainOptions& options,
                                                    const SvmSettings& svm);

/// The machine itself, in the span of some rows where that is asked for; `auto` means nothing here.
Machine machine_of(const TrainOptions& options, const SvmSettings& svm, const Progress& progress);

/// The convergence of the Adatron beside SMO's, as the lines of a CSV file.
std::string curve_text(const TrainOptions& options, const Dataset& data, const Progress& progress);

}  // namespace mercer::cli
