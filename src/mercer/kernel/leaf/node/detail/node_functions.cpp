#include "mercer/kernel/leaf/node/detail/node_functions.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <stdexcept>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer::leaves {
namespace {

/// Numbers that rows of one prepared sample may take where they go by polynomials.
constexpr std::size_t most_numbers = std::size_t{1} << 28;
constexpr std::size_t most_terms = 8192;

std::uint64_t hash_of(const GraphView& graph) {
    std::uint64_t hash = hash_number(graph.nodes);
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        for (std::size_t e = graph.starts[v]; e < graph.starts[v + 1]; ++e) {
            hash = hash_together(hash, graph.neighbours[e]);
            if (graph.weights == nullptr) continue;
            hash = hash_together(hash, std::bit_cast<std::uint64_t>(graph.weights[e]));
        }
        hash = hash_together(hash, v);
    }
    return hash;
}

/// Columns of a matrix that are multiplied together.
constexpr std::size_t panel = 8;

/// What is in use, and what was made last, for whoever asks for the same again: folds, blocks of
/// rows to be predicted and steps of a search all prepare nodes of one graph.
template <class T>
class Recent {
   public:
    template <class Make>
    std::shared_ptr<T> get(const std::string& key, Make make) {
        const std::lock_guard lock(mutex_);
        std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
        if (const auto found = known_.find(key); found != known_.end()) {
            if (auto alive = found->second.lock()) return last_ = std::move(alive);
        }
        last_ = make();
        known_[key] = last_;
        return last_;
    }

   private:
    std::mutex mutex_{};
    std::map<std::string, std::weak_ptr<T>> known_{};
    std::shared_ptr<T> last_{};
};

/// f(L) and its slopes, found when first needed.
class NodeFunctions {
   public:
    NodeFunctions(std::shared_ptr<Laplacian> laplacian, NodeRule rule, std::size_t decomposed)
        : laplacian_(std::move(laplacian)),
          parts_(laplacian_->parts()),
          rule_(std::move(rule)),
          most_(decomposed) {
        for (std::size_t f = 0; f <= rule_.slopes.size(); ++f) {
            values_.emplace_back(parts_.nodes.size());
        }
    }

    const GraphParts& parts() const { return parts_; }
    std::size_t functions() const { return values_.size(); }
    bool is_large(std::size_t part) const { return parts_.nodes[part].size() > most_; }

    std::size_t index(const std::string& parameter) const {
        for (std::size_t s = 0; s < rule_.slopes.size(); ++s) {
            if (rule_.slopes[s].first == parameter) return s + 1;
        }
        throw std::logic_error("no slope in " + parameter);
    }

    /// f(L) of a part that is not large; function 0 is the value, then the slopes.
    const Matrix<double>& of_part(std::size_t part, std::size_t function) {
        const std::lock_guard lock(mutex_);
        Matrix<double>& found = values_[function][part];
        if (found.rows() > 0) return found;
        const std::vector<double> c = cheap_coefficients(part, function);
        found = c.empty() ? function_of(laplacian_->decomposed(part), f(function))
                          : by_polynomials(part, c);
        return found;
    }

    /// Row of f(L) at a node of a large part, over the nodes of that part.
    std::vector<double> row(std::uint32_t node, std::size_t function) {
        return rows<1>(parts_.part[node], parts_.place[node], coefficients(function));
    }

   private:
    const SpectralFunction& f(std::size_t function) const {
        return function == 0 ? rule_.value : rule_.slopes[function - 1].second;
    }
    const std::vector<double>& coefficients(std::size_t function) {
        const std::lock_guard lock(mutex_);
        std::vector<double>& c = coefficients_[function];
        if (c.empty()) c = chebyshev(f(function), laplacian_->high(), most_terms);
        if (c.empty()) {
            throw InvalidInput(
                "a kernel on the nodes of a large graph needs more than " +
                std::to_string(most_terms) +
                " products with its Laplacian; take a smaller beta, or laplacian=normalized");
        }
        return c;
    }

    /// Those of a polynomial for the whole part, where that is less work than to decompose it: n
    /// products with L for each term, beside some n³; none otherwise.
    std::vector<double> cheap_coefficients(std::size_t part, std::size_t function) const {
        const std::size_t n = parts_.nodes[part].size();
        constexpr std::size_t few = 256;
        if (n < few || laplacian_->is_decomposed(part)) return {};
        return chebyshev(f(function), laplacian_->high(), n * n / (laplacian_->entries() + n));
    }

    /// Rows first … first + width - 1 of f(L) within a part, as columns side by side.
    template <std::size_t width>
    std::vector<double> rows(std::size_t part, std::size_t first,
                             const std::vector<double>& c) const {
        const std::vector<std::uint32_t>& nodes = parts_.nodes[part];
        const std::size_t size = nodes.size() * width;
        const double high = laplacian_->high();
        std::vector<double> before(size, 0.0);
        std::vector<double> now(size, 0.0);
        std::vector<double> next(size);
        std::vector<double> sum(size, 0.0);
        for (std::size_t l = 0; l < width && first + l < nodes.size(); ++l) {
            now[(first + l) * width + l] = 1;
            sum[(first + l) * width + l] = c[0];
        }
        for (std::size_t t = 1; t < c.size(); ++t) {
            // T_t = 2 M T_{t-1} − T_{t-2}, T_1 = M, with M = 2 L / high − I.
            const double twice = t == 1 ? 1 : 2;
            laplacian_->multiply<width>(nodes, now, next);
            for (std::size_t k = 0; k < size; ++k) {
                next[k] = twice * (next[k] * (2 / high) - now[k]) - (t == 1 ? 0 : before[k]);
                sum[k] += c[t] * next[k];
            }
            std::swap(before, now);
            std::swap(now, next);
        }
        return sum;
    }

    /// f(L) of a part, the same above and below the diagonal to the last bit.
    Matrix<double> by_polynomials(std::size_t part, const std::vector<double>& c) const {
        const std::size_t n = parts_.nodes[part].size();
        Matrix<double> out(n, n);
        parallel_for((n + panel - 1) / panel, [&](std::size_t task) {
            const std::size_t first = task * panel;
            const std::vector<double> columns = rows<panel>(part, first, c);
            for (std::size_t l = 0; l < panel && first + l < n; ++l) {
                for (std::size_t k = 0; k < n; ++k) out(first + l, k) = columns[k * panel + l];
            }
        });
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < i; ++j) out(i, j) = out(j, i);
        }
        return out;
    }

    std::shared_ptr<Laplacian> laplacian_;
    const GraphParts& parts_;
    NodeRule rule_;
    std::size_t most_;
    std::mutex mutex_{};
    std::vector<std::vector<Matrix<double>>> values_{};  // by function, then part
    std::map<std::size_t, std::vector<double>> coefficients_{};
};

std::shared_ptr<NodeFunctions> functions_of(const GraphView& graph, std::uint64_t hash,
                                            NodeRule rule, std::size_t decomposed) {
    static Recent<Laplacian> laplacians;
    static Recent<NodeFunctions> functions;
    const std::string key = std::to_string(hash) + (rule.normalised ? " normalised" : "");
    const auto laplacian =
        laplacians.get(key, [&] { return std::make_shared<Laplacian>(graph, rule.normalised); });
    return functions.get(key + ' ' + rule.key + ' ' + std::to_string(decomposed), [&] {
        return std::make_shared<NodeFunctions>(laplacian, std::move(rule), decomposed);
    });
}

class NodePairs final : public ObjectPairs {
   public:
    NodePairs(NodeRule rule, std::span<const Object> nodes, std::size_t decomposed) {
        if (nodes.empty()) return;
        const GraphView& graph = std::get<NodeView>(nodes.front()).graph;
        for (const Object& object : nodes) {
            const auto& own = std::get<NodeView>(object);
            if (own.graph.starts != graph.starts && hash_of(own.graph) != hash_of(graph)) {
                refuse_other_graph();
            }
            nodes_.push_back(static_cast<std::uint32_t>(own.node));
        }
        hash_ = hash_of(graph);
        functions_ = functions_of(graph, hash_, std::move(rule), decomposed);
        rows_.resize(functions_->functions());
        fill_rows(0);
        for (const std::uint32_t node : nodes_) {
            const std::size_t part = functions_->parts().part[node];
            if (!functions_->is_large(part)) functions_->of_part(part, 0);
        }
    }

    void row(std::size_t i, const ObjectPairs& z, std::span<const std::uint32_t> columns,
             std::span<double> out) const override {
        take(0, i, static_cast<const NodePairs&>(z), columns, out);
    }
    void slope_row(const std::string& parameter, std::size_t i, const ObjectPairs& z,
                   std::span<const std::uint32_t> columns, std::span<double> out) const override {
        const std::size_t function = functions_->index(parameter);
        const auto& other = static_cast<const NodePairs&>(z);
        for (const NodePairs* side : {this, &other}) {
            const std::lock_guard lock(side->mutex_);
            side->fill_rows(function);
        }
        take(function, i, other, columns, out);
    }
    double pair_work() const override { return 10; }

   private:
    [[noreturn]] static void refuse_other_graph() {
        throw InvalidInput(
            "these rows are nodes of different graphs; a kernel on nodes compares those of one "
            "graph, so read all rows from the same edges");
    }

    /// The rows of f(L) at those of these nodes that are in large parts.
    void fill_rows(std::size_t function) const {
        auto& rows = rows_[function];
        if (rows.size() == nodes_.size()) return;
        rows.resize(nodes_.size());
        const GraphParts& parts = functions_->parts();
        std::size_t numbers = 0;
        for (const std::uint32_t node : nodes_) {
            const std::size_t part = parts.part[node];
            if (functions_->is_large(part)) numbers += parts.nodes[part].size();
        }
        if (numbers > most_numbers) {
            throw InvalidInput("the kernel values between " + std::to_string(nodes_.size()) +
                               " rows and all nodes of the graph would take " +
                               std::to_string(numbers >> 17U) + " MiB; take fewer rows at a time");
        }
        parallel_for(nodes_.size(), [&](std::size_t i) {
            if (!functions_->is_large(parts.part[nodes_[i]])) return;
            rows[i] = functions_->row(nodes_[i], function);
        });
    }

    void take(std::size_t function, std::size_t i, const NodePairs& other,
              std::span<const std::uint32_t> columns, std::span<double> out) const {
        if (other.hash_ != hash_) refuse_other_graph();
        const GraphParts& parts = functions_->parts();
        const std::uint32_t x = nodes_[i];
        const std::size_t part = parts.part[x];
        const bool large = functions_->is_large(part);
        const Matrix<double>* values = large ? nullptr : &functions_->of_part(part, function);
        for (std::size_t c = 0; c < columns.size(); ++c) {
            const std::uint32_t z = other.nodes_[columns[c]];
            if (parts.part[z] != part) {
                out[c] = 0;  // f(L) has no entries between parts
            } else if (!large) {
                out[c] = (*values)(parts.place[x], parts.place[z]);
            } else {
                // Of the two ways the one that begins at the lower node: k(x, z) = k(z, x).
                out[c] = x <= z ? rows_[function][i][parts.place[z]]
                                : other.rows_[function][columns[c]][parts.place[x]];
            }
        }
    }

    std::vector<std::uint32_t> nodes_{};
    std::uint64_t hash_ = 0;
    std::shared_ptr<NodeFunctions> functions_{};
    mutable std::mutex mutex_{};
    mutable std::vector<std::vector<std::vector<double>>> rows_{};  // by function, then row
};

}  // namespace

ParameterForm laplacian_form(bool normalised) {
    return word("laplacian", {"plain", "normalized"}, normalised ? 1 : 0);
}

std::unique_ptr<const ObjectPairs> node_pairs(NodeRule rule, std::span<const Object> nodes,
                                              std::size_t decomposed) {
    return std::make_unique<NodePairs>(std::move(rule), nodes, decomposed);
}

Leaf node_leaf(KernelEntry entry, decltype(Leaf::prepare) prepare, const char* parameter,
               decltype(Leaf::judge) judge) {
    return {.entry = std::move(entry),
            .objects = ObjectKind::node,
            .prepare = prepare,
            .pair_slopes = {parameter},
            .judge = judge};
}

std::unique_ptr<const ObjectPairs> pairs_by_beta(const KernelNode& node,
                                                 std::span<const Object> nodes,
                                                 SpectralFunction value, SpectralFunction slope) {
    return node_pairs({.key = Kernel(std::make_shared<const KernelNode>(node)).text(),
                       .normalised = node.parameter("laplacian") == 1,
                       .value = std::move(value),
                       .slopes = {{"beta", std::move(slope)}}},
                      nodes);
}

}  // namespace mercer::leaves
