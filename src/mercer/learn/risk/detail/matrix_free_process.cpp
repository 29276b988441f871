// With M = LL' + D the preconditioner (solver/linear/conjugate_gradient.hpp), D = σ² W⁻¹, and
// LL' ⪯ K, so that M ⪯ A = K + D,
//
//     log det M ≤ log det A ≤ log det M + n log(1 + tr D⁻¹(K − LL') / n)
//
// (the logarithm is concave, and M⁻¹ ⪯ D⁻¹). With r = b − A x what an answer x leaves of b,
//
//     b'A⁻¹b = b'x + x'r + r'A⁻¹r,     0 ≤ r'A⁻¹r ≤ r'D⁻¹r.
//
// Both together hold log p(y) = −½ y'A⁻¹y − ½ log det A − n/2 log 2π between two numbers, and
// k(x,x) − k_x'A⁻¹k_x from above.
#include "mercer/learn/risk/detail/matrix_free_process.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/learn/risk/detail/evidence_search.hpp"
#include "mercer/learn/risk/detail/gaussian_process_span.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/solver/linear/conjugate_gradient.hpp"

namespace mercer {
namespace {

constexpr const char* mark = "matrix_free";

std::size_t rank_for(std::size_t rows, std::size_t memory_bytes) {
    constexpr std::size_t most = 500;
    return std::clamp<std::size_t>(memory_bytes / 4 / sizeof(double) / rows, 1, most);
}

/// What the answer x leaves of b, given K x.
std::vector<double> residual_of(std::span<const double> b, std::span<const double> x,
                                std::span<const double> image, std::span<const double> d) {
    std::vector<double> r(b.size());
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = b[i] - image[i] - d[i] * x[i];
    return r;
}

void add_evidence(const PivotedCholesky& near, std::span<const double> y,
                  std::span<const double> alpha, std::span<const double> r,
                  std::span<const double> d, Report& report) {
    const auto n = static_cast<double>(y.size());
    double slack = 0;
    for (std::size_t i = 0; i < r.size(); ++i) slack += r[i] * r[i] / d[i];
    const double quadratic = dot(y, alpha) + dot(alpha, r);
    const double determinant = near.log_determinant();
    const double more = n * std::log1p(near.remaining_share() / n);
    const double rest = n * std::log(2 * std::numbers::pi);
    // Sums of n terms are rounded: so much is given away on either side.
    const double rounding = 0x1p-40 * (std::abs(quadratic) + std::abs(determinant) + rest);
    report.figures["log_evidence_at_least"] =
        -(quadratic + slack + determinant + more + rest + rounding) / 2;
    report.figures["log_evidence_at_most"] = -(quadratic + determinant + rest - rounding) / 2;
}

FitStatus fit_status(CgStatus status) {
    switch (status) {
        case CgStatus::converged: return FitStatus::converged;
        case CgStatus::iteration_limit: return FitStatus::iteration_limit;
        case CgStatus::stalled: return FitStatus::stalled;
        default: return FitStatus::cancelled;
    }
}

}  // namespace

Model matrix_free_process(GaussianProcessSettings settings, const Dataset& data) {
    const Stopwatch clock;
    const Progress& progress = settings.common.progress;
    TargetScale rule = settings.common.target_scale;
    if (rule == TargetScale::automatic && settings.optimise) rule = TargetScale::standard;
    Report report;
    if (settings.optimise) search_on_some(settings, data, report);

    const Sample sample = take_sample(Task::gp, data, settings.common);
    const std::size_t n = sample.size();
    const TargetScaling scaling = fit_target_scale(rule, sample.data.y.values, sample.data.weights);
    Matrix<double> y(1, n);
    for (std::size_t i = 0; i < n; ++i) {
        y(0, i) = (sample.data.y.values[i] - scaling.shift) / scaling.scale;
    }
    const auto gram =
        make_gram<double>(settings.common.kernel, sample.x, sample.data.feature_names, progress);
    const auto k = make_operator(gram, {});
    const std::vector<double> d = noise_of_rows(settings.noise, sample.data.weights, n);
    const PivotedCholesky near(
        *k, d, {.rank = rank_for(n, settings.common.memory_bytes), .progress = progress});
    CgSolution found =
        conjugate_gradient(*k, d, y.view(), near, {.tolerance = 1e-8, .progress = progress});
    if (found.status == CgStatus::cancelled && found.iterations == 0) throw Cancelled();

    Report certified = certify_ridge({.alpha = found.x.row(0),
                                      .image = found.image.row(0),
                                      .target = y.row(0),
                                      .weights = sample.data.weights,
                                      .lambda = settings.noise,
                                      .bias = 0,
                                      .has_bias = false});
    certified.figures.merge(report.figures);
    const FitStatus status = fit_status(found.status);
    certified.status = status == FitStatus::converged ? report.status : status;
    certified.bias = scaling.shift;
    certified.iterations = found.iterations;
    certified.history = std::move(found.history);
    certified.free_support_vectors = n;
    certified.figures["noise"] = settings.noise;
    const bool by_rule = convexity_by_rule(gram.kernel(), Task::gp, false) == Convexity::by_rule;
    // Told to stop, K x is what the recursion believes it to be.
    if (by_rule && found.status != CgStatus::cancelled) {
        add_evidence(near, y.row(0), found.x.row(0),
                     residual_of(y.row(0), found.x.row(0), found.image.row(0), d), d, certified);
    }
    CurvatureTest curvature(gram.kernel(), sample.x, directions_of(Task::gp, false));
    settle_bracket(certified, curvature({}, certified.status),
                   std::numeric_limits<double>::infinity());

    ModelParts model = begin_model(Task::gp, sample, settings.common);
    model.double_precision = true;
    model.trained.bias = scaling.shift != 0;
    note_target_scaling(model, scaling);
    model.trained.numbers["noise"] = settings.noise;
    // Weights of rows are not kept in a model, and deviations need them.
    if (settings.keep_factor && sample.data.weights.empty()) model.trained.numbers[mark] = 1;
    std::vector<std::size_t> all(n);
    std::iota(all.begin(), all.end(), std::size_t{0});
    for (double& a : found.x.values()) a *= scaling.scale;
    set_expansion(model, sample, gram.kernel(), all, std::move(found.x), {scaling.shift});
    certified.seconds = clock.seconds();
    model.reports = {std::move(certified)};
    return Model(std::move(model));
}

bool is_matrix_free(const Model& model) {
    return model.task() == Task::gp && model.trained().numbers.contains(mark) &&
           model.trained().numbers.contains("noise");
}

std::vector<double> matrix_free_variance(const Model& model, const Rows& scaled,
                                         const Progress& progress) {
    constexpr std::size_t chunk = 256;
    constexpr std::size_t memory = std::size_t{1} << 30;
    const Expansion& e = model.expansion();
    const auto gram = make_gram<double>(e.kernel, e.points);
    const auto k = make_operator(gram, {});
    const std::vector<double> d(e.size(), model.trained().numbers.at("noise"));
    const PivotedCholesky near(*k, d, {.rank = rank_for(e.size(), memory), .progress = progress});
    std::vector<double> result(scaled.size());
    for (std::size_t first = 0; first < scaled.size(); first += chunk) {
        std::vector<std::size_t> positions(std::min(chunk, scaled.size() - first));
        std::iota(positions.begin(), positions.end(), first);
        const auto points = gram.prepare(scaled.select(positions));
        std::vector<double> own(positions.size());
        gram.diagonal(points, own);
        Matrix<double> b(positions.size(), e.size());
        gram.block(points, gram.reference(), b.view());
        const CgSolution found =
            conjugate_gradient(*k, d, b.view(), near, {.tolerance = 1e-7, .progress = progress});
        if (found.status == CgStatus::cancelled) throw Cancelled();
        for (std::size_t i = 0; i < positions.size(); ++i) {
            const auto r = residual_of(b.row(i), found.x.row(i), found.image.row(i), d);
            const double taken = dot(b.row(i), found.x.row(i)) + dot(found.x.row(i), r);
            // Rounding may take a variance near 0 below it.
            result[first + i] = std::max(0.0, own[i] - taken);
        }
    }
    return result;
}

}  // namespace mercer
