#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <set>

#include "mercer/chart/detail/number.hpp"

namespace mercer::chart {
namespace {

std::string with_digits(double value, int digits) {
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   std::chars_format::general, digits);
    return {buffer.data(), end.ptr};
}

}  // namespace

std::string short_number(double value) {
    return with_digits(value, 4);
}

std::string level_number(double value) {
    return with_digits(value, 2);
}

std::string pixel_number(double value) {
    std::array<char, 64> buffer{};
    const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value,
                                   std::chars_format::fixed, 2);
    std::string text(buffer.data(), end.ptr);
    while (text.ends_with('0')) text.pop_back();
    if (text.ends_with('.')) text.pop_back();
    return text == "-0" ? "0" : text;
}

std::vector<std::string> tick_texts(const std::vector<double>& places) {
    std::vector<std::string> texts;
    for (int digits = 3; digits <= 15; ++digits) {
        texts.clear();
        for (const double place : places) texts.push_back(with_digits(place, digits));
        if (std::set<std::string>(texts.begin(), texts.end()).size() == texts.size()) break;
    }
    return texts;
}

std::pair<double, double> range_of(const HeatMap& map) {
    double low = INFINITY;
    double high = -INFINITY;
    for (const double value : map.values.values()) {
        if (!std::isfinite(value)) continue;
        low = std::min(low, value);
        high = std::max(high, value);
    }
    if (!(low <= high)) low = high = 0;
    if (map.ramp == Ramp::diverging) {
        high = std::max(std::abs(low), std::abs(high));
        low = -high;
    }
    return {map.low.value_or(low), map.high.value_or(high)};
}

}  // namespace mercer::chart
