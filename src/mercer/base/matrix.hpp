// Matrices as the whole library sees them. The layout is stated here and nowhere else:
// row-major, element (i, j) at data[i * stride + j], stride >= columns.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <vector>

#include "mercer/base/export.hpp"

namespace mercer MERCER_API {

/// A window on numbers owned by someone else.
template <class T>
struct MatrixView {
    T* data = nullptr;
    std::size_t rows = 0;
    std::size_t columns = 0;
    std::size_t stride = 0;

    MatrixView() = default;
    MatrixView(T* first, std::size_t row_count, std::size_t column_count)
        : MatrixView(first, row_count, column_count, column_count) {}
    MatrixView(T* first, std::size_t row_count, std::size_t column_count, std::size_t row_stride)
        : data(first), rows(row_count), columns(column_count), stride(row_stride) {}

    std::span<T> row(std::size_t i) const { return {data + i * stride, columns}; }
    T& operator()(std::size_t i, std::size_t j) const { return data[i * stride + j]; }

    /// The part that starts at (first_row, first_column).
    MatrixView block(std::size_t first_row, std::size_t first_column, std::size_t row_count,
                     std::size_t column_count) const {
        return {data + first_row * stride + first_column, row_count, column_count, stride};
    }

    operator MatrixView<const T>() const requires(!std::is_const_v<T>) {
        return {data, rows, columns, stride};
    }
};

/// A matrix that owns its numbers, without gaps between rows.
template <class T>
class Matrix {
   public:
    Matrix() = default;
    Matrix(std::size_t rows, std::size_t columns, T value = T{})
        : rows_(rows), columns_(columns), values_(rows * columns, value) {}

    std::size_t rows() const { return rows_; }
    std::size_t columns() const { return columns_; }
    std::span<T> row(std::size_t i) { return {values_.data() + i * columns_, columns_}; }
    std::span<const T> row(std::size_t i) const {
        return {values_.data() + i * columns_, columns_};
    }
    T& operator()(std::size_t i, std::size_t j) { return values_[i * columns_ + j]; }
    const T& operator()(std::size_t i, std::size_t j) const { return values_[i * columns_ + j]; }

    MatrixView<T> view() { return {values_.data(), rows_, columns_}; }
    MatrixView<const T> view() const { return {values_.data(), rows_, columns_}; }
    std::vector<T>& values() { return values_; }
    const std::vector<T>& values() const { return values_; }

   private:
    std::size_t rows_ = 0;
    std::size_t columns_ = 0;
    std::vector<T> values_;
};

/// Sums over each column of a data set: enough for means, variances and the "scale" width of a
/// Gaussian kernel, without the data itself.
struct ColumnMoments {
    std::size_t rows = 0;
    std::vector<double> sum;
    std::vector<double> sum_of_squares;
};

}  // namespace mercer
