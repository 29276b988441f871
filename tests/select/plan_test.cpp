// What training would cost, and which way is taken.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/select/automatic.hpp"
#include "mercer/select/detail/pilot.hpp"

namespace mercer {
namespace {

Dataset sine(std::size_t rows) {
    Random random(3);
    Dataset data;
    std::vector<double> x;
    for (std::size_t i = 0; i < rows; ++i) {
        x.push_back(random.uniform(-3, 3));
        data.y.values.push_back(std::sin(2 * x.back()) + 0.1 * random.normal());
    }
    data.x = Rows::dense(std::move(x), 1);
    return data;
}

Machine make_ridge(const FitSettings& common) {
    return Machine(ridge({.common = common, .lambda = 0.1}));
}

const FitSettings smooth{.kernel = rbf({.gamma = 1.0})};

TEST(Plan, TakesAllRowsWhereTheyFit) {
    const TrainingPlan plan = plan_training(smooth, make_ridge, sine(300), {.seconds = 1e9});
    EXPECT_EQ(plan.chosen, 0U);
    EXPECT_EQ(plan.ways.front().centres, 0U);
    EXPECT_TRUE(plan.ways.front().fits);
    EXPECT_NE(plan.why.find("300 rows"), std::string::npos) << plan.why;
}

TEST(Plan, TakesTheSmallestSpanThatServesWhereTheyDoNot) {
    FitSettings tight = smooth;
    tight.memory_bytes = 1 << 20;  // a matrix of 362 rows
    const Dataset data = sine(6000);
    const TrainingPlan plan = plan_training(
        tight, make_ridge, data, {.seconds = 1e9, .pilot_rows = 2000, .pilot_seconds = 3});
    ASSERT_EQ(plan.ways.size(), 3U);
    EXPECT_FALSE(plan.ways.front().fits);
    ASSERT_EQ(plan.chosen, 1U) << "a smooth function of a line needs few centres";
    EXPECT_LT(plan.ways[1].left, 1e-3);
    // Its errors are those of the machine of all rows, about the noise.
    EXPECT_NEAR(plan.ways[1].pilot_error, 0.1, 0.02);
    const Model model =
        approximate(tight, Nystroem::parse(plan.ways[1].approximate), make_ridge).fit(data);
    EXPECT_LE(model.expansion().size(), 250U);
}

TEST(Plan, SaysWhenCentresAreTooFew) {
    FitSettings rough{.kernel = rbf({.gamma = 1e8})};
    rough.memory_bytes = 1 << 20;
    const TrainingPlan plan = plan_training(
        rough, make_ridge, sine(6000), {.seconds = 1e9, .pilot_rows = 2000, .pilot_seconds = 3});
    EXPECT_EQ(plan.chosen, 2U) << "the largest there is";
    EXPECT_GT(plan.ways[2].left, 0.1);
    EXPECT_NE(plan.why.find("more would serve better"), std::string::npos) << plan.why;
}

TEST(Plan, HasNoSpanForKernelsThatAreNotPositiveDefinite) {
    const FitSettings other{.kernel = Kernel::parse("sigmoid(gamma=1, coef0=-1)")};
    Dataset data = sine(2000);
    for (double& y : data.y.values) y = y > 0 ? 1 : -1;
    const TrainingPlan plan = plan_training(
        other, [](const FitSettings& own) { return machine_entry("svc").make(own, {}); }, data,
        {.seconds = 1e-9, .pilot_rows = 400});
    EXPECT_EQ(plan.ways.size(), 1U);
    EXPECT_NE(plan.why.find("cannot be approximated"), std::string::npos) << plan.why;
}

TEST(Plan, TakesCellsForWhatIsRough) {
    FitSettings tight{.kernel = rbf({.gamma = 4.0})};
    tight.memory_bytes = std::size_t{100} << 20;  // a matrix of 3600 rows
    const Dataset data = make("checkerboard", {.n = 9000, .noise = 0, .cells = 24});
    const TrainingPlan plan = plan_training(
        tight, make_ridge, data, {.seconds = 1e9, .pilot_rows = 2000, .pilot_seconds = 3});
    ASSERT_GE(plan.ways.size(), 3U);
    EXPECT_FALSE(plan.ways[0].fits);
    EXPECT_EQ(plan.ways[1].cell_rows, 2000U);
    EXPECT_EQ(plan.chosen, 1U) << plan.why;
    EXPECT_NE(plan.why.find("cells of 2000 rows"), std::string::npos) << plan.why;
    EXPECT_EQ(plan.ways[1].certificate, "optimum of each cell");
    EXPECT_EQ(plan.ways[0].certificate, "optimum");
    // What cells of all rows gave on rows held out is what they give.
    const Model model = approximate(tight, plan.ways[1].approximate, make_ridge).fit(data);
    const Dataset fresh = make("checkerboard", {.n = 2000, .noise = 0, .seed = 5, .cells = 24});
    const std::vector<double> said = model.predict(fresh.x);
    double squares = 0;
    for (std::size_t i = 0; i < said.size(); ++i) {
        squares += std::pow(said[i] - fresh.y.values[i], 2) / 2000;
    }
    EXPECT_NEAR(plan.ways[1].expected_error, std::sqrt(squares), 0.3 * std::sqrt(squares));
}

TEST(Plan, HasNoCellsForMachinesThatCannotHaveThem) {
    const Dataset data = make("checkerboard", {.n = 9000, .noise = 0});
    const TrainingPlan plan = plan_training(
        smooth, [](const FitSettings& own) { return machine_entry("knn").make(own, {}); }, data,
        {.pilot_rows = 500, .pilot_seconds = 0.2});
    for (const TrainingWay& way : plan.ways) EXPECT_EQ(way.cell_rows, 0U);
}

TEST(Pilot, TimeAndErrorGoOnAsTheyWereSeenToGo) {
    const auto trial = [](std::size_t rows, double seconds, double error) {
        return Trial{.rows = rows, .seconds = seconds, .error = error};
    };
    const std::vector<Trial> trials{trial(500, 7, 0.9), trial(1000, 0.1, 0.4),
                                    trial(2000, 0.4, 0.2), trial(4000, 1.6, 0.1)};
    EXPECT_NEAR(time_growth(trials, 3), 2, 1e-9) << "by the last three";
    EXPECT_NEAR(error_at(trials, 8000), 0.05, 1e-9);
    EXPECT_NEAR(error_at(trials, 4000), 0.1, 1e-9);
    EXPECT_EQ(time_growth(std::span(trials).first(1), 3), 3);
    EXPECT_EQ(error_at(std::span(trials).first(1), 1e6), 0.9);
    // Noise makes neither a machine quicker with more rows nor an error larger.
    const std::vector<Trial> noisy{trial(1000, 0.2, 0.1), trial(2000, 0.1, 0.12)};
    EXPECT_EQ(time_growth(noisy, 2), 1);
    EXPECT_EQ(error_at(noisy, 1e6), 0.12);
}

TEST(Plan, NeedsRows) {
    EXPECT_THROW(plan_training(smooth, make_ridge, sine(3)), InvalidInput);
}

}  // namespace
}  // namespace mercer
