// The real parameters of a kernel expression, to be looked at and replaced: what a search or a
// gradient moves.
//
//   const Kernel k = Kernel::parse("2*rbf(sigma=3) + linear");
//   parameters(k);                                 // factor 2, sigma 3
//   with_parameters(k, std::array{0.5, 1.0});      // 0.5*rbf(sigma=1) + linear
//
// Whole numbers (degrees), the smoothness nu of Matérn, exponents of powers and column subsets are
// the shape of an expression, not parameters of it.
//
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
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

struct KernelParameter {
    std::string name;  ///< as written: "sigma"; "factor" of a scaled part, "value" of a constant
    std::string part;  ///< text of the part it belongs to: "rbf(sigma=3)"
    double value = 0;
};

/// All of them, a part's own before those of the parts inside it, from left to right; defaults that
/// were not written are listed too. Throws InvalidInput while a rule waits for data.
std::vector<KernelParameter> parameters(const Kernel& kernel);

/// The same expression with these values, in the order of `parameters`. Throws InvalidInput for a
/// wrong count and for a value out of its range. The shape is kept even where parts cancel;
/// `Kernel::parse(k.text())` brings it to the usual form.
Kernel with_parameters(const Kernel& kernel, std::span<const double> values);

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
