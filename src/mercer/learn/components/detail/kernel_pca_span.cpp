// Kernel principal components in the span of some rows, by one pass over all of them. With the
// features φ(x) of the span (learn/detail/centre_span.hpp) a direction V of it is v·φ, and
// <V, Φ(x)> = v·φ(x) under the kernel itself, so that the v of largest variance are the
// eigenvectors of
//
//     1/m Σ w_i (φ(x_i) − φ̄)(φ(x_i) − φ̄)',   m = Σ w_i,
//
// and their variances those of the rows along V: at most the eigenvalues of all rows, one by one
// (Cauchy's interlacing).
#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/learn/components/detail/kernel_pca.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/passes/detail/span_products.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

/// Sums over the rows of all ranks.
struct SpanMoments {
    double total = 0;            ///< m
    double own = 0;              ///< Σ w_i k(x_i, x_i)
    Matrix<double> squares{};    ///< Σ w_i (φ_i − φ̄)(φ_i − φ̄)'
    std::vector<double> mean{};  ///< φ̄; 0 about the origin
};

SpanMoments moments_of(const CentreSpan<float>& span, const SpanSample& sample,
                       const KernelPcaSettings& settings) {
    const std::size_t m = span.size();
    SpanMoments found{.squares = Matrix<double>(m, m), .mean = std::vector<double>(m)};
    found.total = sample.leaves.sum([&](std::size_t i) { return sample.weight(i); });
    const SpanProducts products(span, sample, settings.common.progress);
    found.own = products.diagonal();
    Matrix<double> sums(1, m);
    products.weigh(
        [&](std::size_t first, std::span<double> h, MatrixView<double> right) {
            for (std::size_t k = 0; k < h.size(); ++k) {
                h[k] = right(0, k) = sample.weight(first + k);
            }
        },
        found.squares.view(), sums.view());
    if (!settings.center) return found;
    for (std::size_t k = 0; k < m; ++k) found.mean[k] = sums(0, k) / found.total;
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j < m; ++j) {
            found.squares(i, j) -= found.total * found.mean[i] * found.mean[j];
        }
    }
    return found;
}

/// The largest eigenvalues and their vectors, the same on all ranks.
struct SpanSpectrum {
    std::vector<double> values{};  ///< mλ, descending
    Matrix<double> vectors{};      ///< v, one a row
};

SpanSpectrum spectrum_of(const SpanMoments& moments, const KernelPcaSettings& settings,
                         Communicator& ranks) {
    const std::size_t m = moments.mean.size();
    const Spectrum all = symmetric_eigen(moments.squares.view(), true, settings.common.progress);
    const std::size_t count = settings.components == 0 ? m : std::min(settings.components, m);
    // Kernel values are of single precision; what they leave of a variance that is none is of its
    // square, times what L⁻¹ makes of it.
    constexpr double rounding = 1e-9;
    std::size_t kept = 0;
    while (kept < count && all.values[m - 1 - kept] > rounding * std::max(all.values[m - 1], 0.0)) {
        ++kept;
    }
    if (kept == 0 || !(moments.own > 0)) refuse_no_variance(m);
    SpanSpectrum found{.vectors = Matrix<double>(kept, m)};
    for (std::size_t j = 0; j < kept; ++j) {
        found.values.push_back(all.values[m - 1 - j]);
        std::ranges::copy(all.vectors.row(m - 1 - j), found.vectors.row(j).begin());
    }
    ranks.broadcast(std::span(found.values));
    ranks.broadcast(std::span(found.vectors.values()));
    return found;
}

/// ‖(Σ w_i (φ_i − φ̄)(φ_i − φ̄)' − mλ) v‖.
double residual_of(const SpanMoments& moments, std::span<const double> v, double value) {
    double square = 0;
    for (std::size_t i = 0; i < v.size(); ++i) {
        const double r = dot(moments.squares.row(i), v) - value * v[i];
        square += r * r;
    }
    return std::sqrt(square);
}

Model learn_in_span(const KernelPcaSettings& settings, const Dataset& data, const Nystroem& how) {
    const Stopwatch clock;
    const SpanSample sample = take_span_sample(Task::kpca, data, settings.common, false);
    const CentreSpan<float> span(sample, settings.common, how);
    const SpanMoments moments = moments_of(span, sample, settings);
    SpanSpectrum spectrum = spectrum_of(moments, settings, sample.leaves.ranks());
    const std::size_t kept = spectrum.values.size();
    const double square = dot(moments.mean, moments.mean);
    const double trace = moments.own - moments.total * square;

    Components found;
    found.eigenvalues = Matrix<double>(kept, 3);
    double explained = 0;
    double worst = 0;
    for (std::size_t j = 0; j < kept; ++j) {
        found.eigenvalues(j, 0) = spectrum.values[j];
        found.eigenvalues(j, 1) = trace > 0 ? spectrum.values[j] / trace : 0;
        found.eigenvalues(j, 2) = residual_of(moments, spectrum.vectors.row(j), spectrum.values[j]);
        explained += found.eigenvalues(j, 1);
        worst = std::max(worst, found.eigenvalues(j, 2) / spectrum.values[0]);
    }
    Matrix<double> beta = spectrum.vectors;
    backward_solve(span.factor(), beta.view());
    std::vector<double> bias(kept, 0.0);
    for (std::size_t j = 0; j < kept; ++j) {
        const double sign = flip_to_positive(beta.row(j));
        bias[j] = settings.center ? -sign * dot(spectrum.vectors.row(j), moments.mean) : 0;
    }
    if (settings.center) {
        found.centre = Matrix<double>(1, span.size());
        std::ranges::copy(moments.mean, found.centre->row(0).begin());
        backward_solve(span.factor(), found.centre->view());
    }
    found.moments = Matrix<double>(1, 3);
    found.moments(0, 0) = moments.total;
    found.moments(0, 1) = trace / moments.total;
    found.moments(0, 2) = square;

    ModelParts model = begin_model(Task::kpca, sample, settings.common);
    model.double_precision = true;  // coefficients over centres that lie close cancel
    model.trained.numbers["components"] = static_cast<double>(settings.components);
    model.trained.numbers["centres"] = static_cast<double>(span.size());
    model.trained.bias = settings.center;
    span.write(model, std::move(beta), std::move(bias));
    model.extras.set(std::move(found));
    Report report;
    report.rows = sample.leaves.rows();
    report.free_support_vectors = span.size();
    report.iterations = 1;
    report.figures["components"] = static_cast<double>(kept);
    report.figures["total_variance"] = trace / moments.total;
    report.figures["explained"] = explained;
    report.figures["residual"] = worst;
    report.figures["products"] = 1;
    report.seconds = clock.seconds();
    model.reports = {std::move(report)};
    return Model(std::move(model));
}

}  // namespace

Model KernelPca::fit_in_span(const Dataset& data, MatrixView<const double> /*targets*/,
                             const Nystroem& how) const {
    check_settings(settings_);
    return span_fit(task(), settings_, data,
                    [&](const KernelPcaSettings& settings, const Dataset& own) {
                        return learn_in_span(settings, own, how);
                    });
}

}  // namespace mercer
