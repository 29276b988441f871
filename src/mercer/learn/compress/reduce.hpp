// Reduced sets (001, "Speeding up the decision rule"): an expansion w_c = Σ a_ci Φ(x_i) replaced by
// a shorter one w'_c = Σ b_cj Φ(z_j) that is as near to it as possible in feature space,
//
//     minimise  ρ = Σ_c ‖w_c − w'_c‖²,
//
// all outputs sharing the same vectors z_j. ρ needs nothing but the kernel.
//
//   ReducedModel small = reduce(model, {.vectors = 150});
//   small.reduction.distance / small.reduction.squared_norm;      // ρ / Σ ‖w_c‖²
//   save(small.model, "small.mercer");
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/feature/expansion.hpp"
#include "mercer/learn/model.hpp"

namespace mercer MERCER_API {

/// Where the vectors come from.
enum class ReduceMethod {
    /// Points of the expansion, each the one that lowers ρ most beside those chosen before
    /// (orthogonal matching pursuit).
    greedy,
    /// Points of the expansion that an L1 penalty on the lengths ‖b_·j‖ leaves (001 ref 53).
    l1,
    /// New points, each the pre-image of what is left of w (feature/preimage.hpp): fixed-point
    /// iteration for Gaussian kernels, along the gradient for others.
    sequential,
};
/// "greedy", "l1", "sequential"; and back, throwing InvalidInput.
std::string_view reduce_method_name(ReduceMethod method);
ReduceMethod reduce_method_named(std::string_view name);

struct ReduceSettings {
    // How far; exactly one of these is above 0.
    std::size_t vectors = 0;  ///< so many z_j
    double error = 0;         ///< as few as keep ρ <= error × Σ ‖w_c‖²
    double speedup = 0;       ///< so many times fewer than there are

    ReduceMethod method = ReduceMethod::greedy;
    /// Afterwards moves all z_j together, the b being the best for them at every step. Needs a
    /// kernel with a derivative in its points.
    bool joint = true;
    std::size_t iterations = 100;  ///< of that, at most
    std::size_t memory_bytes = std::size_t{1} << 30;
    bool double_precision = false;  ///< kernel values in double; sums always are
    Progress progress{};            ///< return false to stop with the best there is
};

struct Reduction {
    Expansion expansion{};  ///< as short as was asked; same kernel, bias and self
    /// Rows of the old expansion that were chosen, in the order of their choice; empty when the
    /// vectors were moved or constructed.
    std::vector<std::size_t> chosen{};
    double squared_norm = 0;              ///< Σ ‖w_c‖²
    std::vector<double> squared_norms{};  ///< ‖w_c‖², one per output
    double distance = 0;                  ///< ρ, recomputed in double precision
    std::vector<double> distances{};      ///< ‖w_c − w'_c‖², one per output
    /// ρ after 0, 1, 2, … vectors were chosen, before they were moved.
    std::vector<double> choice{};
    /// ρ at the start of the joint optimisation and after each of its steps; never rises.
    std::vector<double> history{};
    FitStatus status = FitStatus::converged;
    double seconds = 0;
};

/// Throws InvalidInput for settings out of range, for kernels without a sample of their own
/// (precomputed ones can be chosen from, not moved), and Cancelled when stopped before there is
/// anything to give back.
Reduction reduce(const Expansion& expansion, const ReduceSettings& settings);

/// Reductions to several sizes, ascending: the choice is made once, each size is moved by itself.
std::vector<Reduction> reduction_path(const Expansion& expansion,
                                      std::span<const std::size_t> sizes,
                                      const ReduceSettings& settings);

struct ReducedModel {
    Model model{};
    Reduction reduction{};
};

/// The same for a trained machine, all of whose pairs or outputs share the vectors. The certificate
/// of the training does not hold for it; its reports say what was lost instead (figures
/// reduced_from, squared_norm and squared_distance). Throws InvalidInput for voted perceptrons,
/// whose vectors must stay.
ReducedModel reduce(const Model& model, const ReduceSettings& settings);
/// The model with this expansion in the place of its own.
Model with_reduction(const Model& model, const Reduction& reduction);

/// ‖w_c − w'_c‖² for every output of two expansions over the same kernel, exactly: in double
/// precision, from the kernel alone. Throws InvalidInput when kernels or outputs differ.
std::vector<double> squared_distances(const Expansion& a, const Expansion& b,
                                      const Progress& progress = {});

/// The coefficients (outputs × points) of the expansion over these points that is nearest to w.
Matrix<double> nearest_coefficients(const Expansion& expansion, const Rows& points);

/// center(k) written out: f over k itself, over the points and the sample it is centred on.
/// Expansions of other kernels are given back as they are.
Expansion without_center(const Expansion& expansion);

}  // namespace mercer
