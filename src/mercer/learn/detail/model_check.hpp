// What makes the parts of a model fit together. For learn/model.cpp, and limits that loaders ask
// too.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/model.hpp"

namespace mercer {

/// A training row number beyond this is refused where rows must be given their numbers back
/// (kernel precomputed): the matrix it would point into has more entries than any machine holds.
inline constexpr std::size_t most_precomputed_rows = std::size_t{1} << 22;

/// Pairs of classes.
constexpr std::size_t pairs_of(std::size_t classes) {
    return classes < 2 ? 0 : classes * (classes - 1) / 2;
}

/// Throws InvalidInput, beginning with `place`, unless all counts agree, all numbers that the
/// values of the model depend on are finite, and every extra fits. A Model is made of nothing else,
/// so that what is written can be read.
void check_parts(const ModelParts& model, const std::string& place);

}  // namespace mercer
