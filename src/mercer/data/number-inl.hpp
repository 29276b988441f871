// Numbers from text, correctly rounded, for the readers' inner loops.
#pragma once

#include <fast_float/fast_float.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <system_error>
#include <type_traits>

namespace mercer::formats {

enum class NumberKind {
    good,
    malformed,   ///< no number begins here
    not_finite,  ///< written as nan or inf
    too_large,   ///< a decimal number beyond the precision's range
};

template <class T>
struct Number {
    T value;
    NumberKind kind;
    const char* end;  ///< first character after the number
};

inline bool is_digit(char c) {
    return static_cast<unsigned char>(c - '0') < 10;
}

/// Between fields; a carriage return belongs to the line's end and is skipped the same way.
inline bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

/// Anything but the short decimals below: many digits, exponents, nan, inf, mistakes.
template <class T>
Number<T> read_long_number(const char* first, const char* last) {
    if (first != last && *first == '+') {
        ++first;
        if (first != last && *first == '-') return {T{}, NumberKind::malformed, first};
    }
    T value{};
    const auto [end, error] = fast_float::from_chars(first, last, value);
    if (error == std::errc::invalid_argument || end == first) {
        return {T{}, NumberKind::malformed, first};
    }
    if (std::isfinite(value)) return {value, NumberKind::good, end};
    const char* p = *first == '-' ? first + 1 : first;
    const bool decimal = is_digit(*p) || *p == '.';
    return {value, decimal ? NumberKind::too_large : NumberKind::not_finite, end};
}

/// The number at `first`. The text must hold a character after it that is no part of a number: the
/// readers see to it that every text ends with a newline.
///
/// Short decimals m / 10^k take a path of their own: both m and 10^k are exact in T, so one
/// division rounds correctly (W. D. Clinger, "How to read floating point numbers accurately",
/// 1990). For T = float that is m < 2^24 and k <= 10, for double m < 2^53 and k <= 22.
template <class T>
inline Number<T> read_number(const char* first, const char* last) {
    constexpr int most_digits = std::is_same_v<T, float> ? 7 : 15;
    static constexpr std::array<T, 16> power_of_ten{
        T(1e0), T(1e1), T(1e2),  T(1e3),  T(1e4),  T(1e5),  T(1e6),  T(1e7),
        T(1e8), T(1e9), T(1e10), T(1e11), T(1e12), T(1e13), T(1e14), T(1e15)};
    using Mantissa = std::conditional_t<std::is_same_v<T, float>, std::int32_t, std::int64_t>;
    const char* p = first;
    const bool negative = *p == '-';
    if (negative || *p == '+') ++p;
    Mantissa mantissa = 0;
    const char* digits = p;
    for (; is_digit(*p) && p - digits <= most_digits; ++p) {
        mantissa = static_cast<Mantissa>(mantissa * 10 + (*p - '0'));
    }
    auto count = p - digits;
    std::ptrdiff_t decimals = 0;
    if (*p == '.' && count <= most_digits) {
        const char* fraction = ++p;
        for (; is_digit(*p) && count + (p - fraction) <= most_digits; ++p) {
            mantissa = static_cast<Mantissa>(mantissa * 10 + (*p - '0'));
        }
        decimals = p - fraction;
        count += decimals;
    }
    const bool ends_here = is_blank(*p) || *p == '\n' || *p == ',' || *p == ';';
    if (!ends_here || count == 0 || count > most_digits) return read_long_number<T>(first, last);
    T value = static_cast<T>(mantissa);
    if (decimals != 0) value /= power_of_ten[static_cast<std::size_t>(decimals)];
    return {negative ? -value : value, NumberKind::good, p};
}

}  // namespace mercer::formats
