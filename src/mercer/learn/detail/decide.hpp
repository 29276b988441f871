// What decision values mean, for those who have no model yet: a search that learns many machines of
// the same rows at once.
#pragma once

#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/learn/model.hpp"

namespace mercer {

/// Model::classify of a model with this task, these classes and this way of taking them.
std::vector<double> classify(const ModelParts& parts, MatrixView<const double> decisions);

}  // namespace mercer
