// The hinge max(0, 1 − m) of a margin m is made smooth within h of its kink,
//
//     0 for m ≥ 1,   (1 − m)²/2h for 1 − h ≤ m ≤ 1,   1 − m − h/2 below,
//
// and minimised by Newton's method for one h after another, each begun where the last one ended
// (Chapelle 2007). At the best b the point α_i = C_i clip((1 − m_i)/h, 0, 1) is feasible for the
// dual of the hinge itself,
//
//     maximise  Σ α_i − ½‖Σ α_i y_i φ_i‖²,   0 ≤ α_i ≤ C_i,   Σ α_i y_i = 0,
//
// so that every h has a bracket of the optimum of the hinge, and margins of rows between the bounds
// lie within h of 1: with h = tolerance the conditions that LIBSVM asks for hold.
#include "mercer/learn/svm/detail/hinge_span.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/risk/detail/newton_span.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

class SpanHinge {
   public:
    SpanHinge(const HingeProblem& problem, const FeatureProducts& features, const SpanOfSome* span,
              const SpanSample& sample, const SvmSettings& settings, const Run& run)
        : problem_(problem),
          features_(features),
          span_(span),
          sample_(sample),
          settings_(settings),
          run_(run) {}

    HingeSolution solve() {
        constexpr double finest = 1e-6;  // kernel values are of single precision
        const double least = std::clamp(settings_.tolerance, finest, 1.0);
        std::uint64_t steps = 0;
        try {
            for (double h = 1;; h = std::max(h / 8, least)) {
                minimise(h, h == least ? 1e-6 : 1e-2);
                steps += now_.solution.iterations;
                if (now_.solution.status == FitStatus::cancelled) throw Cancelled();
                certify(h);
                found_->report.iterations = steps;
                const double gap = found_->report.relative_gap;
                if (h == least || (settings_.relative_gap > 0 && gap <= settings_.relative_gap)) {
                    break;
                }
            }
            if (now_.solution.status != FitStatus::converged && now_.solution.iterations > 0) {
                // Rounding may end Newton's steps before the gap that it was asked for.
                const bool near = found_->report.relative_gap <= settings_.tolerance;
                found_->report.status = near ? FitStatus::converged : now_.solution.status;
            }
            if (span_) bound_under_kernel();
        } catch (const Cancelled&) {
            if (!found_) throw;
            found_->report.status = FitStatus::cancelled;
        }
        return *std::move(found_);
    }

   private:
    void minimise(double h, double gap) {
        const RiskProblem smooth{.target = problem_.target,
                                 .weights = problem_.penalty,
                                 .loss = {.loss = Loss::hinge, .delta = h},
                                 .lambda = 0.5,
                                 .bias = settings_.bias};
        NewtonSettings newton{
            .relative_gap = gap, .iteration_limit = 200, .progress = settings_.common.progress};
        newton.interrupted = [&] {
            run_.goes_on({"hinge", -1});
            return fit_status(run_);
        };
        SpanRisk next =
            minimise_risk(smooth, features_, newton, now_.weights.empty() ? nullptr : &now_);
        now_ = std::move(next);
    }

    double margin(std::size_t i) const {
        return problem_.target[i] * (now_.solution.image[i] + now_.solution.bias);
    }

    /// The bracket of the hinge itself, by a dual point that is looked at anew.
    void certify(double h) {
        const std::vector<double>& alpha = now_.solution.alpha;  // with the sign of y
        std::vector<double> image(features_.columns());
        features_.sum(alpha, image);
        const auto [loss, linear, balance, free, bounded, rows, penalties] =
            sample_.leaves.sums<7>([&](std::size_t i) -> std::array<double, 7> {
                const double c = problem_.penalty[i];
                const double a = problem_.target[i] * alpha[i];
                return {c * std::max(0.0, 1 - margin(i)),
                        a,
                        alpha[i],
                        a > 0 && a < c ? 1.0 : 0.0,
                        c > 0 && a >= c ? 1.0 : 0.0,
                        c > 0 ? 1.0 : 0.0,
                        c};
            });
        double worst = 0;  // a row between the bounds has margin 1, one at 0 at least that
        for (std::size_t i = 0; i < alpha.size(); ++i) {
            const double c = problem_.penalty[i];
            const double a = problem_.target[i] * alpha[i];
            if (c > 0 && a < c) worst = std::max(worst, 1 - margin(i));
            if (a > 0) worst = std::max(worst, margin(i) - 1);
        }
        Report r;
        r.convexity = Convexity::by_rule;  // of a dot product of features
        r.squared_norm = dot(now_.weights, now_.weights);
        r.primal = r.squared_norm / 2 + loss;
        r.dual = linear - dot(image, image) / 2;
        set_gap(r);
        r.kkt_violation = sample_.leaves.largest(worst);
        r.infeasibility = settings_.bias && penalties > 0 ? std::fabs(balance) / penalties : 0;
        r.margin = r.squared_norm > 0 ? 1 / std::sqrt(r.squared_norm) : 0;
        r.bias = now_.solution.bias;
        r.rows = static_cast<std::size_t>(rows);
        r.free_support_vectors = static_cast<std::size_t>(free);
        r.bounded_support_vectors = static_cast<std::size_t>(bounded);
        r.margin_errors = r.bounded_support_vectors;
        r.figures["smoothed_within"] = h;
        found_.emplace(HingeSolution{now_.weights, r.bias, std::move(r)});
    }

    /// The dual value falls by at most half of (Σ α_i √r_i)² when k takes the place of k̂, r_i being
    /// what the centres leave of k(x_i, x_i), and is then a bound for k.
    void bound_under_kernel() {
        constexpr double rounding = 0x1p-20;  // of kernel values in single precision
        const std::vector<double>& alpha = now_.solution.alpha;
        const auto& [span, products] = *span_;
        double left = 0;
        sample_.leaves.sum(
            [&](std::size_t begin, std::size_t end, std::span<double> total) {
                products.kernel_blocks(
                    begin, end,
                    [&](std::size_t first, const Points<float>& points,
                        MatrixView<const float> values) {
                        std::vector<double> own(values.rows);
                        span.gram().diagonal(points, own);
                        std::vector<std::size_t> some;
                        for (std::size_t i = 0; i < values.rows; ++i) {
                            if (alpha[first + i] != 0) some.push_back(i);
                        }
                        Matrix<double> features(some.size(), span.size());
                        for (std::size_t k = 0; k < some.size(); ++k) {
                            std::ranges::copy(values.row(some[k]), features.row(k).begin());
                        }
                        if (!some.empty()) forward_solve(span.factor(), features.view());
                        for (std::size_t k = 0; k < some.size(); ++k) {
                            const double all = own[some[k]];
                            const double spanned = dot(features.row(k), features.row(k));
                            total[0] += std::fabs(alpha[first + some[k]]) *
                                        std::sqrt(std::max(all - spanned, 0.0) + rounding * all);
                        }
                    });
            },
            {&left, 1});
        found_->report.figures["exact_dual"] = found_->report.dual - left * left / 2;
    }

    const HingeProblem& problem_;
    const FeatureProducts& features_;
    const SpanOfSome* span_;
    const SpanSample& sample_;
    const SvmSettings& settings_;
    const Run& run_;
    SpanRisk now_{};
    std::optional<HingeSolution> found_{};
};

}  // namespace

HingeSolution minimise_hinge(const HingeProblem& problem, const FeatureProducts& features,
                             const SpanOfSome* span, const SpanSample& sample,
                             const SvmSettings& settings, const Run& run) {
    return SpanHinge(problem, features, span, sample, settings, run).solve();
}

}  // namespace mercer
