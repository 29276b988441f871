// Gaussian process classification: a function f is drawn from the process with mean 0 and
// covariance k, and a row is of the first class with probability σ(f(x)) = 1 / (1 + exp(−f(x))).
// What the labels say of f is no Gaussian any more; Laplace's approximation takes the one around
// its mode f̂ (Rasmussen and Williams 2006, chapter 3; ref 61 of 001):
//
//     mode       f̂ maximises Σ w_i log σ(y_i f_i) − ½ f'K⁻¹f,        f̂ = Kα, α = ∇ log p(y|f̂)
//     mean       k_x'α                                                                      (3.21)
//     variance   k(x,x) − k_x'(K + W⁻¹)⁻¹k_x,    W = −∇∇ log p(y|f̂), diagonal               (3.24)
//     answer     p(x) = ∫ σ(z) N(z; mean, variance) dz                                      (3.25)
//     evidence   log q(y) = −½ α'f̂ + log p(y|f̂) − ½ log det(I + W^½KW^½)                    (3.32)
//
// Several classes are each taken against the rest, and their probabilities divided by their sum.
//
//   Model m = gp_classifier({.common = {.kernel = Kernel::parse("2*rbf(sigma=1)")},
//                            .optimise = true}).fit(data);
//   m.probabilities(test.x);
//   m.report().figures.at("log_evidence");
//
// The mode is the logistic machine with λ = ½ and no bias: α is certified by its duality gap.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/words.hpp"
#include "mercer/gram/gradient.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

inline constexpr Task gpc_task = new_task("gpc");

/// How the answer's integral is taken.
enum class LatentAverage {
    exact,           ///< by the trapezoidal rule, to about 1e-12
    error_functions  ///< of σ as a sum of five error functions (Williams and Barber 1998): off by
                     ///< up to 4e-4, and what scikit-learn has
};
constexpr Words latent_average_words{std::pair{LatentAverage::exact, "exact"},
                                     std::pair{LatentAverage::error_functions, "error-functions"}};

struct GpClassifierSettings {
    FitSettings common{};
    /// Maximise the evidence over every positive parameter of the kernel, as the task gp does; of
    /// several classes the sum of their evidences, with one kernel for all.
    bool optimise = false;
    std::vector<std::string> fixed{};  ///< names of parameters that stay where they are
    std::size_t restarts = 0;
    std::size_t iteration_limit = 100;  ///< of the search, from each start
    double tolerance = 1e-10;           ///< on the relative duality gap of each mode
    LatentAverage average = LatentAverage::exact;
    bool keep_factor = true;  ///< false: a small model, whose answers are σ(mean)
};

/// Decisions are log(p / (1 − p)) of the answers p, their signs those of the mean. Report, one a
/// class (one of two): primal and dual value of the mode, their gap; among the figures log_evidence
/// and those of a search (gp). The model has its LatentFactors. Rows count by their weights: w_i
/// log p(y_i|f).
class GpClassifier {
   public:
    explicit GpClassifier(GpClassifierSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return gpc_task; }
    const GpClassifierSettings& settings() const { return settings_; }
    /// Throws InvalidInput when the matrix does not fit common.memory_bytes or the kernel is found
    /// not to be positive definite.
    Model fit(const Dataset& data) const;

   private:
    GpClassifierSettings settings_;
};
inline GpClassifier gp_classifier(GpClassifierSettings settings = {}) {
    return GpClassifier(std::move(settings));
}

/// The evidence of Laplace's approximation for labels +1 and −1, and its derivatives in the
/// kernel's parameters (the order of k.parameters()).
struct LatentEvidence {
    bool defined = false;  ///< false: K is not positive semidefinite, nothing else is set
    double value = 0;
    std::vector<double> gradient{};
};
LatentEvidence latent_evidence(const GramGradient& k, std::span<const double> signs,
                               std::span<const double> weights = {}, bool with_gradient = true);

/// ∫ σ(z) N(z; mean, variance) dz as log odds.
double averaged_log_odds(double mean, double variance, LatentAverage average);

/// What variances are computed from, one row a class.
struct LatentFactors final : ArrayExtra<LatentFactors> {
    Matrix<double> lower{};    ///< L of I + W^½KW^½ = LL', row by row up to the diagonal
    Matrix<double> root{};     ///< W^½
    Matrix<double> average{};  ///< 1 × 1: 1 for error functions

    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("latent_factor", self.lower);
        visit("latent_root", self.root);
        visit("latent_average", self.average);
    }
    void check(const ModelParts& model, const std::string& place) const override;
    /// Null: they have a row for each point of the long expansion.
    std::shared_ptr<const Extra> reduced(const std::shared_ptr<const Extra>& own,
                                         const Model& model,
                                         const Expansion& smaller) const override;
    bool decides() const override { return true; }
    Matrix<double> decide(const Model& model, const Rows& scaled,
                          const Progress& progress) const override;
};

/// Mean and variance of f at each row, rows × outputs each. Throws InvalidInput for a model that is
/// no such process or was made without its factors.
struct Latent {
    Matrix<double> mean{};
    Matrix<double> variance{};
};
Latent latent_of(const Model& model, const Rows& x, const Progress& progress = {});

}  // namespace mercer
