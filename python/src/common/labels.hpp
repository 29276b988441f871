// Labels of rows as a model knows them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "arrays.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::python {

/// `y` are numbers or, for a classifier, positions of its classes: these become the classes' own
/// names or numbers.
inline Labels labels_of(const Model& model, const Numbers& y) {
    Labels labels{.values = copy_of(y), .names = {}};
    if (!is_classifier(model.task())) return labels;
    for (double& value : labels.values) {
        const auto position = static_cast<std::size_t>(value);
        if (!(value >= 0) || position >= model.classes()) {
            throw InvalidInput("a label is none of the classes of the model");
        }
        if (!model.class_values().empty()) value = model.class_values()[position];
    }
    if (model.class_values().empty()) labels.names = model.class_names();
    return labels;
}

/// Classes by the names and numbers of the caller, in the caller's order; machines learn them as
/// positions. Names of parts, "0 vs 1", follow.
inline void name_classes(ModelParts& model, std::vector<std::string> names,
                         std::vector<double> values) {
    for (const double value : values) names.push_back(format_number(value));
    const auto name_of = [&](const std::string& position) {
        const auto found = std::ranges::find(model.class_names, position);
        const auto place = static_cast<std::size_t>(found - model.class_names.begin());
        return place < names.size() ? names[place] : position;
    };
    for (Report& report : model.reports) {
        const std::size_t middle = report.name.find(" vs ");
        if (middle == std::string::npos) continue;
        report.name = name_of(report.name.substr(0, middle)) + " vs " +
                      name_of(report.name.substr(middle + 4));
    }
    model.class_names = std::move(names);
    model.class_values = std::move(values);
    const Cells* const cells = model.extras.find<Cells>();
    if (!cells) return;
    Cells renamed = *cells;
    for (Cell& cell : renamed.all) {
        if (!cell.model) continue;
        std::vector<std::string> own_names;
        std::vector<double> own_values;
        for (const std::size_t c : cell.classes) {
            if (model.class_values.empty()) {
                own_names.push_back(model.class_names[c]);
            } else {
                own_values.push_back(model.class_values[c]);
            }
        }
        ModelParts own = cell.model->parts();
        name_classes(own, std::move(own_names), std::move(own_values));
        cell.model = std::make_shared<const Model>(std::move(own));
    }
    model.extras.set(std::move(renamed));
}

}  // namespace mercer::python
