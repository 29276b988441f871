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
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

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
