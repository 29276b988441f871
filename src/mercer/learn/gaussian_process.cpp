#include "mercer/learn/gaussian_process.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <optional>

#include "mercer/base/buffer.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/finite.hpp"
#include "mercer/learn/ridge.hpp"
#include "mercer/learn/sample.hpp"
#include "mercer/solver/cholesky.hpp"
#include "mercer/solver/lbfgs.hpp"

namespace mercer {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<double> noise_of_rows(double noise, std::span<const double> weights, std::size_t n) {
    std::vector<double> result(n, noise);
    for (std::size_t i = 0; i < weights.size(); ++i) result[i] /= weights[i];
    return result;
}

double inner(std::span<const double> a, std::span<const double> b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

double evidence_value(const ShiftedSystem& system, std::span<const double> y,
                      std::span<const double> alpha) {
    const auto n = static_cast<double>(y.size());
    return -0.5 * (inner(y, alpha) + system.log_determinant() + n * std::log(2 * std::numbers::pi));
}

/// The same n × n place for every evaluation of one search.
Evidence evaluate(const GramGradient& k, std::span<const double> y, double noise,
                  std::span<const double> weights, bool with_gradient, MatrixView<double> place,
                  const Progress& progress) {
    const std::size_t n = k.size();
    k.matrix(place, progress);
    ShiftedSystem system(place, noise_of_rows(noise, weights, n));
    Evidence result{.defined = system.factored()};
    if (!result.defined) return result;
    Matrix<double> alpha(1, n);
    std::ranges::copy(y, alpha.row(0).begin());
    system.solve(alpha.view());
    result.value = evidence_value(system, y, alpha.row(0));
    if (!with_gradient) return result;
    system.invert();
    const auto a = alpha.row(0);
    double by_noise = 0;
    for (std::size_t i = 0; i < n; ++i) {
        by_noise += (a[i] * a[i] - place(i, i)) / (weights.empty() ? 1 : weights[i]);
    }
    parallel_ranges(n, 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            for (std::size_t j = 0; j <= i; ++j) place(i, j) = a[i] * a[j] - place(i, j);
        }
    });
    result.gradient = k.contract(place);
    result.gradient.push_back(by_noise);
    for (double& slope : result.gradient) slope /= 2;
    return result;
}

/// Kernel and noise, as found or as given.
struct Hyperparameters {
    Kernel kernel;
    double noise = 0;
    FitStatus status = FitStatus::converged;
    std::size_t iterations = 0;
    std::size_t evaluations = 0;
    std::vector<double> history{};
};

/// Maximises the evidence over the logarithms of the positive parameters.
class Search {
   public:
    Search(const GaussianProcessSettings& settings, const Sample& sample, std::span<const double> y,
           MatrixView<double> place, const GramGradient& k)
        : settings_(settings), sample_(sample), y_(y), place_(place), k_(k) {
        for (const KernelParameter& p : k.parameters()) values_.push_back(p.value);
        for (std::size_t p = 0; p < values_.size(); ++p) {
            if (values_[p] > 0) free_.push_back(p);
        }
    }

    Hyperparameters run() {
        LbfgsSettings lbfgs{.iteration_limit = settings_.iteration_limit,
                            .gradient_tolerance = 1e-5,
                            .value_tolerance = 1e-10};
        lbfgs.progress = [this](std::size_t, double value) { return go_on(-value); };
        std::vector<double> start;
        for (const std::size_t p : free_) start.push_back(std::log(values_[p]));
        start.push_back(std::log(settings_.noise));
        for (const double v : start) {  // a factor of 1e6 either way
            lbfgs.lower.push_back(v - 6 * std::numbers::ln10);
            lbfgs.upper.push_back(v + 6 * std::numbers::ln10);
        }
        const SmoothFunction f = [this](std::span<const double> x, std::span<double> g) {
            return cost(x, g);
        };
        std::optional<LbfgsSolution> best;
        for (std::size_t r = 0; r <= settings_.restarts; ++r) {
            if (r > 0 && !go_on(-best->value)) break;
            std::vector<double> x = start;
            if (r > 0) {
                Random random(settings_.common.seed, r);
                for (double& v : x) v += 6 * random.uniform() - 3;  // a factor of 20 either way
                std::vector<double> unused(x.size());
                if (!std::isfinite(cost(x, unused))) continue;
            } else {
                std::vector<double> unused(x.size());
                if (!std::isfinite(cost(x, unused))) {
                    throw InvalidInput("the kernel " + k_.kernel().text() +
                                       " with noise = " + format_number(settings_.noise) +
                                       " gives a matrix that is not positive definite on this "
                                       "data; use more noise or a positive definite kernel");
                }
            }
            LbfgsSolution found = minimise(x, f, lbfgs);
            if (!best || found.value < best->value) best = std::move(found);
        }
        return result(*best);
    }

   private:
    bool go_on(double evidence) {
        const std::chrono::duration<double> used = Clock::now() - start_;
        const double limit = settings_.common.time_limit;
        out_of_time_ = out_of_time_ || (limit > 0 && used.count() > limit);
        const std::string detail = "log evidence " + format_number(evidence);
        stopped_ = stopped_ || out_of_time_ ||
                   !keep_going(settings_.common.progress, {"evidence", -1, detail});
        return !stopped_;
    }

    std::vector<double> values_at(std::span<const double> x) const {
        std::vector<double> values = values_;
        for (std::size_t i = 0; i < free_.size(); ++i) values[free_[i]] = std::exp(x[i]);
        return values;
    }

    /// −log p(y), with infinity where it is not defined.
    double cost(std::span<const double> x, std::span<double> gradient) {
        ++evaluations_;
        const double noise = std::exp(x.back());
        const std::vector<double> values = values_at(x);
        const Evidence e =
            evaluate(k_.with(values), y_, noise, sample_.data.weights, true, place_, {});
        if (!e.defined) return std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < free_.size(); ++i) {
            gradient[i] = -e.gradient[free_[i]] * values[free_[i]];
        }
        gradient.back() = -e.gradient.back() * noise;
        return -e.value;
    }

    Hyperparameters result(const LbfgsSolution& best) const {
        // The usual form of the expression, as a file will have it.
        const Kernel moved = with_parameters(k_.kernel(), values_at(best.x));
        Hyperparameters h{.kernel = Kernel::parse(moved.text()), .noise = std::exp(best.x.back())};
        h.iterations = best.iterations;
        h.evaluations = evaluations_;
        for (const double v : best.history) h.history.push_back(-v);
        if (stopped_) {
            h.status = out_of_time_ ? FitStatus::time_limit : FitStatus::cancelled;
        } else if (best.status == LbfgsStatus::iteration_limit) {
            h.status = FitStatus::iteration_limit;
        } else if (best.status == LbfgsStatus::stalled) {
            h.status = FitStatus::stalled;
        }
        return h;
    }

    const GaussianProcessSettings& settings_;
    const Sample& sample_;
    std::span<const double> y_;
    MatrixView<double> place_;
    const GramGradient& k_;
    std::vector<double> values_{};
    std::vector<std::size_t> free_{};
    Clock::time_point start_ = Clock::now();
    std::size_t evaluations_ = 0;
    bool stopped_ = false;
    bool out_of_time_ = false;
};

/// L with zeros above the diagonal.
Matrix<double> lower_triangle(MatrixView<const double> a) {
    Matrix<double> result(a.rows, a.rows);
    for (std::size_t i = 0; i < a.rows; ++i) {
        std::copy_n(a.row(i).begin(), i + 1, result.row(i).begin());
    }
    return result;
}

/// The final system at the hyperparameters, and the model made of it.
Model finish(const GaussianProcessSettings& settings, const Sample& sample,
             std::span<const double> y, double mean, const Hyperparameters& h,
             MatrixView<double> place) {
    const std::size_t n = sample.size();
    // Whoever stopped the search wants what it found, and is not asked again.
    const bool stopped = h.status == FitStatus::cancelled || h.status == FitStatus::time_limit;
    const Progress progress = stopped ? Progress{} : settings.common.progress;
    const Gram<double> gram(h.kernel, sample.x, sample.data.feature_names, progress);
    const Kernel& kernel = gram.kernel();
    gram.matrix(place, progress);
    ShiftedSystem system(place, noise_of_rows(h.noise, sample.data.weights, n));
    if (!system.factored()) {
        throw InvalidInput("the kernel " + kernel.text() +
                           " with noise = " + format_number(h.noise) +
                           " gives a matrix that is not positive definite on this data; use more "
                           "noise or a positive definite kernel");
    }
    Matrix<double> alpha(1, n);
    std::ranges::copy(y, alpha.row(0).begin());
    system.solve(alpha.view());
    Matrix<double> image(1, n);
    system.apply_k(alpha.view(), image.view());

    Model model = begin_model(Task::gp, sample, settings.common);
    model.double_precision = true;
    model.trained.bias = settings.center_targets;
    model.trained.numbers["noise"] = h.noise;
    Report report = certify_ridge({.alpha = alpha.row(0),
                                   .image = image.row(0),
                                   .target = y,
                                   .weights = sample.data.weights,
                                   .lambda = h.noise,
                                   .bias = 0,
                                   .has_bias = false});
    report.bias = mean;
    report.status = h.status;
    CurvatureTest curvature(kernel, sample.x, directions_of(Task::gp, false));
    settle_bracket(report, curvature({}, h.status), std::numeric_limits<double>::infinity());
    report.iterations = h.iterations;
    report.history = h.history;
    report.free_support_vectors = n;
    report.figures["log_evidence"] = evidence_value(system, y, alpha.row(0));
    report.figures["noise"] = h.noise;
    report.figures["evaluations"] = static_cast<double>(h.evaluations);
    model.reports = {std::move(report)};
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    set_expansion(model, sample, kernel, all, std::move(alpha), {mean});
    if (settings.keep_factor) model.arrays["factor"] = lower_triangle(system.factor());
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
    return evaluate(k, y, noise, weights, with_gradient, {buffer.as<double>(), n, n}, {});
}

Model GaussianProcess::fit(const Dataset& data) const {
    const auto start = Clock::now();
    require_range("noise", settings_.noise, settings_.noise > 0, "greater than 0");
    const Sample sample = take_sample(task(), data, settings_.common);
    const std::size_t n = sample.size();
    if (n > settings_.common.memory_bytes / sizeof(double) / n) {
        throw InvalidInput("a Gaussian process of " + std::to_string(n) + " rows needs " +
                           std::to_string(n * n * sizeof(double)) +
                           " bytes for its matrix; allow more memory, take fewer rows, or use the "
                           "task ridge, which has the same mean with lambda = noise");
    }
    std::vector<double> y = sample.data.y.values;
    double mean = 0;
    if (settings_.center_targets) {
        double total = 0;
        for (std::size_t i = 0; i < n; ++i) {
            mean += sample.weight(i) * y[i];
            total += sample.weight(i);
        }
        mean /= total;
        for (double& v : y) v -= mean;
    }
    const LargeBuffer buffer(n * n * sizeof(double));
    const MatrixView<double> place(buffer.as<double>(), n, n);
    Hyperparameters h{.kernel = settings_.common.kernel, .noise = settings_.noise};
    if (settings_.optimise) {
        const GramGradient k(settings_.common.kernel, sample.x, sample.data.feature_names,
                             settings_.common.memory_bytes - buffer.bytes());
        h = Search(settings_, sample, y, place, k).run();
    }
    Model model = finish(settings_, sample, y, mean, h, place);
    model.reports.front().seconds = std::chrono::duration<double>(Clock::now() - start).count();
    return model;
}

std::vector<double> predictive_deviation(const Model& model, const Rows& x, bool with_noise,
                                         const Progress& progress) {
    const Expansion& e = model.expansion;
    const auto found = model.arrays.find("factor");
    const bool has_factor = found != model.arrays.end() && found->second.rows() == e.size() &&
                            found->second.columns() == e.size();
    if (model.task != Task::gp || !has_factor) {
        throw InvalidInput(
            "standard deviations need a model of the task gp that was trained with its factor; "
            "this one is of the task " +
            task_name(model.task) + (model.task == Task::gp ? " without factor" : ""));
    }
    const Rows scaled = model.scaling.apply(rows_for(model, x));
    const Gram<double> gram(e.kernel, e.points);
    double noise = 0;
    if (with_noise) {
        const auto given = model.trained.numbers.find("noise");
        if (given != model.trained.numbers.end()) noise = given->second;
    }
    std::vector<double> result(x.size());
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
        forward_solve(found->second.view(), v.view());
        for (std::size_t i = 0; i < positions.size(); ++i) {
            // Rounding may take a variance near 0 below it.
            const double left = std::max(0.0, variance[i] - inner(v.row(i), v.row(i)));
            result[first + i] = std::sqrt(left + noise);
        }
    }
    return result;
}

}  // namespace mercer
