#include "mercer/feature/detail/pair_sums.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/parallel.hpp"
#include "mercer/gram/detail/feature_rows.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer {
namespace {

constexpr std::size_t band_size = 8192;  // rows prepared at a time

std::unique_ptr<const ObjectPairs> prepared(const FeatureWeights::Part& part,
                                            std::span<const Object> objects) {
    const KernelNode& node = part.leaf.node();
    return node.leaf->prepare(node, objects);
}

/// 1/√k(x,x) of each, or 1 where the part is not normalised.
std::vector<double> scales(const FeatureWeights::Part& part, const ObjectPairs& pairs,
                           std::size_t count) {
    std::vector<double> result(count, 1.0);
    if (!part.normalized) return result;
    parallel_ranges(count, 256, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            const double self = pairs.self(i);
            result[i] = self > 0 ? 1 / std::sqrt(self) : 0;
        }
    });
    return result;
}

std::vector<std::uint32_t> first_numbers(std::size_t count) {
    std::vector<std::uint32_t> numbers(count);
    std::iota(numbers.begin(), numbers.end(), std::uint32_t{0});
    return numbers;
}

}  // namespace

PairSums::PairSums(FeatureWeights::Part part, const Expansion& expansion) : part_(std::move(part)) {
    Matrix<double> numbers;
    const auto pairs = prepared(part_, objects_of(expansion.points, part_.object, numbers));
    const std::vector<double> scale = scales(part_, *pairs, expansion.size());
    const std::vector<std::uint32_t> all = first_numbers(expansion.size());
    std::vector<double> weights(expansion.size());
    for (std::size_t c = 0; c < expansion.outputs(); ++c) {
        for (std::size_t i = 0; i < weights.size(); ++i) {
            weights[i] = part_.factor * scale[i] * expansion.coefficients(c, i);
        }
        sums_.push_back(dynamic_cast<const SummedPairs&>(*pairs).sum(all, weights, band_size));
    }
}

void PairSums::add_to(const Rows& x, MatrixView<double> out) const {
    Matrix<double> numbers;
    const std::vector<Object> objects = objects_of(x, part_.object, numbers);
    for (std::size_t first = 0; first < objects.size(); first += band_size) {
        const std::size_t count = std::min(band_size, objects.size() - first);
        const auto pairs = prepared(part_, std::span(objects).subspan(first, count));
        const std::vector<double> scale = scales(part_, *pairs, count);
        const std::vector<std::uint32_t> all = first_numbers(count);
        std::vector<double> values(count);
        for (std::size_t c = 0; c < sums_.size(); ++c) {
            std::ranges::fill(values, 0.0);
            sums_[c]->add(*pairs, all, values);
            for (std::size_t i = 0; i < count; ++i) out(first + i, c) += scale[i] * values[i];
        }
    }
}

}  // namespace mercer
