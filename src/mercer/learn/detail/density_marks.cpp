#include "mercer/learn/detail/density_marks.hpp"

#include <algorithm>

namespace mercer {

std::vector<double> density_marks(std::vector<double> decisions) {
    constexpr std::size_t half = density_mark_count / 2;
    std::ranges::sort(decisions);
    const auto split = std::ranges::lower_bound(decisions, 0.0);
    const std::span outside(decisions.begin(), split);
    const std::span inside(split, decisions.end());
    if (outside.size() < half || inside.size() < half) return {};
    // Limits of ten bins: five below 0, 0 itself, the last values of five above.
    std::vector<double> limits;
    for (std::size_t b = 0; b < half; ++b) limits.push_back(outside[b * outside.size() / half]);
    limits.push_back(0);
    for (std::size_t b = 1; b <= half; ++b) {
        limits.push_back(inside[b * inside.size() / half - 1]);
    }
    std::vector<double> marks;
    for (std::size_t b = 0; b < density_mark_count; ++b) {
        marks.push_back((limits[b] + limits[b + 1]) / 2);
    }
    return marks;
}

double inside_probability(std::span<const double> marks, double decision) {
    if (decision < marks.front()) return 0.001;
    const auto above = std::ranges::upper_bound(marks, decision);
    if (above == marks.end()) return 0.999;
    return static_cast<double>(above - marks.begin()) / static_cast<double>(marks.size());
}

}  // namespace mercer
