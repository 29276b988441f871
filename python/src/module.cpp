// mercer._core: the library as Python sees it. The package `mercer` around it is the public face.
#include <nanobind/nanobind.h>

#include <optional>

#include "common/bindings.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/data/source.hpp"
#include "mercer/dist/communicator.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/version.hpp"

namespace nb = nanobind;

namespace {

/// A limit for the calling thread, from a `with` statement's beginning to its end; 0 sets none.
struct Threads {
    explicit Threads(std::size_t wanted) : count(wanted) {}
    std::size_t count;
    std::optional<mercer::ThreadLimit> limit{};
};

}  // namespace

NB_MODULE(_core, m) {
    // Bad input is what Python calls a ValueError.
    nb::register_exception_translator([](const std::exception_ptr& p, void*) {
        try {
            std::rethrow_exception(p);
        } catch (const mercer::WrongKind& error) {
            PyErr_SetString(PyExc_TypeError, error.what());
        } catch (const mercer::InvalidInput& error) {
            PyErr_SetString(PyExc_ValueError, error.what());
        } catch (const mercer::Cancelled&) {
            PyErr_SetString(PyExc_RuntimeError,
                            "stopped by the callback before there was anything to hand back");
        }
    });
    nb::exception<mercer::RankFailed>(m, "RankFailed", PyExc_RuntimeError);
    m.attr("version") = mercer::version;
    m.def("threads", &mercer::threads);
    m.def("memory_limit", &mercer::memory_limit);
    m.def("set_memory_limit", &mercer::set_memory_limit, nb::arg("bytes"));
    nb::class_<Threads>(m, "Threads", "Within it, calls of this Python thread use so many threads.")
        .def(nb::init<std::size_t>(), nb::arg("count"))
        .def("__enter__", [](Threads& t) { t.limit.emplace(t.count); })
        .def("__exit__", [](Threads& t, const nb::args&) { t.limit.reset(); });
    mercer::python::bind_rows(m);
    mercer::python::bind_kernels(m);
    mercer::python::bind_model(m);
    mercer::python::bind_machines(m);
    mercer::python::bind_maps(m);
    mercer::python::bind_pairs(m);
    mercer::python::bind_hebbian(m);
    mercer::python::bind_perceptron(m);
    mercer::python::bind_gp_classifier(m);
    mercer::python::bind_neighbours(m);
    mercer::python::bind_spreading(m);
    mercer::python::bind_conformal(m);
    mercer::python::bind_theory(m);
    mercer::python::bind_bounds(m);
    mercer::python::bind_features(m);
    mercer::python::bind_data(m);
    mercer::python::bind_streams(m);
    mercer::python::bind_tables(m);
    mercer::python::bind_exchange(m);
    mercer::python::bind_search(m);
    mercer::python::bind_choice(m);
    mercer::python::bind_compress(m);
    mercer::python::bind_geometry(m);
    mercer::python::bind_pictures(m);
    mercer::python::bind_ranks(m);
}
