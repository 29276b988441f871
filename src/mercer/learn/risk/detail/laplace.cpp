#include "mercer/learn/risk/detail/laplace.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

/// 1 / (1 + exp(−f)) without overflow.
double sigma(double f) {
    return f >= 0 ? 1 / (1 + std::exp(-f)) : std::exp(f) / (1 + std::exp(f));
}

/// log(1 + exp(−m)).
double loss(double m) {
    return m >= 0 ? std::log1p(std::exp(-m)) : -m + std::log1p(std::exp(m));
}

/// −p log p − (1 − p) log(1 − p).
double entropy_of_chance(double p) {
    return (p > 0 ? -p * std::log(p) : 0) + (p < 1 ? -(1 - p) * std::log1p(-p) : 0);
}

std::vector<double> product(MatrixView<const double> k, std::span<const double> x) {
    std::vector<double> result(k.rows);
    parallel_ranges(k.rows, 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) result[i] = dot(k.row(i), x);
    });
    return result;
}

class ModeSearch {
   public:
    ModeSearch(MatrixView<const double> k, std::span<const double> signs,
               std::span<const double> weights, const Progress& progress)
        : k_(k), signs_(signs), weights_(weights), progress_(progress), n_(k.rows) {
        mode_.alpha.assign(n_, 0.0);
        mode_.mean.assign(n_, 0.0);
        mode_.root.resize(n_);
        mode_.factor = Matrix<double>(n_, n_);
    }

    LatentMode run(double tolerance) {
        constexpr std::size_t most = 100;
        double value = objective(mode_.alpha, mode_.mean);
        for (; mode_.iterations < most; ++mode_.iterations) {
            if (!keep_going(progress_, {"latent mode", -1})) throw Cancelled();
            if (!curve()) return mode_;
            if (gap() <= tolerance) break;
            std::vector<double> step = newton_point();
            for (std::size_t i = 0; i < n_; ++i) step[i] -= mode_.alpha[i];
            const std::vector<double> moved = product(k_, step);
            double length = 1;
            for (; length > 1e-10; length /= 2) {
                std::vector<double> alpha = mode_.alpha, mean = mode_.mean;
                for (std::size_t i = 0; i < n_; ++i) {
                    alpha[i] += length * step[i];
                    mean[i] += length * moved[i];
                }
                const double next = objective(alpha, mean);
                if (!(next < value)) continue;
                value = next;
                mode_.alpha = std::move(alpha);
                mode_.mean = std::move(mean);
                break;
            }
            if (length <= 1e-10) break;  // rounding
        }
        finish();
        return std::move(mode_);
    }

   private:
    double weight(std::size_t i) const { return weights_.empty() ? 1 : weights_[i]; }

    double objective(std::span<const double> alpha, std::span<const double> mean) const {
        double sum = 0.5 * dot(alpha, mean);
        for (std::size_t i = 0; i < n_; ++i) sum += weight(i) * loss(signs_[i] * mean[i]);
        return sum;
    }

    std::vector<double> gradient() const {
        std::vector<double> slope(n_);
        for (std::size_t i = 0; i < n_; ++i) {
            slope[i] = weight(i) * signs_[i] * sigma(-signs_[i] * mode_.mean[i]);
        }
        return slope;
    }

    /// W^½ and the factor of I + W^½KW^½; false where that is not positive definite.
    bool curve() {
        for (std::size_t i = 0; i < n_; ++i) {
            const double p = sigma(mode_.mean[i]);
            mode_.root[i] = std::sqrt(weight(i) * p * (1 - p));
        }
        parallel_ranges(n_, 64, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = first; i < last; ++i) {
                const auto row = mode_.factor.row(i);
                std::ranges::fill(row, 0.0);
                for (std::size_t j = 0; j <= i; ++j) {
                    row[j] = mode_.root[i] * k_(i, j) * mode_.root[j];
                }
                row[i] += 1;
            }
        });
        return cholesky(mode_.factor.view(), progress_);
    }

    /// b − W^½ (I + W^½KW^½)⁻¹ W^½ K b with b = W f + ∇ log p: where Newton's method goes.
    std::vector<double> newton_point() const {
        std::vector<double> b = gradient();
        for (std::size_t i = 0; i < n_; ++i) {
            b[i] += mode_.root[i] * mode_.root[i] * mode_.mean[i];
        }
        const std::vector<double> kb = product(k_, b);
        Matrix<double> right(1, n_);
        for (std::size_t i = 0; i < n_; ++i) right(0, i) = mode_.root[i] * kb[i];
        cholesky_solve(std::as_const(mode_.factor).view(), right.view());
        for (std::size_t i = 0; i < n_; ++i) b[i] -= mode_.root[i] * right(0, i);
        return b;
    }

    /// The relative duality gap: primal at f = Kα, dual Σ w H(y α / w) − ½ α'Kα, both at the
    /// coefficients brought within the bounds 0 ≤ y α ≤ w, where near the mode they are anyway.
    double gap() {
        std::vector<double> alpha = mode_.alpha;
        double moved = 0;
        for (std::size_t i = 0; i < n_; ++i) {
            alpha[i] = signs_[i] * std::clamp(signs_[i] * alpha[i], 0.0, weight(i));
            moved = std::max(moved, std::abs(alpha[i] - mode_.alpha[i]));
        }
        const std::vector<double> mean = moved > 0 ? product(k_, alpha) : mode_.mean;
        mode_.primal = objective(alpha, mean);
        mode_.dual = -0.5 * dot(alpha, mean);
        for (std::size_t i = 0; i < n_; ++i) {
            mode_.dual += weight(i) * entropy_of_chance(signs_[i] * alpha[i] / weight(i));
        }
        const double scale = std::max(std::abs(mode_.primal), std::abs(mode_.dual));
        return scale > 0 ? (mode_.primal - mode_.dual) / scale : 0;
    }

    /// Everything at the coefficients found, with values of K taken anew.
    void finish() {
        mode_.mean = product(k_, mode_.alpha);
        mode_.found = curve();
        if (!mode_.found) return;
        gap();
        double determinant = 0;
        for (std::size_t i = 0; i < n_; ++i) determinant += std::log(mode_.factor(i, i));
        mode_.evidence = -objective(mode_.alpha, mode_.mean) - determinant;
        for (std::size_t i = 0; i < n_; ++i) {
            std::fill(mode_.factor.row(i).begin() + static_cast<std::ptrdiff_t>(i) + 1,
                      mode_.factor.row(i).end(), 0.0);
        }
    }

    MatrixView<const double> k_;
    std::span<const double> signs_;
    std::span<const double> weights_;
    const Progress& progress_;
    std::size_t n_;
    LatentMode mode_{};
};

}  // namespace

LatentMode find_mode(MatrixView<const double> k, std::span<const double> signs,
                     std::span<const double> weights, double tolerance, const Progress& progress) {
    return ModeSearch(k, signs, weights, progress).run(tolerance);
}

Matrix<double> evidence_weights(MatrixView<const double> k, const LatentMode& mode,
                                std::span<const double> weights, const Progress& progress) {
    const std::size_t n = k.rows;
    // The mode moves with the parameters too (5.22, 5.23): diag((K⁻¹ + W)⁻¹) is that of K less the
    // squared columns of L⁻¹W^½K.
    Matrix<double> r(n, n);
    parallel_ranges(n, 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            for (std::size_t j = 0; j < n; ++j) r(i, j) = mode.root[j] * k(i, j);
        }
    });
    if (!keep_going(progress, {"evidence", -1})) throw Cancelled();
    forward_solve(mode.factor.view(), r.view());
    std::vector<double> s(n);
    for (std::size_t i = 0; i < n; ++i) {
        const double p = sigma(mode.mean[i]);
        const double w = weights.empty() ? 1 : weights[i];
        s[i] = -0.5 * (k(i, i) - dot(r.row(i), r.row(i))) * w * p * (1 - p) * (1 - 2 * p);
    }
    // R = W^½ (I + W^½KW^½)⁻¹ W^½.
    r = mode.factor;
    cholesky_inverse(r.view(), progress);
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            r(i, j) *= mode.root[i] * mode.root[j];
            r(j, i) = r(i, j);
        }
    }
    const std::vector<double> ks = product(k, s);
    const std::vector<double> rks = product(std::as_const(r).view(), ks);
    for (std::size_t i = 0; i < n; ++i) s[i] -= rks[i];
    parallel_ranges(n, 64, [&](std::size_t first, std::size_t last) {
        for (std::size_t i = first; i < last; ++i) {
            for (std::size_t j = 0; j <= i; ++j) {
                r(i, j) = 0.5 * (mode.alpha[i] * mode.alpha[j] - r(i, j) + s[i] * mode.alpha[j] +
                                 mode.alpha[i] * s[j]);
            }
        }
    });
    return r;
}

}  // namespace mercer
