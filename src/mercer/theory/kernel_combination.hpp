// Kernels added with weights >= 0 that are learnt: by alignment with the labels, or by the margin
// of the machine that uses the sum (multiple kernel learning). Both return a duality gap.
//
//   const KernelCombination c = combine_by_margin({rbf({.gamma = 0.1}), linear()}, data);
//   c.weights, c.kernel.text();              // "0.71*rbf(gamma=0.1) + 0.02*linear"
//   svc({.kernel = c.kernel, .C = 10}).fit(data);
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/data/dataset.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer MERCER_API {

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
