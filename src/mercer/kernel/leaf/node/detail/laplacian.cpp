#include "mercer/kernel/leaf/node/detail/laplacian.hpp"

#include <cmath>
#include <numbers>
#include <stdexcept>
#include <utility>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/detail/lapack.hpp"
#include "mercer/base/parallel.hpp"

namespace mercer::leaves {

GraphParts parts_of(const GraphView& graph, bool normalised) {
    constexpr auto unseen = static_cast<std::uint32_t>(-1);
    GraphParts result;
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

GraphSpectrum decompose(const GraphView& graph, const GraphParts& parts, std::size_t part) {
    const std::vector<std::uint32_t>& nodes = parts.nodes[part];
    const std::size_t n = nodes.size();
    GraphSpectrum result{.values = std::vector<double>(n), .vectors = Matrix<double>(n, n)};
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

Matrix<double> function_of(const GraphSpectrum& d, const SpectralFunction& f) {
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

}  // namespace mercer::leaves
