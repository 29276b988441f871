// Folds, scores, and cross-validation by hand and by LIBSVM.
#include <algorithm>
#include <cmath>

#include "data/support.hpp"
#include "learn/libsvm.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/risk/neighbours.hpp"
#include "mercer/select/cross_validation.hpp"

namespace mercer {
namespace {

using testing::message_of;

TEST(Folds, CoverAllRowsInEqualParts) {
    for (const std::size_t rows : {2U, 7U, 100U, 101U}) {
        for (const std::size_t folds : {2U, 3U, 5U, 7U}) {
            if (folds > rows) continue;
            const auto fold = draw_folds(rows, folds, 1);
            ASSERT_EQ(fold.size(), rows);
            std::vector<std::size_t> size(folds, 0);
            for (const std::size_t f : fold) {
                ASSERT_LT(f, folds);
                ++size[f];
            }
            const auto [least, most] = std::ranges::minmax(size);
            EXPECT_GE(least, 1U);
            EXPECT_LE(most - least, 1U);
        }
    }
}

TEST(Folds, ShareEveryClassEvenly) {
    std::vector<std::int32_t> classes;
    for (int i = 0; i < 203; ++i) classes.push_back(i < 140 ? 0 : i < 199 ? 1 : 2);
    const auto fold = draw_folds(classes.size(), 5, 7, classes);
    for (std::int32_t c = 0; c < 3; ++c) {
        std::vector<std::size_t> share(5, 0);
        for (std::size_t i = 0; i < classes.size(); ++i) {
            if (classes[i] == c) ++share[fold[i]];
        }
        const auto [least, most] = std::ranges::minmax(share);
        EXPECT_LE(most - least, 1U) << "class " << c;
    }
}

TEST(Folds, ComeFromTheirSeed) {
    EXPECT_EQ(draw_folds(50, 5, 3), draw_folds(50, 5, 3));
    EXPECT_NE(draw_folds(50, 5, 3), draw_folds(50, 5, 4));
    // Drawn at random, not dealt in the order of the rows.
    const auto fold = draw_folds(50, 5, 3);
    std::size_t in_order = 0;
    for (std::size_t i = 0; i < 50; ++i) in_order += fold[i] == i % 5 ? 1 : 0;
    EXPECT_LT(in_order, 30U);
}

TEST(Folds, ThatCannotBeAreRefused) {
    for (const std::size_t folds : {0U, 1U, 11U}) {
        const std::string message = message_of([&] { draw_folds(10, folds, 1); });
        EXPECT_NE(message.find(std::to_string(folds) + " folds"), std::string::npos) << message;
        EXPECT_NE(message.find("2 to 10"), std::string::npos) << message;
    }
    EXPECT_EQ(draw_folds(10, 10, 1).size(), 10U);
}

TEST(Score, CountsWhatIsRight) {
    const Labels truth{.values = {1, 2, 1, 2, 2}, .names = {}};
    const Labels guess{.values = {1, 2, 2, 2, 1}, .names = {}};
    EXPECT_DOUBLE_EQ(score(Task::svc, guess, truth).accuracy, 3.0 / 5);
    // Names are compared as names, whatever their positions.
    const Labels words{.values = {0, 1, 0}, .names = {"no", "yes"}};
    const Labels other{.values = {1, 0, 0}, .names = {"yes", "no"}};
    EXPECT_DOUBLE_EQ(score(Task::svc, other, words).accuracy, 2.0 / 3);
    const Labels numbers{.values = {3, 4}, .names = {}};
    const Labels texts{.values = {0, 0}, .names = {"3"}};
    EXPECT_DOUBLE_EQ(score(Task::svc, texts, numbers).accuracy, 0.5);
    EXPECT_NE(message_of([&] { score(Task::svc, numbers, truth); }).find("2 predictions for 5"),
              std::string::npos);
    EXPECT_EQ(score(Task::svc, {}, {}).accuracy, 0);
}

TEST(Score, MeasuresRegressionByErrorAndCorrelation) {
    const std::vector<double> y = {1, 2, 4, 7, 11};
    const std::vector<double> f = {1.5, 1, 4, 8, 10};
    double mean_y = 0, mean_f = 0, error = 0;
    for (std::size_t i = 0; i < 5; ++i) {
        mean_y += y[i] / 5;
        mean_f += f[i] / 5;
        error += (y[i] - f[i]) * (y[i] - f[i]) / 5;
    }
    double yy = 0, ff = 0, yf = 0;
    for (std::size_t i = 0; i < 5; ++i) {
        yy += (y[i] - mean_y) * (y[i] - mean_y);
        ff += (f[i] - mean_f) * (f[i] - mean_f);
        yf += (y[i] - mean_y) * (f[i] - mean_f);
    }
    const Score s = score(Task::svr, {.values = f, .names = {}}, {.values = y, .names = {}});
    EXPECT_NEAR(s.mean_squared_error, error, 1e-12);
    EXPECT_NEAR(s.squared_correlation, yf * yf / (yy * ff), 1e-12);
    const Labels constant{.values = {3, 3, 3, 3, 3}, .names = {}};
    const Score flat = score(Task::nu_svr, constant, {.values = y, .names = {}});
    EXPECT_EQ(flat.squared_correlation, 0);
}

TEST(CrossValidation, PredictsEachRowByAMachineThatHasNotSeenIt) {
    Dataset data = embedded("iris");
    data.y.names = {"setosa", "versicolor", "virginica"};
    SvmSettings settings{.common = {.kernel = rbf({.gamma = 0.5})}, .C = 1};
    settings.common.scaling =
        ScalingRule::parse("standard");  // found anew on the rows of each training
    const CrossValidation result = cross_validate(settings, data, 4, 11);
    const auto fold = draw_folds(data.size(), 4, 11, classes_of(data.y).index);
    std::size_t right = 0;
    for (std::size_t f = 0; f < 4; ++f) {
        std::vector<std::size_t> train;
        for (std::size_t i = 0; i < data.size(); ++i) {
            if (fold[i] != f) train.push_back(i);
        }
        const Model model = Svm(settings).fit(data.select(train));
        const Labels all = model.predict_labels(data.x);
        for (std::size_t i = 0; i < data.size(); ++i) {
            if (fold[i] != f) continue;
            ASSERT_EQ(result.predictions.text(i), all.text(i));
            right += all.text(i) == data.y.text(i) ? 1 : 0;
        }
    }
    EXPECT_DOUBLE_EQ(result.score.accuracy, static_cast<double>(right) / 150);
    EXPECT_EQ(result.status, FitStatus::converged);
    EXPECT_GT(result.score.accuracy, 0.9);
}

TEST(CrossValidation, IsTheSameForTheSameSeed) {
    const Dataset data = make("sinc", {.n = 100, .seed = 2});
    const SvmSettings settings{.task = Task::svr, .common = {.kernel = rbf({.gamma = 1.0})}};
    const auto values = [&](std::uint64_t seed) {
        return cross_validate(settings, data, 5, seed).predictions.values;
    };
    EXPECT_EQ(values(1), values(1));
    EXPECT_NE(values(1), values(2));
}

TEST(CrossValidation, CutsTheTubeWithTheRows) {
    const Dataset data = make("sinc", {.n = 60, .seed = 2});
    SvmSettings settings{
        .task = Task::nu_svr, .common = {.kernel = rbf({.gamma = 1.0})}, .nu = 0.2};
    settings.tube = Formula::parse("1 + x0^2");
    const CrossValidation by_formula = cross_validate(settings, data, 3);
    for (const auto& row : testing::full(data.x)) {
        settings.tube_values.push_back((*settings.tube)(row));
    }
    settings.tube.reset();
    const CrossValidation by_column = cross_validate(settings, data, 3);
    EXPECT_EQ(by_formula.predictions.values, by_column.predictions.values);
    EXPECT_GT(by_column.score.squared_correlation, 0.3);
}

TEST(CrossValidation, JudgesSingleClassMachinesByLabelsOfPlusMinusOne) {
    Dataset data = make("blobs", {.n = 100, .seed = 2, .classes = 1});
    data.y.values.assign(100, 1);
    const SvmSettings settings{
        .task = Task::one_class, .common = {.kernel = rbf({.gamma = 0.1})}, .nu = 0.1};
    // About ν of new points from the same source lie outside.
    EXPECT_NEAR(cross_validate(settings, data, 5).score.accuracy, 0.9, 0.1);
    data.y = {};
    EXPECT_EQ(cross_validate(settings, data, 5).score.accuracy, 0);
    EXPECT_EQ(cross_validate(settings, data, 5).predictions.values.size(), 100U);
}

TEST(CrossValidation, TellsWhenATrainingWasCutShort) {
    const Dataset data = make("moons", {.n = 300, .noise = 0.4, .seed = 2});
    SvmSettings settings{.common = {.kernel = rbf({.gamma = 1.0})}};
    settings.iteration_limit = 1;
    EXPECT_EQ(cross_validate(settings, data, 3).status, FitStatus::iteration_limit);
}

/// Scores over ten draws of the folds: where one more draw, LIBSVM's, may be expected. Four
/// deviations of the difference between one draw and the mean of ten are wrong once in 10⁴ sets of
/// data, and the sets here do not change.
struct Draws {
    double mean = 0;
    double allowed = 0;
};
Draws draw(const SvmSettings& settings, const Dataset& data, double (*value)(const Score&)) {
    std::vector<double> values;
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
        values.push_back(value(cross_validate(settings, data, 5, seed).score));
    }
    Draws draws;
    for (const double v : values) draws.mean += v / 10;
    double variance = 0;
    for (const double v : values) variance += (v - draws.mean) * (v - draws.mean) / 9;
    draws.allowed = 4 * std::sqrt(variance * (1 + 1.0 / 10));
    return draws;
}

TEST(CrossValidation, OfHeartIsLibsvmsWithinTheChanceOfTheFolds) {
    MERCER_NEEDS_DATA(path, "heart/heart_scale");
    if (!testing::libsvm_is_installed()) GTEST_SKIP() << "svm-train is not installed";
    const Dataset data = read(path);
    const SvmSettings settings{.common = {.kernel = rbf({.gamma = 1.0 / 13})}, .C = 1};
    const Draws ours = draw(settings, data, [](const Score& s) { return 100 * s.accuracy; });
    const double theirs = testing::Peer(data).cross_validate("-c 1 -v 5");
    EXPECT_LT(ours.allowed, 6) << "a few points, or the comparison says nothing";
    EXPECT_NEAR(ours.mean, theirs, ours.allowed);
    EXPECT_GT(ours.mean, 80);
}

TEST(CrossValidation, OfHousingIsLibsvmsWithinTheChanceOfTheFolds) {
    MERCER_NEEDS_DATA(path, "boston_housing/housing_scale");
    if (!testing::libsvm_is_installed()) GTEST_SKIP() << "svm-train is not installed";
    const Dataset data = read(path);
    const SvmSettings settings{
        .task = Task::svr, .common = {.kernel = rbf({.gamma = 1.0 / 13})}, .C = 10, .epsilon = 0.5};
    const Draws ours = draw(settings, data, [](const Score& s) { return s.mean_squared_error; });
    const double theirs = testing::Peer(data).cross_validate("-s 3 -c 10 -p 0.5 -v 5");
    EXPECT_NEAR(ours.mean, theirs, ours.allowed);
    EXPECT_LT(ours.allowed, 0.5 * ours.mean);
}

TEST(CrossValidation, IsToldToStopWhileItPredicts) {
    // Nearest neighbours learn at once: all the time is that of the answers.
    const Dataset data = make("moons", {.n = 6000, .noise = 0.3, .seed = 2});
    const Machine machine = NearestNeighbours(knn_task, {});
    std::vector<double> told;
    const Progress all = [&](const Moment& moment) {
        told.push_back(moment.fraction);
        return true;
    };
    cross_validate(machine, data, 2, 1, all);
    EXPECT_GT(told.size(), 6U);
    EXPECT_LE(told.back(), 1);
    std::size_t left = told.size() - 1;
    const Progress some = [&](const Moment&) { return left-- > 0; };
    EXPECT_THROW(cross_validate(machine, data, 2, 1, some), Cancelled);
}

}  // namespace
}  // namespace mercer
