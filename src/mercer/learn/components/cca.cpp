#include "mercer/learn/components/cca.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/detail/patient_fit.hpp"
#include "mercer/learn/detail/sample.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

/// Three matrices of this size, and the eigenvectors of one of twice it.
constexpr std::size_t most_rank = 4000;

/// a bᵀ, block of rows by block of rows.
Matrix<double> product(MatrixView<const double> a, MatrixView<const double> b) {
    constexpr std::size_t grain = 64;
    Matrix<double> c(a.rows, b.rows);
    parallel_ranges(a.rows, grain, [&](std::size_t first, std::size_t last) {
        multiply_transposed(a.block(first, 0, last - first, a.columns), b,
                            c.view().block(first, 0, last - first, b.rows));
    });
    return c;
}

/// One side: the rows, their features and what is known of them.
struct Side {
    Sample sample{};
    Kernel kernel = linear();
    IncompleteCholesky features{};  ///< centred and weighted by `prepare`
    Matrix<double> pivot_factor{};
    std::vector<double> mean{};  ///< of the features
    Matrix<double> spread{};     ///< S + κI, then its Cholesky factor

    std::size_t rank() const { return features.rank(); }
};

/// Features about their mean, row i times √(w_i / Σw), so that products are (co)variances.
void centre(Side& side) {
    const std::size_t n = side.sample.size();
    std::vector<double> share(n);
    double total = 0;
    for (std::size_t i = 0; i < n; ++i) total += share[i] = side.sample.weight(i);
    for (double& w : share) w /= total;
    side.mean.resize(side.rank());
    parallel_for(side.rank(), [&](std::size_t r) {
        const auto row = side.features.factor.row(r);
        double mean = 0;
        for (std::size_t i = 0; i < n; ++i) mean += share[i] * row[i];
        for (std::size_t i = 0; i < n; ++i) row[i] = (row[i] - mean) * std::sqrt(share[i]);
        side.mean[r] = mean;
    });
}

Side prepare(Sample sample, const Kernel& kernel, const CcaSettings& s, const char* name) {
    Side side{.sample = std::move(sample)};
    const std::size_t n = side.sample.size();
    const auto gram =
        make_gram<double>(kernel, side.sample.x, side.sample.data.feature_names, s.x.progress);
    side.kernel = gram.kernel();
    // Two factors and their rows while they are made.
    const std::size_t room = std::max<std::size_t>(1, s.x.memory_bytes / 4 / sizeof(double) / n);
    const std::size_t rank = std::min({s.rank == 0 ? most_rank : s.rank, most_rank, room});
    side.features =
        incomplete_cholesky(*make_operator(gram, {}),
                            {.rank = rank, .tolerance = s.tolerance, .progress = s.x.progress});
    if (side.rank() == 0) {
        throw InvalidInput(std::string("the kernel is 0 on all ") + name +
                           " rows: there is nothing to correlate");
    }
    side.pivot_factor = side.features.pivot_factor();
    centre(side);
    side.spread = product(side.features.factor.view(), side.features.factor.view());
    std::vector<double> variance(side.rank());
    for (std::size_t r = 0; r < side.rank(); ++r) variance[r] = side.spread(r, r) += s.kappa;
    bool independent = cholesky(side.spread.view());
    for (std::size_t r = 0; r < side.rank() && independent; ++r) {
        // What is left of a feature's variance beside the others: rounding is no variance.
        independent = side.spread(r, r) * side.spread(r, r) > 1e-12 * variance[r];
    }
    if (!independent) {
        throw InvalidInput(std::string("the features of the ") + name +
                           " rows are linearly dependent: use kappa > 0, a smaller rank or a "
                           "larger tolerance");
    }
    return side;
}

/// L_u⁻¹ S_uv L_v'⁻¹, with the factors of the two spreads.
Matrix<double> whitened_covariance(const Side& u, const Side& v) {
    // Row r of the product is u_r·v; solving along its rows with L_v gives S_uv L_v'⁻¹.
    Matrix<double> m = product(u.features.factor.view(), v.features.factor.view());
    forward_solve(v.spread.view(), m.view());
    Matrix<double> turned(m.columns(), m.rows());
    for (std::size_t i = 0; i < m.rows(); ++i) {
        for (std::size_t j = 0; j < m.columns(); ++j) turned(j, i) = m(i, j);
    }
    forward_solve(u.spread.view(), turned.view());
    return turned;  // v × u
}

/// Singular triples with the largest values.
struct Triples {
    std::vector<double> values{};
    Matrix<double> left{};   ///< one a row
    Matrix<double> right{};  ///< likewise
};

/// From the symmetric matrix (0 M'; M 0), whose eigenvalues are ± the singular values: no squares,
/// so that small correlations keep their digits. `m` is v × u.
Triples singular(const Matrix<double>& m, std::size_t wanted, const Progress& progress) {
    const std::size_t u = m.columns(), v = m.rows(), n = u + v;
    Matrix<double> both(n, n);
    for (std::size_t i = 0; i < v; ++i) std::ranges::copy(m.row(i), both.row(u + i).begin());
    const Spectrum spectrum = symmetric_eigen(both.view(), true, progress);
    const double zero = 1e-12 * std::max(1.0, spectrum.values.back());
    Triples t;
    std::size_t count = 0;
    while (count < std::min({wanted, u, v}) && spectrum.values[n - 1 - count] > zero) ++count;
    t.left = Matrix<double>(count, u);
    t.right = Matrix<double>(count, v);
    for (std::size_t p = 0; p < count; ++p) {
        t.values.push_back(spectrum.values[n - 1 - p]);
        const auto vector = spectrum.vectors.row(n - 1 - p);
        // Both halves have length 1/√2 wherever the value is not 0.
        std::ranges::copy(vector.first(u), t.left.row(p).begin());
        std::ranges::copy(vector.last(v), t.right.row(p).begin());
    }
    return t;
}

/// f_p on the sample, each row i times √(w_i / Σw); one row a pair.
Matrix<double> scores(const Side& side, const Matrix<double>& weights) {
    const std::size_t n = side.features.factor.columns();
    Matrix<double> f(weights.rows(), n);
    parallel_ranges(n, 1024, [&](std::size_t first, std::size_t last) {
        for (std::size_t p = 0; p < weights.rows(); ++p) {
            for (std::size_t r = 0; r < side.rank(); ++r) {
                const auto g = side.features.factor.row(r);
                const double w = weights(p, r);
                for (std::size_t i = first; i < last; ++i) f(p, i) += w * g[i];
            }
        }
    });
    return f;
}

/// Feature-space weights of variance 1, and the scores they give.
struct Half {
    Matrix<double> weights{};
    Matrix<double> scores{};
};

Half half(const Side& side, Matrix<double> whitened) {
    Half h{.weights = std::move(whitened)};
    backward_solve(side.spread.view(), h.weights.view());
    h.scores = scores(side, h.weights);
    for (std::size_t p = 0; p < h.weights.rows(); ++p) {
        const double deviation = std::sqrt(dot(h.scores.row(p), h.scores.row(p)));
        const double factor = deviation > 0 ? 1 / deviation : 1;
        for (double& w : h.weights.row(p)) w *= factor;
        for (double& f : h.scores.row(p)) f *= factor;
    }
    return h;
}

/// The functions as an expansion on the pivots: f(x) = c'(L_pp⁻¹ k(p, x) − mean).
ModelParts model_of(const Side& side, const Half& h, const FitSettings& settings) {
    ModelParts model = begin_model(Task::cca, side.sample, settings);
    // Coefficients of both signs and any size: single precision would lose what they cancel.
    model.double_precision = true;
    std::vector<double> bias;
    for (std::size_t p = 0; p < h.weights.rows(); ++p) {
        bias.push_back(-dot(h.weights.row(p), side.mean));
    }
    Matrix<double> coefficients = h.weights;
    backward_solve(side.pivot_factor.view(), coefficients.view());
    set_expansion(model, side.sample, side.kernel, side.features.pivots, std::move(coefficients),
                  std::move(bias));
    return model;
}

/// f's largest coefficient positive; g follows, so that the covariance stays positive.
void fix_signs(ModelParts& x, ModelParts& y) {
    for (std::size_t p = 0; p < x.expansion.outputs(); ++p) {
        const auto row = x.expansion.coefficients.row(p);
        const double largest = *std::ranges::max_element(
            row, [](double a, double b) { return std::abs(a) < std::abs(b); });
        if (largest >= 0) continue;
        for (ModelParts* model : {&x, &y}) {
            for (double& a : model->expansion.coefficients.row(p)) a = -a;
            model->expansion.bias[p] = -model->expansion.bias[p];
        }
    }
}

void check(const CcaSettings& s) {
    require_range("kappa", s.kappa, s.kappa >= 0, "0 or greater");
    require_range("tolerance", s.tolerance, s.tolerance >= 0 && s.tolerance < 1,
                  "0 or greater, and below 1");
    if (s.pairs == 0) throw InvalidInput("pairs = 0 must be at least 1");
}

}  // namespace

namespace {

Model learn(const CcaSettings& s, const Dataset& x, const Dataset& y) {
    if (x.size() != y.size()) {
        throw InvalidInput("there are " + std::to_string(x.size()) + " rows on the one side and " +
                           std::to_string(y.size()) + " on the other; they must come in pairs");
    }
    const Stopwatch clock;
    Dataset other = y;
    other.weights = x.weights;
    FitSettings second = s.x;
    second.scaling = s.y_scaling;
    Sample first_sample = take_sample(Task::cca, x, s.x);
    if (first_sample.size() < 2) throw InvalidInput("one row has no variance; give at least two");
    const Side u = prepare(std::move(first_sample), s.x.kernel, s, "first");
    const Side v = prepare(take_sample(Task::cca, other, second), s.y_kernel, s, "second");
    if (!keep_going(s.x.progress, {"canonical pairs", -1})) throw Cancelled();
    const Triples t = singular(whitened_covariance(u, v), s.pairs, s.x.progress);
    if (t.values.empty()) {
        throw InvalidInput(
            "no function of the first rows is correlated with one of the second: one of them "
            "may be constant");
    }
    const Half f = half(u, t.left), g = half(v, t.right);
    ModelParts model = model_of(u, f, s.x);
    ModelParts companion = model_of(v, g, second);
    fix_signs(model, companion);
    Matrix<double> correlations(t.values.size(), 2);
    for (std::size_t p = 0; p < t.values.size(); ++p) {
        correlations(p, 0) = t.values[p];
        correlations(p, 1) = dot(f.scores.row(p), g.scores.row(p));
    }
    model.trained.numbers = {{"kappa", s.kappa}, {"tolerance", s.tolerance}};
    Report report;
    report.rows = u.sample.size();
    report.free_support_vectors = model.expansion.size() + companion.expansion.size();
    report.figures = {{"rank_x", static_cast<double>(u.rank())},
                      {"rank_y", static_cast<double>(v.rank())},
                      {"missed_x", u.features.remaining / u.features.trace},
                      {"missed_y", v.features.remaining / v.features.trace}};
    report.seconds = clock.seconds();
    model.reports = {std::move(report)};
    add_table(model, "correlations", std::move(correlations));
    model.extras.set(Companion(std::make_shared<const Model>(std::move(companion))));
    return Model(std::move(model));
}

}  // namespace

Model KernelCca::fit(const Dataset& x, const Dataset& y) const {
    check(settings_);
    const auto fit_some = [&](const FitSettings& common, const std::vector<std::size_t>* rows) {
        CcaSettings own = settings_;
        own.x = common;
        return rows ? learn(own, x.select(*rows), y.select(*rows)) : learn(own, x, y);
    };
    return patient_fit_of(Task::cca, settings_.x, x, fit_some);
}

std::vector<double> canonical_correlations(const Model& model, const Rows& x, const Rows& y,
                                           const Progress& progress) {
    const Model* second = companion_of(model);
    if (model.task() != Task::cca || !second) {
        throw InvalidInput("a model of the task " + task_name(model.task()) +
                           " has no canonical correlations; train one of the task cca");
    }
    if (x.size() != y.size() || x.size() < 2) {
        throw InvalidInput("there are " + std::to_string(x.size()) + " rows on the one side and " +
                           std::to_string(y.size()) +
                           " on the other; they must come in pairs, at least two of them");
    }
    const Matrix<double> f = model.decision(x, progress);
    const Matrix<double> g = second->decision(y, progress);
    std::vector<double> result;
    const auto n = static_cast<double>(x.size());
    for (std::size_t p = 0; p < f.columns(); ++p) {
        double mean_f = 0, mean_g = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            mean_f += f(i, p) / n;
            mean_g += g(i, p) / n;
        }
        double ff = 0, gg = 0, fg = 0;
        for (std::size_t i = 0; i < x.size(); ++i) {
            const double a = f(i, p) - mean_f, b = g(i, p) - mean_g;
            ff += a * a;
            gg += b * b;
            fg += a * b;
        }
        result.push_back(ff > 0 && gg > 0 ? fg / std::sqrt(ff * gg) : 0.0);
    }
    return result;
}

MachineEntry cca_entry() {
    return {.task = Task::cca,
            .name = "cca",
            .family = "components",
            .learns = Learns::functions,
            .about = "functions of two views of the rows that vary together most",
            .command = "cca"};
}

}  // namespace mercer
