// mercer tune --search alignment and --search radius-margin: parameters by a gradient, without
// folds.
#pragma once

#include <string>

#include "cli/session.hpp"
#include "cli/train_options.hpp"

namespace mercer::cli {

/// True for the searches of this file.
bool is_gradient_search(const std::string& name);

/// Moves the parameters of options.kernel, reports, and trains and saves the machine when a model
/// file is named.
void run_gradient_search(const std::string& name, const TrainOptions& options,
                         const InputOptions& input, const Session& session);

}  // namespace mercer::cli
