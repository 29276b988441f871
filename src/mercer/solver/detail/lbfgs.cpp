#include "mercer/solver/detail/lbfgs.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"

namespace mercer {
namespace {

class Minimiser {
   public:
    Minimiser(const SmoothFunction& f, const LbfgsSettings& settings)
        : f_(f), settings_(settings) {}

    LbfgsSolution run(std::vector<double> start) {
        solution_.x = std::move(start);
        project(solution_.x);
        solution_.gradient.resize(solution_.x.size());
        solution_.value = evaluate(solution_.x, solution_.gradient);
        if (!std::isfinite(solution_.value)) {
            throw InvalidInput("the function to minimise is " + format_number(solution_.value) +
                               " at the start; begin nearer to where it is finite");
        }
        solution_.history.push_back(solution_.value);
        solution_.status = iterate();
        for (std::size_t i = 0; i < solution_.x.size(); ++i) {
            const double x = solution_.x[i];
            if (x <= low(i) || x >= high(i)) solution_.at_bounds.push_back(i);
        }
        return std::move(solution_);
    }

   private:
    struct Pair {
        std::vector<double> step;
        std::vector<double> change;
        double curvature;
    };

    double evaluate(std::span<const double> x, std::span<double> gradient) {
        ++solution_.evaluations;
        return f_(x, gradient);
    }
    double low(std::size_t i) const {
        return settings_.lower.empty() ? -std::numeric_limits<double>::infinity()
                                       : settings_.lower[i];
    }
    double high(std::size_t i) const {
        return settings_.upper.empty() ? std::numeric_limits<double>::infinity()
                                       : settings_.upper[i];
    }
    void project(std::vector<double>& x) const {
        for (std::size_t i = 0; i < x.size(); ++i) x[i] = std::clamp(x[i], low(i), high(i));
    }
    /// A variable at a bound that the gradient presses against does not move.
    bool held(std::size_t i) const {
        const double g = solution_.gradient[i];
        return (solution_.x[i] <= low(i) && g > 0) || (solution_.x[i] >= high(i) && g < 0);
    }

    LbfgsStatus iterate() {
        for (; solution_.iterations < settings_.iteration_limit; ++solution_.iterations) {
            double largest = 0;
            for (std::size_t i = 0; i < solution_.x.size(); ++i) {
                if (!held(i)) largest = std::max(largest, std::fabs(solution_.gradient[i]));
            }
            if (largest <= settings_.gradient_tolerance) return LbfgsStatus::converged;
            const double before = solution_.value;
            if (!search(direction())) {
                if (pairs_.empty()) return LbfgsStatus::stalled;
                pairs_.clear();  // once more along the gradient itself
                if (!search(direction())) return LbfgsStatus::stalled;
            }
            solution_.history.push_back(solution_.value);
            if (settings_.progress && !settings_.progress(solution_.iterations, solution_.value)) {
                return LbfgsStatus::cancelled;
            }
            if (before - solution_.value <= settings_.value_tolerance * std::fabs(before)) {
                return LbfgsStatus::converged;
            }
        }
        return LbfgsStatus::iteration_limit;
    }

    /// −H g by the two-loop recursion, over the variables that are not held.
    std::vector<double> direction() const {
        std::vector<double> d(solution_.x.size());
        for (std::size_t i = 0; i < d.size(); ++i) d[i] = held(i) ? 0 : -solution_.gradient[i];
        std::vector<double> alpha(pairs_.size());
        for (std::size_t p = pairs_.size(); p-- > 0;) {
            alpha[p] = dot(pairs_[p].step, d) / pairs_[p].curvature;
            for (std::size_t i = 0; i < d.size(); ++i) d[i] -= alpha[p] * pairs_[p].change[i];
        }
        if (!pairs_.empty()) {
            const Pair& last = pairs_.back();
            const double scale = last.curvature / dot(last.change, last.change);
            for (double& v : d) v *= scale;
        }
        for (std::size_t p = 0; p < pairs_.size(); ++p) {
            const double beta = dot(pairs_[p].change, d) / pairs_[p].curvature;
            for (std::size_t i = 0; i < d.size(); ++i)
                d[i] += (alpha[p] - beta) * pairs_[p].step[i];
        }
        for (std::size_t i = 0; i < d.size(); ++i) {
            if (held(i)) d[i] = 0;
        }
        // A direction that does not descend (rounding, bounds) gives way to the gradient.
        if (dot(d, solution_.gradient) >= 0) {
            for (std::size_t i = 0; i < d.size(); ++i) d[i] = held(i) ? 0 : -solution_.gradient[i];
        }
        return d;
    }

    /// Backtracks along the projected direction until f falls enough (Armijo's rule).
    bool search(const std::vector<double>& d) {
        double length = 1;
        if (pairs_.empty()) {  // nothing is known of the scale: a step of length at most 1
            length = 1 / std::max(1.0, std::sqrt(dot(d, d)));
        }
        std::vector<double> x(d.size());
        std::vector<double> gradient(d.size());
        for (int attempt = 0; attempt < 40; ++attempt) {
            for (std::size_t i = 0; i < d.size(); ++i) x[i] = solution_.x[i] + length * d[i];
            project(x);
            double slope = 0;
            for (std::size_t i = 0; i < d.size(); ++i) {
                slope += solution_.gradient[i] * (x[i] - solution_.x[i]);
            }
            const double value = evaluate(x, gradient);
            if (std::isfinite(value) && value <= solution_.value + 1e-4 * slope && slope < 0) {
                accept(std::move(x), value, std::move(gradient));
                return true;
            }
            // The minimiser of the parabola through both values and the slope, kept in bounds.
            double factor = 0.1;
            if (std::isfinite(value)) {
                const double bend = value - solution_.value - slope;
                factor = bend > 0 ? std::clamp(-slope / (2 * bend), 0.1, 0.5) : 0.5;
            }
            length *= factor;
        }
        return false;
    }

    void accept(std::vector<double> x, double value, std::vector<double> gradient) {
        Pair pair{.step = x, .change = gradient, .curvature = 0};
        for (std::size_t i = 0; i < x.size(); ++i) {
            pair.step[i] -= solution_.x[i];
            pair.change[i] -= solution_.gradient[i];
        }
        pair.curvature = dot(pair.step, pair.change);
        // Only pairs of positive curvature keep H positive definite.
        if (pair.curvature > 1e-10 * dot(pair.change, pair.change)) {
            pairs_.push_back(std::move(pair));
            if (pairs_.size() > settings_.memory) pairs_.pop_front();
        }
        solution_.x = std::move(x);
        solution_.value = value;
        solution_.gradient = std::move(gradient);
    }

    const SmoothFunction& f_;
    const LbfgsSettings& settings_;
    LbfgsSolution solution_{};
    std::deque<Pair> pairs_{};
};

}  // namespace

std::string describe(LbfgsStatus status) {
    switch (status) {
        case LbfgsStatus::converged: return "converged";
        case LbfgsStatus::iteration_limit: return "stopped at the iteration limit";
        case LbfgsStatus::cancelled: return "stopped early on request";
        default: return "stopped: rounding allows no further progress";
    }
}

std::string describe(const LbfgsSolution& solution) {
    const bool pressed = solution.status == LbfgsStatus::converged && !solution.at_bounds.empty();
    return pressed ? "at the limit of the search" : describe(solution.status);
}

LbfgsSolution minimise(std::vector<double> start, const SmoothFunction& f,
                       const LbfgsSettings& settings) {
    const auto fits = [&](const std::vector<double>& bound) {
        return bound.empty() || bound.size() == start.size();
    };
    if (!fits(settings.lower) || !fits(settings.upper)) {
        throw InvalidInput("there must be one bound a variable, or none");
    }
    return Minimiser(f, settings).run(std::move(start));
}

}  // namespace mercer
