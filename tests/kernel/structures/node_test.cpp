// Kernels on the nodes of one graph against functions of its Laplacian written down by series and
// elimination.
#include <functional>

#include "kernel/structures/support.hpp"
#include "mercer/kernel/leaf/node/detail/node_functions.hpp"

namespace mercer::test {
namespace {

using Table = Matrix<double>;

/// A graph of two parts and a node alone, with weights.
struct WeightedGraph {
    explicit WeightedGraph(std::uint64_t seed, std::size_t nodes = 11, bool weighted = true) {
        Random random(seed);
        own.around.resize(nodes);
        const auto cut = static_cast<std::uint32_t>(nodes * 2 / 3);
        for (std::uint32_t v = 0; v + 1 < nodes; ++v) {
            for (std::uint32_t w = v < cut ? 0 : cut; w < v; ++w) {
                if (w + 1 == v || random.uniform() < 0.3) own.join(v, w);
            }
        }
        graph = own.view();
        if (!weighted) return;
        weights.resize(graph.ends());
        for (std::size_t v = 0; v < nodes; ++v) {
            for (std::size_t e = graph.starts[v]; e < graph.starts[v + 1]; ++e) {
                const std::size_t low = std::min<std::size_t>(v, graph.neighbours[e]);
                const std::size_t high = std::max<std::size_t>(v, graph.neighbours[e]);
                weights[e] = 0.5 + static_cast<double>((low * 7 + high * 3) % 5);
            }
        }
        graph.weights = weights.data();
    }
    std::vector<Object> nodes() const {
        std::vector<Object> result;
        for (std::size_t v = 0; v < graph.nodes; ++v) result.emplace_back(NodeView{graph, v});
        return result;
    }
    Table laplacian(bool normalised) const {
        const std::size_t n = graph.nodes;
        Table w(n, n);
        std::vector<double> degree(n, 0.0);
        for (std::size_t v = 0; v < n; ++v) {
            for (std::size_t e = graph.starts[v]; e < graph.starts[v + 1]; ++e) {
                const double weight = graph.weights == nullptr ? 1 : graph.weights[e];
                w(v, graph.neighbours[e]) = weight;
                degree[v] += weight;
            }
        }
        Table l(n, n);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) {
                if (!normalised) {
                    l(i, j) = (i == j ? degree[i] : 0) - w(i, j);
                } else if (degree[i] > 0 && degree[j] > 0) {
                    l(i, j) = (i == j ? 1 : 0) - w(i, j) / std::sqrt(degree[i] * degree[j]);
                }
            }
        }
        return l;
    }

    OwnGraph own{};
    std::vector<double> weights{};
    GraphView graph{};
};

Table product(const Table& a, const Table& b) {
    Table c(a.rows(), b.columns());
    for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t k = 0; k < b.rows(); ++k) {
            for (std::size_t j = 0; j < b.columns(); ++j) c(i, j) += a(i, k) * b(k, j);
        }
    }
    return c;
}

Table identity(std::size_t n, double value = 1) {
    Table result(n, n);
    for (std::size_t i = 0; i < n; ++i) result(i, i) = value;
    return result;
}

/// exp(−beta L): the series at beta / 2^10, squared ten times.
Table exponential(Table l, double beta) {
    const std::size_t n = l.rows();
    for (double& v : l.values()) v *= -beta / 1024;
    Table sum = identity(n);
    Table term = identity(n);
    for (int k = 1; k < 20; ++k) {
        term = product(term, l);
        for (double& v : term.values()) v /= k;
        for (std::size_t e = 0; e < n * n; ++e) sum.values()[e] += term.values()[e];
    }
    for (int k = 0; k < 10; ++k) sum = product(sum, sum);
    return sum;
}

/// (I + beta L)⁻¹ by elimination.
Table inverse(const Table& l, double beta) {
    const std::size_t n = l.rows();
    Table a = identity(n);
    for (std::size_t e = 0; e < n * n; ++e) a.values()[e] += beta * l.values()[e];
    Table b = identity(n);
    for (std::size_t p = 0; p < n; ++p) {
        for (std::size_t i = 0; i < n; ++i) {
            if (i == p) continue;
            const double factor = a(i, p) / a(p, p);
            for (std::size_t j = 0; j < n; ++j) {
                a(i, j) -= factor * a(p, j);
                b(i, j) -= factor * b(p, j);
            }
        }
    }
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) b(i, j) /= a(i, i);
    }
    return b;
}

void expect_table(const std::string& kernel, const WeightedGraph& graph, const Table& expected) {
    SCOPED_TRACE(kernel);
    const std::vector<Object> nodes = graph.nodes();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        for (std::size_t j = 0; j < nodes.size(); ++j) {
            EXPECT_NEAR(value(kernel, nodes[i], nodes[j]), expected(i, j),
                        1e-12 * (1 + std::fabs(expected(i, j))))
                << i << " " << j;
        }
    }
    expect_kernel(kernel, nodes);
}

TEST(Nodes, AreFunctionsOfTheLaplacian) {
    for (const bool weighted : {false, true}) {
        const WeightedGraph graph(1, 11, weighted);
        for (const bool normalised : {false, true}) {
            const Table l = graph.laplacian(normalised);
            const std::string tail = normalised ? ", laplacian=normalized)" : ")";
            expect_table("diffusion(beta=0.7" + tail, graph, exponential(l, 0.7));
            expect_table("regularized_laplacian(beta=0.7" + tail, graph, inverse(l, 0.7));
        }
        const Table l = graph.laplacian(true);
        Table step = identity(l.rows(), 2.5);
        for (std::size_t e = 0; e < l.values().size(); ++e) step.values()[e] -= l.values()[e];
        expect_table("p_step(a=2.5, p=3)", graph, product(product(step, step), step));
    }
}

TEST(Nodes, PolynomialsGiveWhatTheDecompositionDoes) {
    const WeightedGraph graph(2, 60);
    const std::vector<Object> nodes = graph.nodes();
    const double beta = 1.3;
    for (const bool normalised : {false, true}) {
        const leaves::NodeRule rule{
            .key = "test",
            .normalised = normalised,
            .value = [&](double v) { return std::exp(-beta * v); },
            .slopes = {{"beta", [&](double v) { return -v * std::exp(-beta * v); }}}};
        const auto whole = leaves::node_pairs(rule, nodes);
        const auto series = leaves::node_pairs(rule, nodes, 5);
        std::vector<std::uint32_t> columns;
        for (std::uint32_t j = 0; j < nodes.size(); ++j) columns.push_back(j);
        std::vector<double> a(nodes.size());
        std::vector<double> b(nodes.size());
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            whole->row(i, *whole, columns, a);
            series->row(i, *series, columns, b);
            for (std::size_t j = 0; j < a.size(); ++j) EXPECT_NEAR(a[j], b[j], 1e-13);
            whole->slope_row("beta", i, *whole, columns, a);
            series->slope_row("beta", i, *series, columns, b);
            for (std::size_t j = 0; j < a.size(); ++j) EXPECT_NEAR(a[j], b[j], 1e-12);
            for (std::uint32_t j = 0; j < nodes.size(); ++j) {
                const auto back = static_cast<std::uint32_t>(i);
                double there = 0;
                double here = 0;
                series->row(i, *series, {&j, 1}, {&here, 1});
                series->row(j, *series, {&back, 1}, {&there, 1});
                EXPECT_EQ(here, there);
            }
        }
    }
}

TEST(Nodes, OfOtherGraphsAreRefused) {
    const WeightedGraph a(3);
    const WeightedGraph b(4);
    const WeightedGraph same(3);
    EXPECT_THROW(value("diffusion(beta=1)", a.nodes()[0], b.nodes()[1]), InvalidInput);
    EXPECT_EQ(value("diffusion(beta=1)", a.nodes()[0], same.nodes()[1]),
              value("diffusion(beta=1)", a.nodes()[0], a.nodes()[1]));
    EXPECT_EQ(definiteness(Kernel::parse("p_step(a=1.5, p=3)")).definite, Definite::unknown);
    EXPECT_EQ(definiteness(Kernel::parse("p_step(a=1.5, p=4)")).definite, Definite::positive);
}

/// Sparse graphs of some hundred nodes go by polynomials: (I + beta L) of its inverse is I, and
/// heat that flows twice is heat of twice the time.
TEST(Nodes, OfMiddlingPartsSatisfyTheirEquations) {
    constexpr std::size_t n = 600;
    OwnGraph ring;
    ring.around.resize(n);
    for (std::uint32_t v = 0; v < n; ++v) {
        ring.join(v, (v + 1) % n);
        ring.join(v, (v + 37) % n);
    }
    const GraphView graph = ring.view();
    std::vector<Object> nodes;
    std::vector<std::uint32_t> all;
    for (std::uint32_t v = 0; v < n; ++v) {
        nodes.emplace_back(NodeView{graph, v});
        all.push_back(v);
    }
    const auto matrix = [&](const std::string& text) {
        const KernelNode node = Kernel::parse(text).node();
        const auto pairs = node.leaf->prepare(node, nodes);
        Table k(n, n);
        for (std::size_t i = 0; i < n; ++i) pairs->row(i, *pairs, all, k.row(i));
        return k;
    };
    const Table inverse = matrix("regularized_laplacian(beta=0.7)");
    const Table once = matrix("diffusion(beta=0.4)");
    const Table twice = matrix("diffusion(beta=0.8)");
    const Table squared = product(once, once);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            double back = (1 + 0.7 * 4) * inverse(i, j);
            for (const std::uint32_t w : graph.neighbours_of(i)) back -= 0.7 * inverse(w, j);
            ASSERT_NEAR(back, i == j ? 1 : 0, 1e-12);
            ASSERT_NEAR(squared(i, j), twice(i, j), 1e-12);
            ASSERT_EQ(twice(i, j), twice(j, i));
        }
    }
}

}  // namespace
}  // namespace mercer::test
