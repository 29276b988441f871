// A Gaussian process in the span of some rows. Under k̂(x, z) = φ(x)·φ(z) of the span
// (learn/detail/centre_span.hpp), with G = Σ w_i φ_i φ_i', c = Σ w_i y_i φ_i and A = K̂ + σ² W⁻¹,
//
//     mean       w·φ(x),                                   w = (G + σ² I)⁻¹ c
//     variance   k(x,x) − φ(x)' (I + σ² G⁻¹)⁻¹ φ(x)
//     y'A⁻¹y  =  (Σ w_i y_i² − c'w) / σ²,
//     log det A = log det(I + G/σ²) + Σ log(σ²/w_i)
//
// (Quiñonero-Candela and Rasmussen 2005: what the span leaves of k(x, x) stays in the variance).
// With τ = Σ w_i (k(x_i, x_i) − φ_i·φ_i) the evidence under k itself lies between
//
//     log N(y; 0, A) − τ / 2σ²     and     −½ log det A − ½ y'(A + τ W⁻¹)⁻¹y − n/2 log 2π
//
// (Titsias 2009 and 2014: K̂ ⪯ K ⪯ K̂ + τ W⁻¹).
#include "mercer/learn/risk/detail/gaussian_process_span.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/detail/centre_span.hpp"
#include "mercer/learn/passes/detail/span_products.hpp"
#include "mercer/learn/risk/detail/ridge_span.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

[[noreturn]] void refuse_rounding(const CentreSpan<float>& span) {
    throw InvalidInput(
        "the " + std::to_string(span.size()) +
        " centres lie too close for the deviations to be told from rounding; use fewer "
        "`centres`");
}

/// What a pass over the rows leaves of them.
struct SpanEvidence {
    double squares = 0;  ///< Σ w_i y_i²
    double left = 0;     ///< τ
    double logs = 0;     ///< Σ log w_i
    std::size_t rows = 0;
    SpanNormal normal{};  ///< G and c

    /// y'(K̂ + s W⁻¹)⁻¹y and log det(G + s I).
    std::pair<double, double> at(double s) const {
        const std::vector<double>& c = normal.right;
        Matrix<double> system = normal.squares;
        for (std::size_t k = 0; k < c.size(); ++k) system(k, k) += s;
        if (!cholesky(system.view()))
            throw InvalidInput("noise = " + format_number(s) +
                               " is too small for rounding in the span of the centres; use more "
                               "noise or fewer `centres`");
        Matrix<double> w(1, c.size());
        std::ranges::copy(c, w.row(0).begin());
        cholesky_solve(std::as_const(system).view(), w.view());
        return {(squares - dot(w.row(0), c)) / s, log_determinant(std::as_const(system).view())};
    }
    double log_determinant_at(double noise, double of_g) const {
        const auto n = static_cast<double>(rows);
        const auto m = static_cast<double>(normal.right.size());
        return of_g - m * std::log(noise) + n * std::log(noise) - logs;
    }
};

/// The bounds of log p(y) under the kernel itself.
void add_bounds(const SpanEvidence& e, double noise, Report& report) {
    const auto [quadratic, of_g] = e.at(noise);
    const double rest = e.log_determinant_at(noise, of_g) +
                        static_cast<double>(e.rows) * std::log(2 * std::numbers::pi);
    report.figures["log_evidence_at_least"] = -(quadratic + rest + e.left / noise) / 2;
    report.figures["log_evidence_at_most"] = -(e.at(noise + e.left).first + rest) / 2;
}

/// L̃ with L̃L̃' = L (I + σ² G⁻¹) L', so that v'(L̃L̃')⁻¹v of v = k_M(x) is what the variance loses.
Matrix<double> variance_factor(const CentreSpan<float>& span, Matrix<double> g, double noise,
                               const Progress& progress) {
    const std::size_t m = span.size();
    if (!cholesky(g.view(), progress)) refuse_rounding(span);
    cholesky_inverse(g.view(), progress);
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j <= i; ++j) g(i, j) = noise * g(i, j) + (i == j ? 1 : 0);
    }
    if (!cholesky(g.view(), progress)) refuse_rounding(span);
    // L times it, both lower triangular: row i of the product is Σ_k L_ik C_k.
    Matrix<double> product(m, m);
    const MatrixView<const double> l = span.factor();
    for (std::size_t i = 0; i < m; ++i) {
        if (i % 64 == 0 &&
            !keep_going(progress, {"deviations", static_cast<double>(i) / static_cast<double>(m)}))
            throw Cancelled();
        for (std::size_t k = 0; k <= i; ++k) {
            const double by = l(i, k);
            for (std::size_t j = 0; j <= k; ++j) product(i, j) += by * g(k, j);
        }
    }
    return product;
}

}  // namespace

void search_on_some(GaussianProcessSettings& settings, const Dataset& data, Report& report) {
    constexpr std::size_t most = 2000;
    refuse_spread("a search for the largest evidence");
    const double entries = static_cast<double>(settings.common.memory_bytes / sizeof(double));
    const auto fit = std::max<std::size_t>(static_cast<std::size_t>(std::sqrt(entries)), 2);
    const std::vector<std::size_t> some =
        spread_rows(data, false, std::min({most, fit, data.size()}));
    GaussianProcessSettings own = settings;
    own.keep_factor = false;
    const Model found = gaussian_process(own).fit(data.select(some));
    settings.common.kernel = found.expansion().kernel;
    settings.noise = found.trained().numbers.at("noise");
    settings.optimise = false;
    report.figures = found.report().figures;
    report.figures.erase("log_evidence");
    report.figures["searched_rows"] = static_cast<double>(some.size());
    report.history = found.report().history;
    report.status = found.report().status;
}

Model process_in_span(GaussianProcessSettings settings, const Dataset& data, const Nystroem& how) {
    const Stopwatch clock;
    const Progress& progress = settings.common.progress;
    TargetScale rule = settings.common.target_scale;
    if (rule == TargetScale::automatic && settings.optimise) rule = TargetScale::standard;
    Report searched;
    if (settings.optimise) search_on_some(settings, data, searched);

    const SpanSample sample = take_span_sample(Task::gp, data, settings.common);
    const TargetScaling scaling = span_target_scale(rule, sample.data.y.values, sample);
    Matrix<double> y(1, sample.size());
    for (std::size_t i = 0; i < sample.size(); ++i) {
        y(0, i) = (sample.data.y.values[i] - scaling.shift) / scaling.scale;
    }
    const CentreSpan<float> span(sample, settings.common, how);
    SpanEvidence evidence;
    const SpanProducts products(span, sample, progress);
    SpanRidge found =
        solve_span_ridge({products, sample, y, settings.noise, false, progress}, &evidence.normal);
    const auto sum = [&](const auto& term) { return sample.leaves.sum(term); };
    evidence.squares = sum([&](std::size_t i) { return sample.weight(i) * y(0, i) * y(0, i); });
    evidence.logs = sum([&](std::size_t i) { return std::log(sample.weight(i)); });
    evidence.rows = sample.leaves.rows();
    // Kernel values are rounded to single precision: so much is counted as left in any case.
    const double own = products.diagonal();
    evidence.left = own * 0x1p-22;
    double spanned = 0;
    for (std::size_t k = 0; k < span.size(); ++k) spanned += evidence.normal.squares(k, k);
    evidence.left += std::max(own - spanned, 0.0);

    ModelParts model = begin_model(Task::gp, sample, settings.common);
    model.double_precision = true;
    model.trained.bias = scaling.shift != 0;
    note_target_scaling(model, scaling);
    model.trained.numbers["noise"] = settings.noise;
    Report report = std::move(found.reports.front());
    report.figures = std::move(searched.figures);
    report.history = std::move(searched.history);
    report.status = searched.status;
    report.figures["noise"] = settings.noise;
    add_bounds(evidence, settings.noise, report);
    report.bias = scaling.shift;
    report.free_support_vectors = span.size();
    if (settings.keep_factor) {
        model.extras.set(Factor(
            variance_factor(span, std::move(evidence.normal.squares), settings.noise, progress)));
    }
    for (double& weight : found.weights.values()) weight *= scaling.scale;
    products.write(model, std::move(found.weights), {scaling.shift});
    report.seconds = clock.seconds();
    model.reports = {std::move(report)};
    return Model(std::move(model));
}

}  // namespace mercer
