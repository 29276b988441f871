#include "mercer/learn/risk/detail/newton_weights.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/learn/risk/detail/loss_sums.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/small_cholesky.hpp"
#include "mercer/solver/weights/detail/explicit_products.hpp"

namespace mercer {
namespace {

/// Columns up to which the matrix of a step is factored.
constexpr std::size_t most_columns = 2048;

class WeightNewton {
   public:
    WeightNewton(const RiskProblem& problem, const ExplicitRows<double>& rows,
                 const NewtonSettings& settings)
        : p_(problem),
          rows_(rows),
          settings_(settings),
          losses_(problem),
          w_(rows.columns, 0.0),
          slopes_(rows.columns),
          h_(rows.size),
          g_(rows.size) {}

    RiskSolution run() {
        s_.alpha.assign(rows_.size, 0.0);
        s_.image.assign(rows_.size, 0.0);
        if (!settings_.start.empty()) {
            s_.alpha.assign(settings_.start.begin(), settings_.start.end());
            take_coefficients();
        }
        s_.status = FitStatus::iteration_limit;
        for (;;) {
            look();
            if (near_enough() && settle()) break;
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
        }
        if (s_.status != FitStatus::converged) finish();
        return std::move(s_);
    }

   private:
    /// w and the values of f from the coefficients.
    void take_coefficients() {
        sum_rows(rows_, std::span<const double>(s_.alpha), w_);
        multiply_rows(rows_, std::span<const double>(w_), s_.image);
    }

    /// Slopes, curvatures and the bracket where w is.
    void look() {
        if (p_.bias) s_.bias = losses_.best_bias(s_.image, s_.bias);
        const LossSums sums = losses_.look(s_.image, s_.bias);
        losses_.derive(0, s_.image, s_.bias, g_, h_);
        curvature_ = sums.curvature;
        sum_rows(rows_, std::span<const double>(g_), slopes_);
        s_.squared_norm = dot(w_, w_);
        s_.primal = p_.lambda * s_.squared_norm + sums.value;
        s_.dual = sums.dual - dot(slopes_, slopes_) / (4 * p_.lambda);
        s_.history.push_back(s_.primal);
    }

    double gap_share() const {
        const double size = std::max(std::fabs(s_.primal), std::fabs(s_.dual));
        return size > 0 ? (s_.primal - s_.dual) / size : 0;
    }
    bool near_enough() const { return gap_share() <= settings_.relative_gap; }

    /// The coefficients that come nearer to w: those that have followed it, or the dual point,
    /// which differs from it by the slope of what is minimised.
    void choose_coefficients() {
        std::vector<double> own(w_.size());
        sum_rows(rows_, std::span<const double>(s_.alpha), own);
        double followed = 0, dual = 0;
        for (std::size_t k = 0; k < w_.size(); ++k) {
            const double off = slopes_[k] / (2 * p_.lambda) + w_[k];
            followed += (own[k] - w_[k]) * (own[k] - w_[k]);
            dual += off * off;
        }
        if (followed <= dual) return;
        for (std::size_t i = 0; i < g_.size(); ++i) s_.alpha[i] = -g_[i] / (2 * p_.lambda);
    }

    /// The machine is what its coefficients say: the bracket of that one.
    void finish() {
        choose_coefficients();
        take_coefficients();
        if (p_.bias) s_.bias = losses_.best_bias(s_.image, s_.bias);
        certify_risk(p_, s_);
    }
    bool settle() {
        finish();
        s_.history.back() = s_.primal;
        if (near_enough()) {
            s_.status = FitStatus::converged;
            return true;
        }
        least_residual_ = std::max(1e-3 * least_residual_, 1e-11);
        s_.history.pop_back();
        look();
        return false;
    }

    bool step() {
        const std::size_t d = w_.size();
        std::vector<double> direction(d), mean(d);
        for (std::size_t k = 0; k < d; ++k) direction[k] = -slopes_[k] - 2 * p_.lambda * w_[k];
        const bool bias = p_.bias && curvature_ > 0;
        if (bias) sum_rows(rows_, std::span<const double>(h_), mean);
        if (!(d <= most_columns ? by_factor(mean, direction) : by_gradients(mean, direction))) {
            s_.status = FitStatus::stalled;
            return false;
        }
        const double e = bias ? -dot(mean, direction) / curvature_ : 0;
        std::vector<double> change(rows_.size);
        multiply_rows(rows_, std::span<const double>(direction), change);
        return search(direction, change, e);
    }

    /// (2λ I + Σ h φφ' − mean mean' / Σ h) x = x, by Cholesky's factor.
    bool by_factor(std::span<const double> mean, std::vector<double>& x) {
        const std::size_t d = w_.size();
        if (system_.rows() == 0) system_ = Matrix<double>(d, d);
        weigh_rows(rows_, std::span<const double>(h_), system_.view());
        const double share = curvature_ > 0 ? 1 / curvature_ : 0;
        for (std::size_t k = 0; k < d; ++k) {
            for (std::size_t j = 0; j <= k; ++j) system_(k, j) -= mean[k] * mean[j] * share;
            system_(k, k) += 2 * p_.lambda;
        }
        if (d <= small_system) {
            if (!small_cholesky(system_.view())) return false;
            small_cholesky_solve(std::as_const(system_).view(), x);
            return true;
        }
        if (!cholesky(system_.view(), settings_.progress)) return false;
        cholesky_solve(std::as_const(system_).view(), {x.data(), 1, d});
        return true;
    }

    /// The same by conjugate gradients, no more exactly than the next step is worth it.
    bool by_gradients(std::span<const double> mean, std::vector<double>& x) {
        constexpr std::size_t most_steps = 500;
        const double enough = std::clamp(0.1 * gap_share(), least_residual_, 0.1);
        const std::size_t d = w_.size();
        std::vector<std::uint32_t> some;
        std::vector<double> h;
        for (std::uint32_t i = 0; i < h_.size(); ++i) {
            if (h_[i] == 0) continue;
            some.push_back(i);
            h.push_back(h_[i]);
        }
        std::vector<double> diagonal(d, 0.0), r = x, z(d), p(d), q(d), products(some.size());
        add_squares<double>(rows_, some, h, diagonal);
        for (std::size_t k = 0; k < d; ++k) {
            diagonal[k] += 2 * p_.lambda;
            p[k] = z[k] = r[k] / diagonal[k];
        }
        std::ranges::fill(x, 0.0);
        const double share = curvature_ > 0 ? 1 / curvature_ : 0;
        double square = dot(r, z);
        const double goal = enough * enough * square;
        for (std::size_t step = 0; step < most_steps && square > goal; ++step) {
            if (!keep_going(settings_.progress, {"newton", -1})) throw Cancelled();
            multiply_some<double>(rows_, some, p, products);
            for (std::size_t f = 0; f < some.size(); ++f) products[f] *= h[f];
            const double part = dot(mean, p) * share;
            for (std::size_t k = 0; k < d; ++k) q[k] = 2 * p_.lambda * p[k] - part * mean[k];
            add_some<double>(rows_, some, products, q);
            const double length = square / dot(p, q);
            if (!std::isfinite(length)) return false;
            for (std::size_t k = 0; k < d; ++k) {
                x[k] += length * p[k];
                r[k] -= length * q[k];
                z[k] = r[k] / diagonal[k];
            }
            const double next = dot(r, z);
            for (std::size_t k = 0; k < d; ++k) p[k] = z[k] + next / square * p[k];
            square = next;
        }
        return true;
    }

    bool search(std::span<const double> d, std::span<const double> change, double e) {
        const double cross = dot(w_, d), square = dot(d, d);
        for (double t = 1; t > 1e-10; t /= 2) {
            const double norm = s_.squared_norm + 2 * t * cross + t * t * square;
            const double loss = losses_.value(s_.image, change, t, s_.bias + t * e);
            if (!(p_.lambda * norm + loss < s_.primal)) continue;
            for (std::size_t k = 0; k < w_.size(); ++k) w_[k] += t * d[k];
            for (std::size_t i = 0; i < change.size(); ++i) {
                const double aim = -(g_[i] + h_[i] * (change[i] + e)) / (2 * p_.lambda);
                s_.alpha[i] += t * (aim - s_.alpha[i]);
                s_.image[i] += t * change[i];
            }
            s_.bias += t * e;
            return true;
        }
        s_.status = FitStatus::stalled;
        return false;
    }

    const RiskProblem& p_;
    const ExplicitRows<double>& rows_;
    const NewtonSettings& settings_;
    const LossOverRows losses_;
    std::vector<double> w_, slopes_;  ///< and Σ g φ
    std::vector<double> h_, g_;
    double curvature_ = 0;  ///< Σ h
    /// Of conjugate gradients, as a share: smaller once w and the coefficients have come apart.
    double least_residual_ = 1e-2;
    Matrix<double> system_{};
    RiskSolution s_{};
};

}  // namespace

RiskSolution minimise_risk(const RiskProblem& problem, const ExplicitRows<double>& rows,
                           const NewtonSettings& settings) {
    return WeightNewton(problem, rows, settings).run();
}

}  // namespace mercer
