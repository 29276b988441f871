// All pairs of rows, kept so that one kernel after another can be had of them: kernels that see
// nothing but ‖x−z‖² are mapped from distances computed once, others are computed afresh.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "mercer/base/detail/buffer.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/kernel/kernel.hpp"

namespace mercer {

/// True when k(x, z) is a function of ‖x−z‖² over all columns: rbf, matern, rational_quadratic, and
/// sums, products and powers of such.
bool is_radial(const Kernel& kernel, std::size_t columns);

template <class T>
class DistanceStore {
   public:
    /// With `keep` the squared distances are held, n² numbers, from the first radial kernel on.
    DistanceStore(Rows x, std::vector<std::string> names, bool keep)
        : x_(std::move(x)), names_(std::move(names)), keep_(keep) {}

    std::size_t size() const { return x_.size(); }
    /// out(i, j) = k(x_i, x_j). The kernel must be resolved.
    void fill(const Kernel& kernel, MatrixView<T> out);

   private:
    void compute_distances();

    Rows x_;
    std::vector<std::string> names_;
    bool keep_;
    bool have_ = false;
    LargeBuffer distances_{};
};

extern template class DistanceStore<float>;
extern template class DistanceStore<double>;

}  // namespace mercer
