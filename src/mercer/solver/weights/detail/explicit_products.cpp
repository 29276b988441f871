#include "mercer/solver/weights/detail/explicit_products.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

constexpr std::size_t grain = 2048;                         ///< rows of a task
constexpr std::size_t block_rows = 512;                     ///< dense rows multiplied at once
constexpr std::size_t most_parts = 8;                       ///< sums of a matrix's own
constexpr std::size_t part_bytes = std::size_t{256} << 20;  ///< of all parts together

template <class T>
double dense_dot(const T* x, const double* w, std::size_t n) {
    double a = 0, b = 0, c = 0, d = 0;
    std::size_t k = 0;
    for (; k + 4 <= n; k += 4) {
        a += static_cast<double>(x[k]) * w[k];
        b += static_cast<double>(x[k + 1]) * w[k + 1];
        c += static_cast<double>(x[k + 2]) * w[k + 2];
        d += static_cast<double>(x[k + 3]) * w[k + 3];
    }
    for (; k < n; ++k) a += static_cast<double>(x[k]) * w[k];
    return (a + b) + (c + d);
}

/// How many parts a sum over the rows has, each with `bytes` of its own: by the sizes alone.
std::size_t parts_of(std::size_t rows, std::size_t bytes) {
    const std::size_t by_rows = (rows + grain - 1) / grain;
    const std::size_t by_memory = part_bytes / std::max<std::size_t>(bytes, 1);
    return std::clamp<std::size_t>(std::min(by_rows, by_memory), 1, most_parts);
}

/// Calls add(first, last, sum) for ranges of the rows, each with a sum of its own that begins at 0,
/// and adds the sums up in their order.
template <class Add>
void sum_parts(std::size_t rows, std::span<double> total, Add add) {
    const std::size_t parts = parts_of(rows, total.size_bytes());
    Matrix<double> sums(parts - 1, total.size());
    std::ranges::fill(total, 0.0);
    parallel_for(parts, [&](std::size_t part) {
        add(part * rows / parts, (part + 1) * rows / parts, part == 0 ? total : sums.row(part - 1));
    });
    for (std::size_t part = 1; part < parts; ++part) {
        const std::span<const double> sum = sums.row(part - 1);
        for (std::size_t k = 0; k < total.size(); ++k) total[k] += sum[k];
    }
}

template <class T>
void weigh_sparse(const ExplicitRows<T>& rows, std::span<const double> h, std::size_t first,
                  std::size_t last, double* g, std::size_t stride) {
    for (std::size_t r = first; r < last; ++r) {
        if (h[r] == 0) continue;
        for (std::size_t a = rows.starts[r]; a < rows.starts[r + 1]; ++a) {
            const double value = h[r] * static_cast<double>(rows.values[a]);
            double* const line = g + rows.index[a] * stride;
            for (std::size_t b = rows.starts[r]; b <= a; ++b) {
                line[rows.index[b]] += value * static_cast<double>(rows.values[b]);
            }
        }
    }
}

template <class T>
void weigh_dense(const ExplicitRows<T>& rows, std::span<const double> h, std::size_t first,
                 std::size_t last, std::span<double> g) {
    const std::size_t d = rows.columns;
    Matrix<double> turned(d, block_rows), product(d, d);
    for (; first < last; first += block_rows) {
        const std::size_t count = std::min(block_rows, last - first);
        for (std::size_t r = 0; r < count; ++r) {
            const double root = std::sqrt(h[first + r]);
            const T* const row = rows.values.data() + (first + r) * d;
            for (std::size_t k = 0; k < d; ++k) turned(k, r) = root * static_cast<double>(row[k]);
        }
        const auto block = std::as_const(turned).view().block(0, 0, d, count);
        multiply_transposed(block, block, product.view());
        for (std::size_t k = 0; k < g.size(); ++k) g[k] += product.values()[k];
    }
}

}  // namespace

template <class T>
void multiply_rows(const ExplicitRows<T>& rows, std::span<const double> w, std::span<double> out) {
    parallel_ranges(rows.size, grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r) {
            if (!rows.is_sparse()) {
                out[r] = dense_dot(rows.values.data() + r * rows.columns, w.data(), rows.columns);
                continue;
            }
            double sum = 0;
            for (std::size_t a = rows.starts[r]; a < rows.starts[r + 1]; ++a) {
                sum += static_cast<double>(rows.values[a]) * w[rows.index[a]];
            }
            out[r] = sum;
        }
    });
}

template <class T>
void sum_rows(const ExplicitRows<T>& rows, std::span<const double> c, std::span<double> w) {
    sum_parts(rows.size, w, [&](std::size_t first, std::size_t last, std::span<double> sum) {
        for (std::size_t r = first; r < last; ++r) {
            if (c[r] == 0) continue;
            if (rows.is_sparse()) {
                for (std::size_t a = rows.starts[r]; a < rows.starts[r + 1]; ++a) {
                    sum[rows.index[a]] += c[r] * static_cast<double>(rows.values[a]);
                }
            } else {
                const T* const row = rows.values.data() + r * rows.columns;
                for (std::size_t k = 0; k < rows.columns; ++k) {
                    sum[k] += c[r] * static_cast<double>(row[k]);
                }
            }
        }
    });
}

template <class T>
void weigh_rows(const ExplicitRows<T>& rows, std::span<const double> h, MatrixView<double> g) {
    const std::size_t d = rows.columns;
    Matrix<double> sum(d, d);
    sum_parts(rows.size, sum.values(),
              [&](std::size_t first, std::size_t last, std::span<double> part) {
                  if (rows.is_sparse()) {
                      weigh_sparse(rows, h, first, last, part.data(), d);
                  } else {
                      weigh_dense(rows, h, first, last, part);
                  }
              });
    for (std::size_t k = 0; k < d; ++k) std::ranges::copy(sum.row(k), g.row(k).begin());
}

template <class T>
void square_rows(const ExplicitRows<T>& rows, std::span<double> squares) {
    parallel_ranges(rows.size, grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r) {
            const std::size_t begin = rows.is_sparse() ? rows.starts[r] : r * rows.columns;
            const std::size_t end = rows.is_sparse() ? rows.starts[r + 1] : begin + rows.columns;
            double sum = 0;
            for (std::size_t a = begin; a < end; ++a) {
                const auto value = static_cast<double>(rows.values[a]);
                sum += value * value;
            }
            squares[r] = sum;
        }
    });
}

template void multiply_rows(const ExplicitRows<float>&, std::span<const double>, std::span<double>);
template void multiply_rows(const ExplicitRows<double>&, std::span<const double>,
                            std::span<double>);
template void sum_rows(const ExplicitRows<float>&, std::span<const double>, std::span<double>);
template void sum_rows(const ExplicitRows<double>&, std::span<const double>, std::span<double>);
template void weigh_rows(const ExplicitRows<float>&, std::span<const double>, MatrixView<double>);
template void weigh_rows(const ExplicitRows<double>&, std::span<const double>, MatrixView<double>);
template void square_rows(const ExplicitRows<float>&, std::span<double>);
template void square_rows(const ExplicitRows<double>&, std::span<double>);

}  // namespace mercer
