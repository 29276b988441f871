#include "mercer/feature/detail/feature_weights.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "mercer/base/parallel.hpp"
#include "mercer/feature/detail/pair_sums.hpp"
#include "mercer/gram/detail/feature_rows.hpp"
#include "mercer/kernel/detail/leaf.hpp"
#include "mercer/kernel/detail/object_sum.hpp"

namespace mercer {
namespace {

using Part = FeatureWeights::Part;

/// Walks a sum; false when there is something else in it.
bool take_parts(const Kernel& kernel, double factor, std::vector<ObjectName> seen,
                CollapsedKernel& out) {
    const KernelNode& node = kernel.node();
    const auto child = [&]() -> const Kernel& { return node.children.front(); };
    switch (node.kind) {
        case KernelKind::sum:
            return std::ranges::all_of(node.children, [&](const Kernel& part) {
                return take_parts(part, factor, seen, out);
            });
        case KernelKind::scale: return take_parts(child(), factor * node.value, seen, out);
        case KernelKind::constant: out.constant += factor * node.value; return true;
        case KernelKind::columns:
            std::erase_if(seen, [&](const ObjectName& object) {
                return std::ranges::none_of(node.subset.items, [&](const ColumnSet::Item& item) {
                    return item.object && item.name == object.name;
                });
            });
            return take_parts(child(), factor, std::move(seen), out);
        case KernelKind::normalize: {
            CollapsedKernel inside;
            if (!take_parts(child(), 1, std::move(seen), inside)) return false;
            if (inside.parts.size() != 1 || inside.constant != 0 || inside.parts[0].normalized ||
                inside.parts[0].factor <= 0) {
                return false;
            }
            out.parts.push_back(inside.parts[0]);
            out.parts.back().factor = factor;
            out.parts.back().normalized = true;
            return true;
        }
        case KernelKind::map: {
            if (!is_counts_in_common(node)) return false;
            CollapsedKernel inside;
            if (!take_parts(node.children[1], factor, std::move(seen), inside)) return false;
            out.parts.push_back(inside.parts.front());
            out.parts.back().unary = true;
            return true;
        }
        default: break;
    }
    const bool pairs = has_sums(node);
    if (node.leaf == nullptr || (node.leaf->features == nullptr && !pairs)) return false;
    const auto column = std::ranges::find(seen, node.leaf->objects, &ObjectName::kind);
    if (column == seen.end()) return false;
    out.parts.push_back({.leaf = kernel, .object = column->name, .factor = factor, .pairs = pairs});
    return true;
}

/// The features of one object, collected, of length 1 if so wanted.
void features_of(const Part& part, const Object& object, Features& out) {
    const KernelNode& node = part.leaf.node();
    out.clear();
    node.leaf->features(node, object, out);
    collect_features(out);
    if (part.unary) spell_out(out);
    if (!part.normalized) return;
    const double length = std::sqrt(product_of(out, out));
    if (length == 0) return;
    for (Feature& feature : out) feature.value /= length;
}

}  // namespace

std::optional<CollapsedKernel> collapsed(const Expansion& expansion) {
    CollapsedKernel found;
    const std::vector<ObjectName> objects = expansion.points.object_names();
    if (objects.empty() || expansion.self != 0 || expansion.reference.size() > 0) return {};
    if (!take_parts(expansion.kernel, 1, objects, found)) return {};
    const bool pairs = std::ranges::any_of(found.parts, &FeatureWeights::Part::pairs);
    if (pairs && expansion.outputs() > PairSums::most_outputs) return {};
    return found;
}

std::size_t FeatureWeights::slot(std::uint64_t identity) const {
    const std::size_t mask = identities_.size() - 1;
    std::size_t at = identity & mask;  // identities are hashes already
    while (places_[at] != 0 && identities_[at] != identity) at = (at + 1) & mask;
    return at;
}

FeatureWeights::FeatureWeights(Part part, const Expansion& expansion)
    : part_(std::move(part)), outputs_(expansion.outputs()) {
    const ObjectColumn& column = *expansion.points.object(part_.object);
    std::vector<Features> features(expansion.size());
    parallel_for(expansion.size(),
                 [&](std::size_t i) { features_of(part_, column.at(i), features[i]); });
    std::size_t entries = 0;
    for (const Features& row : features) entries += row.size();
    identities_.assign(std::bit_ceil(std::max<std::size_t>(2 * entries, 16)), 0);
    places_.assign(identities_.size(), 0);
    std::vector<double> weights;
    for (std::size_t i = 0; i < features.size();
         ++i) {  // in order: the sums are the same each time
        for (const Feature& feature : features[i]) {
            const std::size_t at = slot(feature.identity);
            if (places_[at] == 0) {
                identities_[at] = feature.identity;
                weights.resize(weights.size() + outputs_, 0.0);
                places_[at] = static_cast<std::uint32_t>(weights.size() / outputs_);
            }
            double* const w = weights.data() + (places_[at] - 1) * outputs_;
            for (std::size_t c = 0; c < outputs_; ++c) {
                w[c] += part_.factor * expansion.coefficients(c, i) * feature.value;
            }
        }
    }
    weights_ = Matrix<double>(weights.size() / outputs_, outputs_);
    weights_.values() = std::move(weights);
}

void FeatureWeights::add_to(const Rows& x, MatrixView<double> out) const {
    Matrix<double> numbers;
    const std::vector<Object> objects = objects_of(x, part_.object, numbers);
    parallel_ranges(objects.size(), 16, [&](std::size_t first, std::size_t last) {
        Features features;
        for (std::size_t i = first; i < last; ++i) {
            features_of(part_, objects[i], features);
            const auto sums = out.row(i);
            for (const Feature& feature : features) {
                const std::uint32_t place = places_[slot(feature.identity)];
                if (place == 0) continue;
                const auto w = weights_.row(place - 1);
                for (std::size_t c = 0; c < outputs_; ++c) sums[c] += w[c] * feature.value;
            }
        }
    });
}

void FeatureWeights::name_heaviest(const Expansion& expansion, std::size_t output,
                                   std::size_t count, std::vector<FeatureWeight>& out) const {
    const KernelNode& node = part_.leaf.node();
    if (node.leaf->name_features == nullptr || part_.unary) return;
    std::vector<std::size_t> slots;
    for (std::size_t at = 0; at < places_.size(); ++at) {
        if (places_[at] != 0) slots.push_back(at);
    }
    const auto weight = [&](std::size_t at) { return weights_(places_[at] - 1, output); };
    count = std::min(count, slots.size());
    std::ranges::partial_sort(slots, slots.begin() + static_cast<std::ptrdiff_t>(count),
                              [&](std::size_t a, std::size_t b) {
                                  const double wa = std::abs(weight(a));
                                  const double wb = std::abs(weight(b));
                                  return wa != wb ? wa > wb : identities_[a] < identities_[b];
                              });
    FeatureNames names;
    const ObjectColumn& column = *expansion.points.object(part_.object);
    for (std::size_t i = 0; i < expansion.size(); ++i) {
        node.leaf->name_features(node, column.at(i), names);
    }
    for (std::size_t k = 0; k < count; ++k) {
        out.push_back({names[identities_[slots[k]]], weight(slots[k])});
    }
}

}  // namespace mercer
