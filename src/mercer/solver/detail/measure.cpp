// Distance from optimality, and what follows from it: when to stop, what to leave out.
#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <numeric>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/detail/certificate.hpp"
#include "mercer/solver/detail/state.hpp"

namespace mercer {
namespace {

constexpr std::size_t variable_grain = 8192;
constexpr std::uint8_t quiet_rounds = 3;  ///< before a variable is dropped

struct Extremes {
    std::array<double, 3> least_growing{infinity, infinity, infinity};
    std::array<double, 3> largest_falling{-infinity, -infinity, -infinity};
    std::array<double, 3> free_sum{};
    std::array<double, 3> free_count{};
};

}  // namespace

double Measure::growing(const CanonicalDual& form, std::size_t i, double g) const {
    if (form.general) return -reduced_gradient(form, i, g, lambda);
    return form.group[i] == 0 ? -g : largest_falling[form.group[i]] - g;
}

double Measure::falling(const CanonicalDual& form, std::size_t i, double g) const {
    if (form.general) return reduced_gradient(form, i, g, lambda);
    return form.group[i] == 0 ? g : g - least_growing[form.group[i]];
}

template <class T>
void DualState<T>::measure_groups(Measure& result) const {
    const std::size_t tasks = (active_.size() + variable_grain - 1) / variable_grain;
    std::vector<Extremes> parts(tasks);
    parallel_ranges(active_.size(), variable_grain, [&](std::size_t first, std::size_t last) {
        Extremes& part = parts[first / variable_grain];
        for (std::size_t k = first; k < last; ++k) {
            const std::size_t i = active_[k];
            const std::size_t group = form_.group[i];
            const double g = gradient_[i];
            const bool grows = form_.can_grow(i, u_[i]);
            const bool falls = form_.can_fall(i, u_[i]);
            if (grows) part.least_growing[group] = std::min(part.least_growing[group], g);
            if (falls) part.largest_falling[group] = std::max(part.largest_falling[group], g);
            if (grows && falls) {
                part.free_sum[group] += g;
                part.free_count[group] += 1;
            }
        }
    });
    Extremes all;
    for (const Extremes& part : parts) {
        for (std::size_t g = 0; g < 3; ++g) {
            all.least_growing[g] = std::min(all.least_growing[g], part.least_growing[g]);
            all.largest_falling[g] = std::max(all.largest_falling[g], part.largest_falling[g]);
            all.free_sum[g] += part.free_sum[g];
            all.free_count[g] += part.free_count[g];
        }
    }
    result.least_growing = all.least_growing;
    result.largest_falling = all.largest_falling;
    result.violation = std::max({0.0, -all.least_growing[0], all.largest_falling[0]});
    for (std::size_t g = 1; g < 3; ++g) {
        result.violation =
            std::max(result.violation, all.largest_falling[g] - all.least_growing[g]);
        result.estimate[g - 1] = all.free_count[g] > 0
                                     ? all.free_sum[g] / all.free_count[g]
                                     : midpoint(all.largest_falling[g], all.least_growing[g]);
    }
}

template <class T>
void DualState<T>::measure_general(Measure& result) const {
    const std::size_t n = active_.size();
    std::vector<double> g(n), u(n), lower(n), upper(n);
    std::vector<std::array<double, 2>> column(n);
    for (std::size_t k = 0; k < n; ++k) {
        const std::size_t i = active_[k];
        g[k] = gradient_[i];
        u[k] = u_[i];
        lower[k] = form_.lower[i];
        upper[k] = form_.upper[i];
        column[k] = form_.column[i];
    }
    SteepestDirection steepest;
    steepest.solve({.gradient = g,
                    .u = u,
                    .lower = lower,
                    .upper = upper,
                    .column = column,
                    .equalities = form_.equalities},
                   1e-6);
    result.lambda = steepest.multipliers();
    result.estimate = result.lambda;
    result.violation = 2 * steepest.largest();
    result.direction = steepest.direction();
    for (std::size_t k = 0; k < result.direction.count; ++k) {
        result.direction.index[k] = active_[result.direction.index[k]];
    }
}

template <class T>
Measure DualState<T>::measure() {
    refresh_gradient();
    Measure result;
    if (form_.general) {
        measure_general(result);
    } else {
        measure_groups(result);
    }
    return result;
}

template <class T>
double DualState<T>::gap(const Measure& at) const {
    std::vector<double> parts((active_.size() + variable_grain - 1) / variable_grain);
    parallel_ranges(active_.size(), variable_grain, [&](std::size_t first, std::size_t last) {
        double sum = 0;
        for (std::size_t k = first; k < last; ++k) {
            const std::size_t i = active_[k];
            const double rho = reduced_gradient(form_, i, gradient_[i], at.estimate);
            const double room = rho > 0 ? u_[i] - form_.lower[i] : form_.upper[i] - u_[i];
            if (rho != 0 && room != 0) sum += std::abs(rho) * room;
        }
        parts[first / variable_grain] = sum;
    });
    const double sum = std::accumulate(parts.begin(), parts.end(), 0.0);
    // Variables without an upper bound want multipliers that are feasible, and the gradient of all.
    return std::isfinite(sum) || !all_active() ? sum
                                               : duality_gap(form_, u_, gradient_, at.estimate);
}

template <class T>
bool DualState<T>::satisfied(const Measure& at) const {
    if (at.violation <= settings_.tolerance) return true;
    return settings_.relative_gap > 0 && gap(at) <= settings_.relative_gap * std::abs(objective_);
}

template <class T>
void DualState<T>::forget_shrinking() {
    std::fill(quiet_.begin(), quiet_.end(), std::uint8_t{0});
}

template <class T>
void DualState<T>::shrink(const Measure& at) {
    // A variable in no equality, or in general ones, has no partner to be compared with: it must be
    // pushed against its bound harder than any violator is pushed away from its own.
    const double group_margin = 0;
    const double other_margin = form_.general ? 0.5 * at.violation : at.violation;
    parallel_ranges(active_.size(), variable_grain, [&](std::size_t first, std::size_t last) {
        for (std::size_t k = first; k < last; ++k) {
            const std::size_t i = active_[k];
            const double margin = form_.group[i] == 0 ? other_margin : group_margin;
            const double g = gradient_[i];
            const bool stuck = (!form_.can_fall(i, u_[i]) && at.growing(form_, i, g) < -margin) ||
                               (!form_.can_grow(i, u_[i]) && at.falling(form_, i, g) < -margin) ||
                               form_.lower[i] == form_.upper[i];
            quiet_[i] =
                stuck ? static_cast<std::uint8_t>(std::min(quiet_[i] + 1, 255)) : std::uint8_t{0};
        }
    });
    const auto stays = [&](std::size_t i) { return quiet_[i] < quiet_rounds; };
    const auto count = static_cast<std::size_t>(std::ranges::count_if(active_, stays));
    if (count == 0 || 2 * count > active_.size()) return;
    std::vector<std::size_t> remaining;
    std::ranges::copy_if(active_, std::back_inserter(remaining), stays);
    if (2 * rows_of(remaining).size() > active_rows_.size()) return;
    keep_active(std::move(remaining));
}

template Measure DualState<float>::measure();
template Measure DualState<double>::measure();
template void DualState<float>::measure_groups(Measure&) const;
template void DualState<double>::measure_groups(Measure&) const;
template void DualState<float>::measure_general(Measure&) const;
template void DualState<double>::measure_general(Measure&) const;
template double DualState<float>::gap(const Measure&) const;
template double DualState<double>::gap(const Measure&) const;
template bool DualState<float>::satisfied(const Measure&) const;
template bool DualState<double>::satisfied(const Measure&) const;
template void DualState<float>::forget_shrinking();
template void DualState<double>::forget_shrinking();
template void DualState<float>::shrink(const Measure&);
template void DualState<double>::shrink(const Measure&);

}  // namespace mercer
