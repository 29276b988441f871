// Products with features φ_i of all rows, which are made block by block and never stored: what a
// machine f = w·φ + b is learnt by, in memory for some columns², whatever the number of rows.
// Results depend neither on the number of threads nor on that of ranks, each of which goes over its
// own rows.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/learn/detail/checkpoint.hpp"
#include "mercer/learn/detail/span_sample.hpp"

namespace mercer {

/// The sample must outlive it. Throws Cancelled from any of its products. Numbers that belong to
/// rows are those of this rank's.
class FeatureProducts {
   public:
    virtual ~FeatureProducts() = default;

    std::size_t rows() const { return sample_.size(); }
    const RowLeaves& leaves() const { return sample_.leaves; }
    virtual std::size_t columns() const = 0;
    /// Of what the features are.
    virtual std::string fingerprint() const = 0;

    /// out[i] = φ_i·w.
    virtual void multiply(std::span<const double> w, std::span<double> out) const = 0;
    /// w = Σ c_i φ_i over the rows of all ranks.
    virtual void sum(std::span<const double> c, std::span<double> w) const = 0;
    /// The h_i >= 0 of the rows from `first` on, and row o of `right` for each of the sums.
    using Weights =
        std::function<void(std::size_t first, std::span<double> h, MatrixView<double> right)>;
    /// g = Σ h_i φ_i φ_i', and in the same pass row o of `sums` = Σ_i right(o, i) φ_i, over the
    /// rows of all ranks. Weights are asked for block by block.
    virtual void weigh(const Weights& weights, MatrixView<double> g,
                       MatrixView<double> sums) const = 0;
    /// Makes of φ_i·p_o, in row o of `image` for the rows i from `first` on, what φ_i counts in the
    /// sum o.
    using Between = std::function<void(std::size_t first, MatrixView<double> image)>;
    /// Row o of `sums` = Σ_i c(o, i) φ_i over the rows of all ranks, c being what `between` makes
    /// of the products with row o of `p`.
    virtual void through(MatrixView<const double> p, const Between& between,
                         MatrixView<double> sums) const;
    /// About how many products of `weigh` take as long as a feature that is made and used in
    /// `through`; infinite where nobody knows.
    virtual double making_cost() const { return std::numeric_limits<double>::infinity(); }
    /// Puts f = w·φ + b, a row of weights for each output, among the parts of a model.
    virtual void write(ModelParts& model, Matrix<double> weights,
                       std::vector<double> bias) const = 0;

   protected:
    FeatureProducts(const SpanSample& sample, Progress progress)
        : sample_(sample), progress_(std::move(progress)) {}
    FeatureProducts(const FeatureProducts&) = default;
    FeatureProducts& operator=(const FeatureProducts&) = delete;

    const SpanSample& sample() const { return sample_; }
    /// Calls body(first, count) for one block of these rows after another.
    void for_blocks(std::size_t first, std::size_t last,
                    const std::function<void(std::size_t, std::size_t)>& body) const;
    /// One triangle Σ h φφ' and the sums behind it, of the blocks of all ranks: add(first, h,
    /// right, totals).
    using AddBlock = std::function<void(std::size_t first, std::span<const double> h,
                                        MatrixView<const double> right, std::span<double> totals)>;
    void weigh_blocks(const Weights& weights, const AddBlock& add, MatrixView<double> g,
                      MatrixView<double> sums) const;

   private:
    const SpanSample& sample_;
    Progress progress_;
};

/// Where row i of a lower triangle begins among its rows, one after another.
constexpr std::size_t triangle(std::size_t i) {
    return i * (i + 1) / 2;
}

/// Those of a block that count: of a hinge most rows have neither slope nor curvature.
std::vector<std::size_t> counting_rows(std::span<const double> h, MatrixView<const double> right);

/// Adds Σ_i h_i v_i v_i' to a lower triangle and, behind it, Σ_i right(o, i) v_i to the sum of each
/// row o, over the rows i at `some`; v_i is a column of `values`, which has theirs, and h_i >= 0.
template <class T>
void add_weighted_squares(MatrixView<const T> values, std::span<const std::size_t> some,
                          std::span<const double> h, MatrixView<const double> right,
                          std::span<double> totals);

}  // namespace mercer
