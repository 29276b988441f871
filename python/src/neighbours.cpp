// The nearest training rows of a model of nearest neighbours.
#include <nanobind/stl/optional.h>

#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "mercer/feature/neighbours.hpp"
#include "mercer/learn/model.hpp"

namespace mercer::python {
namespace {

/// (positions, squared distances) of the rows x, or of the points among one another.
nb::tuple neighbours(const Model& model, std::optional<Rows> x, std::size_t count, bool distances) {
    Neighbours found;
    Matrix<double> squared;
    run_beside([&](const Progress& progress) {
        const Expansion& e = model.expansion();
        const NeighbourSearch search(e.kernel, e.points, e.reference, {}, model.double_precision());
        if (!x) {
            found = search.among(count, progress);
            if (distances) squared = squared_distances(found, search.squared_lengths());
            return;
        }
        const Rows scaled = model.scaling().apply(rows_for(model, *x));
        found = search(scaled, count, progress);
        if (distances) squared = squared_distances(found, search.squared_lengths(scaled));
    });
    Matrix<std::int64_t> positions(found.size(), found.count());
    std::ranges::copy(found.index.values(), positions.values().begin());
    return nb::make_tuple(give(std::move(positions)), give(std::move(squared)));
}

}  // namespace

void bind_neighbours(nb::module_& m) {
    m.def("neighbours", &neighbours, nb::arg("model"), nb::arg("x").none(), nb::arg("count"),
          nb::arg("distances"));
}

}  // namespace mercer::python
