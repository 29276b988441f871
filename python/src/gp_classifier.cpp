// Mean and variance of the process behind a Gaussian process classifier.
#include "mercer/learn/risk/gp_classifier.hpp"

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"

namespace mercer::python {
namespace {

nb::tuple latent(const Model& model, const Rows& x) {
    Latent found;
    run_beside([&](const Progress& progress) { found = latent_of(model, x, progress); });
    return nb::make_tuple(give(std::move(found.mean)), give(std::move(found.variance)));
}

}  // namespace

void bind_gp_classifier(nb::module_& m) {
    m.def("latent", &latent, nb::arg("model"), nb::arg("x"));
}

}  // namespace mercer::python
