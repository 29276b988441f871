// Products with the features of all rows in the span of some (learn/detail/centre_span.hpp).
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/detail/buffer.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/passes/detail/feature_products.hpp"

namespace mercer {

/// Span and sample must outlive it. Not for several threads at once.
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
    void through(MatrixView<const double> p, const Between& between,
                 MatrixView<double> sums) const override;
    double making_cost() const override;
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
    void add_through(MatrixView<const float> values, MatrixView<const double> beta,
                     const std::function<void(MatrixView<double>)>& between,
                     std::span<double> totals) const;

    const CentreSpan<float>& span_;
    mutable LargeBuffer values_{};  ///< of the block under way; new memory is slow at first
};

}  // namespace mercer
