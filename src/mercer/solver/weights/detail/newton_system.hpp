// The systems of ProximalNewton: with S = Σ c_r φ_r φ_r' over the free rows,
//
//     ( I + S/width    −B'/width ) ( Δw )
//     (  −B/width       E/width  ) ( Δλ ),
//
// B and E what the equalities add. Of rows with few columns S itself is kept, and follows the rows
// that become free or no longer are; of long ones as many equations are solved as there are free
// rows (Woodbury's identity), or conjugate gradients are followed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"

namespace mercer {

struct FreeRows {
    std::span<const std::uint32_t> rows{};
    std::span<const double> weight{};               ///< c, all > 0
    MatrixView<const double> border{};              ///< B = Σ border_r φ_r, one line an equality
    std::array<std::array<double, 2>, 2> corner{};  ///< E
};

template <class T>
class NewtonSystem {
   public:
    /// Up to so many columns S is kept.
    static constexpr std::size_t most_columns = 2048;

    /// The rows must live as long as this.
    explicit NewtonSystem(const ExplicitRows<T>& rows, std::size_t equalities);

    /// x becomes the solution; its last entries are those of the equalities. False when rounding
    /// has left no positive definite matrix.
    bool solve(const FreeRows& free, double width, std::span<double> x);

   private:
    void follow(const FreeRows& free);
    bool solve_by_columns(const FreeRows& free, double width, std::span<double> x);
    bool solve_by_rows(const FreeRows& free, double width, std::span<double> x);
    bool factor_rows(const FreeRows& free, double width);
    void apply_inverse(const FreeRows& free, double width, std::span<double> x) const;
    void by_gradients(const FreeRows& free, double width, std::span<double> x) const;

    const ExplicitRows<T>& rows_;
    std::size_t equalities_;
    Matrix<double> sum_{};             ///< S, its lower triangle
    std::vector<double> counted_{};    ///< c of each row in it
    std::vector<std::uint32_t> in_{};  ///< the rows in it, ascending
    std::vector<std::uint32_t> changed_{};
    std::vector<double> by_{};
    double largest_ = 0;  ///< Σ c when it was last made anew, and
    double total_ = 0;    ///< now
    Matrix<double> factor_{};
};

extern template class NewtonSystem<float>;
extern template class NewtonSystem<double>;

}  // namespace mercer
