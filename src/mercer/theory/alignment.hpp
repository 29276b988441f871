// How well a kernel agrees with the labels, before any machine is trained [Cristianini, Elisseeff
// and Shawe-Taylor 2001, 001 ref 17; centred: Cortes, Mohri and Rostamizadeh 2012]:
//
//     A(K, T) = <K, T> / √(<K, K> <T, T>),   <A, B> = Σ_ij A_ij B_ij,   T = yy'
//
//   kernel_alignment(rbf({.gamma = 0.5}), data).centred          // between −1 and 1
//   alignment_gradient(k, data).gradient                         // in each parameter of k
//   align_parameters(k, data).kernel                             // at the best values
//
// Kernels added with weights >= 0 that are learnt: by alignment with the labels, or by the margin
// of the machine that uses the sum (multiple kernel learning). Both return a duality gap.
//
//   const KernelCombination c = combine_by_margin({rbf({.gamma = 0.1}), linear()}, data);
//   c.weights, c.kernel.text();              // "0.71*rbf(gamma=0.1) + 0.02*linear"
//   svc({.kernel = c.kernel, .C = 10}).fit(data);
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

struct CombinationSettings {
    double C = 1;  ///< combine_by_margin: penalty of errors
    /// Each kernel is first divided by the mean of k(x, x) over the rows, so that none wins by its
    /// unit of measure; the weights returned are those of the kernels as given.
    bool normalise = true;
    double tolerance = 1e-3;  ///< on the gap, relative to the objective
    std::size_t iteration_limit = 1000;
    std::size_t memory_bytes = std::size_t{1} << 30;  ///< for one matrix a kernel and two more
    Progress progress{};                              ///< return false to stop with what there is
};

struct KernelCombination {
    std::vector<double> weights{};  ///< one a kernel, >= 0; of the kernels as given
    std::vector<double> shares{};   ///< the same of the normalised kernels, with sum 1
    Kernel kernel = linear();       ///< the sum, without those of weight 0, all rules resolved
    double objective = 0;           ///< alignment reached, or the primal value of the machine
    double gap = 0;                 ///< how far at most it is from the best
    double relative_gap = 0;
    std::size_t iterations = 0;
    bool converged = false;         ///< false: stopped by the limit or on request, with this gap
    std::vector<double> history{};  ///< of the relative gap
};

/// The combination of largest centred alignment (Cortes, Mohri and Rostamizadeh 2012):
///     min ½ v'Mv − a'v over v >= 0,  M_kl = <K_k, K_l>,  a_k = <K_k, T>  (centred matrices),
/// weights proportional to v. The gap is that of this program: a point u with Mu >= a bounds it by
/// −½ u'Mu, and the smallest multiple of v that does so is taken. Throws InvalidInput for no
/// kernels, data without two classes, matrices beyond the memory allowed, and when no kernel agrees
/// with the labels at all.
KernelCombination combine_by_alignment(const std::vector<Kernel>& kernels, const Dataset& data,
                                       const CombinationSettings& settings = {});

/// Multiple kernel learning (Lanckriet et al. 2002, 001; in the form of Bach et al. 2004):
///     min over weights of sum 1 of  max_α Σ α − ½ Σ_k μ_k α'Q_kα,  0 <= α <= C, y'α = 0,
/// by turns: the machine for fixed weights, then μ_k ∝ ‖w_k‖ = μ_k √(α'Q_kα), which is the minimum
/// over μ for fixed w (Xu et al. 2010). Any α bounds the optimum from below by
/// Σ α − ½ max_k α'Q_kα. Two classes. Throws InvalidInput for a kernel that is not at least
/// conditionally positive definite on the rows, whose gap would prove nothing.
KernelCombination combine_by_margin(const std::vector<Kernel>& kernels, const Dataset& data,
                                    const CombinationSettings& settings = {});

}  // namespace mercer
