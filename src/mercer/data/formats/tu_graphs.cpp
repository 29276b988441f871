// Graphs as TUDataset has them [Morris et al. 2020]: a folder with NAME_A.txt, the edges of all
// graphs as pairs of nodes counted from 1, and beside it, a line for each node, edge or graph,
// NAME_graph_indicator.txt, NAME_graph_labels.txt, NAME_node_labels.txt, NAME_edge_labels.txt and
// NAME_node_attributes.txt.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {
namespace {

namespace fs = std::filesystem;

/// The file of this name, compressed or not; empty when there is none.
std::string present(const std::string& folder, const std::string& name) {
    std::error_code error;
    for (const char* packed : {"", ".gz"}) {
        const fs::path path = fs::path(folder) / (name + packed);
        if (fs::exists(path, error)) return path.string();
    }
    return {};
}

/// The prefix NAME of a folder like this, or empty.
std::string prefix_of(const std::string& path) {
    std::error_code error;
    std::string found;
    for (const fs::directory_entry& entry : fs::directory_iterator(path, error)) {
        std::string name = entry.path().filename().string();
        if (name.ends_with(".gz")) name.resize(name.size() - 3);
        constexpr std::string_view ending = "_A.txt";
        if (!name.ends_with(ending)) continue;
        const std::string prefix = name.substr(0, name.size() - ending.size());
        if (!present(path, prefix + "_graph_indicator.txt").empty() &&
            (found.empty() || prefix < found)) {
            found = prefix;
        }
    }
    return found;
}

/// Numbers line by line, separated by commas or blanks; each line has `width` of them, or as many
/// as the first when that is 0.
struct Table {
    std::size_t width = 0;
    std::vector<double> values{};

    std::size_t lines() const { return width == 0 ? 0 : values.size() / width; }
};

Table read_numbers(const std::string& path, std::size_t width) {
    const Content content = read_bytes(path);
    const std::string_view text = content.view();
    Table table{.width = width};
    std::size_t line = 0;
    for (std::size_t at = 0; at < text.size();) {
        const std::size_t end = std::min(text.find('\n', at), text.size());
        std::string_view rest = text.substr(at, end - at);
        const auto mistake = [&](const std::string& message) {
            throw InvalidInput(Location{.file = path, .line = line}, message);
        };
        ++line;
        at = end + 1;
        std::size_t count = 0;
        for (;;) {
            rest.remove_prefix(std::min(rest.find_first_not_of(" \t\r,"), rest.size()));
            if (rest.empty()) break;
            const std::size_t size = std::min(rest.find_first_of(" \t\r,"), rest.size());
            const auto number = parse_number(rest.substr(0, size));
            if (!number || !std::isfinite(*number)) {
                mistake("found " + quoted(rest.substr(0, size)) + ", expected a number");
            }
            table.values.push_back(*number);
            rest.remove_prefix(size);
            ++count;
        }
        if (count == 0) continue;
        if (table.width == 0) table.width = count;
        if (count != table.width) {
            mistake("found " + std::to_string(count) + " numbers, expected " +
                    std::to_string(table.width));
        }
    }
    return table;
}

class Reader {
   public:
    explicit Reader(const Input& input) : input_(input), prefix_(prefix_of(input.path)) {
        if (prefix_.empty()) {
            fail(input, "holds no graphs: expected NAME_A.txt and NAME_graph_indicator.txt");
        }
    }

    Dataset read() {
        place_nodes();
        read_edges();
        Dataset data;
        data.x = Rows().with_objects({ObjectColumn::graphs("graph", build())});
        if (const auto labels = optional("graph_labels", 1)) {
            data.y.values = labels->values;
        } else if (const auto targets = optional("graph_attributes", 1)) {
            data.y.values = targets->values;
        }
        need(data.y.empty() || data.y.size() == graphs_, "graph_labels",
             std::to_string(data.y.size()) + " labels for " + std::to_string(graphs_) + " graphs");
        return data;
    }

   private:
    std::string file(const std::string& what) const {
        const std::string name = prefix_ + "_" + what + ".txt";
        const std::string found = present(input_.path, name);
        return found.empty() ? (fs::path(input_.path) / name).string() : found;
    }
    std::optional<Table> optional(const std::string& what, std::size_t width) const {
        if (present(input_.path, prefix_ + "_" + what + ".txt").empty()) return std::nullopt;
        return read_numbers(file(what), width);
    }
    void need(bool holds, const std::string& what, const std::string& message) const {
        if (!holds) throw InvalidInput(Location{.file = file(what)}, message);
    }
    static bool is_count(double value, std::size_t most) {
        return value >= 1 && value <= static_cast<double>(most) && value == std::floor(value);
    }

    /// Nodes of a graph stand together, graphs in order.
    void place_nodes() {
        const Table indicator = read_numbers(file("graph_indicator"), 1);
        graph_of_.reserve(indicator.lines());
        for (const double value : indicator.values) {
            need(is_count(value, indicator.lines()) &&
                     static_cast<std::size_t>(value) >= std::max<std::size_t>(graphs_, 1),
                 "graph_indicator",
                 "found " + format_number(value) +
                     ", expected the number of a graph, from 1 and ascending");
            // A graph without nodes is named nowhere but by its absence.
            while (graphs_ < static_cast<std::size_t>(value)) {
                first_node_.push_back(graph_of_.size());
                ++graphs_;
            }
            graph_of_.push_back(graphs_ - 1);
        }
        need(graphs_ > 0, "graph_indicator", "holds no nodes");
        first_node_.push_back(graph_of_.size());
    }

    void read_edges() {
        const Table pairs = read_numbers(file("A"), 2);
        const auto labels = optional("edge_labels", 1);
        labelled_ = labels.has_value();
        need(!labels || labels->lines() == pairs.lines(), "edge_labels",
             "has another number of lines than the file of edges");
        edges_.resize(graphs_);
        for (std::size_t k = 0; k < pairs.lines(); ++k) {
            const double a = pairs.values[2 * k];
            const double b = pairs.values[2 * k + 1];
            need(is_count(a, graph_of_.size()) && is_count(b, graph_of_.size()), "A",
                 "edge " + std::to_string(k + 1) + " is between " + format_number(a) + " and " +
                     format_number(b) + ", expected nodes from 1 to " +
                     std::to_string(graph_of_.size()));
            const auto from = static_cast<std::size_t>(a) - 1;
            const auto to = static_cast<std::size_t>(b) - 1;
            const std::size_t g = graph_of_[from];
            need(graph_of_[to] == g, "A",
                 "edge " + std::to_string(k + 1) + " is between nodes of different graphs");
            edges_[g].push_back({static_cast<std::uint32_t>(from - first_node_[g]),
                                 static_cast<std::uint32_t>(to - first_node_[g]),
                                 labels ? whole(labels->values[k], "edge_labels") : 0});
        }
    }

    std::int64_t whole(double value, const char* what) const {
        need(std::abs(value) < 9e15 && value == std::floor(value), what,
             "found " + format_number(value) + ", expected a whole number as a label");
        return static_cast<std::int64_t>(value);
    }

    Graphs build() const {
        const auto labels = optional("node_labels", 0);
        const auto attributes = optional("node_attributes", 0);
        need(!labels || labels->lines() == graph_of_.size(), "node_labels",
             "has another number of lines than there are nodes");
        need(!attributes || attributes->lines() == graph_of_.size(), "node_attributes",
             "has another number of lines than there are nodes");
        Graphs all;
        for (std::size_t g = 0; g < graphs_; ++g) {
            const std::size_t first = first_node_[g];
            const std::size_t last = first_node_[g + 1];
            std::vector<std::int64_t> names;
            std::vector<double> values;
            for (std::size_t v = first; v < last; ++v) {
                // Of several labels a node the first is its label.
                if (labels)
                    names.push_back(whole(labels->values[v * labels->width], "node_labels"));
                for (std::size_t k = 0; attributes && k < attributes->width; ++k) {
                    values.push_back(attributes->values[v * attributes->width + k]);
                }
            }
            const Graphs one =
                graph_of(last - first, edges_[g], labelled_, std::move(names), std::move(values));
            all.push_back(one.view(0));
        }
        return all;
    }

    const Input& input_;
    std::string prefix_;
    std::size_t graphs_ = 0;
    std::vector<std::size_t> graph_of_{};  ///< one a node
    std::vector<std::size_t> first_node_{};
    std::vector<std::vector<Edge>> edges_{};
    bool labelled_ = false;
};

void write_file(const std::string& folder, const std::string& name, const char* what,
                const std::string& text) {
    write_whole((fs::path(folder) / (name + "_" + what + ".txt")).string(),
                [&](Output& output) { output.write(text); });
}

std::string lines_of(std::span<const std::int64_t> numbers) {
    std::string text;
    for (const std::int64_t number : numbers) text += std::to_string(number) + '\n';
    return text;
}

/// Nodes of all graphs are counted from 1; an edge stands there from both ends.
void write_files(const Dataset& data, const std::string& name, const std::string& folder) {
    if (data.columns() > 0 || data.x.objects().size() != 1) {
        throw InvalidInput("TU graphs hold one column of graphs and no numbers beside them");
    }
    const Graphs graphs = data.x.objects().front().own_graphs();
    const std::size_t count = graphs.size();
    if (count == 0 || graphs.first_node[count - 1] == graphs.first_node[count]) {
        throw InvalidInput(
            "TU graphs tell their number by the last graph that has nodes, and here the last one "
            "has none");
    }
    std::string edges;
    std::string owners;
    std::string attributes;
    for (std::size_t g = 0; g < count; ++g) {
        const std::size_t first = graphs.first_node[g];
        for (std::size_t v = first; v < graphs.first_node[g + 1]; ++v) {
            owners += std::to_string(g + 1) + '\n';
            for (std::size_t e = graphs.starts[v]; e < graphs.starts[v + 1]; ++e) {
                edges += std::to_string(v + 1) + ", " +
                         std::to_string(first + graphs.neighbours[e] + 1) + '\n';
            }
            for (std::size_t k = 0; k < graphs.attributes; ++k) {
                attributes +=
                    (k == 0 ? "" : ", ") + format_number(graphs.values[v * graphs.attributes + k]);
            }
            if (graphs.attributes > 0) attributes += '\n';
        }
    }
    write_file(folder, name, "A", edges);
    write_file(folder, name, "graph_indicator", owners);
    if (!graphs.node_labels.empty()) {
        write_file(folder, name, "node_labels", lines_of(graphs.node_labels));
    }
    if (!graphs.edge_labels.empty()) {
        write_file(folder, name, "edge_labels", lines_of(graphs.edge_labels));
    }
    if (!attributes.empty()) write_file(folder, name, "node_attributes", attributes);
    if (data.y.empty()) return;
    std::string labels;
    for (const double value : data.y.values) labels += format_number(value) + '\n';
    write_file(folder, name, "graph_labels", labels);
}

}  // namespace

Format tu_graphs() {
    return {.name = "tu",
            .title = "TU graphs",
            .about =
                "a folder of graphs as TUDataset has them: NAME_A.txt, NAME_graph_indicator.txt, …",
            .suffixes = {".tu"},
            .kind = Format::Kind::folder,
            .recognise =
                [](const Input& input) {
                    const bool is = !prefix_of(input.path).empty();
                    return Match{is ? Certainty::certain : Certainty::none};
                },
            .read = [](const Input& input) { return Reader(input).read(); },
            .write_files = write_files,
            .keeps = {.weights = false, .class_names = false, .graphs = true}};
}

}  // namespace mercer::formats
