// A search in each cell, and what it found.
#pragma once

#include "cli/common/session.hpp"
#include "cli/machines/train_options.hpp"
#include "mercer/select/search.hpp"

namespace mercer::cli {

/// What a search in cells is told besides the options of training.
struct CellTuning {
    std::string search{};  ///< its name
    std::vector<Axis> axes{};
    SearchSettings settings{};
    std::string csv{};  ///< one line a cell, where it is not empty
};

/// Searches, learns, saves and prints. The exit code.
int tune_cells(const CellTuning& tuning, const TrainOptions& options, const SvmSettings& svm,
               const std::string& input, const Dataset& data, const Session& session);

}  // namespace mercer::cli
