// Kernels put together as people do it; the trees are made in detail/build.cpp, the base kernels in
// leaf/.
#include "mercer/kernel/kernel.hpp"

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer {

Kernel operator+(const Kernel& a, const Kernel& b) {
    return make_sum({a, b});
}
Kernel operator-(const Kernel& a, const Kernel& b) {
    return make_sum({a, make_scale(-1, b)});
}
Kernel operator*(const Kernel& a, const Kernel& b) {
    return make_product({a, b});
}
Kernel operator+(const Kernel& a, double b) {
    return make_sum({a, make_constant(b)});
}
Kernel operator+(double a, const Kernel& b) {
    return make_sum({make_constant(a), b});
}
Kernel operator-(const Kernel& a, double b) {
    return make_sum({a, make_constant(-b)});
}
Kernel operator*(double a, const Kernel& b) {
    return make_scale(a, b);
}
Kernel operator*(const Kernel& a, double b) {
    return make_scale(b, a);
}
Kernel pow(const Kernel& k, double exponent) {
    return make_power(k, exponent);
}
Kernel exp(const Kernel& k) {
    return make_wrapped(KernelKind::exp, k);
}
Kernel normalize(const Kernel& k) {
    return make_wrapped(KernelKind::normalize, k);
}
Kernel center(const Kernel& k) {
    return make_wrapped(KernelKind::center, k);
}
Kernel rbf_of(const Kernel& k, const RbfParameters& p) {
    return make_rbf_of(k, leaves::gaussian_parameters(p));
}

Kernel map(const Kernel& k, std::vector<Formula> coordinates) {
    if (coordinates.empty()) throw InvalidInput("map needs at least one formula, found none");
    return make_node(
        {.kind = KernelKind::map, .children = {k}, .formulas = std::move(coordinates)});
}

Kernel map(const Kernel& k, const Kernel& features) {
    const KernelNode& leaf = without_subsets(features.node());
    if (leaf.leaf == nullptr || leaf.leaf->features == nullptr) {
        throw InvalidInput(
            "map takes formulas, or one kernel whose features can be written down such "
            "as spectrum(k=3), found " +
            quoted(features.text()));
    }
    return make_node({.kind = KernelKind::map, .children = {k, features}});
}

Kernel make_sets(const Kernel& k, GivenParameters given) {
    const KernelEntry& entry = combination_entry(KernelKind::sets);
    KernelNode node{.kind = KernelKind::sets, .children = {k}};
    for (const auto& [name, parameter] : given) {
        const ParameterForm& form = *find_form(entry, name);
        const std::string problem = parameter_problem(entry, form, parameter);
        if (!problem.empty()) throw InvalidInput(problem);
        const double value = std::get<double>(parameter);
        if (form.name == "width") node.value = value;
        if (form.name == "counted") node.counted = value == 1;
        if (form.name == "split") node.split = static_cast<SetSplit>(static_cast<int>(value));
        if (form.name == "mean") node.mean = value == 1;
    }
    const bool texts = node.split != SetSplit::none;
    if (!texts && node.value == 0) {
        throw InvalidInput("sets needs a width: sets(k, width=3), or for texts split=lines");
    }
    if (texts && (node.value > 0 || node.counted)) {
        throw InvalidInput(
            "sets of the parts of texts (split=" + std::string(set_splits.word(node.split)) +
            ") have no width and are not counted");
    }
    if (contains(k, KernelKind::center)) {
        throw InvalidInput(
            "center inside sets has no sample of single vectors; write center(sets(...)), which "
            "centres the sets");
    }
    return make_node(std::move(node));
}

Kernel sets(const Kernel& k, std::size_t width, bool counted, bool mean) {
    GivenParameters given{{"width", static_cast<double>(width)}};
    if (counted) given.emplace_back("counted", 1.0);
    if (mean) given.emplace_back("mean", 1.0);
    return make_sets(k, std::move(given));
}

}  // namespace mercer
