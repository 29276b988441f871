// A loss over all rows of a risk problem: its slopes and curvatures, and sums of it in the order of
// fixed pieces of the rows, on all threads.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "mercer/dist/detail/row_leaves.hpp"
#include "mercer/learn/risk/detail/newton_risk.hpp"

namespace mercer {

struct LossSums {
    double value = 0;      ///< Σ ω ℓ
    double slope = 0;      ///< Σ ω ℓ'
    double curvature = 0;  ///< Σ ω ℓ''
    double dual = 0;       ///< −Σ ω ℓ*(ℓ')
};

/// For a problem without a `given` loss, which must live as long as this. With leaves the problem
/// has this rank's rows and the sums are those of all ranks, which must ask together.
class LossOverRows {
   public:
    explicit LossOverRows(const RiskProblem& problem, const RowLeaves* leaves = nullptr);

    /// At z = image + bias.
    LossSums look(std::span<const double> image, double bias) const;
    /// Σ ω ℓ at image + t change + bias.
    double value(std::span<const double> image, std::span<const double> change, double t,
                 double bias) const;
    /// ω ℓ' and ω ℓ'' of the rows from `first` on, as many as there are places for; no curvatures
    /// where there are none for them.
    void derive(std::size_t first, std::span<const double> image, double bias,
                std::span<double> slopes, std::span<double> curvatures) const;
    /// The b that is best for this image, where the slopes add up to 0: Newton's steps on their
    /// sum, which rises with b, kept between two b around it. It begins at b.
    double best_bias(std::span<const double> image, double b) const;

   private:
    using Sums = std::array<double, 4>;
    template <class Image, class Add>
    Sums sum(bool with_value, const Image& image, const Add& add) const;

    const RiskProblem& p_;
    const RowLeaves* leaves_;
    double total_ = 0;  ///< Σ ω
};

}  // namespace mercer
