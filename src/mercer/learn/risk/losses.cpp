#include "mercer/learn/risk/losses.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/error.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/passes/detail/linear_products.hpp"
#include "mercer/learn/passes/detail/span_products.hpp"
#include "mercer/learn/risk/detail/newton_risk.hpp"
#include "mercer/learn/risk/detail/newton_span.hpp"
#include "mercer/learn/risk/detail/newton_weights.hpp"
#include "mercer/solver/dual.hpp"

namespace mercer {
namespace {

double entropy(double p) {
    return p > 0 ? -p * std::log(p) : 0;
}

/// 1 / (1 + exp(−v)), also for v that overflow the exponential.
double sigmoid_of(double v) {
    return v >= 0 ? 1 / (1 + std::exp(-v)) : std::exp(v) / (1 + std::exp(v));
}

Describe<RiskSettings> risk_settings(Loss loss) {
    using S = RiskSettings;
    Describe<S> d(S{.loss = loss});
    d.add(&S::lambda, "lambda", "weight of the penalty", Range::above(0)).tunable = true;
    if (loss != Loss::quantile) d.add(&S::bias, "bias", "learn a constant too");
    if (loss == Loss::huber) {
        d.add(&S::delta, "delta", "where the loss becomes linear", Range::above(0)).tunable = true;
    }
    if (loss == Loss::quantile) {
        d.add(&S::quantile, "quantile", "the share of targets below", Range::inside(0, 1)).tunable =
            true;
    }
    d.add(&S::tolerance, "tolerance", "stop at this relative gap", Range::above(0)).flag = "gap";
    d.add(&S::iteration_limit, "iteration_limit", "Newton steps, at most").flag = "-";
    return d;
}

/// What a solution looks like from outside.
Report report_of(const RiskSettings& settings, const SpanSample& sample, const RiskProblem& problem,
                 const RiskSolution& s) {
    Report r;
    r.status = s.status;
    r.primal = s.primal;
    r.dual = s.dual;
    r.infeasibility = s.infeasibility;
    r.kkt_violation = s.violation;
    r.squared_norm = s.squared_norm;
    set_gap(r);
    r.bias = s.bias;
    r.rows = sample.leaves.rows();
    r.iterations = s.iterations;
    r.history = s.history;
    r.figures["lambda"] = settings.lambda;
    const auto margin = [&](std::size_t i) { return problem.target[i] * (s.image[i] + s.bias); };
    const auto count = [&](const auto& holds) {
        return static_cast<std::size_t>(
            sample.leaves.sum([&](std::size_t i) { return holds(i) ? 1.0 : 0.0; }));
    };
    const double total = sample.leaves.sum([&](std::size_t i) { return sample.weight(i); });
    if (settings.loss == Loss::squared_hinge) {
        r.margin_errors = count([&](std::size_t i) { return margin(i) < 1; });
    }
    r.free_support_vectors = count([&](std::size_t i) { return s.alpha[i] != 0; });
    if (is_classifier(task_of(settings.loss))) {
        const double wrong =
            sample.leaves.sum([&](std::size_t i) { return margin(i) <= 0 ? sample.weight(i) : 0; });
        r.figures["training_error"] = wrong / total;
    } else {
        const double loss = sample.leaves.sum([&](std::size_t i) {
            return sample.weight(i) * problem.loss.value(problem.target[i], s.image[i] + s.bias);
        });
        r.figures["training_loss"] = loss / total;
    }
    return r;
}

/// The largest λ‖z − α‖² between points of the dual: α_i = −w_i ℓ' / 2λ lies in an interval as
/// long as the slopes of the loss are apart, times w_i / 2λ.
double reach_of(const RiskSettings& settings, const SpanSample& sample) {
    const double slopes = settings.loss == Loss::squared_hinge ? infinity
                          : settings.loss == Loss::huber       ? 2 * settings.delta
                                                               : 1;
    return settings.lambda * sample.leaves.sum([&](std::size_t i) {
        const double width = slopes * sample.weight(i) / (2 * settings.lambda);
        return width * width;
    });
}

/// The targets of an output: ±1 for its class against the rest, or the numbers themselves.
std::vector<double> targets_of(const Sample& sample, bool classes, std::size_t output) {
    if (!classes) return sample.data.y.values;
    std::vector<double> y;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        y.push_back(sample.class_of(i) == output ? 1 : -1);
    }
    return y;
}

/// Where a machine learns: among the functions of all rows, or of the span of some.
class RiskSpace {
   public:
    RiskSpace(const RiskSettings& settings, const SpanSample& sample)
        : sample_(sample),
          gram_(make_gram<double>(sample.kernel, sample.x, sample.data.feature_names,
                                  settings.common.progress)),
          own_(std::make_unique<OwnRiskMatrix>(*gram_, settings.common)),
          curvature_(std::in_place, gram_->kernel(), sample.x,
                     directions_of(task_of(settings.loss), settings.bias)) {}
    /// That of some rows (null: of the columns, under the linear kernel), by passes.
    RiskSpace(const RiskSettings& settings, const SpanSample& sample, const Nystroem* how)
        : sample_(sample),
          span_(how ? std::make_unique<CentreSpan<float>>(sample, settings.common, *how)
                    : nullptr) {
        const Progress& progress = settings.common.progress;
        if (span_) {
            products_ = std::make_unique<SpanProducts>(*span_, sample, progress);
        } else {
            products_ = std::make_unique<LinearProducts>(sample, progress);
        }
    }

    bool by_passes() const { return products_ != nullptr; }
    const Kernel& kernel() const { return gram_ ? gram_->kernel() : sample_.kernel; }
    RiskSolution minimise(RiskProblem problem, const NewtonSettings& newton) {
        if (!products_) {
            problem.k = &own_->matrix();
            return own_->rows() != nullptr ? minimise_risk(problem, *own_->rows(), newton)
                                           : minimise_risk(problem, newton);
        }
        SpanRisk found = minimise_risk(problem, *products_, newton);
        weights_.push_back(std::move(found.weights));
        return std::move(found.solution);
    }
    /// That of k̂, a dot product of features, is known.
    Curvature curvature(FitStatus status) {
        return curvature_ ? (*curvature_)({}, status) : Curvature{Convexity::by_rule};
    }
    void write(ModelParts& model, const std::vector<RiskSolution>& solutions) const {
        Matrix<double> coefficients(solutions.size(),
                                    products_ ? products_->columns() : sample_.size());
        std::vector<double> bias;
        for (std::size_t o = 0; o < solutions.size(); ++o) {
            std::ranges::copy(products_ ? weights_[o] : solutions[o].alpha,
                              coefficients.row(o).begin());
            bias.push_back(solutions[o].bias);
        }
        if (!products_) {
            return set_expansion(model, sample_, kernel(), coefficients, std::move(bias));
        }
        products_->write(model, std::move(coefficients), std::move(bias));
        model.double_precision = true;  // what cancels between near centres
    }

   private:
    const Sample& sample_;
    std::optional<Gram<double>> gram_{};
    std::unique_ptr<const OwnRiskMatrix> own_{};
    std::optional<CurvatureTest> curvature_{};
    std::unique_ptr<const CentreSpan<float>> span_{};
    std::unique_ptr<const FeatureProducts> products_{};
    std::vector<std::vector<double>> weights_{};  ///< of each output, by passes
};

ModelParts begin_risk_model(const RiskSettings& settings, const Sample& sample) {
    ModelParts model = begin_model(task_of(settings.loss), sample, settings.common);
    model.trained.bias = settings.bias;
    model.trained.tolerance = settings.tolerance;
    model.trained.numbers["lambda"] = settings.lambda;
    if (settings.loss == Loss::huber) model.trained.numbers["delta"] = settings.delta;
    if (settings.loss == Loss::quantile) model.trained.numbers["quantile"] = settings.quantile;
    return model;
}

ModelParts fit_newton(const RiskSettings& settings, const SpanSample& sample, RiskSpace space) {
    const Run run = settings.common.run();
    const bool classes = is_classifier(task_of(settings.loss));
    const std::size_t outputs = classes && sample.classes.count() > 2 ? sample.classes.count() : 1;
    ModelParts model = begin_risk_model(settings, sample);
    std::vector<RiskSolution> solutions;
    for (std::size_t o = 0; o < outputs; ++o) {
        const double before = run.seconds();
        const std::vector<double> targets = targets_of(sample, classes, o);
        const RiskProblem problem{.target = targets,
                                  .weights = sample.data.weights,
                                  .loss = {settings.loss, settings.delta, settings.quantile},
                                  .lambda = settings.lambda,
                                  .bias = settings.bias};
        NewtonSettings newton{.relative_gap = settings.tolerance,
                              .iteration_limit = settings.iteration_limit,
                              .progress = settings.common.progress};
        newton.interrupted = [&] {
            run.goes_on({"newton", -1});
            return fit_status(run);
        };
        RiskSolution s = space.minimise(problem, newton);
        if (!s.positive_definite) {
            throw InvalidInput("the kernel " + space.kernel().text() +
                               " is not positive definite on this data, and Newton's method needs "
                               "that; use a larger lambda or another kernel");
        }
        Report report = report_of(settings, sample, problem, s);
        settle_bracket(report, space.curvature(s.status), reach_of(settings, sample));
        if (outputs > 1) report.name = sample.classes.names[o] + " vs rest";
        report.seconds = run.seconds() - before;
        model.reports.push_back(std::move(report));
        s.image = {};
        if (space.by_passes()) s.alpha = {};
        solutions.push_back(std::move(s));
    }
    // P(first class) = 1 / (1 + exp(−f)) is the model itself.
    if (settings.loss == Loss::logistic) {
        model.extras.set(Calibration(std::vector<Sigmoid>(solutions.size(), {-1, 0})));
    }
    space.write(model, solutions);
    return model;
}

/// The b that minimises Σ w ℓ(r_i − b): the weighted τ-quantile of the residuals, the middle where
/// it is an interval.
double quantile_bias(const Sample& sample, std::span<const double> residuals, double tau) {
    std::vector<std::size_t> order(residuals.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::sort(order, {}, [&](std::size_t i) { return residuals[i]; });
    double total = 0;
    for (std::size_t i = 0; i < residuals.size(); ++i) total += sample.weight(i);
    double below = 0;
    for (std::size_t p = 0; p < order.size(); ++p) {
        below += sample.weight(order[p]);
        if (below < tau * total * (1 - 1e-14)) continue;
        const bool between = below <= tau * total * (1 + 1e-14) && p + 1 < order.size();
        return between ? (residuals[order[p]] + residuals[order[p + 1]]) / 2 : residuals[order[p]];
    }
    return residuals[order.back()];
}

/// minimise ½α'Kα − y'α, w(τ−1)/2λ ≤ α ≤ wτ/2λ, Σα = 0.
DualProblem quantile_dual(const RiskSettings& settings, const Sample& sample) {
    DualProblem dual;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const double c = sample.weight(i) / (2 * settings.lambda);
        dual.p.push_back(-sample.data.y.values[i]);
        dual.lower.push_back(c * (settings.quantile - 1));
        dual.upper.push_back(c * settings.quantile);
    }
    dual.equalities = {{.coefficients = std::vector<double>(sample.size(), 1.0), .value = 0}};
    return dual;
}

ModelParts fit_quantile(const RiskSettings& settings, const SpanSample& sample) {
    const std::size_t n = sample.size();
    const Run run = settings.common.run();
    const auto gram = make_gram<double>(sample.kernel, sample.x, sample.data.feature_names,
                                        settings.common.progress);
    const auto op = make_operator(
        gram, {.reuse = Reuse::rows, .memory_bytes = settings.common.memory_bytes / 4 * 3});
    const std::vector<double>& y = sample.data.y.values;
    const DualProblem dual = quantile_dual(settings, sample);
    const auto [low, high] = std::ranges::minmax(y);
    DualSettings how;
    how.relative_gap = settings.tolerance / 2;
    how.tolerance = 1e-9 * std::max(high - low, 1e-300);
    how.time_limit = settings.common.time_limit;
    how.progress = [&](const DualMoment&) { return run.goes_on({"dual", -1}); };
    DualSolution found = solve_dual(*op, dual, how);
    if (found.status == DualStatus::unbounded || found.status == DualStatus::infeasible) {
        throw std::logic_error("a dual in a box that holds 0 has a solution");
    }
    RiskSolution s{.alpha = std::move(found.alpha), .image = std::move(found.row_gradient)};
    std::vector<double> residuals(n);
    for (std::size_t i = 0; i < n; ++i) residuals[i] = y[i] - s.image[i];
    s.bias = quantile_bias(sample, residuals, settings.quantile);
    const RiskProblem problem{.target = y,
                              .weights = sample.data.weights,
                              .loss = {settings.loss, settings.delta, settings.quantile},
                              .lambda = settings.lambda,
                              .bias = true};
    double linear = 0;
    for (std::size_t i = 0; i < n; ++i) {
        s.squared_norm += s.alpha[i] * s.image[i];
        s.primal += sample.weight(i) * problem.loss.value(y[i], s.image[i] + s.bias);
        linear += s.alpha[i] * y[i];
    }
    s.primal += settings.lambda * s.squared_norm;
    s.dual = settings.lambda * (2 * linear - s.squared_norm);
    s.infeasibility = found.equality_residual;
    s.iterations = found.steps;
    s.status = run.is_over() ? fit_status(run) : fit_status(found.status);
    Report report = report_of(settings, sample, problem, s);
    CurvatureTest curvature(gram.kernel(), sample.x, Directions::balanced);
    settle_bracket(report, curvature({}, s.status), reach_of(settings, sample));
    report.kkt_violation = found.violation;
    report.kernel_evaluations = found.evaluations;
    report.seconds = run.seconds();
    for (std::size_t i = 0; i < n; ++i) {
        const bool bounded = s.alpha[i] == dual.lower[i] || s.alpha[i] == dual.upper[i];
        if (bounded) ++report.bounded_support_vectors;
        if (residuals[i] < s.bias) report.figures["fraction_below"] += 1 / static_cast<double>(n);
    }
    report.free_support_vectors -= report.bounded_support_vectors;
    ModelParts model = begin_risk_model(settings, sample);
    Matrix<double> coefficients(1, n);
    std::ranges::copy(s.alpha, coefficients.row(0).begin());
    set_expansion(model, sample, gram.kernel(), coefficients, {s.bias});
    model.reports.push_back(std::move(report));
    return model;
}

}  // namespace

Task task_of(Loss loss) {
    switch (loss) {
        case Loss::logistic: return Task::logistic;
        case Loss::squared_hinge: return Task::squared_hinge;
        case Loss::huber: return Task::huber;
        case Loss::hinge: return Task::svc;
        default: return Task::quantile;
    }
}

double LossFunction::value(double y, double z) const {
    const double r = y - z;
    switch (loss) {
        case Loss::logistic:  // log(1 + exp(−yz)) without overflow
            return std::max(0.0, -y * z) + std::log1p(std::exp(-std::fabs(y * z)));
        case Loss::squared_hinge: {
            const double slack = std::max(0.0, 1 - y * z);
            return slack * slack;
        }
        case Loss::hinge: {
            const double slack = std::max(0.0, 1 - y * z);
            return slack <= delta ? slack * slack / (2 * delta) : slack - delta / 2;
        }
        case Loss::huber:
            return std::fabs(r) <= delta ? r * r / 2 : delta * std::fabs(r) - delta * delta / 2;
        default: return r >= 0 ? quantile * r : (quantile - 1) * r;
    }
}

double LossFunction::slope(double y, double z) const {
    switch (loss) {
        case Loss::logistic: return -y * sigmoid_of(-y * z);
        case Loss::squared_hinge: return -2 * y * std::max(0.0, 1 - y * z);
        case Loss::hinge: return -y * std::clamp((1 - y * z) / delta, 0.0, 1.0);
        case Loss::huber: return std::clamp(z - y, -delta, delta);
        default: return y >= z ? -quantile : 1 - quantile;
    }
}

double LossFunction::curvature(double y, double z) const {
    switch (loss) {
        case Loss::logistic: {
            const double p = sigmoid_of(-y * z);
            return p * (1 - p);
        }
        case Loss::squared_hinge: return y * z < 1 ? 2 : 0;
        case Loss::hinge: return y * z < 1 && y * z > 1 - delta ? 1 / delta : 0;
        case Loss::huber: return std::fabs(y - z) <= delta ? 1 : 0;
        default: return 0;
    }
}

double LossFunction::dual(double y, double a) const {
    switch (loss) {
        case Loss::logistic: {
            const double p = a * y;
            return p < 0 || p > 1 ? -infinity : entropy(p) + entropy(1 - p);
        }
        case Loss::squared_hinge: {
            const double q = a * y;
            return q < 0 ? -infinity : q - q * q / 4;
        }
        case Loss::hinge: {
            const double q = a * y;
            return q < 0 || q > 1 ? -infinity : q - delta * q * q / 2;
        }
        case Loss::huber: return std::fabs(a) > delta ? -infinity : a * y - a * a / 2;
        default: return a > quantile || a < quantile - 1 ? -infinity : a * y;
    }
}

namespace {

/// By passes over the rows (`how`: in the span of some of them, or null), or at once.
Model train(const RiskSettings& settings, const Dataset& data, bool by_passes,
            const Nystroem* how = nullptr) {
    const Task task = task_of(settings.loss);
    SpanSample sample = by_passes ? take_span_sample(task, data, settings.common)
                                  : take_whole_sample(task, data, settings.common);
    RiskSettings own = settings;
    TargetScaling scaling;
    if (is_regressor(task)) {
        // The loss of (y − shift) / s is that of y − shift with δ s over s², or with λ / s over s.
        std::vector<double>& y = sample.data.y.values;
        scaling = span_target_scale(own.common.target_scale, y, sample);
        for (double& v : y) v -= scaling.shift;
        own.delta *= scaling.scale;
        if (own.loss == Loss::quantile) own.lambda /= scaling.scale;
    }
    ModelParts model = own.loss == Loss::quantile ? fit_quantile(own, sample)
                       : by_passes ? fit_newton(own, sample, RiskSpace(own, sample, how))
                                   : fit_newton(own, sample, RiskSpace(own, sample));
    if (scaling.is_identity()) return Model(std::move(model));
    model.expansion.bias.front() += scaling.shift;
    model.reports.front().bias += scaling.shift;
    note_target_scaling(model, scaling);
    return Model(std::move(model));
}

}  // namespace

Model RiskMinimiser::fit(const Dataset& data) const {
    risk_settings(settings_.loss).check(settings_);
    const bool smooth = settings_.loss != Loss::quantile;
    if (smooth && learns_by_passes(settings_.common, data)) {
        return with_own_rows(data, {}, [&](const Dataset& own, MatrixView<const double>) {
            return span_fit(task(), settings_, own, [](const RiskSettings& s, const Dataset& d) {
                return train(s, d, true);
            });
        });
    }
    const auto fit_all = [&](const Dataset& all, MatrixView<const double>) {
        return patient_fit(task(), settings_, all, [](const RiskSettings& s, const Dataset& d) {
            return train(s, d, false);
        });
    };
    return smooth && settings_.common.kernel == linear() ? with_all_rows(data, {}, fit_all)
                                                         : fit_all(data, {});
}

std::optional<Model> RiskMinimiser::fit_in_span(const Dataset& data,
                                                MatrixView<const double> targets,
                                                const Nystroem& how) const {
    risk_settings(settings_.loss).check(settings_);
    if (settings_.loss == Loss::quantile) return {};  // it has no curvature to take steps by
    if (targets.columns > 0) refuse_targets(task());
    return span_fit(task(), settings_, data, [&how](const RiskSettings& s, const Dataset& d) {
        return train(s, d, true, &how);
    });
}

std::vector<MachineEntry> risk_entries() {
    std::vector<MachineEntry> entries;
    const auto add = [&](Loss loss, const char* name, Learns learns, const char* about) {
        entries.push_back(risk_settings(loss).entry({.task = task_of(loss),
                                                     .name = name,
                                                     .family = "risk",
                                                     .learns = learns,
                                                     .about = about,
                                                     .certified = true,
                                                     .linear_by_passes = loss != Loss::quantile},
                                                    risk_minimiser));
    };
    add(Loss::logistic, "logistic", Learns::classes, "logistic regression; has probabilities");
    add(Loss::squared_hinge, "squared-hinge", Learns::classes, "the margin's errors squared");
    add(Loss::huber, "huber", Learns::numbers, "squared loss that becomes linear for outliers");
    add(Loss::quantile, "quantile", Learns::numbers, "a quantile of the targets");
    return entries;
}

}  // namespace mercer
