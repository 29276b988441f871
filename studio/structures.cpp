// Rows as what they are: texts, graphs, nodes and small pictures, for the page to draw.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

#include <fmt/format.h>

#include "mercer/base/error.hpp"
#include "studio/workbench.hpp"

namespace mercer::studio {
namespace {

constexpr std::size_t shown_letters = 400;
constexpr std::size_t shown_nodes = 60;
constexpr std::size_t least_picture = 16;
constexpr std::size_t largest_picture = 4096;

/// Names that differ in their digits only, as those of pixels do, or none at all.
bool are_numbered(const std::vector<std::string>& names) {
    const auto bare = [](std::string name) {
        std::erase_if(name, [](char c) { return c >= '0' && c <= '9'; });
        return name;
    };
    return std::ranges::all_of(
        names, [&](const std::string& name) { return bare(name) == bare(names.front()); });
}

/// Side of the square pictures that rows of so many alike numbers are; 0: they are none.
std::size_t picture_side(const Dataset& data) {
    const std::size_t width = data.columns();
    if (width < least_picture || width > largest_picture || !are_numbered(data.feature_names)) {
        return 0;
    }
    const auto side = static_cast<std::size_t>(std::lround(std::sqrt(static_cast<double>(width))));
    return side * side == width ? side : 0;
}

Json text_part(std::string_view text) {
    const bool whole = text.size() <= shown_letters;
    return {{"kind", "text"}, {"text", text.substr(0, shown_letters)}, {"whole", whole}};
}

/// The nodes named, and the edges between them.
Json graph_part(const GraphView& graph, const std::vector<std::size_t>& nodes, bool whole) {
    Json labels = Json::array(), edges = Json::array();
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (!graph.node_labels.empty()) labels.push_back(graph.node_labels[nodes[i]]);
        for (const std::uint32_t other : graph.neighbours_of(nodes[i])) {
            const auto at = std::ranges::find(nodes, other) - nodes.begin();
            if (static_cast<std::size_t>(at) < nodes.size() && static_cast<std::size_t>(at) > i) {
                edges.push_back({i, at});
            }
        }
    }
    return {{"kind", "graph"},  {"nodes", nodes.size()}, {"all", graph.nodes},
            {"labels", labels}, {"edges", edges},        {"whole", whole}};
}

Json whole_graph(const GraphView& graph) {
    std::vector<std::size_t> nodes(std::min(graph.nodes, shown_nodes));
    for (std::size_t v = 0; v < nodes.size(); ++v) nodes[v] = v;
    return graph_part(graph, nodes, nodes.size() == graph.nodes);
}

/// A node with its neighbours and theirs, itself first.
Json neighbourhood(const NodeView& view) {
    std::vector<std::size_t> nodes{view.node};
    std::set<std::size_t> seen{view.node};
    for (std::size_t k = 0, round_end = 1, round = 0; round < 2 && k < nodes.size(); ++k) {
        for (const std::uint32_t other : view.graph.neighbours_of(nodes[k])) {
            if (nodes.size() < shown_nodes && seen.insert(other).second) nodes.push_back(other);
        }
        if (k + 1 == round_end) {
            round_end = nodes.size();
            ++round;
        }
    }
    Json json = graph_part(view.graph, nodes, false);
    json["kind"] = "node";
    return json;
}

}  // namespace

bool is_structured(const Dataset& data) {
    return !data.x.objects().empty() || picture_side(data) > 0;
}

Json parts_of(const Dataset& data, std::size_t row) {
    Json parts = Json::array();
    for (const ObjectColumn& column : data.x.objects()) {
        Json part = column.kind() == ObjectKind::text    ? text_part(column.text(row))
                    : column.kind() == ObjectKind::graph ? whole_graph(column.graph(row))
                                                         : neighbourhood(column.node(row));
        part["name"] = column.name();
        parts.push_back(std::move(part));
    }
    if (const std::size_t side = picture_side(data); side > 0) {
        std::vector<double> values(data.columns());
        data.x.copy_row(row, values);
        Json numbers = Json::array();
        for (const double v : values) numbers.push_back(number_of(v));
        parts.push_back({{"kind", "picture"}, {"side", side}, {"values", std::move(numbers)}});
    }
    return parts;
}

Json structures_of(const Table& table, std::size_t most) {
    Json rows = Json::array();
    for (const std::size_t i : shown_rows(table.data.size(), most)) {
        rows.push_back({{"row", i},
                        {"label", table.data.y.empty() ? "" : table.data.y.text(i)},
                        {"parts", parts_of(table.data, i)}});
    }
    return {{"table", table.number}, {"rows", rows}};
}

}  // namespace mercer::studio
