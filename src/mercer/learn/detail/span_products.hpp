// Products with the features of all rows in the span of some (learn/detail/centre_span.hpp), which
// are made block by block and never stored: memory for centres², whatever the number of rows.
// Results do not depend on the number of threads.
#pragma once

#include <cstddef>
#include <span>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/learn/detail/centre_span.hpp"

namespace mercer {

/// Both must outlive it. Throws Cancelled from any of its products.
class SpanProducts {
   public:
    SpanProducts(const CentreSpan<float>& span, const Rows& rows, Progress progress)
        : span_(span), rows_(rows), progress_(std::move(progress)) {}

    std::size_t rows() const { return rows_.size(); }
    std::size_t columns() const { return span_.size(); }
    /// out[i] = φ_i·w.
    void multiply(std::span<const double> w, std::span<double> out) const;
    /// w = Σ c_i φ_i.
    void sum(std::span<const double> c, std::span<double> w) const;
    /// g = Σ h_i φ_i φ_i', all h_i >= 0, and in the same pass row o of `sums` = Σ_i right(o, i)
    /// φ_i.
    void weigh(std::span<const double> h, MatrixView<const double> right, MatrixView<double> g,
               MatrixView<double> sums) const;

   private:
    const CentreSpan<float>& span_;
    const Rows& rows_;
    Progress progress_;
};

}  // namespace mercer
