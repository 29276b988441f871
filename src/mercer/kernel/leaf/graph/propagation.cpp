// propagation: attributes spread along edges and put into bins [Neumann et al. 2016]
#include <cmath>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/kernel/leaf/graph/detail/graphs.hpp"

namespace mercer {
namespace {

using namespace leaves;

/// A number drawn by what it is for, the same in every program: standard normal.
double drawn(std::uint64_t seed, std::uint64_t round, std::uint64_t what) {
    return Random(hash_together(hash_together(seed, round), what)).normal();
}

/// Each node's attributes, and its label as one of a unit vector, along a random direction.
std::vector<double> projected(const GraphView& graph, std::uint64_t seed, std::uint64_t round) {
    std::vector<double> direction(graph.attributes);
    for (std::size_t a = 0; a < direction.size(); ++a) direction[a] = drawn(seed, round, a);
    std::vector<double> result(graph.nodes);
    const bool by_label = !graph.node_labels.empty() || graph.attributes == 0;
    const auto labels = by_label ? node_hashes(graph) : std::vector<std::uint64_t>();
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        const auto own = graph.attributes_of(v);
        for (std::size_t a = 0; a < direction.size(); ++a) result[v] += direction[a] * own[a];
        if (by_label) result[v] += drawn(seed, round, labels[v]);
    }
    return result;
}

/// A node takes the mean of its neighbours; one without any stays.
std::vector<double> spread(const GraphView& graph, const std::vector<double>& was) {
    std::vector<double> now(was);
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        const auto around = graph.neighbours_of(v);
        if (around.empty()) continue;
        double sum = 0;
        for (const std::uint32_t w : around) sum += was[w];
        now[v] = sum / static_cast<double>(around.size());
    }
    return now;
}

void features(const KernelNode& node, const Object& object, Features& out) {
    const auto& graph = std::get<GraphView>(object);
    const auto iterations = static_cast<std::uint64_t>(node.parameter("iterations"));
    const auto seed = static_cast<std::uint64_t>(node.parameter("seed"));
    const double bin = node.parameter("bin");
    for (std::uint64_t round = 0; round <= iterations; ++round) {
        std::vector<double> value = projected(graph, seed, round);
        for (std::uint64_t step = 0; step < round; ++step) value = spread(graph, value);
        const double offset = Random(hash_together(seed, round)).uniform();
        for (const double v : value) {
            const double place = std::floor(v / bin + offset);
            if (!(std::fabs(place) < 1e15)) {
                throw InvalidInput("an attribute of a graph is " + format_number(v) +
                                   " along a direction, too large for bins of " +
                                   format_number(bin) + "; give propagation a larger bin");
            }
            const auto which = static_cast<std::uint64_t>(static_cast<std::int64_t>(place));
            out.push_back({hash_together(round, which), 1});
        }
    }
}

}  // namespace

const Leaf& propagation_leaf() {
    static const Leaf leaf{
        .entry = {.name = "propagation",
                  .formula = "sum over rounds 0 .. iterations, bins u of count_u(x) count_u(z)",
                  .about = "graphs by their nodes' attributes (and labels), spread to neighbours "
                           "round by round, along random directions in bins of that width",
                  .parameters = {whole("iterations", {"h"}, 0, 100, 4.0),
                                 above_zero("bin", {}, 1.0), whole("seed", {}, 0, 1e9, 0.0)}},
        .objects = ObjectKind::graph,
        .features = features,
        .counts = true,
    };
    return leaf;
}

}  // namespace mercer
