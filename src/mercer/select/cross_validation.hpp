// How good a machine would be on rows it has not seen: folds, and scores over them.
//
// Which rows a machine learns from and which it is judged on, several times over.
//
//   const auto folds = make_folds({.folds = 5, .repeats = 3, .seed = 7}, Task::svc, data);
//   for (const Split& fold : folds) fold.train;  // learn from fold.train, judge on fold.test
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/model.hpp"
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
/// be compared from fold to fold. `progress` is asked while a fold is predicted, which may take
/// longer than to learn from the others, and gets the share of the folds that are done; throws
/// Cancelled as it says. The machine has a listener and a time limit of its own.
CrossValidation cross_validate(const Machine& machine, const Dataset& data, std::size_t folds,
                               std::uint64_t seed = 1, const Progress& progress = {});
CrossValidation cross_validate(const SvmSettings& settings, const Dataset& data, std::size_t folds,
                               std::uint64_t seed = 1, const Progress& progress = {});

/// Positions of rows, each part in ascending order.
struct Split {
    std::vector<std::size_t> train{};
    std::vector<std::size_t> test{};
};

/// Draws the fraction `test` of the rows at random. With `classes` (one index a row) each class
/// gives its own share, and one of two rows or more is found on both sides. The same seed gives the
/// same rows. Throws InvalidInput unless 0 < test < 1 and both parts get a row.
Split split_rows(std::size_t rows, double test, std::uint64_t seed,
                 std::span<const std::int32_t> classes = {});

enum class FoldKind {
    automatic,   ///< stratified for classifiers, plain otherwise
    stratified,  ///< every fold has nearly the same share of each class
    plain,       ///< drawn without a look at the labels
    grouped,     ///< rows of one group stay together
    given,       ///< as the caller says
};

struct FoldRule {
    FoldKind kind = FoldKind::automatic;
    std::size_t folds = 5;    ///< not used when they are given
    std::size_t repeats = 1;  ///< so many drawings, one after another
    std::uint64_t seed = 1;   ///< the first drawing is that of `draw_folds` with this seed
    /// One a row: the name of its group (grouped) or of its fold (given).
    std::vector<std::string> keys{};
};

/// Folds × repeats splits, those of one drawing together. Throws InvalidInput for fewer than two
/// folds, more folds than rows or groups, keys that are not one per row, and for stratified folds
/// of a class with a single row, which could never be both learnt and judged.
std::vector<Split> make_folds(const FoldRule& rule, Task task, const Dataset& data);

/// The same folds with only so many rows to learn from, at most: a sample drawn from each training
/// part in which classes (one index a row, may be empty) keep their share. Smaller samples of one
/// seed are parts of larger ones.
std::vector<Split> thinned(const std::vector<Split>& folds, std::size_t rows, std::uint64_t seed,
                           const std::vector<std::int32_t>& classes);

}  // namespace mercer
