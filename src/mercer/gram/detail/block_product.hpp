// The Gram matrix times a block of vectors, at the speed of matrix products: what eigenvalues and
// sums over a whole sample need.
//
//   const GramProduct<float> product(gram, 1 << 30);
//   product(v.view(), w.view());                // w.row(j) = K v.row(j)
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "mercer/base/matrix.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/gram/detail/operators.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer {

template <class T>
class GramProduct {
   public:
    /// K of the reference rows is computed once and stored when it fits the budget; otherwise each
    /// product computes it anew, a band of rows at a time. Throws Cancelled.
    GramProduct(Gram<T> gram, std::size_t budget_bytes, const Progress& progress = {});

    std::size_t size() const { return gram_.size(); }
    bool is_stored() const { return stored_ != nullptr; }
    const Gram<T>& gram() const { return gram_; }

    /// out.row(j) = K v.row(j): kernel values and products in T, sums in double a run of columns at
    /// a time. Throws Cancelled.
    void operator()(MatrixView<const double> v, MatrixView<double> out,
                    const Progress& progress = {}) const;

    std::uint64_t evaluations() const { return evaluations_; }

   private:
    Gram<T> gram_;
    std::shared_ptr<const StoredOperator<T>> stored_{};
    mutable std::uint64_t evaluations_ = 0;
};

extern template class GramProduct<float>;
extern template class GramProduct<double>;

}  // namespace mercer
