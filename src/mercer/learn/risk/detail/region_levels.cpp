#include "mercer/learn/risk/detail/region_levels.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace mercer {

Ordered ordered(const Sample& sample, std::span<const double> f) {
    Ordered result{.order = std::vector<std::size_t>(f.size())};
    std::iota(result.order.begin(), result.order.end(), std::size_t{0});
    std::ranges::sort(result.order, {}, [&](std::size_t i) { return f[i]; });
    for (std::size_t i = 0; i < f.size(); ++i) result.total += sample.weight(i);
    return result;
}

std::size_t first_inside(const Sample& sample, std::span<const double> f, const Ordered& o,
                         double outside, double same) {
    double weight = 0;
    std::size_t next = 0;
    while (next < o.order.size()) {
        std::size_t end = next;
        double group = 0;
        do {
            group += sample.weight(o.order[end++]);
        } while (end < o.order.size() && f[o.order[end]] - f[o.order[end - 1]] <= same);
        if (end == o.order.size() || weight + group > outside * o.total * (1 + 1e-12)) break;
        weight += group;
        next = end;
    }
    return next;
}

RegionValues region_values(const Sample& sample, std::span<const double> shares,
                           std::span<const double> f, double squared_norm) {
    const auto q = static_cast<double>(shares.size());
    RegionValues v{.primal = 0.5 * q * squared_norm, .dual = -0.5 * q * squared_norm};
    const Ordered o = ordered(sample, f);
    for (const double share : shares) {
        const double nu = 1 - share;
        const double rho = f[o.order[first_inside(sample, f, o, nu)]];
        v.primal -= rho;
        for (std::size_t i = 0; i < f.size(); ++i) {
            v.primal += sample.weight(i) / (nu * o.total) * std::max(0.0, rho - f[i]);
        }
    }
    return v;
}

double region_infeasibility(const Sample& sample, std::span<const double> shares,
                            std::span<const double> gamma) {
    std::vector<double> bounds;
    for (const double share : shares) bounds.push_back(1 / (1 - share));
    std::ranges::sort(bounds);
    double total = 0, sum = 0, worst = 0, bound = 0;
    for (std::size_t i = 0; i < gamma.size(); ++i) {
        total += sample.weight(i);
        sum += gamma[i];
        worst = std::max(worst, -gamma[i]);
    }
    worst = std::max(worst, std::abs(sum - static_cast<double>(shares.size())));
    for (std::size_t s = 0; s < bounds.size(); ++s) {
        bound += bounds[s];
        double most = 0;
        for (std::size_t i = 0; i < gamma.size(); ++i) {
            most += std::min(gamma[i], sample.weight(i) / total * bound);
        }
        worst = std::max(worst, static_cast<double>(s + 1) - most);
    }
    return worst;
}

}  // namespace mercer
