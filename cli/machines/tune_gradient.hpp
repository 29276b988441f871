// mercer tune --search alignment and --search radius-margin: parameters by a gradient, without
// folds.
#pragma once

#include <string>

#include "cli/common/session.hpp"
#include "cli/machines/train_options.hpp"
#include "mercer/kernel/parameters.hpp"

namespace mercer::cli {

/// True for the searches of this file.
bool is_gradient_search(const std::string& name);

/// "gamma of rbf(gamma=2)".
std::vector<std::string> parameter_names(const std::vector<KernelParameter>& parameters);

/// What it means that these ended at a limit of the search; empty where none did.
std::string limit_text(const std::vector<std::string>& names);

/// Moves the parameters of options.kernel, reports, and trains and saves the machine when a model
/// file is named.
void run_gradient_search(const std::string& name, const TrainOptions& options,
                         const InputOptions& input, const Session& session);

}  // namespace mercer::cli
