// Pre-images by steps: the fixed-point iteration of Gaussian kernels, and L-BFGS.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "mercer/base/detail/gemm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/feature/detail/preimage_state.hpp"
#include "mercer/gram/gradient.hpp"
#include "mercer/kernel/parameters.hpp"
#include "mercer/solver/detail/lbfgs.hpp"

namespace mercer {
namespace {

using State = PreimageFinder::State;

/// One start of the fixed-point iteration, for all targets that are still moving together: their
/// kernel values are one block, and the sums of points one product.
class FixedPointRun {
   public:
    FixedPointRun(const State& s, const PreimageTargets& targets, Matrix<double> starts)
        : s_(s), targets_(targets), z_(std::move(starts)), found_(targets.size()) {
        for (std::size_t t = 0; t < targets.size(); ++t) {
            found_[t] = {.factor = 1,
                         .squared_distance = std::numeric_limits<double>::infinity(),
                         .method = PreimageMethod::fixed_point,
                         .converged = false};
            moving_.push_back(t);
        }
    }

    std::vector<Preimage> run() {
        for (std::size_t step = 0; step < s_.settings.iterations && !moving_.empty(); ++step) {
            if (!keep_going(s_.settings.progress, {"pre-images", -1})) throw Cancelled();
            advance(step);
        }
        return std::move(found_);
    }

   private:
    void advance(std::size_t step) {
        const std::size_t n = s_.size();
        const std::size_t d = s_.columns();
        Matrix<double> weights = kernel_values();
        std::vector<double> sums(moving_.size());
        std::vector<double> sizes(moving_.size());
        for (std::size_t m = 0; m < moving_.size(); ++m) {
            const auto alpha = targets_.coefficients.row(moving_[m]);
            for (std::size_t i = 0; i < n; ++i) {
                weights(m, i) *= alpha[i];
                sums[m] += weights(m, i);
                sizes[m] += std::abs(weights(m, i));
            }
        }
        Matrix<double> next(moving_.size(), d);
        parallel_ranges(moving_.size(), 16, [&](std::size_t first, std::size_t last) {
            multiply(std::as_const(weights).view().block(first, 0, last - first, n), s_.x.view(),
                     next.view().block(first, 0, last - first, d));
        });
        std::vector<std::size_t> still;
        for (std::size_t m = 0; m < moving_.size(); ++m) {
            if (settle(moving_[m], step, sums[m], sizes[m], next.row(m))) {
                still.push_back(moving_[m]);
            }
        }
        moving_ = std::move(still);
    }

    Matrix<double> kernel_values() const {
        std::vector<double> rows;
        rows.reserve(moving_.size() * s_.columns());
        for (const std::size_t t : moving_) {
            rows.insert(rows.end(), z_.row(t).begin(), z_.row(t).end());
        }
        Matrix<double> values(moving_.size(), s_.size());
        s_.gram.block(s_.gram.prepare(Rows::dense(std::move(rows), s_.columns())),
                      s_.gram.reference(), values.view());
        return values;
    }

    /// Notes how near z is, moves it, and tells whether it moves on.
    bool settle(std::size_t t, std::size_t step, double sum, double size,
                std::span<const double> next) {
        Preimage here{.method = PreimageMethod::fixed_point, .iterations = step + 1};
        judge_at(sum, s_.diagonal[0], targets_.squares[t], s_.settings.free_factor, here);
        const auto z = z_.row(t);
        if (here.squared_distance < found_[t].squared_distance) {
            here.z.assign(z.begin(), z.end());
            here.converged = false;
            found_[t] = std::move(here);
        }
        // A sum that is nothing but rounding points nowhere: this start has failed.
        constexpr double vanishing = 1e-10;
        if (!(std::abs(sum) > vanishing * size) || !(size > 0)) return false;
        double moved = 0;
        double length = 0;
        for (std::size_t c = 0; c < z.size(); ++c) {
            const double to = next[c] / sum;
            moved += (to - z[c]) * (to - z[c]);
            length += to * to;
            z[c] = to;
        }
        if (!std::isfinite(length)) return false;
        const double width = 1 / std::sqrt(*s_.gamma);
        const bool done =
            std::sqrt(moved) <= s_.settings.tolerance * std::max(std::sqrt(length), width);
        if (done) found_[t].converged = true;
        return !done;
    }

    const State& s_;
    const PreimageTargets& targets_;
    Matrix<double> z_;
    std::vector<Preimage> found_;
    std::vector<std::size_t> moving_{};
};

/// ‖β Φ(z) − Ψ‖² as a function of z, with its gradient.
class DistanceFunction {
   public:
    DistanceFunction(const State& s, const PreimageTargets& targets, std::size_t t)
        : s_(s), alpha_(targets.coefficients.row(t)), square_(targets.squares[t]) {}

    double operator()(std::span<const double> z, std::span<double> gradient) const {
        const Rows row = Rows::dense(std::vector<double>(z.begin(), z.end()), z.size());
        const Points<double> point = s_.gram.prepare(row);
        std::vector<double> self(1);
        s_.gram.diagonal(point, self);
        Matrix<double> values(1, s_.size());
        s_.gram.block(point, s_.gram.reference(), values.view());
        const double f =
            std::inner_product(alpha_.begin(), alpha_.end(), values.row(0).begin(), 0.0);
        std::vector<double> slope(z.size(), 0.0);  // of <Ψ, Φ(z)>
        add_slope(z, row, slope);
        // k is symmetric, so d k(z, z)/dz is twice the derivative in one argument.
        std::vector<double> own(z.size(), 0.0);
        if (!s_.gamma) own = input_gradient(s_.kernel, z, z);
        double factor = 1;
        if (s_.settings.free_factor) factor = self[0] > 0 ? f / self[0] : 0;
        for (std::size_t c = 0; c < z.size(); ++c) {
            gradient[c] = 2 * factor * (factor * own[c] - slope[c]);
        }
        return square_ - 2 * factor * f + factor * factor * self[0];
    }

   private:
    void add_slope(std::span<const double> z, const Rows& row, std::span<double> slope) const {
        if (!s_.slopes) {
            const Matrix<double> all = input_gradients(s_.kernel, z, points());
            for (std::size_t i = 0; i < s_.size(); ++i) {
                for (std::size_t c = 0; c < z.size(); ++c) slope[c] += alpha_[i] * all(i, c);
            }
            return;
        }
        Matrix<double> weights(1, s_.size());
        Matrix<double> sum(1, z.size());
        for (const SlopeEngine& engine : *s_.slopes) {
            engine.gram.block(engine.gram.prepare(row), engine.gram.reference(), weights.view());
            double total = 0;
            for (std::size_t i = 0; i < s_.size(); ++i) total += weights(0, i) *= alpha_[i];
            multiply(std::as_const(weights).view(), s_.x.view(), sum.view());
            for (std::size_t c = 0; c < z.size(); ++c) {
                slope[c] += engine.difference ? total * z[c] - sum(0, c) : sum(0, c);
            }
        }
    }

    Rows points() const {
        return Rows::borrow(s_.x.view(), std::shared_ptr<const void>(&s_.x, [](const void*) {}));
    }

    const State& s_;
    std::span<const double> alpha_;
    double square_;
};

Preimage descend_one(const State& s, const PreimageTargets& targets, std::size_t t,
                     std::span<const double> from) {
    const DistanceFunction f(s, targets, t);
    Preimage result{.z = {from.begin(), from.end()},
                    .squared_distance = std::numeric_limits<double>::infinity(),
                    .method = PreimageMethod::gradient,
                    .converged = false};
    std::vector<double> gradient(from.size());
    if (!std::isfinite(f(from, gradient))) return result;
    LbfgsSettings settings{.iteration_limit = s.settings.iterations,
                           .gradient_tolerance = 1e-10 * std::max(1.0, targets.squares[t])};
    settings.value_tolerance = 1e-14;
    const LbfgsSolution found = minimise(result.z, f, settings);
    result.z = found.x;
    result.squared_distance = found.value;
    result.iterations = found.iterations;
    // A step that rounding forbids is as near as one can come.
    result.converged = found.status != LbfgsStatus::iteration_limit;
    return result;
}

}  // namespace

std::vector<Preimage> fixed_point(const State& s, const PreimageTargets& targets,
                                  const Matrix<double>& starts) {
    std::vector<Preimage> best;
    for (std::size_t number = 0; number < s.settings.starts; ++number) {
        std::vector<Preimage> found =
            FixedPointRun(s, targets, starts_of(s, targets, starts, number)).run();
        if (best.empty()) {
            best = std::move(found);
        } else {
            keep_better(best, std::move(found));
        }
    }
    return best;
}

std::vector<Preimage> descend(const State& s, const PreimageTargets& targets,
                              const Matrix<double>& from) {
    std::vector<Preimage> found(targets.size());
    constexpr std::size_t together = 16;
    for (std::size_t first = 0; first < found.size(); first += together) {
        if (!keep_going(s.settings.progress, {"pre-images", -1})) throw Cancelled();
        const std::size_t count = std::min(together, found.size() - first);
        parallel_for(count, [&](std::size_t k) {
            found[first + k] = descend_one(s, targets, first + k, from.row(first + k));
        });
    }
    judge_all(s, targets, found);
    return found;
}

}  // namespace mercer
