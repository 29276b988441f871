// Numbers that are not known exactly: an interval that certainly holds them, whatever is rounded.
//
// Every operation of IEEE 754 double precision, rounded to the nearest, is off by half a unit in
// the last place at most; each end is moved outwards by one unit. exp, log1p, tanh and pow are
// those of the C library; glibc documents errors of at most 2 units for them, and ends are moved
// by 4.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

namespace mercer {

struct Interval {
    double low = 0;
    double high = 0;

    constexpr Interval() = default;
    constexpr Interval(double value) : low(value), high(value) {}
    constexpr Interval(double from, double to) : low(from), high(to) {}
    bool is_finite() const { return std::isfinite(low) && std::isfinite(high); }
};

/// At most the value less `units` in the last place. |x| 2⁻⁵² is at least one unit of x, and
/// subtracting it is rounded to no more than the neighbour below.
inline double below(double value, double units = 1) {
    return value - (std::abs(value) * (units * 0x1p-52) + units * 0x1p-1074);
}
inline double above(double value, double units = 1) {
    return value + (std::abs(value) * (units * 0x1p-52) + units * 0x1p-1074);
}

inline Interval operator-(Interval a) {
    return {-a.high, -a.low};
}
inline Interval operator+(Interval a, Interval b) {
    return {below(a.low + b.low), above(a.high + b.high)};
}
inline Interval operator-(Interval a, Interval b) {
    return {below(a.low - b.high), above(a.high - b.low)};
}
inline Interval unbounded() {
    return {-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
}
inline Interval operator*(Interval a, Interval b) {
    if (!a.is_finite() || !b.is_finite()) return unbounded();
    const auto [least, most] =
        std::minmax({a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high});
    return {below(least), above(most)};
}
/// b must not hold 0; an interval without bounds if it does.
inline Interval operator/(Interval a, Interval b) {
    if (!a.is_finite() || !b.is_finite() || (b.low <= 0 && b.high >= 0)) return unbounded();
    const auto [least, most] =
        std::minmax({a.low / b.low, a.low / b.high, a.high / b.low, a.high / b.high});
    return {below(least), above(most)};
}
inline Interval& operator+=(Interval& a, Interval b) {
    return a = a + b;
}

/// The larger of the number and 0.
inline Interval positive_part(Interval a) {
    return {std::max(0.0, a.low), std::max(0.0, a.high)};
}
inline Interval magnitude(Interval a) {
    if (a.low >= 0) return a;
    if (a.high <= 0) return -a;
    return {0, std::max(-a.low, a.high)};
}
inline Interval square(Interval a) {
    const Interval m = magnitude(a);
    return {std::max(0.0, below(m.low * m.low)), above(m.high * m.high)};
}

/// A rising function of the C library, good to 2 units in the last place.
template <class Function>
Interval rising(Interval a, Function&& f) {
    return {below(f(a.low), 4), above(f(a.high), 4)};
}
inline Interval exp(Interval a) {
    const Interval e = rising(a, [](double x) { return std::exp(x); });
    return {std::max(0.0, e.low), e.high};
}
inline Interval tanh(Interval a) {
    return rising(a, [](double x) { return std::tanh(x); });
}
/// Of numbers >= 0 up to rounding.
inline Interval sqrt(Interval a) {
    return {std::max(0.0, below(std::sqrt(std::max(0.0, a.low)))),
            above(std::sqrt(std::max(0.0, a.high)))};
}
inline Interval log1p(Interval a) {
    return rising(a, [](double x) { return std::log1p(x); });
}
/// Of numbers >= 0 to a power >= 0.
inline Interval pow(Interval a, double exponent) {
    const Interval p = rising(positive_part(a), [&](double x) { return std::pow(x, exponent); });
    return {std::max(0.0, p.low), p.high};
}
/// A whole power >= 0.
inline Interval power(Interval a, unsigned exponent) {
    if (exponent == 0) return 1;
    if (exponent % 2 == 0) return power(square(a), exponent / 2);
    return exponent == 1 ? a : a * power(square(a), exponent / 2);
}

}  // namespace mercer
