// Numbers from text, correctly rounded, for the readers' inner loops.
#pragma once

#include <fast_float/fast_float.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <system_error>
#include <type_traits>

namespace mercer::formats {

enum class NumberKind {
    good,
    rounded,     ///< good, but a float whose shortest decimals are others
    malformed,   ///< no number begins here
    not_finite,  ///< written as nan or inf
    too_large,   ///< a decimal number beyond the range of double
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

/// The power of ten that the last digit other than 0 counts in the decimal number [first, end),
/// which is not 0.
inline int last_digit_power(const char* first, const char* end) {
    const char* point = nullptr;
    const char* digit = first;
    const char* p = first;
    for (; p != end && *p != 'e' && *p != 'E'; ++p) {
        if (*p == '.') {
            point = p;
        } else if (*p != '0' && *p != '-') {
            digit = p;
        }
    }
    if (point == nullptr) point = p;
    const auto power = static_cast<int>(point - digit) - (digit < point ? 1 : 0);
    if (p == end) return power;
    const bool negative = *++p == '-';
    if (negative || *p == '+') ++p;
    int exponent = 0;
    for (; p != end && exponent < 10000; ++p) exponent = 10 * exponent + (*p - '0');
    return power + (negative ? -exponent : exponent);
}

/// True when the shortest decimals of `value` are those of the number [first, end) it was read
/// from. Both lie within half an ulp of `value` and are multiples of 10^q, q the power of the last
/// digit read: where 10^q is more than an ulp there is only one such multiple. Beyond 2^24 floats
/// are whole numbers and written with all their digits.
inline bool writes_back(float value, double number, const char* first, const char* end) {
    const float size = std::abs(value);
    if (!(size < 0x1p24F) || size == 0) return static_cast<double>(value) == number;
    if (size < std::numeric_limits<float>::min()) return false;
    constexpr int least = -38 - 23;
    static const std::array<double, 70> powers = [] {
        std::array<double, 70> table{};
        for (int k = 0; k < 70; ++k) table[static_cast<std::size_t>(k)] = std::pow(10.0, k + least);
        return table;
    }();
    const int power = last_digit_power(first, end);
    if (power < least) return false;
    const double ulp = std::ldexp(1.0, std::ilogb(value) - 23);
    return ulp < powers[static_cast<std::size_t>(std::min(power, 8) - least)];
}

/// A double as float, and whether that has lost something.
inline Number<float> rounded_number(double number, const char* first, const char* end) {
    constexpr double largest = std::numeric_limits<float>::max();
    if (!(std::abs(number) <= largest)) {
        const float beyond = std::numeric_limits<float>::infinity();
        return {number < 0 ? -beyond : beyond, NumberKind::rounded, end};
    }
    float value = static_cast<float>(number);
    // Rounding twice goes wrong only from the middle between two floats.
    constexpr std::uint64_t tail = (std::uint64_t{1} << 29) - 1;
    if ((std::bit_cast<std::uint64_t>(number) & tail) == std::uint64_t{1} << 28) {
        fast_float::from_chars(first, end, value);
    }
    return {value, writes_back(value, number, first, end) ? NumberKind::good : NumberKind::rounded,
            end};
}

/// Anything but the short decimals below: many digits, exponents, nan, inf, mistakes.
template <class T>
Number<T> read_long_number(const char* first, const char* last) {
    if (first != last && *first == '+') {
        ++first;
        if (first != last && *first == '-') return {T{}, NumberKind::malformed, first};
    }
    double value{};
    const auto [end, error] = fast_float::from_chars(first, last, value);
    if (error == std::errc::invalid_argument || end == first) {
        return {T{}, NumberKind::malformed, first};
    }
    if (std::isfinite(value)) {
        if constexpr (std::is_same_v<T, float>) return rounded_number(value, first, end);
        return {static_cast<T>(value), NumberKind::good, end};
    }
    const char* p = *first == '-' ? first + 1 : first;
    const bool decimal = is_digit(*p) || *p == '.';
    return {static_cast<T>(value), decimal ? NumberKind::too_large : NumberKind::not_finite, end};
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
