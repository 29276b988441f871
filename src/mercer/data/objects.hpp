// Columns of texts, graphs or nodes of one graph, which stand beside the numbers of Rows.
//
//   auto column = ObjectColumn::texts("sequence", {"ACGT", "ACCA"});
//   Rows rows = Rows().with_objects({column});
//   rows.objects().front().text(1);        // "ACCA"
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/object.hpp"

namespace mercer MERCER_API {

/// Texts one after another: text i is bytes[starts[i]] … bytes[starts[i+1]-1].
struct Texts {
    std::vector<std::size_t> starts{0};
    std::string bytes{};

    std::size_t size() const { return starts.size() - 1; }
    std::string_view text(std::size_t i) const {
        return std::string_view(bytes).substr(starts[i], starts[i + 1] - starts[i]);
    }
    void push_back(std::string_view text);
};

/// Graphs one after another, as GraphView shows each. Labels and attributes are there for all nodes
/// of all graphs or for none.
struct Graphs {
    std::vector<std::size_t> first_node{0};   ///< graph g has the nodes first_node[g] …
    std::vector<std::size_t> starts{0};       ///< one per node and one more, over all graphs
    std::vector<std::uint32_t> neighbours{};  ///< counted from the first node of the graph
    std::vector<std::int64_t> node_labels{};
    std::vector<std::int64_t> edge_labels{};  ///< one per entry of neighbours
    std::size_t attributes = 0;
    std::vector<double> values{};
    std::vector<double> weights{};  ///< one an entry of neighbours, or none: all 1

    std::size_t size() const { return first_node.size() - 1; }
    GraphView view(std::size_t g) const;

    /// One more, copied. Throws InvalidInput when it has labels or attributes and those before have
    /// not, or the other way round.
    void push_back(const GraphView& graph);

    /// Throws InvalidInput when the parts disagree or a neighbour is not there.
    void check() const;

    friend bool operator==(const Graphs&, const Graphs&) = default;
};

struct Edge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    std::int64_t label = 0;
};
/// One undirected graph with weights of its edges, which must be finite and above 0; those of an
/// edge that is given several times are added. Loops count for nothing.
struct WeightedEdge {
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    double weight = 1;
};
Graphs weighted_graph_of(std::size_t nodes, std::span<const WeightedEdge> edges);
/// One undirected graph from its edges, each given once or from both ends; loops and repeats count
/// once. Throws InvalidInput for an edge to a node that is not there.
Graphs graph_of(std::size_t nodes, std::span<const Edge> edges, bool edges_have_labels = false,
                std::vector<std::int64_t> node_labels = {}, std::vector<double> values = {});

/// One text, graph or node for each row, under a name. A value: immutable, cheap to copy and to
/// select from, because all share the objects.
class ObjectColumn {
   public:
    static ObjectColumn texts(std::string name, const std::vector<std::string>& texts);
    static ObjectColumn texts(std::string name, Texts texts);
    /// Throws InvalidInput unless the graphs pass their check.
    static ObjectColumn graphs(std::string name, Graphs graphs);
    /// Row i is node nodes[i] of the one graph. Throws InvalidInput for a node that is not there.
    static ObjectColumn nodes(std::string name, Graphs graph, std::vector<std::size_t> nodes);

    const std::string& name() const { return name_; }
    ObjectKind kind() const {
        return texts_ ? ObjectKind::text : nodes_ ? ObjectKind::node : ObjectKind::graph;
    }
    std::size_t size() const;
    std::size_t bytes() const;  ///< memory held by the objects of these rows

    /// Those of the one kind that `kind` says.
    std::string_view text(std::size_t i) const;
    GraphView graph(std::size_t i) const;
    NodeView node(std::size_t i) const;
    Object at(std::size_t i) const;

    ObjectColumn select(std::span<const std::size_t> positions) const;
    ObjectColumn named(std::string name) const;
    /// The objects of these rows alone, one after another, for those who write them down.
    Texts own_texts() const;
    Graphs own_graphs() const;
    /// Of a column of nodes: the one graph, and which nodes of it these rows are.
    const Graphs& shared_graph() const { return *graphs_; }
    std::vector<std::size_t> own_nodes() const;

   private:
    std::size_t place(std::size_t i) const;

    std::string name_{};
    std::shared_ptr<const Texts> texts_{};
    std::shared_ptr<const Graphs> graphs_{};
    bool nodes_ = false;  ///< the positions are nodes of the one graph
    /// Which of the objects; null: all of them in order.
    std::shared_ptr<const std::vector<std::size_t>> positions_{};
};

/// The objects of a, then those of b, which must be of one kind.
ObjectColumn concatenate(const ObjectColumn& a, const ObjectColumn& b);

}  // namespace mercer
