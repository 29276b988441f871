// Machines that learn from two sets of rows at once.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/settings.hpp"
#include "mercer/learn/components/cca.hpp"
#include "mercer/learn/components/dependency.hpp"

namespace mercer::python {
namespace {

/// A model and its companion, which outlive the caller's arrays.
Model owned(const Model& model) {
    ModelParts parts = model.parts();
    ModelParts other = companion_of(model)->parts();
    for (Expansion* e : {&parts.expansion, &other.expansion}) {
        e->points = e->points.owned();
        e->reference = e->reference.owned();
    }
    parts.extras.set(Companion(std::make_shared<const Model>(std::move(other))));
    return Model(std::move(parts));
}

/// Runs fit(x, y, progress) on the two sets.
template <class Fit>
Model fit_pairs(const Rows& x, const Rows& y, nb::object callback, const Fit& fit) {
    Dataset first, second;
    first.x = x;
    second.x = y;
    std::optional<Model> model;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        model = owned(fit(first, second, progress));
    };
    run_beside(job, std::move(callback));
    return *model;
}

/// Both sides of a canonical correlation, each a model of its own; the first has the second as its
/// companion.
Model fit_cca(const Kernel& kernel_x, const Kernel& kernel_y, nb::dict values, const Rows& x,
              const Rows& y, nb::object callback) {
    const Settings settings(std::move(values));
    CcaSettings s;
    s.x = common_of(settings, kernel_x);
    s.y_kernel = kernel_y;
    s.pairs = settings.count("pairs", s.pairs);
    s.kappa = settings.number("kappa", s.kappa);
    s.rank = settings.count("rank", s.rank);
    s.tolerance = settings.number("tolerance", s.tolerance);
    settings.check("a canonical correlation");
    return fit_pairs(x, y, std::move(callback),
                     [&](const Dataset& a, const Dataset& b, const Progress& progress) {
                         s.x.progress = progress;
                         return kernel_cca(s).fit(a, b);
                     });
}

/// A dependency; the companion is the kernel PCA of the outputs.
Model fit_dependency(const Kernel& kernel_x, const Kernel& kernel_y, nb::dict values, const Rows& x,
                     const Rows& y, nb::object callback) {
    const Settings settings(std::move(values));
    DependencySettings s;
    s.common = common_of(settings, kernel_x);
    s.output_kernel = kernel_y;
    s.components = settings.count("components", s.components);
    s.lambda = settings.number("lambda", s.lambda);
    s.path = settings.get("path", s.path);
    settings.check("a dependency");
    return fit_pairs(x, y, std::move(callback),
                     [&](const Dataset& a, const Dataset& b, const Progress& progress) {
                         s.common.progress = progress;
                         return dependency(s).fit(a, b);
                     });
}

/// Outputs made for rows, and how near their images come.
nb::tuple make_outputs(const Model& model, const Rows& x, const std::string& method,
                       std::size_t seed) {
    PreimageSettings settings{.method = preimage_method_named(method)};
    settings.seed = seed;
    const Dependency map(model);
    Matrix<double> outputs(x.size(), companion_of(model)->columns());
    std::vector<double> distances;
    run_beside([&](const Progress& progress) {
        settings.progress = progress;
        for (const Preimage& found : map.preimages(x, settings)) {
            std::ranges::copy(found.z, outputs.row(distances.size()).begin());
            distances.push_back(found.squared_distance);
        }
    });
    return nb::make_tuple(give(std::move(outputs)), give(std::move(distances)));
}

/// Positions among the candidates, and how near they come.
nb::tuple choose_outputs(const Model& model, const Rows& x, const Rows& candidates) {
    const Dependency map(model);
    NearestOutputs found;
    run_beside([&](const Progress& progress) { found = map.nearest(x, candidates, progress); });
    std::vector<std::int64_t> positions(found.positions.begin(), found.positions.end());
    return nb::make_tuple(give(std::move(positions)), give(std::move(found.squared_distance)));
}

}  // namespace

void bind_pairs(nb::module_& m) {
    m.def("fit_cca", &fit_cca, nb::arg("kernel_x"), nb::arg("kernel_y"), nb::arg("settings"),
          nb::arg("x"), nb::arg("y"), nb::arg("callback").none());
    m.def("fit_dependency", &fit_dependency, nb::arg("kernel_x"), nb::arg("kernel_y"),
          nb::arg("settings"), nb::arg("x"), nb::arg("y"), nb::arg("callback").none());
    m.def("make_outputs", &make_outputs);
    m.def("choose_outputs", &choose_outputs);
    m.def("companion_of", [](const Model& model) {
        const Model* companion = companion_of(model);
        return companion ? nb::cast(Model(*companion)) : nb::none();
    });
}

}  // namespace mercer::python
