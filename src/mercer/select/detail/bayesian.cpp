#include "mercer/select/detail/bayesian.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"

namespace mercer {
namespace {

constexpr std::size_t candidates = 1000;

std::vector<double> places_of(const SearchSpace& space, const std::vector<double>& point) {
    std::vector<double> places;
    for (std::size_t a = 0; a < point.size(); ++a) {
        places.push_back(place_on(space.axes()[a], point[a]));
    }
    return places;
}

/// Smooth along each axis with a length of its own.
Kernel covariance(std::size_t axes) {
    std::optional<Kernel> product;
    for (std::size_t a = 0; a < axes; ++a) {
        const Kernel part = matern({.nu = 2.5, .length = 0.4})[columns(a, a + 1)];
        product = product ? *product * part : part;
    }
    return 1.5 * *product;
}

/// Scores with mean 0 and deviation 1; what failed is as bad as the worst.
std::vector<double> standardised(std::vector<double> scores) {
    double worst = std::numeric_limits<double>::infinity();
    for (const double s : scores) worst = std::isnan(s) ? worst : std::min(worst, s);
    for (double& s : scores) s = std::isnan(s) ? worst : s;
    const auto n = static_cast<double>(scores.size());
    const double mean = std::accumulate(scores.begin(), scores.end(), 0.0) / n;
    double squares = 0;
    for (const double s : scores) squares += (s - mean) * (s - mean);
    const double deviation = squares > 0 ? std::sqrt(squares / n) : 1;
    for (double& s : scores) s = (s - mean) / deviation;
    return scores;
}

Rows rows_of(const std::vector<std::vector<double>>& points) {
    std::vector<double> values;
    for (const auto& point : points) values.insert(values.end(), point.begin(), point.end());
    return Rows::dense(std::move(values), points.front().size());
}

/// Points all over the space, and some around the best seen so far.
std::vector<std::vector<double>> draw(const SearchSpace& space, const std::vector<double>& best,
                                      std::uint64_t seed) {
    std::vector<std::vector<double>> points = space.random(candidates, seed);
    Random random(seed, 1);
    const std::vector<double> centre = places_of(space, best);
    for (std::size_t k = 0; k < candidates / 4; ++k) {
        std::vector<double> point;
        const double width = std::pow(10, -1 - 1.5 * random.uniform());
        for (std::size_t a = 0; a < best.size(); ++a) {
            const double place = std::clamp(centre[a] + width * random.normal(), 0.0, 1.0);
            point.push_back(value_at(space.axes()[a], place));
        }
        points.push_back(std::move(point));
    }
    return points;
}

}  // namespace

double place_on(const Axis& axis, double value) {
    if (!axis.range) {
        const auto found = std::ranges::find(axis.values, value);
        const auto last = static_cast<double>(std::max<std::size_t>(axis.values.size(), 2) - 1);
        return static_cast<double>(found - axis.values.begin()) / last;
    }
    const double low = axis.values.front();
    const double high = axis.values.back();
    if (low == high) return 0;
    if (axis.logarithmic) return std::log(value / low) / std::log(high / low);
    return (value - low) / (high - low);
}

double value_at(const Axis& axis, double place) {
    if (!axis.range) {
        const auto last = static_cast<double>(axis.values.size() - 1);
        return axis.values[static_cast<std::size_t>(std::lround(place * last))];
    }
    const double low = axis.values.front();
    const double high = axis.values.back();
    const double value = axis.logarithmic ? low * std::exp(place * std::log(high / low))
                                          : low + place * (high - low);
    return std::clamp(value, std::min(low, high), std::max(low, high));
}

double expected_improvement(double mean, double deviation, double best) {
    if (!(deviation > 0)) return std::max(0.0, mean - best);
    const double z = (mean - best) / deviation;
    const double density = std::exp(-0.5 * z * z) / std::sqrt(2 * std::numbers::pi);
    return (mean - best) * 0.5 * std::erfc(-z / std::numbers::sqrt2) + deviation * density;
}

std::vector<double> propose(const SearchSpace& space, const std::vector<std::vector<double>>& seen,
                            const std::vector<double>& scores, std::uint64_t seed) {
    std::vector<std::vector<double>> places;
    for (const auto& point : seen) places.push_back(places_of(space, point));
    Dataset data;
    data.x = rows_of(places);
    data.y.values = standardised(scores);
    const auto best =
        static_cast<std::size_t>(std::ranges::max_element(data.y.values) - data.y.values.begin());
    GaussianProcessSettings settings{.noise = 0.05, .optimise = true, .iteration_limit = 40};
    settings.common.kernel = covariance(space.axes().size());
    settings.common.double_precision = true;
    const Model process = gaussian_process(settings).fit(data);
    // Scores are noisy: the best is the highest mean at a point seen, not the luckiest score.
    const Matrix<double> at_seen = process.decision(data.x);
    const double highest = *std::ranges::max_element(at_seen.values());

    std::vector<std::vector<double>> points = draw(space, seen[best], seed);
    std::vector<std::vector<double>> there;
    for (const auto& point : points) there.push_back(places_of(space, point));
    const Rows x = rows_of(there);
    const Matrix<double> mean = process.decision(x);
    const std::vector<double> deviation = predictive_deviation(process, x);
    std::size_t chosen = points.size();
    double most = -1;
    for (std::size_t k = 0; k < points.size(); ++k) {
        if (std::ranges::find(seen, points[k]) != seen.end()) continue;
        const double gain = expected_improvement(mean(k, 0), deviation[k], highest);
        if (gain > most) {
            most = gain;
            chosen = k;
        }
    }
    return chosen < points.size() ? points[chosen] : std::vector<double>{};
}

}  // namespace mercer
