// Kernel dependency estimation (001; Weston, Chapelle, Elisseeff, Schölkopf and Vapnik 2002): from
// pairs (x_i, y_i) a map w between two feature spaces,
//
//     w(Φ(x)) = Σ_ij α_ij Φ'(y_j) k(x_i, x),   answer  y = argmin_y ‖w(Φ(x)) − Φ'(y)‖,
//
// learnt in the kernel PCA basis of the outputs: the components of Φ'(y) are regressed on x by
// ridge regression, all by one factor. So outputs may be anything that has a kernel: vectors,
// images, and by a precomputed Gram matrix strings or graphs.
//
//   Model model = dependency({.common = {.kernel = rbf({.gamma = 0.1})},
//                             .output_kernel = rbf({.gamma = 0.05}), .components = 64}).fit(a, b);
//   const Dependency map(model);
//   map.nearest(test.x, candidates).positions;      // one of the candidates for each row
//   preimage_rows(map.preimages(test.x));                 // or an output that was never seen
#pragma once

#include <cstddef>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/feature/preimage.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

struct DependencySettings {
    FitSettings common{};          ///< kernel and scaling of the inputs; limits, progress
    Kernel output_kernel = rbf();  ///< outputs are not scaled: that is the kernel's business
    std::size_t components = 64;   ///< of the outputs' kernel PCA; 0: all
    double lambda = 1;             ///< of the ridge
    std::vector<double> path{};  ///< several λ, the one of the least leave-one-out error is taken
};

/// The model is the ridge regression, one output a component; its companion is the kernel PCA of
/// the outputs, with which it goes into one file. The reports are those of the ridge, one a
/// component, with the figure `output_explained`: the share of the outputs' variance that the
/// components hold.
class DependencyEstimation {
   public:
    explicit DependencyEstimation(DependencySettings settings) : settings_(std::move(settings)) {}
    const DependencySettings& settings() const { return settings_; }
    /// Rows in the same order; weights are those of `x`. Throws InvalidInput when the numbers of
    /// rows differ, Cancelled when told to stop.
    Model fit(const Dataset& x, const Dataset& y) const;

   private:
    DependencySettings settings_;
};
inline DependencyEstimation dependency(DependencySettings settings = {}) {
    return DependencyEstimation(std::move(settings));
}

/// The nearest of some candidates, for each row.
struct NearestOutputs {
    std::vector<std::size_t> positions{};    ///< among the candidates; the first of equals
    std::vector<double> squared_distance{};  ///< ‖w(Φ(x)) − Φ'(y)‖²
};

/// A learnt dependency, to be asked. A value.
class Dependency {
   public:
    /// Throws InvalidInput unless the model is one of DependencyEstimation.
    explicit Dependency(const Model& model);

    /// Kernel PCA of the outputs.
    const PrincipalComponents& outputs() const { return outputs_; }
    /// The components of w(Φ(x)), one row for each row of x. Throws Cancelled.
    Matrix<double> components(const Rows& x, const Progress& progress = {}) const;

    /// ‖w(Φ(x)) − Φ'(y)‖² for every row of x (down) and of y (across): with q the components of
    /// Φ'(y) and r what they leave of it, ‖p − q‖² + r.
    Matrix<double> squared_distances(const Rows& x, const Rows& y,
                                     const Progress& progress = {}) const;
    /// The candidate nearest to each row. Candidates of a precomputed output kernel are rows of its
    /// matrix.
    NearestOutputs nearest(const Rows& x, const Rows& candidates,
                           const Progress& progress = {}) const;
    /// The best input-space output for each row, begun at the nearest of the sample's outputs.
    std::vector<Preimage> preimages(const Rows& x, const PreimageSettings& settings = {}) const;

   private:
    Model model_;
    PrincipalComponents outputs_;
};

}  // namespace mercer
