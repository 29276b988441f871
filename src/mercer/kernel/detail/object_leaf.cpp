#include "mercer/kernel/detail/object_leaf.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <stdexcept>

#include "mercer/base/detail/per_thread.hpp"

namespace mercer {

namespace {

struct Places {
    std::vector<std::uint32_t> of_sums;  ///< 1 + which of the sums; 0: none
};

/// Whole numbers, whose sums are exact in any order, are added up in a table before they are
/// sorted: there are fewer of them then. Nothing is done for others, and false returned.
bool add_up_counts(Features& features) {
    if (features.size() >= std::size_t{1} << 31U) return false;
    for (const Feature& feature : features) {
        if (!(std::abs(feature.value) < 0x1p32) || feature.value != std::trunc(feature.value)) {
            return false;
        }
    }
    std::vector<std::uint32_t>& places = per_thread<Places>().of_sums;
    const std::size_t size = std::bit_ceil(2 * features.size() + 2);
    const int shift = std::countl_zero(size) + 1;  // of 64 bits, as many as tell a place
    places.assign(size, 0);
    std::size_t kept = 0;
    for (std::size_t i = 0; i < features.size(); ++i) {
        const Feature feature = features[i];
        std::size_t at = feature.identity * 0x9e3779b97f4a7c15U >> shift;
        while (places[at] != 0 && features[places[at] - 1].identity != feature.identity) {
            at = (at + 1) & (size - 1);
        }
        if (places[at] != 0) {
            features[places[at] - 1].value += feature.value;
        } else {
            features[kept++] = feature;
            places[at] = static_cast<std::uint32_t>(kept);
        }
    }
    features.resize(kept);
    return true;
}

}  // namespace

void gather_features(Features& features) {
    if (!add_up_counts(features)) return collect_features(features);
    std::erase_if(features, [](const Feature& feature) { return feature.value == 0; });
}

void collect_features(Features& features) {
    constexpr std::size_t few = 32;
    if (features.size() >= few) add_up_counts(features);
    // Equal features are added in the order of their values, so that the sum does not depend on how
    // they came.
    std::sort(features.begin(), features.end(), [](const Feature& a, const Feature& b) {
        return a.identity != b.identity ? a.identity < b.identity : a.value < b.value;
    });
    std::size_t kept = 0;
    for (std::size_t i = 0; i < features.size();) {
        Feature sum = features[i++];
        while (i < features.size() && features[i].identity == sum.identity) {
            sum.value += features[i++].value;
        }
        if (sum.value != 0) features[kept++] = sum;
    }
    features.resize(kept);
}

double product_of(const Features& x, const Features& z) {
    double sum = 0;
    auto b = z.begin();
    for (const Feature& a : x) {
        while (b != z.end() && b->identity < a.identity) ++b;
        if (b == z.end()) break;
        if (b->identity == a.identity) sum += a.value * b->value;
    }
    return sum;
}

void ObjectPairs::slope_row(const std::string& parameter, std::size_t, const ObjectPairs&,
                            std::span<const std::uint32_t>, std::span<double>) const {
    throw std::logic_error("no slope in " + parameter);
}

std::uint64_t hash_bytes(std::string_view bytes) {
    std::uint64_t hash = hash_number(bytes.size());
    const auto word = [&](std::size_t first, std::size_t count) {
        std::uint64_t value = 0;  // bytes in order, the first lowest, on any machine
        for (std::size_t k = 0; k < count; ++k) {
            value |= static_cast<std::uint64_t>(static_cast<unsigned char>(bytes[first + k]))
                     << (8 * k);
        }
        return value;
    };
    std::size_t first = 0;
    for (; first + 8 <= bytes.size(); first += 8) hash = hash_number(hash ^ word(first, 8));
    if (first < bytes.size()) hash = hash_number(hash ^ word(first, bytes.size() - first));
    return hash;
}

}  // namespace mercer
