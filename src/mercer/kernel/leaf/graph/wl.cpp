// wl: neighbourhoods that two graphs share, as rooted trees [Shervashidze et al. 2011]
#include "mercer/kernel/leaf/detail/graphs.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// One round: a node becomes its label with the multiset of its neighbours' labels, those of the
/// edges to them folded in. A multiset is told by the sum of its members' hashes.
std::vector<std::uint64_t> refined(const GraphView& graph, const std::vector<std::uint64_t>& was) {
    std::vector<std::uint64_t> now(graph.nodes);
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        std::uint64_t around = 0;
        for (std::size_t e = graph.starts[v]; e < graph.starts[v + 1]; ++e) {
            const std::uint64_t other = was[graph.neighbours[e]];
            around += graph.edge_labels == nullptr
                          ? hash_number(other)
                          : hash_together(other, static_cast<std::uint64_t>(graph.edge_labels[e]));
        }
        now[v] = hash_together(was[v], around);
    }
    return now;
}

void features(const KernelNode& node, const Object& object, Features& out) {
    const auto& graph = std::get<GraphView>(object);
    const auto iterations = static_cast<std::size_t>(node.parameter("iterations"));
    std::vector<std::uint64_t> labels = node_hashes(graph);
    for (std::size_t round = 0;; ++round) {
        for (const std::uint64_t label : labels) out.push_back({hash_together(round, label), 1});
        if (round == iterations) return;
        labels = refined(graph, labels);
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
