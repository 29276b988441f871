#include "mercer/base/detail/vector_math.hpp"

#include <cstddef>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/base/detail/vector_math.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using D = hn::ScalableTag<double>;
using V = hn::Vec<D>;

/// v ← f(v), whole vectors and then one padded with `filler`.
template <class F>
HWY_INLINE void each(double* v, std::size_t count, double filler, F f) {
    const D d;
    const std::size_t lanes = hn::Lanes(d);
    std::size_t i = 0;
    for (; i + lanes <= count; i += lanes) hn::StoreU(f(d, hn::LoadU(d, v + i)), d, v + i);
    if (i == count) return;
    HWY_ALIGN double last[HWY_MAX_BYTES / sizeof(double)];
    for (std::size_t j = 0; j < lanes; ++j) last[j] = i + j < count ? v[i + j] : filler;
    hn::Store(f(d, hn::Load(d, last)), d, last);
    for (std::size_t j = 0; i + j < count; ++j) v[i + j] = last[j];
}

void exp_all(double* v, std::size_t count) {
    each(v, count, 0, [](D d, V x) HWY_ATTR {
        const V highest = hn::Set(d, 709.7);
        const V result = hn::Exp(d, hn::Max(hn::Min(x, highest), hn::Set(d, -745.0)));
        const V infinity = hn::Set(d, std::numeric_limits<double>::infinity());
        return hn::IfThenElse(hn::Gt(x, highest), infinity, result);
    });
}
void log_all(double* v, std::size_t count) {
    each(v, count, 1, [](D d, V x) HWY_ATTR {
        return hn::Log(d, hn::Max(x, hn::Set(d, std::numeric_limits<double>::min())));
    });
}
void sin_all(double* v, std::size_t count) {
    each(v, count, 0, [](D d, V x) HWY_ATTR { return hn::Sin(d, x); });
}

}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {

MERCER_SIMD_EXPORT(exp_all);
MERCER_SIMD_EXPORT(log_all);
MERCER_SIMD_EXPORT(sin_all);

void vector_exp(std::span<double> v) {
    MERCER_SIMD(exp_all)(v.data(), v.size());
}
void vector_log(std::span<double> v) {
    MERCER_SIMD(log_all)(v.data(), v.size());
}
void vector_sin(std::span<double> v) {
    MERCER_SIMD(sin_all)(v.data(), v.size());
}

}  // namespace mercer
#endif
