// Cholesky's factor and the inverse by blocks: one library product a task on one thread, tasks
// shared out by parallel_for. So the result does not depend on the number of threads, and threads
// that the system has taken away are not waited for spinning, as the library's own would. Between
// slices of tasks `progress` is asked, and Cancelled thrown when it wants no more.
#pragma once

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"

namespace mercer {

/// L in the lower triangle of A = LL'; false when A is not positive definite.
bool blocked_cholesky(MatrixView<double> a, const Progress& progress);

/// From L in the lower triangle to the lower triangle of A⁻¹; what stands above is lost.
void blocked_inverse(MatrixView<double> a, const Progress& progress);

}  // namespace mercer
