// Products with the features of all rows in the span of some (learn/detail/centre_span.hpp), which
// are made block by block and never stored: memory for some centres², whatever the number of rows.
// Results depend neither on the number of threads nor on that of ranks, each of which goes over its
// own rows.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/detail/checkpoint.hpp"

namespace mercer {

/// Both must outlive it. Throws Cancelled from any of its products. Numbers that belong to rows are
/// those of this rank's.
class SpanProducts {
   public:
    SpanProducts(const CentreSpan<float>& span, const SpanSample& sample, Progress progress)
        : span_(span), sample_(sample), progress_(std::move(progress)) {}

    std::size_t rows() const { return sample_.size(); }
    std::size_t columns() const { return span_.size(); }
    const RowLeaves& leaves() const { return sample_.leaves; }
    /// Of centres and kernel.
    std::string fingerprint() const {
        return span_.kernel().text() + " span " + fingerprint_of(span_.factor());
    }
    /// out[i] = φ_i·w.
    void multiply(std::span<const double> w, std::span<double> out) const;
    /// w = Σ c_i φ_i over the rows of all ranks.
    void sum(std::span<const double> c, std::span<double> w) const;
    /// Σ w_i k(x_i, x_i) over the rows of all ranks, w being the weights of the sample.
    double diagonal() const;
    /// The h_i >= 0 of the rows from `first` on, and row o of `right` for each of the sums.
    using Weights =
        std::function<void(std::size_t first, std::span<double> h, MatrixView<double> right)>;
    /// g = Σ h_i φ_i φ_i', and in the same pass row o of `sums` = Σ_i right(o, i) φ_i, over the
    /// rows of all ranks. Weights are asked for block by block.
    void weigh(const Weights& weights, MatrixView<double> g, MatrixView<double> sums) const;
    /// Calls body(first, points, values) for one block after another of this rank's rows from
    /// `begin` to `end`: row i of values has the kernel values of row first + i with all centres.
    void kernel_blocks(std::size_t begin, std::size_t end,
                       const std::function<void(std::size_t, const Points<float>&,
                                                MatrixView<const float>)>& body) const;

   private:
    void for_blocks(std::size_t first, std::size_t last,
                    const std::function<void(std::size_t, std::size_t)>& body) const;
    void weigh_block(std::size_t first, std::span<const double> h, MatrixView<const double> right,
                     std::span<double> totals) const;

    const CentreSpan<float>& span_;
    const SpanSample& sample_;
    Progress progress_;
};

}  // namespace mercer
