// random_walk: walks that two graphs have in common [Gärtner, Flach and Wrobel 2003]
#include <algorithm>
#include <map>

#include "mercer/base/text.hpp"
#include "mercer/kernel/leaf/detail/each_pair.hpp"
#include "mercer/kernel/leaf/detail/graphs.hpp"

namespace mercer {
namespace {

using namespace leaves;

constexpr std::size_t most_nodes = 5000;

/// The edges of one label: neighbours of each node.
struct Layer {
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> neighbours{};
};

/// k = Σ_t lambda^t 1'Wᵗ1 = 1'(I − lambda W)⁻¹ 1 with W the adjacency of the direct product: pairs
/// of nodes with the same label, joined where both are by edges of the same label. W is never
/// written down: with a number for each pair of nodes in a matrix X, W X is Σ A X B' over the
/// labels of edges, and 0 where labels of nodes differ (Vishwanathan et al. 2010).
struct RandomWalks {
    struct Item {
        std::uint64_t order = 0;
        std::vector<std::int64_t> labels{};  ///< none: all nodes alike
        std::size_t nodes = 0;
        std::map<std::int64_t, Layer> layers{};  ///< by label of edges
        std::size_t most_neighbours = 0;
    };
    struct Scratch {
        std::vector<double> x{}, y{}, part{};
        std::vector<double> mask{};
    };

    Item item(const Object& object) const;
    double operator()(const Item& x, const Item& z, Scratch& s) const;
    double pair_work(const std::vector<Item>& items) const {
        const double nodes = mean_of(items, [](const Item& g) { return g.nodes; });
        const double degree = mean_of(items, [](const Item& g) { return g.most_neighbours; });
        return 20 * nodes * nodes * (1 + degree);
    }

    double lambda = 0;
};

RandomWalks::Item RandomWalks::item(const Object& object) const {
    const auto& graph = std::get<GraphView>(object);
    require_nodes("random_walk", graph, most_nodes);
    Item result;
    result.nodes = graph.nodes;
    result.labels.assign(graph.node_labels.begin(), graph.node_labels.end());
    const auto label_of = [&](std::size_t e) {
        return graph.edge_labels == nullptr ? 0 : graph.edge_labels[e];
    };
    std::uint64_t hash = hash_number(graph.nodes);
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        for (std::size_t e = graph.starts[v]; e < graph.starts[v + 1]; ++e) {
            Layer& layer = result.layers[label_of(e)];
            layer.starts.resize(v + 1, layer.neighbours.size());
            layer.neighbours.push_back(graph.neighbours[e]);
            hash = hash_together(
                hash, hash_together(graph.neighbours[e], static_cast<std::uint64_t>(label_of(e))));
        }
        for (auto& [label, layer] : result.layers) {
            layer.starts.resize(v + 2, layer.neighbours.size());
        }
        result.most_neighbours = std::max(result.most_neighbours, graph.neighbours_of(v).size());
        hash = hash_together(hash, v);
    }
    for (const std::int64_t label : result.labels) {
        hash = hash_together(hash, static_cast<std::uint64_t>(label));
    }
    result.order = hash;
    return result;
}

/// y += A X B' for the edges of one label of either graph.
void add_steps(const Layer& a, const Layer& b, std::size_t rows, std::size_t columns,
               const std::vector<double>& x, std::vector<double>& part, std::vector<double>& y) {
    part.assign(rows * columns, 0);
    for (std::size_t u = 0; u < rows; ++u) {
        for (std::size_t v = 0; v < columns; ++v) {
            double sum = 0;
            for (std::size_t e = b.starts[v]; e < b.starts[v + 1]; ++e) {
                sum += x[u * columns + b.neighbours[e]];
            }
            part[u * columns + v] = sum;
        }
    }
    for (std::size_t u = 0; u < rows; ++u) {
        for (std::size_t e = a.starts[u]; e < a.starts[u + 1]; ++e) {
            const double* from = part.data() + a.neighbours[e] * columns;
            for (std::size_t v = 0; v < columns; ++v) y[u * columns + v] += from[v];
        }
    }
}

double RandomWalks::operator()(const Item& x, const Item& z, Scratch& s) const {
    const double growth =
        lambda * static_cast<double>(x.most_neighbours) * static_cast<double>(z.most_neighbours);
    if (!(growth < 1)) {
        throw InvalidInput("lambda = " + format_number(lambda) +
                           " of random_walk is too large for "
                           "graphs whose nodes have up to " +
                           std::to_string(x.most_neighbours) + " and " +
                           std::to_string(z.most_neighbours) +
                           " neighbours; the sum over walks is sure to be finite below " +
                           format_number(lambda / growth));
    }
    const std::size_t cells = x.nodes * z.nodes;
    // Nodes without labels are like each other and unlike all that have one.
    s.mask.assign(cells, x.labels.empty() && z.labels.empty() ? 1 : 0);
    if (!x.labels.empty() && !z.labels.empty()) {
        for (std::size_t c = 0; c < cells; ++c) {
            s.mask[c] = x.labels[c / z.nodes] == z.labels[c % z.nodes] ? 1 : 0;
        }
    }
    // The terms of the series one after another: all are >= 0, and each is at most `growth` times
    // the last.
    s.x = s.mask;
    double sum = 0;
    for (const double v : s.x) sum += v;
    for (double term = sum; term * growth > 1e-17 * sum * (1 - growth);) {
        s.y.assign(cells, 0);
        for (const auto& [label, layer] : x.layers) {
            const auto same = z.layers.find(label);
            if (same == z.layers.end()) continue;
            add_steps(layer, same->second, x.nodes, z.nodes, s.x, s.part, s.y);
        }
        term = 0;
        for (std::size_t c = 0; c < cells; ++c) {
            s.x[c] = lambda * s.mask[c] * s.y[c];
            term += s.x[c];
        }
        sum += term;
    }
    return sum;
}

std::unique_ptr<const ObjectPairs> prepare(const KernelNode& node, std::span<const Object> graphs) {
    return each_pair(RandomWalks{node.parameter("lambda")}, graphs);
}

Finding judge(const KernelNode&, const Assumptions&) {
    return Finding::positive(
        "a sum with weights lambda^t > 0 of counts of walks of t steps, lambda "
        "below what makes it finite (Gaertner et al. 2003)");
}

}  // namespace

const Leaf& random_walk_leaf() {
    static const Leaf leaf{
        .entry = {.name = "random_walk",
                  .formula = "sum over t of lambda^t times the pairs of walks of t steps in x and "
                             "in z along the same labels",
                  .about = "graphs by the walks they share; lambda times the most neighbours of a "
                           "node in x and in z must be less than 1",
                  .parameters = {above_zero("lambda", {}, 0.01)}},
        .objects = ObjectKind::graph,
        .prepare = prepare,
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
