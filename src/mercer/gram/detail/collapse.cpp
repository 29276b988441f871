#include "mercer/gram/detail/collapse.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "mercer/base/parallel.hpp"
#include "mercer/kernel/detail/leaf.hpp"
#include "mercer/kernel/detail/object_sum.hpp"

namespace mercer {
namespace {

/// Fewer rows than this are multiplied one by one.
constexpr std::size_t few_rows = 8;
/// A weight a feature is a dense vector; of more features than this it is too large.
constexpr std::size_t most_features = std::size_t{1} << 26;
/// Features of which a smaller share is not 0 are written as sparse rows.
constexpr double few_entries = 0.3;
constexpr std::size_t feature_rows = 1024;  ///< a task

using Form = LinearForm;

bool may_collapse(const Plan& plan, const Source& source) {
    if (source.kind == SourceKind::pairs) return has_sums(source.kernel[0].node());
    return source.kind == SourceKind::dot && plan.groups[source.group].form.rows() == 0;
}

/// Carries out one instruction on forms instead of numbers; false for what is not linear.
bool follow(const Plan& plan, const Instruction& in, std::map<std::size_t, Form>& registers) {
    Form& target = registers[in.target];
    switch (in.code) {
        case Code::load:
            target = {.terms = {{.source = in.source}}};
            return may_collapse(plan, plan.sources[in.source]);
        case Code::constant: target = {.constant = in.a}; return true;
        case Code::affine:
            for (Form::Term& term : target.terms) term.factor *= in.a;
            target.constant = in.a * target.constant + in.b;
            return true;
        case Code::add: {
            const Form other = registers[in.operand];
            target.terms.insert(target.terms.end(), other.terms.begin(), other.terms.end());
            target.constant += other.constant;
            return true;
        }
        case Code::scale_outer:
            for (Form::Term& term : target.terms) {
                if (term.side) return false;
                term.side = in.side;
            }
            return target.constant == 0;
        default: return false;
    }
}

template <class T>
using Data = typename Points<T>::Data;

const SummedPairs& summed(const PreparedObjects& prepared) {
    return dynamic_cast<const SummedPairs&>(*prepared.objects);
}

/// Weights of the rows, with those of their sides.
template <class T>
std::vector<double> weights_of(const Form::Term& term, const Data<T>& x,
                               std::span<const double> weights) {
    std::vector<double> result(weights.begin(), weights.end());
    for (std::size_t i = 0; i < result.size(); ++i) {
        result[i] *= term.factor;
        if (term.side) result[i] *= static_cast<double>(x.sides[*term.side][i]);
    }
    return result;
}

template <class T>
std::size_t width_of(const PackedGroup<T>& group) {
    return group.sparse.starts != nullptr ? group.sparse.columns : group.dense.columns;
}

/// Calls use(column, value) for the entries of a row, of dense ones for all.
template <class T, class Use>
void each_entry(const PackedGroup<T>& group, std::size_t i, Use use) {
    if (group.sparse.starts != nullptr) {
        const auto index = group.sparse.row_index(i);
        const auto value = group.sparse.row_value(i);
        for (std::size_t k = 0; k < index.size(); ++k) use(index[k], value[k]);
    } else if (group.dense.data != nullptr) {
        const std::span<const T> row = group.dense.row(i);
        for (std::size_t k = 0; k < row.size(); ++k) use(k, row[k]);
    } else {
        const std::size_t width = group.dense.columns;
        for (std::size_t k = 0; k < width; ++k) {
            use(k, static_cast<T>(group.unit * group.byte_left[i * width + k]));
        }
    }
}

/// products[j] = Σ_i weights[i] x_i·z_j: w = Σ_i weights[i] x_i, then w·z_j.
template <class T>
void summed_products(const PackedGroup<T>& x, const PackedGroup<T>& z,
                     std::span<const double> weights, std::span<double> products) {
    // As many parts as the rows say, not the threads, and added up in their order.
    constexpr std::size_t part_rows = 8192;
    const std::size_t parts = (weights.size() + part_rows - 1) / part_rows;
    Matrix<double> sums(parts, width_of(x), 0.0);
    parallel_ranges(weights.size(), part_rows, [&](std::size_t first, std::size_t last) {
        double* const w = sums.row(first / part_rows).data();
        for (std::size_t i = first; i < last; ++i) {
            if (weights[i] == 0) continue;
            each_entry(x, i, [&, a = weights[i]](std::size_t k, T v) {
                w[k] += a * static_cast<double>(v);
            });
        }
    });
    const std::span<double> w = sums.row(0);
    for (std::size_t part = 1; part < parts; ++part) {
        for (std::size_t k = 0; k < w.size(); ++k) w[k] += sums(part, k);
    }
    parallel_ranges(products.size(), 256, [&](std::size_t first, std::size_t last) {
        for (std::size_t j = first; j < last; ++j) {
            double sum = 0;
            each_entry(z, j, [&](std::size_t k, T v) {
                // A column behind those of the reference belongs to z alone.
                if (k < w.size()) sum += w[k] * static_cast<double>(v);
            });
            products[j] = sum;
        }
    });
}

/// Calls use(column, value) for what is not 0 in the features of a row.
template <class T, class Use>
void each_feature(const LinearForm& form, const Plan& plan, const Data<T>& x, std::size_t i,
                  Use use) {
    std::size_t first = 0;
    for (const Form::Term& term : form.terms) {
        const PackedGroup<T>& group = x.groups[plan.sources[term.source].group];
        double factor = std::sqrt(term.factor);
        if (term.side) factor *= static_cast<double>(x.sides[*term.side][i]);
        each_entry(group, i, [&](std::size_t k, T v) {
            if (v != 0) use(first + k, static_cast<T>(factor * static_cast<double>(v)));
        });
        first += width_of(group);
    }
    if (form.constant > 0) use(first, static_cast<T>(std::sqrt(form.constant)));
}

/// The rows themselves, where they are the features in the form wanted.
template <class T>
std::optional<ExplicitRows<T>> lend_features(const LinearForm& form, const Plan& plan,
                                             const Data<T>& x, const Columns& which, bool sparse) {
    const Form::Term& term = form.terms.front();
    const bool are = form.terms.size() == 1 && term.factor == 1 && !term.side &&
                     form.constant == 0 && which.is_all();
    const PackedGroup<T>& group = x.groups[plan.sources[term.source].group];
    if (!are || group.strange) return std::nullopt;
    ExplicitRows<T> rows{.size = x.size, .columns = width_of(group)};
    if (sparse && group.sparse.starts != nullptr) {
        rows.starts = {group.sparse.starts, x.size + 1};
        rows.index = {group.sparse.index, rows.starts.back()};
        rows.values = {group.sparse.value, rows.starts.back()};
        return rows;
    }
    if (!sparse && group.dense.data != nullptr && group.dense.stride == group.dense.columns) {
        rows.values = {group.dense.data, x.size * rows.columns};
        return rows;
    }
    return std::nullopt;
}

}  // namespace

std::optional<LinearForm> linear_form(const Plan& plan) {
    std::map<std::size_t, Form> registers;
    for (const Instruction& in : plan.program) {
        if (!follow(plan, in, registers)) return std::nullopt;
    }
    Form form = registers[0];
    if (form.terms.empty()) return std::nullopt;
    return form;
}

bool reads_plain_rows(const Plan& plan) {
    return std::ranges::all_of(plan.sources,
                               [](const Source& s) { return s.kind == SourceKind::dot; }) &&
           std::ranges::all_of(plan.groups, [](const Group& g) {
               return !g.features && !g.columnwise && !g.distances && g.form.rows() == 0;
           });
}

bool collapses(const Kernel& kernel) {
    const KernelNode& node = kernel.node();
    switch (node.kind) {
        case KernelKind::sum:
            return std::ranges::all_of(node.children, [](const Kernel& k) { return collapses(k); });
        case KernelKind::scale:
        case KernelKind::columns: return collapses(node.children.front());
        case KernelKind::normalize:
            return !contains(node.children.front(), KernelKind::normalize) &&
                   !contains(node.children.front(), KernelKind::constant) &&
                   collapses(node.children.front());
        case KernelKind::map: return is_counts_in_common(node);
        case KernelKind::constant: return true;
        default: break;
    }
    if (node.leaf == nullptr) return false;
    return node.kind == KernelKind::linear || node.leaf->features != nullptr ||
           (node.leaf->prepare != nullptr && has_sums(node));
}

template <class T>
bool add_collapsed(const LinearForm& form, const Plan& plan, const Data<T>& x, const Data<T>& z,
                   std::span<const double> weights, std::span<double> sums) {
    if (x.size < few_rows) return false;
    for (const Form::Term& term : form.terms) {
        const Source& source = plan.sources[term.source];
        if (source.kind == SourceKind::pairs) {
            if (!summed(x.objects[term.source]).sum_pays(x.size, z.size)) return false;
            continue;
        }
        const PackedGroup<T>& left = x.groups[source.group];
        const PackedGroup<T>& right = z.groups[source.group];
        if (width_of(left) > most_features) return false;
        if (left.strange && left.strange != right.strange) return false;
    }
    std::vector<double> products(sums.size());
    for (const Form::Term& term : form.terms) {
        const Source& source = plan.sources[term.source];
        std::ranges::fill(products, 0.0);
        const std::vector<double> own = weights_of<T>(term, x, weights);
        if (source.kind == SourceKind::pairs) {
            const PreparedObjects& left = x.objects[term.source];
            const PreparedObjects& right = z.objects[term.source];
            summed(left)
                .sum(left.positions, own, sums.size())
                ->add(*right.objects, right.positions, products);
        } else {
            summed_products(x.groups[source.group], z.groups[source.group], own, products);
        }
        for (std::size_t j = 0; j < sums.size(); ++j) {
            sums[j] += (term.side ? static_cast<double>(z.sides[*term.side][j]) : 1) * products[j];
        }
    }
    const double constant = form.constant * std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& sum : sums) sum += constant;
    return true;
}

template <class T>
std::optional<ExplicitRows<T>> write_features(const LinearForm& form, const Plan& plan,
                                              const Data<T>& x, const Columns& which) {
    const std::size_t size = which.size(x.size);
    std::size_t columns = 0;
    for (const Form::Term& term : form.terms) {
        const Source& source = plan.sources[term.source];
        if (term.factor < 0 || source.kind != SourceKind::dot) return std::nullopt;
        columns += width_of(x.groups[source.group]);
    }
    if (form.constant < 0 || columns > most_features) return std::nullopt;
    if (form.constant > 0) ++columns;
    std::vector<std::size_t> starts(size + 1, 0);
    parallel_ranges(size, feature_rows, [&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r) {
            std::size_t& entries = starts[r + 1];
            each_feature<T>(form, plan, x, which[r], [&](std::size_t, T) { ++entries; });
        }
    });
    std::partial_sum(starts.begin(), starts.end(), starts.begin());
    const bool sparse = static_cast<double>(starts.back()) <
                        few_entries * static_cast<double>(size) * static_cast<double>(columns);
    if (auto lent = lend_features<T>(form, plan, x, which, sparse)) return lent;
    std::vector<T> values(sparse ? starts.back() : size * columns);
    std::vector<std::uint32_t> index(sparse ? starts.back() : 0);
    parallel_ranges(size, feature_rows, [&](std::size_t first, std::size_t last) {
        for (std::size_t r = first; r < last; ++r) {
            std::size_t at = starts[r];
            each_feature<T>(form, plan, x, which[r], [&](std::size_t k, T v) {
                if (sparse) index[at] = static_cast<std::uint32_t>(k);
                values[sparse ? at++ : r * columns + k] = v;
            });
        }
    });
    if (!sparse) return ExplicitRows<T>::dense(size, columns, std::move(values));
    return ExplicitRows<T>::sparse(columns, std::move(starts), std::move(index), std::move(values));
}

template std::optional<ExplicitRows<float>> write_features(const LinearForm&, const Plan&,
                                                           const Data<float>&, const Columns&);
template std::optional<ExplicitRows<double>> write_features(const LinearForm&, const Plan&,
                                                            const Data<double>&, const Columns&);
template bool add_collapsed<float>(const LinearForm&, const Plan&, const Data<float>&,
                                   const Data<float>&, std::span<const double>, std::span<double>);
template bool add_collapsed<double>(const LinearForm&, const Plan&, const Data<double>&,
                                    const Data<double>&, std::span<const double>,
                                    std::span<double>);

}  // namespace mercer
