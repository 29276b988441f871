// Second-order descent on the free variables F of a tile, for problems whose curvature differs so
// much from one direction to another that two-point steps creep: large C, smooth kernels.
//
// With M = (H_FF + δI)⁻¹ the minimum under no constraint is d = −M g away. A constraint c'd = 0
// takes d to d − v c'd / c'v, where v is M c freed of the constraints before it in the same way.
// The constraints are the sums over the groups, and d_k = 0 for each variable that has met a bound
// on the way: M c is then a column of M. So one Cholesky factor, |F|³/3 flops, serves a whole
// sequence of steps, each of 2|F|² flops for the column and 2|F| a constraint. That of many free
// variables is one of single precision, which gives a direction as good for a third of the time.
// The gradient is brought up to date once, at the end. δ is below what the curvature is known to;
// the length of the whole is found from H itself.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>

#include "mercer/base/detail/row_sums.hpp"
#include "mercer/base/matrix.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/single_cholesky.hpp"
#include "mercer/solver/linear/detail/small_cholesky.hpp"
#include "mercer/solver/tiles/detail/tile.hpp"

namespace mercer {
namespace {

/// Fewer free variables than these are settled by two-point steps as quickly.
constexpr std::size_t fewest_free = 8;
/// δ as a part of the largest diagonal entry, at least: M is then known to seven digits or so.
constexpr double least_shift = 1e-9;
/// Up to so many free variables no library is opened, which takes longer than a problem of a few
/// hundred rows.
constexpr std::size_t few_free = small_system;
/// So many variables of a larger tile may meet a bound before it is the next factor's turn.
constexpr std::size_t most_hits = 64;

template <class T>
class FreeNewton {
   public:
    FreeNewton(Tile<T>& tile, std::vector<std::size_t> free)
        : tile_(tile), free_(std::move(free)) {}

    /// False when the matrix is not positive definite, even with a shift that hurts little.
    bool factor() {
        double largest = 0;
        for (const std::size_t k : free_) largest = std::max(largest, std::abs(tile_.diagonal[k]));
        const double noise = 16 * static_cast<double>(std::numeric_limits<T>::epsilon());
        double shift = largest * std::max(noise, least_shift);
        if (!is_small() && std::is_same_v<T, float>) {
            take(tile_.single_scratch, single_, shift);
            if (single_cholesky(single_)) return true;
            single_ = {};
        }
        for (int attempt = 0; attempt < 3; ++attempt, shift *= 16) {
            take(tile_.scratch, matrix_, shift);
            if (is_small() ? small_cholesky(matrix_) : cholesky(matrix_)) return true;
        }
        return false;
    }

    /// To the minimum on what is left of F when all that meet a bound on the way stay there; true
    /// when anything moved.
    bool descend() {
        std::vector<double> d(free_.size());
        for (std::size_t a = 0; a < d.size(); ++a) d[a] = -tile_.gradient[free_[a]];
        d = product(std::move(d));
        for (std::size_t group = 1; group < 3; ++group) {
            Constraint sum{.first = place(tile_.first[group]),
                           .last = place(tile_.first[group + 1])};
            if (sum.first == sum.last) continue;
            std::vector<double> ones(free_.size(), 0.0);
            for (std::size_t a = sum.first; a < sum.last; ++a) ones[a] = 1;
            constrain(d, sum, product(std::move(ones)));
        }
        std::vector<double> way(free_.size(), 0.0);
        const std::size_t most = is_small() ? free_.size() / 2 : most_hits;
        for (std::size_t hits = 0; hits <= most; ++hits) {
            const Stop stop = first_bound(way, d);
            for (std::size_t a = 0; a < d.size(); ++a) way[a] += stop.step * d[a];
            if (stop.at == none) break;
            way[stop.at] = room(stop.at, d[stop.at]);
            for (double& value : d) value *= 1 - stop.step;
            constrain(d, {.first = stop.at, .last = stop.at + 1}, column(stop.at));
            for (const Constraint& c : constraints_) {
                if (c.last == c.first + 1) d[c.first] = 0;  // not only to rounding
            }
        }
        return balance(way) && go(way);
    }

   private:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);
    /// The sum of d over these places is 0.
    struct Constraint {
        std::size_t first = 0;
        std::size_t last = 0;
        double of(std::span<const double> d) const {
            return std::accumulate(d.begin() + static_cast<std::ptrdiff_t>(first),
                                   d.begin() + static_cast<std::ptrdiff_t>(last), 0.0);
        }
    };
    struct Stop {
        double step = 1;
        std::size_t at = none;  ///< who meets a bound
    };

    /// Where in F the variables from place k of the tile on begin.
    std::size_t place(std::size_t k) const {
        return static_cast<std::size_t>(std::ranges::lower_bound(free_, k) - free_.begin());
    }

    bool is_small() const { return free_.size() <= few_free; }

    /// The lower triangle of H_FF + δI, into pages that serve the next tile too.
    template <class Number>
    void take(std::vector<Number>& memory, MatrixView<Number>& a, double shift) {
        const std::size_t f = free_.size();
        if (memory.size() < f * f) memory.resize(f * f);
        a = MatrixView<Number>(memory.data(), f, f);
        for (std::size_t i = 0; i < f; ++i) {
            const T* const row = tile_.row(free_[i]);
            Number* const to = a.row(i).data();
            for (std::size_t j = 0; j <= i; ++j) to[j] = static_cast<Number>(row[free_[j]]);
            to[i] = static_cast<Number>(static_cast<double>(row[free_[i]]) + shift);
        }
    }

    /// M x, where x is 0 before `first`.
    std::vector<double> product(std::vector<double> x, std::size_t first = 0) const {
        if (single_.rows > 0) {
            std::vector<double> y(x.size());
            single_cholesky_solve(single_, x, y);
            return y;
        }
        if (is_small()) {
            small_cholesky_solve(matrix_, x, first);
        } else {
            cholesky_solve(matrix_, MatrixView<double>(x.data(), 1, x.size()));
        }
        return x;
    }

    std::vector<double> column(std::size_t k) const {
        std::vector<double> e(free_.size(), 0.0);
        e[k] = 1;
        return product(std::move(e), k);
    }

    /// From now on c'd = 0; `v` is M c. A constraint that follows from the others adds nothing.
    void constrain(std::vector<double>& d, const Constraint& c, std::vector<double> v) {
        const double before = c.of(v);
        std::vector<double> weights;
        std::vector<const double*> rows;
        for (std::size_t i = 0; i < constraints_.size(); ++i) {
            double value = constraints_[i].of(v);
            for (std::size_t l = 0; l < i; ++l) value += weights[l] * mixed_[i][l];
            weights.push_back(-value / mixed_[i][i]);
            rows.push_back(ways_[i].data());
        }
        add_weighted_rows<double>(rows, weights, v);
        const double after = c.of(v);
        if (!(after > 1e-12 * before)) return;
        const double by = c.of(d) / after;
        for (std::size_t a = 0; a < d.size(); ++a) d[a] -= by * v[a];
        ways_.push_back(std::move(v));
        constraints_.push_back(c);
        std::vector<double>& row = mixed_.emplace_back();
        for (const auto& way : ways_) row.push_back(c.of(way));
    }

    double room(std::size_t a, double towards) const {
        const std::size_t k = free_[a];
        return (towards > 0 ? tile_.upper[k] : tile_.lower[k]) - tile_.u[k];
    }

    Stop first_bound(const std::vector<double>& way, const std::vector<double>& d) const {
        Stop stop;
        for (std::size_t a = 0; a < d.size(); ++a) {
            if (d[a] == 0) continue;
            const double step = (room(a, d[a]) - way[a]) / d[a];
            if (step < stop.step) stop = {std::max(step, 0.0), a};
        }
        return stop;
    }

    /// Takes away what rounding has left of the sums over the groups, from variables that are far
    /// from their bounds; false when there are none.
    bool balance(std::vector<double>& way) const {
        for (std::size_t group = 1; group < 3; ++group) {
            const Constraint sum{place(tile_.first[group]), place(tile_.first[group + 1])};
            const double left = sum.of(way);
            if (left == 0) continue;
            std::vector<std::size_t> inside;
            for (std::size_t a = sum.first; a < sum.last; ++a) {
                const double up = room(a, 1) - way[a], down = way[a] - room(a, -1);
                if (std::min(up, down) > std::abs(left)) inside.push_back(a);
            }
            if (inside.empty()) return false;
            for (const std::size_t a : inside) way[a] -= left / static_cast<double>(inside.size());
        }
        return true;
    }

    /// Along `way`, as far as H itself says.
    bool go(const std::vector<double>& way) {
        std::vector<double> change(tile_.size, 0.0);  // of the gradient: H way
        std::vector<const T*> rows;
        for (const std::size_t k : free_) rows.push_back(tile_.row(k));
        add_weighted_rows<T>(rows, way, change);
        double slope = 0, bend = 0, terms = 0;
        for (std::size_t a = 0; a < way.size(); ++a) {
            slope += tile_.gradient[free_[a]] * way[a];
            terms += std::abs(tile_.gradient[free_[a]] * way[a]);
            bend += change[free_[a]] * way[a];
        }
        if (!(slope < -1e-12 * terms)) return false;  // rounding, not a descent
        const double step = bend > -slope ? -slope / bend : 1;
        for (std::size_t a = 0; a < way.size(); ++a) {
            const std::size_t k = free_[a];
            tile_.u[k] = std::clamp(tile_.u[k] + step * way[a], tile_.lower[k], tile_.upper[k]);
        }
        for (std::size_t k = 0; k < tile_.size; ++k) tile_.gradient[k] += step * change[k];
        return true;
    }

    Tile<T>& tile_;
    std::vector<std::size_t> free_;
    MatrixView<double> matrix_{};  ///< the factor of M⁻¹: the lower triangle
    MatrixView<float> single_{};   ///< or, of many free variables, this one
    std::vector<Constraint> constraints_{};
    std::vector<std::vector<double>> ways_{};   ///< v of each constraint
    std::vector<std::vector<double>> mixed_{};  ///< mixed_[i][l] = c_i'v_l, l ≤ i
};

template <class T>
std::vector<std::size_t> free_of(const Tile<T>& tile) {
    std::vector<std::size_t> free;
    for (std::size_t k = 0; k < tile.size; ++k) {
        if (tile.u[k] > tile.lower[k] && tile.u[k] < tile.upper[k]) free.push_back(k);
    }
    return free;
}

}  // namespace

template <class T>
std::uint64_t newton_price(const Tile<T>& tile) {
    const auto f = static_cast<std::uint64_t>(free_of(tile).size());
    if (f < fewest_free) return std::numeric_limits<std::uint64_t>::max() / 4;
    const auto q = static_cast<std::uint64_t>(tile.size);
    // At least one, so that a step of all that moves nothing is followed by others.
    return std::max<std::uint64_t>((f * f * f + 20 * f * (f + q)) / (120 * q), 1);
}

template <class T>
bool newton_on_tile(Tile<T>& tile) {
    std::vector<std::size_t> free = free_of(tile);
    if (free.size() < fewest_free) return false;
    FreeNewton<T> newton(tile, std::move(free));
    return newton.factor() && newton.descend();
}

template std::uint64_t newton_price<float>(const Tile<float>&);
template std::uint64_t newton_price<double>(const Tile<double>&);
template bool newton_on_tile<float>(Tile<float>&);
template bool newton_on_tile<double>(Tile<double>&);

}  // namespace mercer
