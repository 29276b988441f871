// Matrices of kernels that are nothing far away, of one process or of several together.
#pragma once

#include "mercer/gram/detail/operators.hpp"

namespace mercer {

/// Nothing is kept, and sums over rows are shared by partners: strips of the columns asked for are
/// theirs in turn. Which pairs may be within reach is then found strip by strip as one process
/// finds it, so that the bits and the number of values computed are those of one. Tiles are quicker
/// computed by each than told, their columns in the order of the points, so that near ones stand
/// together.
template <class T>
class LocalOperator : public GramOperator<T> {
   public:
    /// The partners (null: none) must outlive it.
    LocalOperator(Gram<T> gram, Points<T> points, const Partners* partners)
        : GramOperator<T>(std::move(gram), std::move(points)),
          partners_(partners && partners->count() > 1 ? partners : nullptr) {}

    void tile(std::span<const std::size_t> which, std::span<const std::size_t> columns,
              MatrixView<T> out) const override;

    void add_rows(std::span<const std::size_t> which, std::span<const double> weights,
                  const Columns& columns, const Announcement& again,
                  std::span<double> sums) const override;

   private:
    std::uint64_t join(std::span<double> sums, std::uint64_t computed) const;

    const Partners* partners_;
};

extern template class LocalOperator<float>;
extern template class LocalOperator<double>;

}  // namespace mercer
