// What each file of the extension puts into the module.
#pragma once

#include <nanobind/nanobind.h>

namespace mercer::python {

void bind_rows(nanobind::module_& m);
void bind_kernels(nanobind::module_& m);
void bind_machines(nanobind::module_& m);
void bind_model(nanobind::module_& m);
void bind_maps(nanobind::module_& m);
void bind_pairs(nanobind::module_& m);
void bind_hebbian(nanobind::module_& m);
void bind_perceptron(nanobind::module_& m);
void bind_gp_classifier(nanobind::module_& m);
void bind_neighbours(nanobind::module_& m);
void bind_spreading(nanobind::module_& m);
void bind_conformal(nanobind::module_& m);
void bind_theory(nanobind::module_& m);
void bind_bounds(nanobind::module_& m);
void bind_features(nanobind::module_& m);
void bind_data(nanobind::module_& m);
void bind_streams(nanobind::module_& m);
void bind_tables(nanobind::module_& m);
void bind_exchange(nanobind::module_& m);
void bind_search(nanobind::module_& m);
void bind_choice(nanobind::module_& m);
void bind_compress(nanobind::module_& m);
void bind_geometry(nanobind::module_& m);
void bind_pictures(nanobind::module_& m);
void bind_ranks(nanobind::module_& m);

}  // namespace mercer::python
