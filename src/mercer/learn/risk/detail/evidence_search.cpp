#include "mercer/learn/risk/detail/evidence_search.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/solver/detail/lbfgs.hpp"
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

/// Maximises the evidence over the logarithms of the positive parameters.
class Search {
   public:
    Search(const GaussianProcessSettings& settings, const Sample& sample, std::span<const double> y,
           MatrixView<double> place, const GramGradient& k, bool keep)
        : settings_(settings), sample_(sample), y_(y), place_(place), k_(k), keep_(keep) {
        for (const KernelParameter& p : k.parameters()) values_.push_back(p.value);
        values_.push_back(settings.noise);
        names_ = search_names(k.parameters());
        const std::vector<bool> held = fixed_ones();
        for (std::size_t p = 0; p < values_.size(); ++p) {
            if (values_[p] > 0 && !held[p]) free_.push_back(p);
        }
        if (free_.empty()) {
            throw InvalidInput("every parameter of " + k.kernel().text() +
                               " and the noise are held fixed: there is nothing to optimise");
        }
    }

    Hyperparameters run() {
        LbfgsSettings lbfgs{.iteration_limit = settings_.iteration_limit,
                            .gradient_tolerance = 1e-5,
                            .value_tolerance = 1e-10};
        lbfgs.progress = [this](std::size_t, double value) { return go_on(-value); };
        std::vector<double> start;
        for (const std::size_t p : free_) start.push_back(std::log(values_[p]));
        for (const double v : start) {
            lbfgs.lower.push_back(v - reach);
            lbfgs.upper.push_back(v + reach);
        }
        const SmoothFunction f = [this](std::span<const double> x, std::span<double> g) {
            return cost(x, g);
        };
        std::optional<LbfgsSolution> best;
        for (std::size_t r = 0; r <= settings_.restarts; ++r) {
            if (r > 0 && !go_on(-best->value)) break;
            std::vector<double> x = start;
            Random random(settings_.common.seed, r);
            for (double& v : x) v += r == 0 ? 0 : 6 * random.uniform() - 3;  // a factor of 20
            std::vector<double> unused(x.size());
            if (!std::isfinite(cost(x, unused))) {
                if (r > 0) continue;
                if (stopped_) throw Cancelled();
                throw InvalidInput("the kernel " + k_.kernel().text() +
                                   " with noise = " + format_number(settings_.noise) +
                                   " gives a matrix that is not positive definite on this "
                                   "data; use more noise or a positive definite kernel");
            }
            LbfgsSolution found = minimise(x, f, lbfgs);
            if (!best || found.value < best->value) best = std::move(found);
        }
        return result(*best);
    }

   private:
    static constexpr double reach = 6 * std::numbers::ln10;  ///< a factor of 1e6 either way

    /// The name without its number: gamma of gamma_2.
    static std::string stem(const std::string& name) {
        const std::size_t at = name.rfind('_');
        const bool numbered = at != std::string::npos && at + 1 < name.size() &&
                              name.find_first_not_of("0123456789", at + 1) == std::string::npos;
        return numbered ? name.substr(0, at) : name;
    }

    std::vector<bool> fixed_ones() const {
        std::vector<bool> held(names_.size(), false);
        for (const std::string& name : settings_.fixed) {
            bool found = false;
            for (std::size_t p = 0; p < names_.size(); ++p) {
                if (names_[p] != name && stem(names_[p]) != name) continue;
                held[p] = found = true;
            }
            if (found) continue;
            std::string known;
            for (const std::string& text : names_) known += ' ' + text;
            throw InvalidInput("there is no parameter " + quoted(name) + " to hold fixed in " +
                               k_.kernel().text() + "; there are" + known);
        }
        return held;
    }

    bool go_on(double evidence) {
        const std::string detail = "log evidence " + format_number(evidence);
        stopped_ = stopped_ || !keep_going(settings_.common.progress, {"evidence", -1, detail});
        return !stopped_;
    }

    std::vector<double> values_at(std::span<const double> x) const {
        std::vector<double> values = values_;
        for (std::size_t i = 0; i < free_.size(); ++i) values[free_[i]] = std::exp(x[i]);
        return values;
    }

    /// −log p(y), with infinity where it is not defined and once the search is told to stop: it
    /// then finds no step that helps, and ends where it stands.
    double cost(std::span<const double> x, std::span<double> gradient) {
        constexpr double nowhere = std::numeric_limits<double>::infinity();
        if (std::ranges::equal(x, last_.x)) {  // the start, which was tried before
            std::ranges::copy(last_.gradient, gradient.begin());
            return last_.cost;
        }
        if (stopped_) return nowhere;
        ++evaluations_;
        const std::vector<double> values = values_at(x);
        const std::span<const double> of_kernel(values.data(), values.size() - 1);
        Evidence e;
        try {
            e = evaluate_evidence(k_.with(of_kernel), y_, values.back(), sample_.data.weights, true,
                                  place_, keep_ ? &candidate_ : nullptr, settings_.common.progress);
        } catch (const Cancelled&) {
            stopped_ = true;
            return nowhere;
        }
        if (!e.defined) return nowhere;
        if (keep_ && e.value > kept_.evidence) {
            std::swap(candidate_, kept_);
            kept_at_.assign(x.begin(), x.end());
        }
        for (std::size_t i = 0; i < free_.size(); ++i) {
            gradient[i] = -e.gradient[free_[i]] * values[free_[i]];
        }
        last_ = {{x.begin(), x.end()}, {gradient.begin(), gradient.end()}, -e.value};
        return -e.value;
    }

    Hyperparameters result(const LbfgsSolution& best) {
        const std::vector<double> values = values_at(best.x);
        const std::span<const double> of_kernel(values.data(), values.size() - 1);
        // The usual form of the expression, as a file will have it.
        const Kernel moved = with_parameters(k_.kernel(), of_kernel);
        Hyperparameters h{.kernel = Kernel::parse(moved.text()), .noise = values.back()};
        for (const std::size_t i : best.at_bounds) h.at_limit[names_[free_[i]]] = values[free_[i]];
        h.iterations = best.iterations;
        h.evaluations = evaluations_;
        for (const double v : best.history) h.history.push_back(-v);
        if (kept_at_ == best.x) h.posterior = std::move(kept_);
        if (stopped_) {
            h.status = FitStatus::cancelled;
        } else if (best.status == LbfgsStatus::iteration_limit) {
            h.status = FitStatus::iteration_limit;
        } else if (best.status == LbfgsStatus::stalled) {
            h.status = FitStatus::stalled;
        } else if (!h.at_limit.empty()) {
            h.status = FitStatus::search_limit;
        }
        return h;
    }

    const GaussianProcessSettings& settings_;
    const Sample& sample_;
    std::span<const double> y_;
    MatrixView<double> place_;
    const GramGradient& k_;
    std::vector<double> values_{};  ///< of the kernel, and the noise
    std::vector<std::string> names_{};
    std::vector<std::size_t> free_{};
    std::size_t evaluations_ = 0;
    struct Tried {
        std::vector<double> x{};
        std::vector<double> gradient{};
        double cost = 0;
    };
    Tried last_{};
    bool stopped_ = false;
    bool keep_;
    Posterior candidate_{};  ///< of the evaluation under way
    Posterior kept_{};       ///< of the best so far
    std::vector<double> kept_at_{};
};

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
    return Search(settings, sample, y, place, k, keep).run();
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
