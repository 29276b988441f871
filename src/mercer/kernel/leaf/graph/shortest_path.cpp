// shortest_path: pairs of nodes by their labels and distance [Borgwardt and Kriegel 2005]
#include <algorithm>
#include <array>
#include <bit>

#include "mercer/kernel/leaf/graph/detail/graphs.hpp"

namespace mercer {
namespace {

using namespace leaves;

constexpr std::size_t most_nodes = 20000;

/// Steps from one node to each that can be reached, in the order in which they are met.
class Distances {
   public:
    explicit Distances(const GraphView& graph) : graph_(graph), steps_(graph.nodes, unmet) {}

    template <class Meet>
    void from(std::uint32_t source, Meet meet) {
        std::ranges::fill(steps_, unmet);
        queue_.assign(1, source);
        steps_[source] = 0;
        for (std::size_t next = 0; next < queue_.size(); ++next) {
            const std::uint32_t v = queue_[next];
            if (next > 0) meet(v, steps_[v]);
            for (const std::uint32_t w : graph_.neighbours_of(v)) {
                if (steps_[w] != unmet) continue;
                steps_[w] = steps_[v] + 1;
                queue_.push_back(w);
            }
        }
    }

   private:
    static constexpr std::uint32_t unmet = ~0U;
    const GraphView& graph_;
    std::vector<std::uint32_t> steps_;
    std::vector<std::uint32_t> queue_{};
};

/// The different hashes, and which of them each node has.
struct Labels {
    std::vector<std::uint64_t> hashes{};
    std::vector<std::uint32_t> which{};

    explicit Labels(const GraphView& graph) : hashes(node_hashes(graph)) {
        const std::vector<std::uint64_t> of_node = hashes;
        std::ranges::sort(hashes);
        hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
        for (const std::uint64_t hash : of_node) {
            const auto place = std::ranges::lower_bound(hashes, hash) - hashes.begin();
            which.push_back(static_cast<std::uint32_t>(place));
        }
    }
};

std::uint64_t identity(std::uint64_t from, std::uint64_t to, std::uint64_t steps) {
    return hash_together(hash_together(from, to), steps);
}

/// meet(v, w, steps) for all pairs of a graph of at most 64 W nodes: one bit for each node that can
/// be reached from v, and a step from all nodes at once.
template <std::size_t W, class Meet>
void each_pair_by_bits(const GraphView& graph, Meet meet) {
    using Bits = std::array<std::uint64_t, W>;
    std::vector<Bits> reached(graph.nodes, Bits{});
    for (std::size_t v = 0; v < graph.nodes; ++v) reached[v][v / 64] |= std::uint64_t{1} << v % 64;
    std::vector<Bits> next = reached;
    bool more = true;
    for (std::uint32_t steps = 1; more; ++steps) {
        more = false;
        for (std::uint32_t v = 0; v < graph.nodes; ++v) {
            Bits around{};
            for (const std::uint32_t w : graph.neighbours_of(v)) {
                for (std::size_t k = 0; k < W; ++k) around[k] |= reached[w][k];
            }
            for (std::size_t k = 0; k < W; ++k) {
                std::uint64_t fresh = around[k] & ~reached[v][k];
                next[v][k] = reached[v][k] | fresh;
                more |= fresh != 0;
                for (; fresh != 0; fresh &= fresh - 1) {
                    const auto bit = static_cast<std::uint32_t>(std::countr_zero(fresh));
                    meet(v, static_cast<std::uint32_t>(64 * k) + bit, steps);
                }
            }
        }
        reached = next;
    }
}

/// Counts in a table by (label, label, distance), which is small where labels are few.
void count_in_table(const GraphView& graph, const Labels& labels, Features& out) {
    const std::size_t kinds = labels.hashes.size();
    std::vector<std::uint32_t> counts(kinds * kinds * graph.nodes, 0);
    const auto meet = [&](std::uint32_t v, std::uint32_t w, std::uint32_t steps) {
        ++counts[(labels.which[v] * kinds + labels.which[w]) * graph.nodes + steps];
    };
    if (graph.nodes <= 64) {
        each_pair_by_bits<1>(graph, meet);
    } else if (graph.nodes <= 128) {
        each_pair_by_bits<2>(graph, meet);
    } else {
        Distances distances(graph);
        for (std::uint32_t v = 0; v < graph.nodes; ++v) {
            distances.from(v, [&](std::uint32_t w, std::uint32_t steps) { meet(v, w, steps); });
        }
    }
    for (std::size_t pair = 0; pair < kinds * kinds; ++pair) {
        const std::uint32_t* const own = counts.data() + pair * graph.nodes;
        for (std::size_t steps = 1; steps < graph.nodes; ++steps) {
            if (own[steps] == 0) continue;
            out.push_back(
                {identity(labels.hashes[pair / kinds], labels.hashes[pair % kinds], steps),
                 static_cast<double>(own[steps])});
        }
    }
}

void features(const KernelNode&, const Object& object, Features& out) {
    const auto& graph = std::get<GraphView>(object);
    require_nodes("shortest_path", graph, most_nodes);
    const Labels labels(graph);
    constexpr std::size_t small_table = std::size_t{1} << 16;
    if (labels.hashes.size() * labels.hashes.size() * graph.nodes <= small_table) {
        return count_in_table(graph, labels, out);
    }
    Distances distances(graph);
    std::size_t limit = 1U << 20U;  // counts are added up now and then, so that memory stays small
    for (std::uint32_t v = 0; v < graph.nodes; ++v) {
        const std::uint64_t from = labels.hashes[labels.which[v]];
        distances.from(v, [&](std::uint32_t w, std::uint32_t steps) {
            out.push_back({identity(from, labels.hashes[labels.which[w]], steps), 1});
        });
        if (out.size() < limit) continue;
        collect_features(out);
        limit = std::max(limit, 2 * out.size());
    }
}

}  // namespace

const Leaf& shortest_path_leaf() {
    static const Leaf leaf{
        .entry = {.name = "shortest_path",
                  .aliases = {"sp"},
                  .formula = "sum over (label, label, distance) u of count_u(x) count_u(z)",
                  .about = "graphs by their pairs of nodes, each in both orders, and the steps "
                           "between them; nodes without labels have their degree as one"},
        .objects = ObjectKind::graph,
        .features = features,
        .counts = true,
    };
    return leaf;
}

}  // namespace mercer
