// Hard margins: what is thin is found, what is none is proved, and nothing is claimed beyond that.
#include <cmath>

#include "learn/certificate.hpp"
#include "learn/small.hpp"
#include "mercer/base/detail/exact_sum.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

using testing::labelled;

SvmSettings hard(const Kernel& kernel, bool bias = true, bool twice = false) {
    SvmSettings settings{.task = Task::hard_margin, .common = {.kernel = kernel}, .bias = bias};
    settings.common.double_precision = twice;
    return settings;
}

/// The bound holds for the weights it comes with: their means are no farther apart.
void expect_bound(const Report& r, const Dataset& data, const Kernel& kernel, bool bias) {
    ASSERT_TRUE(has_no_machine(r.status)) << describe(r.status);
    ASSERT_EQ(r.hull_weights.size(), data.size());
    EXPECT_EQ(r.status == FitStatus::not_separable, r.margin_bound == 0);
    const auto rows = testing::full(data.x);
    long double squared = 0, sums[2] = {0, 0};
    for (std::size_t i = 0; i < data.size(); ++i) {
        EXPECT_GE(r.hull_weights[i], 0);
        sums[data.y.values[i] == 1 ? 0 : 1] += r.hull_weights[i];
        for (std::size_t j = 0; j < data.size(); ++j) {
            const double sign = data.y.values[i] == data.y.values[j] ? 1 : -1;
            squared += static_cast<long double>(sign * r.hull_weights[i] * r.hull_weights[j]) *
                       kernel(rows[i], rows[j]);
        }
    }
    if (bias) {
        EXPECT_NEAR(static_cast<double>(sums[0]), 1, 1e-12);
        EXPECT_NEAR(static_cast<double>(sums[1]), 1, 1e-12);
    } else {
        EXPECT_NEAR(static_cast<double>(sums[0] + sums[1]), 1, 1e-12);
    }
    EXPECT_LE(static_cast<double>(squared), 1e-12);
}

TEST(HardMargin, AThinOneIsNoProofThatThereIsNone) {
    // Separated by the sign of the second column; "the hulls meet" was the answer.
    const Dataset data =
        labelled({{0, 2e-5}, {1, 2e-5}, {.5, -2e-5}, {-1, -2e-5}, {-.7, 2e-5}, {.9, -2e-5}},
                 {1, 1, -1, -1, 1, -1});
    for (const bool twice : {false, true}) {
        for (const bool bias : {true, false}) {
            const SvmSettings settings = hard(linear(), bias, twice);
            const Model model = Svm(settings).fit(data);
            const Report r = model.report();
            ASSERT_EQ(r.status, FitStatus::converged) << describe(r.status);
            EXPECT_NEAR(r.margin, 2e-5, 1e-8);
            EXPECT_LE(r.relative_gap, 1e-2);
            EXPECT_TRUE(model.double_precision());
            EXPECT_EQ(model.predict_labels(data.x).values, data.y.values);
            const Report found = recompute_reports(model, data)[0];
            EXPECT_LE(found.kkt_violation, 2e-3);
            EXPECT_NEAR(found.dual, r.dual, 1e-3 * r.dual);
        }
    }
}

TEST(HardMargin, WhatRoundingHidesIsNotCalledInseparable) {
    for (const double half : {1e-9, 1e-12}) {
        const Dataset data =
            labelled({{.1, half}, {1, half}, {.5, -half}, {-1, -half}, {-.7, half}, {.9, -half}},
                     {1, 1, -1, -1, 1, -1});
        for (const bool bias : {true, false}) {
            const Report r = Svm(hard(linear(), bias)).fit(data).report();
            ASSERT_EQ(r.status, FitStatus::no_margin) << describe(r.status);
            expect_bound(r, data, linear(), bias);
            EXPECT_GE(r.margin_bound, half);  // the margin that there is
            EXPECT_LE(r.margin_bound, 1e-7);
        }
    }
}

TEST(HardMargin, HullsThatOverlapAreProvedToMeet) {
    for (const std::size_t n : {6U, 30U, 300U}) {
        for (const std::size_t columns : {1U, 2U, 5U}) {
            for (const bool bias : {true, false}) {
                Random random(n + columns);
                std::vector<std::vector<double>> rows;
                std::vector<double> signs;
                for (std::size_t i = 0; i < n; ++i) {
                    rows.emplace_back();
                    for (std::size_t c = 0; c < columns; ++c) rows[i].push_back(random.normal());
                    signs.push_back(i % 2 == 0 ? 1 : -1);
                }
                const Dataset data = labelled(rows, signs);
                const Report r = Svm(hard(linear(), bias)).fit(data).report();
                if (r.status == FitStatus::converged && n < 10) continue;
                SCOPED_TRACE(std::to_string(n) + " x " + std::to_string(columns));
                EXPECT_EQ(r.status, FitStatus::not_separable) << describe(r.status);
                expect_bound(r, data, linear(), bias);
            }
        }
    }
}

TEST(HardMargin, HullsThatTouchInOnePointAreProvedToMeet) {
    // A corner on an edge, aslant; the middle, and a third of the way; with a column of no use.
    const std::vector<Dataset> cases = {
        labelled({{0, 0}, {2, 4}, {1, 2}, {5, 1}}, {1, 1, -1, -1}),
        labelled({{0, 0}, {3, 6}, {1, 2}, {5, 1}}, {1, 1, -1, -1}),
        labelled({{0, 7}, {2, 7}, {1, 7}}, {1, 1, -1}),
        labelled({{0, 0, 1}, {7, 21, 1}, {3, 9, 1}, {9, 2, 1}}, {1, 1, -1, -1})};
    for (const Dataset& data : cases) {
        const Report r = Svm(hard(linear())).fit(data).report();
        EXPECT_EQ(r.status, FitStatus::not_separable) << r.margin_bound;
        expect_bound(r, data, linear(), true);
    }
}

TEST(HardMargin, ContradictoryRowsMeetUnderEveryKernel) {
    const Dataset data = labelled({{1, 2}, {5, 5}, {1, 2}, {0, 1}}, {1, 1, -1, -1});
    for (const Kernel& kernel : {rbf({.gamma = 1.0}), polynomial({.degree = 3}), linear()}) {
        for (const bool bias : {true, false}) {
            const Report r = Svm(hard(kernel, bias)).fit(data).report();
            ASSERT_EQ(r.status, FitStatus::not_separable);
            EXPECT_EQ(r.margin_bound, 0);
            EXPECT_EQ(r.hull_weights[0], r.hull_weights[2]);
            EXPECT_EQ(r.hull_weights[1], 0);
        }
    }
}

TEST(HardMargin, OtherKernelsBoundTheMargin) {
    Dataset data = make("moons", {.n = 120, .noise = 0.5, .seed = 3});
    for (double& y : data.y.values) y = y < 0 ? 1 : 2;
    const Kernel kernel = polynomial({.degree = 2});
    const Report r = Svm(hard(kernel)).fit(data).report();
    ASSERT_EQ(r.status, FitStatus::no_margin);
    expect_bound(r, data, kernel, true);
    EXPECT_GT(r.margin_bound, 0);
    EXPECT_LE(r.margin_bound, 1e-5);
    // A factor of the kernel is one of the distance, squared; of linear ones it hinders no proof.
    Dataset line = labelled({{0}, {2}, {1}}, {1, 1, -1});
    EXPECT_EQ(Svm(hard(4 * linear())).fit(line).report().status, FitStatus::not_separable);
}

TEST(HardMargin, WhatIsProvedIsProvedAgainFromTheWeights) {
    Dataset data = make("moons", {.n = 80, .noise = 0.6, .seed = 8});
    for (double& y : data.y.values) y = y < 0 ? 1 : 2;
    for (const Kernel& kernel : {linear(), polynomial({.degree = 2})}) {
        for (const bool bias : {true, false}) {
            ModelParts model = Svm(hard(kernel, bias)).fit(data).parts();
            const Report claimed = Model(model).report();
            ASSERT_TRUE(has_no_machine(claimed.status));
            const Report found = recompute_reports(Model(model), data)[0];
            EXPECT_EQ(found.status, claimed.status);
            EXPECT_LE(found.margin_bound, 2 * claimed.margin_bound);
            // Other weights prove less.
            std::ranges::fill(model.reports[0].hull_weights, 1.0);
            EXPECT_GT(recompute_reports(Model(model), data)[0].margin_bound, 1e-3);
            model.reports[0].hull_weights[0] = -1;
            EXPECT_THROW(recompute_reports(Model(model), data), InvalidInput);
        }
    }
}

TEST(HardMargin, ThinOnesOfGaussianKernelsAreFound) {
    Random random(2);
    std::vector<std::vector<double>> rows;
    std::vector<double> signs;
    for (int i = 0; i < 80; ++i) {
        const double x = 3 * random.normal(), y = 3 * random.normal();
        rows.push_back({x, y});
        rows.push_back({x + 2e-3, y});
        signs.push_back(1);
        signs.push_back(-1);
    }
    const Dataset data = labelled(rows, signs);
    const Model model = Svm(hard(rbf({.gamma = 1.0}))).fit(data);
    ASSERT_EQ(model.report().status, FitStatus::converged) << describe(model.report().status);
    EXPECT_EQ(model.predict_labels(data.x).values, data.y.values);
    EXPECT_LE(recompute_reports(model, data)[0].kkt_violation, 2e-3);
}

TEST(ExactSum, HasNoRounding) {
    ExactSum sum;
    for (const double x : {1e100, 1.0, -1e100, 1e-30, -1.0}) sum.add(x);
    EXPECT_FALSE(sum.is_zero());
    EXPECT_EQ(sum.value(), 1e-30);
    sum.add(-1e-30);
    EXPECT_TRUE(sum.is_zero());
    sum.add_product(0.1, 3);
    sum.add(-0.3);
    EXPECT_FALSE(sum.is_zero());
    EXPECT_NEAR(sum.value(), 2.7755575615628914e-17, 1e-30);
}

}  // namespace
}  // namespace mercer
