#include "mercer/learn/risk/ridge.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "mercer/base/detail/buffer.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/describe.hpp"
#include "mercer/learn/passes/detail/linear_products.hpp"
#include "mercer/learn/passes/detail/span_products.hpp"
#include "mercer/learn/risk/detail/ridge_span.hpp"
#include "mercer/learn/risk/detail/risk_matrix.hpp"
#include "mercer/solver/linear/conjugate_gradient.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/mixed_cholesky.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

/// Coefficients may be of any size.
constexpr double no_bound = std::numeric_limits<double>::infinity();

[[noreturn]] void too_small_lambda(const Kernel& kernel, double lambda) {
    throw InvalidInput("the kernel " + kernel.text() + " with lambda = " + format_number(lambda) +
                       " gives a matrix that is not positive definite on this data; use a larger "
                       "lambda or a positive definite kernel");
}

/// What one λ leads to.
struct Solution {
    double lambda = 0;
    Matrix<double> alpha{};  ///< outputs × rows
    std::vector<double> bias{};
    Matrix<double> image{};  ///< K α
    Matrix<double> loo{};    ///< residuals, outputs × rows; empty when not asked for
    double loo_error = 0;    ///< over all outputs
    FitStatus status = FitStatus::converged;
    std::size_t iterations = 0;
    std::vector<double> history{};
};

class Trainer {
   public:
    Trainer(const RidgeSettings& settings, const Sample& sample, Matrix<double> targets)
        : settings_(settings),
          sample_(sample),
          targets_(std::move(targets)),
          gram_(make_gram<double>(settings.common.kernel, sample.x, sample.data.feature_names,
                                  settings.common.progress)) {}

    Solution solve() {
        if (!settings_.path.empty()) return best_of_path();
        const std::size_t n = sample_.size();
        const bool fits = n <= settings_.common.memory_bytes / sizeof(double) / n;
        const bool direct = settings_.method == RidgeMethod::cholesky ||
                            (settings_.method == RidgeMethod::automatic && fits);
        if (!direct && settings_.leave_one_out) {
            throw InvalidInput("leave-one-out errors need the whole matrix of " +
                               std::to_string(n) + " rows in memory; allow " +
                               std::to_string(n * n * sizeof(double)) + " bytes");
        }
        if (settings_.method == RidgeMethod::automatic && !settings_.leave_one_out) {
            constexpr std::size_t few_rows = 512;
            auto rows = n < few_rows ? std::nullopt
                                     : gram_.explicit_rows(gram_.reference(), Columns::all());
            if (rows && 2 * rows->columns < n) return by_weights(std::move(*rows));
        }
        return direct ? by_cholesky() : by_conjugate_gradient();
    }

    const Gram<double>& gram() const { return gram_; }
    const Matrix<double>& targets() const { return targets_; }
    const Matrix<double>& path() const { return path_; }

    Report report(const Solution& s, std::size_t output) const {
        Report r = certify_ridge({.alpha = s.alpha.row(output),
                                  .image = s.image.row(output),
                                  .target = targets_.row(output),
                                  .weights = sample_.data.weights,
                                  .lambda = s.lambda,
                                  .bias = s.bias[output],
                                  .has_bias = settings_.bias});
        r.status = s.status;
        r.iterations = s.iterations;
        r.history = s.history;
        r.figures["lambda"] = s.lambda;
        if (s.loo.rows() > 0) r.figures["loo_error"] = mean_square(s.loo.row(output));
        return r;
    }

   private:
    std::size_t outputs() const { return targets_.rows(); }

    double mean_square(std::span<const double> residuals) const {
        double sum = 0;
        double total = 0;
        for (std::size_t i = 0; i < residuals.size(); ++i) {
            sum += sample_.weight(i) * residuals[i] * residuals[i];
            total += sample_.weight(i);
        }
        return sum / total;
    }

    std::vector<double> shift(double lambda) const {
        std::vector<double> result(sample_.size());
        for (std::size_t i = 0; i < result.size(); ++i) result[i] = lambda / sample_.weight(i);
        return result;
    }

    /// Targets, and a row of ones where there is a bias.
    Matrix<double> right_hand_sides() const {
        const std::size_t n = sample_.size();
        Matrix<double> b(outputs() + (settings_.bias ? 1 : 0), n, 1.0);
        std::copy(targets_.values().begin(), targets_.values().end(), b.values().begin());
        return b;
    }

    /// From u = A⁻¹y and v = A⁻¹1: b = Σu / Σv, α = u − b v, so that Σα = 0.
    void combine(const Matrix<double>& x, Solution& s) const {
        s.alpha = Matrix<double>(outputs(), sample_.size());
        s.bias.assign(outputs(), 0.0);
        for (std::size_t o = 0; o < outputs(); ++o) {
            const auto u = x.row(o);
            const auto to = s.alpha.row(o);
            std::ranges::copy(u, to.begin());
            if (!settings_.bias) continue;
            const auto v = x.row(outputs());
            s.bias[o] =
                std::accumulate(u.begin(), u.end(), 0.0) / std::accumulate(v.begin(), v.end(), 0.0);
            for (std::size_t i = 0; i < to.size(); ++i) to[i] -= s.bias[o] * v[i];
        }
    }

    /// y_i − f₋ᵢ(x_i) = α_i / G_ii with G = A⁻¹, or with a bias A⁻¹ − vv'/1'v, v = A⁻¹1: the
    /// system without row i is the whole one with an unknown in the place of y_i that makes α_i 0.
    void leave_one_out(const std::vector<double>& inverse_diagonal, std::span<const double> v,
                       Solution& s) const {
        const double total = std::accumulate(v.begin(), v.end(), 0.0);
        s.loo = Matrix<double>(outputs(), sample_.size());
        s.loo_error = 0;
        for (std::size_t o = 0; o < outputs(); ++o) {
            for (std::size_t i = 0; i < sample_.size(); ++i) {
                double g = inverse_diagonal[i];
                if (settings_.bias) g -= v[i] * v[i] / total;
                s.loo(o, i) = s.alpha(o, i) / g;
            }
            s.loo_error += mean_square(s.loo.row(o));
        }
    }

    /// Where there are more rows than columns, and they can be written down.
    Solution by_weights(ExplicitRows<double> rows) const {
        const ExplicitRiskMatrix k(std::move(rows));
        Solution s{.lambda = settings_.lambda};
        Matrix<double> x = right_hand_sides();
        std::vector<std::size_t> all(sample_.size());
        std::iota(all.begin(), all.end(), std::size_t{0});
        if (!k.solve(all, shift(s.lambda), x.view(), settings_.common.progress)) {
            too_small_lambda(gram_.kernel(), s.lambda);
        }
        combine(x, s);
        s.image = Matrix<double>(outputs(), sample_.size());
        for (std::size_t o = 0; o < outputs(); ++o) k.multiply(s.alpha.row(o), s.image.row(o));
        return s;
    }

    Solution by_cholesky() const {
        const std::size_t n = sample_.size();
        const LargeBuffer buffer(n * n * sizeof(double));
        const MatrixView<double> k(buffer.as<double>(), n, n);
        gram_.matrix(k, settings_.common.progress);
        Solution s{.lambda = settings_.lambda};
        if (by_mixed_precision(k, s)) return s;
        ShiftedSystem system(k, shift(s.lambda), settings_.common.progress);
        if (!system.factored()) too_small_lambda(gram_.kernel(), s.lambda);
        Matrix<double> x = right_hand_sides();
        system.solve(x.view());
        combine(x, s);
        s.image = Matrix<double>(outputs(), n);
        system.apply_k(s.alpha.view(), s.image.view());
        if (settings_.leave_one_out) {
            const MatrixView<const double> inverse = system.invert(settings_.common.progress);
            std::vector<double> diagonal(n);
            for (std::size_t i = 0; i < n; ++i) diagonal[i] = inverse(i, i);
            leave_one_out(diagonal, x.row(x.rows() - 1), s);
        }
        return s;
    }

    /// With a float32 factor where that pays and suffices. Leave-one-out errors need the diagonal
    /// of the inverse, which the double factor alone gives.
    bool by_mixed_precision(MatrixView<const double> k, Solution& s) const {
        constexpr std::size_t worthwhile = 2048;
        constexpr double residual = 1e-13;
        constexpr std::size_t entry = sizeof(double) + sizeof(float);
        const bool fits = k.rows <= settings_.common.memory_bytes / entry / k.rows;
        if (k.rows < worthwhile || !fits || settings_.leave_one_out) return false;
        const MixedSystem system(k, shift(s.lambda), settings_.common.progress);
        Matrix<double> x = right_hand_sides();
        if (!system.factored() || !system.solve(x.view(), residual, settings_.common.progress)) {
            return false;
        }
        combine(x, s);
        s.image = Matrix<double>(outputs(), k.rows);
        system.apply_k(s.alpha.view(), s.image.view());
        return true;
    }

    Solution by_conjugate_gradient() const {
        const auto op = make_operator(gram_, {});
        Solution s{.lambda = settings_.lambda};
        const std::vector<double> d = shift(s.lambda);
        constexpr std::size_t most_rank = 500;
        const std::size_t rank = std::clamp<std::size_t>(
            settings_.common.memory_bytes / 4 / sizeof(double) / sample_.size(), 1, most_rank);
        const Progress& progress = settings_.common.progress;
        const PivotedCholesky near(*op, d, {.rank = rank, .progress = progress});
        CgSolution found =
            conjugate_gradient(*op, d, right_hand_sides().view(), near,
                               {.tolerance = settings_.tolerance, .progress = progress});
        if (found.status == CgStatus::cancelled && found.iterations == 0) throw Cancelled();
        combine(found.x, s);
        // K is linear: the image of α is made of the images of u and v.
        s.image = Matrix<double>(outputs(), sample_.size());
        for (std::size_t o = 0; o < outputs(); ++o) {
            for (std::size_t i = 0; i < sample_.size(); ++i) {
                s.image(o, i) = found.image(o, i);
                if (settings_.bias) s.image(o, i) -= s.bias[o] * found.image(outputs(), i);
            }
        }
        s.iterations = found.iterations;
        s.history = std::move(found.history);
        switch (found.status) {
            case CgStatus::converged: break;
            case CgStatus::iteration_limit: s.status = FitStatus::iteration_limit; break;
            case CgStatus::stalled: s.status = FitStatus::stalled; break;
            default: s.status = FitStatus::cancelled;
        }
        return s;
    }

    // ---- a path of λ: W^½ K W^½ = Q Λ Q' gives (K + λ W⁻¹)⁻¹ = W^½ Q (Λ + λ)⁻¹ Q' W^½

    Solution best_of_path() {
        const std::size_t n = sample_.size();
        Matrix<double> k(n, n);
        gram_.matrix(k.view(), settings_.common.progress);
        std::vector<double> root(n);
        for (std::size_t i = 0; i < n; ++i) root[i] = std::sqrt(sample_.weight(i));
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) k(i, j) *= root[i] * root[j];
        }
        const Spectrum spectrum = symmetric_eigen(k.view(), true, settings_.common.progress);
        const Matrix<double> b = projected(spectrum, root);
        path_ = Matrix<double>(settings_.path.size(), 2);
        std::optional<Solution> best;
        for (std::size_t p = 0; p < settings_.path.size(); ++p) {
            const double done = static_cast<double>(p) / static_cast<double>(settings_.path.size());
            if (!keep_going(settings_.common.progress, {"path", done})) throw Cancelled();
            Solution s = at_lambda(spectrum, root, b, settings_.path[p]);
            path_(p, 0) = s.lambda;
            path_(p, 1) = s.loo_error;
            if (!best || s.loo_error < best->loo_error) best = std::move(s);
        }
        best->image = images(spectrum, root, best->alpha);
        return std::move(*best);
    }

    /// Q' W^½ times each right-hand side.
    Matrix<double> projected(const Spectrum& spectrum, const std::vector<double>& root) const {
        Matrix<double> b = right_hand_sides();
        Matrix<double> result(b.rows(), b.columns());
        for (std::size_t r = 0; r < b.rows(); ++r) {
            for (std::size_t i = 0; i < root.size(); ++i) b(r, i) *= root[i];
        }
        parallel_for(root.size(), [&](std::size_t m) {
            const auto q = spectrum.vectors.row(m);
            for (std::size_t r = 0; r < b.rows(); ++r) {
                result(r, m) = std::inner_product(q.begin(), q.end(), b.row(r).begin(), 0.0);
            }
        });
        return result;
    }

    Solution at_lambda(const Spectrum& spectrum, const std::vector<double>& root,
                       const Matrix<double>& b, double lambda) const {
        const std::size_t n = root.size();
        if (!(spectrum.values.front() + lambda > 0)) too_small_lambda(gram_.kernel(), lambda);
        Matrix<double> x(b.rows(), n);
        std::vector<double> inverse_diagonal(n, 0.0);
        parallel_ranges(n, 256, [&](std::size_t first, std::size_t last) {
            for (std::size_t m = 0; m < n; ++m) {
                const double over = 1 / (spectrum.values[m] + lambda);
                const auto q = spectrum.vectors.row(m);
                for (std::size_t i = first; i < last; ++i) {
                    inverse_diagonal[i] += q[i] * q[i] * over;
                    for (std::size_t r = 0; r < b.rows(); ++r) x(r, i) += q[i] * b(r, m) * over;
                }
            }
            for (std::size_t i = first; i < last; ++i) {
                inverse_diagonal[i] *= root[i] * root[i];
                for (std::size_t r = 0; r < b.rows(); ++r) x(r, i) *= root[i];
            }
        });
        Solution s{.lambda = lambda};
        combine(x, s);
        leave_one_out(inverse_diagonal, x.row(x.rows() - 1), s);
        return s;
    }

    /// K α = W^−½ Q Λ Q' W^−½ α.
    Matrix<double> images(const Spectrum& spectrum, const std::vector<double>& root,
                          const Matrix<double>& alpha) const {
        const std::size_t n = root.size();
        Matrix<double> result(alpha.rows(), n);
        for (std::size_t o = 0; o < alpha.rows(); ++o) {
            std::vector<double> inner(n);
            parallel_for(n, [&](std::size_t m) {
                const auto q = spectrum.vectors.row(m);
                double sum = 0;
                for (std::size_t i = 0; i < n; ++i) sum += q[i] * alpha(o, i) / root[i];
                inner[m] = sum * spectrum.values[m];
            });
            parallel_ranges(n, 256, [&](std::size_t first, std::size_t last) {
                for (std::size_t m = 0; m < n; ++m) {
                    const auto q = spectrum.vectors.row(m);
                    for (std::size_t i = first; i < last; ++i) {
                        result(o, i) += q[i] * inner[m] / root[i];
                    }
                }
            });
        }
        return result;
    }

    const RidgeSettings& settings_;
    const Sample& sample_;
    Matrix<double> targets_;
    Gram<double> gram_;
    Matrix<double> path_{};
};

constexpr Words methods{std::pair{RidgeMethod::automatic, "automatic"},
                        std::pair{RidgeMethod::cholesky, "cholesky"},
                        std::pair{RidgeMethod::conjugate_gradient, "conjugate-gradient"}};

const Describe<RidgeSettings>& ridge_settings() {
    static const auto settings = [] {
        using S = RidgeSettings;
        Describe<S> d;
        d.add(&S::lambda, "lambda", "weight of the penalty", Range::above(0)).tunable = true;
        Setting& path = d.add(&S::path, "path",
                              "values of lambda to choose from by leave-one-out error, 0.01,0.1,1",
                              Range::above(0));
        path.flag = "lambda-path";
        path.placeholder = "X,X";
        d.add(&S::bias, "bias", "learn a constant too");
        d.add(&S::leave_one_out, "leave_one_out", "also leave-one-out errors").flag = "loo";
        d.add(&S::method, methods, "method", "how the system is solved").flag = "-";
        d.add(&S::tolerance, "tolerance", "relative residual of conjugate gradients",
              Range::above(0))
            .flag = "-";
        return d;
    }();
    return settings;
}

/// Takes what the scaling rule calls the targets' shift from them; λ weighs alike on any scale.
std::vector<TargetScaling> shift_targets(const RidgeSettings& settings, const SpanSample& sample,
                                         Matrix<double>& targets) {
    std::vector<TargetScaling> scalings;
    for (std::size_t o = 0; o < targets.rows(); ++o) {
        scalings.push_back(span_target_scale(settings.common.target_scale, targets.row(o), sample));
        for (double& y : targets.row(o)) y -= scalings.back().shift;
    }
    return scalings;
}

Model train(const RidgeSettings& settings, const SpanSample& sample, Matrix<double> targets) {
    const Stopwatch clock;
    const std::vector<TargetScaling> scalings = shift_targets(settings, sample, targets);
    Trainer trainer(settings, sample, std::move(targets));
    Solution s = trainer.solve();
    ModelParts model = begin_model(Task::ridge, sample, settings.common);
    // Coefficients of both signs and any size: single precision would lose what they cancel.
    model.double_precision = true;
    model.trained.bias = settings.bias;
    model.trained.numbers["lambda"] = s.lambda;
    CurvatureTest curvature(trainer.gram().kernel(), sample.x,
                            directions_of(Task::ridge, settings.bias));
    for (std::size_t o = 0; o < s.alpha.rows(); ++o) {
        model.reports.push_back(trainer.report(s, o));
        settle_bracket(model.reports.back(), curvature({}, s.status), no_bound);
        s.bias[o] += scalings[o].shift;
        model.reports.back().bias = s.bias[o];
    }
    if (scalings.size() == 1) note_target_scaling(model, scalings.front());
    set_expansion(model, sample, trainer.gram().kernel(), s.alpha, s.bias);
    const double seconds = clock.seconds();
    for (Report& report : model.reports) {
        report.seconds = seconds / static_cast<double>(model.reports.size());
        report.free_support_vectors = model.expansion.size();
    }
    if (trainer.path().rows() > 0) add_table(model, "path", trainer.path());
    if (s.loo.rows() > 0) add_table(model, "loo", std::move(s.loo));
    return Model(std::move(model));
}

Model train_by_passes(const RidgeSettings& settings, const SpanSample& sample,
                      Matrix<double> targets, const FeatureProducts& features) {
    const Stopwatch clock;
    const std::vector<TargetScaling> scalings = shift_targets(settings, sample, targets);
    SpanRidge found = solve_span_ridge(
        {features, sample, targets, settings.lambda, settings.bias, settings.common.progress});
    ModelParts model = begin_model(Task::ridge, sample, settings.common);
    model.double_precision = true;  // as above
    model.trained.bias = settings.bias;
    model.trained.numbers["lambda"] = settings.lambda;
    if (scalings.size() == 1) note_target_scaling(model, scalings.front());
    for (std::size_t o = 0; o < scalings.size(); ++o) found.bias[o] += scalings[o].shift;
    const double seconds = clock.seconds();
    for (std::size_t o = 0; o < scalings.size(); ++o) {
        found.reports[o].bias = found.bias[o];
        found.reports[o].seconds = seconds / static_cast<double>(scalings.size());
        found.reports[o].free_support_vectors = features.columns();
    }
    model.reports = std::move(found.reports);
    features.write(model, std::move(found.weights), std::move(found.bias));
    return Model(std::move(model));
}

/// The sample of machines that go over its rows.
SpanSample take_rows(Task task, const Dataset& data, const FitSettings& settings) {
    return take_span_sample(task, data, settings);
}

/// Several targets for the rows of the sample alone: `sample` has numbers of rows for labels.
Matrix<double> kept_targets(const Sample& sample, MatrixView<const double> targets) {
    Matrix<double> kept(targets.columns, sample.size());
    for (std::size_t o = 0; o < targets.columns; ++o) {
        for (std::size_t i = 0; i < sample.size(); ++i) {
            const auto row = static_cast<std::size_t>(sample.data.y.values[i]);
            kept(o, i) = targets(row, o);
            check_target(kept(o, i), row);
        }
    }
    return kept;
}

/// train(settings, sample, targets) of the labels, or of several targets where there are any, with
/// the sample that take(task, data, settings) takes.
template <class Take, class Train>
Model fit_targets(const RidgeSettings& settings, const Dataset& data,
                  MatrixView<const double> targets, const Take& take, const Train& train) {
    if (targets.columns == 0) {
        return span_fit(Task::ridge, settings, data, [&](const RidgeSettings& s, const Dataset& d) {
            const SpanSample sample = take(Task::ridge, d, s.common);
            Matrix<double> labels(1, sample.size());
            std::ranges::copy(sample.data.y.values, labels.row(0).begin());
            return train(s, sample, std::move(labels));
        });
    }
    if (targets.rows != data.size()) {
        throw InvalidInput("there are " + std::to_string(targets.rows) + " rows of " +
                           std::to_string(targets.columns) + " targets for " +
                           std::to_string(data.size()) + " rows of data");
    }
    Dataset numbered = data;  // each row's place among the targets stands for its label
    numbered.y = {};
    for (std::size_t i = 0; i < targets.rows; ++i) {
        numbered.y.values.push_back(static_cast<double>(i));
    }
    return span_fit(Task::ridge, settings, numbered, [&](const RidgeSettings& s, const Dataset& d) {
        const SpanSample sample = take(Task::ridge, d, s.common);
        return train(s, sample, kept_targets(sample, targets));
    });
}

}  // namespace

Report certify_ridge(const RidgeSolution& s) {
    Report r;
    double linear = 0;
    double sum = 0;
    for (std::size_t i = 0; i < s.alpha.size(); ++i) {
        const double w = s.weights.empty() ? 1 : s.weights[i];
        const double residual = s.target[i] - s.image[i] - s.bias;
        const double a = s.lambda * s.alpha[i];
        r.primal += w * residual * residual;
        r.squared_norm += s.alpha[i] * s.image[i];
        linear += 2 * a * s.target[i] - a * a / w;
        sum += s.alpha[i];
        r.kkt_violation = std::max(r.kkt_violation, std::fabs(residual - a / w));
    }
    r.primal += s.lambda * r.squared_norm;
    r.dual = linear - s.lambda * r.squared_norm;
    set_gap(r);
    r.infeasibility = s.has_bias ? std::fabs(sum) : 0;
    r.bias = s.bias;
    r.rows = s.alpha.size();
    return r;
}

Model Ridge::fit(const Dataset& data) const {
    return fit(data, {});
}

Model Ridge::fit(const Dataset& data, MatrixView<const double> targets) const {
    ridge_settings().check(settings_);
    const bool plain = settings_.path.empty() && !settings_.leave_one_out &&
                       settings_.method == RidgeMethod::automatic;
    if (plain && learns_by_passes(settings_.common, data)) {
        return with_own_rows(data, targets, [&](const Dataset& own, MatrixView<const double> y) {
            return fit_targets(
                settings_, own, y, take_rows,
                [](const RidgeSettings& s, const SpanSample& sample, Matrix<double> some) {
                    return train_by_passes(s, sample, std::move(some),
                                           LinearProducts(sample, s.common.progress));
                });
        });
    }
    const auto fit_all = [&](const Dataset& all, MatrixView<const double> y) {
        return fit_targets(settings_, all, y, take_whole_sample,
                           [](const RidgeSettings& s, const SpanSample& sample,
                              Matrix<double> own) { return train(s, sample, std::move(own)); });
    };
    return settings_.common.kernel == linear() ? with_all_rows(data, targets, fit_all)
                                               : fit_all(data, targets);
}

Model Ridge::fit_in_span(const Dataset& data, MatrixView<const double> targets,
                         const Nystroem& how) const {
    ridge_settings().check(settings_);
    if (!settings_.path.empty() || settings_.leave_one_out) {
        throw InvalidInput(
            "leave-one-out errors, and so a path of lambda, belong to the machine of all rows, not "
            "to one in the span of some");
    }
    return fit_targets(settings_, data, targets, take_rows,
                       [&](const RidgeSettings& s, const SpanSample& sample, Matrix<double> own) {
                           const CentreSpan<float> span(sample, s.common, how);
                           return train_by_passes(s, sample, std::move(own),
                                                  SpanProducts(span, sample, s.common.progress));
                       });
}

MachineEntry ridge_entry() {
    return ridge_settings().entry({.task = Task::ridge,
                                   .name = "ridge",
                                   .family = "risk",
                                   .learns = Learns::numbers,
                                   .about = "squared loss with a quadratic penalty, exactly",
                                   .certified = true,
                                   .linear_by_passes = true},
                                  ridge);
}

}  // namespace mercer
