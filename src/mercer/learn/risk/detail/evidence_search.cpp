#include "mercer/learn/risk/detail/evidence_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/risk/detail/parameter_search.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

void keep_posterior(const ShiftedSystem& system, std::span<const double> alpha, double evidence,
                    Posterior& to) {
    const std::size_t n = alpha.size();
    to.alpha.assign(alpha.begin(), alpha.end());
    to.evidence = evidence;
    to.factor.resize(factor_size(n));
    parallel_ranges(n, 256, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            std::copy_n(system.factor().row(i).begin(), i + 1, to.factor.data() + factor_size(i));
        }
    });
}

}  // namespace

std::vector<double> noise_of_rows(double noise, std::span<const double> weights, std::size_t n) {
    std::vector<double> result(n, noise);
    for (std::size_t i = 0; i < weights.size(); ++i) result[i] /= weights[i];
    return result;
}

double evidence_of(double log_determinant, std::span<const double> y,
                   std::span<const double> alpha) {
    const auto n = static_cast<double>(y.size());
    const double fit = std::inner_product(y.begin(), y.end(), alpha.begin(), 0.0);
    return -0.5 * (fit + log_determinant + n * std::log(2 * std::numbers::pi));
}

std::optional<Posterior> posterior_in(MatrixView<double> place, std::span<const double> y,
                                      std::span<const double> noise, const Progress& progress) {
    const ShiftedSystem system(place, noise, progress);
    if (!system.factored()) return std::nullopt;
    Matrix<double> alpha(1, y.size());
    std::ranges::copy(y, alpha.row(0).begin());
    system.solve(alpha.view());
    std::optional<Posterior> result(std::in_place);
    keep_posterior(system, alpha.row(0), evidence_of(system.log_determinant(), y, alpha.row(0)),
                   *result);
    return result;
}

Evidence evaluate_evidence(const GramGradient& k, std::span<const double> y, double noise,
                           std::span<const double> weights, bool with_gradient,
                           MatrixView<double> place, Posterior* keep, const Progress& progress) {
    const std::size_t n = k.size();
    k.matrix(place, progress);
    ShiftedSystem system(place, noise_of_rows(noise, weights, n), progress);
    Evidence result{.defined = system.factored()};
    if (!result.defined) return result;
    Matrix<double> alpha(1, n);
    std::ranges::copy(y, alpha.row(0).begin());
    system.solve(alpha.view());
    result.value = evidence_of(system.log_determinant(), y, alpha.row(0));
    if (keep) keep_posterior(system, alpha.row(0), result.value, *keep);
    if (!with_gradient) return result;
    system.invert(progress);
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
    result.gradient = k.contract(place, progress);
    result.gradient.push_back(by_noise);
    for (double& slope : result.gradient) slope /= 2;
    return result;
}

Hyperparameters maximise_evidence(const GaussianProcessSettings& settings, const Sample& sample,
                                  std::span<const double> y, MatrixView<double> place,
                                  const GramGradient& k, bool keep) {
    Posterior candidate;  // of the evaluation under way
    Posterior kept;       // of the best so far
    std::vector<double> kept_at;
    ParameterSearch search{.names = search_names(k.parameters()),
                           .fixed = settings.fixed,
                           .restarts = settings.restarts,
                           .iteration_limit = settings.iteration_limit,
                           .seed = settings.common.seed,
                           .progress = settings.common.progress,
                           .of_what = k.kernel().text()};
    for (const KernelParameter& p : k.parameters()) search.start.push_back(p.value);
    search.start.push_back(settings.noise);
    search.refuse = [&] {
        throw InvalidInput("the kernel " + k.kernel().text() +
                           " with noise = " + format_number(settings.noise) +
                           " gives a matrix that is not positive definite on this "
                           "data; use more noise or a positive definite kernel");
    };
    search.evidence = [&](std::span<const double> values, std::span<double> slopes) {
        const Evidence e = evaluate_evidence(k.with(values.first(values.size() - 1)), y,
                                             values.back(), sample.data.weights, true, place,
                                             keep ? &candidate : nullptr, settings.common.progress);
        if (!e.defined) return std::numeric_limits<double>::quiet_NaN();
        if (keep && e.value > kept.evidence) {
            std::swap(candidate, kept);
            kept_at.assign(values.begin(), values.end());
        }
        std::ranges::copy(e.gradient, slopes.begin());
        return e.value;
    };
    FoundParameters found = maximise(search);
    const std::span<const double> of_kernel(found.values.data(), found.values.size() - 1);
    // The usual form of the expression, as a file will have it.
    const Kernel moved = with_parameters(k.kernel(), of_kernel);
    Hyperparameters h{.kernel = Kernel::parse(moved.text()), .noise = found.values.back()};
    h.status = found.status;
    h.iterations = found.iterations;
    h.evaluations = found.evaluations;
    h.history = std::move(found.history);
    h.at_limit = std::move(found.at_limit);
    if (kept_at == found.values) h.posterior = std::move(kept);
    return h;
}

std::vector<std::string> search_names(const std::vector<KernelParameter>& parameters) {
    std::vector<std::string> names;
    std::map<std::string, std::size_t> seen;
    for (const KernelParameter& p : parameters) {
        const std::size_t number = ++seen[p.name];
        names.push_back(number == 1 ? p.name : p.name + '_' + std::to_string(number));
    }
    names.emplace_back("noise");
    return names;
}

}  // namespace mercer
