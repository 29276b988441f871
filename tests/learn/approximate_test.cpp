// Machines in the span of some rows.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/detail/centres.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/machine.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/risk/losses.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

/// Two noisy spirals of the plane, or a wave over it.
Dataset spirals(std::size_t rows, bool numbers = false) {
    Random random(7);
    Dataset data;
    std::vector<double> x;
    for (std::size_t i = 0; i < rows; ++i) {
        const double t = random.uniform(0, 6);
        const double sign = i % 2 == 0 ? 1 : -1;
        x.push_back(sign * t * std::cos(t) + 0.15 * random.normal());
        x.push_back(sign * t * std::sin(t) + 0.15 * random.normal());
        data.y.values.push_back(numbers ? std::sin(x[2 * i]) * x[2 * i + 1] : sign);
    }
    data.x = Rows::dense(std::move(x), 2);
    return data;
}

const FitSettings wide{.kernel = rbf({.gamma = 0.5}), .double_precision = true};

Machine in_span(const FitSettings& common, std::size_t centres, const std::string& task,
                const SettingValues& values) {
    return approximate(common, {.centres = centres}, [=](const FitSettings& own) {
        return machine_entry(task).make(own, values);
    });
}

double largest_difference(const Matrix<double>& a, const Matrix<double>& b) {
    double worst = 0;
    for (std::size_t k = 0; k < a.values().size(); ++k) {
        worst = std::max(worst, std::fabs(a.values()[k] - b.values()[k]));
    }
    return worst;
}

TEST(Approximate, InTheSpanOfAllRowsIsTheMachineItself) {
    // A kernel of finite rank: few centres span all of its functions.
    const FitSettings common{.kernel = Kernel::parse("polynomial(degree=2, coef0=1)"),
                             .double_precision = true};
    const Dataset data = spirals(700);
    const Dataset numbers = spirals(700, true);
    const struct {
        std::string task;
        SettingValues values;
    } cases[]{{"svc", {{"C", 2.0}, {"tolerance", 1e-6}}},
              {"svr", {{"C", 1.0}, {"tolerance", 1e-6}}},
              {"ridge", {{"lambda", 0.1}}},
              {"logistic", {{"lambda", 1.0}}},
              {"squared-hinge", {{"lambda", 1.0}}},
              {"huber", {}}};
    for (const auto& [task, values] : cases) {
        SCOPED_TRACE(task);
        const bool of_numbers = is_regressor(task_named(task));
        const Dataset& own = of_numbers ? numbers : data;
        const Model exact = machine_entry(task).make(common, values).fit(own);
        const Model model = in_span(common, 50, task, values).fit(own);
        EXPECT_LE(model.expansion().size(), 6U) << "quadratics of the plane";
        const double size = std::fabs(exact.report().primal);
        EXPECT_NEAR(model.report().primal, exact.report().primal, 1e-3 * size);
        EXPECT_LT(largest_difference(model.decision(own.x), exact.decision(own.x)), 0.02);
    }
}

TEST(Approximate, BracketsTheOptimumOfTheKernelItself) {
    const Dataset data = spirals(900);
    const SettingValues values{{"C", 1.0}, {"tolerance", 1e-4}};
    const Report exact = machine_entry("svc").make(wide, values).fit(data).report();
    double before = std::numeric_limits<double>::infinity();
    for (const std::size_t centres : {20UL, 60UL, 150UL}) {
        const Model model = in_span(wide, centres, "svc", values).fit(data);
        const Report& report = model.reports().front();
        EXPECT_EQ(model.expansion().size(), centres);
        EXPECT_GE(report.primal, exact.dual);
        ASSERT_TRUE(report.figures.contains("exact_dual"));
        EXPECT_LE(report.figures.at("exact_dual"), exact.primal);
        EXPECT_LT(report.primal, before) << "more centres, better functions";
        before = report.primal;
    }
    EXPECT_LT(before, exact.primal * 1.02);
    const Report near = in_span(wide, 150, "svc", values).fit(data).reports().front();
    EXPECT_GT(near.figures.at("exact_dual"), exact.dual * 0.9);
}

TEST(Approximate, BoundsTheOptimumOfEveryMachineWhoseUnitsAreFixed) {
    const Dataset data = spirals(700);
    const Dataset numbers = spirals(700, true);
    for (const char* task : {"svc", "nu-svc", "svr", "nu-svr", "one-class", "hard"}) {
        SCOPED_TRACE(task);
        const Dataset& own = is_regressor(task_named(task)) ? numbers : data;
        const SettingValues values{{"tolerance", 1e-5}};
        const Report exact = machine_entry(task).make(wide, values).fit(own).report();
        for (const std::size_t centres : {40UL, 120UL}) {
            const Model model = in_span(wide, centres, task, values).fit(own);
            const Report& report = model.reports().front();
            if (has_no_machine(report.status)) continue;
            // Told in units of the margin found, which is another under the kernel itself.
            if (model.task() == Task::nu_svc) {
                EXPECT_FALSE(report.figures.contains("exact_dual"));
                continue;
            }
            const double rounding = 1e-6 * std::fabs(exact.primal);
            EXPECT_LE(report.figures.at("exact_dual"), exact.primal + rounding);
            EXPECT_GE(report.primal, exact.dual - rounding);
        }
    }
}

TEST(Approximate, RidgeSumsOverBlocksWhatTheFeaturesSay) {
    Dataset data = spirals(5000, true);  // two blocks of rows
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.weights.push_back(i % 3 == 0 ? 2.0 : 0.5);
    }
    for (const bool bias : {true, false}) {
        const SettingValues values{{"lambda", 0.3}, {"bias", bias}};
        const Model model = in_span(wide, 80, "ridge", values).fit(data);
        const Report& report = model.reports().front();
        EXPECT_GE(report.gap, 0);
        EXPECT_LT(report.relative_gap, 1e-3);
        // The primal value again, from the model alone.
        const Matrix<double> f = model.decision(data.x);
        double primal = 0.3 * report.squared_norm;
        for (std::size_t i = 0; i < data.size(); ++i) {
            const double residual = data.y.values[i] - f(i, 0);
            primal += data.weights[i] * residual * residual;
        }
        EXPECT_NEAR(report.primal, primal, 1e-4 * primal);
        // A ridge of the plain features finds no better function of the span.
        const Expansion& e = model.expansion();
        const Model other = ridge({.common = wide, .lambda = 0.3, .bias = bias}).fit(data);
        EXPECT_GE(report.primal, other.report().dual);
        EXPECT_EQ(e.size(), 80U);
    }
}

TEST(Approximate, ServesGroupsRegionsAndSeveralClasses) {
    const Dataset data = spirals(600);
    for (const char* task : {"k-means", "class-means", "one-class", "perceptron"}) {
        SCOPED_TRACE(task);
        const Model model = in_span(wide, 100, task, {}).fit(data);
        EXPECT_EQ(model.expansion().size(), 100U);
    }
    Dataset three = data;
    for (std::size_t i = 0; i < three.size(); ++i) three.y.values[i] = static_cast<double>(i % 3);
    const Model model = in_span(wide, 100, "svc", {{"C", 1.0}}).fit(three);
    EXPECT_EQ(model.expansion().outputs(), 3U);
}

TEST(Approximate, PrincipalComponentsAreThoseOfTheSpan) {
    Dataset data = spirals(400);
    // Row i counts i % 3 times: 0 is as if it were not there.
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.weights.push_back(static_cast<double>(i % 3));
    }
    for (const bool center : {true, false}) {
        SCOPED_TRACE(center);
        const SettingValues values{{"components", 5.0}, {"center", center}};
        const Model exact = machine_entry("kpca").make(wide, values).fit(data);
        // A span of nearly all of the kernel has nearly the components of all rows.
        const Model model = in_span(wide, 200, "kpca", values).fit(data);
        const PrincipalComponents found(model), wanted(exact);
        const Matrix<double> projected = model.decision(data.x);
        ASSERT_EQ(found.size(), 5U);
        for (std::size_t j = 0; j < 5; ++j) {
            EXPECT_NEAR(found.eigenvalues()[j], wanted.eigenvalues()[j],
                        1e-3 * wanted.eigenvalues()[0]);
            double mean = 0, square = 0, total = 0;
            for (std::size_t i = 0; i < data.size(); ++i) {
                total += data.weights[i];
                mean += data.weights[i] * projected(i, j);
                square += data.weights[i] * projected(i, j) * projected(i, j);
            }
            // The variance of the projections is what it is said to be, about their mean.
            if (center) {
                EXPECT_NEAR(mean / total, 0, 1e-5);
            }
            EXPECT_NEAR(square / total, found.variances()[j], 1e-4 * found.variances()[0]);
        }
        EXPECT_NEAR(found.total_variance(), wanted.total_variance(), 1e-3);
        const std::vector<double> left = found.reconstruction_errors(data.x);
        const std::vector<double> exactly = wanted.reconstruction_errors(data.x);
        for (std::size_t i = 0; i < data.size(); i += 17) EXPECT_NEAR(left[i], exactly[i], 0.02);

        // In a small span no eigenvalue is above that of all rows.
        const PrincipalComponents small(in_span(wide, 20, "kpca", values).fit(data));
        for (std::size_t j = 0; j < 5; ++j) {
            EXPECT_LE(small.eigenvalues()[j], wanted.eigenvalues()[j] * (1 + 1e-6));
        }
        EXPECT_LT(small.eigenvalues()[4], 0.999 * wanted.eigenvalues()[4]);
    }
}

TEST(Approximate, ProcessesBracketTheirEvidenceAndKnowWhatTheyDoNotKnow) {
    Dataset data = spirals(300, true);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.weights.push_back(0.5 + static_cast<double>(i % 4));
    }
    const SettingValues values{{"noise", 0.05}};
    const Model exact = machine_entry("gp").make(wide, values).fit(data);
    const double evidence = exact.report().figures.at("log_evidence");
    Dataset far = data.select(std::vector<std::size_t>{3, 50, 101});
    far.x = concatenate(far.x, Rows::dense(std::vector<double>{40, -30, 0.1, 0.2}, 2));
    const std::vector<double> wanted = predictive_deviation(exact, far.x);
    double before = std::numeric_limits<double>::infinity();
    for (const std::size_t centres : {20UL, 80UL, 250UL}) {
        SCOPED_TRACE(centres);
        const Model model = in_span(wide, centres, "gp", values).fit(data);
        const auto& figures = model.report().figures;
        const double low = figures.at("log_evidence_at_least");
        const double high = figures.at("log_evidence_at_most");
        EXPECT_LE(low, evidence);
        EXPECT_GE(high, evidence);
        EXPECT_LT(high - low, before);
        before = high - low;
        const std::vector<double> deviations = predictive_deviation(model, far.x);
        // Where no row is near, nothing is known.
        EXPECT_NEAR(deviations[3], 1, 1e-6);
        if (centres == 250) {
            for (std::size_t i = 0; i < wanted.size(); ++i) {
                EXPECT_NEAR(deviations[i], wanted[i], 0.01);
            }
            EXPECT_LT(largest_difference(model.decision(data.x), exact.decision(data.x)), 0.02);
        }
        EXPECT_LT(model.report().relative_gap, 1e-3);
    }
}

TEST(Approximate, IsTheSameForAnyNumberOfThreads) {
    const Dataset data = spirals(1500, true);
    std::vector<double> first;
    for (const std::size_t count : {1UL, 2UL, 4UL}) {
        const ThreadLimit limit(count);
        const Model model = in_span(wide, 70, "ridge", {{"lambda", 0.1}}).fit(data);
        if (first.empty()) first = model.expansion().coefficients.values();
        EXPECT_EQ(model.expansion().coefficients.values(), first);
    }
}

TEST(Approximate, RefusesWhatItCannotDo) {
    const Dataset data = spirals(60);
    EXPECT_THROW(in_span({.kernel = Kernel::parse("sigmoid")}, 10, "svc", {}).fit(data),
                 InvalidInput);
    EXPECT_THROW(
        in_span({.kernel = Kernel::parse("center(rbf(gamma=1))")}, 10, "svc", {}).fit(data),
        InvalidInput);
    for (const char* task : {"svdd", "gpc", "knn"}) {
        EXPECT_THROW(in_span(wide, 10, task, {}).fit(data), InvalidInput) << task;
    }
    EXPECT_THROW(in_span(wide, 10, "ridge", {{"leave_one_out", true}}).fit(spirals(60, true)),
                 InvalidInput);
    FitSettings tight = wide;
    tight.memory_bytes = 1000;
    EXPECT_THROW(in_span(tight, 10, "svr", {}).fit(spirals(60, true)), InvalidInput);
    const Model model = in_span(wide, 10, "svc", {}).fit(data);
    EXPECT_THROW(recompute_reports(model, data), InvalidInput);
}

TEST(Approximate, ReadsItsText) {
    EXPECT_EQ(Nystroem::parse("nystroem").centres, Nystroem{}.centres);
    EXPECT_EQ(Nystroem::parse("nystroem(centres=37)").centres, 37U);
    for (const char* wrong : {"", "nystrom", "nystroem()", "nystroem(centres=0)",
                              "nystroem(centres=1.5)", "nystroem(centres=10", "nystroem(m=3)"}) {
        EXPECT_THROW(Nystroem::parse(wrong), InvalidInput) << wrong;
    }
}

TEST(Centres, LeaveLittleOfTheRows) {
    // What k(x, x) loses to drawn centres, against as many rows at random.
    const Dataset data = spirals(1000);
    const Gram<float> gram(rbf({.gamma = 0.5}), data.x);
    const std::vector<std::size_t> drawn = draw_centres(gram, {.count = 60});
    EXPECT_EQ(drawn.size(), 60U);
    EXPECT_TRUE(std::ranges::is_sorted(drawn));
    EXPECT_EQ(std::ranges::adjacent_find(drawn), drawn.end());
    EXPECT_EQ(draw_centres(gram, {.count = 60}), drawn) << "the same seed, the same centres";
    EXPECT_NE(draw_centres(gram, {.count = 60, .seed = 2}), drawn);
}

/// So little that the features of these rows are not held, but centres are drawn among all.
FitSettings tight(const FitSettings& common, std::size_t rows, std::size_t centres) {
    FitSettings own = common;
    own.double_precision = false;
    own.memory_bytes = 10 * rows * centres;
    return own;
}

TEST(HingeInPasses, IsTheMachineThatHoldsItsFeatures) {
    Dataset data = spirals(3000);
    for (std::size_t i = 0; i < data.size(); ++i) {  // some are on the wrong side, some count more
        if (i % 17 == 0) data.y.values[i] *= -1;
        data.weights.push_back(i % 5 == 0 ? 2 : 1);
    }
    const SettingValues values{{"C", 2.0}, {"class_weights", std::vector<std::string>{"1=3"}}};
    const FitSettings common{.kernel = rbf({.gamma = 0.5})};
    const Model held = in_span(common, 60, "svc", values).fit(data);
    const Model found = in_span(tight(common, 3000, 60), 60, "svc", values).fit(data);
    const Report a = held.report();
    const Report b = found.report();
    ASSERT_EQ(b.status, FitStatus::converged);
    EXPECT_EQ(found.origins(), held.origins());
    EXPECT_TRUE(b.is_bracketed());
    EXPECT_LE(b.relative_gap, 2e-3);
    EXPECT_LE(b.kkt_violation, 1.01e-3);
    EXPECT_LE(b.infeasibility, 1e-9);
    // Two brackets of one optimum.
    EXPECT_LE(b.dual, a.primal * (1 + 1e-5));
    EXPECT_LE(a.dual, b.primal * (1 + 1e-5));
    EXPECT_NEAR(b.squared_norm, a.squared_norm, 0.02 * a.squared_norm);
    EXPECT_LE(largest_difference(found.decision(data.x), held.decision(data.x)), 0.02);
    EXPECT_NEAR(static_cast<double>(b.bounded_support_vectors),
                static_cast<double>(a.bounded_support_vectors), 10);
    EXPECT_EQ(b.rows, 3000U);
    // What bounds the optimum under the kernel itself does.
    EXPECT_LE(b.figures.at("exact_dual"), b.dual);
    EXPECT_LE(b.figures.at("exact_dual"),
              machine_entry("svc").make(common, values).fit(data).report().primal);
}

TEST(HingeInPasses, TakesSeveralClassesByPairsAndAgainstTheRest) {
    const Dataset data = make("blobs", {.n = 1500, .noise = 1.5, .classes = 3});
    const FitSettings common{.kernel = rbf({.gamma = 0.2})};
    for (const char* way : {"ovo", "ovr"}) {
        const SettingValues values{{"C", 1.0}, {"multi_class", std::string(way)}, {"bias", false}};
        const Model held = in_span(common, 20, "svc", values).fit(data);
        const Model found = in_span(tight(common, 1500, 20), 20, "svc", values).fit(data);
        ASSERT_EQ(found.reports().size(), 3U);
        for (std::size_t p = 0; p < 3; ++p) {
            const Report& a = held.reports()[p];
            const Report& b = found.reports()[p];
            EXPECT_EQ(b.name, a.name);
            EXPECT_EQ(b.rows, a.rows);
            EXPECT_LE(b.dual, a.primal * (1 + 1e-5)) << way << p;
            EXPECT_LE(a.dual, b.primal * (1 + 1e-5)) << way << p;
            EXPECT_LE(b.relative_gap, 5e-3);
        }
        EXPECT_LE(largest_difference(found.decision(data.x), held.decision(data.x)), 0.03);
    }
    const SettingValues sigmoids{{"probability", true}};
    EXPECT_THROW(in_span(tight(common, 1500, 20), 20, "svc", sigmoids).fit(data), InvalidInput);
}

}  // namespace
}  // namespace mercer
