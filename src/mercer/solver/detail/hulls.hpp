// Hard margins as geometry (000 §3, 001; Bennett and Bredensteiner 2000): the dual
//
//     minimise ½ α'Qα − c Σ α_i   with α ≥ 0 and, where there is a bias, y'α = 0
//
// has the minimum α = t w, where w are the weights of the two nearest points of the classes' convex
// hulls (of the point nearest to the origin in the hull of all y_i x_i where there is no bias). Its
// value falls like 1/d² in their distance d = √(w'Qw), and there is none when the hulls meet. Steps
// of two points creep when d is small: they need some (scale/d)² of them. An active-set method
// (Wolfe 1976) does not know d and ends after about as many cycles as there are support vectors.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "mercer/base/operator.hpp"
#include "mercer/solver/detail/canonical.hpp"

namespace mercer {

/// The hulls behind a canonical dual, variable by variable.
struct Hulls {
    std::vector<std::size_t> row;
    std::vector<double> sign;        ///< of the row, for weights w ≥ 0
    std::vector<double> direction;   ///< u_i = direction_i α_i, α_i ≥ 0
    std::vector<std::uint8_t> side;  ///< 0 or 1: which hull
    std::size_t sides = 1;
    double pull = 1;  ///< c

    std::size_t size() const { return row.size(); }
};

/// Nothing when the dual is no hard margin.
std::optional<Hulls> hulls_of(const CanonicalDual& form);

struct HullLimits {
    double tolerance = 1e-4;  ///< of the optimality conditions, as a part of d²
    double nothing = 0;       ///< d² at most this part of (Σ w_i √Q_ii)² is none
    std::size_t corral = 1024;
    std::function<bool()> go_on{};  ///< asked once in a while
};

enum class HullEnd {
    nearest,   ///< optimal to the tolerance
    met,       ///< d² is nothing
    rounding,  ///< the conditions are not met to the tolerance, and no step shortens d any more
    limit,     ///< too many vectors, or told to stop
};

struct HullPoints {
    std::vector<double> weights;  ///< Σ over each side = 1
    double squared_distance = 0;  ///< d² = w'Qw
    double scale = 0;             ///< Σ w_i √Q_ii
    HullEnd end = HullEnd::limit;
    std::uint64_t cycles = 0;
};

/// `first` (empty, or one number a variable) says by its largest entries where to begin.
template <class T>
HullPoints nearest_hull_points(const SymmetricOperator<T>& k, const Hulls& hulls,
                               const HullLimits& limits, std::span<const double> first = {});

extern template HullPoints nearest_hull_points<float>(const SymmetricOperator<float>&, const Hulls&,
                                                      const HullLimits&, std::span<const double>);
extern template HullPoints nearest_hull_points<double>(const SymmetricOperator<double>&,
                                                       const Hulls&, const HullLimits&,
                                                       std::span<const double>);

}  // namespace mercer
