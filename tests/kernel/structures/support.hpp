// Shared by the tests of kernels on structures: values through the leaf's own door, random objects,
// and what every such kernel promises.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <deque>
#include <string>
#include <vector>

#include "kernel/support.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/detail/leaf.hpp"

namespace mercer::test {

inline double value(const std::string& kernel, const Object& x, const Object& z) {
    return object_value(Kernel::parse(kernel).node(), x, z);
}
inline double text_value(const std::string& kernel, std::string_view x, std::string_view z) {
    return value(kernel, Object(x), Object(z));
}

/// Letters from the front of an alphabet.
inline std::string random_text(Random& random, std::size_t length, std::string_view alphabet) {
    std::string text;
    for (std::size_t i = 0; i < length; ++i) text += alphabet[random.below(alphabet.size())];
    return text;
}
inline std::vector<std::string> random_texts(std::uint64_t seed, std::size_t count,
                                             std::size_t longest, std::string_view alphabet) {
    Random random(seed);
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
        texts.push_back(random_text(random, random.below(longest + 1), alphabet));
    }
    return texts;
}
inline std::vector<Object> objects_of(const std::vector<std::string>& texts) {
    std::vector<Object> result;
    for (const std::string& text : texts) result.emplace_back(std::string_view(text));
    return result;
}
inline std::vector<Object> objects_of(const Points& rows) {
    std::vector<Object> result;
    for (const auto& row : rows) result.emplace_back(std::span<const double>(row));
    return result;
}

/// A graph that keeps what its view shows.
struct OwnGraph {
    std::vector<std::vector<std::uint32_t>> around{};      ///< neighbours of each node
    std::vector<std::vector<std::int64_t>> edge_labels{};  ///< one each, or none at all
    std::vector<std::int64_t> labels{};
    std::vector<std::vector<double>> attributes{};

    void join(std::uint32_t v, std::uint32_t w, std::int64_t label = 0) {
        for (int end = 0; end < 2; ++end, std::swap(v, w)) {
            around[v].push_back(w);
            if (!edge_labels.empty()) edge_labels[v].push_back(label);
        }
    }
    GraphView view() {
        starts_.assign(1, 0);
        flat_.clear();
        flat_labels_.clear();
        values_.clear();
        for (std::size_t v = 0; v < around.size(); ++v) {
            flat_.insert(flat_.end(), around[v].begin(), around[v].end());
            starts_.push_back(flat_.size());
            if (edge_labels.empty()) continue;
            flat_labels_.insert(flat_labels_.end(), edge_labels[v].begin(), edge_labels[v].end());
        }
        for (const auto& own : attributes) values_.insert(values_.end(), own.begin(), own.end());
        return {.nodes = around.size(),
                .starts = starts_.data(),
                .neighbours = flat_.data(),
                .node_labels = labels,
                .edge_labels = edge_labels.empty() ? nullptr : flat_labels_.data(),
                .attributes = attributes.empty() ? 0 : attributes.front().size(),
                .values = values_.data()};
    }

    // what the view shows
    std::vector<std::size_t> starts_{};
    std::vector<std::uint32_t> flat_{};
    std::vector<std::int64_t> flat_labels_{};
    std::vector<double> values_{};
};

struct GraphChoice {
    std::size_t most_nodes = 8;
    double density = 0.4;
    int labels = 0;  ///< different ones, 0 for none
    int edge_labels = 0;
    std::size_t attributes = 0;
};
inline OwnGraph random_graph(Random& random, const GraphChoice& choice) {
    OwnGraph graph;
    const std::size_t nodes = random.below(choice.most_nodes + 1);
    graph.around.resize(nodes);
    if (choice.edge_labels > 0) graph.edge_labels.resize(nodes);
    const auto pick = [&](int count) {
        return static_cast<std::int64_t>(random.below(static_cast<std::size_t>(count)));
    };
    for (std::uint32_t v = 0; v < nodes; ++v) {
        if (choice.labels > 0) graph.labels.push_back(pick(choice.labels));
        graph.attributes.emplace_back();
        for (std::size_t a = 0; a < choice.attributes; ++a) {
            graph.attributes.back().push_back(random.normal());
        }
        for (std::uint32_t w = 0; w < v; ++w) {
            if (random.uniform() >= choice.density) continue;
            graph.join(v, w, choice.edge_labels > 0 ? pick(choice.edge_labels) : 0);
        }
    }
    return graph;
}
inline std::deque<OwnGraph> random_graphs(std::uint64_t seed, std::size_t count,
                                          const GraphChoice& choice) {
    Random random(seed);
    std::deque<OwnGraph> graphs;
    for (std::size_t i = 0; i < count; ++i) graphs.push_back(random_graph(random, choice));
    return graphs;
}
inline std::vector<Object> objects_of(std::deque<OwnGraph>& graphs) {
    std::vector<Object> result;
    for (OwnGraph& graph : graphs) result.emplace_back(graph.view());
    return result;
}

/// What every kernel on structures promises: it reads back as it is printed; it is symmetric to the
/// last bit; a pair has the same value alone, in a row of others and in any order; rules that say
/// positive definite are right for these objects.
inline void expect_kernel(const std::string& text, const std::vector<Object>& objects) {
    SCOPED_TRACE(text);
    const Kernel kernel = Kernel::parse(text);
    EXPECT_EQ(Kernel::parse(kernel.text()).text(), kernel.text());
    const KernelNode& node = kernel.node();
    const std::size_t n = objects.size();
    Matrix<double> gram(n, n);
    double size = 0;
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            gram(i, j) = object_value(node, objects[i], objects[j]);
            size = std::max(size, std::fabs(gram(i, j)));
        }
    }
    EXPECT_GT(size, 0);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) EXPECT_EQ(gram(i, j), gram(j, i)) << i << " " << j;
    }
    EXPECT_EQ(definiteness(kernel).definite, Definite::positive);
    EXPECT_GT(relative_least_eigenvalue(gram), -1e-12);
    if (node.leaf->prepare == nullptr) return;
    const auto pairs = node.leaf->prepare(node, objects);
    EXPECT_GT(pairs->pair_work(), 0);
    std::vector<std::uint32_t> columns;
    for (std::size_t j = 0; j < n; ++j) columns.push_back(static_cast<std::uint32_t>(n - 1 - j));
    std::vector<double> row(n);
    for (std::size_t i = 0; i < n; ++i) {
        pairs->row(i, *pairs, columns, row);
        for (std::size_t j = 0; j < n; ++j) EXPECT_EQ(row[j], gram(i, columns[j])) << i << " " << j;
        EXPECT_EQ(pairs->self(i), gram(i, i));
    }
}

}  // namespace mercer::test
