// Cholesky's factor in single precision, where the processor does twice as many operations: for
// whoever refines what is solved with it (solver/linear/detail/mixed_cholesky.hpp), or only wants a
// direction. On all threads; neither factor nor solutions depend on how many there are.
#pragma once

#include <span>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"

namespace mercer {

/// Overwrites the lower triangle of A with L; what stands above the diagonal is not read and lost.
/// False when A is not positive definite to single precision. Throws Cancelled when `progress`
/// says so.
bool single_cholesky(MatrixView<float> a, const Progress& progress = {});

/// z = (LL')⁻¹ r; r is brought to length 1 first, so that nothing overflows.
void single_cholesky_solve(MatrixView<float> factor, std::span<const double> r,
                           std::span<double> z);

}  // namespace mercer
