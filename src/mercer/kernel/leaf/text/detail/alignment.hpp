// Sums over all alignments of two texts, by one sweep: local_alignment and dynamic_alignment.
#pragma once

#include "mercer/kernel/leaf/detail/lanes.hpp"

namespace mercer::leaves {

/// An alignment is a chain of pairs of letters, one behind another in both texts. It weighs the
/// product of `same` or `other` over its pairs and, between neighbouring pairs, of `no_gap`, or
/// gap · longer^(n-1) for n letters left out, for either text apart.
struct AlignmentWeights {
    double same = 1;
    double other = 1;
    double no_gap = 1;
    double gap = 1;
    double longer = 1;
    /// What stands before the first pair and behind the last is a gap too. If not, it weighs
    /// nothing, and the empty alignment counts 1.
    bool whole = false;

    /// log of the sum over all alignments.
    void operator()(const LaneBlock& block, std::array<double, lanes>& logs) const;
    double cell_work() const { return 4; }
};

std::unique_ptr<const ObjectPairs> alignment_pairs(const KernelNode& node,
                                                   std::span<const Object> texts,
                                                   const AlignmentWeights& weights);

}  // namespace mercer::leaves
