#include "mercer/learn/model.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/rows.hpp"

namespace mercer {
namespace {

/// The class of each row from the pairs' decisions: one vote a pair, ties to the class that comes
/// first (LIBSVM's rule).
std::size_t vote(std::span<const double> decisions, std::size_t classes) {
    std::vector<int> votes(classes, 0);
    std::size_t pair = 0;
    for (std::size_t a = 0; a < classes; ++a) {
        for (std::size_t b = a + 1; b < classes; ++b, ++pair) ++votes[decisions[pair] > 0 ? a : b];
    }
    return static_cast<std::size_t>(std::ranges::max_element(votes) - votes.begin());
}

}  // namespace

std::string describe(FitStatus status) {
    switch (status) {
        case FitStatus::converged: return "converged";
        case FitStatus::time_limit: return "stopped at the time limit";
        case FitStatus::iteration_limit: return "stopped at the iteration limit";
        case FitStatus::cancelled: return "stopped early on request";
        case FitStatus::stalled: return "stopped: rounding allows no further progress";
        case FitStatus::search_limit: return "stopped at a limit of the search";
        case FitStatus::no_margin: return "no margin found";
        default: return "not separable";
    }
}

std::string describe(Convexity convexity) {
    switch (convexity) {
        case Convexity::not_asked: return "not asked";
        case Convexity::by_rule: return "by rule";
        case Convexity::on_sample: return "on the sample";
        case Convexity::unknown: return "unknown";
        default: return "refuted";
    }
}

Report Model::report() const {
    if (reports.size() == 1) return reports.front();
    Report all;
    std::size_t bounded = 0;
    for (const Report& r : reports) {
        if (all.status == FitStatus::converged) all.status = r.status;
        if (has_no_machine(r.status) && all.status != FitStatus::not_separable) {
            all.status = r.status;  // which no other part makes up for
            all.margin_bound = std::max(all.margin_bound, r.margin_bound);
        }
        all.primal += r.primal;
        all.dual += r.dual;
        all.gap += r.gap;
        // NaN, where one has no gap, stays.
        if (!(all.relative_gap >= r.relative_gap) && !std::isnan(all.relative_gap)) {
            all.relative_gap = r.relative_gap;
        }
        if (r.convexity >= all.convexity) {  // in the order of how little is known
            all.convexity = r.convexity;
            all.least_curvature = std::min(all.least_curvature, r.least_curvature);
            all.curvature_error = std::max(all.curvature_error, r.curvature_error);
        }
        all.kkt_violation = std::max(all.kkt_violation, r.kkt_violation);
        all.infeasibility = std::max(all.infeasibility, r.infeasibility);
        all.rows = std::max(all.rows, r.rows);
        all.margin_errors += r.margin_errors;
        all.iterations += r.iterations;
        all.kernel_evaluations += r.kernel_evaluations;
        all.seconds += r.seconds;
        bounded += r.bounded_support_vectors;
    }
    if (all.status == FitStatus::not_separable) all.margin_bound = 0;
    // A point may be free in one problem and bounded in another: as a whole it is counted once.
    all.bounded_support_vectors = std::min(bounded, expansion.size());
    all.free_support_vectors = expansion.size() - all.bounded_support_vectors;
    return all;
}

KnownColumns Model::known_columns() const {
    return {.features = columns,
            .names = feature_names,
            .roles = roles,
            .objects = expansion.points.object_names(),
            .text_labels = !class_names.empty() && class_values.empty()};
}

Rows rows_for(const Model& model, const Rows& x) {
    const bool narrow = x.columns() < model.columns;
    const bool from_sparse = x.is_sparse() || model.expansion.points.is_sparse();
    if (x.columns() > model.columns || (narrow && !from_sparse)) {
        throw InvalidInput("the rows have " + std::to_string(x.columns()) +
                           " columns; the model was trained on " + std::to_string(model.columns));
    }
    for (const ObjectName& object : model.expansion.points.object_names()) {
        const ObjectColumn* column = x.object(object.name);
        if (column != nullptr && column->kind() == object.kind) continue;
        throw InvalidInput("the rows have no column " + quoted(object.name) + " of " +
                           std::string(object_words.word(object.kind)) +
                           ", which the model was trained on");
    }
    require_finite(x);
    if (!narrow) return x;
    // Few columns of dense rows against very many of sparse points: zeros are not written out.
    const Rows own = model.expansion.points.is_sparse() ? x.to_sparse() : x;
    return own.widened(model.columns);
}

std::vector<double> Model::classify(MatrixView<const double> decisions) const {
    if (is_multi_label(task)) {
        throw InvalidInput("a model of the task " + task_name(task) +
                           " has a set of labels for each row, and no single one: ask it for sets");
    }
    if (is_projection(task)) {
        throw InvalidInput("a model of the task " + task_name(task) +
                           " has functions of rows, its decision values, and no labels for them");
    }
    std::vector<double> result(decisions.rows);
    for (std::size_t i = 0; i < decisions.rows; ++i) {
        const auto f = decisions.row(i);
        if (is_regressor(task)) {
            result[i] = f[0];
        } else if (is_clustering(task)) {
            result[i] = static_cast<double>(std::ranges::max_element(f) - f.begin());
        } else if (!is_classifier(task)) {
            result[i] = f[0] > 0 ? 1 : -1;
        } else if (multi_class == MultiClass::one_vs_rest && classes() > 2) {
            result[i] = static_cast<double>(std::ranges::max_element(f) - f.begin());
        } else {
            result[i] = static_cast<double>(vote(f, classes()));
        }
    }
    return result;
}

Labels Model::labels_of(std::vector<double> positions) const {
    Labels labels;
    labels.values = std::move(positions);
    if (!is_classifier(task)) return labels;
    if (class_values.empty()) {
        labels.names = class_names;
        return labels;
    }
    for (double& value : labels.values) value = class_values[static_cast<std::size_t>(value)];
    return labels;
}

}  // namespace mercer
