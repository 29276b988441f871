// What every trained machine must be able to show, whatever it was trained on.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "mercer/learn/svm/svm.hpp"

namespace mercer::testing {

/// ν-SVC is divided by its ρ after training, the others are not.
inline double divisor(const Report& r, Task task) {
    return task == Task::nu_svc && r.rho > 0 ? r.rho : 1;
}

/// Sum of the upper bounds of the variables.
inline double room(const Report& r, const SvmSettings& settings) {
    const auto rows = static_cast<double>(r.rows);
    if (settings.task == Task::svc) return settings.C * rows;
    if (is_regressor(settings.task)) return 2 * settings.C * rows;
    return rows / divisor(r, settings.task);
}

/// How far Σ_j β_j k(x_j, x) can be off when every k is right to twelve units in the last place:
/// four of a product of rows, three times as many of its third power.
inline double blur(const Expansion& e, std::size_t output, bool double_precision) {
    double largest = 1;
    double sum = 0;
    std::vector<double> row(e.points.columns());
    for (std::size_t i = 0; i < e.size(); ++i) {
        e.points.copy_row(i, row);
        largest = std::max(largest, std::abs(e.kernel(row, row)));
        sum += std::abs(e.coefficients(output, i));
    }
    const double unit = double_precision ? std::numeric_limits<double>::epsilon()
                                         : std::numeric_limits<float>::epsilon();
    return 12 * unit * largest * sum;
}

/// The numbers of two certificates of one machine, which may differ by `difference` in the
/// objectives.
inline void expect_same_report(const Report& a, const Report& b, double difference) {
    EXPECT_EQ(a.convexity, b.convexity);
    EXPECT_NEAR(a.dual, b.dual, difference);
    if (a.is_bracketed()) {
        EXPECT_NEAR(a.primal, b.primal, difference);
        EXPECT_NEAR(a.gap, b.gap, difference);
    }
    EXPECT_NEAR(a.squared_norm, b.squared_norm, 2 * difference);
    EXPECT_EQ(a.bias, b.bias);
    EXPECT_EQ(a.rho, b.rho);
    EXPECT_EQ(a.epsilon, b.epsilon);
    EXPECT_EQ(a.radius, b.radius);
    EXPECT_EQ(a.rows, b.rows);
    EXPECT_EQ(a.free_support_vectors, b.free_support_vectors);
    EXPECT_EQ(a.bounded_support_vectors, b.bounded_support_vectors);
    EXPECT_EQ(a.nu, b.nu);
    EXPECT_EQ(a.fraction_support, b.fraction_support);
}

/// Converged to the tolerance asked for, feasible, with a gap that is small and not negative; and
/// the same when it is computed again in double precision from the model and the data alone.
inline void expect_certified(const Model& model, const Dataset& data, const SvmSettings& settings) {
    for (const Report& r : model.reports()) {
        SCOPED_TRACE("problem " + r.name);
        EXPECT_EQ(r.status, FitStatus::converged) << describe(r.status);
        EXPECT_LE(r.kkt_violation, settings.tolerance);
        EXPECT_LE(r.infeasibility, 1e-9);
        if (r.is_bracketed()) {
            EXPECT_GE(r.relative_gap, 0);
            // A term of the gap is at most violation × width of the bounds (solver/dual.hpp).
            // What the eigenvalues leave open may move the primal value by a thousandth.
            const double moved =
                r.convexity == Convexity::on_sample ? 1e-3 * std::abs(r.primal) : 0;
            EXPECT_LE(r.gap,
                      settings.tolerance / divisor(r, settings.task) * room(r, settings) + moved);
            EXPECT_EQ(r.gap, r.primal - r.dual);
        }
        EXPECT_LE(r.support_vectors(), r.rows);
        EXPECT_LE(r.margin_errors, r.bounded_support_vectors);
    }
    const std::vector<Report> again = recompute_reports(model, data);
    ASSERT_EQ(again.size(), model.reports().size());
    for (std::size_t i = 0; i < again.size(); ++i) {
        SCOPED_TRACE("recomputed " + again[i].name);
        const Report& r = model.reports()[i];
        const double unsure = blur(model.expansion(), i, settings.common.double_precision);
        expect_same_report(r, again[i], unsure * room(r, settings));
        EXPECT_NEAR(again[i].kkt_violation, r.kkt_violation,
                    2 * unsure * divisor(r, settings.task));
        if (again[i].is_bracketed()) {
            EXPECT_GE(again[i].relative_gap, -1e-9);
        }
    }
}

/// 001, proposition 3: at most a fraction ν of errors, at least ν of support vectors. Errors are
/// counted here from the values f(x_i): a slack beyond the tolerance puts α at its bound.
inline void expect_nu_property(const Model& model, const Dataset& data,
                               const SvmSettings& settings) {
    if (settings.task == Task::svc || settings.task == Task::svr) return;
    const double tie = 1;  // one row
    for (const Report& r : model.reports()) {
        const auto rows = static_cast<double>(r.rows);
        EXPECT_EQ(r.nu, settings.nu);
        EXPECT_LE(r.fraction_errors, settings.nu + tie / rows);
        EXPECT_GE(r.fraction_support, settings.nu - tie / rows);
    }
    if (model.reports().size() != 1) return;
    const Report& r = model.reports().front();
    const Matrix<double> f = model.decision(data.x);
    const Classes classes = is_classifier(settings.task) ? classes_of(data.y) : Classes{};
    double errors = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        double slack = -f(i, 0) - settings.tolerance;
        if (settings.task == Task::nu_svc) {
            const double y = classes.index[i] == 0 ? 1 : -1;
            slack = 1 - y * f(i, 0) - 2 * settings.tolerance / r.rho;
        } else if (settings.task == Task::nu_svr) {
            slack = std::abs(data.y.values[i] - f(i, 0)) - r.epsilon - 2 * settings.tolerance;
        }
        errors += slack > 0 ? 1 : 0;
    }
    EXPECT_LE(errors, settings.nu * static_cast<double>(data.size()) + tie);
}

}  // namespace mercer::testing
