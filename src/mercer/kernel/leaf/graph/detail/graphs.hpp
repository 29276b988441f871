// Graphs as the kernels on them see them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mercer/kernel/detail/leaf_tools.hpp"

namespace mercer::leaves {

/// What a node starts as: a hash of its label, or of its degree in a graph without labels.
std::vector<std::uint64_t> node_hashes(const GraphView& graph);

/// A graph without loops, repeated edges and directions: sorted neighbours of each node.
struct SimpleGraph {
    explicit SimpleGraph(const GraphView& graph);

    std::size_t nodes() const { return starts.size() - 1; }
    std::size_t degree(std::size_t v) const { return starts[v + 1] - starts[v]; }
    std::span<const std::uint32_t> neighbours_of(std::size_t v) const {
        return {neighbours.data() + starts[v], degree(v)};
    }

    std::vector<std::size_t> starts{};
    std::vector<std::uint32_t> neighbours{};
};

/// Throws InvalidInput when a graph has more nodes than a kernel whose work grows with their square
/// takes.
void require_nodes(const std::string& kernel, const GraphView& graph, std::size_t most);

}  // namespace mercer::leaves
