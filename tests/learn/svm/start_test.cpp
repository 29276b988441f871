// Training that begins where another machine ended.
#include <gtest/gtest.h>

#include <memory>

#include "mercer/base/error.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

Dataset moons(std::size_t n) {
    return make("moons", {.n = n, .noise = 0.3, .seed = 5});
}

Dataset sinc(std::size_t n) {
    return make("sinc", {.n = n, .noise = 0.1, .seed = 5});
}

SvmSettings settings_of(Task task) {
    SvmSettings s;
    s.task = task;
    s.common.kernel = rbf({.gamma = 2.0});
    s.C = task == Task::svdd ? 0 : 5;
    s.nu = 0.3;
    s.epsilon = 0.05;
    s.tolerance = 1e-6;
    s.common.double_precision = true;
    return s;
}

TEST(Start, ItsOwnSolutionIsRecognised) {
    for (const Task task : {Task::svc, Task::nu_svc, Task::svr, Task::one_class, Task::svdd}) {
        SCOPED_TRACE(task_name(task));
        const Dataset data = is_regressor(task) ? sinc(200) : moons(200);
        SvmSettings s = settings_of(task);
        const Model cold = Svm(s).fit(data);
        s.start = std::make_shared<Model>(cold);
        const Model warm = Svm(s).fit(data);
        EXPECT_EQ(warm.report().status, FitStatus::converged);
        EXPECT_LT(warm.report().iterations, cold.report().iterations / 4 + 2);
        EXPECT_NEAR(warm.report().dual, cold.report().dual,
                    1e-5 * (1 + std::abs(cold.report().dual)));
    }
}

TEST(Start, ANewPenaltyHasTheSameAnswerFromThere) {
    const Dataset data = moons(400);
    SvmSettings s = settings_of(Task::svc);
    const auto first = std::make_shared<Model>(Svm(s).fit(data));
    for (const double c : {0.5, 7.0}) {
        s.C = c;
        s.start = nullptr;
        const Report cold = Svm(s).fit(data).report();
        s.start = first;
        const Report warm = Svm(s).fit(data).report();
        EXPECT_NEAR(warm.dual, cold.dual, 1e-5 * std::abs(cold.dual));
        EXPECT_LE(warm.kkt_violation, 1e-6);
    }
}

TEST(Start, AStoppedTrainingGoesOn) {
    const Dataset data = moons(400);
    SvmSettings s = settings_of(Task::svc);
    s.C = 1000;
    const Report whole = Svm(s).fit(data).report();
    s.iteration_limit = whole.iterations / 2;
    const auto half = std::make_shared<Model>(Svm(s).fit(data));
    ASSERT_NE(half->report().status, FitStatus::converged);
    s.iteration_limit = 0;
    s.start = half;
    const Report rest = Svm(s).fit(data).report();
    EXPECT_EQ(rest.status, FitStatus::converged);
    EXPECT_LT(rest.iterations, whole.iterations);
    EXPECT_NEAR(rest.dual, whole.dual, 1e-5 * std::abs(whole.dual));
}

TEST(Start, AMachineOfOtherRowsIsRefused) {
    SvmSettings s = settings_of(Task::svc);
    s.start = std::make_shared<Model>(Svm(s).fit(moons(200)));
    EXPECT_THROW(Svm(s).fit(moons(100)), InvalidInput);
    s.task = Task::nu_svc;
    EXPECT_THROW(Svm(s).fit(moons(200)), InvalidInput);
}

}  // namespace
}  // namespace mercer
