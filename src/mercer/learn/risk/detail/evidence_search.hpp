// The search for the hyperparameters of a Gaussian process, and what an evaluation of its evidence
// leaves behind.
#pragma once

#include <cstddef>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"

namespace mercer {

/// The process given the data: α = A⁻¹y and the factor of A, its rows one after another up to the
/// diagonal.
struct Posterior {
    std::vector<double> alpha{};
    std::vector<double> factor{};
    double evidence = -std::numeric_limits<double>::infinity();
};
/// Numbers in a factor.
inline std::size_t factor_size(std::size_t n) {
    return n * (n + 1) / 2;
}

/// Kernel and noise, as found or as given.
struct Hyperparameters {
    Kernel kernel;
    double noise = 0;
    FitStatus status = FitStatus::converged;
    std::size_t iterations = 0;
    std::size_t evaluations = 0;
    std::vector<double> history{};
    std::map<std::string, double> at_limit{};  ///< by name
    /// At these very values, where the search had room to keep it.
    std::optional<Posterior> posterior{};
};

/// σ² / w of each row.
std::vector<double> noise_of_rows(double noise, std::span<const double> weights, std::size_t n);

/// log p(y) of A = LL' and α = A⁻¹y.
double evidence_of(double log_determinant, std::span<const double> y,
                   std::span<const double> alpha);

/// The posterior for K in `place`, which is lost; nothing when K + noise is not positive definite.
/// Throws Cancelled.
std::optional<Posterior> posterior_in(MatrixView<double> place, std::span<const double> y,
                                      std::span<const double> noise, const Progress& progress);

/// One evaluation in the n × n place given. `keep` gets α, factor and value. Throws Cancelled.
Evidence evaluate_evidence(const GramGradient& k, std::span<const double> y, double noise,
                           std::span<const double> weights, bool with_gradient,
                           MatrixView<double> place, Posterior* keep, const Progress& progress);

/// Throws InvalidInput where the evidence is not defined to begin with, and Cancelled when told to
/// stop before it was evaluated once; stopped later, it returns the best so far. With `keep` two
/// factors are kept meanwhile, and the best is handed back.
Hyperparameters maximise_evidence(const GaussianProcessSettings& settings, const Sample& sample,
                                  std::span<const double> y, MatrixView<double> place,
                                  const GramGradient& k, bool keep);

}  // namespace mercer
