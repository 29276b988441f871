// Products with rows that can be written down (ExplicitRows), each one pass over them. The results
// do not depend on the number of threads, nor on that of the partners who share them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "mercer/base/matrix.hpp"
#include "mercer/base/operator.hpp"

namespace mercer {

/// Those who had better share products with so many of the rows, one number a row; null: nobody.
template <class T>
const Partners* partners_for_products(const ExplicitRows<T>& rows, std::size_t count);

/// Which of so many things that follow each other are this one's of the partners (null: all).
inline std::pair<std::size_t, std::size_t> share_of(std::size_t things, std::size_t number,
                                                    const Partners* partners) {
    if (!partners) return {0, things};
    return {things * number / partners->count(), things * (number + 1) / partners->count()};
}

/// out[r] = φ_r·w.
template <class T>
void multiply_rows(const ExplicitRows<T>& rows, std::span<const double> w, std::span<double> out);

/// w = Σ_r c_r φ_r.
template <class T>
void sum_rows(const ExplicitRows<T>& rows, std::span<const double> c, std::span<double> w);

/// The lower triangle of g = Σ_r h_r φ_r φ_r', all h_r >= 0. What is above the diagonal is lost.
template <class T>
void weigh_rows(const ExplicitRows<T>& rows, std::span<const double> h, MatrixView<double> g);

/// squares[r] = φ_r·φ_r.
template <class T>
void square_rows(const ExplicitRows<T>& rows, std::span<double> squares);

// The same for some of the rows, r = which[k].

/// φ_r·w. Several sums, so that no addition waits for the one before it.
template <class T>
inline double row_product(const ExplicitRows<T>& rows, std::size_t r, std::span<const double> w) {
    const bool sparse = rows.is_sparse();
    const std::size_t first = sparse ? rows.starts[r] : r * rows.columns;
    const std::size_t n = sparse ? rows.starts[r + 1] - first : rows.columns;
    const T* const x = rows.values.data() + first;
    const std::uint32_t* const index = rows.index.data() + (sparse ? first : 0);
    double a = 0, b = 0, c = 0, d = 0;
    const auto sum = [&](auto at) {
        std::size_t k = 0;
        for (; k + 4 <= n; k += 4) {
            a += static_cast<double>(x[k]) * w[at(k)];
            b += static_cast<double>(x[k + 1]) * w[at(k + 1)];
            c += static_cast<double>(x[k + 2]) * w[at(k + 2)];
            d += static_cast<double>(x[k + 3]) * w[at(k + 3)];
        }
        for (; k < n; ++k) a += static_cast<double>(x[k]) * w[at(k)];
    };
    if (sparse) {
        sum([index](std::size_t k) { return index[k]; });
    } else {
        sum([](std::size_t k) { return k; });
    }
    return (a + b) + (c + d);
}

/// out[k] = φ_r·w.
template <class T>
void multiply_some(const ExplicitRows<T>& rows, std::span<const std::uint32_t> which,
                   std::span<const double> w, std::span<double> out);

/// w += Σ_k c_k φ_r.
template <class T>
void add_some(const ExplicitRows<T>& rows, std::span<const std::uint32_t> which,
              std::span<const double> c, std::span<double> w);

/// w_j += Σ_k c_k φ_rj².
template <class T>
void add_squares(const ExplicitRows<T>& rows, std::span<const std::uint32_t> which,
                 std::span<const double> c, std::span<double> w);

/// The lower triangle of g += Σ_k h_k φ_r φ_r', the h_k of either sign.
template <class T>
void weigh_some(const ExplicitRows<T>& rows, std::span<const std::uint32_t> which,
                std::span<const double> h, Matrix<double>& g);

/// The lower triangle of g(k, l) = φ_r·φ_s, s = which[l].
template <class T>
void multiply_among(const ExplicitRows<T>& rows, std::span<const std::uint32_t> which,
                    MatrixView<double> g);

}  // namespace mercer
