// Support vector machines whose rows are put in another order because their kernel is local.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

/// Categories with a pattern of their own each; several classes, or a number.
Dataset patterns(std::size_t n, std::size_t classes) {
    constexpr std::size_t categories = 12, width = categories + 2;
    Random random(5);
    std::vector<float> values(n * width, 0.0F);
    Dataset data;
    for (std::size_t i = 0; i < n; ++i) {
        const std::size_t category = random.below(categories);
        const double a = random.uniform(), b = random.uniform();
        values[i * width + category] = 1;
        values[i * width + categories] = static_cast<float>(a);
        values[i * width + categories + 1] = static_cast<float>(b);
        const double wave = std::sin(6 * a + static_cast<double>(category)) * std::cos(5 * b) +
                            0.1 * random.normal();
        data.y.values.push_back(
            classes == 0 ? wave
                         : std::clamp(std::floor((wave + 1) / 2 * static_cast<double>(classes)),
                                      0.0, static_cast<double>(classes - 1)));
    }
    data.x = Rows::dense(std::move(values), width);
    return data;
}

SvmSettings local_settings(Task task) {
    SvmSettings settings{.task = task, .C = 3, .epsilon = 0.2};
    settings.common.kernel = rbf({.gamma = 32.0});
    return settings;
}

class LocalMachines : public ::testing::TestWithParam<std::pair<Task, std::size_t>> {};

/// One equality's two-point steps on the rows as they stand know nothing of orders and reach.
TEST_P(LocalMachines, HaveTheOptimumOfTheRowsInTheirGivenOrder) {
    const auto [task, classes] = GetParam();
    const Dataset data = patterns(5000, classes);
    SvmSettings settings = local_settings(task);
    const Model model = Svm(settings).fit(data);
    // No reach: 1e-9 everywhere moves the optimum by next to nothing.
    settings.common.kernel = settings.common.kernel + Kernel::parse("1e-9");
    const Model peer = Svm(settings).fit(data);
    ASSERT_EQ(model.reports().size(), peer.reports().size());
    for (std::size_t part = 0; part < model.reports().size(); ++part) {
        const Report& a = model.reports()[part];
        const Report& b = peer.reports()[part];
        EXPECT_EQ(a.status, FitStatus::converged);
        EXPECT_LT(a.gap, 5e-3 * std::abs(a.primal));
        EXPECT_NEAR(a.dual, b.dual, 2e-3 * std::abs(b.dual));
    }
    const auto& origins = model.origins();
    EXPECT_TRUE(std::ranges::is_sorted(origins));
    const Matrix<double> ours = model.decision(data.x), theirs = peer.decision(data.x);
    for (std::size_t i = 0; i < data.size(); i += 37) {
        EXPECT_NEAR(ours(i, 0), theirs(i, 0), 2e-2) << i;
    }
}

INSTANTIATE_TEST_SUITE_P(Tasks, LocalMachines,
                         ::testing::Values(std::pair{Task::svc, std::size_t{2}},
                                           std::pair{Task::svr, std::size_t{0}}));

TEST(LocalMachines, AreTheSameWhateverTheThreads) {
    const Dataset data = patterns(5000, 2);
    const auto fit = [&](std::size_t threads) {
        const ThreadLimit limit(threads);
        return Svm(local_settings(Task::svc)).fit(data);
    };
    const Model one = fit(1), two = fit(2);
    EXPECT_EQ(one.origins(), two.origins());
    EXPECT_EQ(one.expansion().coefficients.values(), two.expansion().coefficients.values());
    EXPECT_EQ(one.expansion().bias, two.expansion().bias);
}

TEST(LocalMachines, OfPairsAndOfOneAgainstTheRestLearnTheClasses) {
    const Dataset data = patterns(9000, 3);
    for (const MultiClass way : {MultiClass::one_vs_one, MultiClass::one_vs_rest}) {
        SvmSettings settings = local_settings(Task::svc);
        settings.multi_class = way;
        const Model model = Svm(settings).fit(data);
        for (const Report& report : model.reports()) {
            EXPECT_LT(report.gap, 2e-3 * std::abs(report.primal));
        }
        const Labels found = model.predict_labels(data.x);
        std::size_t right = 0;
        for (std::size_t i = 0; i < data.size(); ++i) {
            right += found.values[i] == data.y.values[i] ? 1 : 0;
        }
        EXPECT_GT(right, data.size() * 8 / 10);
    }
}

TEST(LocalMachines, GoOnFromAnEarlierOne) {
    const Dataset data = patterns(5000, 2);
    SvmSettings settings = local_settings(Task::svc);
    const Model first = Svm(settings).fit(data);
    settings.start = std::make_shared<const Model>(first);
    const Model second = Svm(settings).fit(data);
    EXPECT_LT(second.report().iterations, first.report().iterations / 10);
    EXPECT_NEAR(second.report().dual, first.report().dual, 1e-3 * std::abs(first.report().dual));
}

}  // namespace
}  // namespace mercer
