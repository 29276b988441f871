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

Kernel sets(const Kernel& k, std::size_t width, bool counted) {
    const KernelEntry& entry = combination_entry(KernelKind::sets);
    const auto value = static_cast<double>(width);
    const std::string problem = parameter_problem(entry, entry.parameters.front(), value);
    if (!problem.empty()) throw InvalidInput(problem);
    if (contains(k, KernelKind::center)) {
        throw InvalidInput(
            "center inside sets has no sample of single vectors; write center(sets(...)), which "
            "centres the sets");
    }
    return make_node(
        {.kind = KernelKind::sets, .children = {k}, .value = value, .counted = counted});
}

}  // namespace mercer
