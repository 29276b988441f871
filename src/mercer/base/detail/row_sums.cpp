#include "mercer/base/detail/row_sums.hpp"

#include <algorithm>
#include <vector>

#include "mercer/base/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/base/detail/row_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

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

/// One vector of sums and `count` rows: the sum is loaded and stored once for all of them.
template <std::size_t count, class T>
void sum_some(const T* const* rows, const double* weight, double* sum, std::size_t size) {
    const Wide d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t j = 0;
    for (; j + lanes <= size; j += lanes) {
        auto s = hn::LoadU(d, sum + j);
        for (std::size_t k = 0; k < count; ++k) {
            s = hn::MulAdd(hn::Set(d, weight[k]), load_wide(d, rows[k] + j), s);
        }
        hn::StoreU(s, d, sum + j);
    }
    // By the same instruction, so that a sum does not depend on where its column stands.
    const hn::CappedTag<double, 1> one;
    for (; j < size; ++j) {
        auto s = hn::LoadU(one, sum + j);
        for (std::size_t k = 0; k < count; ++k) {
            s = hn::MulAdd(hn::Set(one, weight[k]), load_wide(one, rows[k] + j), s);
        }
        hn::StoreU(s, one, sum + j);
    }
}

/// Columns in stretches whose sums stay in the first-level cache while all rows pass.
template <class T>
void sum_rows(std::span<const T* const> rows, const double* weight, std::span<double> sum) {
    constexpr std::size_t stretch = 2048;
    for (std::size_t first = 0; first < sum.size(); first += stretch) {
        const std::size_t size = std::min(stretch, sum.size() - first);
        std::size_t r = 0;
        const T* some[8];
        const auto shift = [&](std::size_t count) {
            for (std::size_t k = 0; k < count; ++k) some[k] = rows[r + k] + first;
        };
        for (; r + 8 <= rows.size(); r += 8) {
            shift(8);
            sum_some<8>(some, weight + r, sum.data() + first, size);
        }
        for (; r + 3 <= rows.size(); r += 3) {
            shift(3);
            sum_some<3>(some, weight + r, sum.data() + first, size);
        }
        for (; r < rows.size(); ++r) {
            shift(1);
            sum_some<1>(some, weight + r, sum.data() + first, size);
        }
    }
}

void sum_rows_float(std::span<const float* const> rows, const double* weight,
                    std::span<double> sum) {
    sum_rows(rows, weight, sum);
}
void sum_rows_double(std::span<const double* const> rows, const double* weight,
                     std::span<double> sum) {
    sum_rows(rows, weight, sum);
}

/// `count` rows share what is loaded of x.
template <std::size_t count, class T>
void multiply_some(const T* const* rows, const double* x, std::size_t size, double* out) {
    const Wide d;
    const std::size_t lanes = hn::Lanes(d);
    hn::Vec<Wide> sum[count];
    for (std::size_t k = 0; k < count; ++k) sum[k] = hn::Zero(d);
    std::size_t j = 0;
    for (; j + lanes <= size; j += lanes) {
        const auto by = hn::LoadU(d, x + j);
        for (std::size_t k = 0; k < count; ++k) {
            sum[k] = hn::MulAdd(by, load_wide(d, rows[k] + j), sum[k]);
        }
    }
    for (std::size_t k = 0; k < count; ++k) {
        out[k] = hn::GetLane(hn::SumOfLanes(d, sum[k]));
        for (std::size_t rest = j; rest < size; ++rest) {
            out[k] += x[rest] * static_cast<double>(rows[k][rest]);
        }
    }
}

template <class T>
void multiply_rows(std::span<const T* const> rows, std::span<const double> x, double* out) {
    std::size_t r = 0;
    for (; r + 8 <= rows.size(); r += 8) {
        multiply_some<8>(rows.data() + r, x.data(), x.size(), out + r);
    }
    for (; r < rows.size(); ++r) multiply_some<1>(rows.data() + r, x.data(), x.size(), out + r);
}

void multiply_rows_float(std::span<const float* const> rows, std::span<const double> x,
                         double* out) {
    multiply_rows(rows, x, out);
}
void multiply_rows_double(std::span<const double* const> rows, std::span<const double> x,
                          double* out) {
    multiply_rows(rows, x, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(sum_rows_float);
MERCER_SIMD_EXPORT(sum_rows_double);
MERCER_SIMD_EXPORT(multiply_rows_float);
MERCER_SIMD_EXPORT(multiply_rows_double);

constexpr std::size_t column_grain = 4096;

}  // namespace

template <>
void add_weighted_rows<float>(std::span<const float* const> rows, std::span<const double> weight,
                              std::span<double> sum) {
    MERCER_SIMD(sum_rows_float)(rows, weight.data(), sum);
}
template <>
void add_weighted_rows<double>(std::span<const double* const> rows, std::span<const double> weight,
                               std::span<double> sum) {
    MERCER_SIMD(sum_rows_double)(rows, weight.data(), sum);
}

template <>
void row_products<float>(std::span<const float* const> rows, std::span<const double> x,
                         std::span<double> out) {
    MERCER_SIMD(multiply_rows_float)(rows, x, out.data());
}
template <>
void row_products<double>(std::span<const double* const> rows, std::span<const double> x,
                          std::span<double> out) {
    MERCER_SIMD(multiply_rows_double)(rows, x, out.data());
}

template <class T>
void add_weighted_rows_in_parallel(std::span<const T* const> rows, std::span<const double> weight,
                                   std::span<double> sum) {
    if (rows.empty()) return;
    parallel_ranges(sum.size(), column_grain, [&](std::size_t first, std::size_t last) {
        std::vector<const T*> shifted(rows.begin(), rows.end());
        for (const T*& row : shifted) row += first;
        add_weighted_rows<T>(shifted, weight, sum.subspan(first, last - first));
    });
}

template <class T>
void add_weighted_columns(std::span<const T* const> rows, std::size_t length,
                          std::span<const double> weight, std::span<const std::size_t> columns,
                          std::span<double> sum) {
    add_weighted_columns(rows, length, weight, columns, sum,
                         whole_rows_are_quicker(columns.size(), length));
}

template <class T>
void add_weighted_columns(std::span<const T* const> rows, std::size_t length,
                          std::span<const double> weight, std::span<const std::size_t> columns,
                          std::span<double> sum, bool whole_rows) {
    if (whole_rows) {
        std::vector<double> whole(length, 0.0);
        add_weighted_rows_in_parallel<T>(rows, weight, whole);
        for (std::size_t c = 0; c < columns.size(); ++c) sum[c] += whole[columns[c]];
        return;
    }
    parallel_ranges(columns.size(), column_grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t r = 0; r < rows.size(); ++r) {
            for (std::size_t c = first; c < last; ++c) {
                sum[c] += weight[r] * static_cast<double>(rows[r][columns[c]]);
            }
        }
    });
}

#define MERCER_FOR_TYPE(T)                                                                       \
    template void add_weighted_rows_in_parallel<T>(std::span<const T* const>,                    \
                                                   std::span<const double>, std::span<double>);  \
    template void add_weighted_columns<T>(std::span<const T* const>, std::size_t,                \
                                          std::span<const double>, std::span<const std::size_t>, \
                                          std::span<double>);                                    \
    template void add_weighted_columns<T>(std::span<const T* const>, std::size_t,                \
                                          std::span<const double>, std::span<const std::size_t>, \
                                          std::span<double>, bool);
MERCER_FOR_TYPE(float)
MERCER_FOR_TYPE(double)
#undef MERCER_FOR_TYPE

}  // namespace mercer
#endif
