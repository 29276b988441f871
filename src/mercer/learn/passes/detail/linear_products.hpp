// Products with the rows themselves, which are their features under the linear kernel: machines of
// many rows and few columns are learnt in the space of weights, in double precision.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mercer/learn/passes/detail/feature_products.hpp"

namespace mercer {

/// Whether such a machine of the rows of all ranks goes over them in passes, and ends with a weight
/// for each column: the kernel is `linear`, and there are more rows than some leaves and than twice
/// the columns. What is learnt otherwise has a coefficient for each row. All ranks must ask.
bool learns_by_passes(const FitSettings& settings, const Dataset& data);

/// The sample must outlive it.
class LinearProducts final : public FeatureProducts {
   public:
    LinearProducts(const SpanSample& sample, Progress progress)
        : FeatureProducts(sample, std::move(progress)) {}

    std::size_t columns() const override { return sample().x.columns(); }
    std::string fingerprint() const override;
    void multiply(std::span<const double> w, std::span<double> out) const override;
    void sum(std::span<const double> c, std::span<double> w) const override;
    void weigh(const Weights& weights, MatrixView<double> g,
               MatrixView<double> sums) const override;
    /// Over the unit vectors: Σ_k w_k <e_k, x>.
    void write(ModelParts& model, Matrix<double> weights, std::vector<double> bias) const override;

   private:
    template <class T>
    void weigh_block(const Rows& block, std::span<const double> h, MatrixView<const double> right,
                     std::span<double> totals) const;
};

}  // namespace mercer
