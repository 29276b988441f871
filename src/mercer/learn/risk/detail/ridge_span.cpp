#include "mercer/learn/risk/detail/ridge_span.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

class SpanRidgeSolver {
   public:
    SpanRidgeSolver(const FeatureProducts& features, const SpanSample& sample,
                    const Matrix<double>& targets, double lambda, bool bias,
                    const Progress& progress, SpanNormal* normal)
        : features_(features),
          sample_(sample),
          targets_(targets),
          lambda_(lambda),
          bias_(bias),
          progress_(progress),
          normal_(normal) {}

    SpanRidge solve() {
        SpanRidge found;
        Checkpoint checkpoint(sample_.leaves, fingerprint());
        if (const auto state = checkpoint.load()) {
            take_up(*state, found);
        } else {
            found.weights = weights(found.bias);
            CheckpointState done{.numbers = found.weights.values()};
            done.numbers.insert(done.numbers.end(), found.bias.begin(), found.bias.end());
            checkpoint.save(done);
        }
        for (std::size_t o = 0; o < outputs(); ++o) {
            found.reports.push_back(report(found.weights.row(o), o, found.bias[o]));
        }
        return found;
    }

   private:
    std::size_t outputs() const { return targets_.rows(); }
    std::size_t columns() const { return features_.columns(); }

    std::string fingerprint() const {
        std::vector<double> numbers{lambda_, bias_ ? 1.0 : 0.0};
        for (std::size_t o = 0; o < outputs(); ++o) {
            const auto at = sample_.leaves.before();
            numbers.push_back(sum([&](std::size_t i) {
                return targets_(o, i) * sample_.weight(i) *
                       static_cast<double>((at + i) % 1021 + 1);
            }));
        }
        return features_.fingerprint() + " problem " +
               fingerprint_of({numbers.data(), 1, numbers.size()});
    }
    void take_up(const CheckpointState& state, SpanRidge& found) const {
        const std::size_t size = outputs() * columns();
        if (state.numbers.size() != size + outputs()) {
            throw InvalidInput("the checkpoint does not have the numbers of this machine");
        }
        const auto bias = state.numbers.begin() + static_cast<std::ptrdiff_t>(size);
        found.weights = Matrix<double>(outputs(), columns());
        std::copy(state.numbers.begin(), bias, found.weights.values().begin());
        found.bias.assign(bias, state.numbers.end());
    }

    /// Σ term(i) over the rows of all ranks.
    template <class Term>
    double sum(const Term& term) const {
        return sample_.leaves.sum(term);
    }

    /// w of each output, and its bias.
    Matrix<double> weights(std::vector<double>& bias) const {
        const std::size_t m = columns();
        const double total = sum([&](std::size_t i) { return sample_.weight(i); });
        std::vector<double> totals;
        for (std::size_t o = 0; o < outputs(); ++o) {
            totals.push_back(
                sum([&](std::size_t i) { return sample_.weight(i) * targets_(o, i); }));
        }
        // w for the squares; w y of each output, and w, for the sums.
        const auto weigh = [&](std::size_t first, std::span<double> h, MatrixView<double> right) {
            for (std::size_t k = 0; k < h.size(); ++k) {
                h[k] = right(outputs(), k) = sample_.weight(first + k);
                for (std::size_t o = 0; o < outputs(); ++o) {
                    right(o, k) = h[k] * targets_(o, first + k);
                }
            }
        };
        Matrix<double> system(m, m), sums(outputs() + 1, m);
        features_.weigh(weigh, system.view(), sums.view());
        if (normal_) *normal_ = {system, {sums.row(0).begin(), sums.row(0).end()}};
        const std::span<const double> mean = sums.row(outputs());
        for (std::size_t i = 0; i < m; ++i) {
            system(i, i) += lambda_;
            for (std::size_t j = 0; bias_ && j <= i; ++j) system(i, j) -= mean[i] * mean[j] / total;
        }
        if (!cholesky(system.view(), progress_)) {
            throw InvalidInput("lambda = " + format_number(lambda_) +
                               " is too small for rounding in a space of " + std::to_string(m) +
                               " dimensions; use a larger lambda (or fewer `centres`)");
        }
        Matrix<double> w(outputs(), m);
        for (std::size_t o = 0; o < outputs(); ++o) {
            for (std::size_t k = 0; k < m; ++k) {
                w(o, k) = sums(o, k) - (bias_ ? mean[k] * totals[o] / total : 0);
            }
        }
        cholesky_solve(std::as_const(system).view(), w.view());
        sample_.leaves.ranks().broadcast(std::span(w.values()));
        for (std::size_t o = 0; o < outputs(); ++o) {
            bias.push_back(bias_ ? (totals[o] - dot(w.row(o), mean)) / total : 0);
        }
        return w;
    }

    Report report(std::span<const double> w, std::size_t output, double bias) const {
        const std::size_t n = sample_.size();
        std::vector<double> alpha(n);
        features_.multiply(w, alpha);
        const double loss = sum([&](std::size_t i) {
            const double residual = targets_(output, i) - alpha[i] - bias;
            return sample_.weight(i) * residual * residual;
        });
        for (std::size_t i = 0; i < n; ++i) {
            alpha[i] = sample_.weight(i) * (targets_(output, i) - alpha[i] - bias) / lambda_;
        }
        if (bias_) {  // feasible: Σα = 0
            const double surplus = sum([&](std::size_t i) { return alpha[i]; }) /
                                   sum([&](std::size_t i) { return sample_.weight(i); });
            for (std::size_t i = 0; i < n; ++i) alpha[i] -= surplus * sample_.weight(i);
        }
        const double linear =
            sum([&](std::size_t i) { return 2 * lambda_ * alpha[i] * targets_(output, i); });
        const double squares = sum([&](std::size_t i) {
            return lambda_ * lambda_ * alpha[i] * alpha[i] / sample_.weight(i);
        });
        std::vector<double> image(columns());
        features_.sum(alpha, image);
        Report r;
        r.convexity = Convexity::by_rule;  // k̂ is a dot product of features
        r.squared_norm = dot(w, w);
        r.primal = loss + lambda_ * r.squared_norm;
        r.dual = linear - squares - lambda_ * dot(image, image);
        set_gap(r);
        for (std::size_t k = 0; k < w.size(); ++k) {  // λ w = Σ λ α_i φ_i at the optimum
            r.kkt_violation = std::max(r.kkt_violation, lambda_ * std::fabs(w[k] - image[k]));
        }
        r.bias = bias;
        r.rows = sample_.leaves.rows();
        r.figures["lambda"] = lambda_;
        return r;
    }

    const FeatureProducts& features_;
    const SpanSample& sample_;
    const Matrix<double>& targets_;
    double lambda_;
    bool bias_;
    const Progress& progress_;
    SpanNormal* normal_;
};

}  // namespace

SpanRidge solve_span_ridge(const FeatureProducts& features, const SpanSample& sample,
                           const Matrix<double>& targets, double lambda, bool bias,
                           const Progress& progress, SpanNormal* normal) {
    return SpanRidgeSolver(features, sample, targets, lambda, bias, progress, normal).solve();
}

}  // namespace mercer
