#include "mercer/kernel/leaf/detail/node_functions.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <map>
#include <mutex>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/detail/lapack.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer::leaves {
namespace {

/// Numbers that rows of one prepared sample may take where they go by polynomials.
constexpr std::size_t most_numbers = std::size_t{1} << 28;
constexpr std::size_t most_terms = 8192;

/// The graph in the order of its connected parts, with the entries of L beside the diagonal.
struct Parts {
    std::vector<std::uint32_t> part{};   ///< of each node
    std::vector<std::uint32_t> place{};  ///< of each node in its part
    std::vector<std::vector<std::uint32_t>> nodes{};
    std::vector<double> diagonal{};
    std::vector<double> beside{};  ///< one an entry of neighbours
};

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

Parts parts_of(const GraphView& graph, bool normalised) {
    constexpr auto unseen = static_cast<std::uint32_t>(-1);
    Parts result;
    result.part.assign(graph.nodes, unseen);
    result.place.resize(graph.nodes);
    for (std::uint32_t v = 0; v < graph.nodes; ++v) {
        if (result.part[v] != unseen) continue;
        const auto number = static_cast<std::uint32_t>(result.nodes.size());
        std::vector<std::uint32_t> found{v};
        result.part[v] = number;
        for (std::size_t next = 0; next < found.size(); ++next) {
            for (const std::uint32_t w : graph.neighbours_of(found[next])) {
                if (result.part[w] != unseen) continue;
                result.part[w] = number;
                found.push_back(w);
            }
        }
        std::ranges::sort(found);
        for (std::uint32_t k = 0; k < found.size(); ++k) result.place[found[k]] = k;
        result.nodes.push_back(std::move(found));
    }
    const auto weight = [&](std::size_t e) {
        return graph.weights == nullptr ? 1 : graph.weights[e];
    };
    std::vector<double> degree(graph.nodes, 0.0);
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        for (std::size_t e = graph.starts[v]; e < graph.starts[v + 1]; ++e) degree[v] += weight(e);
    }
    const std::size_t first = graph.nodes == 0 ? 0 : graph.starts[0];
    result.beside.resize(graph.ends());
    for (std::size_t v = 0; v < graph.nodes; ++v) {
        // A node without neighbours is a part whose L is 0, normalised or not.
        result.diagonal.push_back(!normalised ? degree[v] : degree[v] > 0 ? 1 : 0);
        for (std::size_t e = graph.starts[v]; e < graph.starts[v + 1]; ++e) {
            const double by =
                normalised ? std::sqrt(degree[v]) * std::sqrt(degree[graph.neighbours[e]]) : 1;
            result.beside[e - first] = -weight(e) / by;
        }
    }
    return result;
}

/// U with L = U'diag(lambda) U, one eigenvector a row.
struct Decomposed {
    std::vector<double> values{};
    Matrix<double> vectors{};
};

Decomposed decompose(const GraphView& graph, const Parts& parts, std::size_t part) {
    const std::vector<std::uint32_t>& nodes = parts.nodes[part];
    const std::size_t n = nodes.size();
    Decomposed result{.values = std::vector<double>(n), .vectors = Matrix<double>(n, n)};
    for (std::size_t k = 0; k < n; ++k) {
        const std::uint32_t v = nodes[k];
        result.vectors(k, k) = parts.diagonal[v];
        for (std::size_t e = graph.starts[v]; e < graph.starts[v + 1]; ++e) {
            result.vectors(k, parts.place[graph.neighbours[e]]) = parts.beside[e - graph.starts[0]];
        }
    }
    const BlasThreads threads;
    // Column-major eigenvectors are our rows.
    const int info = lapack::dsyevd('V', 'U', static_cast<int>(n), result.vectors.row(0).data(),
                                    static_cast<int>(n), result.values.data());
    if (info != 0) throw std::runtime_error("the eigenvalues of a graph were not found");
    for (double& value : result.values) value = std::max(value, 0.0);  // L is semi-definite
    return result;
}

/// U'diag(f(lambda)) U, the same above and below the diagonal to the last bit.
Matrix<double> function_of(const Decomposed& d, const SpectralFunction& f) {
    const std::size_t n = d.values.size();
    Matrix<double> turned(n, n);
    Matrix<double> scaled(n, n);
    for (std::size_t k = 0; k < n; ++k) {
        const double value = f(d.values[k]);
        for (std::size_t v = 0; v < n; ++v) {
            turned(v, k) = d.vectors(k, v);
            scaled(v, k) = value * d.vectors(k, v);
        }
    }
    Matrix<double> out(n, n);
    constexpr std::size_t band = 256;
    parallel_ranges(n, band, [&](std::size_t first, std::size_t last) {
        multiply_transposed(std::as_const(turned).view().block(first, 0, last - first, n),
                            std::as_const(scaled).view(),
                            out.view().block(first, 0, last - first, n));
    });
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < i; ++j) out(i, j) = out(j, i);
    }
    return out;
}

/// Coefficients of f in Chebyshev polynomials over [0, high], as many as are not lost in rounding;
/// none where `most` are too few to find out.
std::vector<double> chebyshev(const SpectralFunction& f, double high, std::size_t most) {
    for (std::size_t terms = 32; terms <= most; terms *= 2) {
        const auto n = static_cast<double>(terms);
        // cos(π m / (2 terms)), m reduced as a whole number: large angles would lose their digits.
        const auto cosine = [&](std::size_t m) {
            return std::cos(std::numbers::pi * static_cast<double>(m % (4 * terms)) / (2 * n));
        };
        std::vector<double> values(terms);
        double size = 0;
        for (std::size_t k = 0; k < terms; ++k) {
            values[k] = f(high / 2 * (1 + cosine(2 * k + 1)));
            size = std::max(size, std::fabs(values[k]));
        }
        std::vector<double> c(terms);
        for (std::size_t j = 0; j < terms; ++j) {
            for (std::size_t k = 0; k < terms; ++k) {
                c[j] += 2 / n * values[k] * cosine(j * (2 * k + 1));
            }
        }
        c[0] /= 2;
        std::size_t kept = terms;
        while (kept > 1 && std::fabs(c[kept - 1]) <= 2e-15 * size) --kept;
        // Enough when the last quarter is rounding.
        if (kept > terms - terms / 4) continue;
        c.resize(kept);
        return c;
    }
    return {};
}

/// Columns of a matrix that are multiplied together.
constexpr std::size_t panel = 8;

/// The Laplacian of a graph, its parts decomposed when first needed.
class Laplacian {
   public:
    Laplacian(const GraphView& graph, bool normalised)
        : starts_(graph.starts, graph.starts + graph.nodes + 1),
          neighbours_(graph.neighbours, graph.neighbours + starts_.back()),
          parts_(parts_of(graph, normalised)),
          decomposed_(parts_.nodes.size()) {
        for (const double entry : parts_.diagonal) high_ = std::max(high_, 2 * entry);
    }

    const Parts& parts() const { return parts_; }
    double high() const { return high_; }  ///< no eigenvalue is larger (Gershgorin)
    /// Entries of L off the diagonal, over all parts.
    std::size_t entries() const { return neighbours_.size() - starts_[0]; }
    bool is_decomposed(std::size_t part) {
        const std::lock_guard lock(mutex_);
        return !decomposed_[part].values.empty();
    }
    const Decomposed& decomposed(std::size_t part) {
        const std::lock_guard lock(mutex_);
        if (decomposed_[part].values.empty()) {
            const GraphView view{.nodes = starts_.size() - 1,
                                 .starts = starts_.data(),
                                 .neighbours = neighbours_.data()};
            decomposed_[part] = decompose(view, parts_, part);
        }
        return decomposed_[part];
    }
    /// y = L x within a part, of `width` columns side by side.
    template <std::size_t width>
    void multiply(const std::vector<std::uint32_t>& nodes, const std::vector<double>& x,
                  std::vector<double>& y) const {
        for (std::size_t k = 0; k < nodes.size(); ++k) {
            const std::uint32_t v = nodes[k];
            std::array<double, width> sum{};
            for (std::size_t c = 0; c < width; ++c) sum[c] = parts_.diagonal[v] * x[k * width + c];
            for (std::size_t e = starts_[v]; e < starts_[v + 1]; ++e) {
                const double* const other = &x[parts_.place[neighbours_[e]] * width];
                const double by = parts_.beside[e - starts_[0]];
                for (std::size_t c = 0; c < width; ++c) sum[c] += by * other[c];
            }
            std::ranges::copy(sum, &y[k * width]);
        }
    }

   private:
    std::vector<std::size_t> starts_;
    std::vector<std::uint32_t> neighbours_;
    Parts parts_;
    double high_ = 0;
    std::mutex mutex_{};
    std::vector<Decomposed> decomposed_;
};

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

    const Parts& parts() const { return parts_; }
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
    const Parts& parts_;
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
        const Parts& parts = functions_->parts();
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
        const Parts& parts = functions_->parts();
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
