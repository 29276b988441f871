// The bracket [dual, primal] as a theorem. Both ends are values of the exact problem at points that
// are exactly feasible, enclosed in intervals that account for every rounding:
//
// 1. Coefficients outside their bounds are put on them, which is exact.
// 2. What is then missing from an equality Σ β_i = s, summed without rounding, is added to one
//    coefficient that has room for it. It need not be a double: it is an interval from here on.
//    ν-SVR's Σ |β_i| ζ_i ≤ ν Σ C_i is met by shrinking all of β.
// 3. v = Kβ and β'Kβ follow by interval arithmetic from enclosed kernel values.
// 4. The dual value of a feasible point is below the optimum, and the primal value of any w (that
//    of the feasible β, so that conditionally positive definite kernels have one), any bias, any
//    ε ≥ 0 and any radius above it (001): no optimality is assumed of the model.
//
// The problem is that of the rows as they were read and scaled, of kernel parameters in their
// canonical form, and of bounds C_i as computed: double precision numbers all of them.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <utility>

#include "mercer/base/detail/exact_sum.hpp"
#include "mercer/base/detail/interval.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/learn/cells/cells.hpp"
#include "mercer/learn/cells/detail/for_cells.hpp"
#include "mercer/learn/convexity.hpp"
#include "mercer/learn/svm/detail/fit_plan.hpp"
#include "mercer/theory/certificate_check.hpp"
#include "mercer/theory/detail/kernel_enclosure.hpp"

namespace mercer {
namespace {

/// The value is right to a unit in the last place.
Interval enclosed(const ExactSum& sum) {
    const double value = sum.value();
    return sum.is_zero() ? Interval() : Interval(below(value, 4), above(value, 4));
}

/// One problem with the exactly feasible point β + change·e_moved.
class Proof {
   public:
    Proof(const Kernel& kernel, MatrixView<const double> x, const Part& part,
          const Learned& learned)
        : kernel_(kernel), x_(x), part_(part), p_(part.problem), m_(learned) {
        const bool nu = p_.task == Task::nu_svc;
        if (nu && !(m_.rho > 0)) throw InvalidInput("the machine has no margin (rho = 0)");
        for (const double bound : p_.bound) bound_.push_back(nu ? bound / m_.rho : bound);
        beta_ = m_.beta;
        for (std::size_t i = 0; i < size(); ++i) {
            beta_[i] = std::clamp(beta_[i], lowest(i), highest(i));
        }
    }

    ProvedBracket run(const Progress& progress) {
        if (p_.bias || !is_classifier(p_.task)) meet_equality();
        values(progress);
        return is_classifier(p_.task)  ? classifier()
               : is_regressor(p_.task) ? regression()
               : p_.task == Task::svdd ? ball()
                                       : single_class();
    }

   private:
    std::size_t size() const { return beta_.size(); }
    double lowest(std::size_t i) const {
        if (is_regressor(p_.task) || (is_classifier(p_.task) && p_.target[i] < 0)) {
            return -bound_[i];
        }
        return 0;
    }
    double highest(std::size_t i) const {
        return is_classifier(p_.task) && p_.target[i] < 0 ? 0 : bound_[i];
    }
    std::span<const double> row(std::size_t i) const { return x_.row(part_.rows[i]); }

    void meet_equality() {
        ExactSum missing;
        for (const double b : beta_) missing.add(-b);
        if (p_.task == Task::svdd) missing.add(1);
        if (p_.task == Task::one_class) {
            for (const double bound : p_.bound) missing.add_product(p_.nu, bound);
        }
        change_ = enclosed(missing);
        if (change_.low == 0 && change_.high == 0) return;
        double most = -1;
        for (std::size_t i = 0; i < size(); ++i) {
            const Interval moved = beta_[i] + change_;
            const double room = std::min(moved.low - lowest(i), highest(i) - moved.high);
            if (room > most) {
                most = room;
                moved_ = i;
            }
        }
        if (most < 0) {
            throw InvalidInput("no coefficient has room for the " + std::to_string(change_.high) +
                               " by which the sum of the coefficients is off");
        }
    }

    void values(const Progress& progress) {
        v_.assign(size(), Interval());
        own_.assign(p_.task == Task::svdd ? size() : 0, Interval());
        std::vector<std::size_t> support;
        for (std::size_t i = 0; i < size(); ++i) {
            if (beta_[i] != 0) support.push_back(i);
        }
        constexpr std::size_t band = 256;
        for (std::size_t first = 0; first < size(); first += band) {
            const std::size_t last = std::min(first + band, size());
            parallel_for(last - first, [&](std::size_t r) {
                const std::size_t i = first + r;
                Interval sum = change_ * enclose(kernel_, row(moved_), row(i));
                for (const std::size_t j : support) {
                    sum += beta_[j] * enclose(kernel_, row(j), row(i));
                }
                v_[i] = sum;
                if (!own_.empty()) own_[i] = enclose(kernel_, row(i), row(i));
            });
            const double done = static_cast<double>(last) / static_cast<double>(size());
            if (!keep_going(progress, {.task = "proving", .fraction = done})) throw Cancelled();
        }
        for (std::size_t i = 0; i < size(); ++i) norm_ += beta(i) * v_[i];
    }

    Interval beta(std::size_t i) const {
        return i == moved_ ? beta_[i] + change_ : Interval(beta_[i]);
    }
    /// C_i times a slack, where both are finite or the slack is 0.
    Interval penalty(std::size_t i, Interval slack) const {
        const Interval xi = positive_part(slack);
        return xi.high == 0 ? Interval() : bound_[i] * xi;
    }
    static ProvedBracket bracket(Interval dual, Interval primal) {
        return {.low = dual.low, .high = primal.high};
    }

    ProvedBracket classifier() const {
        Interval alphas, slacks;
        double smallest = std::numeric_limits<double>::infinity();
        for (std::size_t i = 0; i < size(); ++i) {
            const double y = p_.target[i];
            const Interval value = y * (v_[i] + m_.bias);
            alphas += y * beta(i);
            smallest = std::min(smallest, value.low);
            if (p_.task != Task::hard_margin) slacks += penalty(i, Interval(1) - value);
        }
        const Interval dual = alphas - 0.5 * norm_;
        if (p_.task != Task::hard_margin) return bracket(dual, 0.5 * norm_ + slacks);
        // w stretched until every point keeps its margin.
        if (!(smallest > 0)) return bracket(dual, unbounded());
        return bracket(dual, 0.5 * norm_ / square(Interval(smallest)));
    }

    ProvedBracket regression() const {
        const bool automatic = p_.task == Task::nu_svr;
        Interval explained, widths, room, slacks;
        for (std::size_t i = 0; i < size(); ++i) {
            const double zeta = p_.tube.empty() ? 1 : p_.tube[i];
            const Interval residual = Interval(p_.target[i]) - v_[i] - m_.bias;
            const Interval tube = Interval(m_.epsilon) * zeta;
            explained += p_.target[i] * beta(i);
            widths += magnitude(beta(i)) * zeta;
            room += bound_[i];
            slacks += penalty(i, magnitude(residual) - tube);
        }
        const Interval primal = 0.5 * norm_ + slacks;
        if (!automatic) return bracket(explained - p_.epsilon * widths - 0.5 * norm_, primal);
        const Interval allowed = p_.nu * room;
        const Interval shrunk =
            widths.high <= allowed.low ? Interval(1) : Interval((allowed / widths).low);
        return bracket(shrunk * explained - 0.5 * square(shrunk) * norm_,
                       primal + allowed * m_.epsilon);
    }

    ProvedBracket single_class() const {
        Interval slacks, room;
        for (std::size_t i = 0; i < size(); ++i) {
            room += p_.bound[i];
            slacks += penalty(i, Interval(m_.rho) - v_[i]);
        }
        return bracket(-0.5 * norm_, 0.5 * norm_ - Interval(m_.rho) * p_.nu * room + slacks);
    }

    ProvedBracket ball() const {
        const Interval radius2(m_.radius * m_.radius);
        Interval linear, slacks;
        double widest = 0;
        for (std::size_t i = 0; i < size(); ++i) {
            const Interval distance2 = own_[i] - 2.0 * v_[i] + norm_;
            linear += beta(i) * own_[i];
            widest = std::max(widest, distance2.high);
            if (std::isfinite(bound_[i])) slacks += penalty(i, distance2 - radius2);
        }
        const Interval dual = linear - norm_;
        const bool hard = std::ranges::none_of(bound_, [](double b) { return std::isfinite(b); });
        return bracket(dual, hard ? Interval(widest) : radius2 + slacks);
    }

    const Kernel& kernel_;
    MatrixView<const double> x_;
    const Part& part_;
    const Subproblem& p_;
    const Learned& m_;
    std::vector<double> bound_{};
    std::vector<double> beta_{};
    Interval change_{};  ///< what is added to coefficient moved_
    std::size_t moved_ = 0;
    std::vector<Interval> v_{};
    std::vector<Interval> own_{};  ///< k(x_i, x_i), spheres
    Interval norm_{};
};

}  // namespace

double ProvedBracket::relative_width() const {
    const double size = std::max(std::abs(low), std::abs(high));
    return size > 0 ? (high - low) / size : 0;
}

void require_provable(const Model& model) {
    if (const Cells* cells = cells_of(model)) {
        for (const Cell& cell : cells->all) {
            if (cell.model) require_provable(*cell.model);
        }
        return;
    }
    const Kernel& kernel = model.expansion().kernel;
    require_enclosable(kernel);
    if (convexity_by_rule(kernel, model.task(), model.trained().bias) == Convexity::by_rule) return;
    throw InvalidInput(
        "brackets are proved under kernels that are known to be positive definite, or "
        "conditionally so in machines with a bias; " +
        kernel.text() + " is not");
}

namespace {

/// One after another, as `check_certificate` has them: of a cell of one class nothing is left to
/// prove.
std::vector<ProvedBracket> prove_cells(const Model& model, const Dataset& data,
                                       const Progress& progress) {
    const CellProblems problems(model, data);
    const Cells& cells = *cells_of(model);
    std::vector<std::vector<ProvedBracket>> found(problems.size());
    for_cells(problems.size(), progress, [&](std::size_t k) {
        if (cells.all[k].state == CellState::one_class) found[k].emplace_back();
        if (!cells.all[k].model) return;
        const CellProblem problem = problems[k];
        found[k] = prove_brackets(problem.model, problem.data);
    });
    std::vector<ProvedBracket> result;
    for (const auto& own : found) result.insert(result.end(), own.begin(), own.end());
    return result;
}

}  // namespace

std::vector<ProvedBracket> prove_brackets(const Model& model, const Dataset& data,
                                          const Progress& progress) {
    require_provable(model);
    if (cells_of(model)) return prove_cells(model, data, progress);
    const Kernel& kernel = model.expansion().kernel;
    const RestoredFit fit = restore_fit(model, data);
    Matrix<double> x(fit.x.size(), fit.x.columns());
    for (std::size_t i = 0; i < x.rows(); ++i) fit.x.copy_row(i, x.row(i));
    std::vector<ProvedBracket> result;
    for (std::size_t output = 0; output < fit.plan.parts.size(); ++output) {
        const Part& part = fit.plan.parts[output];
        ProvedBracket proved =
            Proof(kernel, std::as_const(x).view(), part, fit.learned[output]).run(progress);
        if (std::isnan(proved.low) || std::isnan(proved.high)) {
            throw InvalidInput("numbers overflow on the way to the bracket");
        }
        result.push_back(proved);
    }
    return result;
}

void add_proofs(std::vector<CheckedReport>& checks, const Model& model, const Dataset& data,
                const Progress& progress) {
    const std::vector<ProvedBracket> proved = prove_brackets(model, data, progress);
    // Sums over cells, which stand last where they are wrong, have no bracket of their own.
    for (std::size_t i = 0; i < std::min(checks.size(), proved.size()); ++i) {
        CheckedReport& c = checks[i];
        c.proved = proved[i];
        const double room = 1e-3 * std::max(std::abs(c.proved->low), std::abs(c.claimed.dual));
        if (!std::isfinite(c.proved->high) || !std::isfinite(c.proved->low)) {
            c.broken.push_back("no finite bracket can be proved");
        } else if (c.claimed.dual > c.proved->high + room ||
                   c.claimed.primal < c.proved->low - room) {
            c.broken.push_back("the claimed bracket lies outside the proved one");
        }
    }
}

}  // namespace mercer
