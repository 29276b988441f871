// What a solver may ask of a matrix. A solver knows this and nothing else: no kernel, no data set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"

namespace mercer MERCER_API {

/// A symmetric n × n matrix K that need not be stored. T is the precision of its entries; sums over
/// entries are taken in double.
template <class T>
class SymmetricOperator {
   public:
    virtual ~SymmetricOperator() = default;

    virtual std::size_t size() const = 0;

    /// diagonal[i] = K(i, i); diagonal.size() == size().
    virtual void diagonal(std::span<double> diagonal) const = 0;

    /// out(r, j) = K(which[r], j) for every j; out is which.size() × size().
    virtual void rows(std::span<const std::size_t> which, MatrixView<T> out) const = 0;

    /// out(r, c) = K(which[r], columns[c]), for solvers that need only a tile.
    virtual void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
                      MatrixView<T> out) const = 0;

    /// out[r][c] = K(which[r], columns[c]), each row to its own place; no columns: all of them.
    virtual void rows_to(std::span<const std::size_t> which, std::span<const std::size_t> columns,
                         std::span<T* const> out) const;

    /// sums[c] += Σ_r weights[r] K(which[r], columns[c]), in double; no columns: all of them. Rows
    /// marked in `again` (empty: none) will be wanted once more, so that a store should keep them.
    virtual void add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                          std::span<const std::size_t> columns, std::span<const char> again,
                          std::span<double> sums) const;

    /// y = K x, in double. The default goes through `rows` a block at a time.
    virtual void apply(std::span<const double> x, std::span<double> y) const;

    /// Entries computed so far (not those served from a store): the unit in which kernel methods
    /// count their work.
    virtual std::uint64_t evaluations() const = 0;

   protected:
    SymmetricOperator() = default;
    SymmetricOperator(const SymmetricOperator&) = default;
    SymmetricOperator& operator=(const SymmetricOperator&) = default;
};

extern template class SymmetricOperator<float>;
extern template class SymmetricOperator<double>;

}  // namespace mercer
