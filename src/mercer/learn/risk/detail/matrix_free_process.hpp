// Gaussian processes whose matrix A = K + σ² W⁻¹ does not fit memory: by conjugate gradients, with
// rows of K computed as they are wanted.
#pragma once

#include <span>
#include <vector>

#include "mercer/learn/risk/gaussian_process.hpp"

namespace mercer {

/// The mean of all rows, certified by its residual. Parameters of the kernel and the noise, where
/// they are to be found, are found on at most 2000 rows. Of kernels that are positive definite by
/// rule log p(y) lies between the figures log_evidence_at_least and log_evidence_at_most. Throws
/// InvalidInput and Cancelled.
Model matrix_free_process(GaussianProcessSettings settings, const Dataset& data);

/// Whether a model was learnt so and knows all that its deviations need.
bool is_matrix_free(const Model& model);

/// The variance of f at each row, before targets are scaled back: at least the exact one, and at
/// most 1e-6 of k(x, x) above it. One pass over K for each step of conjugate gradients and some
/// hundred rows.
std::vector<double> matrix_free_variance(const Model& model, const Rows& scaled,
                                         const Progress& progress);

}  // namespace mercer
