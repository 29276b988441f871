// Kernels as Python objects; mercer/kernels.py puts the constructors beside them.
#include <nanobind/operators.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "mercer/gram/gradient.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/kernel.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/kernel/table.hpp"

namespace mercer::python {
namespace {

using Names = std::vector<std::string>;

/// k(X, Z), or the symmetric k(X, X) without Z. Rules such as gamma=scale look at Z, the reference.
template <class T>
nb::object matrix(const Kernel& kernel, const Rows& x, const Rows* z, const Names& names) {
    Matrix<T> out;
    run_beside([&](const Progress& progress) {
        const Gram<T> gram(kernel, z ? *z : x, names, progress);
        out = Matrix<T>(x.size(), gram.size());
        z ? gram.block(gram.prepare(x), gram.reference(), out.view())
          : gram.matrix(out.view(), progress);
    });
    return nb::cast(give(std::move(out)));
}

nb::object kernel_matrix(const Kernel& kernel, const Rows& x, const Rows* z, bool twice,
                         const Names& names) {
    return twice ? matrix<double>(kernel, x, z, names) : matrix<float>(kernel, x, z, names);
}

nb::object kernel_diagonal(const Kernel& kernel, const Rows& x, const Names& names) {
    std::vector<double> out(x.size());
    run_beside([&](const Progress& progress) {
        const Gram<double> gram(kernel, x, names, progress);
        gram.diagonal(gram.reference(), out);
    });
    return nb::cast(give(std::move(out)));
}

/// k(X, X) and, parameter by parameter below each other, its derivatives.
nb::tuple kernel_slopes(const Kernel& kernel, const Rows& x, const Names& names) {
    Matrix<double> value(x.size(), x.size());
    Matrix<double> slopes;
    run_beside([&](const Progress& progress) {
        const GramGradient gradient(kernel, x, names, 0, progress);
        const std::size_t count = gradient.parameters().size();
        slopes = Matrix<double>(count * x.size(), x.size());
        std::vector<MatrixView<double>> parts;
        for (std::size_t p = 0; p < count; ++p) {
            parts.emplace_back(slopes.view().row(p * x.size()).data(), x.size(), x.size());
        }
        gradient.block(0, 0, value.view(), parts);
    });
    return nb::make_tuple(give(std::move(value)), give(std::move(slopes)));
}

Kernel resolved(const Kernel& kernel, const Rows& x, const Names& names) {
    return resolve(kernel, x, names);
}

using Step = std::tuple<std::size_t, std::string, std::string, std::string>;

std::pair<std::string, std::vector<Step>> definiteness_of(const Kernel& kernel, bool unit_norm,
                                                          bool non_negative) {
    const Definiteness found =
        definiteness(kernel, {.unit_norm = unit_norm, .non_negative = non_negative});
    std::vector<Step> steps;
    for (const Reason& r : found.reasons) {
        steps.emplace_back(r.depth, r.part, describe(r), r.because);
    }
    return {describe(found), steps};
}

/// (kind, count or None, because)
nb::tuple dimension_of(const Kernel& kernel, std::size_t columns, bool unit_norm,
                       bool non_negative) {
    using Kind = FeatureDimension::Kind;
    const FeatureDimension found =
        feature_dimension(kernel, columns, {.unit_norm = unit_norm, .non_negative = non_negative});
    nb::object count = nb::none();
    if (found.kind == Kind::exact || found.kind == Kind::at_most) {
        count = found.count.exact() ? nb::cast(*found.count.exact())
                                    : nb::cast(found.count.approximate());
    }
    const char* kind = found.kind == Kind::exact      ? "exact"
                       : found.kind == Kind::at_most  ? "at most"
                       : found.kind == Kind::infinite ? "infinite"
                                                      : "unknown";
    return nb::make_tuple(kind, count, found.because);
}

std::vector<std::tuple<std::string, std::string, double>> parameters_of(const Kernel& kernel) {
    std::vector<std::tuple<std::string, std::string, double>> result;
    for (const KernelParameter& p : parameters(kernel)) {
        result.emplace_back(p.name, p.part, p.value);
    }
    return result;
}

/// Kernels that are a name with parameters: name, formula, names of the parameters.
std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> named_kernels() {
    std::vector<std::tuple<std::string, std::string, std::vector<std::string>>> list;
    for (const KernelEntry* entry : kernel_table()) {
        if (!entry->is_plain_call()) continue;
        std::vector<std::string> parameters;
        for (const ParameterForm& form : entry->parameters) parameters.push_back(form.name);
        list.emplace_back(entry->name, entry->formula, std::move(parameters));
    }
    return list;
}

}  // namespace

void bind_kernels(nb::module_& m) {
    m.def("named_kernels", &named_kernels);
    nb::class_<Kernel>(m, "Expression", "A kernel expression.")
        .def_static("parse", [](const std::string& text) { return Kernel::parse(text); })
        .def("text", &Kernel::text)
        .def("needs_data", &Kernel::needs_data)
        .def("add", [](const Kernel& a, const Kernel& b) { return a + b; })
        .def("subtract", [](const Kernel& a, const Kernel& b) { return a - b; })
        .def("multiply", [](const Kernel& a, const Kernel& b) { return a * b; })
        .def("scale", [](const Kernel& a, double b) { return b * a; })
        .def("power", [](const Kernel& a, double b) { return pow(a, b); })
        .def("exp", [](const Kernel& a) { return exp(a); })
        .def("normalize", [](const Kernel& a) { return normalize(a); })
        .def("center", [](const Kernel& a) { return center(a); })
        .def("definiteness", &definiteness_of)
        .def("feature_dimension", &dimension_of)
        .def("parameters", &parameters_of)
        .def("with_parameters",
             [](const Kernel& k, const std::vector<double>& v) { return with_parameters(k, v); })
        .def("resolve", &resolved)
        .def("matrix", &kernel_matrix, nb::arg("x"), nb::arg("z").none(), nb::arg("twice"),
             nb::arg("names"))
        .def("diagonal", &kernel_diagonal)
        .def("slopes", &kernel_slopes)
        .def("value", [](const Kernel& k, const Numbers& x, const Numbers& z) {
            return k(std::span(x.data(), x.size()), std::span(z.data(), z.size()));
        });
}

}  // namespace mercer::python
