// C = 1/ρ (001): the two soft margins are one machine, on data of many kinds.
#include "mercer/theory/margin.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/support.hpp"
#include "learn/small.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::closely;
using testing::message_of;

/// ν to C and back: the decision functions agree, and so does ν.
void expect_equivalent(const Dataset& data, double nu) {
    const ScalingRule scale = ScalingRule::parse("standard");
    SvmSettings by_nu{.task = Task::nu_svc, .common = {.kernel = rbf({.gamma = 0.05})}, .nu = nu};
    by_nu.common.scaling = scale;
    const Model first = Svm(closely(by_nu, 1e-10)).fit(data);
    const SoftMargin s = equivalent_settings(first).front();
    ASSERT_GT(s.rho, 0);
    EXPECT_NEAR(s.C * s.rho, 1, 1e-12);
    SvmSettings by_c{.task = Task::svc, .common = {.kernel = rbf({.gamma = 0.05})}, .C = s.C};
    by_c.common.scaling = scale;
    const Model second = Svm(closely(by_c, 1e-9)).fit(data);
    const Matrix<double> f = first.decision(data.x);
    const Matrix<double> g = second.decision(data.x);
    for (std::size_t i = 0; i < data.size(); ++i) {
        ASSERT_NEAR(f(i, 0), g(i, 0), 1e-3 * (1 + std::abs(f(i, 0)))) << i;
    }
    EXPECT_NEAR(equivalent_settings(second).front().nu, nu, 1e-4);
}

TEST(NuAndC, AreOneMachineOnMoons) {
    const Dataset data = make("moons", {.n = 120, .noise = 0.3});
    for (const double nu : {0.1, 0.4, 0.7}) expect_equivalent(data, nu);
}

TEST(NuAndC, AreOneMachineOnHeart) {
    MERCER_NEEDS_DATA(path, "heart/heart_scale");
    expect_equivalent(read(path), 0.3);
}

TEST(NuAndC, AreOneMachineOnAustralian) {
    MERCER_NEEDS_DATA(path, "australian/australian_scale");
    expect_equivalent(read(path), 0.3);
}

TEST(NuAndC, AreOneMachineOnDiabetes) {
    MERCER_NEEDS_DATA(path, "pima_diabetes/diabetes_scale");
    expect_equivalent(read(path), 0.5);
}

TEST(NuAndC, AreOneMachineOnBreastCancer) {
    MERCER_NEEDS_DATA(path, "breast_cancer_wisconsin/breast-cancer_scale");
    expect_equivalent(read(path), 0.1);
}

TEST(NuAndC, AreOneMachineOnIonosphere) {
    MERCER_NEEDS_DATA(path, "ionosphere/ionosphere_scale");
    expect_equivalent(read(path), 0.2);
}

TEST(NuAndC, EachPairHasItsOwn) {
    const Dataset iris = embedded("iris");
    const Model model =
        Svm(closely({.task = Task::nu_svc, .common = {.kernel = rbf({.gamma = 0.5})}, .nu = 0.2}))
            .fit(iris);
    const auto all = equivalent_settings(model);
    ASSERT_EQ(all.size(), 3U);
    EXPECT_NE(all[0].C, all[2].C);
    for (const SoftMargin& s : all) EXPECT_EQ(s.nu, 0.2);
}

TEST(NuAndC, NonsenseIsRefused) {
    const Dataset moons = make("moons", {.n = 40});
    const Model hard = hard_margin({.kernel = rbf({.gamma = 10.0})}).fit(moons);
    EXPECT_NE(message_of([&] { equivalent_settings(hard); }).find("hard"), std::string::npos);
    SvmSettings weighted{.task = Task::svc};
    weighted.class_weights = {{"1", 3.0}};
    EXPECT_NE(message_of([&] { equivalent_settings(Svm(weighted).fit(moons)); }).find("weighted"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
