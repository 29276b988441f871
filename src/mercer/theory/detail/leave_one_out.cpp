#include "mercer/theory/detail/leave_one_out.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/solver/linear/detail/cholesky.hpp"

namespace mercer {
namespace {

constexpr double tight_without_one = 1e-10;

/// Calls body for each of `which`, some at a time, telling the listener in between.
template <class Body>
void in_batches(const std::vector<std::size_t>& which, const char* task, const Progress& progress,
                Body&& body) {
    constexpr std::size_t batch = 64;
    for (std::size_t first = 0; first < which.size(); first += batch) {
        const std::size_t count = std::min(batch, which.size() - first);
        parallel_for(count, [&](std::size_t i) { body(which[first + i]); });
        const double done = static_cast<double>(first + count) / static_cast<double>(which.size());
        if (!keep_going(progress, {.task = task, .fraction = done})) throw Cancelled();
    }
}

LeaveOneOutRule empty_rule(const MarginProblem& p) {
    return {.measure = std::vector<double>(p.size(), 0.0),
            .is_error = std::vector<char>(p.size(), 0)};
}

LeaveOneOutRule counted(LeaveOneOutRule rule) {
    rule.errors = static_cast<std::size_t>(std::ranges::count(rule.is_error, char{1}));
    return rule;
}

std::vector<double> diagonal_of(const MarginProblem& p) {
    std::vector<double> diagonal(p.size());
    p.k->diagonal(diagonal);
    return diagonal;
}

std::vector<std::size_t> free_vectors(const MarginProblem& p) {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (p.is_support(i) && !p.is_bounded(i)) result.push_back(i);
    }
    return result;
}

/// The machine trained without row `out`: f there, and how the optimum fell.
struct Without {
    double value = 0;
    double fall = 0;
    double gap = 0;
};

Without train_without(const MarginProblem& p, const DualProblem& dual, std::size_t out) {
    DualProblem problem = dual;
    problem.upper[out] = 0;
    std::vector<double> start = p.alpha;
    start[out] = 0;
    DualSolution solution = solve_dual(*p.k, problem, {.tolerance = tight_without_one}, start);
    const Learned learned = interpret(p.problem, solution);
    const double own = solution.row_gradient[out] + learned.bias;
    // A hard margin that is short by a rounding has no finite gap.
    const double gap = std::isfinite(solution.gap) ? solution.gap : 1e-7 * (std::abs(p.dual) + 1);
    return {.value = own, .fall = p.dual + solution.objective, .gap = gap};
}

/// (K_ff + a trace of the identity)⁻¹ over the free support vectors, for rows of K against them.
class FreeSpan {
   public:
    FreeSpan(const MarginProblem& p, std::vector<std::size_t> free)
        : free_(std::move(free)), inverse_(free_.size(), free_.size()), bias_(p.problem.bias) {
        const std::size_t n = free_.size();
        p.k->tile(free_, free_, inverse_.view());
        double largest = 0;
        for (std::size_t i = 0; i < n; ++i) largest = std::max(largest, inverse_(i, i));
        for (std::size_t i = 0; i < n; ++i) inverse_(i, i) += 1e-12 * largest;
        // Copies of a row make K_ff singular; more of the identity then stands for their sum.
        Matrix<double> trial = inverse_;
        for (double ridge = 1e-10 * largest; !cholesky(trial.view()); ridge *= 10) {
            trial = inverse_;
            for (std::size_t i = 0; i < n; ++i) trial(i, i) += ridge;
        }
        cholesky_inverse(trial.view());
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < i; ++j) trial(j, i) = trial(i, j);
        }
        inverse_ = std::move(trial);
        ones_.assign(n, 0.0);
        for (std::size_t i = 0; i < n; ++i) {
            for (std::size_t j = 0; j < n; ++j) ones_[i] += inverse_(i, j);
            total_ += ones_[i];
        }
    }

    const std::vector<std::size_t>& rows() const { return free_; }

    /// Of a free one from the others: 1 / (inverse of K bordered by ones)_pp.
    double of_member(std::size_t place) const {
        double entry = inverse_(place, place);
        if (bias_) entry -= ones_[place] * ones_[place] / total_;
        // Alone among the free there is no affine hull of others to be at a distance from.
        return entry > 0 ? 1 / entry : std::numeric_limits<double>::infinity();
    }

    /// Of any other row with values `row` against the free ones and `own` = k(x, x).
    double of_other(std::span<const double> row, double own) const {
        double inner = 0;
        double sum = 0;
        for (std::size_t i = 0; i < free_.size(); ++i) {
            double product = 0;
            for (std::size_t j = 0; j < free_.size(); ++j) product += inverse_(i, j) * row[j];
            inner += row[i] * product;
            sum += product;
        }
        const double correction = bias_ ? (sum - 1) * (sum - 1) / total_ : 0;
        return std::max(0.0, own - inner + correction);
    }

   private:
    std::vector<std::size_t> free_;
    Matrix<double> inverse_;
    bool bias_;
    std::vector<double> ones_{};
    double total_ = 0;
};

/// The span of a free vector over combinations Σ λ_i Φ(x_i), Σ λ = 1, that leave every
/// α_i + y_i y_p α_p λ_i within its bounds: a dual problem of its own. Infinite when none does.
double bounded_span(const MarginProblem& p, const SymmetricOperator<double>& k,
                    const std::vector<std::size_t>& free, std::size_t place) {
    const std::size_t row = free[place];
    const std::size_t n = free.size();
    DualProblem problem;
    std::vector<double> column(n);
    const std::vector<std::size_t> own{place};
    Matrix<double> values(1, n);
    k.rows(own, values.view());
    for (std::size_t i = 0; i < n; ++i) {
        const double a = p.alpha[free[i]] / p.alpha[row];
        const double room = (p.penalty(free[i]) - p.alpha[free[i]]) / p.alpha[row];
        const bool same = p.target(free[i]) == p.target(row);
        problem.p.push_back(-values(0, i));
        problem.lower.push_back(i == place ? 0 : same ? -a : -room);
        problem.upper.push_back(i == place ? 0 : same ? room : a);
    }
    problem.equalities = {{.coefficients = std::vector<double>(n, 1.0), .value = 1}};
    const DualSolution solution = solve_dual(k, problem, {.tolerance = 1e-8});
    if (solution.status == DualStatus::infeasible) return std::numeric_limits<double>::infinity();
    return std::sqrt(std::max(0.0, values(0, place) + 2 * solution.objective));
}

}  // namespace

LeaveOneOut leave_one_out(const MarginProblem& p, const Progress& progress) {
    for (const double sign : {1.0, -1.0}) {
        if (std::ranges::count(p.problem.target, sign) < 2) {
            throw InvalidInput(
                "a class has a single row, which cannot be left out and still be learnt: "
                "leave-one-out needs two rows of each class");
        }
    }
    LeaveOneOut result{.value = p.value,
                       .is_error = std::vector<char>(p.size(), 0),
                       .essential = std::vector<char>(p.size(), 0)};
    std::vector<std::size_t> support;
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (p.is_support(i)) support.push_back(i);
    }
    const DualProblem dual = make_dual(p.problem);
    const double rounding = 1e-12 * (std::abs(p.dual) + 1);
    const double own_gap = std::isfinite(p.gap) ? std::max(0.0, p.gap) : 0;
    in_batches(support, "leave one out", progress, [&](std::size_t i) {
        const Without without = train_without(p, dual, i);
        result.value[i] = without.value;
        result.essential[i] = without.fall > without.gap + own_gap + rounding;
    });
    for (std::size_t i = 0; i < p.size(); ++i) {
        result.is_error[i] = p.target(i) * result.value[i] > 0 ? 0 : 1;
        result.errors += result.is_error[i] != 0 ? 1 : 0;
        result.essential_count += result.essential[i] != 0 ? 1 : 0;
    }
    return result;
}

LeaveOneOutRule span_estimate(const MarginProblem& p) {
    LeaveOneOutRule rule = empty_rule(p);
    const std::vector<double> diagonal = diagonal_of(p);
    const std::vector<std::size_t> free = free_vectors(p);
    if (free.empty()) {
        for (std::size_t i = 0; i < p.size(); ++i) {
            if (p.is_support(i)) rule.measure[i] = diagonal[i];
        }
    } else {
        const FreeSpan span(p, free);
        for (std::size_t i = 0; i < free.size(); ++i) rule.measure[free[i]] = span.of_member(i);
        std::vector<std::size_t> bounded;
        for (std::size_t i = 0; i < p.size(); ++i) {
            if (p.is_bounded(i)) bounded.push_back(i);
        }
        Matrix<double> tile(bounded.size(), free.size());
        if (!bounded.empty()) p.k->tile(bounded, free, tile.view());
        parallel_for(bounded.size(), [&](std::size_t b) {
            rule.measure[bounded[b]] = span.of_other(tile.row(b), diagonal[bounded[b]]);
        });
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
        const double change = p.is_support(i) ? p.alpha[i] * rule.measure[i] : 0;
        rule.is_error[i] = p.target(i) * p.value[i] > change ? 0 : 1;
    }
    return counted(std::move(rule));
}

LeaveOneOutRule span_guarantee(const MarginProblem& p, double diameter, const Progress& progress) {
    if (!p.problem.bias) {
        throw InvalidInput(
            "the span bound is for machines with a bias; without one use Jaakkola "
            "and Haussler's rule");
    }
    LeaveOneOutRule rule = empty_rule(p);
    const std::vector<std::size_t> free = free_vectors(p);
    Matrix<double> values(free.size(), free.size());
    if (!free.empty()) p.k->tile(free, free, values.view());
    std::vector<std::size_t> places(free.size());
    for (std::size_t i = 0; i < free.size(); ++i) places[i] = i;
    if (!free.empty()) {
        const SharedOperator<double> k = matrix_operator(std::as_const(values).view());
        in_batches(places, "spans", progress, [&](std::size_t place) {
            const double span = bounded_span(p, *k, free, place);
            const std::size_t i = free[place];
            const double reach = std::max(diameter, 1 / std::sqrt(p.penalty(i)));
            rule.measure[i] = span;
            // What the spans' own tolerance could hide counts too.
            rule.is_error[i] = p.alpha[i] * span * reach * (1 + 1e-6) >= 1 ? 1 : 0;
        });
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
        if (p.is_bounded(i)) rule.is_error[i] = 1;
    }
    return counted(std::move(rule));
}

LeaveOneOutRule jaakkola_haussler(const MarginProblem& p) {
    LeaveOneOutRule rule = empty_rule(p);
    const std::vector<double> diagonal = diagonal_of(p);
    for (std::size_t i = 0; i < p.size(); ++i) {
        rule.measure[i] = p.alpha[i] * diagonal[i];
        rule.is_error[i] = p.target(i) * p.value[i] > rule.measure[i] + 1e-9 ? 0 : 1;
    }
    return counted(std::move(rule));
}

LeaveOneOutRule xi_alpha(const MarginProblem& p) {
    LeaveOneOutRule rule = empty_rule(p);
    double low = std::numeric_limits<double>::infinity();
    double high = -low;
    Matrix<double> row(1, p.size());
    for (std::size_t i = 0; i < p.size(); ++i) {
        p.k->rows({&i, 1}, row.view());
        const auto [least, most] = std::ranges::minmax(row.row(0));
        low = std::min(low, least);
        high = std::max(high, most);
    }
    for (std::size_t i = 0; i < p.size(); ++i) {
        const double xi = std::max(0.0, 1 - p.target(i) * p.value[i]);
        rule.measure[i] = 2 * p.alpha[i] * (high - low) + xi;
        rule.is_error[i] = rule.measure[i] + 1e-9 >= 1 ? 1 : 0;
    }
    return counted(std::move(rule));
}

}  // namespace mercer
