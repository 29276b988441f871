// Which columns of a matrix are whose, where several processes hold it together, and how numbers
// that belong to columns are put together again. A kernel value depends on its two rows alone, not
// on what else is computed beside it, so that all is the same to the last bit whoever computes it.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"

namespace mercer {

/// The columns of a list that are this process's: their places in it, and their numbers.
struct OwnColumns {
    std::vector<std::size_t> places{};
    std::vector<std::size_t> columns{};
};

class ColumnShares {
   public:
    /// Of a matrix with so many columns; null: one process has them all. The partners must outlive
    /// it.
    ColumnShares(const Partners* partners, std::size_t columns);

    bool is_alone() const { return partners_ == nullptr; }
    OwnColumns own(const Columns& columns) const;
    /// Row r of `own` has the numbers of this one's columns of the list; all(r, c) becomes that of
    /// the c-th of all of them.
    template <class T>
    void join(const Columns& columns, MatrixView<const T> own, MatrixView<T> all) const;

   private:
    /// Blocks of columns in turn: those that a solver still looks at are then about as many on
    /// each.
    std::size_t owner(std::size_t column) const { return column / block_ % partners_->count(); }

    const Partners* partners_;
    std::size_t columns_;
    std::size_t block_ = 1;
};

}  // namespace mercer
