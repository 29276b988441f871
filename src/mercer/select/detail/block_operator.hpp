// A matrix in memory as solvers see it, without a copy and without a question about its symmetry.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/operator.hpp"

namespace mercer {

template <class T>
class BlockOperator final : public SymmetricOperator<T> {
   public:
    /// The numbers must be symmetric, and outlive this.
    explicit BlockOperator(MatrixView<const T> matrix) : matrix_(matrix) {}

    std::size_t size() const override { return matrix_.rows; }
    void diagonal(std::span<double> diagonal) const override {
        for (std::size_t i = 0; i < size(); ++i) diagonal[i] = static_cast<double>(matrix_(i, i));
    }
    void rows(std::span<const std::size_t> which, MatrixView<T> out) const override {
        for (std::size_t r = 0; r < which.size(); ++r) {
            const auto row = matrix_.row(which[r]);
            std::copy(row.begin(), row.end(), out.row(r).begin());
        }
    }
    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<T> out) const override {
        for (std::size_t r = 0; r < which.size(); ++r) {
            for (std::size_t c = 0; c < columns.size(); ++c) {
                out(r, c) = matrix_(which[r], columns[c]);
            }
        }
    }
    void add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                  const Columns& columns, const Announcement&,
                  std::span<double> sums) const override {
        std::vector<const T*> pointers;
        pointers.reserve(which.size());
        for (const std::size_t i : which) pointers.push_back(matrix_.row(i).data());
        if (columns.is_all()) {
            add_weighted_rows_in_parallel<T>(pointers, weights, sums);
        } else {
            add_weighted_columns<T>(pointers, size(), weights, columns.some(), sums);
        }
    }
    std::uint64_t evaluations() const override { return 0; }

   private:
    MatrixView<const T> matrix_;
};

}  // namespace mercer
