#include "mercer/theory/bounds.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/feature/expansion.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/theory/capacity.hpp"
#include "mercer/theory/detail/leave_one_out.hpp"

namespace mercer {
namespace {

/// A count of leave-one-out errors, or of what bounds them, as a bound on the expected error.
Bound counted_bound(const std::string& name, const std::string& formula, double rows,
                    std::size_t errors, bool estimate, const std::string& about) {
    const auto count = static_cast<double>(errors);
    return {.name = name,
            .formula = formula,
            .inputs = {{"m", rows}, {"errors", count}},
            .value = count / rows,
            .vacuous = count >= rows,
            .estimate = estimate,
            .about = about};
}

/// Bounds of one two-class problem, one after another.
class MarginBounds {
   public:
    MarginBounds(const MarginProblem& p, const ModelBoundSettings& settings)
        : p_(p),
          settings_(settings),
          rows_(static_cast<double>(p.size())),
          norm_(std::sqrt(std::max(0.0, p.squared_norm))),
          radius_(p.problem.bias ? smallest_radius(*p.k) : origin_radius(*p.k)) {}

    MachineBounds all(double linear_columns) {
        capacity(linear_columns);
        by_random_labels();
        by_description(linear_columns);
        by_margin();
        const auto support = static_cast<double>(p_.support_vectors());
        add(support_share(rows_, support, false));
        if (settings_.leave_one_out) by_training_again();
        by_rules();
        return {.name = p_.name, .rows = p_.size(), .bounds = std::move(bounds_)};
    }

   private:
    void add(Bound bound) { bounds_.push_back(std::move(bound)); }

    void capacity(double linear_columns) {
        const RiskSample sample{.empirical = static_cast<double>(p_.errors()) / rows_,
                                .rows = rows_,
                                .delta = settings_.delta};
        const Bound dimension = margin_dimension(radius_, norm_, p_.problem.bias, linear_columns);
        add(dimension);
        Bound risk = vc_risk(sample, std::max(dimension.value, 1e-9));
        risk.name = "vc-margin";
        // Λ was read off the data; a bound for all Λ would have to pay for the choice.
        risk.estimate = true;
        risk.about =
            "error of planes with ‖w‖ ≤ Λ, had Λ and R been fixed before the data were "
            "seen; needs m > h";
        add(std::move(risk));
        if (linear_columns > 0) {
            add(vc_risk(sample, half_space_dimension(linear_columns, p_.problem.bias)));
            add(shattering_risk(sample,
                                half_space_shattering(linear_columns, 2 * rows_, p_.problem.bias)));
        }
    }

    /// Λ and |b| are rounded up to powers of 2, over all of which δ is spread (weights that sum to
    /// 1), so that nothing has to be fixed before the data are seen. A bias within ±B adds B/√m:
    /// E|Σ σ_i| <= √m.
    void by_random_labels() {
        const auto rounded_up = [](double x) { return std::ceil(std::log2(std::max(x, 1e-300))); };
        const auto share = [](double j) { return 2 / (3 * (std::abs(j) + 1) * (std::abs(j) + 2)); };
        double ramp = 0;
        double trace = 0;
        std::vector<double> diagonal(p_.size());
        p_.k->diagonal(diagonal);
        for (std::size_t i = 0; i < p_.size(); ++i) {
            ramp += std::clamp(1 - p_.target(i) * p_.value[i], 0.0, 1.0);
            trace += diagonal[i];
        }
        const double power = rounded_up(norm_);
        double delta = settings_.delta * share(power);
        double complexity = rademacher_by_trace(rows_, trace, std::exp2(power));
        if (p_.problem.bias) {
            const double bias_power = rounded_up(std::abs(p_.bias));
            delta *= share(bias_power);
            complexity += std::exp2(bias_power) / std::sqrt(rows_);
        }
        Bound bound = rademacher_risk(
            {.empirical = std::min(1.0, ramp / rows_), .rows = rows_, .delta = delta}, complexity);
        bound.confidence = 1 - settings_.delta;
        bound.inputs.push_back({"Λ", std::exp2(power)});
        bound.inputs.push_back({"tr K", trace});
        bound.about =
            "error of this machine; R_emp is the mean of min(1, max(0, 1 − y f(x))), R̂ = "
            "Λ√(tr K)/m + |b|/√m with ‖w‖ and |b| rounded up to powers of 2, over which δ is "
            "spread";
        add(std::move(bound));
    }

    /// The machine is what its support vectors give when trained on alone (the KKT conditions of
    /// the other rows hold with α = 0); of a linear one that separates, also its plane in bits.
    void by_description(double linear_columns) {
        const auto support = static_cast<double>(p_.support_vectors());
        double errors = 0;
        for (std::size_t i = 0; i < p_.size(); ++i) {
            errors += !p_.is_support(i) && p_.is_error(i) ? 1 : 0;
        }
        if (support < rows_) {
            Bound bound = compression_risk(
                {.empirical = errors / (rows_ - support), .rows = rows_, .delta = settings_.delta},
                support);
            bound.about += "; kernel, scaling and penalties fixed before the data were seen";
            add(std::move(bound));
        }
        if (linear_columns == 0 || norm_ == 0 || !p_.separated()) return;
        // A plane with a bias is one through the origin of the rows (x, R), R their largest length.
        const double radius = origin_radius(*p_.k);
        const bool bias = p_.problem.bias && radius > 0;
        const double sphere = bias ? std::numbers::sqrt2 * radius : radius;
        const double length = bias ? std::hypot(norm_, p_.bias / radius) : norm_;
        if (!(sphere * length >= 1)) return;
        Bound bits = margin_description(sphere, 1 / length, linear_columns + (bias ? 1 : 0));
        Bound risk = description_risk({.rows = rows_, .delta = settings_.delta}, bits.value);
        // The grid of directions depends on R and ρ, which were read off the data.
        risk.estimate = true;
        risk.about = "error of the plane, had R and ρ been fixed before the data were seen";
        add(std::move(bits));
        add(std::move(risk));
    }

    void by_margin() {
        if (norm_ == 0) return;
        const bool separated = p_.separated();
        Bound radius = radius_margin(rows_, radius_, norm_, p_.problem.bias);
        if (!separated) {
            radius.estimate = true;
            radius.about = "of a machine that separates its rows, which this one does not";
        }
        add(std::move(radius));
        if (!separated || p_.problem.bias) return;
        // X is the largest norm among the vectors of least margin (000, equation 1).
        std::vector<double> diagonal(p_.size());
        p_.k->diagonal(diagonal);
        double largest = 0;
        for (std::size_t i = 0; i < p_.size(); ++i) {
            if (p_.is_support(i)) largest = std::max(largest, diagonal[i]);
        }
        add(margin_error(rows_, std::sqrt(largest), 1 / norm_));
    }

    void by_training_again() {
        const LeaveOneOut loo = leave_one_out(p_, settings_.progress);
        add(support_share(rows_, static_cast<double>(loo.essential_count), true));
        add(counted_bound("leave-one-out", "errors/m", rows_, loo.errors, true,
                          "exact: rows that the machine trained without them gets wrong; its "
                          "mean over samples is the expected error of m − 1 rows"));
    }

    void by_rules() {
        add(counted_bound("span-estimate", "#{α_p S_p² ≥ y_p f(x_p)}/m", rows_,
                          span_estimate(p_).errors, true,
                          "leave-one-out, were the free support vectors to stay free"));
        if (p_.problem.bias) {
            const double diameter = 2 * radius_;
            Bound span =
                counted_bound("span-bound", "(#{free: α_p S_p max(D, 1/√C) ≥ 1} + #bounded)/m",
                              rows_, span_guarantee(p_, diameter, settings_.progress).errors, false,
                              "never less than leave-one-out (Vapnik and Chapelle 2000)");
            span.inputs.push_back({"D", diameter});
            add(std::move(span));
        }
        add(counted_bound("jaakkola-haussler", "#{α_p k(x_p,x_p) ≥ y_p f(x_p)}/m", rows_,
                          jaakkola_haussler(p_).errors, p_.problem.bias,
                          p_.problem.bias ? "leave-one-out, approximately for a machine with bias"
                                          : "never less than leave-one-out"));
        add(counted_bound("xi-alpha", "#{2α_p R² + ξ_p ≥ 1}/m", rows_, xi_alpha(p_).errors, false,
                          "never less than leave-one-out (Joachims 2000)"));
    }

    const MarginProblem& p_;
    const ModelBoundSettings& settings_;
    double rows_;
    double norm_;
    double radius_;
    std::vector<Bound> bounds_{};
};

MachineBounds single_class(const Model& model, const Dataset& data,
                           const ModelBoundSettings& settings) {
    require_range("widen", settings.widen, settings.widen > 0, "greater than 0: a share of rho");
    if (model.reports().size() != 1) {
        throw InvalidInput(
            "the model does not say what it was trained with (files of LIBSVM do not)");
    }
    const Report found = recompute_reports(model, data, settings.progress).front();
    require_convex({.convexity = found.convexity,
                    .least = found.least_curvature,
                    .error = found.curvature_error},
                   model.expansion().kernel, directions_of(model.task(), model.trained().bias),
                   "regions have bounds");
    const double norm = std::sqrt(std::max(0.0, found.squared_norm));
    const Matrix<double> f = model.decision(data.x, settings.progress);
    double slack = 0;
    for (const double value : f.values()) slack += std::max(0.0, -value);
    const Rows x = model.scaling().apply(rows_for(model, data.x));
    double unit = 0;
    for (const double square : squared_lengths(model.expansion().kernel, x)) {
        unit = std::max(unit, square);
    }
    unit = std::sqrt(unit) * norm;  // lengths of f in a space where all points have length <= 1
    const double gamma = settings.widen * found.rho;
    if (!(gamma > 0) || !(unit > 0)) {
        throw InvalidInput("the region has no margin (rho = 0): nothing can be said of it");
    }
    MachineBounds result{.rows = data.size()};
    result.bounds.push_back(single_class_bound(static_cast<double>(data.size()), gamma / unit,
                                               slack / unit, settings.delta));
    return result;
}

}  // namespace

std::vector<MachineBounds> model_bounds(const Model& model, const Dataset& data,
                                        const ModelBoundSettings& settings) {
    require_range("delta", settings.delta, settings.delta > 0 && settings.delta < 1,
                  "greater than 0 and less than 1");
    if (model.task() == Task::one_class) return {single_class(model, data, settings)};
    std::vector<MachineBounds> result;
    const double columns =
        is_linear(model.expansion().kernel) ? static_cast<double>(model.columns()) : 0;
    for (const MarginProblem& p :
         margin_problems(model, data, settings.memory_bytes, settings.progress)) {
        result.push_back(MarginBounds(p, settings).all(columns));
        if (model.task() != Task::nu_svc) continue;
        for (Bound& b : result.back().bounds) {
            if (b.name != "compression") continue;
            // ν is a share of the rows: on support vectors alone the machine is another one.
            b.estimate = true;
            b.about += ", C = 1/ρ among them";
        }
    }
    return result;
}

}  // namespace mercer
