#include "mercer/feature/expansion.hpp"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/feature/detail/feature_weights.hpp"
#include "mercer/feature/detail/kernel_sum.hpp"
#include "mercer/feature/detail/pair_sums.hpp"
#include "mercer/kernel/detail/node.hpp"

namespace mercer {
namespace {

/// True when the kernel's only use of rows x and z is the entry x[origin of z].
bool picks_entries(const KernelNode& node) {
    switch (node.kind) {
        case KernelKind::precomputed:
        case KernelKind::constant: return true;
        case KernelKind::sum:
        case KernelKind::product:
        case KernelKind::scale:
        case KernelKind::power:
        case KernelKind::exp:
        case KernelKind::normalize:
        case KernelKind::rbf_of:
            return std::ranges::all_of(node.children,
                                       [](const Kernel& k) { return picks_entries(k.node()); });
        default: return false;
    }
}

/// A weight vector is dense; beyond this the sparse points themselves are the smaller thing to
/// hold.
constexpr std::size_t most_weight_bytes = std::size_t{1} << 28;

/// Calls visit(column, value) for the stored entries of row i of sparse rows.
template <class Visit>
void each_entry(const Rows& rows, std::size_t i, Visit visit) {
    const auto walk = [&]<class T>(const SparseView<T>& view) {
        const auto index = view.row_index(i);
        const auto value = view.row_value(i);
        for (std::size_t k = 0; k < index.size(); ++k) {
            visit(std::size_t{index[k]}, static_cast<double>(value[k]));
        }
    };
    rows.is_double() ? walk(rows.sparse_view<double>()) : walk(rows.sparse_view<float>());
}

/// out(i, c) += w_c · x_i, in double; of sparse rows in the time of their entries.
void add_linear(const Matrix<double>& weights, const Rows& x, MatrixView<double> out) {
    parallel_ranges(x.size(), 256, [&](std::size_t first, std::size_t last) {
        if (x.is_sparse()) {
            for (std::size_t i = first; i < last; ++i) {
                const auto sums = out.row(i);
                each_entry(x, i, [&](std::size_t k, double value) {
                    for (std::size_t c = 0; c < sums.size(); ++c) sums[c] += weights(c, k) * value;
                });
            }
            return;
        }
        std::vector<double> row(x.columns());
        for (std::size_t i = first; i < last; ++i) {
            x.copy_row(i, row);
            for (std::size_t c = 0; c < weights.rows(); ++c) {
                const auto w = weights.row(c);
                double sum = 0;
                for (std::size_t k = 0; k < row.size(); ++k) sum += w[k] * row[k];
                out(i, c) += sum;
            }
        }
    });
}

}  // namespace

std::optional<std::vector<std::size_t>> columns_read(const Expansion& expansion) {
    if (!picks_entries(expansion.kernel.node()) || expansion.reference.size() > 0) return {};
    std::vector<std::size_t> columns(expansion.size());
    for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = expansion.points.origin(i);
    std::ranges::sort(columns);
    columns.erase(std::unique(columns.begin(), columns.end()), columns.end());
    // Entries beyond the rows are refused when they are asked for.
    while (!columns.empty() && columns.back() >= expansion.points.columns()) columns.pop_back();
    return columns;
}

bool is_linear(const Kernel& kernel) {
    const auto factor = linear_factor(kernel);
    return factor && *factor >= 0;
}

Matrix<double> weight_vectors(const Expansion& expansion) {
    const auto factor = linear_factor(expansion.kernel);
    if (!factor) throw InvalidInput("only a linear kernel has a weight vector in input space");
    Matrix<double> weights(expansion.outputs(), expansion.points.columns());
    if (expansion.points.is_sparse()) {
        for (std::size_t i = 0; i < expansion.size(); ++i) {
            each_entry(expansion.points, i, [&](std::size_t k, double value) {
                for (std::size_t c = 0; c < expansion.outputs(); ++c) {
                    weights(c, k) += *factor * expansion.coefficients(c, i) * value;
                }
            });
        }
        return weights;
    }
    std::vector<double> row(expansion.points.columns());
    for (std::size_t i = 0; i < expansion.size(); ++i) {
        expansion.points.copy_row(i, row);
        for (std::size_t c = 0; c < expansion.outputs(); ++c) {
            const double a = *factor * expansion.coefficients(c, i);
            if (a == 0) continue;
            for (std::size_t k = 0; k < row.size(); ++k) weights(c, k) += a * row[k];
        }
    }
    return weights;
}

std::vector<FeatureWeight> heaviest_features(const Expansion& expansion, std::size_t output,
                                             std::size_t count,
                                             std::span<const std::string> names) {
    if (output >= expansion.outputs()) throw InvalidInput("there is no such output");
    std::vector<FeatureWeight> found;
    if (is_linear(expansion.kernel) && expansion.size() > 0) {
        const Matrix<double> weights = weight_vectors(expansion);
        for (std::size_t j = 0; j < weights.columns(); ++j) {
            const std::string name = j < names.size() ? names[j] : "column " + std::to_string(j);
            found.push_back({name, weights(output, j)});
        }
    } else if (const auto parts = collapsed(expansion)) {
        for (const FeatureWeights::Part& part : parts->parts) {
            if (part.pairs) continue;  // without features that could be listed
            FeatureWeights(part, expansion).name_heaviest(expansion, output, count, found);
        }
    }
    std::ranges::stable_sort(found, [](const FeatureWeight& a, const FeatureWeight& b) {
        return std::abs(a.weight) > std::abs(b.weight);
    });
    found.resize(std::min(count, found.size()));
    return found;
}

struct Evaluator::State {
    std::vector<double> bias;
    std::size_t columns = 0;
    std::optional<Matrix<double>> weights{};
    std::vector<FeatureWeights> features{};  ///< instead, of kernels with explicit features
    std::vector<PairSums> sums{};            ///< and of those whose sums are functions
    std::optional<KernelSum<float>> single{};
    std::optional<KernelSum<double>> full{};
};

Evaluator::Evaluator(const Expansion& expansion, bool double_precision) {
    auto state = std::make_shared<State>();
    state->bias = expansion.bias;
    state->columns = expansion.points.columns();
    if (expansion.size() == 0) {
        // A machine without support vectors is its bias.
    } else if (is_linear(expansion.kernel) && expansion.self == 0 &&
               expansion.points.columns() <=
                   most_weight_bytes / sizeof(double) / expansion.outputs()) {
        state->weights = weight_vectors(expansion);
    } else if (const auto parts = collapsed(expansion)) {
        for (const FeatureWeights::Part& part : parts->parts) {
            if (part.pairs) {
                state->sums.emplace_back(part, expansion);
            } else {
                state->features.emplace_back(part, expansion);
            }
        }
        for (std::size_t c = 0; c < expansion.outputs(); ++c) {
            double sum = 0;
            for (const double a : expansion.coefficients.row(c)) sum += a;
            state->bias[c] += parts->constant * sum;
        }
    } else if (double_precision) {
        state->full.emplace(expansion);
    } else {
        state->single.emplace(expansion);
    }
    state_ = std::move(state);
}

Matrix<double> Evaluator::operator()(const Rows& x, const Progress& progress) const {
    Matrix<double> out(x.size(), state_->bias.size());
    if (x.columns() > state_->columns && (state_->weights || state_->single || state_->full)) {
        throw InvalidInput("the rows have " + std::to_string(x.columns()) +
                           " columns; the model was trained on " + std::to_string(state_->columns));
    }
    if (state_->weights) add_linear(*state_->weights, x, out.view());
    for (const FeatureWeights& part : state_->features) part.add_to(x, out.view());
    for (const PairSums& part : state_->sums) part.add_to(x, out.view());
    if (state_->single) state_->single->add_to(x, out.view(), progress);
    if (state_->full) state_->full->add_to(x, out.view(), progress);
    for (std::size_t i = 0; i < x.size(); ++i) {
        for (std::size_t c = 0; c < state_->bias.size(); ++c) out(i, c) += state_->bias[c];
    }
    return out;
}

bool is_centered(const Kernel& kernel) {
    return contains(kernel, KernelKind::center);
}

}  // namespace mercer
