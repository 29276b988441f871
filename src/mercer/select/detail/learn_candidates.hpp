// The machines that `learn_table` compares on the folds of a sample.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "mercer/data/dataset.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/detail/budget.hpp"

namespace mercer {

/// What candidates are tried on. It outlives them.
struct LearnTask {
    const LearnSettings& settings;
    bool numbers = false;
    const Dataset& train;   ///< all rows that may be learnt from
    const Dataset& sample;  ///< of them, what is compared on
    const FoldRule& folds;  ///< of the sample
    Budget& budget;
};

/// A candidate, and the machine of the settings found.
struct FoundCandidate {
    Candidate candidate{};
    std::vector<std::string> remarks{};
    std::function<Machine(const Progress&, double seconds, bool probability)> machine{};
    /// Where there is one: makes more of the settings, on all training rows, once it is chosen.
    std::function<void(FoundCandidate&, double seconds)> refine{};
};

/// Takes about half of the time. A candidate without a score says why.
std::vector<FoundCandidate> try_candidates(const LearnTask& task);

/// What every machine of the task is given: kernel, scaling where no recipe does it, seed.
FitSettings common_settings(const LearnTask& task, const std::string& kernel);

/// Laplacians and Gaussians with a width for each column. No candidates where columns are texts, or
/// columns or classes too many.
std::vector<FoundCandidate> try_column_widths(const LearnTask& task, double seconds);

}  // namespace mercer
