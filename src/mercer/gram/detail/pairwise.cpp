#include "mercer/gram/detail/pairwise.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <new>
#include <numbers>

#include "mercer/base/parallel.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/gram/detail/pairwise.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class T>
const T* panel_of(const Panels<T>& z, std::size_t j) {
    return z.data.get() + j * z.columns;
}

/// One more column of a sum: x z, or (x − z)².
template <bool kDistance, class V>
HWY_INLINE V add_column(V x, V z, V sum) {
    if constexpr (kDistance) {
        const V gap = hn::Sub(x, z);
        return hn::MulAdd(gap, gap, sum);
    } else {
        return hn::MulAdd(x, z, sum);
    }
}

/// Rows of x that are multiplied together: with two vectors of z each, as many sums under way as
/// there are registers for. They hide the latency of the multiply-add, and z is read less often.
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
constexpr int rows_together = 8;
#elif HWY_TARGET == HWY_AVX2
constexpr int rows_together = 6;
#else
constexpr int rows_together = 4;
#endif

/// All columns of the rows, or some of them.
struct AllColumns {
    std::size_t count;
    HWY_INLINE std::size_t size() const { return count; }
    HWY_INLINE std::size_t operator[](std::size_t k) const { return k; }
};
using SomeColumns = std::span<const std::uint32_t>;

template <bool kDistance, int kRows, class T, class Which>
HWY_INLINE void some_rows(MatrixView<const T> x, std::size_t i, const T* panel, std::size_t lane,
                          const Which& columns, MatrixView<T> out, std::size_t j) {
    const hn::ScalableTag<T> d;
    const std::size_t n = hn::Lanes(d);
    const T* from = x.row(i).data();
    hn::Vec<decltype(d)> a[kRows], b[kRows];
    for (int r = 0; r < kRows; ++r) a[r] = b[r] = hn::Zero(d);
    for (std::size_t c = 0; c < columns.size(); ++c) {
        const std::size_t k = columns[c];
        const T* zk = panel + k * panel_width + lane;
        const auto za = hn::LoadU(d, zk);
        const auto zb = hn::LoadU(d, zk + n);
        for (int r = 0; r < kRows; ++r) {
            const auto v = hn::Set(d, from[static_cast<std::size_t>(r) * x.stride + k]);
            a[r] = add_column<kDistance>(v, za, a[r]);
            b[r] = add_column<kDistance>(v, zb, b[r]);
        }
    }
    T* o = &out(i, j + lane);
    for (int r = 0; r < kRows; ++r, o += out.stride) {
        hn::StoreU(a[r], d, o);
        hn::StoreU(b[r], d, o + n);
    }
}

/// The same for a whole panel.
template <bool kDistance, int kRows, class T, class Which>
HWY_INLINE void some_rows(MatrixView<const T> x, std::size_t i, const T* panel,
                          const Which& columns, MatrixView<T> out, std::size_t j) {
    const std::size_t pair = 2 * hn::Lanes(hn::ScalableTag<T>());
    for (std::size_t lane = 0; lane < panel_width; lane += pair) {
        some_rows<kDistance, kRows>(x, i, panel, lane, columns, out, j);
    }
}

template <bool kDistance, class T, class Which>
void panel_sums(MatrixView<const T> x, const Panels<T>& z, std::size_t first, const Which& columns,
                MatrixView<T> out) {
    constexpr std::size_t fewer = 4;  // also together, of what is left
    for (std::size_t j = 0; j < out.columns; j += panel_width) {
        const T* panel = panel_of(z, first + j);
        std::size_t i = 0;
        // Eight are twice four rather than six and two.
        for (; i + rows_together <= out.rows && (rows_together == 8 || out.rows - i != 8);
             i += rows_together) {
            some_rows<kDistance, rows_together>(x, i, panel, columns, out, j);
        }
        // Of what is left some are computed once more: quicker than one by one.
        if (out.rows - i > fewer && out.rows - i < rows_together && out.rows >= rows_together) {
            i = out.rows;
            some_rows<kDistance, rows_together>(x, i - rows_together, panel, columns, out, j);
        }
        for (; i < out.rows && out.rows >= fewer; i += fewer) {
            const std::size_t from = std::min(i, out.rows - fewer);
            some_rows<kDistance, fewer>(x, from, panel, columns, out, j);
        }
        for (; i < out.rows; ++i) some_rows<kDistance, 1>(x, i, panel, columns, out, j);
    }
}

/// out = Σ over columns of term(x_k, z_k), two vectors of z at a time.
template <class T, class Term>
HWY_INLINE void sum_terms(MatrixView<const T> x, const Panels<T>& z, std::size_t first,
                          MatrixView<T> out, Term term) {
    const hn::ScalableTag<T> d;
    const std::size_t n = hn::Lanes(d);
    for (std::size_t j = 0; j < out.columns; j += panel_width) {
        const T* panel = panel_of(z, first + j);
        for (std::size_t i = 0; i < out.rows; ++i) {
            const T* xi = x.row(i).data();
            for (std::size_t lane = 0; lane < panel_width; lane += 2 * n) {
                auto a = hn::Zero(d), b = a;
                for (std::size_t k = 0; k < x.columns; ++k) {
                    const T* zk = panel + k * panel_width + lane;
                    const auto v = hn::Set(d, xi[k]);
                    a = hn::Add(a, term(v, hn::LoadU(d, zk)));
                    b = hn::Add(b, term(v, hn::LoadU(d, zk + n)));
                }
                hn::StoreU(a, d, &out(i, j + lane));
                hn::StoreU(b, d, &out(i, j + lane) + n);
            }
        }
    }
}

/// Elementary symmetric polynomial by the recursion over columns E_m ← E_m + g E_{m−1}
/// (Stitson et al. 1999), g = exp(−gamma (x_k − z_k)²).
template <class T>
void anova_sums(MatrixView<const T> x, const Panels<T>& z, std::size_t first, MatrixView<T> out,
                double gamma, std::size_t degree) {
    const hn::ScalableTag<T> d;
    const std::size_t n = hn::Lanes(d);
    const auto minus_gamma = hn::Set(d, static_cast<T>(-gamma));
    std::vector<T> e((degree + 1) * n);
    for (std::size_t j = 0; j < out.columns; j += n) {
        const T* panel = panel_of(z, (first + j) / panel_width * panel_width);
        const std::size_t lane = (first + j) % panel_width;
        for (std::size_t i = 0; i < out.rows; ++i) {
            std::fill(e.begin(), e.end(), T{0});
            std::fill_n(e.begin(), n, T{1});
            for (std::size_t k = 0; k < x.columns; ++k) {
                const auto gap =
                    hn::Sub(hn::Set(d, x(i, k)), hn::LoadU(d, panel + k * panel_width + lane));
                const auto g = hn::Exp(d, hn::Mul(minus_gamma, hn::Mul(gap, gap)));
                for (std::size_t m = std::min(degree, k + 1); m > 0; --m) {
                    hn::StoreU(
                        hn::MulAdd(g, hn::LoadU(d, &e[(m - 1) * n]), hn::LoadU(d, &e[m * n])), d,
                        &e[m * n]);
                }
            }
            hn::StoreU(hn::LoadU(d, &e[degree * n]), d, &out(i, j));
        }
    }
}

template <class T>
void columnwise_sums_of(const Source& source, MatrixView<const T> x, const Panels<T>& z,
                        std::size_t first, MatrixView<T> out) {
    const hn::ScalableTag<T> d;
    using V = hn::Vec<decltype(d)>;
    switch (source.kind) {
        case SourceKind::absolute:
            return sum_terms(x, z, first, out,
                             [](V a, V b) HWY_ATTR { return hn::Abs(hn::Sub(a, b)); });
        case SourceKind::intersection:
            return sum_terms(x, z, first, out, [](V a, V b) HWY_ATTR { return hn::Min(a, b); });
        case SourceKind::chi2: {
            // 0/0 where both entries are 0 contributes nothing.
            const V zero = hn::Zero(d);
            return sum_terms(x, z, first, out, [&](V a, V b) HWY_ATTR {
                const V gap = hn::Sub(a, b);
                const V sum = hn::Add(a, b);
                return hn::IfThenZeroElse(hn::Eq(sum, zero), hn::Div(hn::Mul(gap, gap), sum));
            });
        }
        case SourceKind::sine: {
            // sin² has period π: taking off whole periods first keeps the argument small and exact.
            const V inverse = hn::Set(d, static_cast<T>(1 / source.a));
            const V pi = hn::Set(d, static_cast<T>(std::numbers::pi));
            return sum_terms(x, z, first, out, [&](V a, V b) HWY_ATTR {
                const V turns = hn::Mul(hn::Sub(a, b), inverse);
                const V s = hn::Sin(d, hn::Mul(pi, hn::Sub(turns, hn::Round(turns))));
                return hn::Mul(s, s);
            });
        }
        default: return anova_sums(x, z, first, out, source.a, static_cast<std::size_t>(source.b));
    }
}

/// Rows of x in one bundle: a full 64-byte vector of them.
template <class T>
inline constexpr std::size_t bundle = 64 / sizeof(T);

/// One row of z against the strip: all products with the bundle at once, to out[0 … bundle).
template <class T>
HWY_INLINE void bundle_product(const T* strip, const std::uint32_t* index, const T* value,
                               std::size_t count, T* out) {
    const hn::CappedTag<T, bundle<T>> d;
    constexpr std::size_t n = hn::MaxLanes(d);
    constexpr std::size_t parts = bundle<T> / n;  // vectors of a bundle: all of them in one pass
    hn::Vec<decltype(d)> even[parts], odd[parts];
    for (std::size_t p = 0; p < parts; ++p) even[p] = odd[p] = hn::Zero(d);
    std::size_t e = 0;
    for (; e + 2 <= count; e += 2) {
        const T* const first = strip + std::size_t{index[e]} * bundle<T>;
        const T* const second = strip + std::size_t{index[e + 1]} * bundle<T>;
        const auto by_first = hn::Set(d, value[e]);
        const auto by_second = hn::Set(d, value[e + 1]);
        for (std::size_t p = 0; p < parts; ++p) {
            even[p] = hn::MulAdd(by_first, hn::Load(d, first + p * n), even[p]);
            odd[p] = hn::MulAdd(by_second, hn::Load(d, second + p * n), odd[p]);
        }
    }
    if (e < count) {
        const T* const last = strip + std::size_t{index[e]} * bundle<T>;
        const auto by = hn::Set(d, value[e]);
        for (std::size_t p = 0; p < parts; ++p) {
            even[p] = hn::MulAdd(by, hn::Load(d, last + p * n), even[p]);
        }
    }
    for (std::size_t p = 0; p < parts; ++p) hn::Store(hn::Add(even[p], odd[p]), d, out + p * n);
}

/// How many entries of a row are in columns before `width`.
template <class T>
std::size_t entries_before(const SparseView<T>& rows, std::size_t i, std::size_t width) {
    const auto index = rows.row_index(i);
    if (index.empty() || index.back() < width) return index.size();
    return static_cast<std::size_t>(std::ranges::lower_bound(index, width) - index.begin());
}

template <class T>
void sparse_bundle(const SparseView<T>& x, std::size_t first_x, std::size_t rows,
                   const SparseView<T>& z, std::size_t first_z,
                   std::span<const std::size_t> z_entries, std::size_t width, MatrixView<T> out,
                   std::size_t first_out, T* strip, T* turned) {
    constexpr std::size_t w = bundle<T>;
    for (std::size_t r = 0; r < rows; ++r) {
        const std::uint32_t* const index = x.index + x.starts[first_x + r];
        const T* const value = x.value + x.starts[first_x + r];
        const std::size_t entries = entries_before(x, first_x + r, width);
        for (std::size_t e = 0; e < entries; ++e) strip[std::size_t{index[e]} * w + r] = value[e];
    }
    // Products come out bundle by bundle; 64 rows of z at a time are turned into rows of out.
    constexpr std::size_t run = 64;
    for (std::size_t j = 0; j < out.columns; j += run) {
        const std::size_t count = std::min(run, out.columns - j);
        for (std::size_t c = 0; c < count; ++c) {
            const std::size_t row = first_z + j + c;
            bundle_product(strip, z.index + z.starts[row], z.value + z.starts[row],
                           z_entries[j + c], turned + c * w);
        }
        for (std::size_t r = 0; r < rows; ++r) {
            T* o = &out(first_out + r, j);
            for (std::size_t c = 0; c < count; ++c) o[c] = turned[c * w + r];
        }
    }
    for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t entries = entries_before(x, first_x + r, width);
        for (const std::uint32_t k : x.row_index(first_x + r).first(entries)) {
            strip[std::size_t{k} * w + r] = T{0};
        }
    }
}

template <class T>
void sparse_products_of(const SparseView<T>& x, std::size_t first_x, const SparseView<T>& z,
                        std::size_t first_z, std::size_t width, MatrixView<T> out) {
    constexpr std::size_t w = bundle<T>;
    width = std::min(width, std::max(x.columns, z.columns));
    const std::size_t strip_length = width * w;
    static_assert(w * sizeof(T) % 64 == 0);  // so that every part begins a cache line
    const std::unique_ptr<T, decltype(&std::free)> buffer(
        static_cast<T*>(std::aligned_alloc(64, (strip_length + 64 * w) * sizeof(T))), &std::free);
    T* const strip = buffer.get();
    if (strip == nullptr) throw std::bad_alloc();
    std::fill_n(strip, strip_length, T{0});
    std::vector<std::size_t> z_entries(out.columns);
    for (std::size_t j = 0; j < out.columns; ++j) {
        z_entries[j] = entries_before(z, first_z + j, width);
    }
    for (std::size_t i = 0; i < out.rows; i += w) {
        sparse_bundle(x, first_x + i, std::min(w, out.rows - i), z, first_z,
                      std::span<const std::size_t>(z_entries), width, out, i, strip,
                      strip + strip_length);
    }
}

#define MERCER_FOR_TYPE(T, name)                                                                 \
    void panel_products_##name(MatrixView<const T> x, const Panels<T>& z, std::size_t first,     \
                               MatrixView<T> out) {                                              \
        panel_sums<false>(x, z, first, AllColumns{x.columns}, out);                              \
    }                                                                                            \
    void panel_distances_##name(MatrixView<const T> x, const Panels<T>& z, std::size_t first,    \
                                MatrixView<T> out) {                                             \
        panel_sums<true>(x, z, first, AllColumns{x.columns}, out);                               \
    }                                                                                            \
    void some_distances_##name(MatrixView<const T> x, const Panels<T>& z, std::size_t first,     \
                               SomeColumns some, MatrixView<T> out) {                            \
        panel_sums<true>(x, z, first, some, out);                                                \
    }                                                                                            \
    void columnwise_sums_##name(const Source& source, MatrixView<const T> x, const Panels<T>& z, \
                                std::size_t first, MatrixView<T> out) {                          \
        columnwise_sums_of(source, x, z, first, out);                                            \
    }                                                                                            \
    void sparse_products_##name(const SparseView<T>& x, std::size_t first_x,                     \
                                const SparseView<T>& z, std::size_t first_z, std::size_t width,  \
                                MatrixView<T> out) {                                             \
        sparse_products_of(x, first_x, z, first_z, width, out);                                  \
    }
MERCER_FOR_TYPE(float, float)
MERCER_FOR_TYPE(double, double)
#undef MERCER_FOR_TYPE

}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {

template <class T>
Panels<T>::Panels(MatrixView<const T> from) : rows(from.rows), columns(from.columns) {
    const std::size_t panels = (rows + panel_width - 1) / panel_width;
    data = std::make_unique_for_overwrite<T[]>(panels * panel_width * columns);
    parallel_for(panels, [&](std::size_t p) {
        T* const panel = data.get() + p * panel_width * columns;
        const std::size_t first = p * panel_width;
        const std::size_t count = std::min(panel_width, rows - first);
        // As many columns at a time as the cache lines of the rows hold.
        constexpr std::size_t run = 64 / sizeof(T);
        for (std::size_t k = 0; k < columns; k += run) {
            const std::size_t end = std::min(columns, k + run);
            for (std::size_t c = k; c < end; ++c) {
                for (std::size_t j = 0; j < count; ++j) {
                    panel[c * panel_width + j] = from(first + j, c);
                }
                std::fill_n(panel + c * panel_width + count, panel_width - count, T{0});
            }
        }
    });
}
template struct Panels<float>;
template struct Panels<double>;

namespace {

/// A strip of more columns is larger than a cache, and clearing it takes longer than the products.
constexpr std::size_t widest_strip = std::size_t{1} << 16;

/// Numbers from 1 on for the columns that some rows have; 0 is for all others.
class ColumnNumbers {
   public:
    // calloc: of the many columns few are looked at, and pages that are not cost nothing.
    explicit ColumnNumbers(std::size_t width)
        : numbers_(static_cast<std::uint32_t*>(std::calloc(width, sizeof(std::uint32_t))),
                   &std::free) {
        if (numbers_ == nullptr) throw std::bad_alloc();
    }
    std::uint32_t of(std::uint32_t column) const { return numbers_.get()[column]; }
    std::uint32_t given_to(std::uint32_t column) {
        std::uint32_t& number = numbers_.get()[column];
        if (number == 0) number = next_++;
        return number;
    }
    std::size_t count() const { return next_; }

   private:
    std::unique_ptr<std::uint32_t, decltype(&std::free)> numbers_;
    std::uint32_t next_ = 1;
};

/// Some rows, up to a column, with new numbers for their columns. No entry is left out, so that
/// sums over them are taken in the same order whatever rows they are multiplied with.
template <class T>
class NumberedRows {
   public:
    NumberedRows(const SparseView<T>& rows, std::size_t first, std::size_t count, std::size_t width,
                 ColumnNumbers& numbers, bool gives) {
        starts_.push_back(0);
        for (std::size_t i = first; i < first + count; ++i) {
            const auto index = rows.row_index(i);
            const auto value = rows.row_value(i);
            for (std::size_t e = 0; e < index.size() && index[e] < width; ++e) {
                index_.push_back(gives ? numbers.given_to(index[e]) : numbers.of(index[e]));
                value_.push_back(value[e]);
            }
            starts_.push_back(index_.size());
        }
    }
    SparseView<T> view(const ColumnNumbers& numbers) const {
        return {starts_.size() - 1, numbers.count(), starts_.data(), index_.data(), value_.data()};
    }

   private:
    std::vector<std::size_t> starts_{};
    std::vector<std::uint32_t> index_{};
    std::vector<T> value_{};
};

}  // namespace

#define MERCER_DISPATCH(T, name)                                                                 \
    MERCER_SIMD_EXPORT(panel_products_##name);                                                   \
    MERCER_SIMD_EXPORT(panel_distances_##name);                                                  \
    MERCER_SIMD_EXPORT(some_distances_##name);                                                   \
    MERCER_SIMD_EXPORT(columnwise_sums_##name);                                                  \
    MERCER_SIMD_EXPORT(sparse_products_##name);                                                  \
    template <>                                                                                  \
    void panel_products<T>(MatrixView<const T> x, const Panels<T>& z, std::size_t first,         \
                           MatrixView<T> out) {                                                  \
        MERCER_SIMD(panel_products_##name)(x, z, first, out);                                    \
    }                                                                                            \
    template <>                                                                                  \
    void panel_distances<T>(MatrixView<const T> x, const Panels<T>& z, std::size_t first,        \
                            MatrixView<T> out) {                                                 \
        MERCER_SIMD(panel_distances_##name)(x, z, first, out);                                   \
    }                                                                                            \
    template <>                                                                                  \
    void panel_distances<T>(MatrixView<const T> x, const Panels<T>& z, std::size_t first,        \
                            std::span<const std::uint32_t> some, MatrixView<T> out) {            \
        MERCER_SIMD(some_distances_##name)(x, z, first, some, out);                              \
    }                                                                                            \
    template <>                                                                                  \
    void columnwise_sums<T>(const Source& source, MatrixView<const T> x, const Panels<T>& z,     \
                            std::size_t first, MatrixView<T> out) {                              \
        MERCER_SIMD(columnwise_sums_##name)(source, x, z, first, out);                           \
    }                                                                                            \
    template <>                                                                                  \
    void sparse_products<T>(const SparseView<T>& x, std::size_t first_x, const SparseView<T>& z, \
                            std::size_t first_z, std::size_t width, MatrixView<T> out) {         \
        width = std::min(width, std::max(x.columns, z.columns));                                 \
        if (width <= widest_strip) {                                                             \
            MERCER_SIMD(sparse_products_##name)(x, first_x, z, first_z, width, out);             \
            return;                                                                              \
        }                                                                                        \
        ColumnNumbers numbers(width);                                                            \
        const NumberedRows<T> left(x, first_x, out.rows, width, numbers, true);                  \
        const NumberedRows<T> right(z, first_z, out.columns, width, numbers, false);             \
        MERCER_SIMD(sparse_products_##name)                                                      \
        (left.view(numbers), 0, right.view(numbers), 0, numbers.count(), out);                   \
    }
MERCER_DISPATCH(float, float)
MERCER_DISPATCH(double, double)
#undef MERCER_DISPATCH

}  // namespace mercer
#endif
