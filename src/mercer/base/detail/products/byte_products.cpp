// For x86 alone: elsewhere floats are as quick.
#if defined(__x86_64__)
#include "mercer/base/detail/products/byte_products.hpp"

#include <algorithm>
#include <vector>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/base/detail/products/byte_products.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::int16_t>;
using Sums = hn::Repartition<std::int32_t, Words>;
using Bytes = hn::Rebind<std::int8_t, Words>;

/// Rows of a that share what is loaded of b, and of b that share what is loaded of a: as many sums
/// as there are registers for beside their operands (16 on AVX2).
constexpr std::size_t left_rows = 4;
constexpr std::size_t right_rows = 2;
/// Rows of b that stay in the nearest cache while all of a goes by.
constexpr std::size_t band_bytes = 16 * 1024;

/// One vector of columns more of all sums of a tile.
template <std::size_t kLeft, std::size_t kRight, class V, class W>
HWY_INLINE void add_columns(const std::int16_t* a, std::size_t a_stride, const W (&right)[kRight],
                            V (&even)[kLeft][kRight], V (&odd)[kLeft][kRight]) {
    for (std::size_t i = 0; i < kLeft; ++i) {
        const W left = hn::LoadU(Words(), a + i * a_stride);
        for (std::size_t j = 0; j < kRight; ++j) {
            even[i][j] =
                hn::ReorderWidenMulAccumulate(Sums(), left, right[j], even[i][j], odd[i][j]);
        }
    }
}

/// Products of `kLeft` rows of a, widened and filled up with zeros to whole vectors, with `kRight`
/// rows of b.
template <std::size_t kLeft, std::size_t kRight>
HWY_INLINE void tile(const std::int16_t* a, std::size_t a_stride, const std::int8_t* b,
                     std::size_t b_stride, std::size_t width, std::int32_t* c,
                     std::size_t c_stride) {
    const Words words;
    const Sums sums;
    const Bytes bytes;
    const std::size_t lanes = hn::Lanes(words);
    hn::Vec<Sums> even[kLeft][kRight], odd[kLeft][kRight];
    hn::Vec<Words> right[kRight];
    for (std::size_t i = 0; i < kLeft; ++i) {
        for (std::size_t j = 0; j < kRight; ++j) even[i][j] = odd[i][j] = hn::Zero(sums);
    }
    std::size_t k = 0;
    for (; k + lanes <= width; k += lanes) {
        for (std::size_t j = 0; j < kRight; ++j) {
            right[j] = hn::PromoteTo(words, hn::LoadU(bytes, b + j * b_stride + k));
        }
        add_columns(a + k, a_stride, right, even, odd);
    }
    if (k < width) {
        HWY_ALIGN std::int8_t rest[HWY_MAX_BYTES] = {};
        for (std::size_t j = 0; j < kRight; ++j) {
            std::copy_n(b + j * b_stride + k, width - k, rest);
            right[j] = hn::PromoteTo(words, hn::Load(bytes, rest));
        }
        add_columns(a + k, a_stride, right, even, odd);
    }
    for (std::size_t i = 0; i < kLeft; ++i) {
        for (std::size_t j = 0; j < kRight; ++j) {
            c[i * c_stride + j] = hn::GetLane(hn::SumOfLanes(sums, hn::Add(even[i][j], odd[i][j])));
        }
    }
}

template <std::size_t kLeft>
HWY_INLINE void strip(const std::int16_t* a, std::size_t a_stride, MatrixView<const std::int8_t> b,
                      std::int32_t* c, std::size_t c_stride) {
    std::size_t j = 0;
    for (; j + right_rows <= b.rows; j += right_rows) {
        tile<kLeft, right_rows>(a, a_stride, b.row(j).data(), b.stride, b.columns, c + j, c_stride);
    }
    for (; j < b.rows; ++j) {
        tile<kLeft, 1>(a, a_stride, b.row(j).data(), b.stride, b.columns, c + j, c_stride);
    }
}

void multiply(MatrixView<const std::uint8_t> a, MatrixView<const std::int8_t> b,
              MatrixView<std::int32_t> c) {
    const std::size_t lanes = hn::Lanes(Words());
    const std::size_t width = a.columns;
    const std::size_t stride = (width + lanes - 1) / lanes * lanes;
    std::vector<std::int16_t> wide(a.rows * stride, 0);
    for (std::size_t i = 0; i < a.rows; ++i) {
        std::copy_n(a.row(i).data(), width, wide.data() + i * stride);
    }
    const std::size_t band = std::max(
        right_rows, band_bytes / std::max<std::size_t>(width, 1) / right_rows * right_rows);
    for (std::size_t first = 0; first < b.rows; first += band) {
        const auto some = b.block(first, 0, std::min(band, b.rows - first), width);
        std::size_t i = 0;
        for (; i + left_rows <= a.rows; i += left_rows) {
            strip<left_rows>(wide.data() + i * stride, stride, some, c.row(i).data() + first,
                             c.stride);
        }
        for (; i < a.rows; ++i) {
            strip<1>(wide.data() + i * stride, stride, some, c.row(i).data() + first, c.stride);
        }
    }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {
namespace {

MERCER_SIMD_EXPORT(multiply);

}  // namespace

void multiply_widened(MatrixView<const std::uint8_t> a, MatrixView<const std::int8_t> b,
                      MatrixView<std::int32_t> c) {
    MERCER_SIMD(multiply)(a, b, c);
}

}  // namespace mercer
#endif  // HWY_ONCE
#endif  // x86
