// Labels of rows as a model knows them.
#pragma once

#include <cstddef>

#include "arrays.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::python {

/// `y` are numbers or, for a classifier, positions of its classes: these become the classes' own
/// names or numbers.
inline Labels labels_of(const Model& model, const Numbers& y) {
    Labels labels{.values = copy_of(y), .names = {}};
    if (!is_classifier(model.task)) return labels;
    for (double& value : labels.values) {
        const auto position = static_cast<std::size_t>(value);
        if (!(value >= 0) || position >= model.classes()) {
            throw InvalidInput("a label is none of the classes of the model");
        }
        if (!model.class_values.empty()) value = model.class_values[position];
    }
    if (model.class_values.empty()) labels.names = model.class_names;
    return labels;
}

}  // namespace mercer::python
