#include "mercer/learn/model.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/mapping.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/detail/decide.hpp"
#include "mercer/learn/detail/model_check.hpp"

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

/// What takes the expansion apart itself; null where nothing does.
const Extra* decider_of(const ModelParts& parts) {
    for (const auto& extra : parts.extras) {
        if (extra->decides()) return extra.get();
    }
    return nullptr;
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

/// Filled by whoever comes first; then read by all.
struct Model::Prepared {
    std::mutex mutex{};
    std::atomic<bool> ready{false};
    std::optional<Evaluator> evaluator{};
};

Model::Model()
    : parts_(std::make_shared<const ModelParts>()), prepared_(std::make_shared<Prepared>()) {}

Model::Model(ModelParts parts, const std::string& place)
    : parts_(std::make_shared<const ModelParts>(std::move(parts))),
      prepared_(std::make_shared<Prepared>()) {
    check_parts(*parts_, place);
}

std::size_t Model::points() const {
    std::size_t count = parts_->expansion.size();
    for (const auto& extra : parts_->extras) count += extra->points();
    return count;
}

Report Model::report() const {
    const std::vector<Report>& reports = parts_->reports;
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
    all.bounded_support_vectors = std::min(bounded, points());
    all.free_support_vectors = points() - all.bounded_support_vectors;
    return all;
}

KnownColumns Model::known_columns() const {
    return {.features = columns(),
            .names = feature_names(),
            .roles = roles(),
            .objects = expansion().points.object_names(),
            .text_labels = !class_names().empty() && class_values().empty()};
}

namespace {

/// Rows without columns of numbers have no recipe to go through.
Rows through_recipe(const Model& model, const Rows& x) {
    return model.recipe() ? model.recipe()->apply(x) : x;
}

}  // namespace

Dataset data_for(const Model& model, const Dataset& data) {
    Dataset result = data;
    result.x = rows_for(model, data.x);
    if (model.recipe()) {
        result.feature_names = model.feature_names();
        result.table = nullptr;
    }
    return result;
}

Rows rows_for(const Model& model, const Rows& given) {
    const Rows x = through_recipe(model, given);
    const bool narrow = x.columns() < model.columns();
    const bool from_sparse = x.is_sparse() || model.expansion().points.is_sparse();
    if (x.columns() > model.columns() || (narrow && !from_sparse)) {
        throw InvalidInput("the rows have " + std::to_string(x.columns()) +
                           " columns; the model was trained on " + std::to_string(model.columns()));
    }
    for (const ObjectName& object : model.expansion().points.object_names()) {
        const ObjectColumn* column = x.object(object.name);
        if (column != nullptr && column->kind() == object.kind) continue;
        throw InvalidInput("the rows have no column " + quoted(object.name) + " of " +
                           std::string(object_words.word(object.kind)) +
                           ", which the model was trained on");
    }
    require_finite(x);
    if (!narrow) return x;
    // Few columns of dense rows against very many of sparse points: zeros are not written out.
    const Rows own = model.expansion().points.is_sparse() ? x.to_sparse() : x;
    return own.widened(model.columns());
}

std::vector<double> classify(const ModelParts& parts, MatrixView<const double> decisions) {
    const Task task = parts.task;
    const std::size_t classes = parts.classes();
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
        } else if (parts.multi_class == MultiClass::one_vs_rest && classes > 2) {
            result[i] = static_cast<double>(std::ranges::max_element(f) - f.begin());
        } else {
            result[i] = static_cast<double>(vote(f, classes));
        }
    }
    return result;
}

std::vector<double> Model::classify(MatrixView<const double> decisions) const {
    return mercer::classify(*parts_, decisions);
}

Labels Model::labels_of(std::vector<double> positions) const {
    Labels labels;
    labels.values = std::move(positions);
    if (!is_classifier(task())) return labels;
    if (class_values().empty()) {
        labels.names = class_names();
        return labels;
    }
    for (double& value : labels.values) value = class_values()[static_cast<std::size_t>(value)];
    return labels;
}

namespace {

/// Rows that are left in their file, one block after another.
Matrix<double> decision_by_blocks(const Model& model, const Rows& x, const Progress& progress) {
    Matrix<double> result;
    for_blocks(x, [&](std::size_t first, std::size_t count) {
        const auto done = static_cast<double>(first) / static_cast<double>(x.size());
        if (!keep_going(progress, {"predicting", done})) throw Cancelled();
        const Matrix<double> some = model.decision(x.slice(first, count));
        if (first == 0) result = Matrix<double>(x.size(), some.columns());
        std::ranges::copy(some.values(), result.row(first).begin());
    });
    return result;
}

}  // namespace

Matrix<double> Model::decision(const Rows& x, const Progress& progress) const {
    if (is_mapped(x) && x.size() > mapped_block(x)) return decision_by_blocks(*this, x, progress);
    const Rows scaled = scaling().apply(rows_for(*this, x));
    Matrix<double> result;
    if (const Extra* decider = decider_of(*parts_)) {
        result = decider->decide(*this, scaled, progress);
    } else {
        result = expansion_values(scaled, progress);
    }
    for (std::size_t i = 0; i < result.rows(); ++i) {
        if (std::ranges::all_of(result.row(i), [](double f) { return std::isfinite(f); })) continue;
        throw InvalidInput("the model has no finite value at row " + std::to_string(i + 1) +
                           ": its numbers are too large for it");
    }
    return result;
}

std::vector<double> Model::predict(const Rows& x, const Progress& progress, DecideBy rule) const {
    if (rule == DecideBy::probability) return likeliest(*this, probabilities(x, progress).view());
    for (const auto& extra : extras()) {
        if (auto answers = extra->answers(*this, x, progress)) return std::move(*answers);
    }
    const Matrix<double> decisions = decision(x, progress);
    return classify(decisions.view());
}

Labels Model::predict_labels(const Rows& x, const Progress& progress, DecideBy rule) const {
    return labels_of(predict(x, progress, rule));
}

Matrix<double> Model::probabilities(const Rows& x, const Progress& progress) const {
    // Says what is missing before anything is computed.
    if (!has_probabilities(*this)) return probabilities_of(*this, {});
    const Matrix<double> f = decision(x, progress);
    return probabilities_of(*this, f.view());
}

Matrix<double> Model::predict_sets(const Rows& x, const Progress& progress) const {
    // Says that there are none before anything is computed.
    if (!is_multi_label(task())) return sets_of({});
    const Matrix<double> f = decision(x, progress);
    return sets_of(f.view());
}

Matrix<double> Model::expansion_values(const Rows& scaled, const Progress& progress) const {
    return evaluator()(scaled, progress);
}

void Model::prepare() const {
    if (!decider_of(*parts_)) evaluator();
}

const Evaluator& Model::evaluator() const {
    // No call_once: where memory has run out the exception could not pass through it.
    if (!prepared_->ready.load(std::memory_order_acquire)) {
        const std::lock_guard lock(prepared_->mutex);
        if (!prepared_->ready.load(std::memory_order_relaxed)) {
            prepared_->evaluator.emplace(expansion(), double_precision());
            prepared_->ready.store(true, std::memory_order_release);
        }
    }
    return *prepared_->evaluator;
}

}  // namespace mercer
