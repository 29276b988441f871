#include "mercer/theory/detail/kernel_enclosure.hpp"

#include <cmath>
#include <string>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

using Row = std::span<const double>;

/// value ± (1.01 (d + 3) u size + (d + 1) 2⁻¹⁰⁷³), see the header.
Interval around(double value, double size, std::size_t columns) {
    const auto d = static_cast<double>(columns);
    const double error = 1.01 * (d + 3) * 0x1p-53 * size + (d + 1) * 0x1p-1073;
    return {below(value - error), above(value + error)};
}

Interval dot(Row x, Row z) {
    double sum = 0, size = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        sum += x[i] * z[i];
        size += std::abs(x[i] * z[i]);
    }
    return around(sum, size, x.size());
}

Interval squared_distance(Row x, Row z) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - z[i]) * (x[i] - z[i]);
    return positive_part(around(sum, sum, x.size()));
}

Interval city_distance(Row x, Row z) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += std::abs(x[i] - z[i]);
    return positive_part(around(sum, sum, x.size()));
}

bool is_whole(double value) {
    return value >= 0 && value == std::floor(value) && value < 1e6;
}

bool has_bound(PairNumber read) {
    return read == PairNumber::dot || read == PairNumber::squared || read == PairNumber::absolute ||
           read == PairNumber::nothing;
}

/// The number that a leaf reads, for those that have a bound.
Interval number(PairNumber read, Row x, Row z) {
    switch (read) {
        case PairNumber::dot: return dot(x, z);
        case PairNumber::squared: return squared_distance(x, z);
        case PairNumber::absolute: return city_distance(x, z);
        default: return {};
    }
}

Interval value(const KernelNode& node, Row x, Row z);

Interval child(const KernelNode& node, Row x, Row z) {
    return value(node.children.front().node(), x, z);
}

Interval on_columns(const KernelNode& node, Row x, Row z) {
    std::vector<double> own_x, own_z;
    for (const std::size_t i : node.subset.positions(x.size())) {
        own_x.push_back(x[i]);
        own_z.push_back(z[i]);
    }
    return child(node, own_x, own_z);
}

Interval value(const KernelNode& node, Row x, Row z) {
    Interval result;
    if (node.leaf != nullptr) return node.leaf->enclose(node, number(pair_number(node), x, z));
    switch (node.kind) {
        case KernelKind::sum:
            for (const Kernel& part : node.children) result += value(part.node(), x, z);
            return result;
        case KernelKind::product:
            result = 1;
            for (const Kernel& part : node.children) result = result * value(part.node(), x, z);
            return result;
        case KernelKind::scale: return node.value * child(node, x, z);
        case KernelKind::power: return power(child(node, x, z), static_cast<unsigned>(node.value));
        case KernelKind::exp: return exp(child(node, x, z));
        case KernelKind::normalize:
            return child(node, x, z) / (sqrt(child(node, x, x)) * sqrt(child(node, z, z)));
        case KernelKind::rbf_of: {
            const Interval squared =
                child(node, x, x) + child(node, z, z) - 2.0 * child(node, x, z);
            return exp(-(node.parameter("gamma") * squared));
        }
        default: return on_columns(node, x, z);
    }
}

bool is_enclosable(const KernelNode& node) {
    if (node.leaf != nullptr) return node.leaf->enclose != nullptr && has_bound(pair_number(node));
    switch (node.kind) {
        case KernelKind::center:
        case KernelKind::map:
        case KernelKind::sets: return false;
        case KernelKind::power: return is_whole(node.value);
        default: return true;
    }
}

/// "linear, polynomial, …"
std::string enclosable_leaves() {
    std::string names;
    for (const Leaf* leaf : all_leaves()) {
        if (leaf->enclose == nullptr || leaf->entry.kind == KernelKind::constant) continue;
        names += (names.empty() ? "" : ", ") + leaf->entry.name;
    }
    return names;
}

}  // namespace

void require_enclosable(const Kernel& kernel) {
    if (!is_enclosable(kernel.node())) {
        throw InvalidInput("the rounding of kernel values has no proved bound here for " +
                           quoted(kernel.text()) + "; there is one for " + enclosable_leaves() +
                           " and their sums, products, whole powers, exp, normalize and rbf_of");
    }
    for (const Kernel& part : kernel.node().children) require_enclosable(part);
}

Interval enclose(const Kernel& kernel, Row x, Row z) {
    return value(kernel.node(), x, z);
}

}  // namespace mercer
