// How far a kernel reaches: its program run on intervals of distances.
#include <algorithm>
#include <cmath>
#include <limits>

#include "mercer/base/detail/interval.hpp"
#include "mercer/gram/locality/detail/locality.hpp"

namespace mercer {
namespace {

/// e^(a t), where the end of t may be infinite.
Interval exponential(Interval t, double a) {
    const double one = a * t.low, other = a * t.high;
    return {below(std::exp(std::min(one, other)), 4), above(std::exp(std::max(one, other)), 4)};
}

Interval affine(Interval r, double a, double b) {
    const double one = a == 0 ? 0 : a * r.low, other = a == 0 ? 0 : a * r.high;
    return Interval{std::min(one, other), std::max(one, other)} + Interval(b);
}

Interval whole_power(Interval r, double exponent) {
    Interval power(1);
    for (int k = 0; k < static_cast<int>(exponent); ++k) power = power * r;
    return power;
}

/// The values of a program whose distances are in [t.low, t.high]; nothing where it reads something
/// else or takes a step that is not followed here.
std::optional<Interval> enclose(const Plan& plan, Interval t) {
    std::vector<Interval> r(plan.registers());
    for (const Instruction& in : plan.program) {
        Interval& to = r[in.target];
        switch (in.code) {
            case Code::distance: to = t; break;
            case Code::gaussian: to = exponential(t, in.a); break;
            case Code::constant: to = Interval(in.a); break;
            case Code::affine: to = affine(to, in.a, in.b); break;
            case Code::add: to += r[in.operand]; break;
            case Code::multiply: to = to * r[in.operand]; break;
            case Code::exp: to = exponential(to, in.a); break;
            case Code::root: to = {std::sqrt(to.low), std::sqrt(to.high)}; break;
            case Code::integer_power: to = whole_power(to, in.b); break;
            default: return std::nullopt;
        }
        if (std::isnan(to.low) || std::isnan(to.high)) return std::nullopt;
    }
    return r[plan.program.back().target];
}

}  // namespace

std::optional<Reach> reach_of(const Plan& plan, double share) {
    const bool one_distance =
        plan.groups.size() == 1 && plan.groups[0].form.rows() == 0 && !plan.program.empty();
    if (!one_distance) return std::nullopt;
    const auto at_zero = enclose(plan, Interval(0.0));
    if (!at_zero || !(at_zero->low > 0)) return std::nullopt;
    const double nothing = share * at_zero->low;
    const auto is_nothing = [&](double from) {
        const auto value = enclose(plan, {from, std::numeric_limits<double>::infinity()});
        return value && std::max(-value->low, value->high) <= nothing;
    };
    constexpr double farthest = 1e30;
    double high = 1e-30;
    while (!is_nothing(high)) {
        high *= 2;
        if (high > farthest) return std::nullopt;
    }
    double low = high / 2;
    for (int halving = 0; halving < 30; ++halving) {
        const double middle = 0.5 * (low + high);
        (is_nothing(middle) ? high : low) = middle;
    }
    // A little farther, so that values computed in single precision are below as well.
    return Reach{.squared = 1.001 * high, .nothing = nothing};
}

}  // namespace mercer
