#include "mercer/kernel/detail/object_leaf.hpp"

#include <algorithm>

namespace mercer {

void collect_features(Features& features) {
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
