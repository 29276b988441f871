// wl: neighbourhoods that two graphs share, as rooted trees [Shervashidze et al. 2011]
#include "mercer/kernel/leaf/graph/detail/graphs.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// One round: a node becomes its label with the multiset of its neighbours' labels, those of the
/// edges to them folded in. A multiset is told by the sum of its members' hashes.
void refine(const GraphView& graph, std::vector<std::uint64_t>& labels,
            std::vector<std::uint64_t>& was) {
    labels.swap(was);
    if (graph.edge_labels == nullptr) {
        // The hash of a label is asked for by each neighbour, and made once.
        for (std::size_t v = 0; v < graph.nodes; ++v) labels[v] = hash_number(was[v]);
        std::vector<std::uint64_t>& around = was;
        for (std::size_t v = 0; v < graph.nodes; ++v) {
            std::uint64_t sum = 0;
            for (const std::uint32_t w : graph.neighbours_of(v)) sum += labels[w];
            around[v] = hash_together(was[v], sum);
        }
        labels.swap(was);
        return;
    }
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        std::uint64_t around = 0;
        for (std::size_t e = graph.starts[v]; e < graph.starts[v + 1]; ++e) {
            around += hash_together(was[graph.neighbours[e]],
                                    static_cast<std::uint64_t>(graph.edge_labels[e]));
        }
        labels[v] = hash_together(was[v], around);
    }
}

void features(const KernelNode& node, const Object& object, Features& out) {
    const auto& graph = std::get<GraphView>(object);
    const auto iterations = static_cast<std::size_t>(node.parameter("iterations"));
    std::vector<std::uint64_t> labels = node_hashes(graph);
    std::vector<std::uint64_t> room(graph.nodes);
    out.reserve(graph.nodes * (iterations + 1));
    for (std::size_t round = 0;; ++round) {
        for (const std::uint64_t label : labels) out.push_back({hash_together(round, label), 1});
        if (round == iterations) return;
        refine(graph, labels, room);
    }
}

}  // namespace

const Leaf& wl_leaf() {
    static const Leaf leaf{
        .entry = {.name = "wl",
                  .aliases = {"weisfeiler_lehman"},
                  .formula = "sum over rounds 0 .. iterations, labels u of count_u(x) count_u(z)",
                  .about = "graphs by the neighbourhoods they share, as trees of that height; "
                           "iterations=0: node labels alone; nodes without labels have their "
                           "degree as one",
                  .parameters = {whole("iterations", {"h"}, 0, 100, 4.0)}},
        .objects = ObjectKind::graph,
        .features = features,
        .counts = true,
    };
    return leaf;
}

}  // namespace mercer
