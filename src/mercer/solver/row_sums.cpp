#include "mercer/solver/row_sums.hpp"

#include "mercer/base/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/solver/row_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mercer/base/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using Wide = hn::CappedTag<double, 8>;

template <class D>
hn::Vec<D> load_wide(D, const double* from) {
    return hn::LoadU(D{}, from);
}
template <class D>
hn::Vec<D> load_wide(D d, const float* from) {
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>{}, from));
}

/// sum[j] += Σ_r weight[r] rows(r, j) for j in [first, last), four rows at a time so that the sum
/// is loaded and stored once for four.
template <class T>
void sum_columns(const MatrixView<const T>& rows, const double* weight, double* sum,
                 std::size_t first, std::size_t last) {
    const Wide d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t r = 0;
    for (; r + 4 <= rows.rows; r += 4) {
        const T* row[4];
        for (std::size_t k = 0; k < 4; ++k) row[k] = rows.data + (r + k) * rows.stride;
        const auto w0 = hn::Set(d, weight[r]);
        const auto w1 = hn::Set(d, weight[r + 1]);
        const auto w2 = hn::Set(d, weight[r + 2]);
        const auto w3 = hn::Set(d, weight[r + 3]);
        std::size_t j = first;
        for (; j + lanes <= last; j += lanes) {
            auto s = hn::LoadU(d, sum + j);
            s = hn::MulAdd(w0, load_wide(d, row[0] + j), s);
            s = hn::MulAdd(w1, load_wide(d, row[1] + j), s);
            s = hn::MulAdd(w2, load_wide(d, row[2] + j), s);
            s = hn::MulAdd(w3, load_wide(d, row[3] + j), s);
            hn::StoreU(s, d, sum + j);
        }
        for (; j < last; ++j) {
            for (std::size_t k = 0; k < 4; ++k) {
                sum[j] += weight[r + k] * static_cast<double>(row[k][j]);
            }
        }
    }
    for (; r < rows.rows; ++r) {
        const T* row = rows.data + r * rows.stride;
        const auto w = hn::Set(d, weight[r]);
        std::size_t j = first;
        for (; j + lanes <= last; j += lanes) {
            hn::StoreU(hn::MulAdd(w, load_wide(d, row + j), hn::LoadU(d, sum + j)), d, sum + j);
        }
        for (; j < last; ++j) sum[j] += weight[r] * static_cast<double>(row[j]);
    }
}

void sum_columns_float(const MatrixView<const float>& rows, const double* weight, double* sum,
                       std::size_t first, std::size_t last) {
    sum_columns(rows, weight, sum, first, last);
}
void sum_columns_double(const MatrixView<const double>& rows, const double* weight, double* sum,
                        std::size_t first, std::size_t last) {
    sum_columns(rows, weight, sum, first, last);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(sum_columns_float);
MERCER_SIMD_EXPORT(sum_columns_double);

constexpr std::size_t column_grain = 2048;  ///< 16 KB of sums: half of a first-level cache

}  // namespace

template <>
void add_weighted_rows<float>(MatrixView<const float> rows, std::span<const double> weight,
                              std::span<double> sum) {
    parallel_ranges(sum.size(), column_grain, [&](std::size_t first, std::size_t last) {
        MERCER_SIMD(sum_columns_float)(rows, weight.data(), sum.data(), first, last);
    });
}

template <>
void add_weighted_rows<double>(MatrixView<const double> rows, std::span<const double> weight,
                               std::span<double> sum) {
    parallel_ranges(sum.size(), column_grain, [&](std::size_t first, std::size_t last) {
        MERCER_SIMD(sum_columns_double)(rows, weight.data(), sum.data(), first, last);
    });
}

}  // namespace mercer
#endif  // HWY_ONCE
