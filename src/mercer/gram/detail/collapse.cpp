#include "mercer/gram/detail/collapse.hpp"

#include <algorithm>
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

using Form = LinearForm;

bool may_collapse(const Plan& plan, const Source& source) {
    if (source.kind == SourceKind::pairs) return has_sums(source.kernel[0].node());
    const Group& group = plan.groups[source.group];
    return source.kind == SourceKind::dot && group.features && group.form.rows() == 0;
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

/// products[j] = Σ_i weights[i] x_i·z_j of sparse rows: w = Σ_i weights[i] x_i, then w·z_j.
template <class T>
void sparse_sums(const PackedGroup<T>& x, const PackedGroup<T>& z, std::span<const double> weights,
                 std::span<double> products) {
    std::vector<double> w(x.sparse.columns, 0.0);
    for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto index = x.sparse.row_index(i);
        const auto value = x.sparse.row_value(i);
        for (std::size_t k = 0; k < index.size(); ++k) {
            w[index[k]] += weights[i] * static_cast<double>(value[k]);
        }
    }
    parallel_ranges(products.size(), 256, [&](std::size_t first, std::size_t last) {
        for (std::size_t j = first; j < last; ++j) {
            const auto index = z.sparse.row_index(j);
            const auto value = z.sparse.row_value(j);
            double sum = 0;
            for (std::size_t k = 0; k < index.size(); ++k) {
                // A column behind those of the reference belongs to z alone.
                if (index[k] < w.size()) sum += w[index[k]] * static_cast<double>(value[k]);
            }
            products[j] = sum;
        }
    });
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
    return node.leaf->features != nullptr || (node.leaf->prepare != nullptr && has_sums(node));
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
        if (left.sparse.starts == nullptr || right.sparse.starts == nullptr) return false;
        if (left.sparse.columns > most_features) return false;
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
            sparse_sums(x.groups[source.group], z.groups[source.group], own, products);
        }
        for (std::size_t j = 0; j < sums.size(); ++j) {
            sums[j] += (term.side ? static_cast<double>(z.sides[*term.side][j]) : 1) * products[j];
        }
    }
    const double constant = form.constant * std::accumulate(weights.begin(), weights.end(), 0.0);
    for (double& sum : sums) sum += constant;
    return true;
}

template bool add_collapsed<float>(const LinearForm&, const Plan&, const Data<float>&,
                                   const Data<float>&, std::span<const double>, std::span<double>);
template bool add_collapsed<double>(const LinearForm&, const Plan&, const Data<double>&,
                                    const Data<double>&, std::span<const double>,
                                    std::span<double>);

}  // namespace mercer
