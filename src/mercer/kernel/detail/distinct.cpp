#include "mercer/kernel/detail/distinct.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace mercer {
namespace {

/// k[0:] or k[:]
bool all_columns(const ColumnSet& set) {
    return set.items.size() == 1 && set.items[0].name.empty() && set.items[0].first == 0 &&
           set.items[0].last == ColumnSet::to_the_end;
}

using Ranges = std::vector<ColumnSet::Item>;

/// True when every column is in one of the ranges, however many columns there are.
bool cover_all_columns(Ranges ranges) {
    std::ranges::sort(ranges, {}, &ColumnSet::Item::first);
    std::size_t next = 0;
    for (const auto& range : ranges) {
        if (range.first > next) return false;
        next = std::max(next, range.last);
    }
    return next == ColumnSet::to_the_end;
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

/// det(A∘B) >= det A Π B_ii (Oppenheim's inequality). And a factor k strict on some columns C is at
/// least λ > 0 times the matrix that is 1 for rows equal on C and 0 for others; by Schur the
/// product is at least λ times the other factors on groups of rows equal on C, which differ
/// elsewhere. So factors strict on columns that together are all are strict together, disjoint or
/// not (tensor products).
OfDistinctRows of_product(const Findings& parts) {
    const auto with_diagonal = std::ranges::all_of(
        parts, [](const Finding& part) { return part.distinct.positive_diagonal; });
    if (!with_diagonal) return {};
    if (std::ranges::any_of(parts, [](const Finding& part) { return part.distinct.strict; })) {
        return OfDistinctRows::strictly(
            "a product with a factor that is so, of factors with k(x,x) > 0 (Oppenheim)");
    }
    Ranges all;
    for (const Finding& part : parts) {
        std::ranges::copy(part.distinct.strict_on, std::back_inserter(all));
    }
    if (cover_all_columns(all)) {
        return OfDistinctRows::strictly(
            "a product of kernels each of which is so on its columns, which together are all "
            "(tensor product)");
    }
    return {.positive_diagonal = true, .strict_on = std::move(all)};
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
            .positive_diagonal = part.distinct.positive_diagonal,
            .strict_on = whole ? part.distinct.strict_on : Ranges{}};
}

/// exp(2γk(x,z)) = e^{γk(x,x)} exp(−γ‖Φ(x)−Φ(z)‖²) e^{γk(z,z)}, a Gaussian between factors that are
/// not 0; and a Gaussian is strict on distinct points of any Hilbert space.
OfDistinctRows of_gaussian() {
    return OfDistinctRows::strictly("a Gaussian of features that differ for distinct rows");
}

/// Rows that differ elsewhere are one row here.
OfDistinctRows of_moved(const KernelNode& node, OfDistinctRows inside) {
    if (node.kind == KernelKind::map || !all_columns(node.subset)) {
        const bool known = node.kind == KernelKind::columns && inside.strict &&
                           std::ranges::all_of(node.subset.items,
                                               [](const auto& item) { return item.name.empty(); });
        return {.positive_diagonal = inside.positive_diagonal,
                .strict_on = known ? node.subset.items : Ranges{}};
    }
    if (inside.strict) inside.because = "the same kernel on all columns";
    return inside;
}

}  // namespace mercer
