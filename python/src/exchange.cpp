// Models for other programs, and from them.
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "common/bindings.hpp"
#include "mercer/base/error.hpp"
#include "mercer/persist/model_file.hpp"

namespace nb = nanobind;

namespace mercer::python {

void bind_exchange(nb::module_& m) {
    m.def("export_formats", [] {
        std::vector<std::string> names;
        for (const ExportFormat& format : export_formats()) names.push_back(format.name);
        return names;
    });
    m.def(
        "export_model",
        [](const Model& model, const std::string& path, const std::string& format,
           const std::string& name, bool single) {
            const nb::gil_scoped_release free;
            export_model(model, path, {.format = format, .name = name, .single_precision = single});
        },
        nb::arg("model"), nb::arg("path"), nb::arg("format"), nb::arg("name"), nb::arg("single"));
    m.def(
        "import_libsvm",
        [](const std::string& path, std::size_t columns) { return import_libsvm(path, columns); },
        nb::arg("path"), nb::arg("columns"));
    m.def(
        "import_libsvm_text",
        [](const std::string& text, std::size_t columns) {
            return import_libsvm_from_memory(text, "model", columns);
        },
        nb::arg("text"), nb::arg("columns"));
    m.def("libsvm_text", [](const Model& model) { return export_libsvm_to_memory(model); });
}

}  // namespace mercer::python
