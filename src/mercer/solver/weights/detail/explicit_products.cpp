#include "mercer/solver/weights/detail/explicit_products.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/operator.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer {
namespace {

constexpr std::size_t grain = 2048;                         ///< rows of a task
constexpr std::size_t block_rows = 512;                     ///< dense rows multiplied at once
constexpr std::size_t most_parts = 8;                       ///< sums of a matrix's own
constexpr std::size_t part_bytes = std::size_t{256} << 20;  ///< of all parts together

/// Calls use(column, value) for the entries of a row.
template <class T, class Use>
void each_entry(const ExplicitRows<T>& rows, std::size_t r, Use use) {
    if (rows.is_sparse()) {
        for (std::size_t a = rows.starts[r]; a < rows.starts[r + 1]; ++a) {
            use(rows.index[a], static_cast<double>(rows.values[a]));
        }
        return;
    }
    const T* const row = rows.values.data() + r * rows.columns;
    for (std::size_t k = 0; k < rows.columns; ++k) use(k, static_cast<double>(row[k]));
}

template <class T>
void add_row(const ExplicitRows<T>& rows, std::size_t r, double c, double* w) {
    each_entry(rows, r, [&](std::size_t k, double value) { w[k] += c * value; });
}

/// Entries of a row, in the mean.
template <class T>
double mean_entries(const ExplicitRows<T>& rows) {
    return static_cast<double>(rows.values.size()) /
           static_cast<double>(std::max<std::size_t>(rows.size, 1));
}

/// How many parts a sum of so many numbers over some of the rows has: no more than are worth to be
/// added up afterwards.
std::size_t parts_for(double numbers, std::size_t sums) {
    constexpr double least = 65536;
    const double parts = numbers / std::max(least, 8 * static_cast<double>(sums));
    return static_cast<std::size_t>(std::clamp(parts, 1.0, static_cast<double>(most_parts)));
}

/// How many parts a sum over the rows has, each with `bytes` of its own: by the sizes alone.
std::size_t parts_of(std::size_t rows, std::size_t bytes) {
    const std::size_t by_rows = (rows + grain - 1) / grain;
    const std::size_t by_memory = part_bytes / std::max<std::size_t>(bytes, 1);
    return std::clamp<std::size_t>(std::min(by_rows, by_memory), 1, most_parts);
}

/// The partners that a sum of so many products is worth to be shared with, each of them telling all
/// numbers of it once: what it comes to does not depend on that.
template <class T>
const Partners* partners_for(const ExplicitRows<T>& rows, double work, std::size_t numbers) {
    constexpr double worth = 256;  // products a number told
    constexpr double least = 1e6;
    if (!rows.partners || work < least) return nullptr;
    const auto told = static_cast<double>(rows.partners->count() * numbers);
    return work > worth * told ? rows.partners : nullptr;
}

/// Adds the sums up in their order, each partner its own to what those before it have said.
void add_in_turns(const Partners& partners, std::size_t parts, const Matrix<double>& sums,
                  std::span<double> total) {
    std::vector<double> own, heard(total.size());
    for (std::size_t p = 0; p < partners.count(); ++p) {
        const auto [first, last] = share_of(parts, p, &partners);
        if (first == last) continue;
        std::vector<std::size_t> bytes(partners.count(), 0);
        bytes[p] = total.size_bytes();
        own.clear();
        if (p == partners.number()) {
            for (std::size_t part = std::max<std::size_t>(first, 1); part < last; ++part) {
                const std::span<const double> sum = sums.row(part - 1);
                for (std::size_t k = 0; k < total.size(); ++k) total[k] += sum[k];
            }
            own.assign(total.begin(), total.end());
        }
        partners.gather(std::as_bytes(std::span<const double>(own)), bytes,
                        std::as_writable_bytes(std::span(heard)));
        std::ranges::copy(heard, total.begin());
    }
}

/// Calls add(first, last, sum) for ranges of the rows, each with a sum of its own that begins at 0
/// but for the first, which goes on with `total`, and adds the sums up in their order. Of partners
/// (may be null) each computes some of them.
template <class Add>
void sum_parts(std::size_t rows, std::size_t parts, std::span<double> total,
               const Partners* partners, Add add) {
    if (parts == 1) return add(std::size_t{0}, rows, total);
    const auto [begin, end] = share_of(parts, partners ? partners->number() : 0, partners);
    Matrix<double> sums(parts - 1, total.size());
    parallel_for(end - begin, [&, from = begin](std::size_t task) {
        const std::size_t part = from + task;
        add(part * rows / parts, (part + 1) * rows / parts, part == 0 ? total : sums.row(part - 1));
    });
    if (partners) return add_in_turns(*partners, parts, sums, total);
    for (std::size_t part = 1; part < parts; ++part) {
        const std::span<const double> sum = sums.row(part - 1);
        for (std::size_t k = 0; k < total.size(); ++k) total[k] += sum[k];
    }
}

/// out[k] = value(k) for so many of the rows, of which each partner computes a share.
template <class T, class Value>
void each_row(const ExplicitRows<T>& rows, std::size_t count, std::span<double> out, Value value) {
    const Partners* const partners = partners_for_products(rows, count);
    const auto [begin, end] = share_of(count, partners ? partners->number() : 0, partners);
    parallel_ranges(end - begin, grain, [&, from = begin](std::size_t first, std::size_t last) {
        for (std::size_t k = from + first; k < from + last; ++k) out[k] = value(k);
    });
    if (!partners) return;
    std::vector<std::size_t> bytes;
    for (std::size_t p = 0; p < partners->count(); ++p) {
        const auto [first, last] = share_of(count, p, partners);
        bytes.push_back((last - first) * sizeof(double));
    }
    const std::vector<double> own(out.begin() + static_cast<std::ptrdiff_t>(begin),
                                  out.begin() + static_cast<std::ptrdiff_t>(end));
    partners->gather(std::as_bytes(std::span(own)), bytes,
                     std::as_writable_bytes(out.first(count)));
}

/// g += h φ φ', the lower triangle.
template <class T>
void weigh_sparse(const ExplicitRows<T>& rows, std::size_t r, double h, double* g,
                  std::size_t stride) {
    for (std::size_t a = rows.starts[r]; a < rows.starts[r + 1]; ++a) {
        const double value = h * static_cast<double>(rows.values[a]);
        double* const line = g + rows.index[a] * stride;
        for (std::size_t b = rows.starts[r]; b <= a; ++b) {
            line[rows.index[b]] += value * static_cast<double>(rows.values[b]);
        }
    }
}

/// g += Σ h φ φ' over the rows number(k), k from `first` to `last`, a block of them at a time.
template <class T, class Number>
void weigh_dense(const ExplicitRows<T>& rows, std::span<const double> h, std::size_t first,
                 std::size_t last, Number number, std::span<double> g) {
    const std::size_t d = rows.columns;
    Matrix<double> turned(d, block_rows), weighed(d, block_rows), product(d, d);
    for (; first < last; first += block_rows) {
        const std::size_t count = std::min(block_rows, last - first);
        for (std::size_t r = 0; r < count; ++r) {
            const T* const row = rows.values.data() + number(first + r) * d;
            for (std::size_t k = 0; k < d; ++k) {
                turned(k, r) = static_cast<double>(row[k]);
                weighed(k, r) = h[first + r] * turned(k, r);
            }
        }
        multiply_transposed(std::as_const(weighed).view().block(0, 0, d, count),
                            std::as_const(turned).view().block(0, 0, d, count), product.view());
        for (std::size_t k = 0; k < g.size(); ++k) g[k] += product.values()[k];
    }
}

}  // namespace

template <class T>
const Partners* partners_for_products(const ExplicitRows<T>& rows, std::size_t count) {
    constexpr double least = 1e6, worth = 64;  // products in all, and for a number told
    const double entries = mean_entries(rows);
    const bool pays = entries >= worth && static_cast<double>(count) * entries >= least;
    return pays ? rows.partners : nullptr;
}

template <class T>
void multiply_rows(const ExplicitRows<T>& rows, std::span<const double> w, std::span<double> out) {
    each_row(rows, rows.size, out, [&](std::size_t r) { return row_product(rows, r, w); });
}

template <class T>
void sum_rows(const ExplicitRows<T>& rows, std::span<const double> c, std::span<double> w) {
    std::ranges::fill(w, 0.0);
    const auto work = static_cast<double>(rows.values.size());
    sum_parts(rows.size, parts_of(rows.size, w.size_bytes()), w, partners_for(rows, work, w.size()),
              [&](std::size_t first, std::size_t last, std::span<double> sum) {
                  for (std::size_t r = first; r < last; ++r) {
                      if (c[r] != 0) add_row(rows, r, c[r], sum.data());
                  }
              });
}

template <class T>
void weigh_rows(const ExplicitRows<T>& rows, std::span<const double> h, MatrixView<double> g) {
    const std::size_t d = rows.columns;
    const std::size_t parts = parts_of(rows.size, d * d * sizeof(double));
    const double work = static_cast<double>(rows.values.size()) * mean_entries(rows) / 2;
    Matrix<double> sum(d, d, 0.0);
    sum_parts(rows.size, parts, sum.values(), partners_for(rows, work, d * d),
              [&](std::size_t first, std::size_t last, std::span<double> part) {
                  if (!rows.is_sparse()) {
                      return weigh_dense(
                          rows, h, first, last, [](std::size_t r) { return r; }, part);
                  }
                  for (std::size_t r = first; r < last; ++r) {
                      if (h[r] != 0) weigh_sparse(rows, r, h[r], part.data(), d);
                  }
              });
    for (std::size_t k = 0; k < d; ++k) std::ranges::copy(sum.row(k), g.row(k).begin());
}

template <class T>
void square_rows(const ExplicitRows<T>& rows, std::span<double> squares) {
    each_row(rows, rows.size, squares, [&](std::size_t r) {
        const std::size_t begin = rows.is_sparse() ? rows.starts[r] : r * rows.columns;
        const std::size_t end = rows.is_sparse() ? rows.starts[r + 1] : begin + rows.columns;
        double sum = 0;
        for (std::size_t a = begin; a < end; ++a) {
            const auto value = static_cast<double>(rows.values[a]);
            sum += value * value;
        }
        return sum;
    });
}

template <class T>
void multiply_some(const ExplicitRows<T>& rows, std::span<const std::uint32_t> which,
                   std::span<const double> w, std::span<double> out) {
    each_row(rows, which.size(), out,
             [&](std::size_t k) { return row_product(rows, which[k], w); });
}

template <class T>
void add_some(const ExplicitRows<T>& rows, std::span<const std::uint32_t> which,
              std::span<const double> c, std::span<double> w) {
    const double work = static_cast<double>(which.size()) * mean_entries(rows);
    sum_parts(which.size(), parts_for(work, w.size()), w, partners_for(rows, work, w.size()),
              [&](std::size_t first, std::size_t last, std::span<double> sum) {
                  for (std::size_t k = first; k < last; ++k) {
                      add_row(rows, which[k], c[k], sum.data());
                  }
              });
}

template <class T>
void add_squares(const ExplicitRows<T>& rows, std::span<const std::uint32_t> which,
                 std::span<const double> c, std::span<double> w) {
    for (std::size_t k = 0; k < which.size(); ++k) {
        each_entry(rows, which[k],
                   [&](std::size_t j, double value) { w[j] += c[k] * value * value; });
    }
}

template <class T>
void weigh_some(const ExplicitRows<T>& rows, std::span<const std::uint32_t> which,
                std::span<const double> h, Matrix<double>& g) {
    const std::size_t d = rows.columns;
    const double entries = mean_entries(rows);
    const double work = static_cast<double>(which.size()) * entries * entries / 2;
    const std::size_t parts = parts_for(work, d * d);
    sum_parts(which.size(), parts, g.values(), partners_for(rows, work, d * d),
              [&](std::size_t first, std::size_t last, std::span<double> part) {
                  if (!rows.is_sparse()) {
                      return weigh_dense(
                          rows, h, first, last, [&](std::size_t k) { return which[k]; }, part);
                  }
                  for (std::size_t k = first; k < last; ++k) {
                      weigh_sparse(rows, which[k], h[k], part.data(), d);
                  }
              });
}

template <class T>
void multiply_among(const ExplicitRows<T>& rows, std::span<const std::uint32_t> which,
                    MatrixView<double> g) {
    constexpr std::size_t together = 16;
    parallel_ranges(which.size(), together, [&](std::size_t first, std::size_t last) {
        std::vector<double> full(rows.columns, 0.0);
        for (std::size_t k = first; k < last; ++k) {
            each_entry(rows, which[k], [&](std::size_t j, double value) { full[j] = value; });
            for (std::size_t l = 0; l <= k; ++l) {
                g(k, l) = row_product<T>(rows, which[l], full);
            }
            each_entry(rows, which[k], [&](std::size_t j, double) { full[j] = 0; });
        }
    });
}

template const Partners* partners_for_products(const ExplicitRows<float>&, std::size_t);
template const Partners* partners_for_products(const ExplicitRows<double>&, std::size_t);
template void multiply_rows(const ExplicitRows<float>&, std::span<const double>, std::span<double>);
template void multiply_rows(const ExplicitRows<double>&, std::span<const double>,
                            std::span<double>);
template void sum_rows(const ExplicitRows<float>&, std::span<const double>, std::span<double>);
template void sum_rows(const ExplicitRows<double>&, std::span<const double>, std::span<double>);
template void weigh_rows(const ExplicitRows<float>&, std::span<const double>, MatrixView<double>);
template void weigh_rows(const ExplicitRows<double>&, std::span<const double>, MatrixView<double>);
template void square_rows(const ExplicitRows<float>&, std::span<double>);
template void multiply_some(const ExplicitRows<float>&, std::span<const std::uint32_t>,
                            std::span<const double>, std::span<double>);
template void add_some(const ExplicitRows<float>&, std::span<const std::uint32_t>,
                       std::span<const double>, std::span<double>);
template void add_squares(const ExplicitRows<float>&, std::span<const std::uint32_t>,
                          std::span<const double>, std::span<double>);
template void weigh_some(const ExplicitRows<float>&, std::span<const std::uint32_t>,
                         std::span<const double>, Matrix<double>&);
template void multiply_among(const ExplicitRows<float>&, std::span<const std::uint32_t>,
                             MatrixView<double>);
template void square_rows(const ExplicitRows<double>&, std::span<double>);
template void multiply_some(const ExplicitRows<double>&, std::span<const std::uint32_t>,
                            std::span<const double>, std::span<double>);
template void add_some(const ExplicitRows<double>&, std::span<const std::uint32_t>,
                       std::span<const double>, std::span<double>);
template void add_squares(const ExplicitRows<double>&, std::span<const std::uint32_t>,
                          std::span<const double>, std::span<double>);
template void weigh_some(const ExplicitRows<double>&, std::span<const std::uint32_t>,
                         std::span<const double>, Matrix<double>&);
template void multiply_among(const ExplicitRows<double>&, std::span<const std::uint32_t>,
                             MatrixView<double>);

}  // namespace mercer
