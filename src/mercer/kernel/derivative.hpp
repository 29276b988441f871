// Derivatives of a kernel at one pair of rows, from the expression itself by the rules of calculus:
// in each of its parameters (kernel/parameters.hpp) and in its first argument.
//
//   const PairDerivatives d = derivatives(k, x, z);
//   d.by_parameter[p];       // ∂k(x,z)/∂θ_p in the order of parameters(k)
//   d.by_input[c];           // ∂k(x,z)/∂x_c
//
// Blocks of the first for whole samples are the business of gram/gradient.hpp.
#pragma once

#include <span>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

struct PairDerivatives {
    double value = 0;
    std::vector<double> by_parameter;
    std::vector<double> by_input;
};

/// Where k has a kink (laplacian at x_c = z_c, intersection, distances at x = z) the mean of the
/// one-sided derivatives is given. Throws InvalidInput that names the part for what has no
/// derivative: ball, precomputed, user functions, formulas (outer, map), and for center, which
/// needs a sample.
PairDerivatives derivatives(const Kernel& kernel, std::span<const double> x,
                            std::span<const double> z);

/// In the parameters alone, which more kernels have: formulas and user functions do not depend on
/// them.
std::vector<double> parameter_gradient(const Kernel& kernel, std::span<const double> x,
                                       std::span<const double> z);

/// In x alone: what pre-images and sensitivities need.
std::vector<double> input_gradient(const Kernel& kernel, std::span<const double> x,
                                   std::span<const double> z);

}  // namespace mercer
