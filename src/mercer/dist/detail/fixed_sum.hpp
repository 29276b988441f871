// Sums that have the same bits whatever number of ranks takes them. The vectors that are added are
// the leaves of a binary tree, of a shape that depends on their number alone: node k of a level is
// the sum of the nodes 2k and 2k + 1 below, or the first of them where there is no other. A rank
// adds up the largest nodes that lie among its own leaves; the vector is then cut into one slice a
// rank, and each rank finishes the tree for its slice from the nodes of all.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "mercer/dist/communicator.hpp"

namespace mercer {

class FixedSum {
   public:
    /// Rank r has the leaves from bounds[r] up to, but without, bounds[r + 1]; there is at least
    /// one in all. `ranks` must outlive it.
    FixedSum(Communicator& ranks, std::vector<std::size_t> bounds);

    /// out = Σ over all leaves, the same on all ranks; add(leaf, zeros) adds one of this rank's to
    /// zeros. Beside `out` it holds as many vectors as the tree is high, two times that in a rank
    /// whose leaves begin and end anywhere.
    void operator()(const std::function<void(std::size_t, std::span<double>)>& add,
                    std::span<double> out) const;

   private:
    struct Node;
    template <class Join>
    static void settle(std::vector<Node>& nodes, std::size_t leaves, const Join& join);
    std::size_t leaves() const { return bounds_.back(); }
    std::vector<Node> nodes_of(std::size_t rank) const;
    void finish(const std::vector<std::vector<double>>& own, std::span<double> out) const;
    void finish_piece(const std::vector<std::vector<double>>& own, std::size_t begin,
                      std::span<double> out) const;
    void finish_slice(std::span<double> received, std::size_t width) const;

    Communicator& ranks_;
    std::vector<std::size_t> bounds_;
};

}  // namespace mercer
