// Checks and normal form: see detail/build.hpp.
#include "mercer/kernel/detail/build.hpp"

#include <algorithm>
#include <cmath>

#include "mercer/base/detail/scanner.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

bool is(const Kernel& k, KernelKind kind) {
    return k.node().kind == kind;
}

/// Adding 0 turns -0 into 0, which would print as "-0".
double finite(double value, const char* what) {
    if (std::isfinite(value)) return value + 0.0;
    throw InvalidInput(std::string(what) + " must be a finite number, found " +
                       format_number(value));
}

GivenParameters checked(const KernelEntry& entry, GivenParameters given) {
    GivenParameters result;
    for (const ParameterForm& form : entry.parameters) {
        for (const auto& [name, value] : given) {
            if (find_form(entry, name) != &form) continue;
            for (const auto& [other, ignored] : result) {
                if (find_form(entry, other)->canonical != form.canonical) continue;
                throw InvalidInput(entry.name + ": " + other + " and " + form.name + " both set " +
                                   form.canonical + "; give one of them");
            }
            const std::string problem = parameter_problem(entry, form, value);
            if (!problem.empty()) throw InvalidInput(problem);
            result.emplace_back(form.name, value);
        }
        if (form.name != form.canonical || form.fallback) continue;
        const bool missing = std::none_of(result.begin(), result.end(), [&](const auto& r) {
            return find_form(entry, r.first)->canonical == form.canonical;
        });
        if (missing)
            throw InvalidInput(entry.name + " needs " + form.name + ", as in " + entry.name + "(" +
                               form.name + "=1)");
    }
    if (result.size() == given.size()) return result;
    for (const auto& [name, ignored] : given) {
        if (find_form(entry, name)) continue;
        throw InvalidInput(entry.name + " has no parameter " + quoted(name) + "; it has " +
                           parameter_names(entry));
    }
    return result;
}

}  // namespace

Kernel make_node(KernelNode node) {
    node.depth = 1;
    node.nodes = 1;
    for (const Kernel& child : node.children) {
        node.depth = std::max(node.depth, child.node().depth + 1);
        node.nodes += child.node().nodes;
    }
    if (node.depth > deepest_kernel || node.nodes > largest_kernel) {
        throw InvalidInput("a kernel expression may have at most " +
                           std::to_string(deepest_kernel) + " levels and " +
                           std::to_string(largest_kernel) + " parts, this one has " +
                           std::to_string(node.depth) + " and " + std::to_string(node.nodes));
    }
    return Kernel(std::make_shared<const KernelNode>(std::move(node)));
}

Kernel make_leaf(const Leaf& leaf, GivenParameters given) {
    KernelNode node{
        .kind = leaf.entry.kind, .leaf = &leaf, .given = checked(leaf.entry, std::move(given))};
    if (leaf.check != nullptr) leaf.check(node);
    return make_node(std::move(node));
}

Kernel make_sum(const std::vector<Kernel>& parts) {
    std::vector<Kernel> flat;
    const auto append = [&flat](const Kernel& k) {
        if (is(k, KernelKind::constant) && !flat.empty() && is(flat.back(), KernelKind::constant)) {
            flat.back() = make_constant(flat.back().node().value + k.node().value);
        } else {
            flat.push_back(k);
        }
    };
    for (const Kernel& part : parts) {
        if (!is(part, KernelKind::sum))
            append(part);
        else
            for (const Kernel& child : part.node().children) append(child);
    }
    if (flat.size() == 1) return flat.front();
    return make_node({.kind = KernelKind::sum, .children = std::move(flat)});
}

Kernel make_product(const std::vector<Kernel>& parts) {
    std::vector<Kernel> flat;
    double factor = 1;
    bool scaled = false;
    const auto append = [&](const Kernel& k) {
        if (is(k, KernelKind::product)) {
            const auto& children = k.node().children;
            flat.insert(flat.end(), children.begin(), children.end());
        } else {
            flat.push_back(k);
        }
    };
    for (const Kernel& part : parts) {
        if (is(part, KernelKind::constant) || is(part, KernelKind::scale)) {
            factor = finite(factor * part.node().value, "the factor of a product");
            scaled = true;
        }
        if (is(part, KernelKind::scale))
            append(part.node().children.front());
        else if (!is(part, KernelKind::constant))
            append(part);
    }
    if (flat.empty()) return make_constant(factor);
    const Kernel product =
        flat.size() == 1 ? flat.front()
                         : make_node({.kind = KernelKind::product, .children = std::move(flat)});
    return scaled ? make_scale(factor, product) : product;
}

Kernel make_scale(double factor, const Kernel& k) {
    factor = finite(factor, "the factor of a kernel");
    if (is(k, KernelKind::constant)) return make_constant(factor * k.node().value);
    if (is(k, KernelKind::scale)) {
        // Two signs are none; any other factor was written to be one, also where it is 1.
        if (factor == -1 && k.node().value == -1) return k.node().children.front();
        return make_scale(factor * k.node().value, k.node().children.front());
    }
    return make_node({.kind = KernelKind::scale, .children = {k}, .value = factor});
}

Kernel make_power(const Kernel& k, double exponent) {
    exponent = finite(exponent, "the exponent of a kernel");
    if (is(k, KernelKind::constant)) return make_constant(std::pow(k.node().value, exponent));
    return make_node({.kind = KernelKind::power, .children = {k}, .value = exponent});
}

Kernel make_wrapped(KernelKind kind, const Kernel& k) {
    return make_node({.kind = kind, .children = {k}});
}

Kernel make_rbf_of(const Kernel& k, GivenParameters given) {
    const KernelEntry& entry = combination_entry(KernelKind::rbf_of);
    return make_node(
        {.kind = KernelKind::rbf_of, .given = checked(entry, std::move(given)), .children = {k}});
}

}  // namespace mercer
