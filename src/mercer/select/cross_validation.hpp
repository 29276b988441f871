// How good a machine would be on rows it has not seen: folds, and scores over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer MERCER_API {

/// The fold (0 … folds-1) of each row, drawn at random. With `classes` (one index a row) every fold
/// has nearly the same share of each class. Throws InvalidInput unless 2 <= folds <= rows.
std::vector<std::size_t> draw_folds(std::size_t rows, std::size_t folds, std::uint64_t seed,
                                    std::span<const std::int32_t> classes = {});

struct Score {
    double accuracy = 0;             ///< classifiers, and single-class machines against labels ±1
    double mean_squared_error = 0;   ///< regression
    double squared_correlation = 0;  ///< regression; 0 when targets or predictions are constant
};

/// Compares predictions, as `Model::predict_labels` gives them, with the true labels by name or
/// value.
Score score(Task task, const Labels& predicted, const Labels& truth);

struct CrossValidation {
    Labels predictions{};  ///< one per row, from the machine that had not seen it
    Score score{};
    std::vector<Score> folds{};               ///< of each fold alone; empty without labels
    FitStatus status = FitStatus::converged;  ///< the first that is not `converged`, if any
};

/// Each fold predicted by a machine trained on the others. Same seed, same answer. Throws
/// InvalidInput for a machine that groups rows without labels: its groups have no names that could
/// be compared from fold to fold.
CrossValidation cross_validate(const Machine& machine, const Dataset& data, std::size_t folds,
                               std::uint64_t seed = 1);
CrossValidation cross_validate(const SvmSettings& settings, const Dataset& data, std::size_t folds,
                               std::uint64_t seed = 1);

}  // namespace mercer
