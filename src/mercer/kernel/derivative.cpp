
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/kernel/detail/leaf.hpp"
#include "mercer/kernel/detail/own_parameters.hpp"
#include "mercer/kernel/detail/power.hpp"
#include "mercer/kernel/parameters.hpp"

namespace mercer {
namespace {

using Row = std::span<const double>;

/// k and its derivatives along all directions at once: first the parameters of the part, then,
/// where wanted, the columns of x.
struct Tangent {
    double value = 0;
    std::vector<double> by_parameter{};
    std::vector<double> by_input{};

    /// this ← factor × this
    void scale(double factor) {
        value *= factor;
        scale_slopes(factor);
    }
    void scale_slopes(double factor) {
        for (double& v : by_parameter) v *= factor;
        for (double& v : by_input) v *= factor;
    }
    /// Takes over the parameters of another part; derivatives in x are added with `weight`.
    void join(const Tangent& other, double weight) {
        for (const double v : other.by_parameter) by_parameter.push_back(weight * v);
        for (std::size_t c = 0; c < by_input.size(); ++c) by_input[c] += weight * other.by_input[c];
    }
};

class Walker {
   public:
    Walker(bool parameters, bool inputs) : parameters_(parameters), inputs_(inputs) {}

    Tangent operator()(const KernelNode& node, Row x, Row z) const {
        switch (node.kind) {
            case KernelKind::sum: return sum(node, x, z);
            case KernelKind::product: return product(node, x, z);
            case KernelKind::scale: {
                Tangent t = child(node, x, z);
                const double inner = t.value;
                t.scale(node.value);
                if (parameters_) t.by_parameter.insert(t.by_parameter.begin(), inner);
                return t;
            }
            case KernelKind::power: {
                Tangent t = child(node, x, z);
                // Where k = 0, a power above 1 is flat; below 1 it is not differentiable.
                const double inner = t.value;
                t.value = kernel_power(inner, node.value);
                t.scale_slopes(node.value * std::pow(inner, node.value - 1));
                return t;
            }
            case KernelKind::exp: {
                Tangent t = child(node, x, z);
                t.value = std::exp(t.value);
                t.scale_slopes(t.value);
                return t;
            }
            case KernelKind::normalize: return normalized(node, x, z);
            case KernelKind::rbf_of: return gaussian_of(node, x, z);
            case KernelKind::columns: return on_columns(node, x, z);
            case KernelKind::map: return mapped(node, x, z);
            case KernelKind::sets: return on_sets(node, x, z);
            case KernelKind::center:
                throw InvalidInput(
                    "center has no value without a sample whose centre it takes; its derivatives "
                    "over a sample are those of GramGradient");
            default: return leaf(node, x, z);
        }
    }

   private:
    Tangent child(const KernelNode& node, Row x, Row z) const {
        return (*this)(node.children.front().node(), x, z);
    }
    Tangent empty(std::size_t columns) const {
        return {
            .value = 0, .by_parameter = {}, .by_input = std::vector<double>(inputs_ ? columns : 0)};
    }

    Tangent leaf(const KernelNode& node, Row x, Row z) const {
        const PairNumber number = pair_number(node);
        if (number == PairNumber::rows) return of_rows(node, x, z);
        const NumberSlopes t = number_slopes(node, number, x, z);
        const std::string inner = number_parameter(number);
        Tangent result = empty(x.size());
        double slope = 0;
        const bool by_number = inputs_ || !inner.empty();
        leaf_value(node, {&t.value, 1},
                   {.value = {&result.value, 1},
                    .by_number = by_number ? std::span(&slope, 1) : std::span<double>()});
        for (std::size_t c = 0; c < result.by_input.size(); ++c) {
            result.by_input[c] = slope * t.by_input[c];
        }
        if (!parameters_) return result;
        for (const OwnParameter& own : own_parameters(node)) {
            double v = 0;
            if (own.canonical == inner) {
                v = slope * t.by_parameter;
            } else {
                leaf_parameter_slope(node, own.canonical, {&t.value, 1}, {&v, 1});
            }
            result.by_parameter.push_back(v * own.slope);
        }
        return result;
    }

    /// Leaves that read the rows themselves; those on rows as whole objects have parameters.
    Tangent of_rows(const KernelNode& node, Row x, Row z) const {
        Tangent result = empty(x.size());
        result.value = leaf_at(node, x, z);
        for (const OwnParameter& own : parameters_ ? own_parameters(node) : no_parameters()) {
            result.by_parameter.push_back(own.slope * object_slope(node, own.canonical, x, z));
        }
        if (!inputs_) return result;
        if (node.leaf->row_slope == nullptr) {
            throw InvalidInput("the part " +
                               Kernel(std::make_shared<const KernelNode>(node)).text() +
                               " has no derivative in x that could be derived from its text; use a "
                               "kernel of the table instead");
        }
        node.leaf->row_slope(node, x, z, result.by_input);
        return result;
    }

    static std::vector<OwnParameter> no_parameters() { return {}; }

    Tangent sum(const KernelNode& node, Row x, Row z) const {
        Tangent result = empty(x.size());
        for (const Kernel& part : node.children) {
            const Tangent t = (*this)(part.node(), x, z);
            result.value += t.value;
            result.join(t, 1);
        }
        return result;
    }

    Tangent product(const KernelNode& node, Row x, Row z) const {
        std::vector<Tangent> parts;
        for (const Kernel& part : node.children) parts.push_back((*this)(part.node(), x, z));
        Tangent result = empty(x.size());
        result.value = 1;
        for (const Tangent& part : parts) result.value *= part.value;
        for (std::size_t p = 0; p < parts.size(); ++p) {
            double others = 1;
            for (std::size_t q = 0; q < parts.size(); ++q) others *= q == p ? 1 : parts[q].value;
            result.join(parts[p], others);
        }
        return result;
    }

    /// k(x, x) with its derivative along x in both arguments, which for symmetric k is twice that
    /// in the first.
    Tangent self(const KernelNode& node, Row x) const {
        Tangent t = child(node, x, x);
        for (double& v : t.by_input) v *= 2;
        return t;
    }

    /// k(x,z) / √(k(x,x) k(z,z)); 0 where a norm is 0.
    Tangent normalized(const KernelNode& node, Row x, Row z) const {
        Tangent t = child(node, x, z);
        const Tangent xx = self(node, x);
        const Tangent zz = child(node, z, z);
        if (!(xx.value > 0 && zz.value > 0)) {
            t.scale(0);
            return t;
        }
        const double root = 1 / std::sqrt(xx.value * zz.value);
        t.scale(root);
        for (std::size_t p = 0; p < t.by_parameter.size(); ++p) {
            t.by_parameter[p] -=
                t.value / 2 * (xx.by_parameter[p] / xx.value + zz.by_parameter[p] / zz.value);
        }
        for (std::size_t c = 0; c < t.by_input.size(); ++c) {
            t.by_input[c] -= t.value / 2 * xx.by_input[c] / xx.value;
        }
        return t;
    }

    /// exp(−γ D), D = k(x,x) + k(z,z) − 2 k(x,z).
    Tangent gaussian_of(const KernelNode& node, Row x, Row z) const {
        Tangent t = child(node, x, z);
        const Tangent xx = self(node, x);
        const Tangent zz = child(node, z, z);
        const double gamma = node.parameter("gamma");
        const double distance = xx.value + zz.value - 2 * t.value;
        t.value = std::exp(-gamma * distance);
        const double factor = -gamma * t.value;
        for (std::size_t p = 0; p < t.by_parameter.size(); ++p) {
            t.by_parameter[p] =
                factor * (xx.by_parameter[p] + zz.by_parameter[p] - 2 * t.by_parameter[p]);
        }
        for (std::size_t c = 0; c < t.by_input.size(); ++c) {
            t.by_input[c] = factor * (xx.by_input[c] - 2 * t.by_input[c]);
        }
        if (!parameters_) return t;
        const OwnParameter own = own_parameters(node).front();
        t.by_parameter.insert(t.by_parameter.begin(), -distance * t.value * own.slope);
        return t;
    }

    Tangent on_columns(const KernelNode& node, Row x, Row z) const {
        const auto positions = node.subset.positions(x.size());
        std::vector<double> a;
        std::vector<double> b;
        for (const std::size_t c : positions) {
            a.push_back(x[c]);
            b.push_back(z[c]);
        }
        Tangent inner = child(node, a, b);
        Tangent result = empty(x.size());
        result.value = inner.value;
        result.by_parameter = std::move(inner.by_parameter);
        for (std::size_t c = 0; c < inner.by_input.size(); ++c) {
            result.by_input[positions[c]] += inner.by_input[c];
        }
        return result;
    }

    Tangent mapped(const KernelNode& node, Row x, Row z) const {
        if (inputs_) {
            throw InvalidInput("the part " +
                               Kernel(std::make_shared<const KernelNode>(node)).text() +
                               " goes through formulas, whose derivatives in x are not available; "
                               "apply the formulas to the data and use the kernel inside");
        }
        std::vector<double> a;
        std::vector<double> b;
        for (const Formula& f : node.formulas) {
            a.push_back(f(x));
            b.push_back(f(z));
        }
        return child(node, a, b);
    }

    /// Σ over the members of both sets; each member of x stands in columns of its own.
    Tangent on_sets(const KernelNode& node, Row x, Row z) const {
        const Kernel alone(std::make_shared<const KernelNode>(node));
        alone(x, z);  // checks the layout
        const auto width = static_cast<std::size_t>(node.value);
        const std::size_t head = node.counted ? 1 : 0;
        const auto members = [&](Row row) {
            return node.counted ? static_cast<std::size_t>(row[0]) : row.size() / width;
        };
        Tangent result = empty(x.size());
        const double pairs = static_cast<double>(members(x)) * static_cast<double>(members(z));
        if (parameters_) result.by_parameter.assign(parameters(node.children.front()).size(), 0.0);
        for (std::size_t a = 0; a < members(x); ++a) {
            for (std::size_t b = 0; b < members(z); ++b) {
                const Tangent t = child(node, x.subspan(head + a * width, width),
                                        z.subspan(head + b * width, width));
                result.value += t.value;
                for (std::size_t p = 0; p < t.by_parameter.size(); ++p) {
                    result.by_parameter[p] += t.by_parameter[p];
                }
                for (std::size_t c = 0; c < t.by_input.size(); ++c) {
                    result.by_input[head + a * width + c] += t.by_input[c];
                }
            }
        }
        if (node.mean && pairs > 0) result.scale(1 / pairs);
        return result;
    }

    bool parameters_;
    bool inputs_;
};

Tangent walk(const Kernel& kernel, Row x, Row z, bool by_parameters, bool by_inputs) {
    if (x.size() != z.size()) {
        throw InvalidInput("a kernel needs two rows of the same length, found " +
                           std::to_string(x.size()) + " and " + std::to_string(z.size()) +
                           " columns; widen the shorter one with zeros");
    }
    return Walker(by_parameters, by_inputs)(kernel.node(), x, z);
}

}  // namespace

PairDerivatives derivatives(const Kernel& kernel, Row x, Row z) {
    Tangent t = walk(kernel, x, z, true, true);
    return {t.value, std::move(t.by_parameter), std::move(t.by_input)};
}

std::vector<double> parameter_gradient(const Kernel& kernel, Row x, Row z) {
    return walk(kernel, x, z, true, false).by_parameter;
}

std::vector<double> input_gradient(const Kernel& kernel, Row x, Row z) {
    return walk(kernel, x, z, false, true).by_input;
}

}  // namespace mercer
