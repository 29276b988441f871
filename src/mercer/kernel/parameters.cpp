#include "mercer/kernel/parameters.hpp"

#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/build.hpp"
#include "mercer/kernel/detail/own_parameters.hpp"

namespace mercer {
namespace {

OwnParameter described(const ParameterForm& form, double value) {
    OwnParameter own{.name = form.name, .canonical = form.canonical, .value = value};
    if (form.name == form.canonical) return own;
    // canonical = c value^p; also at 0 where p = 1.
    own.slope =
        form.exponent == 1 ? form.convert(1.0) : form.exponent * form.convert(value) / value;
    return own;
}

void collect(const KernelNode& node, std::vector<KernelParameter>& list) {
    const std::vector<OwnParameter> own = own_parameters(node);
    if (!own.empty()) {
        const std::string part = Kernel(std::make_shared<const KernelNode>(node)).text();
        for (const OwnParameter& p : own) list.push_back({p.name, part, p.value});
    }
    for (const Kernel& child : node.children) collect(child.node(), list);
}

/// Sets the value of one own parameter, given by name or a default so far.
void replace(KernelNode& node, const std::string& name, double value) {
    if (node.kind == KernelKind::scale || node.kind == KernelKind::constant) {
        if (!std::isfinite(value)) {
            throw InvalidInput("the " + name + " of a kernel must be a finite number, found " +
                               format_number(value));
        }
        node.value = value;
        return;
    }
    const KernelEntry& entry = node.entry();
    const std::string problem = parameter_problem(entry, *find_form(entry, name), value);
    if (!problem.empty()) throw InvalidInput(problem);
    for (auto& [given, old] : node.given) {
        if (given == name) {
            old = value;
            return;
        }
    }
    // In the order of the table, as the printer and its inverse expect.
    GivenParameters given;
    for (const ParameterForm& form : entry.parameters) {
        if (form.name == name) given.emplace_back(name, value);
        for (const auto& old : node.given) {
            if (old.first == form.name) given.push_back(old);
        }
    }
    node.given = std::move(given);
}

Kernel rebuilt(const KernelNode& node, std::span<const double>& values) {
    KernelNode copy = node;
    for (const OwnParameter& own : own_parameters(node)) {
        replace(copy, own.name, values.front());
        values = values.subspan(1);
    }
    for (Kernel& child : copy.children) child = rebuilt(child.node(), values);
    return make_node(std::move(copy));
}

}  // namespace

std::vector<OwnParameter> own_parameters(const KernelNode& node) {
    if (node.kind == KernelKind::scale) return {{"factor", "factor", node.value}};
    if (node.kind == KernelKind::constant) return {{"value", "value", node.value}};
    if (node.kind == KernelKind::sets) return {};
    std::vector<OwnParameter> result;
    const KernelEntry& entry = node.entry();
    for (const ParameterForm& canonical : entry.parameters) {
        if (canonical.name != canonical.canonical || canonical.is_shape()) continue;
        const ParameterForm* form = &canonical;
        double value = node.parameter(canonical.name);  // throws while a rule waits
        for (const auto& [name, given] : node.given) {
            const ParameterForm* other = find_form(entry, name);
            if (other->canonical != canonical.name) continue;
            form = other;
            value = std::get<double>(given);
        }
        result.push_back(described(*form, value));
    }
    return result;
}

std::vector<KernelParameter> parameters(const Kernel& kernel) {
    std::vector<KernelParameter> list;
    collect(kernel.node(), list);
    return list;
}

Kernel with_parameters(const Kernel& kernel, std::span<const double> values) {
    const std::size_t count = parameters(kernel).size();
    if (values.size() != count) {
        throw InvalidInput("the kernel " + kernel.text() + " has " + std::to_string(count) +
                           " parameters, but " + std::to_string(values.size()) +
                           " values were given");
    }
    return rebuilt(kernel.node(), values);
}

}  // namespace mercer
