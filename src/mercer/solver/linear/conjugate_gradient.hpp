// Positive definite systems too large to store,
//
//     (K + D) x = b,   D = diag(shift) > 0,
//
// by preconditioned conjugate gradients on an operator, for several right-hand sides at once so
// that each row of K is computed once an iteration for all of them.
//
//   PivotedCholesky near(op, shift, {.rank = 200});
//   CgSolution s = conjugate_gradient(op, shift, b.view(), near, {.tolerance = 1e-10});
//
// The answer is certified by its residual, recomputed from K at the end, never by the recursion.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/progress.hpp"

namespace mercer MERCER_API {

/// K ≈ L L' from `rank` of its rows, the one with the largest remaining diagonal at each step
/// (Harbrecht, Peters and Schneider 2012; as a preconditioner, Gardner et al. 2018), and
/// M = L L' + D inverted by Woodbury's identity.
class PivotedCholesky {
   public:
    struct Settings {
        std::size_t rank = 300;
        double tolerance = 1e-3;  ///< stop when the largest remaining K_ii is this times its D_ii
        Progress progress{};      ///< told to stop it throws Cancelled
    };

    template <class T>
    PivotedCholesky(const SymmetricOperator<T>& k, std::span<const double> shift,
                    const Settings& settings);

    /// z = M⁻¹ r
    void apply(std::span<const double> r, std::span<double> z) const;

    std::size_t rank() const { return factor_.rows(); }
    double remaining_trace() const { return remaining_trace_; }  ///< of K − L L'
    double remaining_share() const { return remaining_share_; }  ///< of D⁻¹ (K − L L')
    double log_determinant() const;                              ///< of M

   private:
    std::vector<double> shift_;
    Matrix<double> factor_;  ///< L', rank × n
    Matrix<double> inner_;   ///< Cholesky factor of I + L' D⁻¹ L
    double remaining_trace_ = 0;
    double remaining_share_ = 0;
};

enum class CgStatus { converged, iteration_limit, cancelled, stalled };
std::string describe(CgStatus status);

struct CgSettings {
    double tolerance = 1e-10;  ///< on ‖b − (K + D) x‖ / ‖b‖, the worst right-hand side
    std::size_t iteration_limit = 0;  ///< 0: 10 √n + 100
    Progress progress{};              ///< told "solving" with the residual as detail
};

struct CgSolution {
    Matrix<double> x{};      ///< one row a right-hand side
    Matrix<double> image{};  ///< K x, as the iterations saw it
    double residual = 0;     ///< the worst, relative; recomputed unless told to stop
    std::size_t iterations = 0;
    std::vector<double> history{};  ///< worst relative residual after each iteration
    CgStatus status = CgStatus::converged;
};

/// One row of `b` a right-hand side.
template <class T>
CgSolution conjugate_gradient(const SymmetricOperator<T>& k, std::span<const double> shift,
                              MatrixView<const double> b, const PivotedCholesky& preconditioner,
                              const CgSettings& settings = {});

/// Row r of y = K times row r of x, each row of K being asked for once. Throws Cancelled.
template <class T>
void apply_all(const SymmetricOperator<T>& k, MatrixView<const double> x, MatrixView<double> y,
               const Progress& progress = {});

extern template PivotedCholesky::PivotedCholesky(const SymmetricOperator<float>&,
                                                 std::span<const double>, const Settings&);
extern template PivotedCholesky::PivotedCholesky(const SymmetricOperator<double>&,
                                                 std::span<const double>, const Settings&);
extern template CgSolution conjugate_gradient(const SymmetricOperator<float>&,
                                              std::span<const double>, MatrixView<const double>,
                                              const PivotedCholesky&, const CgSettings&);
extern template CgSolution conjugate_gradient(const SymmetricOperator<double>&,
                                              std::span<const double>, MatrixView<const double>,
                                              const PivotedCholesky&, const CgSettings&);
extern template void apply_all(const SymmetricOperator<float>&, MatrixView<const double>,
                               MatrixView<double>, const Progress&);
extern template void apply_all(const SymmetricOperator<double>&, MatrixView<const double>,
                               MatrixView<double>, const Progress&);

}  // namespace mercer
