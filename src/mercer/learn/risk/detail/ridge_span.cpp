#include "mercer/learn/risk/detail/ridge_span.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "mercer/base/detail/dot.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/base/text.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/risk/detail/ridge_steps.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

/// Whether a row is among one in `every`, whichever rank has it: by a hash of its number, since
/// rows may come in an order of their own.
bool is_drawn(std::size_t row, std::size_t every) {
    return every == 1 || Random(row).below(every) == 0;
}

class SpanRidgeSolver {
   public:
    SpanRidgeSolver(const SpanRidgeProblem& problem, SpanNormal* normal)
        : p_(problem), normal_(normal) {}

    SpanRidge solve() {
        Checkpoint checkpoint(p_.sample.leaves, fingerprint());
        const auto state = checkpoint.load();
        SpanRidge found;
        if (state && state->numbers.size() == p_.outputs() * p_.columns() + 1) {  // all but the gap
            found.weights = Matrix<double>(p_.outputs(), p_.columns());
            std::copy_n(state->numbers.begin(), found.weights.values().size(),
                        found.weights.values().begin());
            steps_ = static_cast<std::size_t>(state->numbers.back());
        } else {
            found.weights = weights(state, checkpoint);
            std::vector<double> numbers = found.weights.values();
            numbers.push_back(static_cast<double>(steps_));
            checkpoint.save({.numbers = std::move(numbers)});
        }
        certify(found);
        return found;
    }

   private:
    std::string fingerprint() const {
        std::vector<double> numbers{p_.lambda, p_.bias ? 1.0 : 0.0};
        for (std::size_t o = 0; o < p_.outputs(); ++o) {
            const auto at = p_.sample.leaves.before();
            numbers.push_back(p_.sum([&](std::size_t i) {
                return p_.targets(o, i) * p_.sample.weight(i) *
                       static_cast<double>((at + i) % 1021 + 1);
            }));
        }
        return p_.features.fingerprint() + " problem " +
               fingerprint_of({numbers.data(), 1, numbers.size()});
    }

    Matrix<double> weights(const std::optional<CheckpointState>& state, Checkpoint& checkpoint) {
        if (!normal_ && steps_pay(p_)) {
            if (auto found = ridge_by_steps(p_, state, checkpoint)) {
                steps_ = found->steps;
                return std::move(found->weights);
            }
        }
        RidgeEquations all = ridge_equations(p_, 1, normal_);
        if (!cholesky(all.system.view(), p_.progress)) {
            throw InvalidInput("lambda = " + format_number(p_.lambda) +
                               " is too small for rounding in a space of " +
                               std::to_string(p_.columns()) +
                               " dimensions; use a larger lambda (or fewer `centres`)");
        }
        cholesky_solve(std::as_const(all.system).view(), all.right.view());
        p_.sample.leaves.ranks().broadcast(std::span(all.right.values()));
        return std::move(all.right);
    }

    void certify(SpanRidge& found) const {
        const RidgePosition at = ridge_position(p_, found.weights);
        found.bias = at.bias;
        for (std::size_t o = 0; o < p_.outputs(); ++o) {
            found.reports.push_back(report(std::as_const(found.weights).row(o), at, o));
        }
    }

    /// With α_i = w_i rest_i / λ, whose sum is 0 where there is a bias.
    Report report(std::span<const double> w, const RidgePosition& at, std::size_t o) const {
        const double linear = p_.sum([&](std::size_t i) {
            return 2 * p_.sample.weight(i) * at.rest(o, i) * p_.targets(o, i);
        });
        Report r;
        r.convexity = Convexity::by_rule;  // k̂ is a dot product of features
        r.squared_norm = dot(w, w);
        r.primal = at.loss[o] + p_.lambda * r.squared_norm;
        double squares = 0;                           // ‖Σ α_i φ_i‖²
        for (std::size_t k = 0; k < w.size(); ++k) {  // λ w = Σ λ α_i φ_i at the optimum
            const double image = w[k] + at.slope(o, k) / p_.lambda;
            squares += image * image;
            r.kkt_violation = std::max(r.kkt_violation, std::fabs(at.slope(o, k)));
        }
        r.dual = linear - at.loss[o] - p_.lambda * squares;
        set_gap(r);
        r.bias = at.bias[o];
        r.rows = p_.sample.leaves.rows();
        r.iterations = steps_;
        r.figures["lambda"] = p_.lambda;
        return r;
    }

    const SpanRidgeProblem& p_;
    SpanNormal* normal_;
    std::size_t steps_ = 0;  ///< 0: by the equations
};

}  // namespace

RidgeEquations ridge_equations(const SpanRidgeProblem& p, std::size_t every, SpanNormal* normal) {
    const std::size_t m = p.columns(), outputs = p.outputs();
    std::vector<double> weight(p.sample.size());
    for (std::size_t i = 0; i < weight.size(); ++i) {
        const bool counts = is_drawn(p.sample.leaves.before() + i, every);
        weight[i] = counts ? p.sample.weight(i) : 0;
    }
    const double total = p.sum([&](std::size_t i) { return weight[i]; });
    if (!(total > 0)) return {};
    // w for the squares; w y of each output, and w, for the sums.
    const auto weigh = [&](std::size_t first, std::span<double> h, MatrixView<double> right) {
        for (std::size_t k = 0; k < h.size(); ++k) {
            h[k] = right(outputs, k) = weight[first + k];
            for (std::size_t o = 0; o < outputs; ++o) right(o, k) = h[k] * p.targets(o, first + k);
        }
    };
    RidgeEquations found{.system = Matrix<double>(m, m), .right = Matrix<double>(outputs, m)};
    Matrix<double> sums(outputs + 1, m);
    p.features.weigh(weigh, found.system.view(), sums.view());
    if (normal) *normal = {found.system, {sums.row(0).begin(), sums.row(0).end()}};
    const std::span<const double> mean = sums.row(outputs);
    const double scale =
        every == 1 ? 1 : p.sum([&](std::size_t i) { return p.sample.weight(i); }) / total;
    for (std::size_t i = 0; i < m; ++i) {
        for (std::size_t j = 0; j <= i; ++j) {
            if (p.bias) found.system(i, j) -= mean[i] * mean[j] / total;
            found.system(i, j) *= scale;
        }
        found.system(i, i) += p.lambda;
    }
    for (std::size_t o = 0; o < outputs; ++o) {
        const double target = p.sum([&](std::size_t i) { return weight[i] * p.targets(o, i); });
        for (std::size_t k = 0; k < m; ++k) {
            found.right(o, k) = scale * (sums(o, k) - (p.bias ? mean[k] * target / total : 0));
        }
    }
    return found;
}

RidgePosition ridge_position(const SpanRidgeProblem& p, const Matrix<double>& weights) {
    const std::size_t m = p.columns(), outputs = p.outputs();
    RidgePosition at{.rest = Matrix<double>(outputs, p.sample.size()), .slope = weights};
    Matrix<double> all(outputs + 1, m), sums(outputs + 1, m);  // the last for Σ w_i φ_i
    std::ranges::copy(weights.values(), all.values().begin());
    const auto between = [&](std::size_t first, MatrixView<double> image) {
        for (std::size_t k = 0; k < image.columns; ++k) {
            const std::size_t i = first + k;
            for (std::size_t o = 0; o < outputs; ++o) {
                at.rest(o, i) = p.targets(o, i) - image(o, k);
                image(o, k) = p.sample.weight(i) * at.rest(o, i);
            }
            image(outputs, k) = p.sample.weight(i);
        }
    };
    p.features.through(std::as_const(all).view(), between, sums.view());
    const std::span<const double> mean = std::as_const(sums).row(outputs);
    at.mean.assign(mean.begin(), mean.end());
    const double total = p.sum([&](std::size_t i) { return p.sample.weight(i); });
    for (std::size_t o = 0; o < outputs; ++o) {
        const auto rest = at.rest.row(o);
        at.bias.push_back(0);
        for (int again = 0; p.bias && again < 2; ++again) {  // the second time for rounding
            const double surplus =
                p.sum([&](std::size_t i) { return p.sample.weight(i) * rest[i]; }) / total;
            at.bias[o] += surplus;
            for (double& e : rest) e -= surplus;
        }
        at.loss.push_back(
            p.sum([&](std::size_t i) { return p.sample.weight(i) * rest[i] * rest[i]; }));
        for (std::size_t k = 0; k < m; ++k) {
            at.slope(o, k) = sums(o, k) - at.bias[o] * mean[k] - p.lambda * weights(o, k);
        }
    }
    return at;
}

SpanRidge solve_span_ridge(const SpanRidgeProblem& problem, SpanNormal* normal) {
    return SpanRidgeSolver(problem, normal).solve();
}

}  // namespace mercer
