// Gaussian process regression: y_i = f(x_i) + noise, f drawn from the process with mean 0 and
// covariance k, noise of variance σ² / w_i. The mean of f given the data is the ridge machine with
// λ = σ² (001, where the representer theorem meets maximum a posteriori); beyond it there are
//
//     variance   k(x,x) − k_x' A⁻¹ k_x,                      A = K + σ² W⁻¹
//     evidence   log p(y) = −½ y'A⁻¹y − ½ log det A − n/2 log 2π
//     its slope  ½ tr((αα' − A⁻¹) ∂A/∂θ),                    α = A⁻¹ y
//
// (Rasmussen and Williams 2006, equations 2.25, 2.26, 5.8 and 5.9).
//
//   Model m = gaussian_process({.common = {.kernel = Kernel::parse("2*rbf(sigma=1)")},
//                               .noise = 0.1, .optimise = true, .restarts = 3}).fit(data);
//   m.expansion().kernel.text();                  // with the values that were found
//   m.report().figures.at("log_evidence");
//   predictive_deviation(m, test.x);              // only when asked
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/gram/gradient.hpp"
#include "mercer/learn/machine.hpp"

namespace mercer MERCER_API {

struct GaussianProcessSettings {
    FitSettings common{};
    double noise = 0.1;  ///< the variance σ² of the noise
    /// Maximise the evidence over the noise and every positive parameter of the kernel, in their
    /// logarithms, by L-BFGS, within a factor of 1e6 either way of where it begins.
    bool optimise = false;
    /// Held where they are: "noise" and names of the kernel's parameters (`search_names`); "gamma"
    /// holds every gamma, "gamma_2" the second.
    std::vector<std::string> fixed{};
    std::size_t restarts = 0;  ///< further starts, drawn around the given one by common.seed
    std::size_t iteration_limit = 100;  ///< of each start
    bool keep_factor = true;            ///< false: no variance later, and a small model
};

/// Targets are scaled by common.target_scale, by default to mean 0 and deviation 1 where the
/// evidence is maximised; kernel, noise, factor and report then speak of the scaled targets, mean
/// and deviation of the targets themselves.
///
/// The model has its Factor. Report: primal, dual and gap as of the ridge machine with λ = σ²;
/// among the figures log_evidence, noise, evaluations, and at_limit_NAME (its value) for each
/// parameter that ended at a limit of the search, whose status is then no longer `converged`;
/// history is the evidence after each iteration of the start that led to the best.
class GaussianProcess {
   public:
    explicit GaussianProcess(GaussianProcessSettings settings) : settings_(std::move(settings)) {}
    Task task() const { return Task::gp; }
    const GaussianProcessSettings& settings() const { return settings_; }
    /// A search that is told to stop returns the best so far with a status. Throws InvalidInput
    /// when A is not positive definite.
    ///
    /// Where A does not fit common.memory_bytes, the mean is found by conjugate gradients and
    /// log p(y) is held between the figures log_evidence_at_least and log_evidence_at_most;
    /// deviations take some passes over all pairs of rows for each few hundred of them, and need
    /// rows without weights. With `optimise` parameters are found on at most 2000 rows.
    Model fit(const Dataset& data) const;
    /// In the span of some rows, memory for centres² (`approximate`): deviations keep what the span
    /// leaves of k(x, x), so that they grow away from the centres, and log p(y) under the kernel
    /// itself lies between the figures log_evidence_at_least and log_evidence_at_most. With
    /// `optimise` parameters are found on at most 2000 rows.
    Model fit_in_span(const Dataset& data, MatrixView<const double> targets,
                      const Nystroem& how) const;

   private:
    GaussianProcessSettings settings_;
};
inline GaussianProcess gaussian_process(GaussianProcessSettings settings = {}) {
    return GaussianProcess(std::move(settings));
}

/// What a search over this kernel calls its parameters, in the order of `parameters` and with the
/// noise last: "gamma", from the second of the name on "gamma_2", and "noise".
std::vector<std::string> search_names(const std::vector<KernelParameter>& parameters);

/// log p(y) and its derivatives in the kernel's parameters (the order of k.parameters()) and, last,
/// in the noise variance.
struct Evidence {
    bool defined = false;  ///< false: A is not positive definite, nothing else is set
    double value = 0;
    std::vector<double> gradient{};  ///< empty when not wanted
};
/// `weights` is empty (all 1) or one per row.
Evidence log_evidence(const GramGradient& k, std::span<const double> y, double noise,
                      std::span<const double> weights = {}, bool with_gradient = true);

/// What deviations are computed from.
struct Factor final : ArrayExtra<Factor> {
    Matrix<double> lower{};  ///< L of A = LL', n × n

    Factor() = default;
    explicit Factor(Matrix<double> l) : lower(std::move(l)) {}
    template <class Self, class Visit>
    static void arrays(Self& self, Visit&& visit) {
        visit("factor", self.lower);
    }
    void check(const ModelParts& model, const std::string& place) const override;
    /// Null: it has a row for each point of the long expansion.
    std::shared_ptr<const Extra> reduced(const std::shared_ptr<const Extra>& own,
                                         const Model& model,
                                         const Expansion& smaller) const override;
};

/// The standard deviation of f at each row, or of a new observation there with `with_noise`. Throws
/// InvalidInput for a model that is no Gaussian process or was made without its factor.
std::vector<double> predictive_deviation(const Model& model, const Rows& x, bool with_noise = false,
                                         const Progress& progress = {});

}  // namespace mercer
