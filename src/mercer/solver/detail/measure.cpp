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
constexpr float quiet_rounds = 3;  ///< before a variable is dropped

/// scan(piece, number of the piece) for the pieces of a range, at the same time.
template <class Scan>
void scan_pieces(const ScanRange& range, const Scan& scan) {
    parallel_ranges(
        range.last - range.first, variable_grain, [&](std::size_t first, std::size_t last) {
            scan({range.some, range.first + first, range.first + last}, first / variable_grain);
        });
}

std::size_t count_pieces(const ScanRange& range) {
    return (range.last - range.first + variable_grain - 1) / variable_grain;
}

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
    result.least_growing.fill(infinity);
    result.largest_falling.fill(-infinity);
    std::array<double, 3> free_sum{}, free_count{};
    for (std::size_t g = 0; g < 3; ++g) {
        const ScanRange range = members(g);
        std::vector<GroupExtremes> parts(count_pieces(range));
        scan_pieces(range, [&](const ScanRange& piece, std::size_t number) {
            parts[number] = scan_extremes(piece, gradient_, shut_);
        });
        for (const GroupExtremes& part : parts) {
            result.least_growing[g] = std::min(result.least_growing[g], part.least_growing);
            result.largest_falling[g] = std::max(result.largest_falling[g], part.largest_falling);
            free_sum[g] += part.free_sum;
            free_count[g] += part.free_count;
        }
    }
    result.violation = std::max({0.0, -result.least_growing[0], result.largest_falling[0]});
    for (std::size_t g = 1; g < 3; ++g) {
        result.violation =
            std::max(result.violation, result.largest_falling[g] - result.least_growing[g]);
        result.estimate[g - 1] = free_count[g] > 0
                                     ? free_sum[g] / free_count[g]
                                     : midpoint(result.largest_falling[g], result.least_growing[g]);
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
double DualState<T>::general_gap(const Measure& at) const {
    double sum = 0;
    for (const std::size_t i : active_) {
        const double rho = reduced_gradient(form_, i, gradient_[i], at.estimate);
        const double room = rho > 0 ? u_[i] - form_.lower[i] : form_.upper[i] - u_[i];
        if (rho != 0 && room != 0) sum += std::abs(rho) * room;
    }
    return sum;
}

template <class T>
double DualState<T>::gap(const Measure& at) const {
    double sum = form_.general ? general_gap(at) : 0;
    for (std::size_t g = 0; g < 3 && !form_.general; ++g) {
        const ScanRange range = members(g);
        std::vector<double> parts(count_pieces(range));
        scan_pieces(range, [&](const ScanRange& piece, std::size_t number) {
            parts[number] = scan_gap(piece, gradient_, u_, form_.lower, form_.upper,
                                     g == 0 ? 0 : at.estimate[g - 1]);
        });
        sum = std::accumulate(parts.begin(), parts.end(), sum);
    }
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
    std::ranges::fill(quiet_, 0.0F);
}

/// Counts for how long variables could have been dropped; returns how many have to stay.
template <class T>
std::size_t DualState<T>::count_quiet(const Measure& at) {
    // A variable in no equality, or in general ones, has no partner to be compared with: it must be
    // pushed against its bound harder than any violator is pushed away from its own.
    std::size_t stay = 0;
    for (std::size_t g = 0; g < 3 && !form_.general; ++g) {
        const double high = g == 0 ? at.violation : at.largest_falling[g];
        const double low = g == 0 ? -at.violation : at.least_growing[g];
        const ScanRange range = members(g);
        std::vector<std::size_t> parts(count_pieces(range));
        scan_pieces(range, [&](const ScanRange& piece, std::size_t number) {
            parts[number] = scan_quiet(piece, gradient_, shut_, low, high, quiet_rounds, quiet_);
        });
        stay = std::accumulate(parts.begin(), parts.end(), stay);
    }
    if (!form_.general) return stay;
    const double margin = 0.5 * at.violation;
    for (const std::size_t i : active_) {
        const double g = gradient_[i];
        const bool stuck = (!form_.can_fall(i, u_[i]) && at.growing(form_, i, g) < -margin) ||
                           (!form_.can_grow(i, u_[i]) && at.falling(form_, i, g) < -margin) ||
                           form_.lower[i] == form_.upper[i];
        quiet_[i] = stuck ? quiet_[i] + 1 : 0;
        stay += quiet_[i] < quiet_rounds ? 1 : 0;
    }
    return stay;
}

template <class T>
void DualState<T>::shrink(const Measure& at) {
    const std::size_t count = count_quiet(at);
    if (count == 0 || 2 * count > active_.size()) return;
    const auto stays = [&](std::size_t i) { return quiet_[i] < quiet_rounds; };
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
template double DualState<float>::general_gap(const Measure&) const;
template double DualState<double>::general_gap(const Measure&) const;
template double DualState<float>::gap(const Measure&) const;
template double DualState<double>::gap(const Measure&) const;
template bool DualState<float>::satisfied(const Measure&) const;
template bool DualState<double>::satisfied(const Measure&) const;
template void DualState<float>::forget_shrinking();
template void DualState<double>::forget_shrinking();
template std::size_t DualState<float>::count_quiet(const Measure&);
template std::size_t DualState<double>::count_quiet(const Measure&);
template void DualState<float>::shrink(const Measure&);
template void DualState<double>::shrink(const Measure&);

}  // namespace mercer
