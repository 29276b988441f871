#include "mercer/learn/detail/model_check.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/recipe.hpp"
#include "mercer/learn/calibration.hpp"

namespace mercer {
namespace {

constexpr std::size_t most_columns = std::size_t{1} << 32;  // sparse rows count them in 32 bits

std::string text_of(std::size_t number) {
    return std::to_string(number);
}

template <class T>
void check_finite(std::span<const T> values, const std::string& what) {
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (std::isfinite(values[i])) continue;
        throw InvalidInput(what + " number " + text_of(i) + " is " +
                           format_number(static_cast<double>(values[i])) +
                           "; only finite numbers make a model");
    }
}

/// `found` must be `wanted`, or 0 where the part may be left out.
void check_count(std::size_t found, std::size_t wanted, bool optional, const std::string& place,
                 const std::string& what, const std::string& of_what) {
    if (found == wanted || (optional && found == 0)) return;
    throw InvalidInput(place + ": " + text_of(found) + " " + what + " for " + text_of(wanted) +
                       " " + of_what + "; there must be one for each" +
                       (optional ? ", or none at all" : ""));
}

template <class T>
void check_row_values(const Rows& rows, const std::string& what) {
    if (rows.is_sparse()) {
        check_finite<T>({rows.sparse_view<T>().value, rows.nonzeros()}, what);
    } else {
        check_finite<T>({rows.dense_view<T>().data, rows.nonzeros()}, what);
    }
}

void check_rows(const Rows& rows, const std::string& what) {
    if (rows.is_double()) {
        check_row_values<double>(rows, what);
    } else {
        check_row_values<float>(rows, what);
    }
}

void check_none(std::size_t found, const ModelParts& model, const std::string& place,
                const std::string& what) {
    if (found == 0) return;
    const char* kind = is_classifier(model.task)    ? "a classifier"
                       : is_regressor(model.task)   ? "a regression"
                       : is_clustering(model.task)  ? "a clustering"
                       : is_projection(model.task)  ? "a projection"
                       : is_multi_label(model.task) ? "a machine of several labels"
                                                    : "a machine of a single class";
    throw InvalidInput(place + ": " + kind + " has no " + what + ", found " + text_of(found));
}

void check_classes(const ModelParts& model, const std::string& place) {
    const std::size_t classes = model.classes();
    const std::size_t outputs = model.expansion.outputs();
    if (classes < 2) {
        throw InvalidInput(place + ": a classifier needs at least 2 class names, found " +
                           text_of(classes));
    }
    const std::set<std::string> different(model.class_names.begin(), model.class_names.end());
    if (different.size() != classes) {
        throw InvalidInput(place + ": two classes have the same name");
    }
    const bool rest = model.multi_class == MultiClass::one_vs_rest;
    const std::size_t wanted = rest && classes > 2 ? classes : pairs_of(classes);
    if (outputs != wanted) {
        throw InvalidInput(place + ": " + text_of(outputs) + " decision functions, but " +
                           text_of(classes) + " classes taken " +
                           (rest ? "one against the rest" : "one against one") + " need " +
                           text_of(wanted));
    }
    check_count(model.class_values.size(), classes, true, place, "class values", "classes");
    check_finite<double>(model.class_values, place + ": class value");
    check_count(model.trained.class_weights.size(), classes, true, place, "class weights",
                "classes");
    check_count(sigmoids_of(model.extras).size(), outputs, true, place, "probability sigmoids",
                "decision functions");
    check_none(model.target_names.size(), model, place, "target names");
}

void check_without_classes(const ModelParts& model, const std::string& place) {
    check_none(model.class_names.size(), model, place, "class names");
    check_none(model.class_values.size(), model, place, "class values");
    check_none(model.trained.class_weights.size(), model, place, "class weights");
    const bool regressor = is_regressor(model.task);
    if (is_multi_label(model.task)) {
        check_count(model.target_names.size(), model.expansion.outputs(), true, place,
                    "names of labels", "labels");
        check_none(sigmoids_of(model.extras).size(), model, place, "probability sigmoids");
    } else if (regressor) {
        check_count(model.target_names.size(), model.expansion.outputs(), true, place,
                    "target names", "targets");
        check_count(sigmoids_of(model.extras).size(), 1, true, place, "noise scales", "regression");
    } else {
        check_none(model.target_names.size(), model, place, "target names");
        check_none(sigmoids_of(model.extras).size(), model, place, "probability sigmoids");
    }
    if (!regressor && !is_clustering(model.task) && !is_projection(model.task) &&
        !is_multi_label(model.task) && model.expansion.outputs() != 1) {
        throw InvalidInput(place + ": a machine of a single class has 1 decision function, found " +
                           text_of(model.expansion.outputs()));
    }
}

/// Names of numbers and arrays are words, so that they can stand in any text.
void check_name(const std::string& name, const std::string& place) {
    constexpr std::size_t longest = 64;
    const bool good =
        !name.empty() && name.size() <= longest && std::ranges::all_of(name, [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
        });
    if (good) return;
    throw InvalidInput(place + " has the name " + quoted(name) + "; a name is 1 to " +
                       text_of(longest) + " characters of a-z, 0-9, _ and -");
}

/// Figures and history are only told, so they may be infinite; what the machine computes with may
/// not.
void check_named(const ModelParts& model, const std::string& place) {
    for (const auto& [name, value] : model.trained.numbers) {
        check_name(name, place + ": a number trained with");
        check_finite<double>({&value, 1}, place + ": " + name + ",");
    }
    for (const Report& report : model.reports) {
        for (const auto& [name, value] : report.figures) check_name(name, place + ": a figure");
    }
    for (const auto& [name, array] : model.extras.arrays()) {
        check_name(name, place + ": an array");
        check_finite<double>(array->values(), place + ": array " + name + ",");
    }
    check_extras(model, place);
}

void check_columns(const ModelParts& model, const std::string& place) {
    const Expansion& e = model.expansion;
    if (model.columns > most_columns) {
        throw InvalidInput(place + ": " + text_of(model.columns) + " columns; at most " +
                           text_of(most_columns) + " are possible");
    }
    if (e.points.size() > 0 && e.points.columns() != model.columns) {
        throw InvalidInput(place + ": the points have " + text_of(e.points.columns()) +
                           " columns and the model says " + text_of(model.columns));
    }
    if (e.reference.size() > 0 && e.reference.columns() != model.columns) {
        throw InvalidInput(place + ": the reference rows have " + text_of(e.reference.columns()) +
                           " columns and the model says " + text_of(model.columns));
    }
    check_count(model.feature_names.size(), model.columns, true, place, "feature names", "columns");
    for (const std::size_t position : {model.roles.label, model.roles.weight}) {
        if (position == ColumnRoles::none || position < model.columns + 2) continue;
        throw InvalidInput(place + ": roles: a label or weight in column " + text_of(position) +
                           " of " + text_of(model.columns) + " and two more");
    }
    check_count(model.scaling.center().size(), model.columns, true, place, "scaled columns",
                "columns");
    if (model.recipe && model.recipe->sources().size() != model.columns) {
        throw InvalidInput(place + ": the recipe makes " + text_of(model.recipe->sources().size()) +
                           " columns and the model says " + text_of(model.columns));
    }
}

void check_kernel(const Expansion& e, const std::string& place) {
    if (e.kernel.needs_data()) {
        throw InvalidInput(place + ": the kernel " + quoted(e.kernel.text(), 200) +
                           " still waits for data; a trained model has numbers in it");
    }
    if (contains(e.kernel, KernelKind::center) && e.reference.size() == 0) {
        throw InvalidInput(place + ": the kernel " + quoted(e.kernel.text(), 200) +
                           " is centred, but the sample it is centred on is missing");
    }
    if (!contains(e.kernel, KernelKind::precomputed)) return;
    for (std::size_t i = 0; i < e.points.size(); ++i) {
        if (e.points.origin(i) < most_precomputed_rows) continue;
        throw InvalidInput(place + ": point " + text_of(i) + " stands for row " +
                           text_of(e.points.origin(i)) + " of a precomputed matrix; at most " +
                           text_of(most_precomputed_rows) + " rows are possible");
    }
    std::set<std::size_t> seen;
    for (std::size_t i = 0; i < e.points.size(); ++i) {
        if (seen.insert(e.points.origin(i)).second) continue;
        throw InvalidInput(place + ": two points stand for the same row " +
                           text_of(e.points.origin(i)) + " of a precomputed matrix");
    }
}

}  // namespace

void check_parts(const ModelParts& model, const std::string& place) {
    const Expansion& e = model.expansion;
    if (e.outputs() == 0) throw InvalidInput(place + ": the model has no decision function");
    check_count(e.coefficients.rows(), e.outputs(), false, place, "rows of coefficients", "biases");
    check_count(e.coefficients.columns(), e.size(), false, place, "columns of coefficients",
                "points");
    check_count(model.origins.size(), e.size(), true, place, "origins", "points");
    if (is_svm(model.task) || model.reports.size() != 1) {
        check_count(model.reports.size(), e.outputs(), true, place, "reports",
                    "decision functions");
    }
    check_named(model, place);
    check_finite<double>(e.coefficients.values(), place + ": coefficient");
    check_finite<double>(e.bias, place + ": bias");
    check_finite<double>({&e.self, 1}, place + ": weight of k(x,x),");
    for (const Sigmoid& sigmoid : sigmoids_of(model.extras)) {
        const double numbers[] = {sigmoid.a, sigmoid.b};
        check_finite<double>(numbers, place + ": sigmoid");
    }
    check_rows(e.points, place + ": points:");
    check_rows(e.reference, place + ": reference rows:");
    check_columns(model, place);
    check_kernel(e, place);
    if (is_classifier(model.task)) {
        check_classes(model, place);
    } else {
        check_without_classes(model, place);
    }
}

}  // namespace mercer
