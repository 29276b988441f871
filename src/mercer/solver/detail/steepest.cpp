#include "mercer/solver/detail/steepest.hpp"

#include <algorithm>
#include <cmath>

namespace mercer {
namespace {

constexpr double pivot_zero = 1e-11;  ///< basis entries have size up to 1
constexpr std::size_t size = 3;       ///< of the basis: two equalities and Σ |d_i| ≤ 1

}  // namespace

void SteepestDirection::start() {
    for (std::size_t k = 0; k < size; ++k) {
        basis_[k] = {};
        basis_[k].entry[k] = 1;
        basis_[k].artificial = k + 1 < size;
    }
    invert();
}

/// Gauss and Jordan on 3 × 3; false when the basis is singular.
bool SteepestDirection::invert() {
    std::array<std::array<double, 6>, 3> m{};
    for (std::size_t r = 0; r < size; ++r) {
        for (std::size_t c = 0; c < size; ++c) m[r][c] = basis_[c].entry[r];
        m[r][size + r] = 1;
    }
    for (std::size_t c = 0; c < size; ++c) {
        std::size_t best = c;
        for (std::size_t r = c + 1; r < size; ++r) {
            if (std::abs(m[r][c]) > std::abs(m[best][c])) best = r;
        }
        if (std::abs(m[best][c]) < 1e-14) return false;
        std::swap(m[c], m[best]);
        const double pivot = m[c][c];
        for (double& x : m[c]) x /= pivot;
        for (std::size_t r = 0; r < size; ++r) {
            if (r == c) continue;
            const double factor = m[r][c];
            for (std::size_t k = 0; k < 2 * size; ++k) m[r][k] -= factor * m[c][k];
        }
    }
    for (std::size_t r = 0; r < size; ++r) {
        for (std::size_t c = 0; c < size; ++c) inverse_[r][c] = m[r][size + c];
        // The right-hand side is (0, …, 0, 1).
        level_[r] = basis_[r].artificial ? 0 : std::max(0.0, inverse_[r][size - 1]);
    }
    return true;
}

void SteepestDirection::find_multipliers() {
    std::array<double, 3> y{};
    for (std::size_t c = 0; c < size; ++c) {
        for (std::size_t r = 0; r < size; ++r) y[c] += basis_[r].cost * inverse_[r][c];
    }
    lambda_ = {};
    for (std::size_t k = 0; k + 1 < size; ++k) lambda_[k] = -y[k];
    t_ = std::max(0.0, y[size - 1]);
}

SteepestDirection::Candidate SteepestDirection::best_candidate(const DirectionView& view,
                                                               bool first_one) const {
    Candidate best;
    const double enough = t_ * (1 + 1e-9) + 1e-300;
    for (std::size_t i = 0; i < view.u.size(); ++i) {
        const double rho =
            view.gradient[i] - lambda_[0] * view.column[i][0] - lambda_[1] * view.column[i][1];
        const double grow = view.u[i] < view.upper[i] ? -rho : 0.0;
        const double fall = view.u[i] > view.lower[i] ? rho : 0.0;
        const double price = std::max(grow, fall);
        if (price <= best.price) continue;
        best = {price, i, grow > fall ? 1.0 : -1.0};
        if (first_one && price > enough) break;
    }
    return best;
}

/// Puts the column into the basis. False when it cannot be, for rounding.
bool SteepestDirection::exchange(const Column& entering) {
    std::array<double, 3> move{};
    for (std::size_t r = 0; r < size; ++r) {
        for (std::size_t c = 0; c < size; ++c) move[r] += inverse_[r][c] * entering.entry[c];
    }
    std::size_t leaving = size;
    double ratio = HUGE_VAL;
    for (std::size_t r = 0; r < size; ++r) {
        const bool blocks =
            basis_[r].artificial ? std::abs(move[r]) > pivot_zero : move[r] > pivot_zero;
        if (!blocks) continue;
        const double here = basis_[r].artificial ? 0 : level_[r] / move[r];
        const bool better = here < ratio || (here == ratio && leaving < size &&
                                             std::abs(move[r]) > std::abs(move[leaving]));
        if (better) {
            ratio = here;
            leaving = r;
        }
    }
    if (leaving == size) return false;
    const Column before = basis_[leaving];
    basis_[leaving] = entering;
    if (invert()) return true;
    basis_[leaving] = before;
    invert();
    return false;
}

void SteepestDirection::read_direction() {
    direction_ = {};
    for (std::size_t r = 0; r < size; ++r) {
        if (basis_[r].sign == 0 || level_[r] <= 0) continue;
        direction_.index[direction_.count] = basis_[r].index;
        direction_.weight[direction_.count] = basis_[r].sign * level_[r];
        ++direction_.count;
    }
}

void SteepestDirection::solve(const DirectionView& view, double accuracy) {
    start();
    // Dantzig's rule is fast and may cycle; after a while the first improving column (Bland's
    // rule) is taken, which cannot.
    for (int pivots = 0; pivots < 400; ++pivots) {
        find_multipliers();
        const Candidate candidate = best_candidate(view, pivots > 60);
        largest_ = candidate.price;
        if (candidate.price <= t_ * (1 + accuracy)) break;
        Column entering;
        for (std::size_t k = 0; k + 1 < size; ++k) {
            entering.entry[k] = candidate.sign * view.column[candidate.index][k];
        }
        entering.entry[size - 1] = 1;
        entering.cost = -candidate.sign * view.gradient[candidate.index];
        entering.index = candidate.index;
        entering.sign = candidate.sign;
        if (!exchange(entering)) break;
    }
    find_multipliers();
    largest_ = std::max(best_candidate(view, false).price, 0.0);
    read_direction();
}

namespace {

using Column = std::array<double, 2>;

/// The direction of two or three columns that keeps the equalities; all zero when there is none.
std::array<double, 3> null_direction(const std::array<Column, 3>& a, std::size_t count) {
    if (count == 2) {  // parallel columns: a_0 d_0 + a_1 d_1 = 0
        const std::size_t k = std::abs(a[0][0]) >= std::abs(a[0][1]) ? 0 : 1;
        return {a[1][k], -a[0][k], 0};
    }
    return {a[1][0] * a[2][1] - a[1][1] * a[2][0], a[2][0] * a[0][1] - a[2][1] * a[0][0],
            a[0][0] * a[1][1] - a[0][1] * a[1][0]};
}

/// A direction tried by second_order_partner: points, their columns and gradients.
struct Trial {
    std::array<std::size_t, 3> index{};
    std::array<Column, 3> a{};
    std::array<double, 3> g{};
    std::array<double, 3> d{};
    double slope = 0;

    void put(const DirectionView& view, std::size_t slot, std::size_t i) {
        index[slot] = i;
        a[slot] = view.column[i];
        g[slot] = view.gradient[i];
    }

    /// Finds d with Σ |d_k| = 1 that goes downhill; false when there is none that may be taken.
    bool aim(const DirectionView& view, std::size_t count) {
        d = null_direction(a, count);
        const double length = std::abs(d[0]) + std::abs(d[1]) + std::abs(d[2]);
        if (!(length > 1e-12)) return false;
        slope = 0;
        for (std::size_t k = 0; k < count; ++k) {
            d[k] /= length;
            slope -= g[k] * d[k];
        }
        // Two columns need not be parallel at all.
        for (std::size_t e = 0; e < view.equalities; ++e) {
            double sum = 0;
            for (std::size_t k = 0; k < count; ++k) sum += a[k][e] * d[k];
            if (std::abs(sum) > 1e-13) return false;
        }
        const double way = slope < 0 ? -1 : 1;
        slope *= way;
        for (std::size_t k = 0; k < count; ++k) {
            d[k] *= way;
            const std::size_t i = index[k];
            if (d[k] > 0 && !(view.u[i] < view.upper[i])) return false;
            if (d[k] < 0 && !(view.u[i] > view.lower[i])) return false;
        }
        return true;
    }
};

}  // namespace

template <class T>
SparseDirection second_order_partner(const DirectionView& view, const SparseDirection& direction,
                                     std::size_t slot, std::span<const std::span<const T>> rows,
                                     std::span<const double> diagonal, double floor) {
    const std::size_t count = direction.count;
    Trial trial;
    for (std::size_t k = 0; k < count; ++k) trial.put(view, k, direction.index[k]);
    const auto bend_of = [&] {
        double bend = 0;
        for (std::size_t k = 0; k < count; ++k) {
            bend += trial.d[k] * trial.d[k] * diagonal[trial.index[k]];
            if (k == slot) continue;
            // Row k of H is at hand for every point but the one in `slot`.
            for (std::size_t l = 0; l < count; ++l) {
                const double times = l == slot ? 2.0 : (l > k ? 2.0 : 0.0);
                bend +=
                    times * trial.d[k] * trial.d[l] * static_cast<double>(rows[k][trial.index[l]]);
            }
        }
        return bend;
    };
    SparseDirection best = direction;
    double best_gain = 0;
    for (std::size_t i = 0; i < view.u.size(); ++i) {
        bool used = false;
        for (std::size_t k = 0; k < count; ++k) used |= k != slot && direction.index[k] == i;
        if (used) continue;
        trial.put(view, slot, i);
        if (!trial.aim(view, count)) continue;
        const double bend = bend_of();
        const double gain = trial.slope * trial.slope / (bend > 0 ? bend : floor);
        if (gain <= best_gain) continue;
        best_gain = gain;
        best.index[slot] = i;
        best.weight = trial.d;
    }
    return best;
}

template SparseDirection second_order_partner<float>(const DirectionView&, const SparseDirection&,
                                                     std::size_t,
                                                     std::span<const std::span<const float>>,
                                                     std::span<const double>, double);
template SparseDirection second_order_partner<double>(const DirectionView&, const SparseDirection&,
                                                      std::size_t,
                                                      std::span<const std::span<const double>>,
                                                      std::span<const double>, double);

}  // namespace mercer
