// How well a kernel agrees with the labels, before any machine is trained [Cristianini, Elisseeff
// and Shawe-Taylor 2001, 001 ref 17; centred: Cortes, Mohri and Rostamizadeh 2012]:
//
//     A(K, T) = <K, T> / √(<K, K> <T, T>),   <A, B> = Σ_ij A_ij B_ij,   T = yy'
//
//   kernel_alignment(rbf({.gamma = 0.5}), data).centred          // between −1 and 1
//   alignment_gradient(k, data).gradient                         // in each parameter of k
//   align_parameters(k, data).kernel                             // at the best values
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/kernel/parameters.hpp"

namespace mercer MERCER_API {

/// A(K, T) of two symmetric matrices; 0 where one of them vanishes. Centred: of HKH and HTH,
/// H = I − 11'/n, so that what all pairs have in common counts for nothing. Throws InvalidInput
/// unless both are square and of one size.
double alignment(MatrixView<const double> k, MatrixView<const double> target, bool centred = false);

/// What the kernel ought to be. Two classes: y_i y_j with y = ±1. More: 1 for pairs of one class
/// and −1/(classes − 1) for others. Targets of regression (`as_numbers`): y_i y_j of the centred y.
Matrix<double> target_matrix(const Labels& labels, bool as_numbers = false);

struct Alignment {
    double plain = 0;
    double centred = 0;
};
/// With the kernel's rules settled on the rows. Throws InvalidInput for data without labels, of one
/// class, or too large for `memory_bytes` (two matrices of n² numbers). Throws Cancelled.
Alignment kernel_alignment(const Kernel& kernel, const Dataset& data, bool as_numbers = false,
                           std::size_t memory_bytes = std::size_t{1} << 30,
                           const Progress& progress = {});

/// ∂A/∂θ = <∂K/∂θ, W>, W = T/(‖K‖‖T‖) − A K/‖K‖², over centred matrices when `centred`.
struct AlignmentGradient {
    double value = 0;
    std::vector<KernelParameter> parameters{};
    std::vector<double> gradient{};
};
AlignmentGradient alignment_gradient(const Kernel& kernel, const Dataset& data, bool centred = true,
                                     bool as_numbers = false,
                                     std::size_t memory_bytes = std::size_t{1} << 30);

struct AlignedKernel {
    Kernel kernel = linear();
    double before = 0;  ///< centred alignment at the values given
    double after = 0;
    std::size_t evaluations = 0;
    std::string status{};                     ///< "converged", "at the limit of the search", …
    std::vector<KernelParameter> at_limit{};  ///< parameters that ended at a limit of the search
};
/// Climbs the centred alignment over the positive parameters of the kernel, in their logarithms, by
/// L-BFGS; others stay. Each may grow or shrink to a hundred thousand times what it was. Throws
/// InvalidInput when there is none to move, and Cancelled.
AlignedKernel align_parameters(const Kernel& kernel, const Dataset& data, bool as_numbers = false,
                               std::size_t memory_bytes = std::size_t{1} << 30,
                               const Progress& progress = {});

}  // namespace mercer
