// Support vector machines of more rows than can be held, or their features in the span of some.
#include <algorithm>
#include <optional>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/passes/detail/linear_products.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"
#include "mercer/learn/svm/detail/hinge_span.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

/// The features of all rows, and the span of some that they may be those of.
class FeaturesOfAll {
   public:
    FeaturesOfAll(const SpanSample& sample, const FitSettings& settings, const Nystroem* how) {
        if (!how) {
            columns_.emplace(sample, settings.progress);
            return;
        }
        span_.emplace(sample, settings, *how);
        spanned_.emplace(*span_, sample, settings.progress);
        both_.emplace(SpanOfSome{*span_, *spanned_});
    }
    const FeatureProducts& products() const {
        return columns_ ? static_cast<const FeatureProducts&>(*columns_) : *spanned_;
    }
    /// Null for the features of the kernel itself.
    const SpanOfSome* span() const { return both_ ? &*both_ : nullptr; }

   private:
    std::optional<LinearProducts> columns_{};
    std::optional<CentreSpan<float>> span_{};
    std::optional<SpanProducts> spanned_{};
    std::optional<SpanOfSome> both_{};
};

/// How many rows of all ranks there are of each class.
std::vector<double> class_counts(const SpanSample& sample) {
    std::vector<double> counts;
    for (std::size_t c = 0; c < sample.classes.count(); ++c) {
        counts.push_back(
            sample.leaves.sum([&](std::size_t i) { return sample.class_of(i) == c ? 1.0 : 0.0; }));
    }
    return counts;
}

/// Class a against class b, or against all others where b is the number of classes.
HingeProblem problem_of(const SvmSettings& settings, const SpanSample& sample,
                        const std::vector<double>& class_weights, std::size_t a, std::size_t b) {
    HingeProblem problem;
    const bool rest = b == class_weights.size();
    for (std::size_t i = 0; i < sample.size(); ++i) {
        const std::size_t c = sample.class_of(i);
        problem.target.push_back(c == a ? 1 : -1);
        const double weight = settings.C * class_weights[c] * sample.weight(i);
        problem.penalty.push_back(rest || c == a || c == b ? weight : 0);
    }
    return problem;
}

/// In the span of some rows (null: of the columns, under the linear kernel).
Model learn_hinge_by_passes(const SvmSettings& settings, const Dataset& data, const Nystroem* how) {
    const Run run = settings.common.run();
    const SpanSample sample = take_span_sample(Task::svc, data, settings.common);
    const std::size_t k = sample.classes.count();
    const std::vector<double> class_weights =
        weights_by_class(settings, sample.classes.names, class_counts(sample));
    const FeaturesOfAll features(sample, settings.common, how);
    std::vector<std::pair<std::size_t, std::size_t>> parts;
    const bool rest = settings.multi_class == MultiClass::one_vs_rest && k > 2;
    for (std::size_t a = 0; a < k; ++a) {
        if (rest) parts.emplace_back(a, k);
        for (std::size_t b = a + 1; b < k && !rest; ++b) parts.emplace_back(a, b);
    }
    ModelParts model = begin_model(Task::svc, sample, settings.common);
    model.multi_class = settings.multi_class;
    model.trained.C = settings.C;
    model.trained.tolerance = settings.tolerance;
    model.trained.bias = settings.bias;
    model.trained.class_weights = class_weights;
    model.double_precision = true;  // coefficients over centres that lie close cancel
    Matrix<double> weights(parts.size(), features.products().columns());
    std::vector<double> bias;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto [a, b] = parts[p];
        const double before = run.seconds();
        HingeSolution found =
            minimise_hinge(problem_of(settings, sample, class_weights, a, b), features.products(),
                           features.span(), sample, settings, run);
        if (k > 2) {
            const std::string other = b == k ? "rest" : sample.classes.names[b];
            found.report.name = sample.classes.names[a] + " vs " + other;
        }
        found.report.seconds = run.seconds() - before;
        std::ranges::copy(found.weights, weights.row(p).begin());
        bias.push_back(found.bias);
        model.reports.push_back(std::move(found.report));
    }
    features.products().write(model, std::move(weights), std::move(bias));
    return Model(std::move(model));
}

/// By passes over each rank's own rows.
Model fit_by_passes(const SvmSettings& settings, const Dataset& data, std::size_t rows,
                    const Nystroem* how) {
    if (settings.probability) {
        throw InvalidInput("`probability` is learnt on folds, which a machine of " +
                           std::to_string(rows) +
                           " rows that goes over them in passes does not have; use "
                           "`task=logistic`, or leave it out");
    }
    check_settings(settings);
    return span_fit(settings.task, settings, data, [how](const SvmSettings& s, const Dataset& d) {
        return learn_hinge_by_passes(s, d, how);
    });
}

/// Of all ranks.
std::size_t count_rows(const Dataset& data) {
    if (held_rows() == HeldRows::all) return data.size();
    const std::size_t own = data.size();
    std::size_t rows = 0;
    for (const std::size_t count :
         current_ranks().all_gather(std::span<const std::size_t>(&own, 1))) {
        rows += count;
    }
    return rows;
}

}  // namespace

std::optional<Model> fit_linear_by_passes(const SvmSettings& settings, const Dataset& data) {
    const bool plain = settings.task == Task::svc && settings.method == DualMethod::automatic &&
                       !settings.start && !settings.trace;
    if (!plain || !learns_by_passes(settings.common, data)) return {};
    const std::size_t rows = count_rows(data);
    // Coordinate descent is quicker where it has the rows at hand; what is learnt must not depend
    // on the number of ranks.
    if (features_fit(rows, data.columns(), settings.common)) return {};
    return with_own_rows(data, {}, [&](const Dataset& own, MatrixView<const double>) {
        return fit_by_passes(settings, own, rows, nullptr);
    });
}

std::optional<Model> Svm::fit_in_span(const Dataset& data, MatrixView<const double> targets,
                                      const Nystroem& how) const {
    if (settings_.task != Task::svc || targets.columns > 0) return {};
    const std::size_t rows = count_rows(data);
    // What is learnt must not depend on the number of ranks, but on the rows of all.
    if (features_fit(rows, how.centres, settings_.common)) return {};
    return fit_by_passes(settings_, data, rows, &how);
}

}  // namespace mercer
