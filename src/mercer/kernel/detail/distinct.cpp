#include "mercer/kernel/detail/distinct.hpp"

#include <algorithm>
#include <cmath>

namespace mercer {
namespace {

/// k[0:] or k[:]
bool all_columns(const ColumnSet& set) {
    return set.items.size() == 1 && set.items[0].name.empty() && set.items[0].first == 0 &&
           set.items[0].last == ColumnSet::to_the_end;
}

}  // namespace

/// Squares of lengths and of distances add up.
OfDistinctRows of_sum(const Findings& parts) {
    OfDistinctRows result;
    for (const Finding& part : parts) {
        if (part.distinct.strict && !result.strict) {
            result.strict = true;
            result.because = "a sum of positive definite kernels one of which is so";
        }
        result.separates |= part.distinct.separates;
        result.positive_diagonal |= part.distinct.positive_diagonal;
    }
    return result;
}

/// det(A∘B) >= det A Π B_ii (Oppenheim's inequality).
OfDistinctRows of_product(const Findings& parts) {
    const auto with_diagonal = std::ranges::all_of(
        parts, [](const Finding& part) { return part.distinct.positive_diagonal; });
    const bool strict =
        std::ranges::any_of(parts, [](const Finding& part) { return part.distinct.strict; });
    if (with_diagonal && strict) {
        return OfDistinctRows::strictly(
            "a product with a factor that is so, of factors with k(x,x) > 0 (Oppenheim)");
    }
    return {.positive_diagonal = with_diagonal};
}

/// Of powers above 0 that are positive definite. A whole power is a product; any other is exp of a
/// multiple of log k, conditionally positive definite, which separates what k does.
OfDistinctRows of_power(const Finding& part, bool whole, double exponent) {
    if (part.distinct.strict) {
        return OfDistinctRows::strictly(whole ? "a product of factors that are so"
                                              : "exp of a multiple of log k, which separates rows");
    }
    // a^n + b^n >= 2|k|^n, with equality for odd n only where a = b = k.
    const bool odd = whole && std::fmod(exponent, 2) == 1;
    return {.separates = odd && part.distinct.separates,
            .positive_diagonal = part.distinct.positive_diagonal};
}

/// exp(2γk(x,z)) = e^{γk(x,x)} exp(−γ‖Φ(x)−Φ(z)‖²) e^{γk(z,z)}, a Gaussian between factors that are
/// not 0; and a Gaussian is strict on distinct points of any Hilbert space.
OfDistinctRows of_gaussian() {
    return OfDistinctRows::strictly("a Gaussian of features that differ for distinct rows");
}

/// Rows that differ elsewhere are one row here.
OfDistinctRows of_moved(const KernelNode& node, OfDistinctRows inside) {
    if (node.kind == KernelKind::map || !all_columns(node.subset)) {
        return {.positive_diagonal = inside.positive_diagonal};
    }
    if (inside.strict) inside.because = "the same kernel on all columns";
    return inside;
}

}  // namespace mercer
