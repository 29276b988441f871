// How well kernels agree with labels, and sums of kernels that are learnt.
#include "common/arrays.hpp"
#include "common/bindings.hpp"
#include "common/interrupt.hpp"
#include "common/settings.hpp"
#include "mercer/base/error.hpp"
#include "mercer/theory/alignment.hpp"

namespace mercer::python {
namespace {

Dataset labelled(const Rows& x, const Numbers& y, const std::vector<std::string>& names) {
    Dataset data;
    data.x = x;
    data.y.values = copy_of(y);
    data.feature_names = names;
    return data;
}

/// (plain, centred)
nb::tuple align(const Kernel& kernel, const Rows& x, const Numbers& y, bool as_numbers,
                std::size_t memory_bytes, const std::vector<std::string>& names) {
    const Dataset data = labelled(x, y, names);
    Alignment found;
    run_beside([&](const Progress& progress) {
        found = kernel_alignment(kernel, data, as_numbers, memory_bytes, progress);
    });
    return nb::make_tuple(found.plain, found.centred);
}

/// The centred alignment and its gradient in the parameters of the kernel, in their order.
nb::tuple align_slope(const Kernel& kernel, const Rows& x, const Numbers& y, bool as_numbers,
                      std::size_t memory_bytes, const std::vector<std::string>& names) {
    const Dataset data = labelled(x, y, names);
    AlignmentGradient found;
    run_beside([&](const Progress&) {
        found = alignment_gradient(kernel, data, true, as_numbers, memory_bytes);
    });
    return nb::make_tuple(found.value, give(std::move(found.gradient)));
}

nb::dict align_best(const Kernel& kernel, const Rows& x, const Numbers& y, bool as_numbers,
                    std::size_t memory_bytes, const std::vector<std::string>& names) {
    const Dataset data = labelled(x, y, names);
    AlignedKernel found;
    run_beside([&](const Progress& progress) {
        found = align_parameters(kernel, data, as_numbers, memory_bytes, progress);
    });
    nb::dict d;
    d["kernel"] = nb::cast(found.kernel);
    d["before"] = found.before;
    d["after"] = found.after;
    d["status"] = found.status;
    return d;
}

nb::dict combination_dict(KernelCombination c) {
    nb::dict d;
    d["kernel"] = nb::cast(c.kernel);
    d["weights"] = give(std::move(c.weights));
    d["shares"] = give(std::move(c.shares));
    d["objective"] = c.objective;
    d["gap"] = c.gap;
    d["relative_gap"] = c.relative_gap;
    d["iterations"] = c.iterations;
    d["converged"] = c.converged;
    d["history"] = give(std::move(c.history));
    return d;
}

nb::dict combine(const std::vector<Kernel>& kernels, const std::string& by, nb::dict values,
                 const Rows& x, const Numbers& y, const std::vector<std::string>& names,
                 nb::object callback) {
    if (by != "margin" && by != "alignment") {
        throw InvalidInput("by = '" + by + "' must be margin or alignment");
    }
    const Settings settings(std::move(values));
    CombinationSettings s;
    s.C = settings.number("C", s.C);
    s.normalise = settings.flag("normalise", s.normalise);
    s.tolerance = settings.number("tolerance", s.tolerance);
    s.iteration_limit = settings.count("iteration_limit", s.iteration_limit);
    s.memory_bytes = settings.count("memory_bytes", s.memory_bytes);
    settings.check("a combination of kernels");
    const Dataset data = labelled(x, y, names);
    KernelCombination found;
    const std::function<void(const Progress&)> job = [&](const Progress& progress) {
        s.progress = progress;
        found = by == "margin" ? combine_by_margin(kernels, data, s)
                               : combine_by_alignment(kernels, data, s);
    };
    run_beside(job, std::move(callback));
    return combination_dict(std::move(found));
}

}  // namespace

void bind_theory(nb::module_& m) {
    m.def("kernel_alignment", &align);
    m.def("alignment_gradient", &align_slope);
    m.def("align_parameters", &align_best);
    m.def("combine_kernels", &combine, nb::arg("kernels"), nb::arg("by"), nb::arg("settings"),
          nb::arg("x"), nb::arg("y"), nb::arg("names"), nb::arg("callback").none());
}

}  // namespace mercer::python
