#include "mercer/gram/detail/elementwise.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "mercer/kernel/detail/leaf.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "mercer/gram/detail/elementwise.cpp"
#include <hwy/foreach_target.h>
// foreach_target must come first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "mercer/base/detail/simd_targets.hpp"

HWY_BEFORE_NAMESPACE();
namespace mercer {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// 2^n e^r with x = n ln 2 + r for float x in [−87.3, 88.7], where n + 127 is an exponent that
// exists: e^r = 1 + r + r² q(r), q of degree 4 and minimax on |r| <= ln(2)/2, which leaves 3e-9 of
// it. Half the instructions of Highway's, which also has what is below the smallest normal number.
template <class D, class V>
HWY_INLINE V exponential_in_range(D d, V x) {
    const hn::RebindToSigned<D> di;
    const auto set = [&](float value) HWY_ATTR { return hn::Set(d, value); };
    const auto n = hn::NearestInt(hn::Mul(x, set(1.44269504F)));
    const V whole = hn::ConvertTo(d, n);
    V r = hn::NegMulAdd(whole, set(0.693359375F), x);  // exact: few digits
    r = hn::MulAdd(whole, set(2.12194440e-4F), r);
    const V square = hn::Mul(r, r);
    const V low = hn::MulAdd(r, set(0.16666521F), set(0.49999994F));
    const V high = hn::MulAdd(r, set(0.0083687166F), set(0.04166839F));
    const V q = hn::MulAdd(square, hn::MulAdd(square, set(0.0013814599F), high), low);
    const V power = hn::Add(set(1), hn::MulAdd(square, q, r));
    return hn::BitCast(d, hn::Add(hn::BitCast(di, power), hn::ShiftLeft<23>(n)));
}

// Exact to 1 ulp; 0 below the range, and infinity above it.
template <class D, class V>
HWY_INLINE V exponential(D d, V x) {
    using T = hn::TFromD<D>;
    constexpr bool single = sizeof(T) == 4;
    const V highest = hn::Set(d, single ? static_cast<T>(88.7) : static_cast<T>(709.7));
    const V lowest = hn::Set(d, single ? static_cast<T>(-87.3) : static_cast<T>(-745));
    const V infinity = hn::Set(d, std::numeric_limits<T>::infinity());
    const V inside = hn::Max(hn::Min(x, highest), lowest);
    V result;
    if constexpr (single) {
        result = hn::IfThenZeroElse(hn::Lt(x, lowest), exponential_in_range(d, inside));
    } else {
        result = hn::Exp(d, inside);
    }
    return hn::IfThenElse(hn::Gt(x, highest), infinity, result);
}

// The same for x <= 0.
template <class D, class V>
HWY_INLINE V decay(D d, V x) {
    if constexpr (sizeof(hn::TFromD<D>) == 4) {
        const V lowest = hn::Set(d, -87.3F);
        const V result = exponential_in_range(d, hn::Max(x, lowest));
        return hn::IfThenZeroElse(hn::Lt(x, lowest), result);
    } else {
        return exponential(d, x);
    }
}

// x^p = exp(p log x) for x > 0; 0 for x = 0 < p; not a number for x < 0, as std::pow.
template <class D, class V>
HWY_INLINE V real_power(D d, V x, V p) {
    using T = hn::TFromD<D>;
    const V zero = hn::Zero(d);
    const V tiny = hn::Set(d, std::numeric_limits<T>::min());
    const V safe = hn::Max(x, tiny);
    V result = exponential(d, hn::Mul(p, hn::Log(d, safe)));
    const V at_zero =
        hn::IfThenElse(hn::Gt(p, zero), zero, hn::Set(d, std::numeric_limits<T>::infinity()));
    result = hn::IfThenElse(hn::Eq(x, zero), at_zero, result);
    return hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, std::numeric_limits<T>::quiet_NaN()), result);
}

template <class D, class V>
HWY_INLINE V whole_power(D d, V x, unsigned exponent) {
    V result = hn::Set(d, hn::TFromD<D>{1});
    for (V square = x; exponent != 0; exponent >>= 1, square = hn::Mul(square, square)) {
        if ((exponent & 1U) != 0) result = hn::Mul(result, square);
    }
    return result;
}

// Matérn for nu = 1/2, 3/2, 5/2 with s = sqrt(2 nu) |x−z| / length (Rasmussen and Williams, 4.2.1).
template <class D, class V>
HWY_INLINE V matern_of(D d, V squared, double nu, double inverse_length) {
    using T = hn::TFromD<D>;
    const V one = hn::Set(d, T{1});
    const V s =
        hn::Mul(hn::Sqrt(squared), hn::Set(d, static_cast<T>(std::sqrt(2 * nu) * inverse_length)));
    const V falling = decay(d, hn::Neg(s));
    if (nu < 1) return falling;
    if (nu < 2) return hn::Mul(hn::Add(one, s), falling);
    const V third = hn::Set(d, static_cast<T>(1.0 / 3));
    return hn::Mul(hn::MulAdd(hn::Mul(s, s), third, hn::Add(one, s)), falling);
}

/// One row of a tile: the instruction loop, each instruction one pass over a run of columns that
/// stays in the first-level cache.
template <class T>
class Row {
   public:
    using D = hn::ScalableTag<T>;
    using V = hn::Vec<D>;
    Row(const ProgramTile<T>& tile, std::size_t i, std::size_t columns)
        : tile_(tile), i_(i), columns_(columns) {}

    /// False when some value is not finite.
    bool run(const Program& program, T* out) {
        // Whole vectors are written, so a row that does not end on one goes through scratch.
        const bool direct = columns_ % hn::Lanes(d_) == 0;
        first_ = direct ? out : tile_.registers.data();
        for (const Instruction& instruction : program) step(instruction);
        if (!direct) std::memcpy(out, first_, columns_ * sizeof(T));
        // exp(a d) of a distance d >= 0 and a <= 0 lies in [0, 1] whatever d is.
        const bool bounded =
            program[0].code == Code::gaussian && program[0].a <= 0 &&
            (program.size() == 1 || (program.size() == 2 && program[1].code == Code::truncate));
        return bounded || all_finite(out);
    }

   private:
    /// One pass over a row that is still in the first-level cache: v − v is 0 for finite v and not
    /// a number otherwise, and a sum keeps what is not a number.
    HWY_INLINE bool all_finite(const T* out) const {
        const std::size_t lanes = hn::Lanes(d_);
        V sum = hn::Zero(d_);
        std::size_t j = 0;
        for (; j + lanes <= columns_; j += lanes) {
            const V v = hn::LoadU(d_, out + j);
            sum = hn::Add(sum, hn::Sub(v, v));
        }
        T rest = hn::GetLane(hn::SumOfLanes(d_, sum));
        for (; j < columns_; ++j) rest += out[j] - out[j];
        return rest == T{0};
    }
    T* reg(std::size_t index) const {
        return index == 0 ? first_ : tile_.registers.data() + index * register_length(columns_);
    }
    V set(double value) const { return hn::Set(d_, static_cast<T>(value)); }
    V x_side(std::size_t s) const { return hn::Set(d_, tile_.x_sides[s][i_]); }
    V z_side(std::size_t s, std::size_t j) const { return hn::LoadU(d_, tile_.z_sides[s] + j); }

    template <class F>
    HWY_INLINE void each(std::size_t target, F f) const {
        T* r = reg(target);
        for (std::size_t j = 0; j < columns_; j += hn::Lanes(d_)) hn::StoreU(f(j), d_, r + j);
    }
    template <class F>
    HWY_INLINE void update(std::size_t target, F f) const {
        T* r = reg(target);
        each(target, [&](std::size_t j) HWY_ATTR { return f(hn::LoadU(d_, r + j), j); });
    }

    /// x·z from exact integers.
    HWY_INLINE hn::Vec<hn::Rebind<std::int32_t, D>> integer_dot(const SourceTile<T>& s,
                                                                std::size_t j) const {
        const hn::Rebind<std::int32_t, D> di;
        return hn::Add(hn::LoadU(di, s.integers + i_ * s.stride + j), hn::Set(di, s.x_shift[i_]));
    }
    HWY_INLINE V integer_distance(const SourceTile<T>& s, std::size_t j, V unit_squared) const {
        const hn::Rebind<std::int32_t, D> di;
        const auto dot = integer_dot(s, j);
        const auto norms = hn::Add(hn::LoadU(di, s.z_norm + j), hn::Set(di, s.x_norm[i_]));
        return hn::Mul(hn::ConvertTo(d_, hn::Sub(norms, hn::Add(dot, dot))), unit_squared);
    }
    HWY_INLINE V plain_distance(const T* dots, std::size_t side, V x_norm, std::size_t j) const {
        const V norms = hn::Add(x_norm, z_side(side, j));
        const V squared = hn::NegMulAdd(set(2), hn::LoadU(d_, dots + j), norms);
        return hn::Max(squared, hn::Zero(d_));
    }

    /// The squared distance, handed to f(distance) element by element.
    template <class F>
    HWY_INLINE void with_distance(const Instruction& in, F f) const {
        const SourceTile<T>& s = tile_.sources[in.source];
        if constexpr (sizeof(T) == 4) {
            if (s.integers != nullptr) {
                const V unit_squared = set(s.unit_squared);
                each(in.target, [&](std::size_t j)
                                    HWY_ATTR { return f(integer_distance(s, j, unit_squared)); });
                return;
            }
        }
        const T* dots = s.values + i_ * s.stride;
        if (s.distances) {
            each(in.target, [&](std::size_t j) HWY_ATTR { return f(hn::LoadU(d_, dots + j)); });
            return;
        }
        const V x_norm = x_side(in.side);
        each(in.target,
             [&](std::size_t j) HWY_ATTR { return f(plain_distance(dots, in.side, x_norm, j)); });
    }

    void load(const Instruction& in) const {
        const SourceTile<T>& s = tile_.sources[in.source];
        if constexpr (sizeof(T) == 4) {
            if (s.integers != nullptr) {
                const V unit_squared = set(s.unit_squared);
                each(in.target, [&](std::size_t j) HWY_ATTR {
                    return hn::Mul(hn::ConvertTo(d_, integer_dot(s, j)), unit_squared);
                });
                return;
            }
        }
        const T* values = s.values + i_ * s.stride;
        each(in.target, [&](std::size_t j) HWY_ATTR { return hn::LoadU(d_, values + j); });
    }

    void step(const Instruction& in) const {
        const std::size_t t = in.target;
        const V a = set(in.a);
        const V b = set(in.b);
        const V one = set(1);
        switch (in.code) {
            case Code::load: return load(in);
            case Code::distance: return with_distance(in, [](V v) HWY_ATTR { return v; });
            case Code::gaussian:
                if (in.a <= 0) {
                    return with_distance(in,
                                         [&](V v) HWY_ATTR { return decay(d_, hn::Mul(a, v)); });
                }
                return with_distance(in,
                                     [&](V v) HWY_ATTR { return exponential(d_, hn::Mul(a, v)); });
            case Code::constant: return each(t, [&](std::size_t) HWY_ATTR { return a; });
            case Code::affine:
                return update(t, [&](V v, std::size_t) HWY_ATTR { return hn::MulAdd(a, v, b); });
            case Code::exp:
                return update(
                    t, [&](V v, std::size_t) HWY_ATTR { return exponential(d_, hn::Mul(a, v)); });
            case Code::integer_power: {
                const auto exponent = static_cast<unsigned>(in.b);
                return update(
                    t, [&](V v, std::size_t) HWY_ATTR { return whole_power(d_, v, exponent); });
            }
            case Code::power:
                return update(t, [&](V v, std::size_t) HWY_ATTR { return real_power(d_, v, a); });
            case Code::tanh:
                return update(t, [&](V v, std::size_t) HWY_ATTR { return hn::Tanh(d_, v); });
            case Code::logistic:
                return update(t, [&](V v, std::size_t) HWY_ATTR {
                    return hn::Div(one, hn::Add(one, exponential(d_, hn::Neg(v))));
                });
            case Code::root:
                return update(t, [&](V v, std::size_t) HWY_ATTR { return hn::Sqrt(v); });
            case Code::matern:
                return update(
                    t, [&](V v, std::size_t) HWY_ATTR { return matern_of(d_, v, in.a, in.b); });
            case Code::step:
                return update(t, [&](V v, std::size_t)
                                     HWY_ATTR { return hn::IfThenElseZero(hn::Le(v, a), one); });
            case Code::truncate:
                return update(t, [&](V v, std::size_t) HWY_ATTR {
                    return hn::IfThenElseZero(hn::Ge(hn::Abs(v), a), v);
                });
            case Code::apply: return apply(*in.leaf, t);
            default: return combine(in, a);
        }
    }

    /// A leaf without vector instructions of its own, a few numbers at a time in double precision.
    void apply(const KernelNode& leaf, std::size_t target) const {
        T* r = reg(target);
        std::array<double, 64> numbers{};
        std::array<double, 64> values{};
        for (std::size_t j = 0; j < columns_; j += numbers.size()) {
            const std::size_t count = std::min(numbers.size(), columns_ - j);
            std::copy_n(r + j, count, numbers.begin());
            leaf_value(leaf, std::span(numbers).first(count),
                       {.value = std::span(values).first(count)});
            for (std::size_t i = 0; i < count; ++i) r[j + i] = static_cast<T>(values[i]);
        }
    }

    /// Instructions that join two registers or a register with the sides.
    void combine(const Instruction& in, V a) const {
        const std::size_t t = in.target;
        const T* other = reg(in.operand);
        switch (in.code) {
            case Code::add:
                return update(t, [&](V v, std::size_t j)
                                     HWY_ATTR { return hn::Add(v, hn::LoadU(d_, other + j)); });
            case Code::multiply:
                return update(t, [&](V v, std::size_t j)
                                     HWY_ATTR { return hn::Mul(v, hn::LoadU(d_, other + j)); });
            case Code::outer: {
                const V x = x_side(in.side);
                return each(t,
                            [&](std::size_t j) HWY_ATTR { return hn::Mul(x, z_side(in.side, j)); });
            }
            case Code::scale_outer: {
                const V x = x_side(in.side);
                return update(t, [&](V v, std::size_t j) HWY_ATTR {
                    return hn::Mul(hn::Mul(v, x), z_side(in.side, j));
                });
            }
            case Code::feature_gaussian: {
                const V x = x_side(in.side);
                return update(t, [&](V v, std::size_t j) HWY_ATTR {
                    const V sides = hn::Add(x, z_side(in.side, j));
                    return exponential(d_, hn::Mul(a, hn::NegMulAdd(set(2), v, sides)));
                });
            }
            case Code::center: {
                const V shift = hn::Sub(a, x_side(in.side));
                return update(t, [&](V v, std::size_t j) HWY_ATTR {
                    return hn::Add(v, hn::Sub(shift, z_side(in.side, j)));
                });
            }
            default: return;
        }
    }

    const ProgramTile<T>& tile_;
    std::size_t i_;
    std::size_t columns_;
    T* first_ = nullptr;
    D d_{};
};

template <class T>
std::size_t run(const Program& program, const ProgramTile<T>& tile) {
    std::size_t bad = tile.out.size();
    for (std::size_t i = 0; i < tile.out.size(); ++i) {
        const bool finite = Row<T>(tile, i, tile.columns).run(program, tile.out[i]);
        if (!finite && bad == tile.out.size()) bad = i;
    }
    return bad;
}
std::size_t run_float(const Program& program, const ProgramTile<float>& tile) {
    return run(program, tile);
}
std::size_t run_double(const Program& program, const ProgramTile<double>& tile) {
    return run(program, tile);
}

}  // namespace HWY_NAMESPACE
}  // namespace mercer
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mercer {

MERCER_SIMD_EXPORT(run_float);
MERCER_SIMD_EXPORT(run_double);

std::size_t run_program(const Program& program, const ProgramTile<float>& tile) {
    return MERCER_SIMD(run_float)(program, tile);
}
std::size_t run_program(const Program& program, const ProgramTile<double>& tile) {
    return MERCER_SIMD(run_double)(program, tile);
}

}  // namespace mercer
#endif
