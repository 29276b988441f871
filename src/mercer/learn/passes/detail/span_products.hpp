// Products with the features of all rows in the span of some (learn/detail/centre_span.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/passes/detail/feature_products.hpp"

namespace mercer {

/// Span and sample must outlive it.
class SpanProducts final : public FeatureProducts {
   public:
    SpanProducts(const CentreSpan<float>& span, const SpanSample& sample, Progress progress)
        : FeatureProducts(sample, std::move(progress)), span_(span) {}

    std::size_t columns() const override { return span_.size(); }
    /// Of centres and kernel.
    std::string fingerprint() const override {
        return span_.kernel().text() + " span " + fingerprint_of(span_.factor());
    }
    void multiply(std::span<const double> w, std::span<double> out) const override;
    void sum(std::span<const double> c, std::span<double> w) const override;
    void weigh(const Weights& weights, MatrixView<double> g,
               MatrixView<double> sums) const override;
    void write(ModelParts& model, Matrix<double> weights, std::vector<double> bias) const override;

    /// Σ w_i k(x_i, x_i) over the rows of all ranks, w being the weights of the sample.
    double diagonal() const;
    /// Calls body(first, points, values) for one block after another of this rank's rows from
    /// `begin` to `end`: row i of values has the kernel values of row first + i with all centres.
    void kernel_blocks(std::size_t begin, std::size_t end,
                       const std::function<void(std::size_t, const Points<float>&,
                                                MatrixView<const float>)>& body) const;

   private:
    void weigh_block(std::size_t first, std::span<const double> h, MatrixView<const double> right,
                     std::span<double> totals) const;

    const CentreSpan<float>& span_;
};

}  // namespace mercer
