// Laplace's approximation of a Gaussian process seen through the logistic function: the mode, the
// evidence and its slope (Rasmussen and Williams 2006, algorithms 3.1 and 5.1).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/gram/gradient.hpp"

namespace mercer {

struct LatentMode {
    bool found = false;           ///< false: K is not positive semidefinite
    std::vector<double> alpha{};  ///< ∇ log p(y|f̂)
    std::vector<double> mean{};   ///< f̂
    std::vector<double> root{};   ///< W^½
    Matrix<double> factor{};      ///< L of I + W^½KW^½, with zeros above the diagonal
    double primal = 0;            ///< −log p(y|f̂) + ½ α'Kα
    double dual = 0;
    double evidence = 0;
    std::size_t iterations = 0;
};

/// Newton's method with steps that are halved until they help, to a relative duality gap below
/// `tolerance` or as far as rounding lets it. `signs` are ±1, `weights` empty or one a row. Throws
/// Cancelled.
LatentMode find_mode(MatrixView<const double> k, std::span<const double> signs,
                     std::span<const double> weights, double tolerance, const Progress& progress);

/// The matrix M with ∂ log q(y)/∂θ = Σ_ij M_ij ∂K_ij/∂θ, symmetric; its lower triangle alone
/// counts.
Matrix<double> evidence_weights(MatrixView<const double> k, const LatentMode& mode,
                                std::span<const double> weights, const Progress& progress);

}  // namespace mercer
