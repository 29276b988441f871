// Ridge regression in the space of weights without its matrix: conjugate gradients, each step of
// which is one pass over the features, preconditioned by the equations of one row in eight. Those
// take an eighth of the products and are off by a share of about √(8 columns / rows), so that each
// step takes away most of the error.
#pragma once

#include <cstddef>
#include <optional>

#include "mercer/base/matrix.hpp"
#include "mercer/learn/detail/checkpoint.hpp"
#include "mercer/learn/risk/detail/ridge_span.hpp"

namespace mercer {

/// Whether steps take less time than the equations of all rows: by the sizes of the problem alone,
/// so that the result depends on neither memory nor ranks.
bool steps_pay(const SpanRidgeProblem& problem);

struct SteppedRidge {
    Matrix<double> weights{};  ///< a row for each output
    std::size_t steps = 0;     ///< that were taken, those before a checkpoint among them
};

/// Nothing where more steps would be needed than pay. Begins at
/// `state` where that is one of its own, and keeps its state in `checkpoint`. Throws Cancelled.
std::optional<SteppedRidge> ridge_by_steps(const SpanRidgeProblem& problem,
                                           const std::optional<CheckpointState>& state,
                                           Checkpoint& checkpoint);

}  // namespace mercer
