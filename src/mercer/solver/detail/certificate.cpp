#include "mercer/solver/detail/certificate.hpp"
#include "mercer/base/detail/infinity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mercer {
namespace {

Multipliers group_multipliers(const CanonicalDual& form, std::span<const double> u,
                              std::span<const double> gradient) {
    Multipliers mu;
    mu.low = {-infinity, -infinity};
    mu.high = {infinity, infinity};
    std::array<double, 2> sum{};
    std::array<double, 2> count{};
    for (std::size_t i = 0; i < form.variables; ++i) {
        if (form.group[i] == 0) continue;
        const std::size_t g = form.group[i] - std::size_t{1};
        const bool grows = form.can_grow(i, u[i]);
        const bool falls = form.can_fall(i, u[i]);
        // ρ_i = g_i − μ must be ≥ 0 where u_i can grow and ≤ 0 where it can fall.
        if (grows) mu.high[g] = std::min(mu.high[g], gradient[i]);
        if (falls) mu.low[g] = std::max(mu.low[g], gradient[i]);
        if (grows && falls) {
            sum[g] += gradient[i];
            count[g] += 1;
        }
    }
    for (std::size_t g = 0; g < form.equalities; ++g) {
        mu.value[g] = count[g] > 0 ? sum[g] / count[g] : midpoint(mu.low[g], mu.high[g]);
        // Within the tolerance the ends may have crossed.
        if (mu.low[g] > mu.high[g]) std::swap(mu.low[g], mu.high[g]);
    }
    return mu;
}

/// Least squares of g_i = μ'a_i over the free variables, unless their columns do not determine μ.
Multipliers general_multipliers(const CanonicalDual& form, std::span<const double> u,
                                std::span<const double> gradient,
                                const std::array<double, 2>& fallback) {
    double a11 = 0, a12 = 0, a22 = 0, b1 = 0, b2 = 0;
    for (std::size_t i = 0; i < form.variables; ++i) {
        if (!form.is_free(i, u[i])) continue;
        const auto [x, y] = form.column[i];
        a11 += x * x;
        a12 += x * y;
        a22 += y * y;
        b1 += x * gradient[i];
        b2 += y * gradient[i];
    }
    Multipliers mu;
    mu.value = fallback;
    const double determinant = a11 * a22 - a12 * a12;
    if (form.equalities == 1) {
        if (a11 > 0) mu.value[0] = b1 / a11;
    } else if (determinant > 1e-10 * a11 * a22) {
        mu.value = {(b1 * a22 - b2 * a12) / determinant, (b2 * a11 - b1 * a12) / determinant};
    }
    mu.low = mu.high = mu.value;
    return mu;
}

/// The least τ ≥ 1 for which every ρ_i(τ) = τ h_i + p_i keeps the sign it needs, or nothing: it
/// must not pull towards an infinite bound. Nor should it pull a variable that begins at zero
/// towards a bound that it has not reached: with C = 1e8 the smallest such pull would spoil the
/// gap.
std::optional<double> dual_feasible_stretch(const CanonicalDual& form, std::span<const double> u,
                                            std::span<const double> gradient,
                                            const std::array<double, 2>& mu) {
    double low = 1;
    double high = infinity;
    for (std::size_t i = 0; i < form.variables; ++i) {
        const double h = reduced_gradient(form, i, gradient[i], mu) - form.p[i];
        for (const double sign : {1.0, -1.0}) {
            const double end = sign > 0 ? form.upper[i] : form.lower[i];
            const double other = sign > 0 ? form.lower[i] : form.upper[i];
            if (!std::isinf(end) && (other != 0 || u[i] == end)) continue;
            const double slope = sign * h;
            const double offset = sign * form.p[i];
            if (slope > 0) {
                low = std::max(low, -offset / slope);
            } else if (slope < 0) {
                high = std::min(high, -offset / slope);
            } else if (offset < 0) {
                return std::nullopt;
            }
        }
    }
    return low <= high ? std::optional(low) : std::nullopt;
}

double least_over_box(const CanonicalDual& form, std::size_t i, double rho) {
    if (rho == 0) return 0;
    const double end = rho > 0 ? form.lower[i] : form.upper[i];
    // A bound that is infinite is met only with ρ = 0 up to rounding.
    return std::isinf(end) ? 0 : rho * end;
}

double stretched_gap(const CanonicalDual& form, std::span<const double> u,
                     std::span<const double> gradient, const std::array<double, 2>& mu) {
    const std::optional<double> tau = dual_feasible_stretch(form, u, gradient, mu);
    if (!tau) return infinity;
    double quadratic = 0;
    double linear = 0;
    double dual = 0;
    for (std::size_t i = 0; i < form.variables; ++i) {
        quadratic += u[i] * (gradient[i] - form.p[i]);
        linear += u[i] * form.p[i];
        const double h = reduced_gradient(form, i, gradient[i], mu) - form.p[i];
        dual += least_over_box(form, i, *tau * h + form.p[i]);
    }
    for (std::size_t k = 0; k < form.equalities; ++k) dual += *tau * mu[k] * form.target[k];
    dual -= 0.5 * *tau * *tau * quadratic;
    return std::max(0.0, 0.5 * quadratic + linear - dual);
}

}  // namespace

double midpoint(double low, double high) {
    if (std::isfinite(low) && std::isfinite(high)) return low + 0.5 * (high - low);
    if (std::isfinite(low)) return low;
    return std::isfinite(high) ? high : 0.0;
}

Multipliers find_multipliers(const CanonicalDual& form, std::span<const double> u,
                             std::span<const double> gradient,
                             const std::array<double, 2>& general) {
    if (form.general) return general_multipliers(form, u, gradient, general);
    return group_multipliers(form, u, gradient);
}

double duality_gap(const CanonicalDual& form, std::span<const double> u,
                   std::span<const double> gradient, const std::array<double, 2>& mu) {
    double gap = 0;
    for (std::size_t i = 0; i < form.variables; ++i) {
        const double rho = reduced_gradient(form, i, gradient[i], mu);
        const double room = rho > 0 ? u[i] - form.lower[i] : form.upper[i] - u[i];
        if (rho == 0 || room == 0) continue;
        gap += std::abs(rho) * room;
    }
    return std::min(gap, stretched_gap(form, u, gradient, mu));
}

GivenMultipliers given_multipliers(const CanonicalDual& form, const Multipliers& mu) {
    GivenMultipliers given;
    for (std::size_t k = 0; k < form.given; ++k) {
        double value = 0, low = 0, high = 0;
        for (std::size_t g = 0; g < form.equalities; ++g) {
            const double c = form.basis[k][g];
            if (c == 0) continue;
            value += c * mu.value[g];
            low += c > 0 ? c * mu.low[g] : c * mu.high[g];
            high += c > 0 ? c * mu.high[g] : c * mu.low[g];
        }
        given.value.push_back(value);
        given.low.push_back(low);
        given.high.push_back(high);
    }
    return given;
}

}  // namespace mercer
