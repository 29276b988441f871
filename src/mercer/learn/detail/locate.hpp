// Which rows of its training data a model's points are.
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/learn/model.hpp"

namespace mercer {

/// For each point of the expansion the row of the data it is, by its recorded place or its content.
/// The rows are scaled as the model scales. Throws InvalidInput for a point that is none of them.
std::vector<std::size_t> locate_points(const Model& model, const Rows& all);

}  // namespace mercer
