// Positive definite systems A x = b by the factor A = L L', on all threads. Factor and inverse do
// not depend on how many there are.
//
//   Matrix<double> a(n, n);                   // symmetric; only its lower triangle is read
//   if (!cholesky(a.view())) return;          // not positive definite
//   cholesky_solve(a.view(), b.view());       // each row of b becomes A⁻¹ times that row
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"

namespace mercer {

/// Overwrites the lower triangle of A with L; the part above the diagonal is left as it is. False
/// when A is not positive definite to working precision, or not finite; its content is then lost.
/// Throws Cancelled a fraction of a second after `progress` says so, as all that take one do.
bool cholesky(MatrixView<double> a, const Progress& progress = {});

/// Each row of `b` is a right-hand side and becomes the solution.
void cholesky_solve(MatrixView<const double> factor, MatrixView<double> b);

/// Each row v of `b` becomes L⁻¹ v, so that the sum of its squares is v'A⁻¹v.
void forward_solve(MatrixView<const double> factor, MatrixView<double> b);

/// Overwrites the factor with the lower triangle of A⁻¹. What stands above the diagonal is lost.
void cholesky_inverse(MatrixView<double> factor, const Progress& progress = {});

/// log det A = 2 Σ log L_ii.
double log_determinant(MatrixView<const double> factor);

/// K + D with D = diag(shift), factored in the place of K: L stands on and below the diagonal while
/// K itself stays above it, so that solutions can be checked against it.
class ShiftedSystem {
   public:
    /// `k` holds both triangles of K and must live as long as this.
    ShiftedSystem(MatrixView<double> k, std::span<const double> shift,
                  const Progress& progress = {});

    /// False when K + D is not positive definite; nothing below may then be called.
    bool factored() const { return factored_; }
    MatrixView<const double> factor() const { return k_; }

    /// Each row of b becomes (K + D)⁻¹ times it.
    void solve(MatrixView<double> b) const { cholesky_solve(k_, b); }
    /// Row r of y = K times row r of x.
    void apply_k(MatrixView<const double> x, MatrixView<double> y) const;
    double log_determinant() const { return mercer::log_determinant(k_); }  ///< of K + D
    /// Puts (K + D)⁻¹ in the place of the factor, after which only it can be read.
    MatrixView<const double> invert(const Progress& progress = {});

   private:
    MatrixView<double> k_;
    std::vector<double> diagonal_;  ///< of K
    bool factored_ = false;
};

}  // namespace mercer
