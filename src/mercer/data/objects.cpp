#include "mercer/data/objects.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/base/error.hpp"

namespace mercer {

void Texts::push_back(std::string_view text) {
    bytes += text;
    starts.push_back(bytes.size());
}

GraphView Graphs::view(std::size_t g) const {
    const std::size_t first = first_node.at(g);
    const std::size_t nodes = first_node.at(g + 1) - first;
    GraphView view{
        .nodes = nodes, .starts = starts.data() + first, .neighbours = neighbours.data()};
    if (!node_labels.empty()) view.node_labels = std::span(node_labels).subspan(first, nodes);
    if (!edge_labels.empty()) view.edge_labels = edge_labels.data();
    view.attributes = attributes;
    if (attributes > 0) view.values = values.data() + first * attributes;
    if (!weights.empty()) view.weights = weights.data();
    return view;
}

void Graphs::push_back(const GraphView& graph) {
    const bool first = size() == 0;
    const bool labelled = !graph.node_labels.empty();
    // A graph without nodes has room for labels that others have.
    if (!first && graph.nodes > 0 && first_node.back() > 0 &&
        (labelled != !node_labels.empty() || graph.attributes != attributes)) {
        throw InvalidInput("graph " + std::to_string(size() + 1) +
                           " has node labels or attributes where those before it have none, or the "
                           "other way round");
    }
    if (first || first_node.back() == 0) attributes = graph.attributes;
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        const auto row = graph.neighbours_of(v);
        neighbours.insert(neighbours.end(), row.begin(), row.end());
        if (graph.edge_labels != nullptr) {
            const auto* labels = graph.edge_labels + graph.starts[v];
            edge_labels.insert(edge_labels.end(), labels, labels + row.size());
        }
        if (graph.weights != nullptr) {
            const auto* own = graph.weights + graph.starts[v];
            weights.insert(weights.end(), own, own + row.size());
        }
        starts.push_back(neighbours.size());
    }
    if (!weights.empty() && weights.size() != neighbours.size()) {
        throw InvalidInput("graph " + std::to_string(size() + 1) +
                           " has weights of edges where those before it have none, or the other "
                           "way round");
    }
    if (!edge_labels.empty() && edge_labels.size() != neighbours.size()) {
        throw InvalidInput("graph " + std::to_string(size() + 1) +
                           " has edge labels where those before it have none, or the other way "
                           "round");
    }
    node_labels.insert(node_labels.end(), graph.node_labels.begin(), graph.node_labels.end());
    values.insert(values.end(), graph.values, graph.values + graph.nodes * graph.attributes);
    first_node.push_back(first_node.back() + graph.nodes);
}

void Graphs::check() const {
    const auto require = [](bool holds, const std::string& message) {
        if (!holds) throw InvalidInput(message);
    };
    require(!first_node.empty() && first_node.front() == 0 && std::ranges::is_sorted(first_node) &&
                starts.size() == first_node.back() + 1,
            "graphs: the first nodes must ascend from 0 to the number of nodes");
    require(
        starts.front() == 0 && std::ranges::is_sorted(starts) && starts.back() == neighbours.size(),
        "graphs: the starts must ascend from 0 to the number of neighbours");
    const std::size_t nodes = first_node.back();
    require(node_labels.empty() || node_labels.size() == nodes,
            "graphs: " + std::to_string(node_labels.size()) + " node labels for " +
                std::to_string(nodes) + " nodes");
    require(edge_labels.empty() || edge_labels.size() == neighbours.size(),
            "graphs: " + std::to_string(edge_labels.size()) + " edge labels for " +
                std::to_string(neighbours.size()) + " ends of edges");
    require(weights.empty() || weights.size() == neighbours.size(),
            "graphs: " + std::to_string(weights.size()) + " weights for " +
                std::to_string(neighbours.size()) + " ends of edges");
    require(std::ranges::all_of(weights, [](double w) { return std::isfinite(w) && w > 0; }),
            "graphs: weights of edges must be finite and above 0");
    require(attributes < values.size() + 1 && values.size() == nodes * attributes,
            "graphs: " + std::to_string(values.size()) + " numbers do not make " +
                std::to_string(attributes) + " for each of " + std::to_string(nodes) + " nodes");
    for (std::size_t g = 0; g < size(); ++g) {
        const std::size_t count = first_node[g + 1] - first_node[g];
        const std::size_t begin = starts[first_node[g]];
        const std::size_t end = starts[first_node[g + 1]];
        for (std::size_t k = begin; k < end; ++k) {
            require(neighbours[k] < count,
                    "graph " + std::to_string(g + 1) + " has an edge to node " +
                        std::to_string(neighbours[k] + 1) + " of " + std::to_string(count));
        }
    }
}

namespace {

void require_edge(std::uint32_t from, std::uint32_t to, std::size_t nodes) {
    if (from < nodes && to < nodes) return;
    throw InvalidInput("an edge between nodes " + std::to_string(from) + " and " +
                       std::to_string(to) + " of a graph of " + std::to_string(nodes) +
                       " nodes, counted from 0");
}

/// What stands at the two ends of edges, those of a node side by side: (neighbour, value), sorted.
/// Loops are left out.
template <class T>
struct Ends {
    std::vector<std::size_t> starts;
    std::vector<std::pair<std::uint32_t, T>> list{};

    template <class E>
    Ends(std::size_t nodes, std::span<const E> edges, T E::*value) : starts(nodes + 1, 0) {
        for (const E& edge : edges) {
            require_edge(edge.from, edge.to, nodes);
            if (edge.from == edge.to) continue;
            ++starts[edge.from];
            ++starts[edge.to];
        }
        std::size_t sum = 0;
        for (std::size_t& start : starts) sum += std::exchange(start, sum);
        list.resize(sum);
        std::vector<std::size_t> next = starts;
        for (const E& edge : edges) {
            if (edge.from == edge.to) continue;
            list[next[edge.from]++] = {edge.to, edge.*value};
            list[next[edge.to]++] = {edge.from, edge.*value};
        }
        for (std::size_t v = 0; v < nodes; ++v) std::ranges::sort(of(v));
    }

    std::span<std::pair<std::uint32_t, T>> of(std::size_t v) {
        return std::span(list).subspan(starts[v], starts[v + 1] - starts[v]);
    }
};

}  // namespace

Graphs graph_of(std::size_t nodes, std::span<const Edge> edges, bool edges_have_labels,
                std::vector<std::int64_t> node_labels, std::vector<double> values) {
    Ends<std::int64_t> ends(nodes, edges, &Edge::label);
    Graphs result;
    result.neighbours.reserve(ends.list.size());
    result.starts.reserve(nodes + 1);
    for (std::size_t v = 0; v < nodes; ++v) {
        for (const auto& [node, label] : ends.of(v)) {
            if (result.neighbours.size() > result.starts.back() && result.neighbours.back() == node)
                continue;
            result.neighbours.push_back(node);
            if (edges_have_labels) result.edge_labels.push_back(label);
        }
        result.starts.push_back(result.neighbours.size());
    }
    result.first_node.push_back(nodes);
    result.node_labels = std::move(node_labels);
    result.attributes = nodes == 0 ? 0 : values.size() / nodes;
    result.values = std::move(values);
    result.check();
    return result;
}

Graphs weighted_graph_of(std::size_t nodes, std::span<const WeightedEdge> edges) {
    Ends<double> ends(nodes, edges, &WeightedEdge::weight);
    Graphs result;
    for (std::size_t v = 0; v < nodes; ++v) {
        // Those of one edge are added in the order of their size, the same from either end.
        const auto list = ends.of(v);
        for (std::size_t k = 0; k < list.size(); ++k) {
            if (k > 0 && list[k].first == list[k - 1].first) {
                result.weights.back() += list[k].second;
                continue;
            }
            result.neighbours.push_back(list[k].first);
            result.weights.push_back(list[k].second);
        }
        result.starts.push_back(result.neighbours.size());
    }
    result.first_node.push_back(nodes);
    const bool all_one = std::ranges::all_of(result.weights, [](double w) { return w == 1; });
    if (all_one) result.weights.clear();
    result.check();
    return result;
}

ObjectColumn ObjectColumn::texts(std::string name, const std::vector<std::string>& texts) {
    Texts packed;
    for (const std::string& text : texts) packed.push_back(text);
    return ObjectColumn::texts(std::move(name), std::move(packed));
}

ObjectColumn ObjectColumn::texts(std::string name, Texts texts) {
    if (texts.starts.empty() || texts.starts.front() != 0 ||
        !std::ranges::is_sorted(texts.starts) || texts.starts.back() != texts.bytes.size()) {
        throw InvalidInput("texts: the starts must ascend from 0 to the number of bytes");
    }
    ObjectColumn column;
    column.name_ = std::move(name);
    column.texts_ = std::make_shared<const Texts>(std::move(texts));
    return column;
}

ObjectColumn ObjectColumn::graphs(std::string name, Graphs graphs) {
    graphs.check();
    ObjectColumn column;
    column.name_ = std::move(name);
    column.graphs_ = std::make_shared<const Graphs>(std::move(graphs));
    return column;
}

ObjectColumn ObjectColumn::nodes(std::string name, Graphs graph, std::vector<std::size_t> nodes) {
    graph.check();
    if (graph.size() != 1) {
        throw InvalidInput("nodes are those of one graph, not of " + std::to_string(graph.size()));
    }
    for (const std::size_t node : nodes) {
        if (node < graph.first_node.back()) continue;
        throw InvalidInput("there is no node " + std::to_string(node) + " in a graph of " +
                           std::to_string(graph.first_node.back()) + " nodes, counted from 0");
    }
    ObjectColumn column;
    column.name_ = std::move(name);
    column.graphs_ = std::make_shared<const Graphs>(std::move(graph));
    column.nodes_ = true;
    column.positions_ = std::make_shared<const std::vector<std::size_t>>(std::move(nodes));
    return column;
}

std::size_t ObjectColumn::size() const {
    if (positions_) return positions_->size();
    return texts_ ? texts_->size() : graphs_ ? graphs_->size() : 0;
}

std::size_t ObjectColumn::place(std::size_t i) const {
    return positions_ ? positions_->at(i) : i;
}

std::string_view ObjectColumn::text(std::size_t i) const {
    return texts_->text(place(i));
}

GraphView ObjectColumn::graph(std::size_t i) const {
    return graphs_->view(place(i));
}

NodeView ObjectColumn::node(std::size_t i) const {
    return {graphs_->view(0), place(i)};
}

Object ObjectColumn::at(std::size_t i) const {
    return texts_ ? Object(text(i)) : nodes_ ? Object(node(i)) : Object(graph(i));
}

namespace {

std::size_t bytes_of(const GraphView& view) {
    const std::size_t labels = (view.node_labels.empty() ? 0 : view.nodes) +
                               (view.edge_labels == nullptr ? 0 : view.ends());
    const std::size_t numbers =
        view.nodes * view.attributes + (view.weights == nullptr ? 0 : view.ends());
    return view.ends() * sizeof(std::uint32_t) + view.nodes * sizeof(std::size_t) +
           labels * sizeof(std::int64_t) + numbers * sizeof(double);
}

}  // namespace

std::size_t ObjectColumn::bytes() const {
    if (nodes_) return bytes_of(graphs_->view(0)) + size() * sizeof(std::size_t);
    std::size_t sum = 0;
    for (std::size_t i = 0; i < size(); ++i) {
        sum += texts_ ? text(i).size() : bytes_of(graph(i));
    }
    return sum;
}

ObjectColumn ObjectColumn::select(std::span<const std::size_t> positions) const {
    std::vector<std::size_t> chosen(positions.size());
    for (std::size_t i = 0; i < positions.size(); ++i) {
        if (positions[i] >= size()) {
            throw InvalidInput("row " + std::to_string(positions[i]) +
                               " is not there: positions count from 0 and must be below " +
                               std::to_string(size()));
        }
        chosen[i] = place(positions[i]);
    }
    ObjectColumn result = *this;
    result.positions_ = std::make_shared<const std::vector<std::size_t>>(std::move(chosen));
    return result;
}

ObjectColumn ObjectColumn::named(std::string name) const {
    ObjectColumn result = *this;
    result.name_ = std::move(name);
    return result;
}

Texts ObjectColumn::own_texts() const {
    Texts result;
    for (std::size_t i = 0; i < size(); ++i) result.push_back(text(i));
    return result;
}

Graphs ObjectColumn::own_graphs() const {
    Graphs result;
    for (std::size_t i = 0; i < size(); ++i) result.push_back(graph(i));
    return result;
}

std::vector<std::size_t> ObjectColumn::own_nodes() const {
    return positions_ ? *positions_ : std::vector<std::size_t>();
}

ObjectColumn concatenate(const ObjectColumn& a, const ObjectColumn& b) {
    if (a.kind() != b.kind()) {
        throw InvalidInput("the column '" + a.name() + "' holds " +
                           std::string(object_words.word(a.kind())) + " in one set of rows and " +
                           std::string(object_words.word(b.kind())) + " in the other");
    }
    if (a.kind() == ObjectKind::text) {
        Texts all = a.own_texts();
        for (std::size_t i = 0; i < b.size(); ++i) all.push_back(b.text(i));
        return ObjectColumn::texts(a.name(), std::move(all));
    }
    if (a.kind() == ObjectKind::node) {
        if (!(a.shared_graph() == b.shared_graph())) {
            throw InvalidInput("the column '" + a.name() +
                               "' holds nodes of different graphs in the two sets of rows");
        }
        std::vector<std::size_t> nodes = a.own_nodes();
        const std::vector<std::size_t> more = b.own_nodes();
        nodes.insert(nodes.end(), more.begin(), more.end());
        return ObjectColumn::nodes(a.name(), a.shared_graph(), std::move(nodes));
    }
    Graphs all = a.own_graphs();
    for (std::size_t i = 0; i < b.size(); ++i) all.push_back(b.graph(i));
    return ObjectColumn::graphs(a.name(), std::move(all));
}

}  // namespace mercer
