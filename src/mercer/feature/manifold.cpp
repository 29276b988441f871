
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <queue>
#include <utility>

#include "mercer/base/detail/infinity.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/feature/spectral.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

constexpr std::array<std::pair<ManifoldFunction::Kind, std::string_view>, 3> manifold_kinds{
    {{ManifoldFunction::Kind::isomap, "isomap"},
     {ManifoldFunction::Kind::lle, "lle"},
     {ManifoldFunction::Kind::laplacian, "laplacian"}}};
double squared_distance(MatrixView<const double> k, std::size_t i, std::size_t j) {
    return std::max(0.0, k(i, i) + k(j, j) - 2 * k(i, j));
}

/// The nearest others of each point, of equals the first.
std::vector<std::vector<std::size_t>> nearest_of(MatrixView<const double> k, std::size_t count) {
    std::vector<std::vector<std::size_t>> result(k.rows);
    parallel_ranges(k.rows, 32, [&](std::size_t first, std::size_t last) {
        std::vector<std::pair<double, std::size_t>> all;
        for (std::size_t i = first; i < last; ++i) {
            all.clear();
            for (std::size_t j = 0; j < k.rows; ++j) {
                if (j != i) all.emplace_back(squared_distance(k, i, j), j);
            }
            std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count),
                              all.end());
            for (std::size_t r = 0; r < count; ++r) result[i].push_back(all[r].second);
        }
    });
    return result;
}

/// Neighbours either way.
std::vector<std::vector<std::size_t>> graph_of(
    const std::vector<std::vector<std::size_t>>& nearest) {
    auto graph = nearest;
    for (std::size_t i = 0; i < nearest.size(); ++i) {
        for (const std::size_t j : nearest[i]) graph[j].push_back(i);
    }
    for (auto& edges : graph) {
        std::ranges::sort(edges);
        edges.erase(std::unique(edges.begin(), edges.end()), edges.end());
    }
    return graph;
}

/// Throws InvalidInput when not every point can be reached.
void require_connected(const std::vector<std::vector<std::size_t>>& graph, std::size_t neighbours) {
    std::vector<bool> seen(graph.size(), false);
    std::size_t parts = 0;
    for (std::size_t start = 0; start < graph.size(); ++start) {
        if (seen[start]) continue;
        ++parts;
        std::vector<std::size_t> open{start};
        seen[start] = true;
        while (!open.empty()) {
            const std::size_t i = open.back();
            open.pop_back();
            for (const std::size_t j : graph[i]) {
                if (!seen[j]) open.push_back(j);
                seen[j] = true;
            }
        }
    }
    if (parts == 1) return;
    throw InvalidInput("the graph of the " + std::to_string(neighbours) +
                       " nearest points falls into " + std::to_string(parts) +
                       " parts, between which there is no path; take more neighbours");
}

/// Dijkstra's algorithm from one point.
void shortest_paths(MatrixView<const double> k, const std::vector<std::vector<std::size_t>>& graph,
                    std::size_t from, std::span<double> out) {
    using Entry = std::pair<double, std::size_t>;
    std::ranges::fill(out, infinity);
    out[from] = 0;
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> open;
    open.emplace(0.0, from);
    while (!open.empty()) {
        const auto [length, i] = open.top();
        open.pop();
        if (length > out[i]) continue;
        for (const std::size_t j : graph[i]) {
            const double through = length + std::sqrt(squared_distance(k, i, j));
            if (!(through < out[j])) continue;
            out[j] = through;
            open.emplace(through, j);
        }
    }
}

Matrix<double> isomap(MatrixView<const double> k, std::size_t neighbours,
                      const Progress& progress) {
    const auto graph = graph_of(nearest_of(k, neighbours));
    require_connected(graph, neighbours);
    Matrix<double> result(k.rows, k.rows);
    if (!keep_going(progress, {"shortest paths", -1})) throw Cancelled();
    parallel_ranges(k.rows, 8, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) shortest_paths(k, graph, i, result.row(i));
    });
    for (std::size_t i = 0; i < k.rows; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            // The sums of a path from either end differ by rounding.
            const double length = (result(i, j) + result(j, i)) / 2;
            result(i, j) = result(j, i) = -0.5 * length * length;
        }
    }
    center_gram(result.view());
    return result;
}

/// Weights that write point i as an average of its nearest: C w = 1 over their sum, with
/// C_ab = <x_i − x_a, x_i − x_b>, to which a thousandth of its trace is added (as scikit-learn
/// does).
std::vector<double> averaging(MatrixView<const double> k, std::size_t i,
                              std::span<const std::size_t> nearest) {
    const std::size_t n = nearest.size();
    Matrix<double> c(n, n);
    double trace = 0;
    for (std::size_t a = 0; a < n; ++a) {
        for (std::size_t b = 0; b < n; ++b) {
            c(a, b) = k(i, i) - k(i, nearest[a]) - k(i, nearest[b]) + k(nearest[a], nearest[b]);
        }
        trace += c(a, a);
    }
    for (std::size_t a = 0; a < n; ++a) c(a, a) += trace > 0 ? 1e-3 * trace : 1e-3;
    if (!cholesky(c.view())) {
        throw InvalidInput("the distances around point " + std::to_string(i + 1) +
                           " are none of a Euclidean space; the kernel is not positive definite");
    }
    Matrix<double> w(1, n, 1.0);
    cholesky_solve(std::as_const(c).view(), w.view());
    double sum = 0;
    for (const double v : w.values()) sum += v;
    for (double& v : w.values()) v /= sum;
    return w.values();
}

Matrix<double> lle(MatrixView<const double> k, std::size_t neighbours, const Progress& progress) {
    const std::size_t n = k.rows;
    const auto nearest = nearest_of(k, neighbours);
    // M = (I − W)'(I − W), row by row of I − W.
    Matrix<double> m(n, n);
    for (std::size_t i = 0; i < n; ++i) {
        const std::vector<double> w = averaging(k, i, nearest[i]);
        std::vector<std::pair<std::size_t, double>> row{{i, 1.0}};
        for (std::size_t a = 0; a < w.size(); ++a) row.emplace_back(nearest[i][a], -w[a]);
        for (const auto& [p, v] : row) {
            for (const auto& [q, u] : row) m(p, q) += v * u;
        }
    }
    if (!keep_going(progress, {"eigenvalues", -1})) throw Cancelled();
    const double largest = symmetric_eigen(std::as_const(m).view(), false, progress).values.back();
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) m(i, j) = (i == j ? largest : 0) - m(i, j);
    }
    return m;
}

Matrix<double> laplacian(MatrixView<const double> k, std::size_t neighbours,
                         const Progress& progress) {
    const auto graph = graph_of(nearest_of(k, neighbours));
    require_connected(graph, neighbours);
    Matrix<double> l(k.rows, k.rows);
    for (std::size_t i = 0; i < k.rows; ++i) {
        l(i, i) = static_cast<double>(graph[i].size());
        for (const std::size_t j : graph[i]) l(i, j) = -1;
    }
    if (!keep_going(progress, {"pseudo-inverse", -1})) throw Cancelled();
    return SpectralFunction(SpectralFunction::Kind::power, -1)(std::as_const(l).view());
}

}  // namespace

bool ManifoldFunction::knows(std::string_view text) {
    const std::string_view word = text.substr(0, text.find('('));
    return std::ranges::any_of(manifold_kinds,
                               [&](const auto& entry) { return entry.second == word; });
}

ManifoldFunction ManifoldFunction::parse(std::string_view text) {
    const std::size_t open = text.find('(');
    for (const auto& [kind, name] : manifold_kinds) {
        if (text.substr(0, open) != name) continue;
        const auto number = open != std::string_view::npos && text.back() == ')'
                                ? parse_number(text.substr(open + 1, text.size() - open - 2))
                                : std::nullopt;
        if (number && *number >= 1 && *number == std::floor(*number) && *number < 1e9) {
            return {kind, static_cast<std::size_t>(*number)};
        }
        throw InvalidInput(quoted(text) + " needs a whole number of neighbours, such as " +
                           std::string(name) + "(7)");
    }
    throw InvalidInput("no embedding is called " + quoted(text.substr(0, open)) +
                       "; there are isomap(k), lle(k) and laplacian(k)");
}

Matrix<double> ManifoldFunction::operator()(MatrixView<const double> k,
                                            const Progress& progress) const {
    if (k.rows != k.columns || k.rows <= neighbours_) {
        throw InvalidInput("an embedding by " + std::to_string(neighbours_) +
                           " neighbours needs the square matrix of more points than that, not " +
                           std::to_string(k.rows) + " x " + std::to_string(k.columns));
    }
    for (std::size_t i = 0; i < k.rows; ++i) {
        if (std::ranges::all_of(k.row(i), [](double v) { return std::isfinite(v); })) continue;
        throw InvalidInput("the matrix has entries that are not finite");
    }
    switch (kind_) {
        case ManifoldFunction::Kind::isomap: return isomap(k, neighbours_, progress);
        case ManifoldFunction::Kind::lle: return lle(k, neighbours_, progress);
        default: return laplacian(k, neighbours_, progress);
    }
}

namespace {

std::vector<std::string_view> words_of(std::string_view text) {
    std::vector<std::string_view> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(' '), text.size());
        if (end > 0) words.push_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    if (words.empty()) throw InvalidInput("no function of the matrix was given");
    return words;
}

}  // namespace

void check_functions(std::string_view text) {
    for (const std::string_view word : words_of(text)) {
        if (ManifoldFunction::knows(word)) {
            ManifoldFunction::parse(word);
        } else {
            SpectralFunction::parse(word);
        }
    }
}

Matrix<double> apply_functions(MatrixView<const double> k, std::string_view text,
                               const Progress& progress) {
    Matrix<double> result(k.rows, k.columns);
    for (std::size_t i = 0; i < k.rows; ++i) std::ranges::copy(k.row(i), result.row(i).begin());
    for (const std::string_view word : words_of(text)) {
        const auto view = std::as_const(result).view();
        result = ManifoldFunction::knows(word) ? ManifoldFunction::parse(word)(view, progress)
                                               : SpectralFunction::parse(word)(view);
    }
    return result;
}

}  // namespace mercer
