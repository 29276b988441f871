// Pre-images in one step: from distances, and by regression.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/feature/detail/preimage_state.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

using State = PreimageFinder::State;

double squared_length(std::span<const double> a, std::span<const double> b) {
    double sum = 0;
    for (std::size_t c = 0; c < a.size(); ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
    return sum;
}

/// The neighbours of one target and what is known of them.
struct NearbyPoints {
    std::vector<std::size_t> which{};
    Matrix<double> kernel{};       ///< among themselves
    std::vector<double> far{};     ///< ‖Ψ − Φ(x_i)‖², Ψ brought to the length of an image
    std::vector<double> wanted{};  ///< ‖z − x_i‖² that would give these
};

/// Input distances by the kernel's own formula: k(z, x) = a e^(−γ‖z−x‖²) = (2a − ‖Ψ − Φ(x)‖²)/2.
void invert_gaussian(const State& s, NearbyPoints& near) {
    const double a = s.diagonal[near.which.front()];
    for (const double far : near.far) {
        const double value = std::clamp((2 * a - far) / (2 * a), 1e-12, 1.0);
        near.wanted.push_back(-std::log(value) / *s.gamma);
    }
}

/// Input distances in the proportion that holds, in the mean of squares, among the neighbours.
void invert_by_proportion(const State& s, NearbyPoints& near) {
    double both = 0;
    double square = 0;
    for (std::size_t a = 0; a < near.which.size(); ++a) {
        for (std::size_t b = 0; b < a; ++b) {
            const double f =
                near.kernel(a, a) - near.kernel(a, b) - near.kernel(b, a) + near.kernel(b, b);
            both += f * squared_length(s.x.row(near.which[a]), s.x.row(near.which[b]));
            square += f * f;
        }
    }
    const double proportion = square > 0 ? both / square : 0;
    for (const double far : near.far) near.wanted.push_back(std::max(0.0, proportion * far));
}

NearbyPoints neighbours_of(const State& s, const PreimageTargets& targets, std::size_t t) {
    NearbyPoints near;
    near.which = nearest_points(s, targets, t, s.settings.neighbours);
    const std::size_t q = near.which.size();
    const Points<double> points = s.gram.select(s.gram.reference(), near.which);
    near.kernel = Matrix<double>(q, q);
    s.gram.block(points, points, near.kernel.view());
    double mean = 0;
    for (std::size_t a = 0; a < q; ++a) mean += near.kernel(a, a) / static_cast<double>(q);
    // With β free only the direction of Ψ counts.
    const bool scale = s.settings.free_factor && targets.squares[t] > 0 && mean > 0;
    const double factor = scale ? std::sqrt(targets.squares[t] / mean) : 1.0;
    for (const std::size_t i : near.which) {
        const double square = targets.squares[t] / (factor * factor);
        const double f = targets.with_points(t, i) / factor;
        near.far.push_back(std::max(0.0, square - 2 * f + s.diagonal[i]));
    }
    return near;
}

/// The point at these distances from the neighbours (Gower 1968): with X the neighbours about their
/// mean, one a row, z = x̄ + ½ X' (X X')⁺ (‖x_i − x̄‖² − wanted_i).
std::vector<double> locate(const State& s, const NearbyPoints& near) {
    const std::size_t q = near.which.size();
    const std::size_t d = s.columns();
    std::vector<double> mean(d, 0.0);
    for (const std::size_t i : near.which) {
        for (std::size_t c = 0; c < d; ++c) mean[c] += s.x(i, c) / static_cast<double>(q);
    }
    Matrix<double> centred(q, d);
    std::vector<double> right(q);
    for (std::size_t a = 0; a < q; ++a) {
        const auto row = s.x.row(near.which[a]);
        for (std::size_t c = 0; c < d; ++c) centred(a, c) = row[c] - mean[c];
        right[a] = (squared_length(row, mean) - near.wanted[a]) / 2;
    }
    Matrix<double> products(q, q);
    multiply_transposed(std::as_const(centred).view(), std::as_const(centred).view(),
                        products.view());
    const Spectrum spectrum = symmetric_eigen(products.view());
    const double least = 1e-10 * spectrum.values.back();
    std::vector<double> weights(q, 0.0);
    for (std::size_t e = 0; e < q; ++e) {
        if (!(spectrum.values[e] > least)) continue;
        const auto v = spectrum.vectors.row(e);
        const double part =
            std::inner_product(v.begin(), v.end(), right.begin(), 0.0) / spectrum.values[e];
        for (std::size_t a = 0; a < q; ++a) weights[a] += part * v[a];
    }
    for (std::size_t a = 0; a < q; ++a) {
        for (std::size_t c = 0; c < d; ++c) mean[c] += weights[a] * centred(a, c);
    }
    return mean;
}

}  // namespace

std::vector<Preimage> by_distances(const State& s, const PreimageTargets& targets) {
    std::vector<Preimage> found(targets.size());
    for (std::size_t t = 0; t < targets.size(); ++t) {
        NearbyPoints near = neighbours_of(s, targets, t);
        if (s.gamma) {
            invert_gaussian(s, near);
        } else {
            invert_by_proportion(s, near);
        }
        found[t] = {.z = locate(s, near), .method = PreimageMethod::distance};
    }
    judge_all(s, targets, found);
    return found;
}

std::optional<LearntInverse> learn_inverse(const State& s) {
    LearntInverse inverse;
    inverse.landmarks.resize(s.size());
    std::iota(inverse.landmarks.begin(), inverse.landmarks.end(), std::size_t{0});
    if (s.size() > s.settings.landmarks) {
        Random(s.settings.seed).shuffle(std::span(inverse.landmarks));
        inverse.landmarks.resize(s.settings.landmarks);
        std::ranges::sort(inverse.landmarks);
    }
    const std::size_t m = inverse.landmarks.size();
    const Points<double> points = s.gram.select(s.gram.reference(), inverse.landmarks);
    Matrix<double> k(m, m);
    s.gram.block(points, points, k.view());
    double mean = 0;
    for (std::size_t i = 0; i < m; ++i) mean += k(i, i) / static_cast<double>(m);
    for (std::size_t i = 0; i < m; ++i) k(i, i) += s.settings.lambda * std::abs(mean);
    if (!cholesky(k.view())) return std::nullopt;
    Matrix<double> sides(s.columns(), m);
    for (std::size_t l = 0; l < m; ++l) {
        for (std::size_t c = 0; c < s.columns(); ++c) sides(c, l) = s.x(inverse.landmarks[l], c);
    }
    cholesky_solve(k.view(), sides.view());
    inverse.weights = Matrix<double>(m, s.columns());
    for (std::size_t l = 0; l < m; ++l) {
        for (std::size_t c = 0; c < s.columns(); ++c) inverse.weights(l, c) = sides(c, l);
    }
    return inverse;
}

std::vector<Preimage> by_regression(const State& s, const PreimageTargets& targets) {
    const LearntInverse& inverse = *s.inverse;
    const std::size_t m = inverse.landmarks.size();
    Matrix<double> coordinates(targets.size(), m);
    for (std::size_t t = 0; t < targets.size(); ++t) {
        for (std::size_t l = 0; l < m; ++l) {
            coordinates(t, l) = targets.with_points(t, inverse.landmarks[l]);
        }
    }
    Matrix<double> z(targets.size(), s.columns());
    parallel_ranges(targets.size(), 16, [&](std::size_t first, std::size_t last) {
        multiply(std::as_const(coordinates).view().block(first, 0, last - first, m),
                 inverse.weights.view(), z.view().block(first, 0, last - first, s.columns()));
    });
    std::vector<Preimage> found(targets.size());
    for (std::size_t t = 0; t < targets.size(); ++t) {
        found[t] = {.z = {z.row(t).begin(), z.row(t).end()}, .method = PreimageMethod::regression};
    }
    judge_all(s, targets, found);
    return found;
}

}  // namespace mercer
