#include "mercer/kernel/detail/series.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "mercer/kernel/detail/finding.hpp"

namespace mercer {
namespace {

using Tail = Series::Tail;

/// A series without coefficients over the base that both share.
std::optional<Series> joint(const Series& x, const Series& y) {
    if (x.base && y.base && x.base_text != y.base_text) return {};
    const Series& owner = x.base ? x : y;
    Series result;
    result.base = owner.base;
    result.base_text = owner.base_text;
    result.dot_product = owner.dot_product;
    result.strict = owner.strict;
    return result;
}

std::optional<Series> finished(Series series) {
    for (const double s : series.size) {
        if (!std::isfinite(s)) return {};
    }
    while (series.tail == Tail::zero && series.a.size() > 1 && series.size.back() == 0) {
        series.a.pop_back();
        series.size.pop_back();
    }
    return series;
}

/// All coefficients known to be >= 0, those not listed too.
bool all_non_negative(const Series& x) {
    return x.tail != Tail::unknown && !x.negative(0) && !x.first_negative();
}

}  // namespace

std::string rounded(double value) {
    std::array<char, 32> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.4g", value);
    return buffer.data();
}

std::optional<std::size_t> Series::first_negative() const {
    for (std::size_t n = 1; n < a.size(); ++n) {
        if (negative(n)) return n;
    }
    return {};
}

std::optional<std::size_t> Series::first_positive() const {
    for (std::size_t n = 1; n < a.size(); ++n) {
        if (a[n] > rounding * size[n]) return n;
    }
    return {};
}

std::string Series::text() const {
    std::string result;
    std::size_t shown = 0;
    const auto append = [&](std::size_t n) {
        const double value = std::fabs(a[n]);
        if (value <= rounding * size[n]) return;
        if (shown++ == 6) result += " + ...";
        if (shown > 6) return;
        result += result.empty() ? (a[n] < 0 ? "-" : "") : (a[n] < 0 ? " - " : " + ");
        const bool bare = value == 1 && n > 0;
        if (!bare) result += rounded(value) + (n > 0 ? " " : "");
        if (n > 0) result += n == 1 ? "t" : "t^" + std::to_string(n);
    };
    for (std::size_t n = 0; n < a.size(); ++n) append(n);
    if (result.empty()) return "0";
    return tail != Tail::zero && shown <= 6 ? result + " + ..." : result;
}

Series constant_series(double value) {
    Series result;
    result.a = {value};
    result.size = {std::fabs(value)};
    return result;
}

Series base_series(const Kernel& base, bool dot_product, bool strict) {
    Series result;
    result.base = base;
    result.base_text = base.text();
    result.dot_product = dot_product;
    result.strict = strict;
    result.a = {0, 1};
    result.size = {0, 1};
    return result;
}

std::optional<Series> add(const Series& x, const Series& y) {
    auto result = joint(x, y);
    if (!result) return {};
    // Where one series is cut off and the other goes on, only what both list is known exactly.
    const bool x_cut = x.tail != Tail::zero;
    const bool y_cut = y.tail != Tail::zero;
    const std::size_t terms = std::max(x.a.size(), y.a.size());
    if ((x_cut && x.a.size() < terms) || (y_cut && y.a.size() < terms)) return {};
    result->a.assign(terms, 0);
    result->size.assign(terms, 0);
    for (const Series* part : {&x, &y}) {
        for (std::size_t n = 0; n < part->a.size(); ++n) {
            result->a[n] += part->a[n];
            result->size[n] += part->size[n];
        }
    }
    result->tail = std::max(x.tail, y.tail);
    return finished(std::move(*result));
}

std::optional<Series> multiply(const Series& x, const Series& y) {
    auto result = joint(x, y);
    if (!result) return {};
    const bool endless = x.tail != Tail::zero || y.tail != Tail::zero;
    const std::size_t full = x.a.size() + y.a.size() - 1;
    if (!endless && full > Series::most_terms) return {};
    const std::size_t terms = endless ? Series::most_terms : full;
    result->a.assign(terms, 0);
    result->size.assign(terms, 0);
    for (std::size_t i = 0; i < x.a.size(); ++i) {
        for (std::size_t j = 0; j < y.a.size() && i + j < terms; ++j) {
            result->a[i + j] += x.a[i] * y.a[j];
            result->size[i + j] += x.size[i] * y.size[j];
        }
    }
    if (endless) {
        const bool safe = all_non_negative(x) && all_non_negative(y);
        result->tail = safe ? Tail::non_negative : Tail::unknown;
    }
    return finished(std::move(*result));
}

std::optional<Series> scale(const Series& x, double factor) {
    Series result = x;
    for (double& value : result.a) value *= factor;
    for (double& value : result.size) value *= std::fabs(factor);
    if (factor < 0 && x.tail == Tail::non_negative) result.tail = Tail::unknown;
    if (factor == 0) return constant_series(0);
    return finished(std::move(result));
}

std::optional<Series> power(const Series& x, std::size_t exponent) {
    // A constant or a single power may be raised far; most_terms ends everything else early.
    if (x.a.size() > 1 && exponent >= Series::most_terms) return {};
    if (x.a.size() == 1) {
        if (x.tail != Tail::zero) return {};
        return finished(constant_series(std::pow(x.a[0], static_cast<double>(exponent))));
    }
    std::optional<Series> result = constant_series(1);
    std::optional<Series> square = x;
    for (std::size_t left = exponent; left > 0 && result && square; left /= 2) {
        if (left % 2 == 1) result = multiply(*result, *square);
        if (left > 1) square = multiply(*square, *square);
    }
    return square ? result : std::nullopt;
}

std::optional<Series> exponential(const Series& x) {
    // b' = x' b gives n b[n] = Σ k x[k] b[n-k].
    Series result = x;
    const std::size_t terms = x.base ? Series::most_terms : 1;
    result.a.assign(terms, 0);
    result.size.assign(terms, 0);
    result.a[0] = result.size[0] = std::exp(x.a[0]);
    for (std::size_t n = 1; n < terms; ++n) {
        for (std::size_t k = 1; k <= n && k < x.a.size(); ++k) {
            const double weight = static_cast<double>(k) / static_cast<double>(n);
            result.a[n] += weight * x.a[k] * result.a[n - k];
            result.size[n] += weight * x.size[k] * result.size[n - k];
        }
    }
    const bool safe = x.tail != Tail::unknown && !x.first_negative();
    result.tail = !x.base ? Tail::zero : safe ? Tail::non_negative : Tail::unknown;
    return finished(std::move(result));
}

}  // namespace mercer
