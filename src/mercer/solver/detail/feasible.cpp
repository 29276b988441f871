#include "mercer/solver/detail/feasible.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

constexpr double relative_slack = 1e-12;  ///< of the sums' size, forgiven as rounding

/// Some variables with the one or two equalities they share; the others are held fixed.
struct Share {
    std::vector<std::size_t> index;
    std::vector<double> start, low, high;
    std::array<std::vector<double>, 2> a;
    std::array<double, 2> b{};
    std::size_t equalities = 1;

    double at(std::size_t i, double theta1, double theta2) const {
        double value = start[i] + theta1 * a[0][i];
        if (equalities == 2) value += theta2 * a[1][i];
        return std::clamp(value, low[i], high[i]);
    }
};

struct Range {
    double low = 0;
    double high = 0;
    double scale = 0;  ///< size of the finite terms, for tolerances
};

Range range_of(const Share& share, double weight1, double weight2) {
    Range range;
    for (std::size_t i = 0; i < share.index.size(); ++i) {
        double a = weight1 * share.a[0][i];
        if (share.equalities == 2) a += weight2 * share.a[1][i];
        if (a == 0) continue;
        const double one = a * share.low[i];
        const double other = a * share.high[i];
        range.low += std::min(one, other);
        range.high += std::max(one, other);
        for (const double term : {one, other, a * share.start[i]}) {
            if (std::isfinite(term)) range.scale += std::abs(term);
        }
    }
    return range;
}

struct Sample {
    double value = 0;  ///< of an increasing function whose root is wanted
    double slope = 0;
};

/// The root of an increasing, piecewise linear function, by Newton steps kept inside a bracket.
/// Nothing when the function keeps its sign however far one goes, or `give_up` says so.
template <class Function, class GiveUp>
std::optional<double> increasing_root(Function f, GiveUp give_up, double slack) {
    double x = 0;
    Sample s = f(x);
    if (std::abs(s.value) <= slack) return x;
    const double sign = s.value < 0 ? 1 : -1;
    double inside = 0;  // the end of the bracket where f still has its first sign
    double step = s.slope > 0 ? std::abs(s.value) / s.slope : 1.0;
    for (;; step *= 2) {
        if (step > 1e300) return std::nullopt;
        x = sign * step;
        s = f(x);
        if (std::abs(s.value) <= slack) return x;
        if (s.value * sign > 0) break;
        inside = x;
        if (give_up(x)) return std::nullopt;
    }
    double low = std::min(inside, x);
    double high = std::max(inside, x);
    for (int i = 0; i < 300 && std::abs(s.value) > slack; ++i) {
        (s.value > 0 ? high : low) = x;
        const double newton = s.slope > 0 ? x - s.value / s.slope : high;
        // Every third step halves: Newton alone may creep along the breakpoints.
        x = newton > low && newton < high && i % 3 != 2 ? newton : low + 0.5 * (high - low);
        if (x == low || x == high) break;
        s = f(x);
    }
    return x;
}

double shift_for_first(const Share& share, double theta2, double slack) {
    const auto f = [&](double theta1) {
        Sample s{.value = -share.b[0], .slope = 0};
        for (std::size_t i = 0; i < share.index.size(); ++i) {
            const double a = share.a[0][i];
            if (a == 0) continue;
            const double u = share.at(i, theta1, theta2);
            s.value += a * u;
            if (u > share.low[i] && u < share.high[i]) s.slope += a * a;
        }
        return s;
    };
    return increasing_root(
               f, [](double) { return false; }, slack)
        .value_or(0.0);
}

/// Both shifts: for each θ2 the first equality is kept exactly by its own θ1, which leaves one
/// increasing function of θ2.
std::optional<std::array<double, 2>> both_shifts(const Share& share, double slack1, double slack2,
                                                 std::array<double, 2>& last) {
    const auto f = [&](double theta2) {
        const double theta1 = shift_for_first(share, theta2, slack1 * 0.01);
        last = {theta1, theta2};
        Sample s{.value = -share.b[1], .slope = 0};
        double a11 = 0, a12 = 0, a22 = 0;
        for (std::size_t i = 0; i < share.index.size(); ++i) {
            const double u = share.at(i, theta1, theta2);
            const double a1 = share.a[0][i];
            const double a2 = share.a[1][i];
            s.value += a2 * u;
            if (u <= share.low[i] || u >= share.high[i]) continue;
            a11 += a1 * a1;
            a12 += a1 * a2;
            a22 += a2 * a2;
        }
        s.slope = a11 > 0 ? a22 - a12 * a12 / a11 : a22;
        return s;
    };
    const auto proved_impossible = [&](double) {
        const double size = std::hypot(last[0], last[1]);
        const double w1 = last[0] / size;
        const double w2 = last[1] / size;
        const Range range = range_of(share, w1, w2);
        return w1 * share.b[0] + w2 * share.b[1] > range.high + relative_slack * range.scale;
    };
    const std::optional<double> theta2 = increasing_root(f, proved_impossible, slack2);
    if (!theta2) return std::nullopt;
    return std::array{shift_for_first(share, *theta2, slack1 * 0.01), *theta2};
}

Infeasibility explain(const CanonicalDual& form, const Share& share,
                      const std::array<double, 2>& weight, std::size_t first_equality) {
    Infeasibility why;
    const Range range = range_of(share, weight[0], weight[1]);
    why.wanted = weight[0] * share.b[0] + (share.equalities == 2 ? weight[1] * share.b[1] : 0);
    why.attainable_low = range.low;
    why.attainable_high = range.high;
    std::string weights;
    for (std::size_t k = 0; k < form.given; ++k) {
        double c = form.basis[k][first_equality] * weight[0];
        if (share.equalities == 2) c += form.basis[k][1] * weight[1];
        why.combination.push_back(c);
        weights += (k == 0 ? "" : " and ") + format_number(c);
    }
    why.explanation = "the equalities, taken with weight " + weights + ", ask for " +
                      format_number(why.wanted) + "; within the bounds only [" +
                      format_number(range.low) + ", " + format_number(range.high) +
                      "] can be reached";
    return why;
}

/// Meets the equalities within the share. `why` is filled only when it is not null and they cannot.
bool settle(const CanonicalDual& form, Share& share, std::size_t first_equality,
            std::vector<double>& u, std::optional<Infeasibility>* why) {
    std::array<double, 2> slack{};
    bool settled = true;
    for (std::size_t k = 0; k < share.equalities; ++k) {
        const std::array<double, 2> weight = {k == 0 ? 1.0 : 0.0, k == 0 ? 0.0 : 1.0};
        const Range range = range_of(share, weight[0], weight[1]);
        const double forgiven = relative_slack * (range.scale + std::abs(share.b[k]));
        slack[k] = 1e-3 * forgiven;
        if (share.b[k] > range.high + forgiven || share.b[k] < range.low - forgiven) {
            if (why != nullptr) *why = explain(form, share, weight, first_equality);
            return false;
        }
        share.b[k] = std::clamp(share.b[k], range.low, range.high);
        double now = -share.b[k];
        for (std::size_t i = 0; i < share.index.size(); ++i) now += share.a[k][i] * share.start[i];
        settled = settled && std::abs(now) <= forgiven;
    }
    // A point that is feasible up to rounding stays: what sits at a bound must go on sitting there.
    if (settled) return true;
    std::array<double, 2> theta{};
    if (share.equalities == 1) {
        theta[0] = shift_for_first(share, 0, slack[0]);
    } else {
        std::array<double, 2> last{};
        const auto both = both_shifts(share, slack[0], slack[1], last);
        if (!both) {
            const double size = std::hypot(last[0], last[1]);
            if (why != nullptr) {
                *why = explain(form, share, {last[0] / size, last[1] / size}, first_equality);
            }
            return false;
        }
        theta = *both;
    }
    for (std::size_t i = 0; i < share.index.size(); ++i) {
        u[share.index[i]] = share.at(i, theta[0], theta[1]);
    }
    return true;
}

double coefficient(const CanonicalDual& form, std::size_t i, std::size_t k) {
    if (form.general) return form.column[i][k];
    return form.group[i] == k + 1 ? 1.0 : 0.0;
}

/// The share of `movable` (all variables of the equalities [first, first + count)), with what the
/// other variables contribute taken off the targets.
Share share_of(const CanonicalDual& form, const std::vector<double>& u,
               const std::vector<std::size_t>& movable, const std::vector<char>& moves,
               std::size_t first, std::size_t count) {
    Share share;
    share.equalities = count;
    for (std::size_t k = 0; k < count; ++k) share.b[k] = form.target[first + k];
    for (const std::size_t i : movable) {
        if (!moves[i]) {
            for (std::size_t k = 0; k < count; ++k) {
                share.b[k] -= coefficient(form, i, first + k) * u[i];
            }
            continue;
        }
        share.index.push_back(i);
        share.start.push_back(u[i]);
        share.low.push_back(form.lower[i]);
        share.high.push_back(form.upper[i]);
        for (std::size_t k = 0; k < count; ++k) {
            share.a[k].push_back(coefficient(form, i, first + k));
        }
    }
    return share;
}

/// Positions 0 … n−1 in an order that jumps through the set, so that the first few of a file sorted
/// by class are not all of one class.
std::vector<std::size_t> scattered(std::size_t n) {
    std::vector<std::size_t> order(n);
    std::size_t stride =
        std::max<std::size_t>(1, static_cast<std::size_t>(0.618 * static_cast<double>(n)));
    while (std::gcd(stride, n) > 1) ++stride;
    for (std::size_t k = 0, at = 0; k < n; ++k, at = (at + stride) % n) order[k] = at;
    return order;
}

/// One independent set of equalities: [first, first + count).
std::optional<Infeasibility> settle_sparsely(const CanonicalDual& form, std::vector<double>& u,
                                             std::size_t first, std::size_t count) {
    std::vector<std::size_t> members;
    for (std::size_t i = 0; i < form.variables; ++i) {
        if (form.general || form.group[i] == first + 1) members.push_back(i);
    }
    std::vector<std::size_t> waiting;
    std::vector<char> moves(form.variables, 0);
    std::size_t moving = 0;
    for (const std::size_t k : scattered(members.size())) {
        const std::size_t i = members[k];
        moves[i] = u[i] != form.rest(i);
        moving += moves[i] != 0 ? 1 : 0;
        if (!moves[i]) waiting.push_back(i);
    }
    for (std::size_t next = 0;;) {
        Share share = share_of(form, u, members, moves, first, count);
        std::optional<Infeasibility> why;
        const bool everything = next == waiting.size();
        if (settle(form, share, first, u, everything ? &why : nullptr)) return std::nullopt;
        if (everything) return why;
        const std::size_t more = std::max<std::size_t>(64, moving);
        for (std::size_t k = 0; k < more && next < waiting.size(); ++k) moves[waiting[next++]] = 1;
        moving += more;
    }
}

std::optional<Infeasibility> settle_all(const CanonicalDual& form, std::vector<double>& u) {
    if (form.equalities == 0) return std::nullopt;
    if (form.general) return settle_sparsely(form, u, 0, form.equalities);
    for (std::size_t g = 0; g < form.equalities; ++g) {
        if (auto why = settle_sparsely(form, u, g, 1)) return why;
    }
    return std::nullopt;
}

/// Σ a_i u_i − target, and the size below which that is no more than rounding.
std::pair<double, double> residual_of(const CanonicalDual& form, const std::vector<double>& u,
                                      std::size_t k) {
    double sum = -form.target[k];
    double scale = std::abs(sum);
    for (std::size_t i = 0; i < form.variables; ++i) {
        sum += coefficient(form, i, k) * u[i];
        scale += std::abs(coefficient(form, i, k) * u[i]);
    }
    return {sum, 1e-14 * scale};
}

/// The free variable with the largest weight × distance to its bounds; `variables` when none has.
template <class Weight>
std::size_t roomiest(const CanonicalDual& form, const std::vector<double>& u, Weight weight) {
    std::size_t best = form.variables;
    double most = 0;
    for (std::size_t i = 0; i < form.variables; ++i) {
        const double room = std::min(u[i] - form.lower[i], form.upper[i] - u[i]);
        const double score = room > 0 ? std::min(room, 1e300) * weight(i) : 0;
        if (score <= most) continue;
        most = score;
        best = i;
    }
    return best;
}

void polish_general(const CanonicalDual& form, std::vector<double>& u) {
    const auto [r1, noise1] = residual_of(form, u, 0);
    const auto [r2, noise2] =
        form.equalities == 2 ? residual_of(form, u, 1) : std::pair<double, double>{};
    if (std::abs(r1) <= noise1 && std::abs(r2) <= noise2) return;
    const std::size_t n = form.variables;
    const std::size_t i = roomiest(form, u, [&](std::size_t k) {
        return std::max(std::abs(form.column[k][0]), std::abs(form.column[k][1]));
    });
    if (i == n) return;
    const double a1 = form.column[i][0];
    const double a2 = form.column[i][1];
    std::size_t j = i;
    double di = 0, dj = 0;
    if (form.equalities == 1) {
        di = -r1 / a1;
    } else {
        const auto cross = [&](std::size_t k) {
            return a1 * form.column[k][1] - a2 * form.column[k][0];
        };
        j = roomiest(form, u, [&](std::size_t k) { return std::abs(cross(k)); });
        if (j == n) return;
        di = -(r1 * form.column[j][1] - r2 * form.column[j][0]) / cross(j);
        dj = -(r2 * a1 - r1 * a2) / cross(j);
    }
    const auto inside = [&](std::size_t k, double by) {
        return u[k] + by > form.lower[k] && u[k] + by < form.upper[k];
    };
    if (!inside(i, di) || !inside(j, dj)) return;
    u[i] += di;
    if (j != i) u[j] += dj;
}

}  // namespace

std::optional<Infeasibility> make_feasible(const CanonicalDual& form, std::vector<double>& u) {
    for (std::size_t i = 0; i < form.variables; ++i) {
        u[i] = std::clamp(u[i], form.lower[i], form.upper[i]);
    }
    return settle_all(form, u);
}

double equality_residual(const CanonicalDual& form, const std::vector<double>& u) {
    double worst = 0;
    for (std::size_t k = 0; k < form.equalities; ++k) {
        worst = std::max(worst, std::abs(residual_of(form, u, k).first));
    }
    return worst;
}

void polish_equalities(const CanonicalDual& form, std::vector<double>& u) {
    if (form.general) {
        polish_general(form, u);
        return;
    }
    for (std::size_t k = 0; k < form.equalities; ++k) {
        const auto [residual, noise] = residual_of(form, u, k);
        const std::size_t i =
            roomiest(form, u, [&](std::size_t j) { return form.group[j] == k + 1 ? 1.0 : 0.0; });
        if (i == form.variables || std::abs(residual) <= noise) continue;
        const double moved = u[i] - residual;
        if (moved > form.lower[i] && moved < form.upper[i]) u[i] = moved;
    }
}

bool nearest_recession_direction(const CanonicalDual& form, std::vector<double>& d) {
    CanonicalDual cone = form;
    cone.target = {};
    for (std::size_t i = 0; i < form.variables; ++i) {
        cone.lower[i] = std::isfinite(form.lower[i]) ? 0 : -infinity;
        cone.upper[i] = std::isfinite(form.upper[i]) ? 0 : infinity;
    }
    if (make_feasible(cone, d)) return false;
    double size = 0;
    for (const double x : d) size += std::abs(x);
    if (!(size > 0) || !std::isfinite(size)) return false;
    for (double& x : d) x /= size;
    return true;
}

}  // namespace mercer
