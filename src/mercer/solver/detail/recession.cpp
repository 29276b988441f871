// Programs without a minimum: hard margins on sets that no plane separates (000, 001). Such a
// program has a direction d to infinity with Qd = 0 and p'd < 0; for a classifier Σ_{y=+1} d_i x_i
// = Σ_{y=−1} d_i x_i is then a point common to both convex hulls. That d'Qd is small is no proof:
// sets a small distance apart have a minimum, far away.
#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "mercer/base/parallel.hpp"
#include "mercer/solver/detail/feasible.hpp"
#include "mercer/solver/detail/methods.hpp"

namespace mercer {
namespace {

/// A hard margin whose dual grows along a direction as flat as this is left to the hulls.
constexpr double nearly_flat = 1e-6;
/// And has none that could be found when they cannot be told from touching ones to this part.
constexpr double lost_in_rounding = 1e-9;
/// What entries in double precision are known to, at best.
constexpr double entry_precision = 1e-14;

template <class T>
double largest_unbounded(const DualState<T>& state) {
    const CanonicalDual& form = state.form();
    double size = 0;
    for (std::size_t i = 0; i < form.variables; ++i) {
        if (std::isfinite(form.lower[i]) && std::isfinite(form.upper[i])) continue;
        size = std::max(size, std::abs(state.u()[i]));
    }
    return size;
}

/// Whether so many steps have been taken that the hulls are the shorter way, and have a chance.
template <class T>
bool creeping(const DualState<T>& state) {
    const std::size_t n = state.form().variables;
    if (state.steps < 20'000 + 100 * n) return false;
    const auto support = std::ranges::count_if(state.u(), [](double u) { return u != 0; });
    return static_cast<std::size_t>(support) <= HullLimits{}.corral;
}

/// β'Kβ over the rows where β is not zero, and Σ |β_r β_s K_rs|.
template <class T>
std::pair<double, double> energy(const SymmetricOperator<T>& k, const std::vector<double>& beta) {
    std::vector<std::size_t> support;
    for (std::size_t r = 0; r < beta.size(); ++r) {
        if (beta[r] != 0) support.push_back(r);
    }
    const std::size_t m = support.size();
    const std::size_t block =
        std::max<std::size_t>(1, (std::size_t{1} << 22) / std::max<std::size_t>(m, 1));
    std::vector<T> buffer;
    double sum = 0;
    double scale = 0;
    for (std::size_t first = 0; first < m; first += block) {
        const std::size_t count = std::min(block, m - first);
        buffer.resize(count * m);
        k.tile(std::span(support).subspan(first, count), support,
               MatrixView<T>(buffer.data(), count, m));
        for (std::size_t r = 0; r < count; ++r) {
            double dot = 0, size = 0;
            for (std::size_t c = 0; c < m; ++c) {
                const double term = static_cast<double>(buffer[r * m + c]) * beta[support[c]];
                dot += term;
                size += std::abs(term);
            }
            const double weight = beta[support[first + r]];
            sum += weight * dot;
            scale += std::abs(weight) * size;
        }
    }
    return {sum, scale};
}

}  // namespace

template <class T>
std::optional<RecessionDirection> recession_certificate(const DualState<T>& state,
                                                        std::vector<double> d, double flat) {
    const CanonicalDual& form = state.form();
    if (!nearest_recession_direction(form, d)) return std::nullopt;
    RecessionDirection result;
    std::vector<double> beta(form.rows, 0.0);
    for (std::size_t i = 0; i < form.variables; ++i) {
        result.slope += form.p[i] * d[i];
        beta[form.row[i]] += form.sign[i] * d[i];
    }
    std::tie(result.curvature, result.scale) = energy(state.matrix(), beta);
    // A slope that is itself rounding proves nothing.
    double terms = 0;
    for (std::size_t i = 0; i < form.variables; ++i) terms += std::abs(form.p[i] * d[i]);
    if (result.curvature > flat * result.scale || !(result.slope < -1e-9 * terms)) {
        return std::nullopt;
    }
    result.direction = std::move(d);
    return result;
}

template <class T>
RunawayWatch<T>::RunawayWatch(const DualState<T>& state) {
    if (!state.form().has_infinite_bounds) return;
    hulls_ = hulls_of(state.form());
    origin_.assign(state.u().size(), 0.0);
    if (!hulls_) origin_ = state.u();
    // Where a hard margin begins far out it may have begun with a proof.
    const double size = largest_unbounded(state);
    next_ = hulls_ && size > 0 ? size : 4 * std::max(size, 1e-3);
}

/// What was added since the last test: the growth without what had settled before it.
template <class T>
std::vector<double> RunawayWatch<T>::growth(const DualState<T>& state) {
    std::vector<double> d = state.u();
    for (std::size_t i = 0; i < d.size(); ++i) d[i] -= origin_[i];
    origin_ = state.u();
    return d;
}

template <class T>
std::optional<DualStatus> RunawayWatch<T>::look(DualState<T>& state) {
    moved_ = false;
    if (origin_.empty()) return std::nullopt;
    if (settled_) return DualStatus::stalled;
    const double size = largest_unbounded(state);
    const bool creeps = hulls_ && creeping(state);
    if (!state.ray && size < next_ && !creeps) return std::nullopt;
    std::vector<double> d;
    if (state.ray) {
        d = std::move(*state.ray);
        state.ray.reset();
    } else {
        next_ = 2 * size;
        d = growth(state);
    }
    const double proof = state.recession_tolerance();
    auto found = recession_certificate(state, std::move(d), hulls_ ? nearly_flat : proof);
    if (hulls_ && (found || creeps)) {
        const HullPoints points = nearest_points(state);
        if (points.end != HullEnd::limit) {
            settle(state, points);
            return moved_ ? std::nullopt : std::optional(DualStatus::unbounded);
        }
        hulls_.reset();  // there are too many vectors for it
        if (found) found = recession_certificate(state, std::move(found->direction), proof);
    }
    if (!found) return std::nullopt;
    state.ray = std::move(found->direction);
    return DualStatus::unbounded;
}

template <class T>
HullPoints RunawayWatch<T>::nearest_points(DualState<T>& state) const {
    const DualSettings& settings = state.settings();
    HullLimits limits;
    limits.tolerance = 0.1 * settings.tolerance;
    limits.nothing = settings.recession_tolerance > 0
                         ? settings.recession_tolerance
                         : std::max<double>(entry_precision, std::numeric_limits<T>::epsilon());
    limits.go_on = [&state] { return !state.report(state.measure()); };
    HullPoints found = nearest_hull_points(state.matrix(), *hulls_, limits, state.u());
    state.steps += found.cycles;
    return found;
}

/// Moves u there, or notes the ray when there is nowhere to go.
template <class T>
void RunawayWatch<T>::settle(DualState<T>& state, const HullPoints& found) {
    std::vector<double> u = found.weights;
    for (std::size_t i = 0; i < u.size(); ++i) u[i] *= hulls_->direction[i];
    const bool hidden = found.squared_distance <= lost_in_rounding * found.scale * found.scale;
    if (found.end == HullEnd::met || (found.end == HullEnd::rounding && hidden)) {
        state.ray = std::move(u);
        return;
    }
    const double length =
        hulls_->pull * static_cast<double>(hulls_->sides) / found.squared_distance;
    std::vector<std::size_t> which;
    std::vector<double> values;
    for (std::size_t i = 0; i < u.size(); ++i) {
        if (length * u[i] == state.u()[i]) continue;
        which.push_back(i);
        values.push_back(length * u[i]);
    }
    state.move(which, values);
    moved_ = settled_ = true;
}

template class RunawayWatch<float>;
template class RunawayWatch<double>;
template std::optional<RecessionDirection> recession_certificate<float>(const DualState<float>&,
                                                                        std::vector<double>,
                                                                        double);
template std::optional<RecessionDirection> recession_certificate<double>(const DualState<double>&,
                                                                         std::vector<double>,
                                                                         double);

}  // namespace mercer
