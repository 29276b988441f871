#include "mercer/base/detail/products/scattered_sums.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/base/detail/products/scattered_sums.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

/// A vector is read once, each of its sums once for every coefficient.
template <std::size_t kWidth, class T>
void add_vectors(const SparseColumns<T>& columns, std::size_t first, MatrixView<const T> vectors,
                 T* sums) {
    constexpr std::size_t run = kWidth < 16 ? kWidth : 16;  // numbers held in registers
    const hn::CappedTag<T, run> d;
    const std::size_t lanes = hn::Lanes(d);
    for (std::size_t p = 0; p < vectors.rows; ++p) {
        const T* const v = vectors.row(p).data();
        const std::size_t begin = columns.starts[first + p], end = columns.starts[first + p + 1];
        for (std::size_t j = 0; j < kWidth; j += run) {
            for (std::size_t e = begin; e < end; ++e) {
                T* const sum = sums + columns.row[e] * kWidth + j;
                const auto a = hn::Set(d, columns.value[e]);
                for (std::size_t k = 0; k < run; k += lanes) {
                    hn::StoreU(hn::MulAdd(a, hn::LoadU(d, v + j + k), hn::LoadU(d, sum + k)), d,
                               sum + k);
                }
            }
        }
    }
}

template <class T>
void add_to_sums(const SparseColumns<T>& columns, std::size_t first, MatrixView<const T> vectors,
                 T* sums) {
    switch (vectors.columns) {
        case 1: return add_vectors<1>(columns, first, vectors, sums);
        case 16: return add_vectors<16>(columns, first, vectors, sums);
        default: return add_vectors<64>(columns, first, vectors, sums);
    }
}

void add_scattered_float(const SparseColumns<float>& columns, std::size_t first,
                         MatrixView<const float> vectors, float* sums) {
    add_to_sums(columns, first, vectors, sums);
}
void add_scattered_double(const SparseColumns<double>& columns, std::size_t first,
                          MatrixView<const double> vectors, double* sums) {
    add_to_sums(columns, first, vectors, sums);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(add_scattered_float);
MERCER_SIMD_EXPORT(add_scattered_double);

}  // namespace

template <class T>
SparseColumns<T>::SparseColumns(MatrixView<const double> coefficients)
    : rows(coefficients.rows), starts(coefficients.columns + 1, 0) {
    const auto each = [&](auto&& body) {
        for (std::size_t c = 0; c < rows; ++c) {
            const std::span<const double> line = coefficients.row(c);
            for (std::size_t p = 0; p < line.size(); ++p) {
                if (line[p] != 0) body(c, p, line[p]);
            }
        }
    };
    each([&](std::size_t, std::size_t p, double) { ++starts[p + 1]; });
    for (std::size_t p = 0; p < coefficients.columns; ++p) starts[p + 1] += starts[p];
    row.resize(starts.back());
    value.resize(starts.back());
    std::vector<std::size_t> next(starts.begin(), starts.end() - 1);
    each([&](std::size_t c, std::size_t p, double a) {
        row[next[p]] = static_cast<std::uint32_t>(c);
        value[next[p]++] = static_cast<T>(a);
    });
}

template <>
void add_scattered<float>(const SparseColumns<float>& columns, std::size_t first,
                          MatrixView<const float> vectors, std::span<float> sums) {
    MERCER_SIMD(add_scattered_float)(columns, first, vectors, sums.data());
}
template <>
void add_scattered<double>(const SparseColumns<double>& columns, std::size_t first,
                           MatrixView<const double> vectors, std::span<double> sums) {
    MERCER_SIMD(add_scattered_double)(columns, first, vectors, sums.data());
}

template struct SparseColumns<float>;
template struct SparseColumns<double>;

}  // namespace mercer
#endif
