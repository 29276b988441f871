#include "mercer/learn/convexity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "mercer/base/error.hpp"
#include "mercer/base/text.hpp"
#include "mercer/feature/geometry.hpp"
#include "mercer/gram/operators.hpp"
#include "mercer/kernel/definiteness.hpp"
#include "mercer/kernel/detail/node.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/solver/linear/eigen.hpp"

namespace mercer {
namespace {

/// A bracket may be moved by this share of its size.
constexpr double most_shift = 1e-3;

double frobenius(const Matrix<double>& k) {
    double largest = 0;
    for (const double value : k.values()) largest = std::max(largest, std::abs(value));
    if (largest == 0) return 0;
    double sum = 0;
    for (const double value : k.values()) sum += (value / largest) * (value / largest);
    return largest * std::sqrt(sum);
}

void forget_bracket(Report& report) {
    report.primal = report.gap = report.relative_gap = std::numeric_limits<double>::quiet_NaN();
    if (report.radius == 0) report.margin = 0;  // there may be no feature space to measure it in
}

}  // namespace

Directions directions_of(Task task, bool bias) {
    switch (task) {
        case Task::nu_svc:     // Σ y α = 0
        case Task::svr:        // Σ (α − α*) = 0
        case Task::nu_svr:     // likewise
        case Task::one_class:  // Σ α = ν Σ weights
        case Task::svdd:       // Σ α = 1
        case Task::quantile: return Directions::balanced;
        case Task::svc:
        case Task::hard_margin:
        case Task::ridge:
        case Task::logistic:
        case Task::squared_hinge:
        case Task::huber: return bias ? Directions::balanced : Directions::any;
        default: return Directions::any;
    }
}

bool has_bracket(Task task) {
    return machine_entry(task).certified;
}

Convexity convexity_by_rule(const Kernel& kernel, Directions directions) {
    const Definite found = definiteness(kernel, {.non_negative = true}).definite;
    const bool enough = found == Definite::positive ||
                        (found == Definite::conditional && directions == Directions::balanced);
    return enough ? Convexity::by_rule : Convexity::unknown;
}

Convexity convexity_by_rule(const Kernel& kernel, Task task, bool bias) {
    return convexity_by_rule(task == Task::adatron && bias ? kernel + 1.0 : kernel,
                             directions_of(task, bias));
}

Curvature curvature_of(Matrix<double> k, Directions directions, double rounding) {
    const std::size_t n = k.rows();
    const double size = frobenius(k);
    Curvature result{.convexity = Convexity::on_sample};
    const double epsilon = std::numeric_limits<double>::epsilon();
    result.error = (4 * static_cast<double>(n) * epsilon + rounding) * size;
    if (size == 0 || (n == 1 && directions == Directions::balanced)) return result;
    if (directions == Directions::balanced) {
        center_gram(k.view());
        // The direction 1, which is not asked for, gets an eigenvalue that is not the smallest.
        for (double& value : k.values()) value += size / static_cast<double>(n);
    }
    result.least = symmetric_eigen(k.view(), false).values.front();
    if (!(result.least >= -result.error)) result.convexity = Convexity::refuted;
    return result;
}

Curvature CurvatureTest::operator()(const RowChoice& rows, FitStatus status,
                                    const Progress& progress) {
    if (by_rule_) return {.convexity = Convexity::by_rule};
    const std::size_t n = rows.size(x_.size());
    const bool stopped = status == FitStatus::time_limit || status == FitStatus::cancelled;
    if (stopped || n > most_rows_for_curvature) return {};
    if (const auto found = known_.find(rows); found != known_.end()) return found->second;
    const auto gram = make_gram<double>(kernel_, x_, {}, progress);
    Matrix<double> k(n, n);
    if (rows.is_all()) {
        gram.matrix(k.view(), progress);
    } else {
        const Points<double> some = gram.select(gram.reference(), rows.some());
        gram.block(some, some, k.view());
    }
    // Kernel values are good to about 1e-14; those of a matrix that was read, to the precision of
    // its rows.
    const bool coarse = contains(kernel_, KernelKind::precomputed) && !x_.is_double();
    const Curvature result = curvature_of(std::move(k), directions_, coarse ? 0x1p-23 : 0x1p-44);
    known_.emplace(rows, result);
    return result;
}

void settle_bracket(Report& report, const Curvature& curvature, double reach) {
    report.convexity = curvature.convexity;
    report.least_curvature = curvature.least;
    report.curvature_error = curvature.error;
    if (curvature.convexity == Convexity::unknown) return forget_bracket(report);
    if (curvature.error == 0) return;  // by rule, or of a matrix that is 0
    const double negative = std::max(0.0, curvature.error - curvature.least);
    const double shift = negative > 0 ? negative * reach : 0;
    const double size = std::max(std::abs(report.primal), std::abs(report.dual));
    if (shift == 0 || (std::isfinite(size) && shift <= most_shift * size)) {
        report.convexity = Convexity::on_sample;
        report.primal += shift;
        set_gap(report);
    } else if (curvature.convexity == Convexity::refuted) {
        forget_bracket(report);
    }
}

void require_convex(const Curvature& curvature, const Kernel& kernel, Directions directions,
                    const std::string& what) {
    if (curvature.convexity == Convexity::by_rule || curvature.convexity == Convexity::on_sample) {
        return;
    }
    const std::string kind = directions == Directions::balanced ? "conditionally positive definite"
                                                                : "positive definite";
    const std::string found = curvature.convexity == Convexity::refuted
                                  ? " is not: its matrix on these rows has the eigenvalue " +
                                        format_number(curvature.least)
                                  : " is not known to be, and is looked at on up to " +
                                        std::to_string(most_rows_for_curvature) + " rows";
    throw InvalidInput(what + " under kernels that are " + kind + ", and " + kernel.text() + found);
}

void set_gap(Report& report) {
    report.gap = report.primal - report.dual;
    const double size = std::max(std::abs(report.primal), std::abs(report.dual));
    const double rounding = 1e-12 * (size + std::abs(report.squared_norm));
    if (report.gap < 0 && report.gap >= -rounding) {
        report.primal = report.dual;  // raised: it remains an upper bound
        report.gap = 0;
    }
    report.relative_gap = size > 0 ? report.gap / size : 0;
    if (std::isinf(size)) report.relative_gap = std::numeric_limits<double>::infinity();
}

}  // namespace mercer
