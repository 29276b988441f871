#include "mercer/learn/risk/detail/newton_risk.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"

namespace mercer {
namespace {

/// Rows whose curvature is below this times their weight are taken as linear in this step.
constexpr double least_curvature = 1e-12;

/// The loss at image + bias; results that are empty are not wanted.
void evaluate_loss(const RiskProblem& p, std::span<const double> image, double bias,
                   std::span<double> value, std::span<double> slope, std::span<double> curvature) {
    if (p.given) {
        std::vector<double> z(image.begin(), image.end());
        for (double& v : z) v += bias;
        p.given->evaluate(p.target, z, value, slope, curvature);
        return;
    }
    for (std::size_t i = 0; i < image.size(); ++i) {
        const double z = image[i] + bias;
        if (!value.empty()) value[i] = p.loss.value(p.target[i], z);
        if (!slope.empty()) slope[i] = p.loss.slope(p.target[i], z);
        if (!curvature.empty()) curvature[i] = p.loss.curvature(p.target[i], z);
    }
}

class Newton {
   public:
    Newton(const RiskProblem& problem, const NewtonSettings& settings)
        : p_(problem), settings_(settings), n_(problem.target.size()) {}

    RiskSolution run() {
        s_.alpha.assign(n_, 0.0);
        s_.image.assign(n_, 0.0);
        if (!settings_.start.empty()) {
            s_.alpha.assign(settings_.start.begin(), settings_.start.end());
            p_.k->multiply(s_.alpha, s_.image);
        }
        if (p_.bias) best_bias();
        s_.primal = objective(s_.image, s_.bias, dot(s_.alpha, s_.image));
        s_.history.push_back(s_.primal);
        s_.status = FitStatus::iteration_limit;
        for (;;) {
            if (p_.bias) best_bias();
            certify_risk(p_, s_);
            const double size = std::max(std::fabs(s_.primal), std::fabs(s_.dual));
            // A dual value above a primal one refutes what both rest on.
            if (s_.primal - s_.dual < -1e-6 * size) {
                s_.positive_definite = false;
                s_.status = FitStatus::stalled;
                break;
            }
            if (s_.primal - s_.dual <= settings_.relative_gap * size) {
                s_.status = FitStatus::converged;
                break;
            }
            if (s_.iterations == settings_.iteration_limit) break;
            const FitStatus stop =
                settings_.interrupted ? settings_.interrupted() : FitStatus::converged;
            if (stop != FitStatus::converged) {
                s_.status = stop;
                break;
            }
            try {
                if (!step()) break;
            } catch (const Cancelled&) {  // the step is lost, what it began from is not
                s_.status = FitStatus::cancelled;
                break;
            }
            ++s_.iterations;
            s_.history.push_back(s_.primal);
        }
        return std::move(s_);
    }

   private:
    double objective(std::span<const double> image, double bias, double squared_norm) const {
        std::vector<double> value(n_);
        evaluate_loss(p_, image, bias, value, {}, {});
        double sum = p_.lambda * squared_norm;
        for (std::size_t i = 0; i < n_; ++i) sum += p_.weight(i) * value[i];
        return sum;
    }

    /// Σ w ℓ' at a bias, and Σ w |ℓ'|.
    struct Balance {
        double sum = 0, size = 0;
    };
    Balance balance(double bias) {
        slopes_.resize(n_);
        evaluate_loss(p_, s_.image, bias, {}, slopes_, {});
        Balance found;
        for (std::size_t i = 0; i < n_; ++i) {
            found.sum += p_.weight(i) * slopes_[i];
            found.size += p_.weight(i) * std::fabs(slopes_[i]);
        }
        return found;
    }

    /// The b that is best for the present f, where Σ w ℓ' = 0: a root of a rising function.
    void best_bias() {
        if (p_.given) {
            best_bias_of_given();
            return;
        }
        const auto slope = [&](double b) { return balance(b).sum; };
        double width = 1;
        double low = s_.bias;
        double high = s_.bias;
        for (int i = 0; i < 200 && slope(low) > 0; ++i, width *= 2) low -= width;
        width = 1;
        for (int i = 0; i < 200 && slope(high) < 0; ++i, width *= 2) high += width;
        for (int i = 0; i < 200 && low < high; ++i) {
            const double middle = low + (high - low) / 2;
            if (middle <= low || middle >= high) break;
            const double at = slope(middle);
            if (at == 0) low = high = middle;
            (at < 0 ? low : high) = middle;
        }
        s_.bias = std::fabs(slope(low)) < std::fabs(slope(high)) ? low : high;
    }

    /// The same where each question is dear, a function of somebody else's: chords as long as they
    /// take off more than halves would, and no digits beyond those of the sum.
    void best_bias_of_given() {
        constexpr double enough = 1e-14;
        double low = s_.bias, high = s_.bias;
        Balance at_low = balance(low), at_high = at_low;
        double width = 1e-3 * (1 + std::fabs(s_.bias));
        for (int i = 0; i < 200 && at_low.sum > 0; ++i, width *= 4) {
            high = low;
            at_high = at_low;
            at_low = balance(low -= width);
        }
        for (int i = 0; i < 200 && at_high.sum < 0; ++i, width *= 4) {
            low = high;
            at_low = at_high;
            at_high = balance(high += width);
        }
        bool halve = false;
        for (int i = 0; i < 200; ++i) {
            if (std::fabs(at_low.sum) <= enough * at_low.size ||
                std::fabs(at_high.sum) <= enough * at_high.size) {
                break;
            }
            const double before = high - low;
            const double share = at_low.sum / (at_low.sum - at_high.sum);
            const double middle = low + before * (halve ? 0.5 : std::clamp(share, 0.001, 0.999));
            if (middle <= low || middle >= high) {
                if (halve) break;
                halve = true;
                continue;
            }
            const Balance at = balance(middle);
            (at.sum < 0 ? low : high) = middle;
            (at.sum < 0 ? at_low : at_high) = at;
            halve = high - low > 0.5 * before;
        }
        s_.bias = std::fabs(at_low.sum) < std::fabs(at_high.sum) ? low : high;
    }

    /// One Newton step. The linearised condition 2λα + w ℓ' + w ℓ'' (Kα + b − z) = 0 fixes the rows
    /// without curvature and leaves, on the others (A),
    ///     (K_AA + 2λ H⁻¹) α_A + b = z_A − H⁻¹ g_A − K_AB α_B,   Σ α = 0.
    bool step() {
        std::vector<double> next(n_, 0.0);
        std::vector<std::size_t> active;
        std::vector<double> g(n_);
        std::vector<double> h(n_);
        evaluate_loss(p_, s_.image, s_.bias, {}, g, h);
        for (std::size_t i = 0; i < n_; ++i) {
            g[i] *= p_.weight(i);
            h[i] *= p_.weight(i);
            if (h[i] > least_curvature * p_.weight(i)) {
                active.push_back(i);
            } else {
                next[i] = -g[i] / (2 * p_.lambda);
            }
        }
        double bias = s_.bias;
        if (!active.empty() && !solve_active(active, g, h, next, bias)) return false;
        std::vector<double> image(n_);
        p_.k->multiply(next, image);
        return search(next, image, bias);
    }

    bool solve_active(const std::vector<std::size_t>& active, std::span<const double> g,
                      std::span<const double> h, std::vector<double>& next, double& bias) {
        const std::size_t m = active.size();
        std::vector<double> fixed(n_, 0.0);
        const double fixed_sum = std::accumulate(next.begin(), next.end(), 0.0);
        if (m < n_) p_.k->multiply(next, fixed);
        std::vector<double> diagonal(m);
        Matrix<double> b(2, m, 1.0);
        for (std::size_t r = 0; r < m; ++r) {
            const std::size_t i = active[r];
            diagonal[r] = 2 * p_.lambda / h[i];
            b(0, r) = s_.image[i] + s_.bias - g[i] / h[i] - fixed[i];
        }
        if (!p_.k->solve(active, diagonal, b.view(), settings_.progress)) {
            s_.positive_definite = false;
            s_.status = FitStatus::stalled;
            return false;
        }
        const auto u = b.row(0);
        const auto v = b.row(1);
        bias = 0;
        if (p_.bias) {
            bias = (std::accumulate(u.begin(), u.end(), 0.0) + fixed_sum) /
                   std::accumulate(v.begin(), v.end(), 0.0);
        }
        for (std::size_t r = 0; r < m; ++r) next[active[r]] = u[r] - bias * v[r];
        return true;
    }

    /// Along the line to the Newton point everything is known from both ends.
    bool search(const std::vector<double>& next, const std::vector<double>& image, double bias) {
        const double norm = dot(s_.alpha, s_.image);
        const double cross = dot(s_.alpha, image);
        const double next_norm = dot(next, image);
        std::vector<double> mixed(n_);
        for (double t = 1; t > 1e-10; t /= 2) {
            for (std::size_t i = 0; i < n_; ++i) mixed[i] = (1 - t) * s_.image[i] + t * image[i];
            const double b = (1 - t) * s_.bias + t * bias;
            const double square =
                (1 - t) * (1 - t) * norm + 2 * t * (1 - t) * cross + t * t * next_norm;
            const double value = objective(mixed, b, square);
            if (!(value < s_.primal)) continue;
            for (std::size_t i = 0; i < n_; ++i) {
                s_.alpha[i] = (1 - t) * s_.alpha[i] + t * next[i];
            }
            s_.image = std::move(mixed);
            s_.bias = b;
            s_.primal = value;
            return true;
        }
        s_.status = FitStatus::stalled;
        return false;
    }

    const RiskProblem& p_;
    const NewtonSettings& settings_;
    std::size_t n_;
    RiskSolution s_{};
    std::vector<double> slopes_{};
};

}  // namespace

void certify_risk(const RiskProblem& p, RiskSolution& s) {
    const std::size_t n = p.target.size();
    s.squared_norm = dot(s.alpha, s.image);
    s.primal = p.lambda * s.squared_norm;
    s.dual = 0;
    std::vector<double> point(n), value(n), slopes(n);
    evaluate_loss(p, s.image, s.bias, value, slopes, {});
    double sum = 0;
    s.violation = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double slope = slopes[i];
        s.primal += p.weight(i) * value[i];
        // Of a differentiable loss −ℓ*(ℓ'(z)) = ℓ(z) − ℓ'(z) z.
        s.dual += p.weight(i) * (p.given ? value[i] - slope * (s.image[i] + s.bias)
                                         : p.loss.dual(p.target[i], -slope));
        point[i] = -p.weight(i) * slope / (2 * p.lambda);
        sum += point[i];
        s.violation =
            std::max(s.violation, std::fabs(s.alpha[i] - point[i]) * 2 * p.lambda / p.weight(i));
    }
    std::vector<double> image(n);
    p.k->multiply(point, image);
    s.dual -= p.lambda * dot(point, image);
    s.infeasibility = p.bias ? std::fabs(sum) : 0;
}

RiskSolution minimise_risk(const RiskProblem& problem, const NewtonSettings& settings) {
    return Newton(problem, settings).run();
}

}  // namespace mercer
