#include "mercer/learn/risk/gp_classifier.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/risk/detail/evidence_search.hpp"
#include "mercer/learn/risk/detail/laplace.hpp"
#include "mercer/learn/risk/detail/parameter_search.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

[[noreturn]] void not_positive(const Kernel& kernel) {
    throw InvalidInput("the kernel " + kernel.text() +
                       " gives a matrix that is not positive definite on this data, which no "
                       "Gaussian process has; use a positive definite kernel");
}

/// ±1 of each problem: class c against the rest, one problem for two classes.
std::vector<std::vector<double>> signs_of(const Sample& sample) {
    const std::size_t k = sample.classes.count();
    std::vector<std::vector<double>> all;
    for (std::size_t c = 0; c < (k == 2 ? 1 : k); ++c) {
        std::vector<double> signs;
        for (std::size_t i = 0; i < sample.size(); ++i) {
            signs.push_back(sample.class_of(i) == c ? 1 : -1);
        }
        all.push_back(std::move(signs));
    }
    return all;
}

/// What a search found, or the kernel as given.
struct Chosen {
    Kernel kernel;
    FitStatus status = FitStatus::converged;
    FoundParameters search{};
};

Chosen choose(const GpClassifierSettings& s, const Sample& sample,
              const std::vector<std::vector<double>>& problems) {
    if (!s.optimise) return {.kernel = sample.kernel};
    const Progress& progress = s.common.progress;
    const GramGradient k(sample.kernel, sample.x, sample.data.feature_names,
                         s.common.memory_bytes / 4, progress);
    ParameterSearch search{.fixed = s.fixed,
                           .restarts = s.restarts,
                           .iteration_limit = s.iteration_limit,
                           .seed = s.common.seed,
                           .progress = progress,
                           .of_what = k.kernel().text(),
                           .refuse = [&] { not_positive(k.kernel()); }};
    search.names = search_names(k.parameters());
    search.names.pop_back();  // the noise
    for (const KernelParameter& p : k.parameters()) search.start.push_back(p.value);
    Matrix<double> place(sample.size(), sample.size());
    search.evidence = [&](std::span<const double> values, std::span<double> slopes) {
        const GramGradient at = k.with(values);
        at.matrix(place.view(), progress);
        double sum = 0;
        std::ranges::fill(slopes, 0.0);
        for (const auto& signs : problems) {
            const LatentMode mode =
                find_mode(std::as_const(place).view(), signs, sample.data.weights, 1e-14, progress);
            if (!mode.found) return std::numeric_limits<double>::quiet_NaN();
            sum += mode.evidence;
            const Matrix<double> weights =
                evidence_weights(std::as_const(place).view(), mode, sample.data.weights, progress);
            const std::vector<double> own = at.contract(weights.view(), progress);
            for (std::size_t p = 0; p < own.size(); ++p) slopes[p] += own[p];
        }
        return sum;
    };
    FoundParameters found = maximise(search);
    // The usual form of the expression, as a file will have it.
    const Kernel moved = with_parameters(k.kernel(), found.values);
    const FitStatus status = found.status;
    return {Kernel::parse(moved.text()), status, std::move(found)};
}

Report report_of(const LatentMode& mode, const Chosen& chosen, CurvatureTest& curvature,
                 double tolerance) {
    Report r;
    r.primal = mode.primal;
    r.dual = mode.dual;
    set_gap(r);
    r.status = chosen.status;
    if (r.status == FitStatus::converged && r.relative_gap > tolerance) {
        r.status = FitStatus::stalled;
    }
    settle_bracket(r, curvature({}, chosen.status), std::numeric_limits<double>::infinity());
    r.rows = r.free_support_vectors = mode.alpha.size();
    r.squared_norm =
        std::inner_product(mode.alpha.begin(), mode.alpha.end(), mode.mean.begin(), 0.0);
    r.iterations = mode.iterations;
    r.figures["log_evidence"] = mode.evidence;
    return r;
}

void note_search(Report& r, const FoundParameters& search) {
    r.iterations = search.iterations;
    r.history = search.history;
    r.figures["evaluations"] = static_cast<double>(search.evaluations);
    for (const auto& [name, value] : search.at_limit) r.figures["at_limit_" + name] = value;
}

/// Packs L, row by row up to the diagonal, into one row.
void pack(const Matrix<double>& lower, std::span<double> out) {
    for (std::size_t i = 0; i < lower.rows(); ++i) {
        std::copy_n(lower.row(i).begin(), i + 1,
                    out.begin() + static_cast<std::ptrdiff_t>(factor_size(i)));
    }
}

Matrix<double> unpack(std::span<const double> packed, std::size_t n) {
    Matrix<double> lower(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(packed.begin() + static_cast<std::ptrdiff_t>(factor_size(i)), i + 1,
                    lower.row(i).begin());
    }
    return lower;
}

void check_memory(const GpClassifierSettings& s, std::size_t n, std::size_t problems) {
    const std::size_t most = s.common.memory_bytes / sizeof(double) / n;
    const std::size_t matrices = 3 + (s.keep_factor ? (problems + 1) / 2 : 0);
    if (n <= most / matrices) return;
    throw InvalidInput("a Gaussian process of " + std::to_string(n) + " rows and " +
                       std::to_string(problems) + " problems needs " +
                       std::to_string(n * n * sizeof(double) * matrices) +
                       " bytes for its matrices; allow more memory, take fewer rows, or use the "
                       "task logistic, which has the same mode with lambda = 0.5 and no bias");
}

Model learn(const GpClassifierSettings& s, const Dataset& data, std::optional<Kernel>& found) {
    const Stopwatch clock;
    const Progress& progress = s.common.progress;
    const Sample sample = take_sample(gpc_task, data, s.common);
    const std::size_t n = sample.size();
    const auto problems = signs_of(sample);
    check_memory(s, n, problems.size());
    const Chosen chosen = choose(s, sample, problems);
    found = chosen.kernel;
    const Gram<double> gram = make_gram<double>(chosen.kernel, sample.x, sample.data.feature_names);
    Matrix<double> k(n, n);
    gram.matrix(k.view(), chosen.status == FitStatus::cancelled ? Progress{} : progress);
    CurvatureTest curvature(gram.kernel(), sample.x, directions_of(Task::gp, false));
    ModelParts model = begin_model(gpc_task, sample, s.common);
    model.double_precision = true;
    model.trained.bias = false;
    model.trained.tolerance = s.tolerance;
    const std::size_t outputs = problems.size();
    Matrix<double> alpha(outputs, n);
    LatentFactors factors;
    factors.average = Matrix<double>(1, 1, s.average == LatentAverage::exact ? 0 : 1);
    factors.root = Matrix<double>(outputs, n);
    if (s.keep_factor) factors.lower = Matrix<double>(outputs, factor_size(n));
    for (std::size_t c = 0; c < outputs; ++c) {
        const LatentMode mode =
            find_mode(std::as_const(k).view(), problems[c], sample.data.weights, 1e-14,
                      chosen.status == FitStatus::cancelled ? Progress{} : progress);
        if (!mode.found) not_positive(gram.kernel());
        model.reports.push_back(report_of(mode, chosen, curvature, s.tolerance));
        if (outputs > 1) model.reports.back().name = sample.classes.names[c] + " vs rest";
        if (s.optimise) note_search(model.reports.back(), chosen.search);
        std::ranges::copy(mode.alpha, alpha.row(c).begin());
        std::ranges::copy(mode.root, factors.root.row(c).begin());
        if (s.keep_factor) pack(mode.factor, factors.lower.row(c));
    }
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    set_expansion(model, sample, gram.kernel(), all, std::move(alpha),
                  std::vector<double>(outputs, 0.0));
    if (s.keep_factor) model.extras.set(std::move(factors));
    model.extras.set(Calibration(std::vector<Sigmoid>(outputs, Sigmoid{.a = -1, .b = 0})));
    const double seconds = clock.seconds();
    for (Report& r : model.reports) r.seconds = seconds / static_cast<double>(outputs);
    return Model(std::move(model));
}

const Describe<GpClassifierSettings>& classifier_settings() {
    static const auto settings = [] {
        using S = GpClassifierSettings;
        Describe<S> d;
        d.add(&S::optimise, "optimise", "maximise the evidence over kernel parameters");
        Setting& fixed =
            d.add(&S::fixed, "fixed", "parameters that `optimise` leaves alone, such as gamma");
        fixed.flag = "fix";
        fixed.placeholder = "NAME,NAME";
        d.add(&S::restarts, "restarts", "further starts of `optimise`");
        d.add(&S::iteration_limit, "iteration_limit", "steps of `optimise` from each start").flag =
            "step-limit";
        d.add(&S::tolerance, "tolerance", "relative duality gap of the modes", Range::above(0))
            .flag = "-";
        d.add(&S::average, latent_average_words, "average",
              "how probabilities are averaged over the process");
        d.add(&S::keep_factor, "keep_factor", "keep what variances are computed from").flag = "-";
        return d;
    }();
    return settings;
}

/// By the trapezoidal rule in t = (z − mean) / deviation. σ has its nearest poles at ±πi, so steps
/// of 0.5 / deviation leave an error of e^(−4π²) or less; the Gaussian itself asks for 0.5.
double tail_of(double mean, double deviation) {
    const double reach = 9 + std::min(deviation, 20.0);
    const double step = std::max(std::min(0.5, 0.5 / deviation), 2 * reach / 8192);
    double sum = 0;
    for (double t = -reach; t <= reach; t += step) {
        sum += std::exp(-0.5 * t * t) / (1 + std::exp(mean + deviation * t));
    }
    return sum * step / std::sqrt(2 * std::numbers::pi);
}

double by_error_functions(double mean, double variance) {
    constexpr std::array lambda{0.41, 0.4, 0.37, 0.44, 0.39};
    constexpr std::array factor{-1854.8214151, 3516.89893646, 221.29346712, 128.12323805,
                                -2010.49422654};
    double sum = 0;
    for (std::size_t i = 0; i < lambda.size(); ++i) {
        const double l = lambda[i];
        sum += 0.5 * factor[i] * (1 + std::erf(l * mean / std::sqrt(1 + 2 * l * l * variance)));
    }
    return sum;
}

}  // namespace

double averaged_log_odds(double mean, double variance, LatentAverage average) {
    const double deviation = std::sqrt(std::max(0.0, variance));
    if (average == LatentAverage::error_functions) {
        const double p =
            std::clamp(by_error_functions(mean, deviation * deviation), 1e-12, 1 - 1e-12);
        return std::log(p / (1 - p));
    }
    if (deviation == 0) return mean;
    // The smaller probability is summed, so that neither loses its digits.
    const double tail = tail_of(std::abs(mean), deviation);
    if (!(tail > 0)) return mean;  // beyond all numbers
    return std::copysign(std::log1p(-tail) - std::log(tail), mean);
}

LatentEvidence latent_evidence(const GramGradient& k, std::span<const double> signs,
                               std::span<const double> weights, bool with_gradient) {
    const std::size_t n = k.size();
    if (signs.size() != n || (!weights.empty() && weights.size() != n)) {
        throw InvalidInput("there are " + std::to_string(signs.size()) + " labels and " +
                           std::to_string(weights.size()) + " weights for " + std::to_string(n) +
                           " rows");
    }
    Matrix<double> matrix(n, n);
    k.matrix(matrix.view());
    const LatentMode mode = find_mode(std::as_const(matrix).view(), signs, weights, 1e-14, {});
    LatentEvidence result{.defined = mode.found, .value = mode.evidence};
    if (!mode.found || !with_gradient) return result;
    result.gradient =
        k.contract(evidence_weights(std::as_const(matrix).view(), mode, weights, {}).view());
    return result;
}

Model GpClassifier::fit(const Dataset& data) const {
    classifier_settings().check(settings_);
    std::optional<Kernel> found;
    const auto fit_some = [&](const FitSettings& common, const std::vector<std::size_t>* rows) {
        GpClassifierSettings own = settings_;
        own.common = common;
        if (!rows) return learn(own, data, found);
        // A process given few rows, with what the search had found of its parameters.
        own.optimise = false;
        if (found) own.common.kernel = *found;
        return learn(own, data.select(*rows), found);
    };
    return patient_fit_of(task(), settings_.common, data, fit_some);
}

void LatentFactors::check(const ModelParts& model, const std::string& place) const {
    const std::size_t n = model.expansion.size();
    const std::size_t outputs = model.expansion.outputs();
    const bool fits = lower.rows() == outputs && lower.columns() == factor_size(n) &&
                      root.rows() == outputs && root.columns() == n && average.values().size() == 1;
    if (fits) return;
    throw InvalidInput(place + ": latent_factor, latent_root and latent_average do not fit " +
                       std::to_string(n) + " points and " + std::to_string(outputs) + " outputs");
}

std::shared_ptr<const Extra> LatentFactors::reduced(const std::shared_ptr<const Extra>&,
                                                    const Model&, const Expansion&) const {
    return nullptr;
}

namespace {

Latent latent_at(const Model& model, const LatentFactors& factors, const Rows& scaled,
                 const Progress& progress) {
    const Expansion& e = model.expansion();
    const std::size_t n = e.size();
    const Gram<double> gram =
        make_gram<double>(e.kernel, e.reference.size() > 0 ? e.reference : e.points);
    const auto points = e.reference.size() > 0 ? gram.prepare(e.points) : gram.reference();
    Latent result{Matrix<double>(scaled.size(), e.outputs()),
                  Matrix<double>(scaled.size(), e.outputs())};
    for (std::size_t c = 0; c < e.outputs(); ++c) {
        const Matrix<double> lower = unpack(factors.lower.row(c), n);
        constexpr std::size_t chunk = 512;
        for (std::size_t first = 0; first < scaled.size(); first += chunk) {
            const double done = static_cast<double>(c * scaled.size() + first) /
                                static_cast<double>(scaled.size() * e.outputs());
            if (!keep_going(progress, {"predicting", done})) throw Cancelled();
            std::vector<std::size_t> which(std::min(chunk, scaled.size() - first));
            std::iota(which.begin(), which.end(), first);
            const auto rows = gram.prepare(scaled.select(which));
            std::vector<double> own(which.size());
            gram.diagonal(rows, own);
            Matrix<double> v(which.size(), n);
            gram.block(rows, points, v.view());
            for (std::size_t i = 0; i < which.size(); ++i) {
                double mean = e.bias[c];
                for (std::size_t j = 0; j < n; ++j) {
                    mean += e.coefficients(c, j) * v(i, j);
                    v(i, j) *= factors.root(c, j);
                }
                result.mean(first + i, c) = mean;
            }
            forward_solve(lower.view(), v.view());
            for (std::size_t i = 0; i < which.size(); ++i) {
                double explained = 0;
                for (const double x : v.row(i)) explained += x * x;
                result.variance(first + i, c) = std::max(0.0, own[i] - explained);
            }
        }
    }
    return result;
}

}  // namespace

Matrix<double> LatentFactors::decide(const Model& model, const Rows& scaled,
                                     const Progress& progress) const {
    const Latent f = latent_at(model, *this, scaled, progress);
    const auto rule = average(0, 0) == 0 ? LatentAverage::exact : LatentAverage::error_functions;
    Matrix<double> odds(f.mean.rows(), f.mean.columns());
    for (std::size_t i = 0; i < odds.rows(); ++i) {
        for (std::size_t c = 0; c < odds.columns(); ++c) {
            odds(i, c) = averaged_log_odds(f.mean(i, c), f.variance(i, c), rule);
        }
    }
    return odds;
}

Latent latent_of(const Model& model, const Rows& x, const Progress& progress) {
    const LatentFactors* factors = model.extras().find<LatentFactors>();
    if (!factors) {
        throw InvalidInput(
            "means and variances of a process need a model of the task gpc that was trained with "
            "its "
            "factors; this one is of the task " +
            task_name(model.task()));
    }
    return latent_at(model, *factors, model.scaling().apply(rows_for(model, x)), progress);
}

MachineEntry gp_classifier_entry() {
    return classifier_settings().entry(
        {.task = gpc_task,
         .name = "gpc",
         .family = "risk",
         .learns = Learns::classes,
         .about = "Gaussian process classification, with probabilities",
         .certified = true,
         .extras = {extra_kind<LatentFactors>("latent-factors")}},
        gp_classifier);
}

}  // namespace mercer
