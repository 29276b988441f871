#include "mercer/learn/risk/detail/newton_span.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/learn/risk/detail/loss_sums.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

constexpr std::size_t piece = 1024;  ///< rows of a task

class SpanNewton {
   public:
    SpanNewton(const RiskProblem& problem, const FeatureProducts& features,
               const NewtonSettings& settings, const SpanRisk* start)
        : p_(problem),
          features_(features),
          settings_(settings),
          losses_(problem, &features.leaves()),
          ranks_(features.leaves().ranks()),
          n_(problem.target.size()),
          w_(features.columns(), 0.0) {
        s_.image.assign(n_, 0.0);
        s_.status = FitStatus::iteration_limit;
        if (!start) return;
        w_ = start->weights;
        s_.bias = start->solution.bias;
        s_.image = start->solution.image;
    }

    SpanRisk run() {
        Checkpoint checkpoint(features_.leaves(), fingerprint());
        if (const auto state = checkpoint.load()) take_up(*state);
        try {
            while (certify() && go_on() && step()) {
                ++s_.iterations;
                checkpoint.save(state());
            }
        } catch (const Cancelled&) {  // the step is lost, what it began from is not
            s_.status = FitStatus::cancelled;
            if (s_.history.empty()) throw;
        }
        s_.alpha.resize(n_);
        losses_.derive(0, s_.image, s_.bias, s_.alpha, {});
        for (double& a : s_.alpha) a /= -2 * p_.lambda;
        return {std::move(w_), std::move(s_)};
    }

   private:
    /// Kernel, centres and loss, and of the targets a sum that depends on their order.
    std::string fingerprint() const {
        const auto at = features_.leaves().before();
        const double targets = total([&](std::size_t i) {
            return p_.target[i] * p_.weight(i) * static_cast<double>((at + i) % 1021 + 1);
        });
        const std::vector<double> numbers{targets, p_.lambda, p_.loss.delta,
                                          static_cast<double>(p_.loss.loss), p_.bias ? 1.0 : 0.0};
        return features_.fingerprint() + " problem " +
               fingerprint_of({numbers.data(), 1, numbers.size()});
    }

    /// All that the next step depends on.
    CheckpointState state() const {
        CheckpointState found{.numbers = {s_.bias, static_cast<double>(s_.iterations)},
                              .by_rows = true,
                              .rows = s_.image};
        found.numbers.insert(found.numbers.end(), w_.begin(), w_.end());
        found.numbers.insert(found.numbers.end(), s_.history.begin(), s_.history.end());
        return found;
    }
    void take_up(const CheckpointState& found) {
        if (found.numbers.size() < 2 + w_.size() || found.rows.size() != n_) {
            throw InvalidInput("the checkpoint does not have the numbers of this machine");
        }
        const auto weights = found.numbers.begin() + 2;
        const auto history = weights + static_cast<std::ptrdiff_t>(w_.size());
        s_.bias = found.numbers[0];
        s_.iterations = static_cast<std::size_t>(found.numbers[1]);
        w_.assign(weights, history);
        s_.history.assign(history, found.numbers.end());
        s_.image = found.rows;
    }

    /// Σ_i term(i) over the rows of all ranks.
    template <class Term>
    double total(const Term& term) const {
        return features_.leaves().sum(term);
    }

    /// What rank 0 says: processors of two kinds may differ in the last digit, and then in what
    /// they conclude.
    bool agreed(bool own) const {
        ranks_.broadcast(std::span(&own, 1));
        return own;
    }

    /// The pass: slopes, curvatures, their sums over the features, and the bracket at w. False once
    /// it is narrow enough.
    bool certify() {
        if (p_.bias) s_.bias = losses_.best_bias(s_.image, s_.bias);
        const std::size_t m = w_.size();
        system_ = Matrix<double>(m, m);
        sums_ = Matrix<double>(2, m);
        const auto weigh = [&](std::size_t first, std::span<double> h, MatrixView<double> right) {
            losses_.derive(first, s_.image, s_.bias, right.row(0), h);
            std::ranges::copy(h, right.row(1).begin());
        };
        features_.weigh(weigh, system_.view(), sums_.view());
        gradient_.resize(m);
        for (std::size_t k = 0; k < m; ++k) gradient_[k] = sums_(0, k) + 2 * p_.lambda * w_[k];
        s_.squared_norm = dot(w_, w_);
        const LossSums sums = losses_.look(s_.image, s_.bias);
        curvature_ = sums.curvature;
        s_.primal = p_.lambda * s_.squared_norm + sums.value;
        s_.dual = sums.dual - dot(sums_.row(0), sums_.row(0)) / (4 * p_.lambda);
        s_.infeasibility = p_.bias ? std::fabs(sums.slope) / (2 * p_.lambda) : 0;
        s_.violation = std::sqrt(dot(gradient_, gradient_));
        s_.history.push_back(s_.primal);
        const double size = std::max(std::fabs(s_.primal), std::fabs(s_.dual));
        if (agreed(s_.primal - s_.dual > settings_.relative_gap * size)) return true;
        s_.status = FitStatus::converged;
        return false;
    }

    bool go_on() {
        if (s_.iterations == settings_.iteration_limit) return false;
        if (ranks_.stopped()) {  // while another output was learnt
            s_.status = FitStatus::cancelled;
            return false;
        }
        const FitStatus stop =
            settings_.interrupted ? settings_.interrupted() : FitStatus::converged;
        if (stop == FitStatus::converged) return true;
        if (ranks_.size() > 1) throw Cancelled();  // the others, who have been told, do the same
        s_.status = stop;
        return false;
    }

    /// (Σ h φφ' + 2λ I) d + (Σ h φ) e = −gradient,  (Σ h φ)'d + (Σ h) e = −Σ ℓ' = 0.
    bool step() {
        const std::size_t m = w_.size();
        const bool bias = p_.bias && curvature_ > 0;
        const std::span<const double> mean = sums_.row(1);
        for (std::size_t i = 0; i < m; ++i) {
            system_(i, i) += 2 * p_.lambda;
            for (std::size_t j = 0; bias && j <= i; ++j) {
                system_(i, j) -= mean[i] * mean[j] / curvature_;
            }
        }
        if (!agreed(cholesky(system_.view(), settings_.progress))) {
            s_.status = FitStatus::stalled;
            return false;
        }
        Matrix<double> d(1, m);
        for (std::size_t k = 0; k < m; ++k) d(0, k) = -gradient_[k];
        cholesky_solve(std::as_const(system_).view(), d.view());
        ranks_.broadcast(d.row(0));
        double e = bias ? -dot(mean, d.row(0)) / curvature_ : 0;
        ranks_.broadcast(std::span(&e, 1));
        std::vector<double> change(n_);
        features_.multiply(d.row(0), change);
        return search(d.row(0), change, e);
    }

    bool search(std::span<const double> d, const std::vector<double>& change, double e) {
        const double cross = dot(w_, d);
        const double square = dot(d, d);
        for (double t = 1; t > 1e-10; t /= 2) {
            const double norm = s_.squared_norm + 2 * t * cross + t * t * square;
            const double value =
                p_.lambda * norm + losses_.value(s_.image, change, t, s_.bias + t * e);
            if (!agreed(value < s_.primal)) continue;
            for (std::size_t k = 0; k < w_.size(); ++k) w_[k] += t * d[k];
            parallel_ranges(n_, piece, [&](std::size_t first, std::size_t last) {
                for (std::size_t i = first; i < last; ++i) s_.image[i] += t * change[i];
            });
            s_.bias += t * e;
            return true;
        }
        s_.status = FitStatus::stalled;
        return false;
    }

    const RiskProblem& p_;
    const FeatureProducts& features_;
    const NewtonSettings& settings_;
    const LossOverRows losses_;
    Communicator& ranks_;
    std::size_t n_;  ///< rows of this rank
    std::vector<double> w_;
    Matrix<double> system_{};
    Matrix<double> sums_{};  ///< of slopes and of curvatures over the features
    std::vector<double> gradient_{};
    double curvature_ = 0;  ///< Σ ω ℓ''
    RiskSolution s_{};
};

}  // namespace

SpanRisk minimise_risk(const RiskProblem& problem, const FeatureProducts& features,
                       const NewtonSettings& settings, const SpanRisk* start) {
    return SpanNewton(problem, features, settings, start).run();
}

}  // namespace mercer
