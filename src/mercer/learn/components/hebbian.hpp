// The kernel Hebbian algorithm (001, "Super-Resolution"; Kim, Franz and Schölkopf 2004): kernel
// principal components learnt from rows that come one after another and are not kept. It is
// Sanger's rule in feature space,
//
//     w_i ← w_i + η_i(t) ( y_i Φ(x) − Σ_{j ≤ i} y_i y_j w_j ),   y_i = <w_i, Φ(x) − Φ̄>,
//
// whose fixed point is the i-th eigenvector of the covariance of the images.
//
//   HebbianStream stream({.common = {.kernel = rbf({.gamma = 0.1})}, .components = 16});
//   while (more_to_come) stream.feed(rows);                // any number of rows at a time
//   Model model = stream.model();                          // a kernel PCA (kernel_pca.hpp)
//
//   Model same = hebbian_pca({.components = 16, .passes = 50}).fit(data);
//
// Memory does not grow with the stream: the w_i live in the span of a fixed dictionary of images,
// the `dictionary` rows that pivoted Cholesky picks (each the one the others explain least) from
// the first `window` rows. Other rows count by the projection of their image on that span,
// φ(x) = L⁻¹ k(dictionary, x) with k(dictionary, dictionary) = LL'; what the span misses of them is
// measured and reported.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "mercer/base/export.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/registry.hpp"

namespace mercer MERCER_API {

struct HebbianSettings {
    FitSettings common{};         ///< kernel, scaling, seed, time limit (of fit), progress
    std::size_t components = 16;  ///< fewer where the dictionary has no more directions
    std::size_t dictionary = 500;
    /// Rows waited for before the dictionary is chosen; 0: four times as many as it has.
    std::size_t window = 0;
    bool center = true;      ///< about the mean of the images seen so far
    std::size_t batch = 32;  ///< rows an update is averaged over; 1: the rule as it stands
    /// η_i(t) = rate / λ_i × anneal / (t + anneal) at update t, λ_i being the variance seen along
    /// w_i: without it small components would take as many times longer as they are smaller
    /// (Günter, Schraudolph and Vishwanathan 2007).
    double rate = 0.5;
    double anneal = 100;
    std::size_t passes = 20;  ///< fit alone: times through the data, each in an order of its own
    /// fit alone: counted as converged when every ‖Kv − mλv‖ is below this times the largest mλ.
    double tolerance = 0.01;
};

/// The settings by their names (learn/registry.hpp). Throws InvalidSetting.
HebbianSettings hebbian_settings(FitSettings common, const SettingValues& values);

/// Components learnt on the way.
class HebbianStream {
   public:
    /// Throws InvalidInput for settings out of range and for kernels that need a whole sample
    /// (center, precomputed). Scaling is fitted on the window.
    explicit HebbianStream(HebbianSettings settings);
    HebbianStream(HebbianStream&&) noexcept;
    HebbianStream& operator=(HebbianStream&&) noexcept;
    ~HebbianStream();

    /// Learns from some rows, in their order; `weights` has one per row or none at all. The first
    /// call settles the number of columns. Throws InvalidInput, and learns nothing, for rows of
    /// another width or not finite, and Cancelled out of the middle.
    void feed(const Rows& rows, std::span<const double> weights = {});

    std::size_t seen() const;     ///< rows fed
    std::size_t updates() const;  ///< made of them
    std::size_t points() const;   ///< in the dictionary; 0 while the window fills
    std::size_t numbers() const;  ///< doubles held for learning, the window's rows included

    /// The components so far, made orthonormal in their order. A model of the task kpca, with the
    /// arrays of KernelPca: eigenvalues are n times the variances measured last (rows seen n); the
    /// third column is n times the length of the mean update before η, which is 0 at an eigenvector
    /// and otherwise noisy. Figures `components`, `total_variance`, `explained`, `residual` as
    /// there, and `lost`: the share of the squared lengths of the images that the dictionary's
    /// span misses. A window not yet full is used as it is; without any row, InvalidInput.
    Model model();

   private:
    friend class HebbianPca;
    struct State;
    std::unique_ptr<State> state_;
};

/// The same on data at hand. After the last pass eigenvalues and residuals are measured exactly on
/// all rows. Stopped early it has what there is, measured on as many rows as a moment allows
/// ("rows_measured"), with a status.
class HebbianPca {
   public:
    explicit HebbianPca(HebbianSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::kha; }
    const HebbianSettings& settings() const { return settings_; }
    Model fit(const Dataset& data) const;

   private:
    static Model learn(const HebbianSettings& settings, const Dataset& data);

    HebbianSettings settings_;
};
inline HebbianPca hebbian_pca(HebbianSettings settings = {}) {
    return HebbianPca(std::move(settings));
}

}  // namespace mercer
