// Machines that learn from two sets of rows at once.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "arrays.hpp"
#include "bindings.hpp"
#include "interrupt.hpp"
#include "mercer/learn/cca.hpp"
#include "settings.hpp"

namespace mercer::python {
namespace {

/// Both sides of a canonical correlation, each a model of its own; the first has the second as its
/// companion.
Model fit_cca(const Kernel& kernel_x, const Kernel& kernel_y, nb::dict values, const Rows& x,
              const Rows& y, nb::object callback) {
    const Settings settings(std::move(values));
    CcaSettings s;
    s.x.kernel = kernel_x;
    s.y_kernel = kernel_y;
    s.x.memory_bytes = settings.count("memory_bytes", s.x.memory_bytes);
    s.pairs = settings.count("pairs", s.pairs);
    s.kappa = settings.number("kappa", s.kappa);
    s.rank = settings.count("rank", s.rank);
    s.tolerance = settings.number("tolerance", s.tolerance);
    Dataset first, second;
    first.x = x;
    second.x = y;
    std::optional<Model> model;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        s.x.progress = progress;
        Model found = kernel_cca(s).fit(first, second);
        // The model outlives the caller's arrays.
        Model other = *found.companion;
        for (Expansion* e : {&found.expansion, &other.expansion}) {
            e->points = e->points.owned();
            e->reference = e->reference.owned();
        }
        found.companion = std::make_shared<const Model>(std::move(other));
        model = std::move(found);
    };
    run_beside(job, std::move(callback));
    return std::move(*model);
}

}  // namespace

void bind_pairs(nb::module_& m) {
    m.def("fit_cca", &fit_cca, nb::arg("kernel_x"), nb::arg("kernel_y"), nb::arg("settings"),
          nb::arg("x"), nb::arg("y"), nb::arg("callback").none());
    m.def("companion_of", [](const Model& model) {
        return model.companion ? nb::cast(Model(*model.companion)) : nb::none();
    });
}

}  // namespace mercer::python
