// The largest eigenvalues of a symmetric matrix M that is known only by products with a block of
// vectors, which is what kernel matrices do fast:
//
//     M v_j = θ_j v_j,   θ_1 ≥ θ_2 ≥ … ≥ θ_count
//
// by a block Krylov method: the span of V, MV, M²V, … of a random block V, the best approximations
// in it (Rayleigh and Ritz), and a thick restart when it has grown too large (Wu and Simon 2000;
// Musco and Musco 2015 on why blocks need few products).
//
//   const TopEigen e = top_eigen(n, [&](MatrixView<const double> v, MatrixView<double> out) {
//       /* … */                                  // out.row(j) = M v.row(j)
//   }, {.count = 16});
//   e.values; e.vectors.row(j); e.residuals[j];
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "mercer/base/matrix.hpp"

namespace mercer {

/// out.row(j) = M v.row(j) for every row of v. May throw Cancelled: the search then ends with what
/// it has or, before it has anything, lets it pass.
using BlockProduct = std::function<void(MatrixView<const double> v, MatrixView<double> out)>;

struct TopEigenSettings {
    std::size_t count = 1;       ///< eigenvalues wanted, at most n
    std::size_t block = 0;       ///< vectors a product; 0: count and a few more
    std::size_t basis = 0;       ///< vectors kept at most; 0: count and six blocks
    double tolerance = 1e-10;    ///< on ‖Mv − θv‖, relative to |θ|'s largest
    std::size_t products = 200;  ///< at most
    std::uint64_t seed = 1;
    /// Called after each product with the worst residual relative to the largest |θ|; return false
    /// to stop with what there is.
    std::function<bool(std::size_t product, double residual)> progress{};
};

enum class TopEigenStatus {
    converged,
    product_limit,  ///< values and vectors are the best found; see the residuals
    stopped,        ///< likewise
};

struct TopEigen {
    std::vector<double> values{};     ///< descending
    Matrix<double> vectors{};         ///< row j belongs to values[j]; orthonormal
    std::vector<double> residuals{};  ///< ‖M v_j − θ_j v_j‖ as the products saw it
    std::size_t products = 0;
    std::size_t vectors_multiplied = 0;
    TopEigenStatus status = TopEigenStatus::converged;
};

/// Throws InvalidInput when count is 0 or above n. The result does not depend on the number of
/// threads if the product does not.
TopEigen top_eigen(std::size_t n, const BlockProduct& product, const TopEigenSettings& settings);

/// The best approximations of eigenpairs in the span of orthonormal vectors, given their products:
/// rotates both, so that vectors · products' becomes diagonal, and measures the residuals.
TopEigen rayleigh_ritz(Matrix<double> vectors, Matrix<double> products);

}  // namespace mercer
