// What a solver may ask of a matrix. A solver knows this and nothing else: no kernel, no data set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"

namespace mercer MERCER_API {

/// Several processes that hold one matrix together, each of them some of its columns. Who they are
/// and how they speak is somebody else's business (dist/communicator.hpp). All of them make the
/// same calls in the same order.
class Partners {
   public:
    virtual ~Partners() = default;

    virtual std::size_t number() const = 0;  ///< of this one, from 0
    virtual std::size_t count() const = 0;   ///< how many there are

    /// all = what each has to say, that of the first one first; partner p says sizes[p] bytes.
    virtual void gather(std::span<const std::byte> own, std::span<const std::size_t> sizes,
                        std::span<std::byte> all) const = 0;

   protected:
    Partners() = default;
    Partners(const Partners&) = default;
    Partners& operator=(const Partners&) = default;
};

/// Which columns of a matrix a request is about: all of them, or those with these numbers, in this
/// order. It refers to the numbers and does not keep them.
class Columns {
   public:
    static constexpr Columns all() { return {}; }
    Columns(std::span<const std::size_t> some) : some_(some) {}
    Columns(const std::vector<std::size_t>& some) : some_(some) {}

    bool is_all() const { return !some_; }
    /// The numbers, where it is not all.
    std::span<const std::size_t> some() const { return *some_; }
    /// How many, of a matrix with so many columns.
    std::size_t size(std::size_t all) const { return some_ ? some_->size() : all; }
    /// The number of the c-th of them.
    std::size_t operator[](std::size_t c) const { return some_ ? (*some_)[c] : c; }

   private:
    constexpr Columns() = default;

    std::optional<std::span<const std::size_t>> some_{};
};

/// What a solver says of the rows it asks for: which of them it will want once more (not 0), or
/// nothing.
using Announcement = std::optional<std::span<const char>>;

/// Rows φ_i with K(i, j) = φ_i·φ_j: dense, one after another, or sparse, with the columns of a row
/// ascending. Copies share the numbers.
template <class T>
struct ExplicitRows {
    std::size_t size = 0;
    std::size_t columns = 0;
    std::span<const T> values{};
    std::span<const std::uint32_t> index{};  ///< sparse: the column of each value
    std::span<const std::size_t> starts{};  ///< sparse: where rows begin, and the end; dense: empty
    std::shared_ptr<const void> owner{};    ///< of the numbers, unless somebody else keeps them
    /// Those who have the same rows and ask for the same products, which they share; null: nobody.
    const Partners* partners = nullptr;

    bool is_sparse() const { return !starts.empty(); }

    /// Rows that keep their own numbers.
    static ExplicitRows dense(std::size_t size, std::size_t columns, std::vector<T> values);
    static ExplicitRows sparse(std::size_t columns, std::vector<std::size_t> starts,
                               std::vector<std::uint32_t> index, std::vector<T> values);
};

extern template struct ExplicitRows<float>;
extern template struct ExplicitRows<double>;

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

    /// out[r][c] = K(which[r], columns[c]), each row to its own place.
    virtual void rows_to(std::span<const std::size_t> which, const Columns& columns,
                         std::span<T* const> out) const;

    /// sums[c] += Σ_r weights[r] K(which[r], columns[c]), in double. Rows that `again` marks will
    /// be wanted once more, so that a store should keep them.
    virtual void add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                          const Columns& columns, const Announcement& again,
                          std::span<double> sums) const;

    /// y = K x, in double. The default goes through `rows` a block at a time.
    virtual void apply(std::span<const double> x, std::span<double> y) const;

    /// The rows behind some rows of K, where K is known to have them and they can be written down.
    virtual std::optional<ExplicitRows<T>> explicit_rows(const Columns& which) const;

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
