// Products of rows with one dense vector, in double precision and in one order of summation: the
// same bits for a row whether it is dense or sparse, single or double, alone or among others.
#pragma once

#include <cstddef>
#include <span>

#include "mercer/data/rows.hpp"

namespace mercer {

/// Rows seen through their numbers, for whoever asks one row at a time.
class RowPlanes {
   public:
    explicit RowPlanes(const Rows& rows);

    std::size_t size() const { return size_; }
    std::size_t columns() const { return columns_; }
    /// w·x_i; w.size() == columns().
    double dot(std::size_t i, std::span<const double> w) const;
    /// sum += factor x_i.
    void add(std::size_t i, double factor, std::span<double> sum) const;
    /// All numbers equal.
    bool same(std::size_t i, std::size_t j) const;

   private:
    template <class Visit>
    auto with_form(const Visit& visit) const;

    std::size_t size_;
    std::size_t columns_;
    bool sparse_;
    bool double_;
    MatrixView<const float> dense_float_{};
    MatrixView<const double> dense_double_{};
    SparseView<float> sparse_float_{};
    SparseView<double> sparse_double_{};
};

}  // namespace mercer
