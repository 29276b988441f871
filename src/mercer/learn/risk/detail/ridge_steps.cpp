#include "mercer/learn/risk/detail/ridge_steps.hpp"

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "mercer/base/detail/dot.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

constexpr std::size_t one_row_in = 8;
/// Steps that take no longer than the equations they save.
constexpr std::size_t most_steps = 16;
/// As a share of the objective: kernel values in single precision say no more.
constexpr double small_gap = 1e-7;

class RidgeSteps {
   public:
    explicit RidgeSteps(const SpanRidgeProblem& problem)
        : p_(problem), w_(p_.outputs(), p_.columns()), r_(w_), direction_(w_) {}

    std::optional<SteppedRidge> run(const std::optional<CheckpointState>& state,
                                    Checkpoint& checkpoint) {
        RidgeEquations some = ridge_equations(p_, one_row_in);
        near_ = std::move(some.system);
        if (near_.rows() == 0 || !cholesky(near_.view(), p_.progress)) return {};
        w_ = std::move(some.right);
        cholesky_solve(std::as_const(near_).view(), w_.view());
        agree(w_);
        measure();
        if (state) take_up(*state);
        for (; !is_done(); ++steps_) {
            if (steps_ == most_steps || !step()) return {};
            checkpoint.save(this->state());
        }
        return SteppedRidge{.weights = std::move(w_), .steps = steps_};
    }

   private:
    /// What rank 0 says: processors of two kinds may differ in the last digit.
    void agree(Matrix<double>& numbers) const {
        p_.sample.leaves.ranks().broadcast(std::span(numbers.values()));
    }

    void measure() {
        RidgePosition at = ridge_position(p_, w_);
        total_ = p_.sum([&](std::size_t i) { return p_.sample.weight(i); });
        for (std::size_t o = 0; o < p_.outputs(); ++o) {
            objective_.push_back(at.loss[o] + p_.lambda * dot(w_.row(o), w_.row(o)));
        }
        r_ = std::move(at.slope);
        mean_ = std::move(at.mean);
        descent_.assign(p_.outputs(), 0.0);
    }

    /// The gap is ‖r‖²/λ.
    bool is_done() const {
        bool done = true;
        for (std::size_t o = 0; o < p_.outputs(); ++o) {
            done = done &&
                   dot(r_.row(o), r_.row(o)) <= small_gap * p_.lambda * std::fabs(objective_[o]);
        }
        p_.sample.leaves.ranks().broadcast(std::span(&done, 1));
        return done;
    }

    /// False where rounding leaves no way down.
    bool step() {
        const std::size_t m = p_.columns();
        Matrix<double> z = r_;
        cholesky_solve(std::as_const(near_).view(), z.view());
        agree(z);
        for (std::size_t o = 0; o < p_.outputs(); ++o) {
            const double next = dot(r_.row(o), z.row(o));
            const double ratio = descent_[o] > 0 ? next / descent_[o] : 0;
            descent_[o] = next;
            for (std::size_t k = 0; k < m; ++k) {
                direction_(o, k) = z(o, k) + ratio * direction_(o, k);
            }
        }
        Matrix<double> image(p_.outputs(), m);
        const auto weigh = [&](std::size_t first, MatrixView<double> products) {
            for (std::size_t o = 0; o < products.rows; ++o) {
                for (std::size_t k = 0; k < products.columns; ++k) {
                    products(o, k) *= p_.sample.weight(first + k);
                }
            }
        };
        p_.features.through(std::as_const(direction_).view(), weigh, image.view());
        for (std::size_t o = 0; o < p_.outputs(); ++o) {
            if (descent_[o] == 0) continue;  // nothing is left to do for this output
            const std::span<const double> along = std::as_const(direction_).row(o);
            const double shift = p_.bias ? dot(mean_, along) / total_ : 0;
            for (std::size_t k = 0; k < m; ++k) {
                image(o, k) += p_.lambda * along[k] - shift * mean_[k];
            }
            const double curvature = dot(along, image.row(o));
            if (!(curvature > 0) || !(descent_[o] > 0)) return false;
            const double length = descent_[o] / curvature;
            for (std::size_t k = 0; k < m; ++k) {
                w_(o, k) += length * along[k];
                r_(o, k) -= length * image(o, k);
            }
            objective_[o] -= length * descent_[o];
        }
        return true;
    }

    /// All that the next step depends on, but for what is found again.
    CheckpointState state() const {
        CheckpointState found{.numbers = {static_cast<double>(steps_ + 1)}};
        for (const auto* part :
             {&objective_, &descent_, &w_.values(), &r_.values(), &direction_.values()}) {
            found.numbers.insert(found.numbers.end(), part->begin(), part->end());
        }
        return found;
    }
    void take_up(const CheckpointState& state) {
        if (state.numbers.size() != this->state().numbers.size()) return;
        auto from = state.numbers.begin();
        steps_ = static_cast<std::size_t>(*from++);
        for (auto* part :
             {&objective_, &descent_, &w_.values(), &r_.values(), &direction_.values()}) {
            const auto end = from + static_cast<std::ptrdiff_t>(part->size());
            part->assign(from, end);
            from = end;
        }
    }

    const SpanRidgeProblem& p_;
    Matrix<double> near_{};  ///< the factor of the equations of some rows
    Matrix<double> w_;
    Matrix<double> r_;  ///< minus half of the slope
    Matrix<double> direction_;
    std::vector<double> mean_{};       ///< Σ w_i φ_i
    double total_ = 0;                 ///< Σ w_i
    std::vector<double> objective_{};  ///< of each output
    std::vector<double> descent_{};    ///< r·z of the step before
    std::size_t steps_ = 0;
};

}  // namespace

bool steps_pay(const SpanRidgeProblem& problem) {
    const auto m = static_cast<double>(problem.columns());
    const auto n = static_cast<double>(problem.sample.leaves.rows());
    const auto outputs = static_cast<double>(problem.outputs());
    constexpr double usual_steps = 8, enough_rows = 64;
    // Rows in plenty make the equations of some of them good ones; each output is two products
    // more.
    return n >= enough_rows * m && m > usual_steps * (problem.features.making_cost() + 4 * outputs);
}

std::optional<SteppedRidge> ridge_by_steps(const SpanRidgeProblem& problem,
                                           const std::optional<CheckpointState>& state,
                                           Checkpoint& checkpoint) {
    return RidgeSteps(problem).run(state, checkpoint);
}

}  // namespace mercer
