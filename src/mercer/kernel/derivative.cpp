#include "mercer/kernel/derivative.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/leaf_slope-inl.hpp"
#include "mercer/kernel/node.hpp"
#include "mercer/kernel/parameters-inl.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/kernel/power.hpp"

namespace mercer {
namespace {

using Row = std::span<const double>;

/// A number of a pair, with its derivative in x and in the one parameter it may depend on.
struct Number {
    double value = 0;
    double by_parameter = 0;
    std::vector<double> by_input;
};

double sign(double v) {
    return v > 0 ? 1 : v < 0 ? -1 : 0;
}

/// Σ over choices of `degree` columns of Π exp(−γ δ²), with derivatives: the recursion of the value
/// run on the value and its derivative in γ, and for column c on all columns but c.
Number anova_number(const KernelNode& leaf, Row x, Row z) {
    const double gamma = leaf.parameter("gamma");
    const auto degree = static_cast<std::size_t>(leaf.parameter("degree"));
    Number result{.by_input = std::vector<double>(x.size())};
    std::vector<double> e(degree + 1);
    std::vector<double> slope(degree + 1);
    const auto run = [&](std::size_t left_out, std::size_t wanted) {
        std::ranges::fill(e, 0.0);
        std::ranges::fill(slope, 0.0);
        e[0] = 1;
        for (std::size_t k = 0; k < x.size(); ++k) {
            if (k == left_out) continue;
            const double square = (x[k] - z[k]) * (x[k] - z[k]);
            const double factor = std::exp(-gamma * square);
            for (std::size_t m = degree; m > 0; --m) {
                slope[m] += factor * (slope[m - 1] - square * e[m - 1]);
                e[m] += factor * e[m - 1];
            }
        }
        return e[wanted];
    };
    for (std::size_t c = 0; c < x.size(); ++c) {
        const double gap = x[c] - z[c];
        result.by_input[c] = -2 * gamma * gap * std::exp(-gamma * gap * gap) * run(c, degree - 1);
    }
    result.value = run(x.size(), degree);
    result.by_parameter = slope[degree];
    return result;
}

/// One column's part of a number that is a sum over columns.
struct Term {
    double value = 0;
    double by_input = 0;
    double by_parameter = 0;
};
Term term(const KernelNode& leaf, PairNumber number, double a, double b) {
    const double gap = a - b;
    switch (number) {
        case PairNumber::dot: return {a * b, b};
        case PairNumber::squared: return {gap * gap, 2 * gap};
        case PairNumber::absolute: return {std::fabs(gap), sign(gap)};
        case PairNumber::chi2: {
            if (a < 0 || b < 0) {
                throw InvalidInput(kernel_entry(leaf.kind).name + " needs entries >= 0, found " +
                                   format_number(std::min(a, b)));
            }
            if (a + b == 0) return {};
            return {gap * gap / (a + b), gap * (a + 3 * b) / ((a + b) * (a + b))};
        }
        default: {
            const double period = leaf.parameter("period");
            const double u = std::numbers::pi * gap / period;
            return {std::sin(u) * std::sin(u), std::sin(2 * u) * std::numbers::pi / period,
                    -std::sin(2 * u) * u / period};
        }
    }
}

Number number_of(const KernelNode& leaf, PairNumber number, Row x, Row z) {
    if (number == PairNumber::anova) return anova_number(leaf, x, z);
    Number result{.by_input = std::vector<double>(x.size())};
    if (number == PairNumber::nothing) return result;
    for (std::size_t k = 0; k < x.size(); ++k) {
        const Term t = term(leaf, number, x[k], z[k]);
        result.value += t.value;
        result.by_input[k] = t.by_input;
        result.by_parameter += t.by_parameter;
    }
    return result;
}

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
        if (number == PairNumber::whole) return whole(node, x, z);
        const Number t = number_of(node, number, x, z);
        Tangent result = empty(x.size());
        double slope = 0;
        const bool by_number = inputs_ || !number_parameter(node).empty();
        leaf_value(node, {&t.value, 1},
                   {.value = {&result.value, 1},
                    .by_number = by_number ? std::span(&slope, 1) : std::span<double>()});
        for (std::size_t c = 0; c < result.by_input.size(); ++c) {
            result.by_input[c] = slope * t.by_input[c];
        }
        if (!parameters_) return result;
        for (const OwnParameter& own : own_parameters(node)) {
            double v = 0;
            if (own.canonical == number_parameter(node)) {
                v = slope * t.by_parameter;
            } else {
                leaf_parameter_slope(node, own.canonical, {&t.value, 1}, {&v, 1});
            }
            result.by_parameter.push_back(v * own.slope);
        }
        return result;
    }

    /// Leaves without parameters.
    Tangent whole(const KernelNode& node, Row x, Row z) const {
        Tangent result = empty(x.size());
        const Kernel alone(std::make_shared<const KernelNode>(node));
        result.value = alone(x, z);
        for (std::size_t c = 0; c < result.by_input.size(); ++c) {
            switch (node.kind) {
                case KernelKind::linear: result.by_input[c] = z[c]; break;
                case KernelKind::bilinear:
                    for (std::size_t k = 0; k < z.size(); ++k) {
                        result.by_input[c] += node.matrix(c, k) * z[k];
                    }
                    break;
                case KernelKind::additive_chi2:
                    result.by_input[c] = -term(node, PairNumber::chi2, x[c], z[c]).by_input;
                    break;
                case KernelKind::intersection:
                    result.by_input[c] = x[c] < z[c] ? 1 : x[c] == z[c] ? 0.5 : 0;
                    break;
                default:
                    throw InvalidInput("the part " + alone.text() +
                                       " has no derivative in x that could be derived from its "
                                       "text; use a kernel of the table instead");
            }
        }
        return result;
    }

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
