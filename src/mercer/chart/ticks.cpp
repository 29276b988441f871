// Round places on axes, and how their numbers are written.
#include <algorithm>
#include <cmath>

#include "mercer/chart/chart.hpp"

namespace mercer::chart {
namespace {

std::vector<double> log_ticks(double low, double high) {
    const int first = static_cast<int>(std::floor(std::log10(low)));
    const int last = static_cast<int>(std::ceil(std::log10(high)));
    const int step = std::max(1, (last - first + 7) / 8);
    std::vector<double> result;
    for (int e = first - first % step; e <= last; e += step) {
        const double power = std::pow(10.0, e);
        for (const double digit : {1.0, 2.0, 5.0}) {
            if (digit > 1 && last - first > 2) break;
            const double value = digit * power;
            if (value >= low * (1 - 1e-9) && value <= high * (1 + 1e-9)) result.push_back(value);
        }
    }
    return result;
}

}  // namespace

std::vector<double> ticks(double low, double high, std::size_t count, bool log) {
    if (!std::isfinite(low) || !std::isfinite(high) || !(low < high)) return {};
    if (log) return low > 0 ? log_ticks(low, high) : std::vector<double>{};
    const double raw = (high - low) / static_cast<double>(std::max<std::size_t>(count, 1));
    const double power = std::pow(10.0, std::floor(std::log10(raw)));
    if (!(power > 0) || !std::isfinite(power)) return {};
    double step = 10 * power;
    for (const double digit : {5.0, 2.0, 1.0}) {
        if (digit * power >= raw * (1 - 1e-9)) step = digit * power;
    }
    std::vector<double> result;
    const double slack = 1e-9 * (high - low);
    for (double k = std::ceil((low - slack) / step); k * step <= high + slack; ++k) {
        result.push_back(k == 0 ? 0 : k * step);
        if (result.size() > 1000) break;  // numbers so near that steps get lost in rounding
    }
    return result;
}

}  // namespace mercer::chart
