// Kernels that are sums over all pairs of k-mers of two texts of a weight that depends on the
// number of letters in which they differ: mismatch and gapped.
#pragma once

#include <memory>

#include "mercer/kernel/leaf/detail/letters.hpp"

namespace mercer::leaves {

/// The longest words that are compared: their distance is counted in a byte.
inline constexpr double longest_word = 64;

/// k(x, z) = Σ_d weights[d] · (pairs of words of `length` letters at distance d). Distances beyond
/// the weights count nothing. A word with a no_letter of alphabet=dna is none.
std::unique_ptr<const ObjectPairs> hamming_pairs(const KernelNode& node,
                                                 std::span<const Object> texts, std::size_t length,
                                                 std::vector<double> weights);

/// n over k.
double choose(double n, double k);

}  // namespace mercer::leaves
