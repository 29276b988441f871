#include "mercer/persist/detail/object_arrays.hpp"

#include <cstring>
#include <limits>
#include <type_traits>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/persist/detail/json_text.hpp"

namespace mercer::persist {
namespace {

template <class T>
constexpr Type type_of() {
    if constexpr (std::is_same_v<T, double>) return Type::f64;
    if constexpr (std::is_same_v<T, std::uint32_t>) return Type::u32;
    if constexpr (std::is_same_v<T, std::size_t> || std::is_same_v<T, std::int64_t>) {
        return Type::i64;
    }
    if constexpr (std::is_same_v<T, char>) return Type::u8;
}

template <class List>
void add(const std::string& name, const List& values, Container& out) {
    using T = typename List::value_type;
    const auto* bytes = reinterpret_cast<const char*>(values.data());
    out.tensors.push_back({.name = name,
                           .type = type_of<T>(),
                           .shape = {values.size()},
                           .bytes = {bytes, values.size() * sizeof(T)}});
}

void add_graphs(const std::string& name, const Graphs& graphs, Container& out) {
    add(name + "nodes", graphs.first_node, out);
    add(name + "starts", graphs.starts, out);
    add(name + "neighbours", graphs.neighbours, out);
    if (!graphs.node_labels.empty()) add(name + "node_labels", graphs.node_labels, out);
    if (!graphs.edge_labels.empty()) add(name + "edge_labels", graphs.edge_labels, out);
    if (graphs.attributes > 0) add(name + "attributes", graphs.values, out);
    if (!graphs.weights.empty()) add(name + "weights", graphs.weights, out);
}

std::string prefix(const std::string& rows, std::size_t column) {
    return rows + ".object" + std::to_string(column) + ".";
}

class Reader {
   public:
    Reader(const Container& container, std::string place, std::size_t& taken)
        : container_(container), place_(std::move(place)), taken_(taken) {}

    ObjectColumn texts(const std::string& name, const std::string& array) {
        Texts result;
        result.starts = places(array + "starts");
        const std::vector<char> bytes = list<char>(array + "bytes", true);
        result.bytes.assign(bytes.begin(), bytes.end());
        return ObjectColumn::texts(name, std::move(result));
    }

    ObjectColumn graphs(const std::string& name, const std::string& array) {
        return ObjectColumn::graphs(name, all_graphs(array));
    }

    ObjectColumn nodes(const std::string& name, const std::string& array) {
        Graphs graph = all_graphs(array);
        return ObjectColumn::nodes(name, std::move(graph), places(array + "rows"));
    }

    [[noreturn]] void fail(const std::string& message) const {
        throw InvalidInput(Location{.file = place_}, message);
    }

   private:
    Graphs all_graphs(const std::string& array) {
        Graphs result;
        result.first_node = places(array + "nodes");
        result.starts = places(array + "starts");
        result.neighbours = list<std::uint32_t>(array + "neighbours", true);
        result.node_labels = list<std::int64_t>(array + "node_labels", false);
        result.edge_labels = list<std::int64_t>(array + "edge_labels", false);
        result.values = list<double>(array + "attributes", false);
        const std::size_t nodes = result.first_node.empty() ? 0 : result.first_node.back();
        result.weights = list<double>(array + "weights", false);
        if (!result.values.empty() && nodes > 0) result.attributes = result.values.size() / nodes;
        return result;
    }

    template <class T>
    std::vector<T> list(const std::string& array, bool needed) {
        const Tensor* tensor = container_.find(array);
        if (tensor == nullptr) {
            if (needed) fail("array " + mercer::quoted(array) + " is missing");
            return {};
        }
        if (tensor->type != type_of<T>() || tensor->shape.size() != 1) {
            fail("array " + mercer::quoted(array) + " must be a list of type " +
                 std::string(type_name(type_of<T>())));
        }
        ++taken_;
        std::vector<T> result(tensor->elements());
        if (!result.empty()) std::memcpy(result.data(), tensor->bytes.data(), tensor->bytes.size());
        return result;
    }
    std::vector<std::size_t> places(const std::string& array) {
        std::vector<std::size_t> result = list<std::size_t>(array, true);
        constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max());
        for (const std::size_t value : result) {
            if (value > most) fail("array " + mercer::quoted(array) + " holds a negative number");
        }
        return result;
    }

    const Container& container_;
    std::string place_;
    std::size_t& taken_;
};

}  // namespace

void add_objects(const Rows& rows, const std::string& name, Container& out, ObjectArrays& kept) {
    if (rows.objects().empty()) return;
    std::vector<std::string> words;
    for (std::size_t k = 0; k < rows.objects().size(); ++k) {
        const ObjectColumn& column = rows.objects()[k];
        words.emplace_back(object_words.word(column.kind()));
        words.push_back(column.name());
        if (column.kind() == ObjectKind::text) {
            const Texts& texts = kept.texts.emplace_back(column.own_texts());
            add(prefix(name, k) + "starts", texts.starts, out);
            add(prefix(name, k) + "bytes", texts.bytes, out);
        } else if (column.kind() == ObjectKind::node) {
            add_graphs(prefix(name, k), kept.graphs.emplace_back(column.shared_graph()), out);
            add(prefix(name, k) + "rows", kept.nodes.emplace_back(column.own_nodes()), out);
        } else {
            add_graphs(prefix(name, k), kept.graphs.emplace_back(column.own_graphs()), out);
        }
    }
    out.metadata[name + ".objects"] = json_list(words);
}

Rows with_objects(const Rows& rows, const std::string& name, const Container& container,
                  const std::string& place, std::size_t& taken) {
    const auto found = container.metadata.find(name + ".objects");
    if (found == container.metadata.end()) return rows;
    std::vector<std::string> words;
    const std::string where = place + ": " + name + ".objects";
    read_json(parse_json(found->second, 2, where), words, where);
    Reader in(container, place, taken);
    if (words.size() % 2 != 0) in.fail(name + ".objects must have a kind for each name");
    std::vector<ObjectColumn> columns;
    try {
        for (std::size_t k = 0; 2 * k < words.size(); ++k) {
            const ObjectKind kind = object_words.value(words[2 * k], "kind of objects");
            if (kind == ObjectKind::numbers) in.fail("numbers are no objects");
            const std::string& own = words[2 * k + 1];
            columns.push_back(kind == ObjectKind::text   ? in.texts(own, prefix(name, k))
                              : kind == ObjectKind::node ? in.nodes(own, prefix(name, k))
                                                         : in.graphs(own, prefix(name, k)));
            if (columns.back().size() != rows.size()) {
                in.fail(std::to_string(columns.back().size()) + " objects in the column " +
                        mercer::quoted(words[2 * k + 1]) + " for " + std::to_string(rows.size()) +
                        " rows");
            }
        }
        return rows.with_objects(std::move(columns));
    } catch (const InvalidInput& error) {
        const std::string text = error.what();
        if (text.starts_with(place)) throw;
        in.fail(name + ": " + text);
    }
}

}  // namespace mercer::persist
