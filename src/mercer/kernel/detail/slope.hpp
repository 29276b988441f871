// The derivative of a kernel in one of its points, as kernels again: for functions of x·z and of
// ‖x−z‖² the gradient is a number, itself a kernel, times x or times z − x. A sum of such gradients
// over many points is then two matrix products instead of one formula a pair.
//
//   slope_terms(rbf({.gamma = 0.5}))          {-1*rbf(gamma=0.5), times z − x}
//   slope_terms(polynomial({.degree = 3}))    {3*polynomial(degree=2), times x}
//
// Pair by pair, and for every kernel that has a derivative: kernel/parameters.hpp.
#pragma once

#include <optional>
#include <vector>

#include "mercer/kernel/kernel.hpp"

namespace mercer {

/// One part of ∂k(x, z)/∂z.
struct SlopeTerm {
    Kernel slope;
    bool difference = false;  ///< slope(x, z) (z − x); otherwise slope(x, z) x
};

/// The parts, whose sum is ∂k(x, z)/∂z; nothing for kernels that these rules do not reach. The
/// kernel must be resolved.
std::optional<std::vector<SlopeTerm>> slope_terms(const Kernel& kernel);

}  // namespace mercer
