// Feature maps through a sample, functions of Gram matrices, and the monomials of a polynomial
// kernel.
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "mercer/base/error.hpp"
#include "mercer/feature/maps.hpp"
#include "mercer/feature/preimage.hpp"
#include "mercer/feature/spectral.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/groups/quantiser.hpp"

namespace mercer::python {
namespace {

/// kind: empirical, whitened or eigen.
FeatureMap make_map(const std::string& kind, const Kernel& kernel, const Rows& sample,
                    std::size_t components, const std::vector<std::string>& names) {
    std::optional<FeatureMap> map;
    run_beside([&](const Progress& progress) {
        if (kind == "empirical") {
            map = empirical_map(kernel, sample, names);
        } else if (kind == "whitened") {
            map = whitened_map(kernel, sample, names, progress);
        } else if (kind == "eigen") {
            map = eigen_map(kernel, sample, components, names, progress);
        } else {
            throw InvalidInput("map = '" + kind + "' must be empirical, whitened or eigen");
        }
        Expansion own = map->expansion();
        own.points = own.points.owned();
        own.reference = own.reference.owned();
        map = FeatureMap(std::move(own), map->eigenvalues());
    });
    return std::move(*map);
}

/// A map from its parts, as pickle brings them back.
FeatureMap restore(const std::string& kernel, const Rows& points, const Rows& reference,
                   const Table& coefficients, const Numbers& eigenvalues) {
    if (coefficients.shape(1) != points.size()) {
        throw InvalidInput("a map of " + std::to_string(points.size()) + " points has " +
                           std::to_string(coefficients.shape(1)) + " coefficients a feature");
    }
    Expansion e;
    e.kernel = Kernel::parse(kernel);
    e.points = points.owned();
    e.reference = reference.owned();
    e.coefficients = Matrix<double>(coefficients.shape(0), coefficients.shape(1));
    std::copy_n(coefficients.data(), coefficients.size(), e.coefficients.values().begin());
    e.bias.assign(coefficients.shape(0), 0.0);
    return {std::move(e), copy_of(eigenvalues)};
}

nb::object apply(const FeatureMap& map, const Rows& x) {
    Matrix<double> out;
    run_beside([&](const Progress& progress) { out = map(x, progress); });
    return nb::cast(give(std::move(out)));
}

nb::object monomials(const Rows& x, int degree, double gamma, double coef0) {
    Matrix<double> out;
    run_beside([&](const Progress&) {
        out = MonomialMap(x.columns(), {.degree = degree, .gamma = gamma, .coef0 = coef0})(x);
    });
    return nb::cast(give(std::move(out)));
}

std::vector<std::string> monomial_names(std::size_t columns, int degree, double gamma,
                                        double coef0) {
    const MonomialMap map(columns, {.degree = degree, .gamma = gamma, .coef0 = coef0});
    std::vector<std::string> names;
    for (std::size_t f = 0; f < map.features(); ++f) names.push_back(map.name(f));
    return names;
}

/// Rows for components, and how near their images come.
nb::tuple preimages(const Model& model, const Table& projections, const std::string& method,
                    std::size_t seed) {
    Matrix<double> rows;
    std::vector<double> distances;
    run_beside([&](const Progress& progress) {
        const PrincipalComponents components(model);
        const Expansion& e = model.expansion();
        PreimageSettings settings{.method = preimage_method_named(method)};
        settings.seed = seed;
        settings.progress = progress;
        const PreimageFinder finder(e.kernel, e.points, settings);
        const MatrixView<const double> all(projections.data(), projections.shape(0),
                                           projections.shape(1));
        rows = Matrix<double>(all.rows, e.points.columns());
        constexpr std::size_t batch = 256;
        for (std::size_t first = 0; first < all.rows; first += batch) {
            const std::size_t count = std::min(batch, all.rows - first);
            const Matrix<double> targets =
                components.expand(all.block(first, 0, count, all.columns));
            const std::vector<Preimage> found = finder.find(targets.view());
            for (std::size_t t = 0; t < count; ++t) {
                std::ranges::copy(found[t].z, rows.row(first + t).begin());
                distances.push_back(found[t].squared_distance);
            }
        }
    });
    return nb::make_tuple(give(std::move(rows)), give(std::move(distances)));
}

nb::object reconstruction_errors(const Model& model, const Rows& x) {
    std::vector<double> out;
    run_beside([&](const Progress& progress) {
        out = PrincipalComponents(model).reconstruction_errors(x, 0, progress);
    });
    return nb::cast(give(std::move(out)));
}

/// Isomap and its like, and functions of the spectrum.
nb::object gram_function(const Table& k, const std::string& functions) {
    Matrix<double> result;
    const MatrixView<const double> view{k.data(), k.shape(0), k.shape(1)};
    run_beside(
        [&](const Progress& progress) { result = apply_functions(view, functions, progress); });
    return nb::cast(give(std::move(result)));
}

/// Means that begin at given codes: (codes, largest distance, root mean square, converged).
nb::tuple lbg_codes(const Rows& x, const Rows& first) {
    Codebook book;
    run_beside([&](const Progress& progress) { book = lbg_codebook(x, first, progress); });
    return nb::make_tuple(rows_to_arrays(book.codes), book.largest, book.root_mean_square,
                          book.status == FitStatus::converged);
}

}  // namespace

void bind_maps(nb::module_& m) {
    nb::class_<FeatureMap>(m, "FeatureMap", "A map through a sample.")
        .def_static("make", &make_map)
        .def_static("restore", &restore)
        .def_prop_ro("features", &FeatureMap::features)
        .def_prop_ro("columns",
                     [](const FeatureMap& map) { return map.expansion().points.columns(); })
        .def_prop_ro("kernel", [](const FeatureMap& map) { return map.kernel(); })
        .def_prop_ro(
            "eigenvalues",
            [](const FeatureMap& map) { return give(std::vector(map.eigenvalues())); },
            nb::rv_policy::move)
        .def_prop_ro(
            "coefficients",
            [](const FeatureMap& map) { return give(Matrix(map.expansion().coefficients)); },
            nb::rv_policy::move)
        .def("points", [](const FeatureMap& map) { return rows_to_arrays(map.expansion().points); })
        .def("reference",
             [](const FeatureMap& map) { return rows_to_arrays(map.expansion().reference); })
        .def("__call__", &apply);
    m.def("preimages", &preimages);
    m.def("reconstruction_errors", &reconstruction_errors);
    m.def("gram_function", &gram_function);
    m.def("lbg_codes", &lbg_codes);
    m.def("monomials", &monomials);
    m.def("monomial_names", &monomial_names);
}

}  // namespace mercer::python
