#include "mercer/kernel/leaf/graph/detail/graphs.hpp"

#include <algorithm>

#include "mercer/base/error.hpp"

namespace mercer::leaves {

std::vector<std::uint64_t> node_hashes(const GraphView& graph) {
    std::vector<std::uint64_t> result(graph.nodes);
    const bool labelled = !graph.node_labels.empty();
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        const std::uint64_t what = labelled ? static_cast<std::uint64_t>(graph.node_labels[v])
                                            : graph.neighbours_of(v).size();
        result[v] = hash_together(labelled ? 1 : 2, what);
    }
    return result;
}

SimpleGraph::SimpleGraph(const GraphView& graph) {
    std::vector<std::pair<std::uint32_t, std::uint32_t>> ends;
    ends.reserve(2 * graph.ends());
    for (std::uint32_t v = 0; v < graph.nodes; ++v) {
        for (const std::uint32_t w : graph.neighbours_of(v)) {
            if (v == w) continue;
            ends.emplace_back(v, w);
            ends.emplace_back(w, v);
        }
    }
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    starts.assign(graph.nodes + 1, 0);
    for (const auto& [v, w] : ends) {
        ++starts[v + 1];
        neighbours.push_back(w);
    }
    for (std::size_t v = 0; v < graph.nodes; ++v) starts[v + 1] += starts[v];
}

void require_nodes(const std::string& kernel, const GraphView& graph, std::size_t most) {
    if (graph.nodes <= most) return;
    throw InvalidInput("a graph has " + std::to_string(graph.nodes) + " nodes; " + kernel +
                       " takes at most " + std::to_string(most) +
                       ", for its work grows with their square; wl takes any number");
}

}  // namespace mercer::leaves
