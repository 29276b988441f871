// What training would cost, and which way is taken.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/select/automatic.hpp"

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
    const TrainingPlan plan = plan_training(tight, make_ridge, data, {.seconds = 1e9});
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
    const TrainingPlan plan = plan_training(rough, make_ridge, sine(6000), {.seconds = 1e9});
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

TEST(Plan, NeedsRows) {
    EXPECT_THROW(plan_training(smooth, make_ridge, sine(3)), InvalidInput);
}

}  // namespace
}  // namespace mercer
