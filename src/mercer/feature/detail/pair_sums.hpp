// An expansion of a kernel by pairs whose sums are one function (kernel/detail/object_sum.hpp): a
// value costs the same however many support vectors there are.
#pragma once

#include <memory>
#include <vector>

#include "mercer/feature/detail/feature_weights.hpp"
#include "mercer/kernel/detail/object_sum.hpp"

namespace mercer {

class PairSums {
   public:
    /// Tables are held for each output; beyond so many the support vectors are the smaller thing.
    static constexpr std::size_t most_outputs = 4;

    PairSums(FeatureWeights::Part part, const Expansion& expansion);

    /// out(i, c) += factor Σ_j coefficients(c, j) k(x_j, x_i)
    void add_to(const Rows& x, MatrixView<double> out) const;

   private:
    FeatureWeights::Part part_;
    std::vector<std::unique_ptr<const ObjectSum>> sums_{};  ///< one an output
};

}  // namespace mercer
