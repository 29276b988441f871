// Machines made quicker: reduced sets, cascades; rows made smaller: files of codes.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/labels.hpp"
#include "mercer/learn/compress/cascade.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/persist/code_file.hpp"

namespace mercer::python {
namespace {

Model reduced(const Model& model, std::size_t vectors, double error, const std::string& method,
              bool joint, std::size_t iterations) {
    ReduceSettings settings{.vectors = vectors, .error = error};
    settings.method = reduce_method_named(method);
    settings.joint = joint;
    settings.iterations = iterations;
    std::optional<Model> small;
    run_beside([&](const Progress& progress) {
        settings.progress = progress;
        small = reduce(model, settings).model;
    });
    return std::move(*small);
}

Model make_cascade(const Model& model, const Rows& x, const Numbers& y, const std::string& keep,
                   double false_negatives, const std::vector<std::size_t>& stages) {
    CascadeSettings settings{.keep = keep, .false_negatives = false_negatives, .stages = stages};
    Dataset data;
    data.x = x;
    data.y = labels_of(model, y);
    std::optional<Model> quick;
    run_beside([&](const Progress& progress) {
        settings.progress = progress;
        quick = cascade(model, data, settings);
    });
    return std::move(*quick);
}

/// Decisions, kernels evaluated a row, stages and rows left after each.
nb::tuple run(const Model& model, const Rows& x) {
    CascadeRun found;
    run_beside([&](const Progress& progress) { found = run_cascade(model, x, progress); });
    const auto counts = [](const std::vector<std::size_t>& values) {
        return give(std::vector<std::int64_t>(values.begin(), values.end()));
    };
    return nb::make_tuple(give(std::move(found.decisions)), counts(found.kernels),
                          counts(found.stages), counts(found.left));
}

void write_codes(const Rows& codes, const std::vector<std::size_t>& index, double radius,
                 const std::string& path) {
    save_codes({.codes = codes, .index = index, .radius = radius}, path);
}

/// (codes, columns, index, radius)
nb::tuple read_codes(const std::string& path) {
    const CodeFile file = load_codes(path);
    return nb::make_tuple(rows_to_arrays(file.codes), file.codes.columns(),
                          give(std::vector<std::int64_t>(file.index.begin(), file.index.end())),
                          file.radius);
}

}  // namespace

void bind_compress(nb::module_& m) {
    m.def("reduced", &reduced, nb::arg("model"), nb::arg("vectors"), nb::arg("error"),
          nb::arg("method"), nb::arg("joint"), nb::arg("iterations"));
    m.def("make_cascade", &make_cascade);
    m.def("run_cascade", &run);
    m.def("is_cascade", &is_cascade);
    m.def("write_codes", &write_codes);
    m.def("read_codes", &read_codes);
}

}  // namespace mercer::python
