#include "mercer/learn/risk/detail/ridge_span.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"
#include "mercer/solver/linear/detail/incomplete_cholesky.hpp"

namespace mercer {
namespace {

constexpr std::size_t block_rows = 4096;  ///< fixed: sums do not depend on memory or threads
constexpr std::size_t panel_rows = 256;   ///< centres of a task

void ask(const Progress& progress, const char* what, std::size_t done, std::size_t all) {
    const double fraction = static_cast<double>(done) / static_cast<double>(all);
    if (!keep_going(progress, {what, fraction})) throw Cancelled();
}

/// Σ w k k', Σ w k and, for each output, Σ w y k and Σ w y.
class NormalEquations {
   public:
    NormalEquations(std::size_t centres, std::size_t outputs)
        : squares(centres, centres), sums(outputs + 1, centres), totals(outputs + 1, 0.0) {}

    Matrix<double> squares;      ///< the lower triangle
    Matrix<double> sums;         ///< the last row without targets
    std::vector<double> totals;  ///< likewise

    /// `values` is centres × rows; `weighted` has w y of each output, and w, for these rows.
    void add(MatrixView<const float> values, std::span<const double> root,
             MatrixView<const double> weighted) {
        const std::size_t m = values.rows;
        const std::size_t rows = values.columns;
        const std::size_t panels = (m + panel_rows - 1) / panel_rows;
        if (turned_.columns() != rows) turned_ = Matrix<double>(m, rows);
        parallel_for(panels, [&](std::size_t p) {
            for (std::size_t k = p * panel_rows; k < std::min((p + 1) * panel_rows, m); ++k) {
                for (std::size_t o = 0; o < weighted.rows; ++o) {
                    double sum = 0;
                    for (std::size_t i = 0; i < rows; ++i) {
                        sum += weighted(o, i) * static_cast<double>(values(k, i));
                    }
                    sums(o, k) += sum;
                }
                for (std::size_t i = 0; i < rows; ++i) {
                    turned_(k, i) = root[i] * static_cast<double>(values(k, i));
                }
            }
        });
        parallel_for(panels * (panels + 1) / 2, [&](std::size_t tile) { add_tile(tile); });
        for (std::size_t o = 0; o < weighted.rows; ++o) {
            for (const double value : weighted.row(o)) totals[o] += value;
        }
    }

   private:
    /// Tiles of the lower triangle, row by row.
    void add_tile(std::size_t tile) {
        std::size_t p = 0;
        while ((p + 1) * (p + 2) / 2 <= tile) ++p;
        const std::size_t q = tile - p * (p + 1) / 2;
        const std::size_t m = turned_.rows();
        const std::size_t height = std::min(panel_rows, m - p * panel_rows);
        const std::size_t width = std::min(panel_rows, m - q * panel_rows);
        Matrix<double> product(height, width);
        const auto all = std::as_const(turned_).view();
        multiply_transposed(all.block(p * panel_rows, 0, height, all.columns),
                            all.block(q * panel_rows, 0, width, all.columns), product.view());
        for (std::size_t i = 0; i < height; ++i) {
            for (std::size_t j = 0; j < width; ++j) {
                squares(p * panel_rows + i, q * panel_rows + j) += product(i, j);
            }
        }
    }

    Matrix<double> turned_{};
};

class SpanRidgeSolver {
   public:
    SpanRidgeSolver(const CentreSpan<float>& span, const Sample& sample,
                    const Matrix<double>& targets, double lambda, bool bias,
                    const Progress& progress)
        : span_(span),
          sample_(sample),
          targets_(targets),
          lambda_(lambda),
          bias_(bias),
          progress_(progress) {}

    SpanRidge solve() {
        NormalEquations equations = summed();
        SpanRidge found;
        found.coefficients = weights_of(equations, found.bias);
        backward_solve(span_.factor(), found.coefficients.view());
        for (std::size_t o = 0; o < outputs(); ++o) {
            found.reports.push_back(report(found.coefficients.row(o), o, found.bias[o]));
        }
        return found;
    }

   private:
    std::size_t outputs() const { return targets_.rows(); }
    std::size_t centres() const { return span_.size(); }

    NormalEquations summed() const {
        NormalEquations equations(centres(), outputs());
        const std::size_t n = sample_.size();
        for (std::size_t first = 0; first < n; first += block_rows) {
            ask(progress_, "normal equations", first, n);
            const std::size_t count = std::min(block_rows, n - first);
            Matrix<float> values(centres(), count);
            const auto points = span_.gram().prepare(sample_.x.slice(first, count));
            span_.gram().block(span_.gram().reference(), points, values.view());
            std::vector<double> root(count);
            Matrix<double> weighted(outputs() + 1, count);
            for (std::size_t i = 0; i < count; ++i) {
                const double w = sample_.weight(first + i);
                root[i] = std::sqrt(w);
                for (std::size_t o = 0; o < outputs(); ++o) {
                    weighted(o, i) = w * targets_(o, first + i);
                }
                weighted(outputs(), i) = w;
            }
            equations.add(std::as_const(values).view(), root, std::as_const(weighted).view());
        }
        return equations;
    }

    /// w of each output, and its bias.
    Matrix<double> weights_of(NormalEquations& e, std::vector<double>& bias) const {
        const std::size_t m = centres();
        const double total = e.totals.back();
        forward_solve(span_.factor(), e.sums.view());
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < i; ++j) e.squares(j, i) = e.squares(i, j);
        }
        forward_solve(span_.factor(), e.squares.view());  // rows: (L⁻¹ A')' = A L'⁻¹
        Matrix<double> system(m, m);
        for (std::size_t i = 0; i < m; ++i) {
            for (std::size_t j = 0; j < m; ++j) system(j, i) = e.squares(i, j);
        }
        forward_solve(span_.factor(), system.view());
        const std::span<const double> mean = e.sums.row(outputs());
        for (std::size_t i = 0; i < m; ++i) {
            system(i, i) += lambda_;
            for (std::size_t j = 0; bias_ && j <= i; ++j) system(i, j) -= mean[i] * mean[j] / total;
        }
        if (!cholesky(system.view(), progress_)) {
            throw InvalidInput("lambda = " + format_number(lambda_) +
                               " is too small for rounding in the span of " + std::to_string(m) +
                               " centres; use a larger lambda or fewer `centres`");
        }
        Matrix<double> w(outputs(), m);
        for (std::size_t o = 0; o < outputs(); ++o) {
            for (std::size_t k = 0; k < m; ++k) {
                w(o, k) = e.sums(o, k) - (bias_ ? mean[k] * e.totals[o] / total : 0);
            }
        }
        cholesky_solve(std::as_const(system).view(), w.view());
        for (std::size_t o = 0; o < outputs(); ++o) {
            const auto row = w.row(o);
            const double dot = std::inner_product(row.begin(), row.end(), mean.begin(), 0.0);
            bias.push_back(bias_ ? (e.totals[o] - dot) / total : 0);
        }
        return w;
    }

    Report report(std::span<const double> beta, std::size_t output, double bias) const {
        const std::size_t n = sample_.size();
        std::vector<double> alpha(n);
        double loss = 0, linear = 0, sum = 0, squares = 0, weight = 0;
        pass(beta, {}, alpha, {});
        for (std::size_t i = 0; i < n; ++i) {
            const double w = sample_.weight(i);
            const double residual = targets_(output, i) - alpha[i] - bias;
            loss += w * residual * residual;
            alpha[i] = w * residual / lambda_;
            sum += alpha[i];
            weight += w;
        }
        std::vector<double> g(centres(), 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            const double w = sample_.weight(i);
            if (bias_) alpha[i] -= sum * w / weight;  // feasible: Σα = 0
            linear += 2 * lambda_ * alpha[i] * targets_(output, i);
            squares += lambda_ * lambda_ * alpha[i] * alpha[i] / w;
        }
        pass({}, alpha, {}, g);
        Matrix<double> w(1, centres());
        std::ranges::copy(g, w.row(0).begin());
        forward_solve(span_.factor(), w.view());
        const auto length = [](std::span<const double> v) {
            return std::inner_product(v.begin(), v.end(), v.begin(), 0.0);
        };
        Report r;
        r.convexity = Convexity::by_rule;  // of k̂: a dot product of features
        r.squared_norm = norm_of(beta);
        r.primal = loss + lambda_ * r.squared_norm;
        r.dual = linear - squares - lambda_ * length(w.row(0));
        set_gap(r);
        r.bias = bias;
        r.rows = n;
        r.figures["lambda"] = lambda_;
        return r;
    }

    /// f(x_i) = Σ β_m k(c_m, x_i) into `f`, or Σ_i α_i k(x_i, c_m) into `g`.
    void pass(std::span<const double> beta, std::span<const double> alpha, std::span<double> f,
              std::span<double> g) const {
        const std::size_t n = sample_.size();
        for (std::size_t first = 0; first < n; first += block_rows) {
            ask(progress_, "certificate", first, n);
            const std::size_t count = std::min(block_rows, n - first);
            const auto points = span_.gram().prepare(sample_.x.slice(first, count));
            const auto& own = span_.gram().reference();
            if (!f.empty()) {
                span_.gram().add_product(own, points, beta, f.subspan(first, count));
            } else {
                span_.gram().add_product(points, own, alpha.subspan(first, count), g);
            }
        }
    }

    /// β'K_MM β = ‖L'β‖².
    double norm_of(std::span<const double> beta) const {
        double sum = 0;
        for (std::size_t k = 0; k < centres(); ++k) {
            double value = 0;
            for (std::size_t i = k; i < centres(); ++i) value += span_.factor()(i, k) * beta[i];
            sum += value * value;
        }
        return sum;
    }

    const CentreSpan<float>& span_;
    const Sample& sample_;
    const Matrix<double>& targets_;
    double lambda_;
    bool bias_;
    const Progress& progress_;
};

}  // namespace

SpanRidge solve_span_ridge(const CentreSpan<float>& span, const Sample& sample,
                           const Matrix<double>& targets, double lambda, bool bias,
                           const Progress& progress) {
    return SpanRidgeSolver(span, sample, targets, lambda, bias, progress).solve();
}

}  // namespace mercer
