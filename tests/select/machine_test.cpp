// Cross-validation through the face that all machines share.
#include <gtest/gtest.h>

#include <string>

#include "mercer/base/error.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/groups/kmeans.hpp"
#include "mercer/learn/online/adatron.hpp"
#include "mercer/learn/online/perceptron.hpp"
#include "mercer/learn/risk/class_means.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer {
namespace {

TEST(Machine, EveryFoldIsPredictedByAMachineThatHasNotSeenIt) {
    const Dataset data = make("moons", {.n = 90, .noise = 0.2});
    const FitSettings common{.kernel = rbf({.gamma = 1.0})};
    const std::vector<Machine> machines{
        class_means({.common = common}), perceptron({.common = common}),
        adatron({.common = common, .C = 1}), svm({.common = {.kernel = common.kernel}})};
    for (const Machine& machine : machines) {
        SCOPED_TRACE(task_name(machine.task()));
        const CrossValidation cv = cross_validate(machine, data, 3, 7);
        EXPECT_GT(cv.score.accuracy, 0.8);
        const Classes classes = classes_of(data.y);
        const auto fold = draw_folds(90, 3, 7, classes.index);
        std::vector<std::size_t> train, held;
        for (std::size_t i = 0; i < 90; ++i) (fold[i] == 1 ? held : train).push_back(i);
        const Labels own = machine.fit(data.select(train)).predict_labels(data.x.select(held));
        for (std::size_t i = 0; i < held.size(); ++i) {
            EXPECT_EQ(cv.predictions.values[held[i]], own.values[i]);
        }
    }
}

TEST(Machine, SettingsOfSvmsAndTheirMachineGiveTheSame) {
    const Dataset data = make("sinc", {.n = 60});
    SvmSettings s{.task = Task::nu_svr, .common = {.kernel = rbf({.gamma = 1.0})}};
    for (std::size_t i = 0; i < 60; ++i)
        s.tube_values.push_back(0.5 + 0.01 * static_cast<double>(i));
    const CrossValidation a = cross_validate(s, data, 4);
    const CrossValidation b = cross_validate(svm(s), data, 4);
    EXPECT_EQ(a.predictions.values, b.predictions.values);
    EXPECT_GT(a.score.squared_correlation, 0.3);
    // The tube goes with its rows: for a part of them there are as many widths.
    const std::vector<std::size_t> part{3, 1, 4};
    const Model model = svm(s).for_rows(part).fit(data.select(part));
    EXPECT_EQ(model.report().rows, 3U);
    EXPECT_THROW(svm(s).fit(data.select(part)), InvalidInput);
}

TEST(Machine, SingleClassesAreScoredAndGroupsRefused) {
    const Dataset data = make("blobs", {.n = 60, .classes = 1});
    const FitSettings common{.kernel = rbf({.gamma = 0.3})};
    const CrossValidation cv = cross_validate(parzen({.common = common, .nu = 0.1}), data, 3);
    double inside = 0;
    for (const double y : cv.predictions.values) inside += y > 0 ? 1 : 0;
    EXPECT_GT(inside / 60, 0.6);
    EXPECT_THROW(cross_validate(kmeans({.common = common}), data, 3), InvalidInput);
}

}  // namespace
}  // namespace mercer
