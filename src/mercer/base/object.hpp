// What a row may be beside numbers: a text, a graph, or one node of a graph that all rows share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "mercer/base/export.hpp"
#include "mercer/base/words.hpp"

namespace mercer MERCER_API {

/// An undirected graph that somebody else keeps. Node v has the neighbours neighbours[starts[v]] …
/// neighbours[starts[v+1]-1]; every edge stands there twice, once from each end. Edges of a graph
/// that is directed stand there once.
struct GraphView {
    std::size_t nodes = 0;
    const std::size_t* starts = nullptr;  ///< nodes + 1 of them
    const std::uint32_t* neighbours = nullptr;
    std::span<const std::int64_t> node_labels{};  ///< one per node, or none
    const std::int64_t* edge_labels = nullptr;    ///< one per entry of neighbours, or null
    std::size_t attributes = 0;                   ///< numbers per node
    const double* values = nullptr;               ///< the attributes, node by node
    const double* weights = nullptr;              ///< one an entry of neighbours, or null: all 1

    std::span<const std::uint32_t> neighbours_of(std::size_t v) const {
        return {neighbours + starts[v], starts[v + 1] - starts[v]};
    }
    std::span<const double> attributes_of(std::size_t v) const {
        return {values + v * attributes, attributes};
    }
    /// Entries of neighbours: twice the number of edges.
    std::size_t ends() const { return nodes == 0 ? 0 : starts[nodes] - starts[0]; }
};

/// A node of a graph, which knows the whole of it.
struct NodeView {
    GraphView graph{};
    std::size_t node = 0;
};

enum class ObjectKind { numbers, text, graph, node };
constexpr Words object_words{
    std::pair{ObjectKind::numbers, "numbers"}, std::pair{ObjectKind::text, "text"},
    std::pair{ObjectKind::graph, "graph"}, std::pair{ObjectKind::node, "node"}};

/// One of them, kept by somebody else. The order is that of ObjectKind.
using Object = std::variant<std::span<const double>, std::string_view, GraphView, NodeView>;

/// A column of them, by name.
struct ObjectName {
    std::string name{};
    ObjectKind kind = ObjectKind::text;

    friend bool operator==(const ObjectName&, const ObjectName&) = default;
};

inline ObjectKind kind_of(const Object& object) {
    return static_cast<ObjectKind>(object.index());
}

}  // namespace mercer
