// Programs without a minimum: hard margins on sets that no plane separates (000, 001). Such a
// program has a direction d to infinity with Qd = 0 and p'd < 0; for a classifier Σ_{y=+1} d_i x_i
// = Σ_{y=−1} d_i x_i is then a point common to both convex hulls.
#include <algorithm>
#include <cmath>

#include "mercer/base/parallel.hpp"
#include "mercer/solver/feasible.hpp"
#include "mercer/solver/methods.hpp"

namespace mercer {
namespace {

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

/// β'Kβ over the rows where β is not zero, and Σ |β_r| √K_rr.
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
            double dot = 0;
            for (std::size_t c = 0; c < m; ++c) {
                dot += static_cast<double>(buffer[r * m + c]) * beta[support[c]];
            }
            const double weight = beta[support[first + r]];
            sum += weight * dot;
            const auto diagonal = static_cast<double>(buffer[r * m + first + r]);
            scale += std::abs(weight) * std::sqrt(std::abs(diagonal));
        }
    }
    return {sum, scale};
}

}  // namespace

template <class T>
std::optional<RecessionDirection> recession_certificate(const DualState<T>& state,
                                                        std::vector<double> d) {
    const CanonicalDual& form = state.form();
    if (!nearest_recession_direction(form, d)) return std::nullopt;
    RecessionDirection result;
    std::vector<double> beta(form.rows, 0.0);
    for (std::size_t i = 0; i < form.variables; ++i) {
        result.slope += form.p[i] * d[i];
        beta[form.row[i]] += form.sign[i] * d[i];
    }
    const auto [curvature, scale] = energy(state.matrix(), beta);
    result.curvature = curvature;

    const bool flat = curvature <= state.recession_tolerance() * scale * scale;
    // A slope that is itself rounding proves nothing.
    double terms = 0;
    for (std::size_t i = 0; i < form.variables; ++i) terms += std::abs(form.p[i] * d[i]);
    if (!flat || !(result.slope < -1e-9 * terms)) return std::nullopt;
    result.direction = std::move(d);
    return result;
}

template <class T>
RunawayWatch<T>::RunawayWatch(const DualState<T>& state) {
    if (!state.form().has_infinite_bounds) return;
    origin_ = state.u();
    next_ = 4 * std::max(largest_unbounded(state), 1e-3);
}

template <class T>
bool RunawayWatch<T>::proves_unbounded(DualState<T>& state) {
    if (origin_.empty()) return false;
    if (state.ray) {
        if (recession_certificate(state, *state.ray)) return true;
        state.ray.reset();
    }
    const double size = largest_unbounded(state);
    if (size < next_) return false;
    next_ = 2 * size;
    // What was added since the last test: the growth without what had settled before it.
    std::vector<double> d = state.u();
    for (std::size_t i = 0; i < d.size(); ++i) d[i] -= origin_[i];
    origin_ = state.u();
    const auto found = recession_certificate(state, std::move(d));
    if (found) state.ray = found->direction;
    return found.has_value();
}

template class RunawayWatch<float>;
template class RunawayWatch<double>;
template std::optional<RecessionDirection> recession_certificate<float>(const DualState<float>&,
                                                                        std::vector<double>);
template std::optional<RecessionDirection> recession_certificate<double>(const DualState<double>&,
                                                                         std::vector<double>);

}  // namespace mercer
