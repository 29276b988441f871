// Support vector machines of more rows than their features in the span of some could be held of.
#include <algorithm>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"
#include "mercer/learn/svm/detail/hinge_span.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"

namespace mercer {
namespace {

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

Model learn_hinge_in_span(const SvmSettings& settings, const Dataset& data, const Nystroem& how) {
    const Run run = settings.common.run();
    const SpanSample sample = take_span_sample(Task::svc, data, settings.common);
    const std::size_t k = sample.classes.count();
    const std::vector<double> class_weights =
        weights_by_class(settings, sample.classes.names, class_counts(sample));
    const CentreSpan<float> span(sample, settings.common, how);
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
    model.trained.numbers["centres"] = static_cast<double>(span.size());
    model.double_precision = true;  // coefficients over centres that lie close cancel
    Matrix<double> coefficients(parts.size(), span.size());
    std::vector<double> bias;
    for (std::size_t p = 0; p < parts.size(); ++p) {
        const auto [a, b] = parts[p];
        const double before = run.seconds();
        HingeSolution found = minimise_hinge(problem_of(settings, sample, class_weights, a, b),
                                             span, sample, settings, run);
        if (k > 2) {
            const std::string other = b == k ? "rest" : sample.classes.names[b];
            found.report.name = sample.classes.names[a] + " vs " + other;
        }
        found.report.seconds = run.seconds() - before;
        std::ranges::copy(found.weights, coefficients.row(p).begin());
        bias.push_back(found.bias);
        model.reports.push_back(std::move(found.report));
    }
    backward_solve(span.factor(), coefficients.view());
    span.write(model, std::move(coefficients), std::move(bias));
    return Model(std::move(model));
}

}  // namespace

std::optional<Model> Svm::fit_in_span(const Dataset& data, MatrixView<const double> targets,
                                      const Nystroem& how) const {
    if (settings_.task != Task::svc || targets.columns > 0) return {};
    Communicator& ranks = current_ranks();
    const std::size_t own = data.size();
    std::size_t rows = 0;
    for (const std::size_t count : ranks.all_gather(std::span<const std::size_t>(&own, 1))) {
        rows += count;
    }
    // What is learnt must not depend on the number of ranks, but on the rows of all.
    if (features_fit(rows, how.centres, settings_.common)) return {};
    if (settings_.probability) {
        throw InvalidInput("`probability` is learnt on folds, which a machine of " +
                           std::to_string(rows) +
                           " rows in the span of some does not have; use `task=logistic`, or leave "
                           "it out");
    }
    check_settings(settings_);
    return span_fit(task(), settings_, data, [&how](const SvmSettings& s, const Dataset& d) {
        return learn_hinge_in_span(s, d, how);
    });
}

}  // namespace mercer
