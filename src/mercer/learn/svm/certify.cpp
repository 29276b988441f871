// Primal and dual values, the gap between them, and the optimality conditions, from a machine and
// its values v = Kβ on the training rows. The same code serves training and verification.

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/detail/infinity.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/svm/detail/subproblem.hpp"

namespace mercer {
namespace {

/// A variable within this fraction of its bound is at it.
constexpr double at_bound = 1e-9;

/// LIBSVM's measure m(α) − M(α): how far the values a multiplier would have to take apart.
struct Spread {
    double up = -infinity;  ///< largest value among variables that can move up
    double low = infinity;  ///< smallest among those that can move down
    void see(double value, bool can_rise, bool can_fall) {
        if (can_rise) up = std::max(up, value);
        if (can_fall) low = std::min(low, value);
    }
    double violation() const { return std::max(0.0, up - low); }
};

struct Checker {
    const Subproblem& p;
    const Learned& m;
    std::span<const double> v;
    Report r{};
    double weight = 0, error_weight = 0, support_weight = 0;  // of the ν-property

    void run() {
        r.rows = p.size();
        r.squared_norm = dot(m.beta, v);
        r.bias = m.bias;
        r.rho = m.rho;
        r.epsilon = m.epsilon;
        r.radius = m.radius;
        r.nu =
            (p.task == Task::svc || p.task == Task::svr || p.task == Task::hard_margin) ? 0 : p.nu;
        if (is_classifier(p.task)) {
            classifier();
        } else if (is_regressor(p.task)) {
            regression();
        } else {
            single_class();
        }
        set_gap(r);
        const auto rows = static_cast<double>(std::max<std::size_t>(r.rows, 1));
        const bool counted = !(r.nu > 0 && std::isfinite(weight));
        r.fraction_errors =
            counted ? static_cast<double>(r.margin_errors) / rows : error_weight / weight;
        r.fraction_support =
            counted ? static_cast<double>(r.support_vectors()) / rows : support_weight / weight;
    }

    /// Notes a row for the ν-property: Σ α_i ζ_i = ν Σ bound_i, errors have α_i = bound_i and
    /// others no more, so the errors' share of Σ bound_i, each counted bound_i ζ_i, is at most ν
    /// and that of the support vectors at least (001: all bounds alike and ζ = 1, so rows are
    /// counted).
    void share(double bound, double zeta, bool error, bool support) {
        weight += bound;
        if (error) ++r.margin_errors;
        if (error) error_weight += bound * zeta;
        if (support) support_weight += bound * zeta;
    }

    /// Counts a variable and notes how far it is outside [0, bound]; true when it is at its bound.
    bool count(double alpha, double bound) {
        const double scale = std::isfinite(bound) && bound > 0 ? bound : 1;
        r.infeasibility = std::max({r.infeasibility, -alpha / scale, (alpha - bound) / scale});
        if (alpha <= 0) return false;
        const bool bounded = alpha >= bound * (1 - at_bound);
        ++(bounded ? r.bounded_support_vectors : r.free_support_vectors);
        return bounded;
    }
    void note_equality(double residual, double scale) {
        if (scale > 0) r.infeasibility = std::max(r.infeasibility, std::abs(residual) / scale);
    }
    /// Positive slack; up to 1e-12 of the size of the terms is rounding.
    static double slack(double amount, double size) { return amount > 1e-12 * size ? amount : 0; }

    void classifier() {
        // ν-SVC has been divided by ρ: it is the C-machine with C_i = weight_i / ρ. Where there is
        // no margin (ρ = 0) it was left as it is, and 0 stands for the 1 that others ask for.
        const bool nu = p.task == Task::nu_svc;
        const bool flat = nu && !(m.rho > 0);
        const double unit = nu && !flat ? m.rho : 1;
        const double goal = flat ? 0 : 1;
        std::array<Spread, 2> spread;  // ν-SVC: one a class, since each has its own equality
        double worst = 0;              // largest condition on the wrong side, without a bias
        double alphas = 0, penalty = 0, smallest = infinity, balance = 0, room = 0;
        for (std::size_t i = 0; i < p.size(); ++i) {
            const double y = p.target[i];
            const double alpha = y * m.beta[i];
            const double bound = p.bound[i] / unit;
            const double value = y * (v[i] + m.bias);
            const bool bounded = count(alpha, bound);
            alphas += alpha;
            room += p.bound[i];
            balance += y * alpha;
            smallest = std::min(smallest, value);
            const double xi = slack(goal - value, flat ? std::abs(v[i]) + std::abs(m.bias) : 1);
            if (xi > 0 && std::isfinite(bound)) penalty += bound * xi;
            share(bound, 1, xi > 0 && bounded, alpha > 0);
            const bool can_rise = alpha < bound * (1 - at_bound);
            const bool can_fall = alpha > 0;
            if (nu) {
                spread[y > 0 ? 0 : 1].see(-y * v[i], can_rise, can_fall);
            } else {
                spread[0].see(y - v[i], y > 0 ? can_rise : can_fall, y > 0 ? can_fall : can_rise);
            }
            if (can_rise) worst = std::max(worst, goal - value);
            if (can_fall) worst = std::max(worst, value - goal);
        }
        if (p.bias) note_equality(balance, alphas);
        if (nu) note_equality(alphas * unit - p.nu * room, p.nu * room);
        r.dual = goal * alphas - 0.5 * r.squared_norm;
        r.primal = 0.5 * r.squared_norm + penalty;
        if (p.task == Task::hard_margin) {
            // w stretched until every point keeps its margin is feasible.
            r.primal = smallest > 0 ? 0.5 * r.squared_norm / (smallest * smallest) : infinity;
        }
        r.margin = r.squared_norm > 0 && !flat ? 1 / std::sqrt(r.squared_norm) : 0;
        r.kkt_violation =
            p.bias ? unit * std::max(spread[0].violation(), spread[1].violation()) : worst;
    }

    void regression() {
        // ε-SVR: one equality over both kinds of variables. ν-SVR with a plain tube: one for each
        // kind. With a tube of varying width the multipliers themselves are judged.
        const bool automatic = p.task == Task::nu_svr;
        std::array<Spread, 2> spread;
        double worst = 0, widths = 0, room = 0, balance = 0, total = 0, penalty = 0, explained = 0;
        for (std::size_t i = 0; i < p.size(); ++i) {
            const double b = m.beta[i];
            const double bound = p.bound[i];
            const double zeta = p.tube.empty() ? 1 : p.tube[i];
            const double tube = m.epsilon * zeta;
            const double residual = p.target[i] - v[i] - m.bias;
            const bool bounded = count(std::abs(b), bound);
            widths += std::abs(b) * zeta;
            room += bound;
            balance += b;
            total += std::abs(b);
            explained += p.target[i] * b;
            const double size = std::abs(p.target[i]) + std::abs(v[i]) + tube;
            const double xi = slack(std::abs(residual) - tube, size);
            penalty += bound * xi;
            share(bound, zeta, xi > 0 && bounded, b != 0);
            const bool plus_rise = b < bound * (1 - at_bound);
            const bool minus_rise = -b < bound * (1 - at_bound);
            const double raw = p.target[i] - v[i];
            spread[0].see(raw - tube, plus_rise, b > 0);
            spread[automatic ? 1 : 0].see(raw + tube, b < 0, minus_rise);
            if (plus_rise) worst = std::max(worst, residual - tube);
            if (b > 0) worst = std::max(worst, tube - residual);
            if (minus_rise) worst = std::max(worst, -residual - tube);
            if (b < 0) worst = std::max(worst, tube + residual);
        }
        note_equality(balance, total);
        r.primal = 0.5 * r.squared_norm + penalty;
        r.dual = explained - 0.5 * r.squared_norm;
        r.kkt_violation = std::max(spread[0].violation(), spread[1].violation());
        if (!automatic) {
            r.dual -= p.epsilon * total;
        } else {
            r.primal += p.nu * room * m.epsilon;
            if (!p.tube.empty()) r.kkt_violation = 2 * worst;
            note_equality(std::max(0.0, widths - p.nu * room), p.nu * room);
        }
    }

    void single_class() {
        const bool ball = p.task == Task::svdd;
        const double radius2 = m.radius * m.radius;
        Spread spread;
        double total = 0, linear = 0, penalty = 0, widest = 0, weights = 0;
        for (std::size_t i = 0; i < p.size(); ++i) {
            const double alpha = m.beta[i];
            const double bound = p.bound[i];
            const bool bounded = count(alpha, bound);
            total += alpha;
            weights += bound;
            const double own = ball ? p.diagonal[i] : 0;
            linear += alpha * own;
            const double distance2 = own - 2 * v[i] + r.squared_norm;
            widest = std::max(widest, distance2);
            const double excess = ball ? distance2 - radius2 : m.rho - v[i];
            const double size = ball ? radius2 + own : std::abs(m.rho);
            const double xi = slack(excess, size);
            if (std::isfinite(bound)) penalty += bound * xi;
            share(bound, 1, xi > 0 && bounded, alpha > 0);
            spread.see(0.5 * own - v[i], alpha<bound*(1 - at_bound), alpha> 0);
        }
        r.kkt_violation = spread.violation();
        if (ball) {
            note_equality(total - 1, 1);
            const bool hard = !std::isfinite(weights);
            r.primal = hard ? widest : radius2 + penalty;
            r.dual = linear - r.squared_norm;
            r.margin = m.radius;
            return;
        }
        note_equality(total - p.nu * weights, p.nu * weights);
        r.primal = 0.5 * r.squared_norm - m.rho * p.nu * weights + penalty;
        r.dual = -0.5 * r.squared_norm;
        r.margin = r.squared_norm > 0 ? m.rho / std::sqrt(r.squared_norm) : 0;
    }
};

}  // namespace

double reach_of(const Subproblem& p, const Learned& m) {
    // ν-SVC speaks of the machine divided by ρ, a sphere of twice the objective.
    const double unit = p.task == Task::nu_svc && m.rho > 0 ? 1 / m.rho : 1;
    const double width = is_regressor(p.task) ? 2 : unit;
    double squares = 0;
    double total = 0;
    for (const double bound : p.bound) {
        squares += width * bound * width * bound;
        total += unit * bound;
    }
    // Coefficients >= 0 of a given sum s: ‖z − α‖² <= ‖z‖² + ‖α‖² <= 2s².
    const bool ball = p.task == Task::svdd;
    const double sum = ball ? 1 : p.nu * total;
    const bool given = ball || p.task == Task::one_class || p.task == Task::nu_svc;
    if (given) squares = std::min(squares, 2 * sum * sum);
    return ball ? squares : 0.5 * squares;
}

Report certify(const Subproblem& problem, const Learned& learned, std::span<const double> v) {
    Checker checker{problem, learned, v};
    checker.run();
    return checker.r;
}

}  // namespace mercer
