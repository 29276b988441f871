#include "mercer/learn/risk/gaussian_process.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "mercer/base/detail/buffer.hpp"
#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/detail/span_sample.hpp"
#include "mercer/learn/risk/detail/evidence_search.hpp"
#include "mercer/learn/risk/detail/gaussian_process_span.hpp"
#include "mercer/learn/risk/detail/matrix_free_process.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

[[noreturn]] void too_little_noise(const Kernel& kernel, double noise) {
    throw InvalidInput("the kernel " + kernel.text() + " with noise = " + format_number(noise) +
                       " gives a matrix that is not positive definite on this data; use more "
                       "noise or a positive definite kernel");
}

/// L with zeros above the diagonal.
Matrix<double> square_factor(const Posterior& p) {
    const std::size_t n = p.alpha.size();
    Matrix<double> result(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(p.factor.data() + factor_size(i), i + 1, result.row(i).begin());
    }
    return result;
}

/// The model at the hyperparameters, from the posterior there.
ModelParts assemble(const GaussianProcessSettings& settings, const Sample& sample,
                    std::span<const double> y, const TargetScaling& scaling,
                    const Hyperparameters& h, const Gram<double>& gram) {
    const std::size_t n = sample.size();
    Matrix<double> alpha(1, n);
    std::ranges::copy(h.posterior->alpha, alpha.row(0).begin());
    std::vector<double> image(n, 0.0);  // K α, computed anew: the certificate believes no solver
    gram.add_product(gram.reference(), gram.reference(), alpha.row(0), image);
    ModelParts model = begin_model(Task::gp, sample, settings.common);
    model.double_precision = true;
    model.trained.bias = scaling.shift != 0;
    note_target_scaling(model, scaling);
    model.trained.numbers["noise"] = h.noise;
    Report report = certify_ridge({.alpha = alpha.row(0),
                                   .image = image,
                                   .target = y,
                                   .weights = sample.data.weights,
                                   .lambda = h.noise,
                                   .bias = 0,
                                   .has_bias = false});
    report.bias = scaling.shift;
    report.status = h.status;
    CurvatureTest curvature(gram.kernel(), sample.x, directions_of(Task::gp, false));
    settle_bracket(report, curvature({}, h.status), std::numeric_limits<double>::infinity());
    report.iterations = h.iterations;
    report.history = h.history;
    report.free_support_vectors = n;
    report.figures["log_evidence"] = h.posterior->evidence;
    report.figures["noise"] = h.noise;
    report.figures["evaluations"] = static_cast<double>(h.evaluations);
    for (const auto& [name, value] : h.at_limit) report.figures["at_limit_" + name] = value;
    model.reports = {std::move(report)};
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (double& a : alpha.values()) a *= scaling.scale;
    set_expansion(model, sample, gram.kernel(), all, std::move(alpha), {scaling.shift});
    if (settings.keep_factor) model.extras.set(Factor(square_factor(*h.posterior)));
    return model;
}

}  // namespace

Evidence log_evidence(const GramGradient& k, std::span<const double> y, double noise,
                      std::span<const double> weights, bool with_gradient) {
    const std::size_t n = k.size();
    if (y.size() != n || (!weights.empty() && weights.size() != n)) {
        throw InvalidInput("there are " + std::to_string(y.size()) + " targets and " +
                           std::to_string(weights.size()) + " weights for " + std::to_string(n) +
                           " rows");
    }
    const LargeBuffer buffer(n * n * sizeof(double));
    return evaluate_evidence(k, y, noise, weights, with_gradient, {buffer.as<double>(), n, n},
                             nullptr, {});
}

namespace {

/// `found` gets the hyperparameters of a search that was stopped without room for its posterior.
Model learn(const GaussianProcessSettings& settings, const Dataset& data,
            std::optional<Hyperparameters>& found) {
    const Stopwatch clock;
    const Progress& progress = settings.common.progress;
    const std::size_t rows = data.size();
    if (rows > 0 && rows > settings.common.memory_bytes / sizeof(double) / rows) {
        return matrix_free_process(settings, data);
    }
    const Sample sample = take_sample(Task::gp, data, settings.common);
    const std::size_t n = sample.size();
    std::vector<double> y = sample.data.y.values;
    TargetScale rule = settings.common.target_scale;
    if (rule == TargetScale::automatic && settings.optimise) rule = TargetScale::standard;
    const TargetScaling scaling = fit_target_scale(rule, y, sample.data.weights);
    for (double& v : y) v = (v - scaling.shift) / scaling.scale;
    const LargeBuffer buffer(n * n * sizeof(double));
    const MatrixView<double> place(buffer.as<double>(), n, n);
    Hyperparameters h{.kernel = settings.common.kernel, .noise = settings.noise};
    if (settings.optimise) {
        std::size_t room = settings.common.memory_bytes - buffer.bytes();
        const std::size_t kept = 2 * factor_size(n) * sizeof(double);
        const bool keep = kept <= room;
        const GramGradient k(settings.common.kernel, sample.x, sample.data.feature_names,
                             keep ? room - kept : room, progress);
        h = maximise_evidence(settings, sample, y, place, k, keep);
        if (h.status == FitStatus::cancelled && !h.posterior) {
            found = h;
            throw Cancelled();
        }
    }
    const auto gram = make_gram<double>(h.kernel, sample.x, sample.data.feature_names);
    if (!h.posterior) {
        gram.matrix(place, progress);
        h.posterior =
            posterior_in(place, y, noise_of_rows(h.noise, sample.data.weights, n), progress);
        if (!h.posterior) too_little_noise(gram.kernel(), h.noise);
    }
    ModelParts model = assemble(settings, sample, y, scaling, h, gram);
    model.reports.front().seconds = clock.seconds();
    return Model(std::move(model));
}

const Describe<GaussianProcessSettings>& process_settings() {
    static const auto settings = [] {
        using S = GaussianProcessSettings;
        Describe<S> d;
        d.add(&S::noise, "noise", "variance of the noise", Range::above(0)).tunable = true;
        d.add(&S::optimise, "optimise", "maximise the evidence over noise and kernel parameters");
        Setting& fixed = d.add(&S::fixed, "fixed",
                               "parameters that `optimise` leaves alone, such as gamma,noise");
        fixed.flag = "fix";
        fixed.placeholder = "NAME,NAME";
        d.add(&S::restarts, "restarts", "further starts of `optimise`");
        d.add(&S::iteration_limit, "iteration_limit", "steps of `optimise` from each start").flag =
            "step-limit";
        d.add(&S::keep_factor, "keep_factor", "keep what deviations are computed from").flag = "-";
        return d;
    }();
    return settings;
}

}  // namespace

Model GaussianProcess::fit(const Dataset& data) const {
    process_settings().check(settings_);
    std::optional<Hyperparameters> found;
    const auto fit_some = [&](const FitSettings& common, const std::vector<std::size_t>* rows) {
        GaussianProcessSettings own = settings_;
        own.common = common;
        if (!rows) return learn(own, data, found);
        // A process given few rows, with what the search had found of its parameters.
        if (own.optimise && own.common.target_scale == TargetScale::automatic) {
            own.common.target_scale = TargetScale::standard;
        }
        own.optimise = false;
        if (found) {
            own.common.kernel = found->kernel;
            own.noise = found->noise;
        }
        return learn(own, data.select(*rows), found);
    };
    return patient_fit_of(task(), settings_.common, data, fit_some);
}

Model GaussianProcess::fit_in_span(const Dataset& data, MatrixView<const double> /*targets*/,
                                   const Nystroem& how) const {
    process_settings().check(settings_);
    return span_fit(task(), settings_, data,
                    [&](const GaussianProcessSettings& settings, const Dataset& own) {
                        return process_in_span(settings, own, how);
                    });
}

std::vector<double> predictive_deviation(const Model& model, const Rows& x, bool with_noise,
                                         const Progress& progress) {
    const Expansion& e = model.expansion();
    const Factor* factor = model.extras().find<Factor>();
    const bool matrix_free = !factor && is_matrix_free(model);
    if (model.task() != Task::gp || (!factor && !matrix_free)) {
        throw InvalidInput(
            "standard deviations need a model of the task gp that was trained with its factor; "
            "this one is of the task " +
            task_name(model.task()) + (model.task() == Task::gp ? " without factor" : ""));
    }
    const Rows scaled = model.scaling().apply(rows_for(model, x));
    const double scale = target_scaling_of(model).scale;
    double noise = 0;
    if (with_noise) {
        const auto given = model.trained().numbers.find("noise");
        if (given != model.trained().numbers.end()) noise = given->second;
    }
    std::vector<double> result(x.size());
    if (matrix_free) {
        result = matrix_free_variance(model, scaled, progress);
        for (double& v : result) v = scale * std::sqrt(v + noise);
        return result;
    }
    const auto gram = make_gram<double>(e.kernel, e.points);
    constexpr std::size_t chunk = 512;
    for (std::size_t first = 0; first < x.size(); first += chunk) {
        const double done = static_cast<double>(first) / static_cast<double>(x.size());
        if (!keep_going(progress, {"variance", done})) throw Cancelled();
        std::vector<std::size_t> positions(std::min(chunk, x.size() - first));
        std::iota(positions.begin(), positions.end(), first);
        const auto points = gram.prepare(scaled.select(positions));
        std::vector<double> variance(positions.size());
        gram.diagonal(points, variance);
        Matrix<double> v(positions.size(), e.size());
        gram.block(points, gram.reference(), v.view());
        forward_solve(factor->lower.view(), v.view());
        for (std::size_t i = 0; i < positions.size(); ++i) {
            // Rounding may take a variance near 0 below it.
            const double left = std::max(0.0, variance[i] - dot(v.row(i), v.row(i)));
            result[first + i] = scale * std::sqrt(left + noise);
        }
    }
    return result;
}

void Factor::check(const ModelParts& model, const std::string& place) const {
    const std::size_t points = model.expansion.size();
    if (lower.rows() == points && lower.columns() == points) return;
    throw InvalidInput(place + ": the factor of a Gaussian process is " +
                       std::to_string(lower.rows()) + " x " + std::to_string(lower.columns()) +
                       " for " + std::to_string(points) + " points");
}

std::shared_ptr<const Extra> Factor::reduced(const std::shared_ptr<const Extra>&, const Model&,
                                             const Expansion&) const {
    return nullptr;
}

MachineEntry gaussian_process_entry() {
    return process_settings().entry({.task = Task::gp,
                                     .name = "gp",
                                     .family = "risk",
                                     .learns = Learns::numbers,
                                     .about = "Gaussian process regression, with deviations",
                                     .certified = true,
                                     .extras = {extra_kind<Factor>("factor")}},
                                    gaussian_process);
}

}  // namespace mercer
