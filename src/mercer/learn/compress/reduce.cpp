#include "mercer/learn/compress/reduce.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "mercer/base/error.hpp"
#include "mercer/base/progress.hpp"
#include "mercer/base/text.hpp"
#include "mercer/base/words.hpp"
#include "mercer/learn/detail/construction.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/detail/selection.hpp"
#include "mercer/learn/svm/detail/shared_fit.hpp"
#include "mercer/solver/detail/lbfgs.hpp"

namespace mercer {
namespace {

using namespace reduction;

constexpr Words methods{std::pair{ReduceMethod::greedy, "greedy"},
                        std::pair{ReduceMethod::l1, "l1"},
                        std::pair{ReduceMethod::sequential, "sequential"}};

void check_settings(const ReduceSettings& s) {
    const int given = (s.vectors > 0) + (s.error != 0) + (s.speedup != 0);
    if (given != 1) {
        throw InvalidInput("a reduction needs exactly one of vectors, error and speedup; " +
                           std::to_string(given) + " were given");
    }
    require_range("the error of a reduction", s.error, s.error >= 0 && s.error < 1,
                  "above 0 and below 1: a fraction of the squared norm");
    require_range("the speedup of a reduction", s.speedup, s.speedup == 0 || s.speedup >= 1,
                  "1 or greater");
}

/// The expansion as construction needs it: dense rows.
Rows dense_points(const Rows& points, std::size_t memory_bytes) {
    if (!points.is_sparse()) return points;
    if (points.size() > 0 && points.columns() > memory_bytes / sizeof(double) / points.size()) {
        throw InvalidInput("moving vectors needs dense rows, and " + std::to_string(points.size()) +
                           " x " + std::to_string(points.columns()) +
                           " numbers are more than the memory allowed; use a choice (greedy, l1) "
                           "without joint optimisation");
    }
    return points.to_dense();
}

class Reducer {
   public:
    Reducer(const Expansion& expansion, const ReduceSettings& settings)
        : settings_(settings), e_(without_center(expansion)) {
        if (e_.size() == 0) throw InvalidInput("the expansion has no vectors to reduce");
        if (is_centered(e_.kernel)) {
            throw InvalidInput("the kernel " + mercer::quoted(e_.kernel.text(), 100) +
                               " is centred inside, or has a term in k(x, x): only center(k) as a "
                               "whole can be reduced");
        }
        if (settings.joint || settings.method == ReduceMethod::sequential) {
            e_.points = dense_points(e_.points, settings.memory_bytes);
        }
        own_ = own_values(e_, settings.double_precision, settings.progress);
        squared_norms_.assign(e_.outputs(), 0.0);
        for (std::size_t i = 0; i < e_.size(); ++i) {
            for (std::size_t c = 0; c < e_.outputs(); ++c) {
                squared_norms_[c] += e_.coefficients(c, i) * own_.values(i, c);
            }
        }
        if (settings.joint) {
            fit_.emplace(e_, own_.squared_norm, settings.double_precision);
        }
    }

    /// The vectors to begin from: `most` of them, or fewer when ρ is down to `error` before.
    void choose(std::size_t most, double error) {
        const double bound = error * own_.squared_norm;
        most = std::min(most, e_.size());
        if (settings_.method == ReduceMethod::sequential) {
            Construction made = construct(e_, own_, most, bound, settings_.progress);
            z_ = std::move(made.z);
            choice_ = {.error = std::move(made.error), .cancelled = made.cancelled};
        } else if (settings_.method == ReduceMethod::l1) {
            choice_ = choose_by_l1(e_, own_, most, settings_.memory_bytes, settings_.progress);
        } else {
            choice_ = choose_greedily(e_, own_, most, bound, settings_.double_precision,
                                      settings_.progress);
        }
        if (choice_.cancelled && available() == 0) throw Cancelled();
    }

    std::size_t available() const {
        return settings_.method == ReduceMethod::sequential ? choice_.error.size() - 1
                                                            : choice_.order.size();
    }
    double squared_norm() const { return own_.squared_norm; }

    /// The reduction to the first `count` of the vectors chosen.
    Reduction finish(std::size_t count) const {
        const Stopwatch clock;
        Reduction r;
        r.squared_norm = own_.squared_norm;
        r.choice = choice_.error;
        r.choice.resize(std::min(r.choice.size(), count + 1));
        if (choice_.cancelled) r.status = FitStatus::cancelled;
        Rows points = first_vectors(count, r);
        if (fit_ && count > 0) points = moved(points, r);
        r.expansion = e_;
        r.expansion.points = points;
        r.expansion.coefficients = nearest_coefficients(e_, points);
        r.distances =
            r.chosen.empty() ? squared_distances(e_, r.expansion) : distances_to_choice(r);
        r.squared_norms = squared_norms_;
        r.distance = std::accumulate(r.distances.begin(), r.distances.end(), 0.0);
        r.seconds = clock.seconds();
        return r;
    }

   private:
    Rows first_vectors(std::size_t count, Reduction& r) const {
        if (settings_.method == ReduceMethod::sequential) {
            const std::size_t columns = e_.points.columns();
            return as_stored(std::vector<double>(
                z_.begin(), z_.begin() + static_cast<std::ptrdiff_t>(count * columns)));
        }
        r.chosen.assign(choice_.order.begin(),
                        choice_.order.begin() + static_cast<std::ptrdiff_t>(count));
        return e_.points.select(r.chosen);
    }

    /// Chosen points are points of the old expansion: the difference has no others, and kernels
    /// that know points by their number (precomputed) are served too.
    std::vector<double> distances_to_choice(const Reduction& r) const {
        Expansion d = e_;
        for (std::size_t c = 0; c < d.outputs(); ++c) {
            for (std::size_t j = 0; j < r.chosen.size(); ++j) {
                d.coefficients(c, r.chosen[j]) -= r.expansion.coefficients(c, j);
            }
        }
        return squared_norms(std::move(d), {});
    }

    Rows as_stored(std::vector<double> z) const {
        Rows rows = Rows::dense(std::move(z), e_.points.columns());
        return e_.points.is_double() || settings_.double_precision ? rows : rows.to_float();
    }

    /// All vectors moved together down the gradient of ρ.
    Rows moved(const Rows& start, Reduction& r) const {
        const std::size_t columns = e_.points.columns();
        std::vector<double> z(start.size() * columns);
        for (std::size_t j = 0; j < start.size(); ++j) {
            start.copy_row(j, std::span(z).subspan(j * columns, columns));
        }
        LbfgsSettings settings;
        settings.iteration_limit = settings_.iterations;
        settings.gradient_tolerance = 0;
        settings.value_tolerance = settings_.double_precision ? 1e-8 : 1e-5;
        settings.progress = [&](std::size_t iteration, double value) {
            const std::string detail = "squared distance " + format_number(value);
            return keep_going(
                settings_.progress,
                {"moving vectors",
                 static_cast<double>(iteration) /
                     static_cast<double>(std::max<std::size_t>(settings_.iterations, 1)),
                 detail});
        };
        // Relative to the squared norm, so that the steps do not depend on the size of w.
        const double scale = own_.squared_norm > 0 ? own_.squared_norm : 1;
        const LbfgsSolution s = minimise(
            std::move(z),
            [&](std::span<const double> at, std::span<double> gradient) {
                const double value = (*fit_)(at, gradient);
                for (double& g : gradient) g /= scale;
                return value / scale;
            },
            settings);
        for (const double value : s.history) r.history.push_back(value * scale);
        if (s.status == LbfgsStatus::cancelled) r.status = FitStatus::cancelled;
        if (s.status == LbfgsStatus::iteration_limit) r.status = FitStatus::iteration_limit;
        r.chosen.clear();
        return as_stored(s.x);
    }

    ReduceSettings settings_;
    Expansion e_;
    OwnValues own_{};
    std::vector<double> squared_norms_{};
    std::optional<SharedFit> fit_{};
    Choice choice_{};
    std::vector<double> z_{};
};

/// The fewest vectors that keep the error: no more than the choice alone needs, and moving them
/// often allows several times fewer.
Reduction reduce_to_error(Reducer& reducer, const ReduceSettings& settings, std::size_t size) {
    reducer.choose(size, settings.error);
    const double bound = settings.error * reducer.squared_norm();
    std::size_t high = reducer.available();
    Reduction best = reducer.finish(high);
    if (!settings.joint || best.distance > bound || best.status == FitStatus::cancelled) {
        return best;
    }
    std::size_t low = 0;
    for (int probe = 0; probe < 6 && high - low > std::max<std::size_t>(1, high / 20); ++probe) {
        const std::size_t middle = probe == 0 ? (high + 2) / 3 : (low + high) / 2;
        Reduction r = reducer.finish(middle);
        if (r.status == FitStatus::cancelled) {
            best.status = FitStatus::cancelled;
            break;
        }
        if (r.distance <= bound) {
            best = std::move(r);
            high = middle;
        } else {
            low = middle;
        }
    }
    return best;
}

}  // namespace

std::string_view reduce_method_name(ReduceMethod method) {
    return methods.word(method);
}

ReduceMethod reduce_method_named(std::string_view name) {
    return methods.value(name, "method of reducing");
}

Reduction reduce(const Expansion& expansion, const ReduceSettings& settings) {
    check_settings(settings);
    const Stopwatch clock;
    Reducer reducer(expansion, settings);
    Reduction result;
    if (settings.error > 0) {
        result = reduce_to_error(reducer, settings, expansion.size());
    } else {
        const double wanted =
            settings.vectors > 0
                ? static_cast<double>(settings.vectors)
                : std::floor(static_cast<double>(expansion.size()) / settings.speedup);
        reducer.choose(static_cast<std::size_t>(std::max(1.0, wanted)), 0);
        result = reducer.finish(reducer.available());
    }
    result.seconds = clock.seconds();
    return result;
}

std::vector<Reduction> reduction_path(const Expansion& expansion,
                                      std::span<const std::size_t> sizes,
                                      const ReduceSettings& settings) {
    if (sizes.empty() || sizes.front() == 0 || !std::ranges::is_sorted(sizes)) {
        throw InvalidInput("the sizes of a path of reductions must ascend and begin above 0");
    }
    Reducer reducer(expansion, settings);
    std::vector<Reduction> path;
    reducer.choose(sizes.back(), 0);
    for (const std::size_t size : sizes) {
        if (settings.method == ReduceMethod::l1) reducer.choose(size, 0);
        path.push_back(reducer.finish(std::min(size, reducer.available())));
        if (path.back().status == FitStatus::cancelled) break;
    }
    return path;
}

namespace {

void require_reducible(const Model& model) {
    for (const auto& extra : model.extras()) {
        if (const std::string why = extra->why_not_reduced(); !why.empty()) throw InvalidInput(why);
    }
}

}  // namespace

ReducedModel reduce(const Model& model, const ReduceSettings& settings) {
    require_reducible(model);
    ReduceSettings own = settings;
    own.double_precision = own.double_precision || model.double_precision();
    ReducedModel result;
    result.reduction = reduce(model.expansion(), own);
    result.model = with_reduction(model, result.reduction);
    return result;
}

Model with_reduction(const Model& model, const Reduction& reduction) {
    require_reducible(model);
    ModelParts m = model.parts();
    m.expansion = reduction.expansion;
    m.origins.clear();
    if (!model.origins().empty()) {
        for (const std::size_t i : reduction.chosen) m.origins.push_back(model.origins()[i]);
    }
    m.reports.clear();
    m.extras = {};
    for (const auto& extra : model.extras()) {
        m.extras.add(extra->reduced(extra, model, reduction.expansion));
    }
    // Support vector machines have a report an output, others one for all.
    const std::size_t count = is_svm(model.task()) ? reduction.expansion.outputs() : 1;
    const double all = std::accumulate(reduction.distances.begin(), reduction.distances.end(), 0.0);
    for (std::size_t c = 0; c < count && c < reduction.distances.size(); ++c) {
        Report report;
        if (model.reports().size() == count) {
            report.name = model.reports()[c].name;
            report.rows = model.reports()[c].rows;
        }
        report.status = reduction.status;
        report.seconds = reduction.seconds / static_cast<double>(count);
        report.figures = {
            {"reduced_from", static_cast<double>(model.expansion().size())},
            {"squared_distance", count == 1 ? all : reduction.distances[c]},
            {"squared_norm", count == 1 ? reduction.squared_norm : reduction.squared_norms[c]}};
        m.reports.push_back(std::move(report));
    }
    if (m.reports.size() == 1) m.reports[0].history = reduction.history;
    return Model(std::move(m));
}

}  // namespace mercer
