// The dual by a primal-dual interior point method, where K = ΦΦ' and the rows of Φ are few numbers
// long. With s = u − lower, t = upper − u, z and y their multipliers and λ those of A u = b, the
// conditions of optimality
//
//     V'V u + p − A'λ − z + y = 0,   A u = b,   s z = μ,   t y = μ      (V' has the columns ±φ)
//
// are followed to μ = 0 by Newton steps, each predicted and corrected (Mehrotra 1992). A step
// solves
//
//     (V V' + D) Δu − A'Δλ = r,   A Δu = b − A u,   D = z/s + y/t,
//
// by Woodbury's identity with a matrix of as many rows as Φ has columns, I + V'D⁻¹V, to which the
// equalities add theirs (Ferris and Munson 2002): one pass over the rows to make it, and no more
// than some dozens of steps whatever C, the scale of the data or their number.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/solver/detail/canonical.hpp"

namespace mercer {

template <class T>
class InteriorPoint {
   public:
    /// Both must live as long as this.
    InteriorPoint(const CanonicalDual& form, const ExplicitRows<T>& rows);

    /// One step. False when rounding, or a problem without a minimum, allows no more.
    bool step();

    /// Σ s z + t y over |f|, and by how much the equations are missed, relative to their terms.
    double relative_gap() const { return relative_gap_; }
    double residual() const { return residual_; }
    double objective() const { return objective_; }

    /// u with the variables that go to a bound put there; inside the box, near the equalities.
    std::vector<double> rounded() const;

   private:
    struct Direction {
        std::vector<double> u, z, y;
        std::array<double, 2> lambda{};
    };

    void look();
    bool factor();
    void solve(std::span<const double> r, std::array<double, 2> missing, Direction& out) const;
    void centre(double aim, Direction& d) const;
    void finish(std::span<const double> centring_z, std::span<const double> centring_y,
                Direction& out) const;
    double longest(const Direction& d) const;
    double complementarity(const Direction& d, double length) const;

    const CanonicalDual& form_;
    const ExplicitRows<T>& rows_;
    std::size_t bounds_ = 0;    ///< finite ones
    double gradient_unit_ = 1;  ///< what is a large gradient, and
    double length_unit_ = 1;    ///< a large variable that has no upper bound
    std::vector<char> fixed_;
    std::vector<double> u_, z_, y_;
    std::vector<double> free_gradient_;           ///< V'V u + p − A'λ
    std::vector<double> inverse_;                 ///< 1/D
    std::array<double, 2> lambda_{}, missing_{};  ///< and b − A u
    Matrix<double> factor_{};
    double first_gap_ = 0, mu_ = 0, relative_gap_ = 0, residual_ = 0, objective_ = 0;
};

extern template class InteriorPoint<float>;
extern template class InteriorPoint<double>;

}  // namespace mercer
