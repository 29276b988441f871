// random_walk: walks that two graphs have in common [Gärtner, Flach and Wrobel 2003]
#include <algorithm>
#include <array>
#include <map>

#include "mercer/base/text.hpp"
#include "mercer/kernel/leaf/detail/each_pair.hpp"
#include "mercer/kernel/leaf/graph/detail/graphs.hpp"

namespace mercer {
namespace {

using namespace leaves;

constexpr std::size_t most_nodes = 5000;
constexpr int most_terms = 10000;
constexpr double most_entries = 1 << 22;  // of a matrix that is written down

/// The edges of one label: neighbours of each node.
struct Layer {
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> neighbours{};
};

/// k = Σ_t lambda^t 1'Wᵗ1 = 1'(I − lambda W)⁻¹ 1 with W the adjacency of the direct product: pairs
/// of nodes with the same label, joined where both are by edges of the same label. W is written
/// down only where it is small: with a number for each pair of nodes in a matrix X, W X is Σ A X B'
/// over the labels of edges, and 0 where labels of nodes differ (Vishwanathan et al. 2010).
struct RandomWalks {
    struct Item {
        std::uint64_t order = 0;
        std::vector<std::int64_t> labels{};  ///< none: all nodes alike
        std::size_t nodes = 0;
        std::map<std::int64_t, Layer> layers{};  ///< by label of edges
        std::size_t most_neighbours = 0;
        bool symmetric = true;
    };
    struct Scratch {
        std::vector<double> mask{};  ///< 1 for pairs of nodes with the same label, else 0
        std::vector<double> right{}, part{}, product{}, residual{}, direction{};
        std::vector<std::pair<const Layer*, const Layer*>> layers{};  ///< of the same label
        /// W is small and stands in the next two, row by row, for pairs of the same label only:
        /// of these, `number` says which a pair of nodes is.
        bool written = false;
        std::vector<std::uint32_t> number{};
        std::vector<std::size_t> starts{};
        std::vector<std::uint32_t> columns{};
    };

    Item item(const Object& object) const;
    double operator()(const Item& x, const Item& z, Scratch& s) const;
    /// Σ_t t lambda^(t−1) 1'Wᵗ1
    double slope(const std::string&, const Item& x, const Item& z, Scratch& s) const;
    void meet(const Item& x, const Item& z, Scratch& s) const;
    double by_conjugate_gradients(const Item& x, const Item& z, Scratch& s) const;
    double by_terms(const Item& x, const Item& z, Scratch& s) const;
    double pair_work(const std::vector<Item>& items) const {
        const double nodes = mean_of(items, [](const Item& g) { return g.nodes; });
        const double degree = mean_of(items, [](const Item& g) { return g.most_neighbours; });
        return 20 * nodes * nodes * (1 + degree);
    }

    double lambda = 0;
};

/// Every edge has one of the same label back.
bool is_symmetric(const std::map<std::int64_t, Layer>& layers, std::size_t nodes) {
    for (const auto& [label, layer] : layers) {
        std::vector<std::pair<std::size_t, std::size_t>> there, back;
        for (std::size_t v = 0; v < nodes; ++v) {
            for (std::size_t e = layer.starts[v]; e < layer.starts[v + 1]; ++e) {
                there.emplace_back(v, layer.neighbours[e]);
                back.emplace_back(layer.neighbours[e], v);
            }
        }
        std::ranges::sort(there);
        std::ranges::sort(back);
        if (there != back) return false;
    }
    return true;
}

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
    result.symmetric = is_symmetric(result.layers, graph.nodes);
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

double sum_of(const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values) sum += v;
    return sum;
}
/// In four sums, which do not wait for each other.
double dot(const std::vector<double>& a, const std::vector<double>& b) {
    std::array<double, 4> sums{};
    for (std::size_t k = 0; k < a.size(); ++k) sums[k % 4] += a[k] * b[k];
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void write_down(const RandomWalks::Item& x, const RandomWalks::Item& z, RandomWalks::Scratch& s) {
    s.number.resize(s.mask.size());
    std::uint32_t count = 0;
    for (std::size_t c = 0; c < s.mask.size(); ++c) s.number[c] = s.mask[c] != 0 ? count++ : 0;
    s.right.assign(count, 1);
    s.starts.assign(1, 0);
    s.columns.clear();
    for (std::size_t u = 0; u < x.nodes; ++u) {
        for (std::size_t v = 0; v < z.nodes; ++v) {
            if (s.mask[u * z.nodes + v] == 0) continue;
            for (const auto& [a, b] : s.layers) {
                for (std::size_t e = a->starts[u]; e < a->starts[u + 1]; ++e) {
                    const std::size_t row = a->neighbours[e] * z.nodes;
                    for (std::size_t f = b->starts[v]; f < b->starts[v + 1]; ++f) {
                        const std::size_t to = row + b->neighbours[f];
                        if (s.mask[to] != 0) s.columns.push_back(s.number[to]);
                    }
                }
            }
            s.starts.push_back(s.columns.size());
        }
    }
}

/// Finds the layers of the same label, and writes W down if that is less work than going through
/// the layers for every product.
void begin(const RandomWalks::Item& x, const RandomWalks::Item& z, RandomWalks::Scratch& s) {
    s.layers.clear();
    double entries = 0;
    double work = 0;
    for (const auto& [label, layer] : x.layers) {
        const auto same = z.layers.find(label);
        if (same == z.layers.end()) continue;
        s.layers.emplace_back(&layer, &same->second);
        const auto a = static_cast<double>(layer.neighbours.size());
        const auto b = static_cast<double>(same->second.neighbours.size());
        entries += a * b;
        work += a * static_cast<double>(z.nodes) + b * static_cast<double>(x.nodes);
    }
    const double share =
        sum_of(s.mask) / static_cast<double>(std::max<std::size_t>(s.mask.size(), 1));
    s.written = entries * share * share < work && entries < most_entries;
    s.right = s.mask;
    if (s.written) write_down(x, z, s);
}

/// product = lambda W v for a v that is 0 where labels of nodes differ.
void multiply(double lambda, const RandomWalks::Item& x, const RandomWalks::Item& z,
              const std::vector<double>& v, RandomWalks::Scratch& s) {
    s.product.assign(v.size(), 0);
    if (s.written) {
        for (std::size_t c = 0; c < v.size(); ++c) {
            double sum = 0;
            for (std::size_t e = s.starts[c]; e < s.starts[c + 1]; ++e) sum += v[s.columns[e]];
            s.product[c] = lambda * sum;
        }
        return;
    }
    for (const auto& [a, b] : s.layers) add_steps(*a, *b, x.nodes, z.nodes, v, s.part, s.product);
    for (std::size_t c = 0; c < v.size(); ++c) s.product[c] *= lambda * s.mask[c];
}

/// (I − lambda W) y = 1 with W symmetric, of which only 1'y is wanted.
double RandomWalks::by_conjugate_gradients(const Item& x, const Item& z, Scratch& s) const {
    s.residual = s.right;
    s.direction = s.right;
    double sum = 0;
    double squared = dot(s.residual, s.residual);
    const double enough = 1e-26 * squared;
    for (std::size_t round = 0; squared > enough && round < s.right.size() + 100; ++round) {
        multiply(lambda, x, z, s.direction, s);
        const double step = squared / (dot(s.direction, s.direction) - dot(s.direction, s.product));
        sum += step * sum_of(s.direction);
        for (std::size_t c = 0; c < s.right.size(); ++c) {
            s.residual[c] -= step * (s.direction[c] - s.product[c]);
        }
        const double before = std::exchange(squared, dot(s.residual, s.residual));
        for (std::size_t c = 0; c < s.right.size(); ++c) {
            s.direction[c] = s.residual[c] + squared / before * s.direction[c];
        }
    }
    return sum;
}

/// The terms of the series one after another.
double RandomWalks::by_terms(const Item& x, const Item& z, Scratch& s) const {
    s.direction = s.right;
    double sum = sum_of(s.right);
    double term = sum;
    for (int t = 0; term > 1e-17 * sum; ++t) {
        if (t == most_terms) {
            throw InvalidInput("lambda = " + format_number(lambda) +
                               " of random_walk is so near to what makes its sum infinite for two "
                               "graphs with directions that it does not end; take a smaller one");
        }
        multiply(lambda, x, z, s.direction, s);
        std::swap(s.direction, s.product);
        term = sum_of(s.direction);
        sum += term;
    }
    return sum;
}

double RandomWalks::slope(const std::string&, const Item& x, const Item& z, Scratch& s) const {
    meet(x, z, s);
    s.direction = s.right;
    double sum = 0;
    double term = 1;
    for (int t = 1; t <= most_terms && term > 1e-17 * sum; ++t) {
        multiply(lambda, x, z, s.direction, s);
        std::swap(s.direction, s.product);
        term = t * sum_of(s.direction);
        sum += term;
    }
    return sum / lambda;
}

double RandomWalks::operator()(const Item& x, const Item& z, Scratch& s) const {
    meet(x, z, s);
    return x.symmetric && z.symmetric ? by_conjugate_gradients(x, z, s) : by_terms(x, z, s);
}

void RandomWalks::meet(const Item& x, const Item& z, Scratch& s) const {
    // W has at most so many ones in a row, so that its eigenvalues are not larger.
    const double growth =
        lambda * static_cast<double>(x.most_neighbours) * static_cast<double>(z.most_neighbours);
    if (!(growth < 1)) {
        throw InvalidInput("lambda = " + format_number(lambda) +
                           " of random_walk is too large for graphs whose nodes have up to " +
                           std::to_string(x.most_neighbours) + " and " +
                           std::to_string(z.most_neighbours) +
                           " neighbours; the sum over walks is sure to be finite below " +
                           format_number(lambda / growth));
    }
    // Nodes without labels are like each other and unlike all that have one.
    const std::size_t cells = x.nodes * z.nodes;
    s.mask.assign(cells, x.labels.empty() && z.labels.empty() ? 1 : 0);
    if (!x.labels.empty() && !z.labels.empty()) {
        for (std::size_t u = 0; u < x.nodes; ++u) {
            double* row = s.mask.data() + u * z.nodes;
            for (std::size_t v = 0; v < z.nodes; ++v) row[v] = x.labels[u] == z.labels[v] ? 1 : 0;
        }
    }
    begin(x, z, s);
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
    // Made before: where memory runs out in the middle of the leaf, g++ 12 takes it down wrongly.
    std::vector<std::string> slopes{"lambda"};
    static const Leaf leaf{
        .entry = {.name = "random_walk",
                  .formula = "sum over t of lambda^t times the pairs of walks of t steps in x and "
                             "in z along the same labels",
                  .about = "graphs by the walks they share; lambda times the most neighbours of a "
                           "node in x and in z must be less than 1",
                  .parameters = {above_zero("lambda", {}, 0.01)}},
        .objects = ObjectKind::graph,
        .prepare = prepare,
        .pair_slopes = std::move(slopes),
        .judge = judge,
    };
    return leaf;
}

}  // namespace mercer
