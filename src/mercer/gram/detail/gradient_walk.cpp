// Forward differentiation of an expression over a batch of pairs.
#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/base/detail/vector_math.hpp"
#include "mercer/gram/detail/gradient_walk.hpp"
#include "mercer/kernel/detail/power.hpp"

namespace mercer {
namespace {

void multiply(std::vector<double>& a, const std::vector<double>& b) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] *= b[i];
}

void scale(std::vector<double>& a, double factor) {
    for (double& v : a) v *= factor;
}

void append(std::vector<std::vector<double>>& to, std::vector<std::vector<double>>&& from) {
    for (auto& slope : from) to.push_back(std::move(slope));
}

/// C(n, k)
double binomial(std::size_t n, std::size_t k) {
    double result = k > n ? 0 : 1;
    for (std::size_t i = 0; i < k && result != 0; ++i) {
        result *= static_cast<double>(n - i) / static_cast<double>(i + 1);
    }
    return result;
}

}  // namespace

template <class F>
void TangentWalker::each_pair(F f) const {
    const PairWindow& w = pairs_.window;
    if (pairs_.diagonal) {
        for (std::size_t e = 0; e < w.rows; ++e) f(e, w.first_row + e, w.first_row + e);
        return;
    }
    for (std::size_t i = 0; i < w.rows; ++i) {
        for (std::size_t j = 0; j < w.columns; ++j) {
            f(i * w.columns + j, w.first_row + i, w.first_column + j);
        }
    }
}

Batch TangentWalker::operator()(const GradientPart& part) const {
    switch (part.node->kind) {
        case KernelKind::sum: return sum(part);
        case KernelKind::product: return product(part);
        case KernelKind::scale: return scaled(part);
        case KernelKind::power: return power(part);
        case KernelKind::exp: return exponential(part);
        case KernelKind::normalize: return normalized(part);
        case KernelKind::rbf_of: return gaussian_of(part);
        case KernelKind::center: return centered(part);
        case KernelKind::columns:
        case KernelKind::map: return (*this)(part.children.front());
        case KernelKind::sets: return on_sets(part);
        default: return leaf(part);
    }
}

Batch TangentWalker::leaf(const GradientPart& part) const {
    const KernelNode& node = *part.node;
    const PairNumber number = pair_number(node);
    const std::string inner = number_parameter(number);
    std::vector<double> own_numbers;
    std::vector<double> own_slopes;
    std::span<const double> t;
    if (part.source != GradientPart::none) {
        t = numbers_(part.source);
    } else {
        own_numbers.resize(pairs_.size());
        own_slopes.resize(inner.empty() || !slopes_ ? 0 : pairs_.size());
        if (!inner.empty() && !pairs_.diagonal) {
            column_numbers(number, node, sources_.samples[part.sample], pairs_.window, own_numbers,
                           own_slopes);
        } else if (number == PairNumber::anova) {
            const auto degree = static_cast<std::size_t>(node.parameter("degree"));
            std::ranges::fill(own_numbers,
                              binomial(sources_.samples[part.sample].columns(), degree));
        }
        t = own_numbers;
    }
    Batch result{.value = std::vector<double>(pairs_.size())};
    std::vector<double> by_number(own_slopes.size());
    leaf_value(node, t, {.value = result.value, .by_number = by_number});
    if (!slopes_) return result;
    for (const OwnParameter& own : part.own) {
        auto& slope = result.slope.emplace_back(pairs_.size());
        if (own.canonical == inner) {
            slope = by_number;
            multiply(slope, own_slopes);
        } else if (is_object_leaf(*node.leaf)) {
            object_slopes(part, own.canonical, slope);
        } else {
            leaf_parameter_slope(node, own.canonical, t, slope);
        }
        if (own.slope != 1) scale(slope, own.slope);
    }
    return result;
}

void TangentWalker::object_slopes(const GradientPart& part, const std::string& canonical,
                                  std::vector<double>& out) const {
    require_pair_slope(*part.node, canonical);
    const PairWindow& w = pairs_.window;
    std::vector<std::uint32_t> columns(pairs_.diagonal ? 1 : w.columns);
    for (std::size_t i = 0; i < w.rows; ++i) {
        const std::size_t first = pairs_.diagonal ? w.first_row + i : w.first_column;
        for (std::size_t j = 0; j < columns.size(); ++j) {
            columns[j] = static_cast<std::uint32_t>(first + j);
        }
        part.objects->slope_row(canonical, w.first_row + i, *part.objects, columns,
                                std::span(out).subspan(i * columns.size(), columns.size()));
    }
}

Batch TangentWalker::sum(const GradientPart& part) const {
    Batch result = (*this)(part.children.front());
    for (std::size_t c = 1; c < part.children.size(); ++c) {
        Batch next = (*this)(part.children[c]);
        for (std::size_t i = 0; i < next.value.size(); ++i) result.value[i] += next.value[i];
        append(result.slope, std::move(next.slope));
    }
    return result;
}

Batch TangentWalker::product(const GradientPart& part) const {
    Batch result = (*this)(part.children.front());
    for (std::size_t c = 1; c < part.children.size(); ++c) {
        Batch next = (*this)(part.children[c]);
        for (auto& slope : result.slope) multiply(slope, next.value);
        for (auto& slope : next.slope) multiply(slope, result.value);
        multiply(result.value, next.value);
        append(result.slope, std::move(next.slope));
    }
    return result;
}

Batch TangentWalker::scaled(const GradientPart& part) const {
    Batch result = (*this)(part.children.front());
    for (auto& slope : result.slope) scale(slope, part.node->value);
    if (slopes_) result.slope.insert(result.slope.begin(), result.value);
    scale(result.value, part.node->value);
    return result;
}

Batch TangentWalker::power(const GradientPart& part) const {
    Batch result = (*this)(part.children.front());
    const double p = part.node->value;
    for (double& v : result.value) {
        const double before = v;
        v = kernel_power(before, p);
        if (!result.slope.empty()) {
            const auto i = static_cast<std::size_t>(&v - result.value.data());
            const double factor = p * std::pow(before, p - 1);
            for (auto& slope : result.slope) slope[i] *= factor;
        }
    }
    return result;
}

Batch TangentWalker::exponential(const GradientPart& part) const {
    Batch result = (*this)(part.children.front());
    vector_exp(result.value);
    for (auto& slope : result.slope) multiply(slope, result.value);
    return result;
}

/// k / √(k_i k_j), 0 where one of them is 0.
Batch TangentWalker::normalized(const GradientPart& part) const {
    Batch result = (*this)(part.children.front());
    const Batch& side = sides_[part.side].rows;
    each_pair([&](std::size_t e, std::size_t i, std::size_t j) {
        const bool zero = !(side.value[i] > 0 && side.value[j] > 0);
        const double factor = zero ? 0 : 1 / std::sqrt(side.value[i] * side.value[j]);
        result.value[e] *= factor;
        for (std::size_t p = 0; p < result.slope.size(); ++p) {
            double& slope = result.slope[p][e];
            slope *= factor;
            if (zero) continue;
            slope -= result.value[e] / 2 *
                     (side.slope[p][i] / side.value[i] + side.slope[p][j] / side.value[j]);
        }
    });
    return result;
}

/// exp(−γ (k_i + k_j − 2 k))
Batch TangentWalker::gaussian_of(const GradientPart& part) const {
    Batch result = (*this)(part.children.front());
    const Batch& side = sides_[part.side].rows;
    const double gamma = part.node->parameter("gamma");
    std::vector<double> distance(pairs_.size());
    each_pair([&](std::size_t e, std::size_t i, std::size_t j) {
        distance[e] = side.value[i] + side.value[j] - 2 * result.value[e];
        result.value[e] = -gamma * distance[e];
    });
    vector_exp(result.value);
    if (!slopes_) return result;
    each_pair([&](std::size_t e, std::size_t i, std::size_t j) {
        for (std::size_t p = 0; p < result.slope.size(); ++p) {
            double& slope = result.slope[p][e];
            slope = -gamma * result.value[e] * (side.slope[p][i] + side.slope[p][j] - 2 * slope);
        }
        distance[e] *= -result.value[e] * part.own.front().slope;
    });
    result.slope.insert(result.slope.begin(), std::move(distance));
    return result;
}

/// k − m_i − m_j + mean of m (002, equation 4); its derivatives likewise, since it is linear in k.
Batch TangentWalker::centered(const GradientPart& part) const {
    Batch result = (*this)(part.children.front());
    const RowSide& side = sides_[part.side];
    each_pair([&](std::size_t e, std::size_t i, std::size_t j) {
        result.value[e] += side.mean - side.rows.value[i] - side.rows.value[j];
        for (std::size_t p = 0; p < result.slope.size(); ++p) {
            result.slope[p][e] +=
                side.mean_slope[p] - side.rows.slope[p][i] - side.rows.slope[p][j];
        }
    });
    return result;
}

/// Adds the sums over members of the pairs of `window` to out, from position `at`.
void TangentWalker::add_members(const GradientPart& part, const PairWindow& window, std::size_t at,
                                Batch& out) const {
    const auto& starts = part.starts->starts;
    const std::size_t first_a = starts[window.first_row];
    const std::size_t first_b = starts[window.first_column];
    const std::size_t a = starts[window.first_row + window.rows] - first_a;
    const std::size_t b = starts[window.first_column + window.columns] - first_b;
    if (a == 0 || b == 0) return;
    Matrix<double> value(a, b);
    std::vector<Matrix<double>> slopes(out.slope.size(), Matrix<double>(a, b));
    std::vector<MatrixView<double>> views;
    for (auto& slope : slopes) views.push_back(slope.view());
    part.members->block(first_a, first_b, value.view(), views);
    const auto add = [&](const Matrix<double>& from, std::vector<double>& to) {
        for (std::size_t i = 0; i < window.rows; ++i) {
            for (std::size_t j = 0; j < window.columns; ++j) {
                double sum = 0;
                for (std::size_t r = starts[window.first_row + i];
                     r < starts[window.first_row + i + 1]; ++r) {
                    for (std::size_t c = starts[window.first_column + j];
                         c < starts[window.first_column + j + 1]; ++c) {
                        sum += from(r - first_a, c - first_b);
                    }
                }
                const auto size = [&](std::size_t set) {
                    return static_cast<double>(starts[set + 1] - starts[set]);
                };
                const double pairs = size(window.first_row + i) * size(window.first_column + j);
                to[at + i * window.columns + j] = part.node->mean && pairs > 0 ? sum / pairs : sum;
            }
        }
    };
    add(value, out.value);
    for (std::size_t p = 0; p < slopes.size(); ++p) add(slopes[p], out.slope[p]);
}

Batch TangentWalker::on_sets(const GradientPart& part) const {
    const std::size_t count = slopes_ ? part.members->parameters().size() : 0;
    Batch result{.value = std::vector<double>(pairs_.size()),
                 .slope = {count, std::vector<double>(pairs_.size())}};
    const PairWindow& w = pairs_.window;
    // One row of pairs at a time bounds the memory for the members' own matrix.
    for (std::size_t i = 0; i < w.rows; ++i) {
        const std::size_t row = w.first_row + i;
        if (pairs_.diagonal) {
            add_members(part, {row, 1, row, 1}, i, result);
        } else {
            add_members(part, {row, 1, w.first_column, w.columns}, i * w.columns, result);
        }
    }
    return result;
}

}  // namespace mercer
