// Structural risk minimisation: the bound's choice beside that of cross-validation.
#include "mercer/select/structure.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/support.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer {
namespace {

using testing::message_of;

TEST(Structure, LevelsAreNestedAndTheLeastBoundIsChosen) {
    const Dataset data = make("moons", {.n = 400, .noise = 0.2});
    const StructureChoice c = minimise_structural_risk(
        {.family = StructureFamily::degree, .values = {1, 2, 3, 5}, .svm = {.C = 10}}, data);
    ASSERT_EQ(c.levels.size(), 4U);
    const std::vector<double> dimensions{3, 6, 10, 21};  // (2 + d choose d)
    for (std::size_t i = 0; i < 4; ++i) {
        const StructureLevel& level = c.levels[i];
        EXPECT_DOUBLE_EQ(level.dimension, dimensions[i]);
        // Each of four levels may fail with a quarter of delta.
        const double term = std::sqrt(
            (dimensions[i] * (std::log(800 / dimensions[i]) + 1) - std::log(0.0125 / 4)) / 400);
        EXPECT_NEAR(level.confidence_term, term, 1e-12);
        EXPECT_NEAR(level.bound.value, level.training_error + term, 1e-12);
        EXPECT_GE(level.bound.value, c.levels[c.by_bound].bound.value);
        EXPECT_GE(level.cv_error, c.levels[c.by_cross_validation].cv_error);
        if (i > 0) {
            EXPECT_LE(level.training_error, c.levels[i - 1].training_error + 0.01);
        }
    }
    // Moons need more than a line: cross-validation sees it, the bound pays for it.
    EXPECT_GE(c.levels[c.by_cross_validation].value, 3);
    EXPECT_LE(c.by_bound, c.by_cross_validation);
}

TEST(Structure, SmallerMarginsHaveLargerDimension) {
    const Dataset data = make("moons", {.n = 80, .noise = 0.25});
    const StructureChoice c =
        minimise_structural_risk({.family = StructureFamily::margin,
                                  .values = {0.01, 0.1, 1, 10},
                                  .svm = {.common = {.kernel = rbf({.gamma = 1.0})}}},
                                 data);
    for (std::size_t i = 1; i < c.levels.size(); ++i) {
        EXPECT_GT(c.levels[i].dimension, c.levels[i - 1].dimension);
    }
    const Model model = svc({.kernel = rbf({.gamma = 1.0}), .C = 1}).fit(data);
    const Model ball = sphere({.kernel = rbf({.gamma = 1.0})}).fit(data);
    const double radius = ball.report().radius;
    EXPECT_NEAR(c.levels[2].dimension, radius * radius * model.report().squared_norm + 1,
                0.01 * c.levels[2].dimension);
}

TEST(Structure, AllComponentsAreTheKernelItself) {
    const Dataset data = make("moons", {.n = 60, .noise = 0.2});
    SvmSettings settings{.common = {.kernel = rbf({.gamma = 1.0}), .double_precision = true},
                         .C = 2};
    settings.tolerance = 1e-8;
    const Model whole = component_machine(settings, 60).fit(data);
    const Model plain = Svm(settings).fit(data);
    const Dataset more = make("moons", {.n = 30, .noise = 0.2, .seed = 9});
    const Matrix<double> f = whole.decision(more.x);
    const Matrix<double> g = plain.decision(more.x);
    for (std::size_t i = 0; i < more.size(); ++i) EXPECT_NEAR(f(i, 0), g(i, 0), 1e-3);
    const StructureChoice c =
        minimise_structural_risk({.family = StructureFamily::components,
                                  .values = {1, 2, 4, 8},
                                  .svm = {.common = {.kernel = rbf({.gamma = 1.0})}}},
                                 data);
    EXPECT_EQ(c.levels[3].dimension, 9);
    EXPECT_LT(c.levels[3].training_error, c.levels[0].training_error);
}

TEST(Structure, CrossValidationIsThatOfTheMachine) {
    const Dataset data = make("rings", {.n = 90});
    const StructureChoice c = minimise_structural_risk(
        {.family = StructureFamily::degree, .values = {2}, .folds = 4, .seed = 3}, data);
    const SvmSettings same{
        .common = {.kernel = polynomial({.degree = 2, .gamma = 1.0, .coef0 = 1})}};
    EXPECT_DOUBLE_EQ(c.levels[0].cv_error, 1 - cross_validate(same, data, 4, 3).score.accuracy);
}

TEST(Structure, NonsenseIsRefused) {
    const Dataset data = make("moons", {.n = 40});
    const auto said = [&](StructureSettings s, const Dataset& d) {
        return message_of([&] { minimise_structural_risk(s, d); });
    };
    EXPECT_NE(said({.values = {1, 2}, .delta = 1}, data).find("delta = 1"), std::string::npos);
    EXPECT_NE(said({.values = {}}, data).find("no levels"), std::string::npos);
    EXPECT_NE(said({.values = {2, 1}}, data).find("ascend"), std::string::npos);
    EXPECT_NE(said({.values = {1.5}}, data).find("whole number"), std::string::npos);
    EXPECT_NE(said({.values = {1}, .folds = 50}, data).find("50 folds"), std::string::npos);
    EXPECT_NE(said({.values = {1}}, embedded("iris")).find("two classes"), std::string::npos);
}

}  // namespace
}  // namespace mercer
