// kTDSEP (ica.hpp): features by pivots, whitened, and one rotation for all lagged covariances.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/components/ica.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"
#include "mercer/solver/linear/detail/joint_diagonal.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

constexpr std::size_t most_directions = 500;
constexpr std::size_t most_lags = 10'000;

const Describe<TdsepSettings>& tdsep_settings() {
    static const auto settings = [] {
        using S = TdsepSettings;
        Describe<S> d;
        d.add(&S::components, "components", "sources; 0: as many as columns");
        d.add(&S::basis, "basis", "directions of feature space, at most",
              Range::between(2, most_directions));
        d.add(&S::lags, "lags", "steps of time looked back over: 1, 2, … so many",
              Range::between(1, most_lags));
        d.add(&S::sweeps, "sweeps", "over all pairs of directions, at most", Range::at_least(1));
        d.add(&S::tolerance, "tolerance", "stop when a sweep turns no pair by more than this angle",
              Range::above(0));
        return d;
    }();
    return settings;
}

void check_rows(const TdsepSettings& s, const Dataset& data, std::size_t rows) {
    if (!data.weights.empty() &&
        std::ranges::any_of(data.weights, [&](double w) { return w != data.weights.front(); })) {
        throw InvalidInput("rows in the order of time have no weights; leave them out");
    }
    if (rows < 2 * s.lags) {
        throw InvalidInput(std::to_string(rows) + " rows are too few for `lags` = " +
                           std::to_string(s.lags) + ": at most " + std::to_string(rows / 2) +
                           ", half as many as rows, can be looked back over");
    }
    if (is_centered(s.common.kernel)) {
        throw InvalidInput("the features are centred by themselves; leave center(…) out");
    }
}

/// Whitened features, one a row of `z`: z = W (g − mean), g the column of the Cholesky factor.
struct WhiteFeatures {
    Kernel kernel = linear();
    IncompleteCholesky factor{};
    std::vector<double> mean{};
    Matrix<double> whitening{};  ///< W, directions × pivots
    Matrix<double> z{};          ///< directions × rows
};

Matrix<double> covariance_of(MatrixView<const double> a, MatrixView<const double> b) {
    Matrix<double> c(a.rows, b.rows);
    multiply_transposed(a, b, c.view());
    for (double& value : c.values()) value /= static_cast<double>(a.columns);
    return c;
}

Matrix<double> product_of(const Matrix<double>& a, const Matrix<double>& b) {
    Matrix<double> c(a.rows(), b.columns());
    for (std::size_t i = 0; i < a.rows(); ++i) {
        for (std::size_t k = 0; k < a.columns(); ++k) {
            for (std::size_t j = 0; j < b.columns(); ++j) c(i, j) += a(i, k) * b(k, j);
        }
    }
    return c;
}

WhiteFeatures white_features(const TdsepSettings& s, const Sample& sample, const Progress& told) {
    const auto gram = make_gram<double>(s.common.kernel, sample.x, sample.data.feature_names, told);
    WhiteFeatures f{.kernel = gram.kernel()};
    // More pivots than directions, so that the leading directions are those of all images.
    f.factor = incomplete_cholesky(*make_operator(gram, {}),
                                   {.rank = 5 * s.basis, .tolerance = 1e-12, .progress = told});
    Matrix<double> g = f.factor.factor;
    const std::size_t n = sample.size();
    for (std::size_t r = 0; r < g.rows(); ++r) {
        const auto row = g.row(r);
        f.mean.push_back(std::accumulate(row.begin(), row.end(), 0.0) / static_cast<double>(n));
        for (double& value : row) value -= f.mean.back();
    }
    if (g.rows() == 0) throw InvalidInput("the rows do not vary: there is nothing to separate");
    const Spectrum spectrum =
        symmetric_eigen(covariance_of(std::as_const(g).view(), std::as_const(g).view()).view());
    const std::size_t pivots = g.rows();
    const double least = 1e-10 * spectrum.values.back();
    std::size_t directions = 0;
    while (directions < std::min(s.basis, pivots) &&
           spectrum.values[pivots - 1 - directions] >
               std::max(least, std::numeric_limits<double>::min())) {
        ++directions;
    }
    f.whitening = Matrix<double>(directions, pivots);
    for (std::size_t r = 0; r < directions; ++r) {
        const double scale = 1 / std::sqrt(spectrum.values[pivots - 1 - r]);
        for (std::size_t q = 0; q < pivots; ++q) {
            f.whitening(r, q) = scale * spectrum.vectors(pivots - 1 - r, q);
        }
    }
    f.z = product_of(f.whitening, g);
    return f;
}

void check_directions(std::size_t directions, std::size_t components, std::size_t rows) {
    if (directions < components || components < 2) {
        throw InvalidInput(
            "there are " + std::to_string(directions) + " directions in which the rows vary, and " +
            std::to_string(components) +
            " components are asked for: there must be at least 2, and no more than directions. "
            "Another kernel, or a larger `basis`, has more of them");
    }
    if (rows < 2 * directions) {
        throw InvalidInput(std::to_string(rows) + " rows are too few for " +
                           std::to_string(directions) +
                           " directions of feature space: there must be twice as many; take a "
                           "smaller `basis`");
    }
}

/// E[z(t) z(t − lag)'], its symmetric part: a source is not correlated with another's past.
std::vector<Matrix<double>> lagged_covariances(const Matrix<double>& z, std::size_t lags,
                                               const Progress& told) {
    std::vector<Matrix<double>> all;
    const std::size_t n = z.columns();
    for (std::size_t lag = 1; lag <= lags; ++lag) {
        if (!keep_going(told, {"lagged covariances", -1})) throw Cancelled();
        const MatrixView<const double> now = z.view().block(0, lag, z.rows(), n - lag);
        const MatrixView<const double> then = z.view().block(0, 0, z.rows(), n - lag);
        Matrix<double> c = covariance_of(now, then);
        for (std::size_t i = 0; i < c.rows(); ++i) {
            for (std::size_t j = 0; j < i; ++j) c(i, j) = c(j, i) = (c(i, j) + c(j, i)) / 2;
        }
        all.push_back(std::move(c));
    }
    return all;
}

/// Which directions come first, and with which sign.
struct Ranking {
    std::vector<std::size_t> order{};
    std::vector<double> share{};  ///< mean squared correlation with the columns, by direction
    std::vector<double> sign{};
};

Ranking ranked(const Matrix<double>& sources, const Rows& x) {
    const std::size_t n = x.size(), d = x.columns(), m = sources.rows();
    Matrix<double> columns(d, n);
    std::vector<double> row(d);
    for (std::size_t i = 0; i < n; ++i) {
        x.copy_row(i, row);
        for (std::size_t j = 0; j < d; ++j) columns(j, i) = row[j];
    }
    for (std::size_t j = 0; j < d; ++j) {
        const auto c = columns.row(j);
        const double mean = std::accumulate(c.begin(), c.end(), 0.0) / static_cast<double>(n);
        for (double& value : c) value -= mean;
        const double size = std::sqrt(std::inner_product(c.begin(), c.end(), c.begin(), 0.0) /
                                      static_cast<double>(n));
        for (double& value : c) value = size > 0 ? value / size : 0;
    }
    const Matrix<double> likeness = covariance_of(sources.view(), std::as_const(columns).view());
    Ranking r{.order = std::vector<std::size_t>(m)};
    std::iota(r.order.begin(), r.order.end(), std::size_t{0});
    for (std::size_t s = 0; s < m; ++s) {
        const auto c = likeness.row(s);
        r.share.push_back(std::inner_product(c.begin(), c.end(), c.begin(), 0.0) /
                          static_cast<double>(d));
        const double largest = *std::ranges::max_element(
            c, [](double a, double b) { return std::abs(a) < std::abs(b); });
        r.sign.push_back(largest < 0 ? -1 : 1);
    }
    std::ranges::stable_sort(r.order,
                             [&](std::size_t a, std::size_t b) { return r.share[a] > r.share[b]; });
    return r;
}

/// The least distance of two kept sources' autocovariances, in units of chance: each number is
/// known to within about 1/√n, so that of two equal courses it is near 1.
double separation_of(const std::vector<Matrix<double>>& covariances, const Ranking& r,
                     std::size_t kept, std::size_t rows) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t a = 0; a < kept; ++a) {
        for (std::size_t b = a + 1; b < kept; ++b) {
            double sum = 0;
            for (const Matrix<double>& c : covariances) {
                const double d = c(r.order[a], r.order[a]) - c(r.order[b], r.order[b]);
                sum += d * d;
            }
            least = std::min(least, sum);
        }
    }
    return least * static_cast<double>(rows) / (2 * static_cast<double>(covariances.size()));
}

double squared_entries(const std::vector<Matrix<double>>& matrices) {
    double sum = 0;
    for (const Matrix<double>& c : matrices) {
        for (const double value : c.values()) sum += value * value;
    }
    return sum;
}

/// s = V W (L⁻¹ k(p, x) − mean) over the pivots p, those of the order and with their signs.
void set_sources(ModelParts& model, const Sample& sample, const WhiteFeatures& f,
                 const Matrix<double>& weights, const Ranking& r, std::size_t kept) {
    Matrix<double> own(kept, weights.columns());
    std::vector<double> bias;
    for (std::size_t s = 0; s < kept; ++s) {
        const auto from = weights.row(r.order[s]);
        for (std::size_t q = 0; q < from.size(); ++q) own(s, q) = r.sign[r.order[s]] * from[q];
        bias.push_back(
            -std::inner_product(own.row(s).begin(), own.row(s).end(), f.mean.begin(), 0.0));
    }
    backward_solve(f.factor.pivot_factor().view(), own.view());
    set_expansion(model, sample, f.kernel, f.factor.pivots, std::move(own), std::move(bias));
}

Model separate(const TdsepSettings& s, const Dataset& data, const Run& run) {
    tdsep_settings().check(s);
    const Sample sample = take_sample(tdsep_task, data, s.common);
    const std::size_t n = sample.size();
    check_rows(s, data, n);
    const WhiteFeatures f = white_features(s, sample, run.progress());
    const std::size_t kept = s.components == 0 ? sample.x.columns() : s.components;
    check_directions(f.z.rows(), kept, n);
    std::vector<Matrix<double>> covariances = lagged_covariances(f.z, s.lags, run.progress());
    const double whole = std::max(squared_entries(covariances), std::numeric_limits<double>::min());
    const JointDiagonal found =
        joint_diagonal(std::move(covariances),
                       {.sweeps = s.sweeps, .tolerance = s.tolerance, .progress = run.progress()});
    const Ranking r = ranked(product_of(found.rotation, f.z), sample.x);
    ModelParts model = begin_model(tdsep_task, sample, s.common);
    model.double_precision = true;
    set_sources(model, sample, f, product_of(found.rotation, f.whitening), r, kept);
    model.trained.tolerance = s.tolerance;
    model.trained.numbers = {{"lags", static_cast<double>(s.lags)},
                             {"basis", static_cast<double>(f.z.rows())}};
    Matrix<double> shares(kept, 1);
    for (std::size_t c = 0; c < kept; ++c) shares(c, 0) = r.share[r.order[c]];
    add_table(model, "shares", std::move(shares));
    Report report;
    report.status = run.is_over()     ? fit_status(run)
                    : found.converged ? FitStatus::converged
                                      : FitStatus::iteration_limit;
    report.rows = n;
    report.free_support_vectors = model.expansion.size();
    report.primal = found.history.back();
    report.history = found.history;
    report.iterations = found.sweeps();
    report.figures = {{"off_diagonal", found.history.back() / whole},
                      {"off_diagonal_at_first", found.history.front() / whole},
                      {"sweeps", static_cast<double>(found.sweeps())},
                      {"basis", static_cast<double>(f.z.rows())},
                      {"lags", static_cast<double>(s.lags)},
                      {"left_out", std::max(0.0, f.factor.remaining) / f.factor.trace},
                      {"separation", separation_of(found.matrices, r, kept, n)}};
    report.seconds = run.seconds();
    model.reports = {std::move(report)};
    return Model(std::move(model));
}

}  // namespace

Model Tdsep::fit(const Dataset& data) const {
    require_numbers_only(data.x, "the separation of sources");
    const Run run = settings_.common.run();
    try {
        return separate(settings_, data, run);
    } catch (const Cancelled&) {  // rows spread over the data would have other lags
        stopped_without_model(run, settings_.common.time_limit);
    }
}

MachineEntry ica_entry();  // whose command it is another way of

MachineEntry tdsep_entry() {
    return tdsep_settings().entry(
        {.task = tdsep_task,
         .name = "tdsep",
         .family = "components",
         .learns = Learns::functions,
         .about = "sources of mixed rows by their course in time, also of "
                  "mixtures that are not linear",
         .command = ica_entry().command},
        tdsep);
}

}  // namespace mercer
