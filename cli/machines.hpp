// From the options of training to the machine they ask for.
#pragma once

#include <functional>

#include "cli/train_options.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer::cli {

/// Who is told how training goes: support vector machines have more to tell.
struct Listener {
    std::function<bool(const FitMoment&)> svm{};
    Progress other{};
};

/// `svm` are the settings of a support vector machine, tube and all, and not looked at otherwise.
/// Throws InvalidInput for values the machine cannot take.
Machine machine_of(const TrainOptions& options, const SvmSettings& svm, const Listener& listener);

/// The convergence of the Adatron beside SMO's, as the lines of a CSV file.
std::string curve_text(const TrainOptions& options, const Dataset& data, const Progress& progress);

}  // namespace mercer::cli
