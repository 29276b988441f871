#include "mercer/learn/risk/detail/convex_function.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

double step_at(double z) {
    return 1e-7 * (1 + std::abs(z));
}

std::string at(double y, double z) {
    return "y = " + format_number(y) + ", z = " + format_number(z);
}

/// Brackets of maxima of concave functions h_i of one number, all searched together. `values`
/// writes h_i(v_i).
struct Maxima {
    std::vector<double> low, middle, high;
    std::vector<double> at_low, at_middle, at_high;
};

using Values = std::function<void(std::span<const double> v, std::span<double> out)>;

/// Three places each, the middle one no lower than the others; `at_…` stay infinite steps away
/// where h goes on rising.
Maxima bracket(const Values& h, std::span<const double> near, double least) {
    const std::size_t n = near.size();
    Maxima m;
    m.middle.assign(near.begin(), near.end());
    m.low.resize(n);
    m.high.resize(n);
    m.at_low.resize(n);
    m.at_middle.resize(n);
    m.at_high.resize(n);
    std::vector<double> step(n);
    for (std::size_t i = 0; i < n; ++i) {
        step[i] = 1e-4 * (1 + std::abs(near[i]));
        m.low[i] = std::max(least, near[i] - step[i]);
        m.high[i] = near[i] + step[i];
    }
    h(m.low, m.at_low);
    h(m.middle, m.at_middle);
    h(m.high, m.at_high);
    for (int round = 0; round < 200; ++round) {
        bool moved = false;
        for (std::size_t i = 0; i < n; ++i) {
            const bool left = m.at_low[i] > m.at_middle[i], right = m.at_high[i] > m.at_middle[i];
            if (!left && !right) continue;
            moved = true;
            step[i] *= 2;
            if (right) {
                m.low[i] = m.middle[i];
                m.middle[i] = m.high[i];
                m.high[i] += step[i];
            } else {
                m.high[i] = m.middle[i];
                m.middle[i] = m.low[i];
                m.low[i] = std::max(least, m.low[i] - step[i]);
            }
        }
        if (!moved) break;
        h(m.low, m.at_low);
        h(m.middle, m.at_middle);
        h(m.high, m.at_high);
    }
    return m;
}

/// Narrows the brackets and returns a bound from above on each maximum: a concave function lies, on
/// either side of the middle, below the line through the other two places.
std::vector<double> maxima(const Values& h, std::span<const double> near, double least) {
    Maxima m = bracket(h, near, least);
    const std::size_t n = near.size();
    std::vector<double> trial(n), value(n);
    for (int round = 0; round < 120; ++round) {
        bool any = false;
        for (std::size_t i = 0; i < n; ++i) {
            const double left = m.middle[i] - m.low[i], right = m.high[i] - m.middle[i];
            trial[i] = left > right ? m.middle[i] - 0.4 * left : m.middle[i] + 0.4 * right;
            any = any || left + right > 1e-10 * (1 + std::abs(m.middle[i]));
        }
        if (!any) break;
        h(trial, value);
        for (std::size_t i = 0; i < n; ++i) {
            const bool left = trial[i] < m.middle[i];
            if (value[i] > m.at_middle[i]) {
                (left ? m.high[i] : m.low[i]) = m.middle[i];
                (left ? m.at_high[i] : m.at_low[i]) = m.at_middle[i];
                m.middle[i] = trial[i];
                m.at_middle[i] = value[i];
            } else {
                (left ? m.low[i] : m.high[i]) = trial[i];
                (left ? m.at_low[i] : m.at_high[i]) = value[i];
            }
        }
    }
    std::vector<double> bound(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double left = m.middle[i] - m.low[i], right = m.high[i] - m.middle[i];
        if (m.at_low[i] > m.at_middle[i] || m.at_high[i] > m.at_middle[i]) {
            bound[i] = infinity;
            continue;
        }
        const double up_right = right > 0 ? (m.at_middle[i] - m.at_high[i]) / right * left : 0;
        const double up_left = left > 0 ? (m.at_middle[i] - m.at_low[i]) / left * right : 0;
        // At the least place allowed there is nothing beyond.
        const double beyond = m.low[i] <= least && left == 0 ? 0 : up_left;
        bound[i] = m.at_middle[i] + std::max(up_right, beyond);
    }
    return bound;
}

}  // namespace

void ConvexLoss::values(std::span<const double> y, std::span<const double> z,
                        std::span<double> out) const {
    value_(y, z, out);
    for (std::size_t i = 0; i < z.size(); ++i) {
        if (std::isfinite(out[i])) continue;
        throw InvalidInput("the loss is not finite at " + at(y[i], z[i]) +
                           ": losses are finite for every z");
    }
}

void ConvexLoss::slopes(std::span<const double> y, std::span<const double> z,
                        std::span<double> out) const {
    if (slope_) {
        slope_(y, z, out);
        for (std::size_t i = 0; i < z.size(); ++i) {
            if (std::isfinite(out[i])) continue;
            throw InvalidInput("the slope of the loss is not finite at " + at(y[i], z[i]));
        }
        return;
    }
    std::vector<double> up(z.begin(), z.end()), down(z.begin(), z.end()), below(z.size());
    for (std::size_t i = 0; i < z.size(); ++i) {
        up[i] += step_at(z[i]);
        down[i] -= step_at(z[i]);
    }
    values(y, up, out);
    values(y, down, below);
    for (std::size_t i = 0; i < z.size(); ++i) out[i] = (out[i] - below[i]) / (up[i] - down[i]);
}

namespace {

/// One root of a rising function that is being narrowed down.
struct Root {
    std::size_t row = 0;
    double low = 0, high = 0;
    double at_low = 0, at_high = 0;
    bool halve = false;  ///< the last chord took off less than half

    double width() const { return high - low; }
    bool holds(double place) const { return place > low && place < high; }
    double trial() const {
        const double share = at_low / (at_low - at_high);
        return low + width() * (halve || !(share > 0.001 && share < 0.999) ? 0.5 : share);
    }
    /// By the value at the trial place. Chords go on while they are better than halves: at a kink,
    /// where the function jumps, they are not.
    void narrow(double place, double value) {
        const double before = width();
        (value < 0 ? low : high) = place;
        (value < 0 ? at_low : at_high) = value;
        halve = width() > 0.5 * before;
    }
};

}  // namespace

/// u = z − t ℓ'(u), a root of a rising function, between chords and halves. Rows that are done are
/// not asked for again.
std::vector<double> ConvexLoss::nearest(std::span<const double> y,
                                        std::span<const double> z) const {
    const std::size_t n = z.size();
    std::vector<double> found(n), slope(n), targets(n), trial(n);
    slopes(y, z, slope);
    std::vector<Root> open;
    for (std::size_t i = 0; i < n; ++i) {
        // The slope rises: the root lies between z and z − t ℓ'(z). The value at z is known, at the
        // other end guessed.
        const double shift = t_ * slope[i];
        found[i] = z[i];
        if (shift == 0) continue;
        open.push_back({i, std::min(z[i], z[i] - shift), std::max(z[i], z[i] - shift),
                        -std::abs(shift), std::abs(shift)});
    }
    // Kinks stay where they are: that of the last time is tried first, from both sides.
    if (kinks_.size() != n) kinks_.assign(n, std::numeric_limits<double>::quiet_NaN());
    const double close = 1e-8 * t_;
    for (int round = 0; round < 90 && !open.empty(); ++round) {
        for (std::size_t k = 0; k < open.size(); ++k) {
            targets[k] = y[open[k].row];
            trial[k] = open[k].trial();
            const double beside = kinks_[open[k].row] + (round == 0 ? -0.4 : 0.4) * close;
            if (round < 2 && open[k].holds(beside)) trial[k] = beside;
        }
        const std::size_t count = open.size();
        slopes(std::span(targets).first(count), std::span(trial).first(count),
               std::span(slope).first(count));
        for (std::size_t k = 0; k < count; ++k) {
            Root& root = open[k];
            const double value = trial[k] + t_ * slope[k] - z[root.row];
            root.narrow(trial[k], value);
            found[root.row] = root.low + root.width() / 2;
            if (root.width() <= close && root.at_high - root.at_low > 100 * close) {
                kinks_[root.row] = found[root.row];
            }
            if (value == 0) {
                found[root.row] = trial[k];
                root.high = root.low;
            }
        }
        std::erase_if(open, [close](const Root& root) {
            return !(root.width() > close && root.holds(root.low + root.width() / 2));
        });
    }
    return found;
}

void ConvexLoss::evaluate(std::span<const double> y, std::span<const double> z,
                          std::span<double> value, std::span<double> slope,
                          std::span<double> curvature) const {
    const std::size_t n = z.size();
    const std::vector<double> u = t_ > 0 ? nearest(y, z) : std::vector<double>(z.begin(), z.end());
    if (!value.empty()) {
        values(y, u, value);
        for (std::size_t i = 0; i < n && t_ > 0; ++i) {
            value[i] += (u[i] - z[i]) * (u[i] - z[i]) / (2 * t_);
        }
    }
    if (!slope.empty()) {
        if (t_ > 0) {
            for (std::size_t i = 0; i < n; ++i) slope[i] = (z[i] - u[i]) / t_;
        } else {
            slopes(y, u, slope);
        }
    }
    if (curvature.empty()) return;
    // Wider than slopes by differences are; of an envelope within a kink that has become a ramp of
    // the width t.
    std::vector<double> up(z.begin(), z.end()), down(up), above(n), below(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double h = t_ > 0 ? 0.01 * t_ : slope_ ? step_at(z[i]) : 100 * step_at(z[i]);
        up[i] += h;
        down[i] -= h;
    }
    if (t_ > 0) {
        evaluate(y, up, {}, above, {});
        evaluate(y, down, {}, below, {});
    } else {
        slopes(y, up, above);
        slopes(y, down, below);
    }
    for (std::size_t i = 0; i < n; ++i) {
        const double own = std::max(0.0, (above[i] - below[i]) / (up[i] - down[i]));
        curvature[i] = t_ > 0 ? std::min(own, 1 / t_) : own;
    }
}

void ConvexLoss::check_convex(std::span<const double> y, double low, double high) const {
    constexpr std::size_t places = 201;
    std::vector<double> some(y.begin(), y.end());
    std::ranges::sort(some);
    some.erase(std::unique(some.begin(), some.end()), some.end());
    const std::size_t stride = std::max<std::size_t>(1, some.size() / 20);
    std::vector<double> z(places), value(places);
    for (std::size_t s = 0; s < some.size(); s += stride) {
        const std::vector<double> same(places, some[s]);
        for (std::size_t p = 0; p < places; ++p) {
            z[p] = low + (high - low) * static_cast<double>(p) / (places - 1);
        }
        values(same, z, value);
        double size = 0;
        for (const double v : value) size = std::max(size, std::abs(v));
        for (std::size_t p = 1; p + 1 < places; ++p) {
            if (2 * value[p] <= value[p - 1] + value[p + 1] + 1e-9 * (1e-3 + size)) continue;
            throw InvalidInput("the loss is not convex: at " + at(some[s], z[p]) + " it is " +
                               format_number(value[p]) + ", above the line between " +
                               format_number(value[p - 1]) + " at z = " + format_number(z[p - 1]) +
                               " and " + format_number(value[p + 1]) +
                               " at z = " + format_number(z[p + 1]));
        }
    }
}

void ConvexLoss::conjugates(std::span<const double> y, std::span<const double> a,
                            std::span<const double> near, std::span<double> out) const {
    const Values h = [&](std::span<const double> v, std::span<double> result) {
        values(y, v, result);
        for (std::size_t i = 0; i < v.size(); ++i) result[i] = a[i] * v[i] - result[i];
    };
    const std::vector<double> found = maxima(h, near, -infinity);
    std::ranges::copy(found, out.begin());
}

double Rising::slope(double s) const {
    const double h = step_at(s);
    const double low = std::max(0.0, s - h);
    return (value(s + h) - value(low)) / (s + h - low);
}

bool Rising::check(double high) const {
    constexpr int places = 400;
    double before = 0, last = 0;
    bool convex = true;
    for (int p = 0; p <= places; ++p) {
        const double s = high * p / places;
        const double v = value(s);
        if (v == infinity && p > 0) break;  // beyond all numbers it rises all the same
        if (!std::isfinite(v)) {
            throw InvalidInput("the regulariser is not finite at norm = " + format_number(s));
        }
        const double size = 1e-9 * (1e-6 + std::abs(v));
        if (p > 0 && v < last - size) {
            throw InvalidInput("the regulariser falls from " + format_number(last) + " to " +
                               format_number(v) + " before norm = " + format_number(s) +
                               "; it must rise with the norm");
        }
        if (p > 1 && 2 * last > before + v + 4 * size) convex = false;
        before = last;
        last = v;
    }
    return convex;
}

double Rising::conjugate(double a, double near) const {
    const Values h = [&](std::span<const double> v, std::span<double> result) {
        for (std::size_t i = 0; i < v.size(); ++i) result[i] = a * v[i] - value(v[i]);
    };
    const double places[] = {std::max(near, 0.0)};
    return std::max(-value(0), maxima(h, places, 0).front());
}

}  // namespace mercer
