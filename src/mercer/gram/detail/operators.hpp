// The operators that gram/operators.hpp makes: Gram matrices as solvers see them
// (base/operator.hpp): stored, cached, computed on the fly, restricted to some rows.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "mercer/base/detail/buffer.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/gram/detail/column_shares.hpp"
#include "mercer/gram/detail/row_cache.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer {

/// Every request computed afresh; holds nothing but the prepared rows.
template <class T>
class GramOperator : public SymmetricOperator<T> {
   public:
    /// On the reference rows, or on any points prepared by the engine.
    explicit GramOperator(Gram<T> gram) : gram_(std::move(gram)), points_(gram_.reference()) {}
    /// `partners` share products with rows that can be written down.
    GramOperator(Gram<T> gram, Points<T> points, const Partners* partners = nullptr)
        : gram_(std::move(gram)), points_(std::move(points)), partners_(partners) {}

    std::size_t size() const override { return points_.size(); }
    void diagonal(std::span<double> diagonal) const override;
    void rows(std::span<const std::size_t> which, MatrixView<T> out) const override;
    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<T> out) const override;
    void rows_to(std::span<const std::size_t> which, const Columns& columns,
                 std::span<T* const> out) const override;
    void add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                  const Columns& columns, const Announcement& again,
                  std::span<double> sums) const override;
    void apply(std::span<const double> x, std::span<double> y) const override;
    std::optional<ExplicitRows<T>> explicit_rows(const Columns& which) const override {
        auto rows = gram_.explicit_rows(points_, which);
        if (rows) rows->partners = partners_;
        return rows;
    }
    std::uint64_t evaluations() const override { return evaluations_; }

   protected:
    const Points<T>& columns_of(const Columns& columns) const;

    Gram<T> gram_;
    Points<T> points_;
    mutable std::uint64_t evaluations_ = 0;

   private:
    const Partners* partners_ = nullptr;
    /// The columns asked for last, newest first: a solver asks in turn for a small tile, for the
    /// columns still in play, which stay the same for long, and of partners for all of one's own.
    struct Selection {
        std::vector<std::size_t> columns{};
        Points<T> points{};
    };
    mutable std::array<Selection, 3> selections_{};
};

/// The whole matrix in memory: computed once, or given (a precomputed kernel).
template <class T>
class StoredOperator : public SymmetricOperator<T> {
   public:
    /// Throws Cancelled when `progress` says so.
    explicit StoredOperator(const Gram<T>& gram, const Progress& progress = {});
    /// Throws InvalidInput unless the matrix is square, finite and symmetric to within rounding.
    explicit StoredOperator(MatrixView<const T> matrix);

    MatrixView<const T> matrix() const { return {buffer_.as<T>(), size_, size_}; }
    std::size_t size() const override { return size_; }
    void diagonal(std::span<double> diagonal) const override;
    void rows(std::span<const std::size_t> which, MatrixView<T> out) const override;
    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<T> out) const override;
    void add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                  const Columns& columns, const Announcement& again,
                  std::span<double> sums) const override;
    std::uint64_t evaluations() const override { return evaluations_; }

   private:
    std::size_t size_ = 0;
    LargeBuffer buffer_;
    std::uint64_t evaluations_ = 0;
};

/// Which rows a store keeps.
enum class Keep {
    marked,      ///< those whose second use has been announced, for the columns asked for last
    everything,  ///< all that were ever computed, whole: for stores that several problems share
};

/// Another operator with a memory of the rows asked for last, within a budget of bytes. For one
/// thread at a time.
///
/// Partners compute and keep of each row the columns that are their own, and tell one another what
/// comes of them. Which rows are kept does not depend on how many they are: the budget is that of
/// all of them together, and everything has the same bits.
template <class T>
class CachedOperator : public SymmetricOperator<T> {
   public:
    CachedOperator(std::shared_ptr<const SymmetricOperator<T>> inner, std::size_t budget_bytes,
                   Keep keep = Keep::everything, const Partners* partners = nullptr);

    std::size_t size() const override { return inner_->size(); }
    void diagonal(std::span<double> diagonal) const override;
    void rows(std::span<const std::size_t> which, MatrixView<T> out) const override;
    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<T> out) const override;
    void add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                  const Columns& columns, const Announcement& again,
                  std::span<double> sums) const override;
    std::optional<ExplicitRows<T>> explicit_rows(const Columns& which) const override {
        return inner_->explicit_rows(which);
    }
    /// Of all partners together.
    std::uint64_t evaluations() const override { return evaluations_; }
    const RowCache<T>& cache() const { return cache_; }

   private:
    /// Columns asked for, and those of them that are computed here.
    struct Request {
        Columns asked;
        Columns own;
    };

    bool is_whole() const { return !columns_; }
    Columns own_kept() const { return own_kept_ ? Columns(*own_kept_) : Columns::all(); }
    bool are_kept(const Columns& columns) const;
    bool holds(const Columns& columns) const;
    std::vector<std::size_t> places_of(const Columns& own) const;
    void lay_out(std::span<const std::size_t> columns) const;
    void make_whole() const;
    void note_places(const Columns& kept) const;
    void fetch(std::span<const std::size_t> missing, std::span<T* const> places) const;
    void own_rows(std::span<const std::size_t> which, MatrixView<T> out) const;
    void own_tile(std::span<const std::size_t> which, const Request& columns,
                  MatrixView<T> out) const;
    void add_own(std::span<const std::size_t> which, std::span<const double> weights,
                 const Request& columns, const Announcement& again, std::span<double> sums) const;
    void add_kept(std::span<const T* const> rows, std::span<const double> weights,
                  const Request& columns, std::span<double> sums) const;

    std::shared_ptr<const SymmetricOperator<T>> inner_;
    Keep keep_;
    ColumnShares shares_;
    mutable RowCache<T> cache_;
    /// Of the rows in the cache, which are whole where there are none; and those computed here.
    mutable std::optional<std::vector<std::size_t>> columns_{};
    mutable std::optional<std::vector<std::size_t>> own_kept_{};
    /// Of a column in the rows as they are stored here, or `elsewhere`, or `absent`; empty: its
    /// number.
    mutable std::vector<std::size_t> place_{};
    mutable std::uint64_t evaluations_ = 0;
};

/// K restricted to some rows and the same columns: one class pair, one fold.
template <class T>
class SubsetOperator : public SymmetricOperator<T> {
   public:
    SubsetOperator(std::shared_ptr<const SymmetricOperator<T>> inner,
                   std::vector<std::size_t> positions);

    std::size_t size() const override { return positions_.size(); }
    void diagonal(std::span<double> diagonal) const override;
    void rows(std::span<const std::size_t> which, MatrixView<T> out) const override;
    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<T> out) const override;
    void add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                  const Columns& columns, const Announcement& again,
                  std::span<double> sums) const override;
    std::optional<ExplicitRows<T>> explicit_rows(const Columns& which) const override {
        const auto positions = which.is_all() ? positions_ : translate(which.some());
        return inner_->explicit_rows(positions);
    }
    std::uint64_t evaluations() const override { return inner_->evaluations(); }

   private:
    std::vector<std::size_t> translate(std::span<const std::size_t> which) const;

    std::shared_ptr<const SymmetricOperator<T>> inner_;
    std::vector<std::size_t> positions_;
};

extern template class GramOperator<float>;
extern template class GramOperator<double>;
extern template class StoredOperator<float>;
extern template class StoredOperator<double>;
extern template class CachedOperator<float>;
extern template class CachedOperator<double>;
extern template class SubsetOperator<float>;
extern template class SubsetOperator<double>;

}  // namespace mercer
