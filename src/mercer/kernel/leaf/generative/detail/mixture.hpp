// Mixtures of Gaussians with a variance of their own in each column: fitted, and differentiated.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"

namespace mercer::leaves {

/// p(x) = Σ_k weights[k] Π_c N(x_c; means(k, c), variances(k, c)). Weights that sum to less than 1
/// are those of a class with that share: p is then of the row and the class together.
struct Mixture {
    std::vector<double> weights{};
    Matrix<double> means{};
    Matrix<double> variances{};

    std::size_t columns() const { return means.columns(); }
    /// log p(x), and its slopes: in logarithms of weights that are then made to sum to what they
    /// did, in means, and in standard deviations, component by component.
    double score(std::span<const double> x, std::vector<double>& slopes) const;
};

struct EmSettings {
    std::size_t parts = 1;  ///< components of a mixture, states of a chain
    std::size_t iterations = 100;
    std::uint64_t seed = 1;
};

/// Expectation and maximisation [Dempster, Laird and Rubin 1977] from means drawn far from each
/// other. The same for any number of threads. Throws InvalidInput for fewer rows than components.
Mixture fit_mixture(const std::vector<std::span<const double>>& rows, const EmSettings& settings);

}  // namespace mercer::leaves
