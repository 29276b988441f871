#include "mercer/kernel/leaf/generative/detail/mixture.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"

namespace mercer::leaves {
namespace {

using Row = std::span<const double>;

/// A variance is at least this share of its column's: a component that shrinks to one row would
/// have an infinite density there.
constexpr double least_variance = 1e-4;
constexpr std::size_t grain = 1024;  // rows whose sums are taken together

/// log p(x), and the share that each component has in it.
double shares_of(const Mixture& m, Row x, std::vector<double>& shares) {
    const std::size_t parts = m.weights.size();
    shares.resize(parts);
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < parts; ++k) {
        double log = std::log(m.weights[k]);
        for (std::size_t c = 0; c < x.size(); ++c) {
            const double gap = x[c] - m.means(k, c);
            const double variance = m.variances(k, c);
            log -= (std::log(2 * std::numbers::pi * variance) + gap * gap / variance) / 2;
        }
        shares[k] = log;
        most = std::max(most, log);
    }
    double sum = 0;
    for (double& share : shares) sum += share = std::exp(share - most);
    for (double& share : shares) share /= sum;
    return most + std::log(sum);
}

double squared_distance(Row a, Row b) {
    double sum = 0;
    for (std::size_t c = 0; c < a.size(); ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

/// Rows drawn with chances as the squared distance to the nearest drawn so far [Arthur and
/// Vassilvitskii 2007].
std::vector<std::size_t> far_apart(const std::vector<Row>& rows, std::size_t count,
                                   Random& random) {
    std::vector<std::size_t> drawn{random.below(rows.size())};
    std::vector<double> nearest(rows.size(), std::numeric_limits<double>::infinity());
    while (drawn.size() < count) {
        double sum = 0;
        for (std::size_t i = 0; i < rows.size(); ++i) {
            nearest[i] = std::min(nearest[i], squared_distance(rows[i], rows[drawn.back()]));
            sum += nearest[i];
        }
        double left = random.uniform() * sum;
        std::size_t next = 0;
        while (next + 1 < rows.size() && (left -= nearest[next]) >= 0) ++next;
        drawn.push_back(next);
    }
    return drawn;
}

/// Sums over rows of shares, shares × x and shares × x² (about the columns' means), and of log p.
struct Sums {
    std::vector<double> share{};
    std::vector<double> first{};
    std::vector<double> second{};
    double log = 0;
};

Sums expectation(const Mixture& m, const std::vector<Row>& rows,
                 const std::vector<double>& centre) {
    const std::size_t parts = m.weights.size();
    const std::size_t d = m.columns();
    const auto empty = [&] {
        return Sums{std::vector<double>(parts, 0.0), std::vector<double>(parts * d, 0.0),
                    std::vector<double>(parts * d, 0.0), 0};
    };
    std::vector<Sums> pieces((rows.size() + grain - 1) / grain);
    parallel_ranges(rows.size(), grain, [&](std::size_t first, std::size_t last) {
        Sums sums = empty();
        std::vector<double> shares;
        for (std::size_t i = first; i < last; ++i) {
            sums.log += shares_of(m, rows[i], shares);
            for (std::size_t k = 0; k < parts; ++k) {
                sums.share[k] += shares[k];
                for (std::size_t c = 0; c < d; ++c) {
                    const double gap = rows[i][c] - centre[c];
                    sums.first[k * d + c] += shares[k] * gap;
                    sums.second[k * d + c] += shares[k] * gap * gap;
                }
            }
        }
        pieces[first / grain] = std::move(sums);
    });
    Sums all = empty();
    for (const Sums& piece : pieces) {
        for (std::size_t k = 0; k < parts; ++k) all.share[k] += piece.share[k];
        for (std::size_t k = 0; k < parts * d; ++k) {
            all.first[k] += piece.first[k];
            all.second[k] += piece.second[k];
        }
        all.log += piece.log;
    }
    return all;
}

}  // namespace

double Mixture::score(Row x, std::vector<double>& slopes) const {
    if (x.size() != columns()) {
        throw InvalidInput("a mixture of Gaussians with means of " + std::to_string(columns()) +
                           " columns meets a row of " + std::to_string(x.size()));
    }
    const std::size_t parts = weights.size();
    const std::size_t d = columns();
    std::vector<double> shares;
    const double log = shares_of(*this, x, shares);
    double total = 0;
    for (const double weight : weights) total += weight;
    slopes.assign(parts * (1 + 2 * d), 0.0);
    for (std::size_t k = 0; k < parts; ++k) {
        slopes[k] = shares[k] - weights[k] / total;
        for (std::size_t c = 0; c < d; ++c) {
            const double gap = x[c] - means(k, c);
            const double variance = variances(k, c);
            slopes[parts + k * d + c] = shares[k] * gap / variance;
            slopes[parts + (parts + k) * d + c] =
                shares[k] * (gap * gap / variance - 1) / std::sqrt(variance);
        }
    }
    return log;
}

Mixture fit_mixture(const std::vector<Row>& rows, const EmSettings& settings) {
    const std::size_t parts = settings.parts;
    if (rows.size() < parts) {
        throw InvalidInput("gmm(components=" + std::to_string(parts) + ") cannot be fitted to " +
                           std::to_string(rows.size()) + " rows; take fewer components");
    }
    const std::size_t d = rows.front().size();
    const auto n = static_cast<double>(rows.size());
    std::vector<double> centre(d, 0.0);
    std::vector<double> spread(d, 0.0);
    for (const Row row : rows) {
        for (std::size_t c = 0; c < d; ++c) centre[c] += row[c] / n;
    }
    for (const Row row : rows) {
        for (std::size_t c = 0; c < d; ++c) {
            spread[c] += (row[c] - centre[c]) * (row[c] - centre[c]) / n;
        }
    }
    for (double& v : spread) v = v > 0 ? v : 1;  // a constant column tells nothing
    Mixture m{std::vector<double>(parts, 1 / static_cast<double>(parts)), Matrix<double>(parts, d),
              Matrix<double>(parts, d)};
    Random random(settings.seed);
    const std::vector<std::size_t> first = far_apart(rows, parts, random);
    for (std::size_t k = 0; k < parts; ++k) {
        std::ranges::copy(rows[first[k]], m.means.row(k).begin());
        std::ranges::copy(spread, m.variances.row(k).begin());
    }
    double before = -std::numeric_limits<double>::infinity();
    for (std::size_t round = 0; round < settings.iterations; ++round) {
        const Sums sums = expectation(m, rows, centre);
        for (std::size_t k = 0; k < parts; ++k) {
            // A component that no row belongs to keeps its place and next to no weight.
            const double share = std::max(sums.share[k], 1e-10);
            m.weights[k] = share / n;
            for (std::size_t c = 0; c < d && sums.share[k] > 1e-10; ++c) {
                const double mean = sums.first[k * d + c] / share;
                m.means(k, c) = centre[c] + mean;
                m.variances(k, c) = std::max(sums.second[k * d + c] / share - mean * mean,
                                             least_variance * spread[c]);
            }
        }
        double total = 0;
        for (const double weight : m.weights) total += weight;
        for (double& weight : m.weights) weight /= total;
        if (sums.log - before <= 1e-8 * std::fabs(sums.log)) break;
        before = sums.log;
    }
    return m;
}

}  // namespace mercer::leaves
