// Convex functions known by their values: slopes by differences, conjugates by searching, and what
// shows that one is not convex.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "mercer/learn/risk/detail/newton_risk.hpp"
#include "mercer/learn/risk/given_loss.hpp"

namespace mercer {

/// ℓ or, for t > 0, its envelope min_u ℓ(y, u) + (u − z)²/2t, which is smooth with the slope
/// (z − u) / t. It remembers from one call to the next: for one thread at a time.
class ConvexLoss final : public BatchLoss {
   public:
    ConvexLoss(LossBatch value, LossBatch slope)
        : value_(std::move(value)), slope_(std::move(slope)) {}

    void smooth(double t) { t_ = t; }
    double smoothing() const { return t_; }

    void evaluate(std::span<const double> y, std::span<const double> z, std::span<double> value,
                  std::span<double> slope, std::span<double> curvature) const override;

    /// ℓ itself. Throws InvalidInput where it is not finite.
    void values(std::span<const double> y, std::span<const double> z, std::span<double> out) const;
    /// Throws InvalidInput, with the numbers, when values between `low` and `high` show that ℓ(y,
    /// ·) is not convex for one of these y.
    void check_convex(std::span<const double> y, double low, double high) const;
    /// A bound from above on ℓ*(y, a) = sup_z a z − ℓ(y, z), sought around `near`; infinite where
    /// none is found.
    void conjugates(std::span<const double> y, std::span<const double> a,
                    std::span<const double> near, std::span<double> out) const;

   private:
    void slopes(std::span<const double> y, std::span<const double> z, std::span<double> out) const;
    std::vector<double> nearest(std::span<const double> y, std::span<const double> z) const;

    LossBatch value_;
    LossBatch slope_;
    double t_ = 0;
    mutable std::vector<double> kinks_{};  ///< where each row was last held by one; NaN: nowhere
};

/// Ω by its values.
struct Rising {
    std::function<double(double)> value;

    double slope(double s) const;
    /// Throws InvalidInput where it falls or is not finite within 0 … high; true: convex there.
    bool check(double high) const;
    /// A bound from above on sup_s a s − Ω(s) over s >= 0; infinite where none is found.
    double conjugate(double a, double near) const;
};

}  // namespace mercer
