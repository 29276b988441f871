#include "mercer/solver/linear/detail/small_cholesky.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/solver/linear/detail/small_cholesky.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Lanes = hn::CappedTag<double, 8>;

constexpr std::size_t block = 16;   // columns of L found together
constexpr std::size_t padding = 8;  // lanes, at most

/// y −= c x
void subtract(double c, const double* x, double* y, std::size_t n) {
    const Lanes d;
    const std::size_t lanes = hn::Lanes(d);
    const auto factor = hn::Set(d, c);
    std::size_t k = 0;
    for (; k + lanes <= n; k += lanes) {
        hn::StoreU(hn::NegMulAdd(factor, hn::LoadU(d, x + k), hn::LoadU(d, y + k)), d, y + k);
    }
    for (; k < n; ++k) y[k] -= c * x[k];
}

/// The next columns of L, which lie in the rows of `panel`, `stride` apart.
bool factor_panel(double* panel, std::size_t stride, std::size_t columns, std::size_t size) {
    for (std::size_t c = 0; c < columns; ++c) {
        double* const own = panel + c * stride;
        for (std::size_t k = 0; k < c; ++k) {
            const double* const other = panel + k * stride;
            subtract(other[c], other + c, own + c, size - c);
        }
        if (!(own[c] > 0) || !std::isfinite(own[c])) return false;
        const double inverse = 1 / std::sqrt(own[c]);
        for (std::size_t r = c; r < size; ++r) own[r] *= inverse;
    }
    return true;
}

/// `count` rows of the matrix from number r on, less what the columns found take out of them; what
/// they have above the diagonal is lost.
template <std::size_t count>
void update_rows(const double* panel, std::size_t stride, std::size_t columns, std::size_t r,
                 double* const* rows) {
    const Lanes d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t s = columns;
    for (; s + lanes <= r + count; s += lanes) {
        hn::Vec<Lanes> sums[count];
        for (std::size_t k = 0; k < count; ++k) sums[k] = hn::LoadU(d, rows[k] + s);
        for (std::size_t c = 0; c < columns; ++c) {
            const double* const line = panel + c * stride;
            const auto right = hn::LoadU(d, line + s);
            for (std::size_t k = 0; k < count; ++k) {
                sums[k] = hn::NegMulAdd(hn::Set(d, line[r + k]), right, sums[k]);
            }
        }
        for (std::size_t k = 0; k < count; ++k) hn::StoreU(sums[k], d, rows[k] + s);
    }
    for (; s < r + count; ++s) {
        for (std::size_t k = 0; k < count; ++k) {
            double sum = rows[k][s];
            for (std::size_t c = 0; c < columns; ++c) {
                sum -= panel[c * stride + r + k] * panel[c * stride + s];
            }
            rows[k][s] = sum;
        }
    }
}

bool factor_blocks(MatrixView<double> a) {
    constexpr std::size_t together = 8;
    const std::size_t n = a.rows, stride = n + padding;
    std::vector<double> panel(block * stride);
    for (std::size_t first = 0; first < n; first += block) {
        const std::size_t columns = std::min(block, n - first), size = n - first;
        for (std::size_t r = 0; r < size; ++r) {
            const double* const row = a.row(first + r).data() + first;
            for (std::size_t c = 0; c < columns; ++c) panel[c * stride + r] = row[c];
        }
        if (!factor_panel(panel.data(), stride, columns, size)) return false;
        for (std::size_t r = 0; r < size; ++r) {
            double* const row = a.row(first + r).data() + first;
            for (std::size_t c = 0; c < std::min(columns, r + 1); ++c) {
                row[c] = panel[c * stride + r];
            }
        }
        std::size_t r = columns;
        for (; r + together <= size; r += together) {
            double* rows[together];
            for (std::size_t k = 0; k < together; ++k) {
                rows[k] = a.row(first + r + k).data() + first;
            }
            update_rows<together>(panel.data(), stride, columns, r, rows);
        }
        for (; r < size; ++r) {
            double* const rows[1] = {a.row(first + r).data() + first};
            update_rows<1>(panel.data(), stride, columns, r, rows);
        }
    }
    return true;
}

constexpr std::size_t rows_together = 8;

/// b[i … i + count) less the products of these rows of L with b[first … i): as many sums under way
/// as hide the latency of the multiply-add.
template <std::size_t count>
void take_products(MatrixView<const double> l, std::size_t i, std::size_t first, double* b) {
    const Lanes d;
    const std::size_t lanes = hn::Lanes(d);
    const double* rows[count];
    hn::Vec<Lanes> sums[count];
    for (std::size_t r = 0; r < count; ++r) {
        rows[r] = l.row(i + r).data();
        sums[r] = hn::Zero(d);
    }
    std::size_t k = first;
    for (; k + lanes <= i; k += lanes) {
        const auto x = hn::LoadU(d, b + k);
        for (std::size_t r = 0; r < count; ++r) {
            sums[r] = hn::MulAdd(hn::LoadU(d, rows[r] + k), x, sums[r]);
        }
    }
    for (std::size_t r = 0; r < count; ++r) {
        double sum = hn::GetLane(hn::SumOfLanes(d, sums[r]));
        for (std::size_t rest = k; rest < i; ++rest) sum += rows[r][rest] * b[rest];
        b[i + r] -= sum;
    }
}

/// b[0 … i) less the multiples b[i … i + count) of these rows of L.
template <std::size_t count>
void take_multiples(MatrixView<const double> l, std::size_t i, double* b) {
    const Lanes d;
    const std::size_t lanes = hn::Lanes(d);
    const double* rows[count];
    for (std::size_t r = 0; r < count; ++r) rows[r] = l.row(i + r).data();
    std::size_t k = 0;
    for (; k + lanes <= i; k += lanes) {
        auto x = hn::LoadU(d, b + k);
        for (std::size_t r = 0; r < count; ++r) {
            x = hn::NegMulAdd(hn::Set(d, b[i + r]), hn::LoadU(d, rows[r] + k), x);
        }
        hn::StoreU(x, d, b + k);
    }
    for (; k < i; ++k) {
        for (std::size_t r = 0; r < count; ++r) b[k] -= b[i + r] * rows[r][k];
    }
}

/// The triangle of rows i … i + count on the diagonal.
void solve_down(MatrixView<const double> l, std::size_t i, std::size_t count, double* b) {
    for (std::size_t r = i; r < i + count; ++r) {
        for (std::size_t k = i; k < r; ++k) b[r] -= l(r, k) * b[k];
        b[r] /= l(r, r);
    }
}
void solve_up(MatrixView<const double> l, std::size_t i, std::size_t count, double* b) {
    for (std::size_t r = i + count; r-- > i;) {
        b[r] /= l(r, r);
        for (std::size_t k = i; k < r; ++k) b[k] -= l(r, k) * b[r];
    }
}

void solve_both(MatrixView<const double> l, double* b, std::size_t first) {
    const std::size_t n = l.rows, whole = n - (n - first) % rows_together;
    for (std::size_t i = first; i < whole; i += rows_together) {
        take_products<rows_together>(l, i, first, b);
        solve_down(l, i, rows_together, b);
    }
    for (std::size_t i = whole; i < n; ++i) {
        take_products<1>(l, i, first, b);
        solve_down(l, i, 1, b);
    }
    std::size_t left = n;
    for (; left % rows_together != 0; --left) {
        solve_up(l, left - 1, 1, b);
        take_multiples<1>(l, left - 1, b);
    }
    for (; left > 0; left -= rows_together) {
        solve_up(l, left - rows_together, rows_together, b);
        take_multiples<rows_together>(l, left - rows_together, b);
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(factor_blocks);
MERCER_SIMD_EXPORT(solve_both);

}  // namespace

bool small_cholesky(MatrixView<double> a) {
    return MERCER_SIMD(factor_blocks)(a);
}

void small_cholesky_solve(MatrixView<const double> factor, std::span<double> b, std::size_t first) {
    MERCER_SIMD(solve_both)(factor, b.data(), first);
}

}  // namespace mercer
#endif
