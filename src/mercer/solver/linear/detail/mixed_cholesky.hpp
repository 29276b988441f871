// Positive definite systems (K + D) x = b, D = diag(shift), at nearly twice the speed of a double
// factor: Cholesky's factor is computed in single precision, where the processor does twice as many
// operations, and serves as preconditioner of conjugate gradients with K in double. With a
// condition number c each step gains a factor of about 6e-8 c, so that three or four reach double
// precision; beyond c of about 1e6 it is the double factor's turn
// (solver/linear/detail/cholesky.hpp), and `solve` says so.
//
//     MixedSystem system(k.view(), shift);
//     if (!system.factored() || !system.solve(b.view(), 1e-12)) return;  // use cholesky
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/detail/buffer.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"

namespace mercer {

class MixedSystem {
   public:
    /// `k` holds both triangles of K and must live as long as this. Takes n² floats beside it.
    /// Throws Cancelled when `progress` says so.
    MixedSystem(MatrixView<const double> k, std::span<const double> shift,
                const Progress& progress = {});

    /// False when K + D is not positive definite to single precision.
    bool factored() const { return factored_; }
    /// Each row of b becomes (K + D)⁻¹ times it, with a residual of at most `tolerance` times the
    /// row's length; false, with b as it was, when that is out of reach.
    bool solve(MatrixView<double> b, double tolerance, const Progress& progress = {}) const;
    /// Row r of y = K times row r of x.
    void apply_k(MatrixView<const double> x, MatrixView<double> y) const;

   private:
    void multiply(std::span<const double> x, std::span<double> y) const;
    bool solve_row(std::span<const double> b, double tolerance, std::span<double> x,
                   const Progress& progress) const;

    MatrixView<const double> k_;
    std::vector<double> shift_;
    LargeBuffer buffer_;
    MatrixView<float> factor_;
    bool factored_ = false;
};

}  // namespace mercer
