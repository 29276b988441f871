// Points of feature space.
#include "mercer/feature/geometry.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::python {
namespace {

FeatureVector combination(const Kernel& kernel, const Rows& points, const Numbers& coefficients) {
    return {kernel, points.owned(), copy_of(coefficients)};
}

FeatureVector mean_image(const Kernel& kernel, const Rows& rows, const Numbers& weights) {
    const FeatureVector found = centre_of_mass(kernel, rows, copy_of(weights));
    return {found.kernel(), found.points().owned(), found.coefficients()};
}

}  // namespace

void bind_geometry(nb::module_& m) {
    nb::class_<FeatureVector>(m, "FeatureVector", "A linear combination of images of rows.")
        .def_static("combination", &combination)
        .def_static("mean", &mean_image)
        .def_static("of_model",
                    [](const Model& model, std::size_t output) {
                        require_one_machine(model, "a vector in feature space");
                        return weight_vector(model.expansion(), output);
                    })
        .def_prop_ro("kernel", &FeatureVector::kernel)
        .def("points", [](const FeatureVector& v) { return rows_to_arrays(v.points()); })
        .def_prop_ro("columns", [](const FeatureVector& v) { return v.points().columns(); })
        .def_prop_ro(
            "coefficients",
            [](const FeatureVector& v) { return give(std::vector(v.coefficients())); },
            nb::rv_policy::move)
        .def("add", [](const FeatureVector& a, const FeatureVector& b) { return a + b; })
        .def("subtract", [](const FeatureVector& a, const FeatureVector& b) { return a - b; })
        .def("times", [](const FeatureVector& a, double factor) { return factor * a; })
        .def("inner", [](const FeatureVector& a, const FeatureVector& b) { return inner(a, b); })
        .def("norm", [](const FeatureVector& a) { return norm(a); })
        .def("distance",
             [](const FeatureVector& a, const FeatureVector& b) { return distance(a, b); })
        .def("with_images",
             [](const FeatureVector& a, const Rows& x) { return nb::cast(give(a.with_images(x))); })
        .def("distances",
             [](const FeatureVector& a, const Rows& x) { return nb::cast(give(distances(a, x))); });
    m.def("variance_of_images", [](const Kernel& k, const Rows& x) { return variance(k, x); });
}

}  // namespace mercer::python
