// Sums without rounding (Shewchuk 1997): the sum so far is kept as doubles that do not overlap.
//
//   ExactSum sum;
//   sum.add_product(0.1, 3);
//   sum.add(-0.3);
//   sum.is_zero();      // false: 0.1 is not a tenth
//   sum.value();        // 2.8e-17, rounded once
//
// Exact as long as nothing overflows and no product is below 1e-290.
#pragma once

#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace mercer {

class ExactSum {
   public:
    void add(double x) {
        std::size_t kept = 0;
        for (double part : parts_) {
            if (std::abs(x) < std::abs(part)) std::swap(x, part);
            const double high = x + part;
            const double low = part - (high - x);
            if (low != 0) parts_[kept++] = low;
            x = high;
        }
        parts_.resize(kept);
        if (x != 0) parts_.push_back(x);
    }

    void add_product(double a, double b) {
        const double product = a * b;
        add(product);
        add(std::fma(a, b, -product));
    }

    bool is_zero() const { return parts_.empty(); }

    /// To within a unit in the last place.
    double value() const {
        double sum = 0;
        for (const double part : parts_) sum += part;  // the smallest first
        return sum;
    }

   private:
    std::vector<double> parts_{};  ///< of growing size, none overlapping another
};

}  // namespace mercer
