#include "mercer/learn/detail/sample.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/detail/memory.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/data/rows.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/detail/span_sample.hpp"

namespace mercer {
namespace {

void check_targets(const Labels& y, const std::vector<std::size_t>& kept, std::size_t before) {
    if (y.are_text()) {
        throw InvalidInput(
            "regression needs numbers as targets, and the labels are names such as " +
            quoted(y.text(0)));
    }
    for (std::size_t i = 0; i < y.size(); ++i) check_target(y.values[i], before + kept[i]);
}

/// Rows with weight 0 say nothing and would spoil fractions of rows. `kept` is where the others
/// stood.
Dataset kept_rows(const Dataset& data, std::vector<std::size_t>& kept) {
    kept.clear();
    for (std::size_t i = 0; i < data.size(); ++i) {
        if (data.weights.empty() || data.weights[i] > 0) kept.push_back(i);
    }
    return kept.size() == data.size() ? data : data.select(kept);
}

/// One block after another, so that rows in a file need not be in memory together.
void require_finite_blocks(const Rows& rows) {
    for_blocks(rows, [&](std::size_t first, std::size_t count) {
        require_finite(count == rows.size() ? rows : rows.slice(first, count));
    });
}

[[noreturn]] void refuse_no_rows(const Dataset& data) {
    throw InvalidInput(data.size() == 0 ? "there are no rows to train on"
                                        : "every row has weight 0: there is nothing to train on");
}

}  // namespace

void check_target(double value, std::size_t row) {
    // Losses, norms and brackets have squares of targets in them, summed over the rows.
    constexpr double largest = 1e150;
    if (std::abs(value) <= largest) return;
    throw InvalidInput("the target of row " + std::to_string(row + 1) + " is " +
                       format_number(value) +
                       (std::isfinite(value)
                            ? ", and sums of squares of such targets are beyond double precision; "
                              "divide the targets by a constant"
                            : ", which is not finite"));
}

FitStatus fit_status(DualStatus status) {
    switch (status) {
        case DualStatus::converged: return FitStatus::converged;
        case DualStatus::time_limit: return FitStatus::time_limit;
        case DualStatus::iteration_limit: return FitStatus::iteration_limit;
        case DualStatus::cancelled: return FitStatus::cancelled;
        case DualStatus::stalled: return FitStatus::stalled;
        default: return FitStatus::no_margin;
    }
}

Sample begin_sample(Task task, const Dataset& data, const FitSettings& settings, bool by_labels,
                    std::size_t before) {
    require_range("the time limit", settings.time_limit, settings.time_limit >= 0,
                  "0 (none) or a number of seconds");
    check_target_scale(settings.target_scale, task);
    data.check();
    if (!data.table) require_finite_blocks(data.x);
    Sample sample;
    sample.data = kept_rows(data, sample.kept);
    if (data.table && !sample.kept.empty()) {
        sample.recipe = std::make_shared<const Recipe>(Recipe::fit(data.table, sample.data.x));
        sample.data.x = sample.recipe->apply(sample.data.x);
        sample.data.feature_names = sample.recipe->names();
        sample.data.table = nullptr;
        require_finite(sample.data.x);
    }
    const bool labelled = by_labels && (is_classifier(task) || is_regressor(task));
    if (labelled && data.y.empty() && data.size() > 0) {
        throw InvalidInput("the task " + task_name(task) + " needs labels, and the data has none");
    }
    if (by_labels && is_regressor(task)) check_targets(sample.data.y, sample.kept, before);
    return sample;
}

void require_classes(const Classes& classes) {
    if (classes.count() >= 2) return;
    throw InvalidInput("there is only one class, " + quoted(classes.names.at(0)) +
                       "; a classifier needs rows of two classes (for a single class use "
                       "`task=one-class`)");
}

Sample take_sample(Task task, const Dataset& data, const FitSettings& settings, bool by_labels) {
    refuse_spread("the task " + task_name(task) + " of all rows");
    Sample sample = begin_sample(task, data, settings, by_labels, 0);
    if (sample.kept.empty()) refuse_no_rows(data);
    if (is_classifier(task)) {
        sample.classes = classes_of(sample.data.y);
        require_classes(sample.classes);
    }
    check_columns(sample.data.x, 64, "sums, scaling and weights of");
    sample.scaling = Scaling::fit(settings.scaling, sample.data.x);
    sample.x = sample.scaling.apply(sample.data.x);
    sample.kernel =
        waits_for_classes(settings.kernel)
            ? resolve(settings.kernel, sample.x, sample.data.feature_names, sample.classes.index)
            : settings.kernel;
    return sample;
}

ColumnRoles roles_of(const Dataset& data) {
    ColumnRoles roles = data.roles;
    for (std::size_t* position : {&roles.label, &roles.weight}) {
        const bool fits = *position == ColumnRoles::none || *position < data.columns() + 2;
        if (!fits) *position = ColumnRoles::none;
    }
    return roles;
}

ModelParts begin_model(Task task, const Sample& sample, const FitSettings& settings) {
    ModelParts model;
    model.task = task;
    model.multi_class = MultiClass::one_vs_rest;
    model.class_names = sample.classes.names;
    model.class_values = sample.classes.values;
    model.feature_names = sample.data.feature_names;
    model.roles = roles_of(sample.data);
    model.columns = sample.data.columns();
    model.recipe = sample.recipe;
    model.scaling = sample.scaling;
    model.double_precision = settings.double_precision;
    return model;
}

void set_expansion(ModelParts& model, const Sample& sample, const Kernel& kernel,
                   const Matrix<double>& coefficients, std::vector<double> bias, double self) {
    std::vector<std::size_t> used;
    for (std::size_t i = 0; i < sample.size(); ++i) {
        for (std::size_t c = 0; c < coefficients.rows(); ++c) {
            if (coefficients(c, i) == 0) continue;
            used.push_back(i);
            break;
        }
    }
    Matrix<double> compact(coefficients.rows(), used.size());
    for (std::size_t c = 0; c < coefficients.rows(); ++c) {
        for (std::size_t p = 0; p < used.size(); ++p) compact(c, p) = coefficients(c, used[p]);
    }
    set_expansion(model, sample, kernel, used, std::move(compact), std::move(bias), self);
}

void set_expansion(ModelParts& model, const Sample& sample, const Kernel& kernel,
                   const std::vector<std::size_t>& positions, Matrix<double> coefficients,
                   std::vector<double> bias, double self) {
    Expansion& e = model.expansion;
    e.kernel = kernel;
    e.points = positions.size() == sample.size() && std::ranges::is_sorted(positions)
                   ? sample.x
                   : sample.x.select(positions);
    model.origins.clear();
    for (const std::size_t i : positions) model.origins.push_back(sample.kept[i]);
    e.coefficients = std::move(coefficients);
    e.bias = std::move(bias);
    e.self = self;
    if (is_centered(kernel)) e.reference = sample.x;
}

}  // namespace mercer
