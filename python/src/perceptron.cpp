// The perceptron on rows that come one after another.
#include "mercer/learn/online/perceptron.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "common/settings.hpp"
#include "mercer/base/error.hpp"

namespace mercer::python {
namespace {

StreamSettings stream_settings(const Kernel& kernel, std::size_t columns, std::size_t classes,
                               nb::dict values) {
    const Settings s(std::move(values));
    StreamSettings settings{.kernel = kernel, .columns = columns};
    for (std::size_t c = 0; c < classes; ++c) settings.class_names.push_back(std::to_string(c));
    settings.budget = s.count("budget", settings.budget);
    settings.averaged = s.flag("averaged", settings.averaged);
    settings.bias = s.flag("bias", settings.bias);
    settings.double_precision = s.flag("double_precision", settings.double_precision);
    s.check("the perceptron");
    return settings;
}

/// Mistakes among these rows, each learnt from in turn; `y` are positions of classes.
std::size_t feed(PerceptronStream& stream, const Rows& rows, const Numbers& y) {
    if (y.size() != rows.size()) throw InvalidInput("there must be one label a row");
    const std::size_t before = stream.mistakes();
    run_beside([&](const Progress& progress) {
        std::vector<double> row(rows.columns());
        for (std::size_t i = 0; i < rows.size(); ++i) {
            rows.copy_row(i, row);
            stream.update(row, static_cast<std::size_t>(y.data()[i]));
            if (i % 256 == 0 && !keep_going(progress, {.task = "perceptron"})) return;
        }
    });
    return stream.mistakes() - before;
}

Model model_of(const PerceptronStream& stream, const std::vector<std::string>& names,
               const std::vector<double>& values) {
    ModelParts parts = stream.model().parts();
    name_classes(parts, names, values);
    return Model(std::move(parts));
}

}  // namespace

void bind_perceptron(nb::module_& m) {
    nb::class_<PerceptronStream>(m, "PerceptronStream", "A perceptron that keeps its mistakes.")
        .def("__init__",
             [](PerceptronStream* self, const Kernel& kernel, std::size_t columns,
                std::size_t classes, nb::dict settings) {
                 new (self) PerceptronStream(
                     stream_settings(kernel, columns, classes, std::move(settings)));
             })
        .def("feed", &feed)
        .def("model", &model_of)
        .def_prop_ro("steps", &PerceptronStream::steps)
        .def_prop_ro("points", &PerceptronStream::points);
}

}  // namespace mercer::python
