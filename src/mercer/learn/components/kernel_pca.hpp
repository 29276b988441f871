// Kernel principal components (001, "Kernel PCA"): the directions V of feature space along which
// the images of a sample vary most,
//
//     λ V = C V,   C = 1/m Σ (Φ(x_j) − Φ̄)(Φ(x_j) − Φ̄)',   V = Σ α_i Φ(x_i),   m λ α = K α,
//
// with K the Gram matrix about the centre of mass Φ̄ (or as it is, without centring), and α divided
// by √(mλ) so that ‖V‖ = 1.
//
//   Model model = kernel_pca({.common = {.kernel = rbf({.gamma = 0.5})}, .components = 16})
//                     .fit(data);
//   Matrix<double> features = model.decision(test.x);      // <V_j, Φ(x) − Φ̄>, one column each
//   std::vector<double> novelty = model.predict(test.x);   // what the components leave of Φ(x)
//   const PrincipalComponents components(model);
//   components.expand(features.view());                    // PΦ(x) over the sample: learn/preimage
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

struct KernelPcaSettings {
    FitSettings common{};
    std::size_t components = 16;  ///< the largest so many; 0: all, from the whole matrix
    bool center = true;           ///< about the centre of mass; false: about the origin
    /// On ‖Kv − λv‖ relative to the largest λ; 0: 1e-10 with double_precision, else 1e-6.
    double tolerance = 0;
    std::size_t passes = 200;  ///< products with K at most; what there is then is kept
};

/// Few components of many rows are found by a block Krylov method
/// (solver/linear/detail/block_eigen.hpp) that needs only products of K with some dozens of
/// vectors: K is stored when it fits memory_bytes and computed anew, a block of rows at a time,
/// when it does not. Small samples, and all components, go through LAPACK, for which two matrices
/// of doubles must fit; otherwise InvalidInput.
///
/// Weights of rows count as repetitions: λ and Φ̄ are those of the sample with row i taken w_i times
/// (any w_i ≥ 0). Directions whose eigenvalue is 0 up to rounding are left out, so there may be
/// fewer components than asked for, and at least one: a sample without any variance is refused.
/// Signs: the largest coefficient of each component is positive.
///
/// The model is an expansion with one output a component, and has Components. Figures:
/// `components`, `total_variance`, `explained` (share of it), `residual` (the worst, relative to
/// the largest eigenvalue), `products`.
class KernelPca {
   public:
    explicit KernelPca(KernelPcaSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::kpca; }
    const KernelPcaSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;
    /// In the span of some rows, by one pass over all of them and memory for centres²
    /// (`approximate`). Eigenvalues are then at most those of all rows, one by one; the centre is
    /// the point of the span next to Φ̄, and residuals are those within the span.
    Model fit_in_span(const Dataset& data, MatrixView<const double> targets,
                      const Nystroem& how) const;

   private:
    KernelPcaSettings settings_;
};
inline KernelPca kernel_pca(KernelPcaSettings settings = {}) {
    return KernelPca(std::move(settings));
}

/// What a kernel PCA knows of its components; the model predicts what they leave of each row.
struct Components final : ArrayExtra<Components> {
    /// A row for each: the eigenvalue mλ of K, the share of the variance it explains, and
    /// ‖Kv − mλ v‖ for the vector v of length 1, computed in double precision: the certificate.
    Matrix<double> eigenvalues{};
    std::optional<Matrix<double>>
        centre{};              ///< 1 × points: their weights in Φ̄; none about the origin
    Matrix<double> moments{};  ///< 1 × 3: sum m of the rows' weights, total variance, ‖Φ̄‖²

    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("eigenvalues", self.eigenvalues);
        visit("centre", self.centre);
        visit("moments", self.moments);
    }
    void check(const ModelParts& model, const std::string& place) const override;
    /// The centre is a combination of the points, too.
    std::shared_ptr<const Extra> reduced(const std::shared_ptr<const Extra>& own,
                                         const Model& model,
                                         const Expansion& smaller) const override;
    std::optional<std::vector<double>> answers(const Model& model, const Rows& x,
                                               const Progress& progress) const override;
};

/// The geometry of a fitted kernel PCA. A value; rows are given unscaled, as to the model.
class PrincipalComponents {
   public:
    /// Throws InvalidInput unless the model is one of KernelPca and its components fit it.
    explicit PrincipalComponents(const Model& model);

    std::size_t size() const { return eigenvalues_.size(); }  ///< components
    const Model& model() const { return model_; }
    /// mλ, descending.
    const std::vector<double>& eigenvalues() const { return eigenvalues_; }
    /// λ: the variance of the sample's images along each component.
    std::vector<double> variances() const;
    double total_variance() const { return total_variance_; }
    bool is_centered() const { return !centre_.empty(); }

    /// <V_j, Φ(x) − Φ̄>, one row for each row of x. Throws Cancelled.
    Matrix<double> project(const Rows& x, const Progress& progress = {}) const;
    /// Each column divided by √λ_j: variance 1 on the sample.
    void whiten(MatrixView<double> projections) const;

    /// ‖Φ(x) − PΦ(x)‖² for each row, P the projection on the first `components` (0: all) and the
    /// centre: how new a row is to the sample. Not below 0.
    std::vector<double> reconstruction_errors(const Rows& x, std::size_t components = 0,
                                              const Progress& progress = {}) const;
    /// The same when the projections are there already.
    std::vector<double> reconstruction_errors(const Rows& x, MatrixView<const double> projections,
                                              std::size_t components = 0,
                                              const Progress& progress = {}) const;

    /// PΦ(x) = Φ̄ + Σ_j p_j V_j as coefficients over the points of model().expansion, one row for
    /// each row p of `projections`, of which the first `components` (0: all) are used.
    Matrix<double> expand(MatrixView<const double> projections, std::size_t components = 0) const;
    /// One of them as a vector of feature space.
    FeatureVector image(std::span<const double> projections, std::size_t components = 0) const;

   private:
    std::size_t used(std::size_t components) const;
    Rows scaled(const Rows& x) const;

    Model model_;
    std::vector<double> eigenvalues_{};
    std::vector<double> centre_{};
    double centre_square_ = 0;
    double weight_ = 0;  ///< m, the sum of the rows' weights
    double total_variance_ = 0;
};

}  // namespace mercer
