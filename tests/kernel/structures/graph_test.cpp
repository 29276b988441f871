// Kernels on graphs against what their definitions say, written down as plainly as possible.
#include <bit>
#include <functional>
#include <map>

#include "kernel/structures/support.hpp"

namespace mercer::test {
namespace {

using Counts = std::map<std::string, double>;

double product(const Counts& x, const Counts& z) {
    double sum = 0;
    for (const auto& [what, count] : x) {
        const auto found = z.find(what);
        if (found != z.end()) sum += count * found->second;
    }
    return sum;
}

void expect_counts(const std::string& kernel, std::deque<OwnGraph>& graphs,
                   const std::function<Counts(const OwnGraph&)>& counts) {
    SCOPED_TRACE(kernel);
    const auto objects = objects_of(graphs);
    for (std::size_t i = 0; i < graphs.size(); ++i) {
        for (std::size_t j = 0; j < graphs.size(); ++j) {
            EXPECT_EQ(value(kernel, objects[i], objects[j]),
                      product(counts(graphs[i]), counts(graphs[j])))
                << i << " " << j;
        }
    }
    expect_kernel(kernel, objects);
}

std::string name_of(const OwnGraph& graph, std::size_t v) {
    return graph.labels.empty() ? "d" + std::to_string(graph.around[v].size())
                                : "l" + std::to_string(graph.labels[v]);
}

/// The tree of walks from v, written out.
std::string unfolded(const OwnGraph& graph, std::size_t v, int height) {
    std::string text = name_of(graph, v);
    if (height == 0) return text;
    std::vector<std::string> below;
    for (std::size_t e = 0; e < graph.around[v].size(); ++e) {
        below.push_back(unfolded(graph, graph.around[v][e], height - 1));
        if (!graph.edge_labels.empty()) {
            below.back() += "/" + std::to_string(graph.edge_labels[v][e]);
        }
    }
    std::sort(below.begin(), below.end());
    for (const std::string& b : below) text += "(" + b + ")";
    return text;
}

TEST(WeisfeilerLehman, CountsUnfoldedNeighbourhoods) {
    for (const auto& choice : {GraphChoice{.labels = 2}, GraphChoice{.labels = 0},
                               GraphChoice{.labels = 2, .edge_labels = 2}}) {
        auto graphs = random_graphs(1, 10, choice);
        for (const int h : {0, 1, 3}) {
            expect_counts(
                "wl(iterations=" + std::to_string(h) + ")", graphs, [&](const OwnGraph& graph) {
                    Counts counts;
                    for (int round = 0; round <= h; ++round) {
                        for (std::size_t v = 0; v < graph.around.size(); ++v) {
                            counts[std::to_string(round) + unfolded(graph, v, round)] += 1;
                        }
                    }
                    return counts;
                });
        }
    }
}

TEST(ShortestPath, CountsLabelledDistances) {
    for (const auto& choice : {GraphChoice{.density = 0.25, .labels = 2}, GraphChoice{}}) {
        auto graphs = random_graphs(2, 10, choice);
        expect_counts("shortest_path", graphs, [](const OwnGraph& graph) {
            // Floyd and Warshall
            const std::size_t n = graph.around.size();
            std::vector<std::vector<int>> steps(n, std::vector<int>(n, 1000));
            for (std::size_t v = 0; v < n; ++v) {
                steps[v][v] = 0;
                for (const auto w : graph.around[v]) steps[v][w] = 1;
            }
            for (std::size_t k = 0; k < n; ++k) {
                for (std::size_t v = 0; v < n; ++v) {
                    for (std::size_t w = 0; w < n; ++w) {
                        steps[v][w] = std::min(steps[v][w], steps[v][k] + steps[k][w]);
                    }
                }
            }
            Counts counts;
            for (std::size_t v = 0; v < n; ++v) {
                for (std::size_t w = 0; w < n; ++w) {
                    if (v == w || steps[v][w] >= 1000) continue;
                    counts[name_of(graph, v) + "," + name_of(graph, w) + "," +
                           std::to_string(steps[v][w])] += 1;
                }
            }
            return counts;
        });
    }
}

/// The induced subgraph on some nodes, the same text for all that look alike: the least of the
/// lists of edges under all orders of the nodes; empty if not connected and only such are wanted.
std::string appearance(const OwnGraph& graph, std::vector<std::size_t> nodes, bool connected) {
    const auto joined = [&](std::size_t v, std::size_t w) {
        const auto& around = graph.around[v];
        return std::find(around.begin(), around.end(), w) != around.end();
    };
    if (connected) {
        std::vector<std::size_t> met{nodes[0]};
        for (std::size_t k = 0; k < met.size(); ++k) {
            for (const std::size_t v : nodes) {
                if (joined(met[k], v) && std::find(met.begin(), met.end(), v) == met.end()) {
                    met.push_back(v);
                }
            }
        }
        if (met.size() < nodes.size()) return "";
    }
    std::string least = "~";
    std::sort(nodes.begin(), nodes.end());
    do {
        std::string edges = "g";
        for (std::size_t a = 0; a < nodes.size(); ++a) {
            for (std::size_t b = 0; b < a; ++b) edges += joined(nodes[a], nodes[b]) ? '1' : '0';
        }
        least = std::min(least, edges);
    } while (std::next_permutation(nodes.begin(), nodes.end()));
    return least;
}

TEST(Graphlet, CountsInducedSubgraphs) {
    for (const double density : {0.3, 0.7}) {
        auto graphs = random_graphs(3, 10, {.most_nodes = 9, .density = density});
        for (const std::size_t size : {3U, 4U}) {
            for (const bool connected : {true, false}) {
                const std::string kernel = "graphlet(size=" + std::to_string(size) +
                                           ", connected=" + (connected ? "true" : "false") + ")";
                expect_counts(kernel, graphs, [&](const OwnGraph& graph) {
                    Counts counts;
                    for (unsigned mask = 0; mask < 1U << graph.around.size(); ++mask) {
                        if (std::popcount(mask) != static_cast<int>(size)) continue;
                        std::vector<std::size_t> nodes;
                        for (std::size_t v = 0; v < graph.around.size(); ++v) {
                            if ((mask >> v & 1U) != 0) nodes.push_back(v);
                        }
                        const std::string looks = appearance(graph, nodes, connected);
                        if (!looks.empty()) counts[looks] += 1;
                    }
                    return counts;
                });
            }
        }
    }
}

TEST(Graphlet, TakesLoopsRepeatedEdgesAndDirectionsForOneEdge) {
    OwnGraph plain{.around = {{1, 2}, {0}, {0}}};
    OwnGraph odd{.around = {{0, 1, 1}, {0}, {0, 0}}};
    const Object x(plain.view());
    const Object z(odd.view());
    EXPECT_EQ(value("graphlet", x, x), 1);
    EXPECT_EQ(value("graphlet", x, z), 1);
}

TEST(Propagation, BinsWhatWasSpread) {
    auto graphs = random_graphs(4, 12, {.labels = 2, .attributes = 3});
    expect_kernel("propagation(iterations=3, bin=0.5)", objects_of(graphs));
    auto plain = random_graphs(5, 12, {});
    expect_kernel("propagation", objects_of(plain));
    // With bins wider than everything all nodes of a round are alike: nodes times nodes, a round.
    auto two = random_graphs(6, 2, {.most_nodes = 9, .attributes = 2});
    const auto objects = objects_of(two);
    const double nodes = static_cast<double>(two[0].around.size() * two[1].around.size());
    ASSERT_GT(nodes, 0);
    EXPECT_EQ(value("propagation(iterations=0, bin=1e9, seed=7)", objects[0], objects[1]), nodes);
    // A graph whose nodes have the same attributes stays as it is when they are spread.
    OwnGraph one{.around = {{}}, .attributes = {{1.5}}};
    OwnGraph triangle{.around = {{1, 2}, {0, 2}, {0, 1}}, .attributes = {{1.5}, {1.5}, {1.5}}};
    const Object x(one.view());
    const Object z(triangle.view());
    EXPECT_EQ(value("propagation(iterations=3, bin=0.01)", x, z), 4 * 3);
    OwnGraph far{.around = {{}}, .attributes = {{1e300}}};
    const Object w(far.view());
    EXPECT_NE(complaint([&] { value("propagation", w, w); }).find("bin"), std::string::npos);
}

/// Walks of up to `steps` steps in both graphs at once, counted one by one.
double common_walks(const OwnGraph& x, std::size_t v, const OwnGraph& z, std::size_t w,
                    double lambda, int steps) {
    if (x.labels.empty() != z.labels.empty()) return 0;
    if (!x.labels.empty() && x.labels[v] != z.labels[w]) return 0;
    double sum = 1;
    if (steps == 0) return sum;
    for (std::size_t a = 0; a < x.around[v].size(); ++a) {
        for (std::size_t b = 0; b < z.around[w].size(); ++b) {
            const auto label = [](const OwnGraph& g, std::size_t from, std::size_t e) {
                return g.edge_labels.empty() ? 0 : g.edge_labels[from][e];
            };
            if (label(x, v, a) != label(z, w, b)) continue;
            sum += lambda * common_walks(x, x.around[v][a], z, z.around[w][b], lambda, steps - 1);
        }
    }
    return sum;
}

TEST(RandomWalk, SumsOverCommonWalks) {
    for (const auto& choice :
         {GraphChoice{.most_nodes = 4}, GraphChoice{.most_nodes = 5, .labels = 2},
          GraphChoice{.most_nodes = 5, .density = 0.7, .labels = 2, .edge_labels = 2}}) {
        auto graphs = random_graphs(7, 10, choice);
        const auto objects = objects_of(graphs);
        for (std::size_t i = 0; i < graphs.size(); ++i) {
            for (std::size_t j = 0; j < graphs.size(); ++j) {
                double want = 0;
                for (std::size_t v = 0; v < graphs[i].around.size(); ++v) {
                    for (std::size_t w = 0; w < graphs[j].around.size(); ++w) {
                        want += common_walks(graphs[i], v, graphs[j], w, 0.001, 5);
                    }
                }
                // Six steps and more add at most (16 lambda)^6 of it.
                EXPECT_NEAR(value("random_walk(lambda=0.001)", objects[i], objects[j]), want,
                            1e-10 * std::max(want, 1.0))
                    << i << " " << j;
            }
        }
        expect_kernel("random_walk(lambda=0.05)", objects);
    }
}

TEST(RandomWalk, SolvesTheEquationAndRefusesWhatDoesNotConverge) {
    // A triangle with itself: every pair of nodes has 4 neighbours, so k = 9 / (1 - 4 lambda).
    OwnGraph triangle{.around = {{1, 2}, {0, 2}, {0, 1}}};
    const Object x(triangle.view());
    EXPECT_NEAR(value("random_walk(lambda=0.24)", x, x), 9 / (1 - 0.96), 1e-10);
    EXPECT_NEAR(value("random_walk(lambda=0.2499999)", x, x), 9 / (1 - 0.9999996), 1);
    // One edge with a direction: a walk of one step in both, and none longer.
    OwnGraph arrow{.around = {{1}, {}}};
    const Object z(arrow.view());
    EXPECT_NEAR(value("random_walk(lambda=0.5)", z, z), 4 + 0.5, 1e-14);
    EXPECT_NEAR(value("random_walk(lambda=0.2)", z, x), 6 + 0.2 * 6, 1e-14);
    const std::string found = complaint([&] { value("random_walk(lambda=0.25)", x, x); });
    EXPECT_NE(found.find("below 0.25"), std::string::npos) << found;
}

TEST(RandomWalk, IsTheSameWhereTheProductIsTooLargeToBeWrittenDown) {
    // Dense graphs, where the two factors are cheaper: complete ones on n and m nodes with all
    // pairs of nodes alike have k = n m / (1 - lambda (n-1) (m-1)).
    const auto complete = [](std::uint32_t n) {
        OwnGraph graph;
        graph.around.resize(n);
        for (std::uint32_t v = 0; v < n; ++v) {
            for (std::uint32_t w = 0; w < v; ++w) graph.join(v, w);
        }
        return graph;
    };
    OwnGraph some = complete(12);
    OwnGraph more = complete(17);
    const Object x(some.view());
    const Object z(more.view());
    EXPECT_NEAR(value("random_walk(lambda=0.005)", x, z), 12 * 17 / (1 - 0.005 * 11 * 16), 1e-9);
    some.labels.assign(12, 3);
    more.labels.assign(17, 3);
    more.labels[0] = 4;  // which is like none of the others
    const Object a(some.view());
    const Object b(more.view());
    EXPECT_NEAR(value("random_walk(lambda=0.005)", a, b), 12 * 16 / (1 - 0.005 * 11 * 15), 1e-9);
}

TEST(GraphKernels, TakeEmptyGraphs) {
    OwnGraph none;
    OwnGraph some{.around = {{1}, {0}}, .labels = {1, 1}};
    const Object x(none.view());
    const Object z(some.view());
    for (const char* kernel :
         {"wl", "shortest_path", "graphlet(size=4)", "propagation", "random_walk"}) {
        EXPECT_EQ(value(kernel, x, x), 0) << kernel;
        EXPECT_EQ(value(kernel, x, z), 0) << kernel;
    }
}

TEST(GraphKernels, SayWhichGraphsAreTooLarge) {
    OwnGraph large{.around = std::vector<std::vector<std::uint32_t>>(20001)};
    const Object x(large.view());
    EXPECT_NE(complaint([&] { value("shortest_path", x, x); }).find("20001 nodes"),
              std::string::npos);
    EXPECT_NE(complaint([&] { value("random_walk", x, x); }).find("20001 nodes"),
              std::string::npos);
    EXPECT_EQ(value("wl(iterations=0)", x, x), 20001.0 * 20001.0);
}

}  // namespace
}  // namespace mercer::test
