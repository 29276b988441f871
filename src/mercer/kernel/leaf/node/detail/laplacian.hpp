// The Laplacian of a graph, taken apart by connected components, and functions of it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <mutex>
#include <vector>

#include "mercer/base/matrix.hpp"
#include "mercer/base/object.hpp"

namespace mercer::leaves {

/// f(lambda), or a slope of it in a parameter.
using SpectralFunction = std::function<double(double lambda)>;

/// The graph in the order of its connected parts, with the entries of L beside the diagonal.
struct GraphParts {
    std::vector<std::uint32_t> part{};   ///< of each node
    std::vector<std::uint32_t> place{};  ///< of each node in its part
    std::vector<std::vector<std::uint32_t>> nodes{};
    std::vector<double> diagonal{};
    std::vector<double> beside{};  ///< one an entry of neighbours
};

/// U with L = U'diag(lambda) U, one eigenvector a row.
struct GraphSpectrum {
    std::vector<double> values{};
    Matrix<double> vectors{};
};

/// With the entries of D − W, or of I − D^(−1/2) W D^(−1/2).
GraphParts parts_of(const GraphView& graph, bool normalised);
GraphSpectrum decompose(const GraphView& graph, const GraphParts& parts, std::size_t part);
/// U'diag(f(lambda)) U, the same above and below the diagonal to the last bit.
Matrix<double> function_of(const GraphSpectrum& d, const SpectralFunction& f);
/// Coefficients of f in Chebyshev polynomials over [0, high], as many as are not lost in rounding;
/// none where `most` are too few to find out.
std::vector<double> chebyshev(const SpectralFunction& f, double high, std::size_t most);

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

    const GraphParts& parts() const { return parts_; }
    double high() const { return high_; }  ///< no eigenvalue is larger (Gershgorin)
    /// Entries of L off the diagonal, over all parts.
    std::size_t entries() const { return neighbours_.size() - starts_[0]; }
    bool is_decomposed(std::size_t part) {
        const std::lock_guard lock(mutex_);
        return !decomposed_[part].values.empty();
    }
    const GraphSpectrum& decomposed(std::size_t part) {
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
    GraphParts parts_;
    double high_ = 0;
    std::mutex mutex_{};
    std::vector<GraphSpectrum> decomposed_;
};

}  // namespace mercer::leaves
