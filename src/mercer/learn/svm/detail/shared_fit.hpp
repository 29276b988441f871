// ρ as a function of the vectors alone, and its gradient. For learn/compress/reduce.cpp.
//
// With K_zz = k(z_j, z_l) and F_cj = <w_c, Φ(z_j)> the best coefficients for given z are
// b_c = K_zz⁻¹ F_c, and what is left is
//
//     ρ(z) = Σ_c ‖w_c‖² − Σ_c F_c' K_zz⁻¹ F_c.
//
// Since b is at its own minimum, moving z changes ρ as if b stayed:
//
//     ∂ρ/∂z_j = 2 Σ_l (b'b)_jl ∂k(z_l, z_j)/∂z_j − 2 Σ_i (a'b)_ij ∂k(x_i, z_j)/∂z_j,
//
// and where the gradient of k is a kernel times x or z − x (kernel/detail/slope.hpp) each sum is a
// matrix product. A ridge far below the precision of the kernel values keeps K_zz invertible when
// vectors come near one another; it is part of what is minimised, so value and gradient agree.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "mercer/base/matrix.hpp"
#include "mercer/feature/expansion.hpp"

namespace mercer::reduction {

class SharedFit {
   public:
    /// Points must be dense. Throws InvalidInput for a kernel without a derivative in its points.
    SharedFit(const Expansion& e, double squared_norm, bool double_precision);

    /// ρ at these vectors (count × columns, one after another) and its gradient.
    double operator()(std::span<const double> z, std::span<double> gradient) const;

    struct Face;

   private:
    std::shared_ptr<const Face> face_;
};

/// K_zz + ridge factored (lower triangle), the ridge raised until that succeeds.
void factor_with_ridge(Matrix<double>& gram, double relative);

}  // namespace mercer::reduction
