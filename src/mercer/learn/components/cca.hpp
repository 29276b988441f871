// Kernel canonical correlation (001, research list; Bach and Jordan 2002; Kuss 2002): for rows that
// come in pairs (x_i, y_i), functions of the one and of the other that vary together most,
//
//     maximise  cov(f(x), g(y))   with   var f(x) + κ ‖f‖² = 1,   var g(y) + κ ‖g‖² = 1,
//
// pair after pair, each uncorrelated (in the same regularised sense) with the pairs before it.
// Without κ any sample could be correlated perfectly in a rich enough feature space.
//
//   Model model = kernel_cca({.x = {.kernel = rbf({.gamma = 0.5})}, .pairs = 3}).fit(a, b);
//   Matrix<double> scores = model.decision(a.x);              // f_1(x), f_2(x), f_3(x)
//   companion_of(model)->decision(b.x);                           // g_1(y), …
//   canonical_correlations(model, held_out_a.x, held_out_b.x);
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

struct CcaSettings {
    FitSettings x{};           ///< kernel and scaling of the first rows; seed, limits, progress
    Kernel y_kernel = rbf();   ///< of the second
    ScalingRule y_scaling{};   ///< likewise
    std::size_t pairs = 2;     ///< of functions; fewer where the data have fewer
    double kappa = 0.02;       ///< 0: none, for kernels of few features and many rows
    std::size_t rank = 0;      ///< most features a side; 0: as many as memory_bytes allows
    double tolerance = 1e-10;  ///< share of the kernel's trace that the features may miss
};

/// Both Gram matrices are replaced by their incomplete Cholesky factors (solver/), whose columns
/// are feature vectors: exact to `tolerance`, and then n rows cost n × rank numbers. With features
/// u_i and v_i about their means, S_uu = Σ w_i u_i u_i' / Σ w_i and so on, the pairs are the
/// singular vectors of (S_uu + κI)^(−½) S_uv (S_vv + κI)^(−½) and its singular values are the
/// regularised correlations: Bach and Jordan's eigenproblem with the penalty κ‖f‖² as it stands
/// instead of their (K + nκ/2)², which agrees with it to first order in κ.
///
/// The model is an expansion on the pivots of the first side, one output a pair, centred and of
/// variance 1 on the sample; its companion is that of the second. Signs: f's largest coefficient is
/// positive, and cov(f, g) is. The array "correlations" has one row a pair: regularised, and plain
/// on the sample. Figures: `rank_x`, `rank_y`, `missed_x`, `missed_y` (shares of the trace).
class KernelCca {
   public:
    explicit KernelCca(CcaSettings settings) : settings_(std::move(settings)) {}
    const CcaSettings& settings() const { return settings_; }
    /// Rows in the same order; weights are those of `x`. Throws InvalidInput when the numbers of
    /// rows differ, Cancelled when told to stop.
    Model fit(const Dataset& x, const Dataset& y) const;

   private:
    CcaSettings settings_;
};
inline KernelCca kernel_cca(CcaSettings settings = {}) {
    return KernelCca(std::move(settings));
}

/// The correlation of f_p(x) with g_p(y) over these rows, one per pair; 0 where one of them is
/// constant. Throws InvalidInput for a model that is no such pair and for rows that do not match.
std::vector<double> canonical_correlations(const Model& model, const Rows& x, const Rows& y,
                                           const Progress& progress = {});

}  // namespace mercer
