// The value of a kernel at one pair of rows: the formula itself, in double, without shortcuts.
// Everything faster (gram/) is tested against this.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/build-inl.hpp"
#include "mercer/kernel/power.hpp"

namespace mercer {
namespace {

using Row = std::span<const double>;
using Sample = std::vector<std::vector<double>>;

double dot(Row x, Row z) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * z[i];
    return sum;
}

double squared_distance(Row x, Row z) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += (x[i] - z[i]) * (x[i] - z[i]);
    return sum;
}

double dot_value(const KernelNode& node, double t) {
    switch (node.kind) {
        case KernelKind::polynomial:
            return std::pow(node.parameter("coef0") + node.parameter("gamma") * t,
                            node.parameter("degree"));
        case KernelKind::sigmoid:
            return std::tanh(node.parameter("gamma") * t + node.parameter("coef0"));
        case KernelKind::logistic:
            return 1 / (1 + std::exp(node.parameter("theta") - node.parameter("beta") * t));
        case KernelKind::exponential_dot: return std::exp(node.parameter("gamma") * t);
        default: return t;
    }
}

/// Rasmussen and Williams (2006), equation 4.17: Matérn for half-integer smoothness.
double matern_value(double nu, double distance_over_length) {
    const double s = std::sqrt(2 * nu) * distance_over_length;
    if (nu == 0.5) return std::exp(-s);
    return (nu == 1.5 ? 1 + s : 1 + s + s * s / 3) * std::exp(-s);
}

double distance_value(const KernelNode& node, double squared) {
    const double distance = std::sqrt(squared);
    switch (node.kind) {
        case KernelKind::rbf: return std::exp(-node.parameter("gamma") * squared);
        case KernelKind::ball: return distance <= node.parameter("radius") ? 1 : 0;
        case KernelKind::negative_distance: return -std::pow(distance, node.parameter("beta"));
        case KernelKind::inverse_multiquadric: return 1 / std::hypot(distance, node.parameter("c"));
        case KernelKind::matern:
            return matern_value(node.parameter("nu"), distance / node.parameter("length"));
        case KernelKind::rational_quadratic: {
            const double alpha = node.parameter("alpha");
            const double ratio = distance / node.parameter("length");
            return std::exp(-alpha * std::log1p(ratio * ratio / (2 * alpha)));
        }
        default: return std::exp(-node.parameter("gamma") * distance);  // laplacian, norm = 2
    }
}

/// The sum over all choices of `degree` factors of their product, by the recursion that adds one
/// factor at a time: degree × columns steps instead of all choices.
double anova_value(const KernelNode& node, Row x, Row z) {
    const auto degree = static_cast<std::size_t>(node.parameter("degree"));
    const double gamma = node.parameter("gamma");
    std::vector<double> chosen(degree + 1, 0.0);
    chosen[0] = 1;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double factor = std::exp(-gamma * (x[i] - z[i]) * (x[i] - z[i]));
        for (std::size_t j = std::min(degree, i + 1); j > 0; --j) {
            chosen[j] += factor * chosen[j - 1];
        }
    }
    return chosen[degree];
}

double histogram_sum(const KernelNode& node, Row x, Row z) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
        const double least = std::min(x[i], z[i]);
        if (least < 0) {
            throw InvalidInput(kernel_entry(node.kind).name + " needs entries >= 0, found " +
                               format_number(least) + " in column " + std::to_string(i) +
                               "; scale the data to [0, 1] or use another kernel");
        }
        const double difference = x[i] - z[i];
        const double total = x[i] + z[i];
        if (node.kind == KernelKind::intersection) {
            sum += least;
        } else if (total > 0) {  // 0/0 stands for an empty bin in both: no difference
            sum += difference * difference / total;
        }
    }
    return sum;
}

double column_value(const KernelNode& node, Row x, Row z) {
    double sum = 0;
    switch (node.kind) {
        case KernelKind::anova: return anova_value(node, x, z);
        case KernelKind::chi2:
            return std::exp(-node.parameter("gamma") * histogram_sum(node, x, z));
        case KernelKind::additive_chi2: return -histogram_sum(node, x, z);
        case KernelKind::intersection: return histogram_sum(node, x, z);
        case KernelKind::periodic: {
            const double period = node.parameter("period");
            const double length = node.parameter("length");
            for (std::size_t i = 0; i < x.size(); ++i) {
                const double s = std::sin(std::numbers::pi * (x[i] - z[i]) / period);
                sum += s * s;
            }
            return std::exp(-2 * sum / (length * length));
        }
        default:  // laplacian, norm = 1
            for (std::size_t i = 0; i < x.size(); ++i) sum += std::fabs(x[i] - z[i]);
            return std::exp(-node.parameter("gamma") * sum);
    }
}

double bilinear_value(const KernelNode& node, Row x, Row z) {
    if (x.size() != node.matrix.rows()) {
        throw InvalidInput("bilinear has a matrix of " + std::to_string(node.matrix.rows()) +
                           " rows and columns, but the row has " + std::to_string(x.size()) +
                           " columns");
    }
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += x[i] * dot(node.matrix.row(i), z);
    return sum;
}

double formula_value(const Formula& f, Row row) {
    const double value = f(row);
    if (std::isfinite(value)) return value;
    throw InvalidInput("the formula " + quoted(f.text()) + " has the value " +
                       format_number(value) + " at a row; it must be finite at every row");
}

std::vector<double> mapped(const KernelNode& node, Row row) {
    std::vector<double> result;
    for (const Formula& f : node.formulas) result.push_back(formula_value(f, row));
    return result;
}

std::vector<double> picked(const KernelNode& node, Row row) {
    std::vector<double> result;
    for (const std::size_t i : node.subset.positions(row.size())) result.push_back(row[i]);
    return result;
}

/// The vectors of one set, as the header of `sets` lays them out.
std::vector<Row> members(const KernelNode& node, Row row) {
    const auto width = static_cast<std::size_t>(node.value);
    const std::size_t head = node.counted ? 1 : 0;
    if (row.size() < head || (row.size() - head) % width != 0) {
        throw InvalidInput("sets of width " + std::to_string(width) +
                           " need rows of a multiple of " + std::to_string(width) +
                           (node.counted ? " plus 1" : "") + " columns, found " +
                           std::to_string(row.size()));
    }
    std::size_t count = (row.size() - head) / width;
    if (node.counted) {
        const double given = row[0];
        if (!(given >= 0 && given <= static_cast<double>(count) && given == std::floor(given))) {
            throw InvalidInput(
                "the first number of a counted set must be a whole number from 0 to " +
                std::to_string(count) + ", found " + format_number(given));
        }
        count = static_cast<std::size_t>(given);
    }
    std::vector<Row> result;
    for (std::size_t i = 0; i < count; ++i) result.push_back(row.subspan(head + i * width, width));
    return result;
}

class Evaluator {
   public:
    /// `sample` is what `center` refers to; null when there is none.
    explicit Evaluator(const Sample* sample) : sample_(sample) {}

    double operator()(const KernelNode& node, Row x, Row z) const {
        if (node.kind <= KernelKind::exponential_dot) return dot_value(node, dot(x, z));
        if (node.kind <= KernelKind::rational_quadratic) {
            return distance_value(node, squared_distance(x, z));
        }
        if (node.kind == KernelKind::laplacian && node.parameter("norm") == 2) {
            return distance_value(node, squared_distance(x, z));
        }
        if (node.kind <= KernelKind::intersection) return column_value(node, x, z);
        if (node.kind <= KernelKind::user) return leaf(node, x, z);
        return combined(node, x, z);
    }

   private:
    double child(const KernelNode& node, Row x, Row z) const {
        return (*this)(node.children.front().node(), x, z);
    }

    double leaf(const KernelNode& node, Row x, Row z) const {
        switch (node.kind) {
            case KernelKind::bilinear: return bilinear_value(node, x, z);
            case KernelKind::outer:
                return formula_value(node.formulas.front(), x) *
                       formula_value(node.formulas.front(), z);
            case KernelKind::constant: return node.value;
            case KernelKind::user: return node.function(x, z);
            default:
                throw InvalidInput(
                    "precomputed has no value at two rows: its values are the entries of a given "
                    "Gram matrix, looked up by row number");
        }
    }

    double combined(const KernelNode& node, Row x, Row z) const {
        double result = 0;
        switch (node.kind) {
            case KernelKind::sum:
                for (const Kernel& part : node.children) result += (*this)(part.node(), x, z);
                return result;
            case KernelKind::product:
                result = 1;
                for (const Kernel& part : node.children) result *= (*this)(part.node(), x, z);
                return result;
            case KernelKind::scale: return node.value * child(node, x, z);
            case KernelKind::power: return kernel_power(child(node, x, z), node.value);
            case KernelKind::exp: return std::exp(child(node, x, z));
            case KernelKind::normalize: return normalized(node, x, z);
            case KernelKind::center: return centered(node, x, z);
            case KernelKind::rbf_of: {
                const double distance =
                    child(node, x, x) + child(node, z, z) - 2 * child(node, x, z);
                return std::exp(-node.parameter("gamma") * distance);
            }
            case KernelKind::sets:
                for (const Row a : members(node, x)) {
                    for (const Row b : members(node, z)) result += child(node, a, b);
                }
                return result;
            default: return transformed(node, x, z);
        }
    }

    /// 0 when x or z is mapped to the origin, as the zero row by the linear kernel.
    double normalized(const KernelNode& node, Row x, Row z) const {
        const double xx = child(node, x, x);
        const double zz = child(node, z, z);
        if (xx < 0 || zz < 0) {
            throw InvalidInput("normalize needs k(x,x) >= 0, found " +
                               format_number(std::min(xx, zz)) +
                               "; the kernel inside is not positive definite");
        }
        if (xx == 0 || zz == 0) return 0;
        return child(node, x, z) / (std::sqrt(xx) * std::sqrt(zz));
    }

    /// 002, equation 4.
    double centered(const KernelNode& node, Row x, Row z) const {
        if (sample_ == nullptr || sample_->empty()) {
            throw InvalidInput(
                "center has no value without a sample whose centre it takes; use "
                "evaluate_centered or a Gram matrix");
        }
        const auto n = static_cast<double>(sample_->size());
        double with_x = 0;
        double with_z = 0;
        double among = 0;
        for (const auto& a : *sample_) {
            with_x += child(node, x, a);
            with_z += child(node, z, a);
            for (const auto& b : *sample_) among += child(node, a, b);
        }
        return child(node, x, z) - with_x / n - with_z / n + among / (n * n);
    }

    /// columns and map change the rows, those of the sample too.
    double transformed(const KernelNode& node, Row x, Row z) const {
        const auto change = node.kind == KernelKind::columns ? picked : mapped;
        if (sample_ == nullptr) return child(node, change(node, x), change(node, z));
        Sample changed;
        for (const auto& row : *sample_) changed.push_back(change(node, row));
        return Evaluator(&changed).child(node, change(node, x), change(node, z));
    }

    const Sample* sample_;
};

void check_lengths(Row x, Row z) {
    if (x.size() == z.size()) return;
    throw InvalidInput("a kernel needs two rows of the same length, found " +
                       std::to_string(x.size()) + " and " + std::to_string(z.size()) +
                       " columns; widen the shorter one with zeros");
}

}  // namespace

double kernel_power(double base, double exponent) {
    const double result = std::pow(base, exponent);
    // Overflow is a matter of size; these two are outside the function's domain.
    if (std::isnan(result) || (base == 0 && exponent < 0)) {
        throw InvalidInput("a kernel value of " + format_number(base) + " has no power " +
                           format_number(exponent) +
                           "; fractional and negative powers need kernels with positive values");
    }
    return result;
}

double Kernel::operator()(Row x, Row z) const {
    check_lengths(x, z);
    return Evaluator(nullptr)(*node_, x, z);
}

double evaluate(const Kernel& k, Row x, Row z, MatrixView<const double> sample) {
    check_lengths(x, z);
    Sample rows;
    for (std::size_t i = 0; i < sample.rows; ++i) {
        check_lengths(x, sample.row(i));
        rows.emplace_back(sample.row(i).begin(), sample.row(i).end());
    }
    return Evaluator(&rows)(k.node(), x, z);
}

double evaluate_centered(const Kernel& k, Row x, Row z, MatrixView<const double> sample) {
    return evaluate(center(k), x, z, sample);
}

}  // namespace mercer
