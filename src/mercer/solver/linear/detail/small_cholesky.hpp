// Cholesky's factor of a matrix of a few hundred rows, without a library: opening one takes longer
// than some dozens of these. For larger ones use solver/linear/detail/cholesky.hpp.
#pragma once

#include <cstddef>
#include <span>

#include "mercer/base/matrix.hpp"

namespace mercer {

/// Up to so many rows it is no slower than a library's.
constexpr std::size_t small_system = 512;

/// Overwrites the lower triangle of A with L, A = L L'. What is above the diagonal is lost. False
/// when A is not positive definite to working precision, or not finite.
bool small_cholesky(MatrixView<double> a);

/// b, which is 0 before `first`, becomes A⁻¹ b.
void small_cholesky_solve(MatrixView<const double> factor, std::span<double> b,
                          std::size_t first = 0);

}  // namespace mercer
