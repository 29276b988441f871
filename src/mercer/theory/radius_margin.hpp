// Kernel parameters by the gradient of the radius-margin bound [Chapelle, Vapnik, Bousquet and
// Mukherjee 2002]:
//
//     T(θ, C) = R²‖w‖²,
//
// R the radius of the smallest sphere around the rows and ‖w‖ the inverse of the hard margin, both
// for K + I/C: the machine with squared slacks, ½‖w‖² + C/2 Σ ξ², is a hard margin in that space.
// At fixed multipliers the slopes are plain sums, because both problems are at their optimum:
//
//     ∂‖w‖²/∂θ = −Σ_ij α_i α_j y_i y_j ∂K_ij/∂θ,   ∂R²/∂θ = Σ_i β_i ∂K_ii/∂θ − Σ_ij β_i β_j
//     ∂K_ij/∂θ
//
//   const RadiusMarginChoice c = minimise_radius_margin(rbf({.gamma = 1.0}), 1, data);
//   c.kernel.text(), c.C;
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/gram/gradient.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

struct RadiusMargin {
    double radius_squared = 0;
    double norm_squared = 0;
    double value = 0;                ///< their product: leave-one-out errors <= value, without bias
    std::vector<double> gradient{};  ///< of ln(value), in the order of k.parameters()
    double gradient_in_c = 0;        ///< of ln(value), in C
};
/// `y` are ±1, both present.
RadiusMargin radius_margin_of(const GramGradient& k, std::span<const double> y, double C);

struct RadiusMarginChoice {
    Kernel kernel = linear();
    double C = 1;       ///< of the squared slacks; λ of squared-hinge is 1/C
    double before = 0;  ///< R²‖w‖² at the values given
    double after = 0;
    std::size_t evaluations = 0;
    std::string status{};                     ///< "converged", "at the limit of the search", …
    bool C_at_limit = false;                  ///< C ended at a limit of the search
    std::vector<KernelParameter> at_limit{};  ///< parameters that did
};
/// Descends ln T over the logarithms of C and of the kernel's positive parameters by L-BFGS. Throws
/// InvalidInput unless the data has two classes and its matrices fit the memory allowed. Throws
/// Cancelled.
RadiusMarginChoice minimise_radius_margin(const Kernel& kernel, double C, const Dataset& data,
                                          std::size_t memory_bytes = std::size_t{1} << 30,
                                          const Progress& progress = {});

}  // namespace mercer
