// Labels spread from some rows to all.
#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "common/settings.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/groups/label_spreading.hpp"

namespace mercer::python {
namespace {

/// `y` are the classes of the rows, by position, −1 where a row has none. (One score a row and
/// class, the model.)
nb::tuple spread(const Kernel& kernel, nb::dict values, const Rows& x, const Numbers& y,
                 const std::vector<std::string>& names, nb::object callback,
                 const std::vector<std::string>& classes, const std::vector<double>& class_values) {
    const Settings settings(std::move(values));
    SpreadSettings s{.common = {.kernel = kernel}};
    s.alpha = settings.number("alpha", s.alpha);
    s.neighbours = settings.count("neighbours", s.neighbours);
    s.common.memory_bytes = settings.count("memory_bytes", s.common.memory_bytes);
    settings.check("the spreading of labels");
    Dataset data;
    data.x = x;
    data.y.values = copy_of(y);
    data.feature_names = names;
    // A label of weight 0 is none.
    for (double& label : data.y.values) {
        data.weights.push_back(label < 0 ? 0 : 1);
        label = std::max(label, 0.0);
    }
    LabelSpread found;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        s.common.progress = progress;
        found = spread_labels(s, data, {});
    };
    run_beside(job, std::move(callback));
    ModelParts model = found.model.parts();
    // The model outlives the caller's arrays.
    model.expansion.points = model.expansion.points.owned();
    model.expansion.reference = model.expansion.reference.owned();
    name_classes(model, classes, class_values);
    return nb::make_tuple(give(std::move(found.scores)), Model(std::move(model)));
}

}  // namespace

void bind_spreading(nb::module_& m) {
    m.def("spread_labels", &spread, nb::arg("kernel"), nb::arg("settings"), nb::arg("x"),
          nb::arg("y"), nb::arg("names"), nb::arg("callback").none(), nb::arg("classes"),
          nb::arg("class_values"));
}

}  // namespace mercer::python
