// Σ_j α_cj k(x_j, ·) of several outputs c, in one precision: how expansions are evaluated whose
// kernel has no shorter form.
#pragma once

#include <vector>

#include "mercer/base/detail/products/scattered_sums.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/feature/expansion.hpp"
#include "mercer/gram/gram.hpp"

namespace mercer {

template <class T>
class KernelSum {
   public:
    explicit KernelSum(const Expansion& e);

    /// out(i, c) += f_c(x_i) without its bias. Throws Cancelled when `progress` says so.
    void add_to(const Rows& x, MatrixView<double> out, const Progress& progress) const;

   private:
    /// How values become sums.
    enum class Way {
        rows,       ///< one or two outputs: products of rows
        scattered,  ///< points know few outputs, as of pairs of classes
        product,    ///< a matrix product
    };

    void add_band(const Points<T>& x, std::size_t first, std::size_t count,
                  MatrixView<double> out) const;
    void add_rows(const Points<T>& x, std::size_t first, MatrixView<double> out) const;
    void add_single(const Points<T>& x, std::size_t first, MatrixView<double> out) const;
    void add_strip(const Points<T>& x, std::size_t first, MatrixView<double> out) const;
    void fill_turned(const Points<T>& x, std::size_t first, std::size_t p, MatrixView<T> out,
                     T* scratch) const;
    void add_products(const Points<T>& x, std::size_t first, std::size_t count,
                      MatrixView<double> out) const;
    void add_self(const Points<T>& x, MatrixView<double> out) const;

    Gram<T> gram_;
    Points<T> points_;
    double self_;
    Way way_ = Way::product;
    bool either_way_ = false;     ///< k(x, z) and k(z, x) have the same bits
    Matrix<double> few_{};        ///< coefficients of `rows`,
    SparseColumns<T> columns_{};  ///< of `scattered`,
    Matrix<T> coefficients_{};    ///< and of `product`
};

extern template class KernelSum<float>;
extern template class KernelSum<double>;

}  // namespace mercer
