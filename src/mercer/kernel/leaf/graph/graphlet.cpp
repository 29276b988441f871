// graphlet: small induced subgraphs that two graphs share [Shervashidze et al. 2009]
#include <algorithm>
#include <array>
#include <bit>

#include "mercer/base/error.hpp"
#include "mercer/kernel/leaf/graph/detail/graphs.hpp"

namespace mercer {
namespace {

using namespace leaves;

constexpr double most_work = 1e10;  // sum of squared degrees

/// A graph on 3 or 4 nodes is a set of their pairs, one bit each: 01 02 12 03 13 23. A shape is all
/// graphs that differ by the names of the nodes; the smallest of these stands for it.
using Small = unsigned;

unsigned bit_of(unsigned a, unsigned b) {
    if (a > b) std::swap(a, b);
    return b * (b - 1) / 2 + a;
}

Small shape_of(Small graph, unsigned size) {
    std::array<unsigned, 4> name{0, 1, 2, 3};
    Small least = ~0U;
    do {
        Small renamed = 0;
        for (unsigned b = 1; b < size; ++b) {
            for (unsigned a = 0; a < b; ++a) {
                if (((graph >> bit_of(a, b)) & 1U) != 0) renamed |= 1U << bit_of(name[a], name[b]);
            }
        }
        least = std::min(least, renamed);
    } while (std::next_permutation(name.begin(), name.begin() + size));
    return least;
}

bool connected(Small graph, unsigned size) {
    unsigned met = 1;
    for (unsigned round = 0; round < size; ++round) {
        for (unsigned b = 1; b < size; ++b) {
            for (unsigned a = 0; a < b; ++a) {
                if (((graph >> bit_of(a, b)) & 1U) == 0) continue;
                if ((((met >> a) | (met >> b)) & 1U) != 0) met |= 1U << a | 1U << b;
            }
        }
    }
    return met == (1U << size) - 1;
}

/// Counts by shape, at the number of the graph that stands for it.
using Counts = std::array<double, 64>;

Small shape(std::initializer_list<std::pair<unsigned, unsigned>> edges, unsigned size) {
    Small graph = 0;
    for (const auto& [a, b] : edges) graph |= 1U << bit_of(a, b);
    return shape_of(graph, size);
}

double choose2(double n) {
    return n * (n - 1) / 2;
}
double choose3(double n) {
    return n * (n - 1) * (n - 2) / 6;
}

/// Whole numbers about a graph that the counts follow from.
struct Sums {
    double nodes = 0, edges = 0, paths2 = 0, stars3 = 0, paths3 = 0, triangles = 0, paws = 0,
           squares = 0, diamonds = 0, cliques = 0;
};

class Counter {
   public:
    explicit Counter(const SimpleGraph& graph) : graph_(graph), mark_(graph.nodes(), 0) {}

    Sums sums(unsigned size) {
        sums_.nodes = static_cast<double>(graph_.nodes());
        for (std::uint32_t v = 0; v < graph_.nodes(); ++v) {
            const auto degree = static_cast<double>(graph_.degree(v));
            sums_.edges += degree / 2;
            sums_.paths2 += choose2(degree);
            sums_.stars3 += choose3(degree);
            triangles_at(v, size == 4);
            if (size == 4) squares_at(v);
        }
        sums_.paths3 -= 3 * sums_.triangles;
        return sums_;
    }

   private:
    /// Those of v < w < u, and what hangs on the edges from v.
    void triangles_at(std::uint32_t v, bool larger) {
        const auto around = graph_.neighbours_of(v);
        for (const std::uint32_t w : around) mark_[w] = 1;
        for (const std::uint32_t w : around) {
            if (w < v) continue;
            double shared = 0;
            third_.clear();
            for (const std::uint32_t u : graph_.neighbours_of(w)) {
                if (mark_[u] == 0) continue;
                ++shared;
                sums_.paws += static_cast<double>(graph_.degree(u)) - 2;  // its tail at u
                if (u > w) third_.push_back(u);
            }
            sums_.triangles += static_cast<double>(third_.size());
            sums_.diamonds += choose2(shared);
            sums_.paths3 += (static_cast<double>(graph_.degree(v)) - 1) *
                            (static_cast<double>(graph_.degree(w)) - 1);
            if (larger) cliques_on();
        }
        for (const std::uint32_t w : around) mark_[w] = 0;
    }

    /// Edges among the third nodes of an edge's triangles.
    void cliques_on() {
        for (const std::uint32_t u : third_) mark_[u] = 2;
        for (const std::uint32_t u : third_) {
            for (const std::uint32_t t : graph_.neighbours_of(u)) {
                if (t > u && mark_[t] == 2) ++sums_.cliques;
            }
        }
        for (const std::uint32_t u : third_) mark_[u] = 1;
    }

    /// Squares whose largest node is v, by the paths of two edges from it.
    void squares_at(std::uint32_t v) {
        for (const std::uint32_t w : graph_.neighbours_of(v)) {
            if (w > v) break;
            for (const std::uint32_t u : graph_.neighbours_of(w)) {
                if (u >= v) break;
                sums_.squares += mark_[u]++;
            }
        }
        for (const std::uint32_t w : graph_.neighbours_of(v)) {
            if (w > v) break;
            for (const std::uint32_t u : graph_.neighbours_of(w)) mark_[u] = 0;
        }
    }

    const SimpleGraph& graph_;
    std::vector<std::uint32_t> mark_;
    std::vector<std::uint32_t> third_{};
    Sums sums_{};
};

/// How often each shape is a subgraph, induced or not, on all nodes of which others stand alone.
Counts subgraphs(const Sums& s, unsigned size) {
    Counts counts{};
    const double n = s.nodes;
    if (size == 3) {
        counts[shape({}, 3)] = choose3(n);
        counts[shape({{0, 1}}, 3)] = s.edges * (n - 2);
        counts[shape({{0, 1}, {1, 2}}, 3)] = s.paths2;
        counts[shape({{0, 1}, {1, 2}, {0, 2}}, 3)] = s.triangles;
        return counts;
    }
    counts[shape({}, 4)] = choose3(n) * (n - 3) / 4;
    counts[shape({{0, 1}}, 4)] = s.edges * choose2(n - 2);
    counts[shape({{0, 1}, {1, 2}}, 4)] = s.paths2 * (n - 3);
    counts[shape({{0, 1}, {2, 3}}, 4)] = choose2(s.edges) - s.paths2;
    counts[shape({{0, 1}, {1, 2}, {0, 2}}, 4)] = s.triangles * (n - 3);
    counts[shape({{0, 1}, {0, 2}, {0, 3}}, 4)] = s.stars3;
    counts[shape({{0, 1}, {1, 2}, {2, 3}}, 4)] = s.paths3;
    counts[shape({{0, 1}, {1, 2}, {0, 2}, {2, 3}}, 4)] = s.paws;
    counts[shape({{0, 1}, {1, 2}, {2, 3}, {0, 3}}, 4)] = s.squares;
    counts[shape({{0, 1}, {1, 2}, {2, 3}, {0, 3}, {0, 2}}, 4)] = s.diamonds;
    counts[shape_of(63, 4)] = s.cliques;
    return counts;
}

/// Shapes with most edges first: from each what was counted for it inside larger ones is taken off.
Counts induced(Counts counts, unsigned size) {
    const Small all = (1U << (size * (size - 1) / 2)) - 1;
    for (unsigned edges = size * (size - 1) / 2; edges > 0; --edges) {
        for (Small graph = 0; graph <= all; ++graph) {
            if (std::popcount(graph) != static_cast<int>(edges)) continue;
            if (shape_of(graph, size) != graph) continue;
            for (Small part = 0; part < graph; ++part) {
                if ((part & graph) == part) counts[shape_of(part, size)] -= counts[graph];
            }
        }
    }
    return counts;
}

void features(const KernelNode& node, const Object& object, Features& out) {
    const auto size = static_cast<unsigned>(node.parameter("size"));
    const bool only_connected = node.parameter("connected") == 1;
    const SimpleGraph graph(std::get<GraphView>(object));
    double work = 0;
    for (std::size_t v = 0; v < graph.nodes(); ++v) {
        work += static_cast<double>(graph.degree(v)) * static_cast<double>(graph.degree(v));
    }
    if (work > most_work) {
        throw InvalidInput(
            "a graph has nodes of so many neighbours that graphlet would take too "
            "long: their squares add up to more than 1e+10; wl takes any graph");
    }
    const Counts counts = induced(subgraphs(Counter(graph).sums(size), size), size);
    for (Small which = 0; which < counts.size(); ++which) {
        if (counts[which] == 0 || (only_connected && !connected(which, size))) continue;
        out.push_back({hash_together(size, which), counts[which]});
    }
}

}  // namespace

const Leaf& graphlet_leaf() {
    static const Leaf leaf{
        .entry = {.name = "graphlet",
                  .formula = "sum over graphs u of `size` nodes of count_u(x) count_u(z)",
                  .about = "graphs by their induced subgraphs of 3 or 4 nodes, labels apart; "
                           "connected=false: those in several parts too",
                  .parameters = {whole("size", {"k"}, 3, 4, 3.0), truth("connected", true)}},
        .objects = ObjectKind::graph,
        .features = features,
    };
    return leaf;
}

}  // namespace mercer
