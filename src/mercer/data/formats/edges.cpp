// A graph as a list of its edges: "a b" or "a b weight" a line, "a" alone for a node that may have
// none, "a: label" for the label of a node. The rows are nodes: those with labels, or all where no
// node has one or labels are not wanted. Nodes stand in the order of their names, so that the same
// graph written down in another order is the same.
#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <optional>

#include "mercer/base/file.hpp"
#include "mercer/base/text.hpp"
#include "mercer/data/formats/detail/input.hpp"

namespace mercer::formats {
namespace {

struct NaturalLess {
    bool operator()(std::string_view a, std::string_view b) const {
        if (natural_less(a, b)) return true;
        // 1 and 01 are different names.
        return !natural_less(b, a) && a < b;
    }
};

class EdgeParser {
   public:
    explicit EdgeParser(const Input& input) : input_(input) {}

    Dataset parse() {
        for (const char* p = input_.begin(); p != input_.end();) {
            const auto left = static_cast<std::size_t>(input_.end() - p);
            const auto* end = static_cast<const char*>(std::memchr(p, '\n', left));
            line({p, static_cast<std::size_t>(end - p)});
            p = end + 1;
        }
        if (nodes_.empty()) fail(input_, "holds no edges, expected a line such as a b");
        return dataset();
    }

   private:
    struct NamedEdge {
        std::string_view from, to;
        double weight = 1;
    };
    struct Node {
        std::uint32_t number = 0;
        std::string_view label{};
        bool labelled = false;
    };

    void line(std::string_view text) {
        if (text.size() > input_.options.longest_line) throw Mistake{text.data(), ""};
        if (text.ends_with('\r')) text.remove_suffix(1);
        std::vector<std::string_view> words;
        constexpr std::string_view between = " \t,;";
        std::string_view rest = text;
        for (;;) {
            rest.remove_prefix(std::min(rest.find_first_not_of(between), rest.size()));
            if (rest.empty() || (words.empty() && (rest[0] == '#' || rest[0] == '%'))) break;
            const std::size_t size = std::min(rest.find_first_of(between), rest.size());
            words.push_back(rest.substr(0, size));
            rest.remove_prefix(size);
            if (words.size() == 1 && words[0].ends_with(':')) return label(words[0], rest);
            if (words.size() > 3) {
                throw Mistake{words[3].data(), "found " + quoted(words[3]) +
                                                   ", expected an edge (a b), an edge with a "
                                                   "weight (a b 0.5) or a label (a: label)"};
            }
        }
        if (words.empty()) return;
        for (std::size_t k = 0; k < std::min<std::size_t>(words.size(), 2); ++k) {
            nodes_.try_emplace(words[k]);
        }
        if (words.size() < 2) return;
        edges_.push_back({words[0], words[1], words.size() == 3 ? weight(words[2]) : 1});
    }

    static double weight(std::string_view word) {
        const std::optional<double> number = parse_number(word);
        if (number && std::isfinite(*number) && *number > 0) return *number;
        throw Mistake{word.data(), "found " + quoted(word) + ", expected a finite weight above 0"};
    }

    void label(std::string_view name, std::string_view rest) {
        const char* where = name.data();
        name.remove_suffix(1);
        if (name.empty()) throw Mistake{where, "found ':', expected the name of a node before it"};
        constexpr std::string_view blank = " \t";
        rest.remove_prefix(std::min(rest.find_first_not_of(blank), rest.size()));
        rest = rest.substr(0, rest.find_last_not_of(blank) + 1);
        Node& node = nodes_[name];
        if (rest.empty()) return;
        if (node.labelled)
            throw Mistake{where, "the node " + quoted(name) + " has a label already"};
        node.label = rest;
        node.labelled = true;
    }

    Dataset dataset() {
        std::uint32_t count = 0;
        bool labelled = false;
        for (auto& [name, node] : nodes_) {
            node.number = count++;
            labelled = labelled || node.labelled;
        }
        labelled = labelled && input_.options.label != "none" && input_.options.labels_file.empty();
        std::vector<WeightedEdge> edges;
        edges.reserve(edges_.size());
        for (const NamedEdge& edge : edges_) {
            edges.push_back({nodes_.at(edge.from).number, nodes_.at(edge.to).number, edge.weight});
        }
        std::vector<std::size_t> rows;
        LabelColumn labels;
        for (const auto& [name, node] : nodes_) {
            if (labelled && !node.labelled) continue;
            rows.push_back(node.number);
            if (labelled) add_label(node.label, labels);
        }
        Dataset data;
        data.x = Rows().with_objects(
            {ObjectColumn::nodes("node", weighted_graph_of(count, edges), std::move(rows))});
        if (labelled) data.y = labels_from(input_, std::move(labels));
        return data;
    }

    void add_label(std::string_view text, LabelColumn& labels) const {
        const std::optional<double> number =
            input_.options.text_labels ? std::nullopt : parse_number(text);
        if (number) {
            labels.add(*number, text.data());
        } else {
            labels.add(std::string(text), text.data());
        }
    }

    const Input& input_;
    std::map<std::string_view, Node, NaturalLess> nodes_{};
    std::vector<NamedEdge> edges_{};
};

/// The whole graph, then the labels of the rows. Nodes are written by their numbers, in whose order
/// they are read again.
void write_edges(const Dataset& data, const std::string& path, const WriteOptions&,
                 Output& output) {
    const auto refuse = [&](const std::string& why) {
        throw InvalidInput(Location{.file = path}, why);
    };
    if (data.columns() > 0 || data.x.objects().size() != 1) {
        refuse("a list of edges holds the nodes of one graph and no columns beside them");
    }
    const ObjectColumn& column = data.x.objects().front();
    const std::vector<std::size_t> rows = column.own_nodes();
    const GraphView graph = column.shared_graph().view(0);
    if (!std::ranges::is_sorted(rows, std::less_equal<>())) {
        refuse("a list of edges holds nodes in the order of the graph, each once; these are not");
    }
    if (data.y.empty() && rows.size() != graph.nodes) {
        refuse("a list of edges tells which nodes its rows are by their labels: " +
               std::to_string(rows.size()) + " of " + std::to_string(graph.nodes) +
               " nodes without labels cannot be written");
    }
    std::string text;
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        const std::string name = std::to_string(v + 1);
        text += name + '\n';  // for nodes without edges
        for (std::size_t e = graph.starts[v]; e < graph.starts[v + 1]; ++e) {
            if (graph.neighbours[e] < v) continue;  // written from its other end
            text += name + ' ' + std::to_string(graph.neighbours[e] + 1);
            if (graph.weights != nullptr && graph.weights[e] != 1) {
                text += ' ' + format_number(graph.weights[e]);
            }
            text += '\n';
        }
    }
    for (std::size_t i = 0; i < data.y.size(); ++i) {
        const std::string label = data.y.text(i);
        if (label.find('\n') != std::string::npos || label.find_first_not_of(" \t") != 0 ||
            label.ends_with(' ') || label.ends_with('\t')) {
            refuse("the label " + quoted(label) + " cannot stand in a list of edges");
        }
        text += std::to_string(rows[i] + 1) + ": " + label + '\n';
    }
    output.write(text);
}

}  // namespace

Format edges() {
    return {.name = "edges",
            .title = "a list of edges",
            .about =
                "one graph: `a b` or `a b weight` a line, `a: label` for the label of a node; "
                "the rows are its nodes; known by the ending of its name",
            .suffixes = {".edges", ".edgelist"},
            .recognise =
                [](const Input& input) {
                    // Two columns of words may be anything: only the name tells.
                    std::string_view name = input.name;
                    for (const std::string_view packed : {".gz", ".bz2", ".xz", ".zst"}) {
                        if (name.ends_with(packed)) name.remove_suffix(packed.size());
                    }
                    const bool is = name.ends_with(".edges") || name.ends_with(".edgelist");
                    return Match{is ? Certainty::certain : Certainty::none};
                },
            .read =
                [](const Input& input) {
                    try {
                        return EdgeParser(input).parse();
                    } catch (const Mistake& mistake) {
                        fail_mistake(input, mistake);
                    }
                },
            .uses = {.text_labels = true},
            .write = write_edges,
            .keeps = {.weights = false, .nodes = true}};
}

}  // namespace mercer::formats
