// What would be if a row had not been there: exact by definition, and by rules that must agree.
#include "mercer/theory/detail/leave_one_out.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/support.hpp"
#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/theory/bounds.hpp"

namespace mercer {
namespace {

using testing::closely;
using testing::labelled;

Model trained(const SvmSettings& settings, const Dataset& data) {
    return Svm(closely(settings, 1e-9)).fit(data);
}

MarginProblem opened(const SvmSettings& settings, const Dataset& data) {
    return margin_problems(trained(settings, data), data).front();
}

const std::vector<SvmSettings>& soft_machines() {
    static const std::vector<SvmSettings> all{
        {.task = Task::svc, .common = {.kernel = rbf({.gamma = 1.0})}, .C = 1},
        {.task = Task::svc, .common = {.kernel = rbf({.gamma = 4.0})}, .C = 30},
        {.task = Task::svc, .common = {.kernel = linear()}, .C = 0.5},
        {.task = Task::svc, .common = {.kernel = polynomial({.degree = 2})}, .C = 1, .bias = false},
        {.task = Task::nu_svc, .common = {.kernel = rbf({.gamma = 1.0})}, .nu = 0.4},
    };
    return all;
}

TEST(MarginProblem, IsTheMachineThatWasTrained) {
    const Dataset data = make("moons", {.n = 80, .noise = 0.25});
    for (const SvmSettings& settings : soft_machines()) {
        const Model model = trained(settings, data);
        const MarginProblem p = margin_problems(model, data).front();
        const Matrix<double> f = model.decision(data.x);
        EXPECT_NEAR(p.squared_norm, model.report().squared_norm,
                    1e-5 * model.report().squared_norm);
        for (std::size_t i = 0; i < data.size(); ++i) ASSERT_NEAR(p.value[i], f(i, 0), 2e-5);
        EXPECT_LE(p.gap, 1e-7 * p.dual);
    }
}

TEST(LeaveOneOut, IsTrainingWithoutTheRow) {
    const Dataset data = make("moons", {.n = 50, .noise = 0.3});
    for (SvmSettings settings : soft_machines()) {
        // A ν-machine of fewer rows has another C: the definition there is that of its C-machine.
        if (settings.task == Task::nu_svc) {
            settings.C = 1 / trained(settings, data).report().rho;
            settings.task = Task::svc;
        }
        const LeaveOneOut loo = leave_one_out(opened(settings, data));
        std::size_t errors = 0;
        for (std::size_t out = 0; out < data.size(); ++out) {
            std::vector<std::size_t> rest;
            for (std::size_t i = 0; i < data.size(); ++i) {
                if (i != out) rest.push_back(i);
            }
            const Model without = trained(settings, data.select(rest));
            const double f = without.decision(data.x.select(std::vector{out}))(0, 0);
            ASSERT_NEAR(loo.value[out], f, 1e-4) << "row " << out;
            const double y = classes_of(data.y).index[out] == 0 ? 1 : -1;
            errors += y * f > 0 ? 0 : 1;
        }
        EXPECT_EQ(loo.errors, errors);
    }
}

TEST(LeaveOneOut, EveryBoundIsAboveTheExactNumber) {
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        const Dataset data = make("moons", {.n = 60, .noise = 0.3, .seed = seed});
        for (const SvmSettings& settings : soft_machines()) {
            const MarginProblem p = opened(settings, data);
            const LeaveOneOut exact = leave_one_out(p);
            EXPECT_LE(exact.errors, p.support_vectors());
            EXPECT_LE(exact.errors, xi_alpha(p).errors);
            if (p.problem.bias) {
                const LeaveOneOutRule span = span_guarantee(p, 2 * smallest_radius(*p.k));
                for (std::size_t i = 0; i < p.size(); ++i) {
                    ASSERT_LE(exact.is_error[i], span.is_error[i]) << "row " << i;
                }
            } else {
                EXPECT_LE(exact.errors, jaakkola_haussler(p).errors);
            }
        }
    }
}

TEST(LeaveOneOut, SpansGiveTheExactValueWhereFreeVectorsStayFree) {
    const Dataset data = make("moons", {.n = 60, .noise = 0.1, .seed = 2});
    // Slacks that are squared: nearly every row is a support vector, and stays one.
    const SvmSettings settings{.task = Task::hard_margin,
                               .common = {.kernel = rbf({.gamma = 2.0}) + 2.0 * ball(1e-9)}};
    const MarginProblem p = opened(settings, data);
    const LeaveOneOut exact = leave_one_out(p);
    const LeaveOneOutRule span = span_estimate(p);
    std::size_t same = 0;
    for (std::size_t out = 0; out < p.size(); ++out) {
        if (!p.is_support(out)) continue;
        std::vector<std::size_t> rest;
        for (std::size_t i = 0; i < data.size(); ++i) {
            if (i != out) rest.push_back(i);
        }
        const MarginProblem q = opened(settings, data.select(rest));
        bool kept = true;
        for (std::size_t i = 0; i < rest.size(); ++i) {
            kept = kept && p.is_support(rest[i]) == q.is_support(i) &&
                   p.is_bounded(rest[i]) == q.is_bounded(i);
        }
        if (!kept) continue;
        ++same;
        const double predicted = p.value[out] - p.target(out) * p.alpha[out] * span.measure[out];
        EXPECT_NEAR(predicted, exact.value[out], 1e-5) << "row " << out;
    }
    EXPECT_GE(same, 3U) << "the test is of no use without any";
    EXPECT_NEAR(static_cast<double>(span.errors), static_cast<double>(exact.errors), 2);
}

/// 000 §4: of three points on the supporting plane the middle one can replace the outer two.
TEST(LeaveOneOut, EssentialVectorsAreThoseOfEveryExpansion) {
    const SvmSettings through_origin{
        .task = Task::hard_margin, .common = {.kernel = linear()}, .bias = false};
    // w = (1, 0) = Φ(1,0) = ½Φ(1,1) + ½Φ(1,−1) = −Φ(−1,0): nobody is needed.
    const Dataset spare =
        labelled({{1, 1}, {1, -1}, {1, 0}, {-1, 0}, {-1, 0.5}}, {1, 1, 1, -1, -1});
    const MarginProblem p = opened(through_origin, spare);
    EXPECT_GE(p.support_vectors(), 1U);
    EXPECT_EQ(leave_one_out(p).essential_count, 0U);
    // With a bias and three points of a triangle each is needed.
    const Dataset corner =
        labelled({{0, 2}, {1, 3}, {0, 0}, {0.6, -0.2}, {5, 9}, {0, -7}}, {1, 1, -1, -1, 1, -1});
    const MarginProblem q =
        opened({.task = Task::hard_margin, .common = {.kernel = linear()}}, corner);
    const LeaveOneOut loo = leave_one_out(q);
    EXPECT_EQ(loo.essential_count, q.support_vectors());
    EXPECT_GE(loo.essential_count, 2U);
    // A copy of each row makes every one of them dispensable.
    Dataset twice = corner;
    twice = corner.select(std::vector<std::size_t>{0, 1, 2, 3, 4, 5, 0, 1, 2, 3, 4, 5});
    const MarginProblem r =
        opened({.task = Task::hard_margin, .common = {.kernel = linear()}}, twice);
    EXPECT_EQ(leave_one_out(r).essential_count, 0U);
    EXPECT_NEAR(r.squared_norm, q.squared_norm, 1e-6);
}

TEST(LeaveOneOut, RadiusIsThatOfTheSphere) {
    const Dataset data = make("blobs", {.n = 40, .classes = 2, .columns = 3});
    const MarginProblem p =
        opened({.task = Task::svc, .common = {.kernel = linear()}, .C = 1}, data);
    const double radius = smallest_radius(*p.k);
    const Model sphere_model =
        Svm(closely({.task = Task::svdd, .common = {.kernel = linear()}, .C = 0, .nu = 0}, 1e-9))
            .fit(data);
    EXPECT_NEAR(radius, sphere_model.report().radius, 1e-4 * radius);
    // Three corners of an equilateral triangle of side 2: 2/√3 around its middle.
    const Dataset triangle = labelled({{5, 5}, {7, 5}, {6, 5 + std::sqrt(3)}}, {1, -1, 1});
    const MarginProblem t = opened({.task = Task::svc, .common = {.kernel = linear()}}, triangle);
    EXPECT_NEAR(smallest_radius(*t.k), 2 / std::sqrt(3), 1e-6);
    EXPECT_NEAR(origin_radius(*t.k), std::hypot(6, 5 + std::sqrt(3)), 1e-6);
}

/// Two normal clouds whose best plane is known; the error of a plane is a value of the normal
/// distribution function.
double error_of(const Model& model) {
    const std::vector<double> w = testing::weights_of(model);
    const double b = model.expansion().bias[0];
    const double norm = std::hypot(w[0], w[1]);
    const auto phi = [](double z) { return 0.5 * std::erfc(-z / std::sqrt(2)); };
    // Class 1 (y = +1) around (1, 0), class 2 around (−1, 0), deviation 1.
    return 0.5 * phi(-(w[0] + b) / norm) + 0.5 * phi((-w[0] + b) / norm);
}

Dataset clouds(Random& random, std::size_t n) {
    std::vector<std::vector<double>> rows;
    std::vector<double> signs;
    for (std::size_t i = 0; i < n; ++i) {
        const double y = i % 2 == 0 ? 1 : -1;
        rows.push_back({y + random.normal(), random.normal()});
        signs.push_back(y);
    }
    return labelled(rows, signs);
}

TEST(LeaveOneOut, ExpectationsHoldOnNormalClouds) {
    Random random(11);
    double error = 0, loo = 0, support = 0, essential = 0, span = 0;
    constexpr int draws = 60;
    constexpr double m = 24;
    const SvmSettings settings{.task = Task::svc, .common = {.kernel = linear()}, .C = 1};
    for (int d = 0; d < draws; ++d) {
        const Dataset data = clouds(random, static_cast<std::size_t>(m));
        const MarginProblem p = opened(settings, data);
        const LeaveOneOut exact = leave_one_out(p);
        loo += static_cast<double>(exact.errors) / m / draws;
        essential += static_cast<double>(exact.essential_count) / m / draws;
        support += static_cast<double>(p.support_vectors()) / m / draws;
        span +=
            static_cast<double>(span_guarantee(p, 2 * smallest_radius(*p.k)).errors) / m / draws;
        std::vector<std::size_t> fewer;
        for (std::size_t i = 1; i < data.size(); ++i) fewer.push_back(i);
        error += error_of(trained(settings, data.select(fewer))) / draws;
    }
    // Leave-one-out is unbiased: 60 × 24 rows of error near 0.18 leave about 0.012 of chance.
    EXPECT_NEAR(loo, error, 0.04);
    EXPECT_LE(error, essential);
    EXPECT_LE(essential, support + 1e-12);
    EXPECT_LE(error, span);
    EXPECT_GT(error, 0.15) << "the best plane errs in 15.87 % of the rows";
}

TEST(ModelBounds, AnswersWithFormulaNumbersAndConfidence) {
    const Dataset data = make("moons", {.n = 60, .noise = 0.1});
    const Model model =
        trained({.task = Task::hard_margin, .common = {.kernel = rbf({.gamma = 5.0})}}, data);
    const std::vector<MachineBounds> all = model_bounds(model, data);
    ASSERT_EQ(all.size(), 1U);
    std::vector<std::string> names;
    double loo = -1, essential = -1;
    for (const Bound& b : all[0].bounds) {
        names.push_back(b.name);
        EXPECT_FALSE(b.formula.empty());
        EXPECT_FALSE(b.inputs.empty());
        EXPECT_FALSE(b.about.empty());
        if (b.name == "leave-one-out") loo = b.value;
        if (b.name == "essential-support") essential = b.value;
        if (b.name == "radius-margin") {
            const double h = b.input("R") * b.input("R") * b.input("‖w‖") * b.input("‖w‖");
            EXPECT_NEAR(b.value, h / 60, 1e-12);
            EXPECT_NEAR(h, model.report().squared_norm * b.input("R") * b.input("R"), 1e-4 * h);
        }
    }
    for (const char* name :
         {"margin-dimension", "vc-margin", "radius-margin", "support-vectors", "essential-support",
          "leave-one-out", "span-estimate", "span-bound", "jaakkola-haussler", "xi-alpha"}) {
        EXPECT_EQ(std::ranges::count(names, name), 1) << name;
    }
    EXPECT_LE(loo, essential);
}

TEST(ModelBounds, CoversPairsLinearKernelsAndASingleClass) {
    const Dataset iris = embedded("iris");
    const Model model = trained({.task = Task::svc, .common = {.kernel = linear()}, .C = 1}, iris);
    const std::vector<MachineBounds> pairs = model_bounds(model, iris);
    ASSERT_EQ(pairs.size(), 3U);
    for (const MachineBounds& pair : pairs) {
        EXPECT_EQ(pair.rows, 100U);
        const auto half_spaces = std::ranges::find(pair.bounds, "vc-dimension", &Bound::name);
        ASSERT_NE(half_spaces, pair.bounds.end());
        EXPECT_EQ(half_spaces->input("h"), 5);
    }
    const Dataset ring = make("rings", {.n = 100});
    const Model region = trained(
        {.task = Task::one_class, .common = {.kernel = rbf({.gamma = 1.0})}, .nu = 0.1}, ring);
    const Bound five = model_bounds(region, ring).front().bounds.front();
    EXPECT_EQ(five.name, "single-class");
    EXPECT_TRUE(five.vacuous) << "with c = 103 a hundred rows say nothing";
    const Report r = region.report();
    EXPECT_NEAR(five.input("γ̂"), 0.5 * r.rho / std::sqrt(r.squared_norm), 1e-4);
    EXPECT_NEAR(five.input("D"),
                (r.primal - 0.5 * r.squared_norm + r.rho * 10) / std::sqrt(r.squared_norm), 1e-4);
}

TEST(ModelBounds, NonsenseGetsAClearAnswer) {
    using testing::message_of;
    const Dataset data = make("moons", {.n = 30});
    const Model model = trained({.task = Task::svc}, data);
    EXPECT_NE(message_of([&] { model_bounds(model, data, {.delta = 1}); }).find("delta = 1"),
              std::string::npos);
    const Model regression = trained({.task = Task::svr}, make("sinc", {.n = 30}));
    EXPECT_NE(message_of([&] { model_bounds(regression, data); }).find("svr"), std::string::npos);
    EXPECT_NE(message_of([&] { model_bounds(model, embedded("iris")); }).find("trained on 2"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  model_bounds(model, make("moons", {.n = 30, .seed = 8}));
              }).find("other data"),
              std::string::npos);
    const Dataset lonely = labelled({{0, 0}, {1, 0}, {2, 0}, {9, 9}}, {1, 1, 1, -1});
    const Model single = trained({.task = Task::svc, .common = {.kernel = linear()}}, lonely);
    EXPECT_NE(message_of([&] { model_bounds(single, lonely); }).find("single row"),
              std::string::npos);
    EXPECT_NE(message_of([&] { margin_problems(model, data, 1000); }).find("memory"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
