// Weights of rows and of classes: an integer weight is the same as repeating the row.
#include <algorithm>
#include <cmath>

#include "learn/certificate.hpp"
#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

using testing::closely;
using testing::expect_same_decisions;
using testing::with_double_rows;

/// The same rows, each as often as its weight says.
Dataset repeated(const Dataset& data) {
    std::vector<std::size_t> rows;
    for (std::size_t i = 0; i < data.size(); ++i) {
        for (double k = 0; k < data.weights[i]; ++k) rows.push_back(i);
    }
    Dataset result = data.select(rows);
    result.weights.clear();
    return result;
}

Dataset sample(Task task) {
    Dataset data = is_regressor(task) ? make("sinc", {.n = 80, .seed = 2})
                                      : make("moons", {.n = 80, .noise = 0.3, .seed = 2});
    Random random(9);
    for (std::size_t i = 0; i < data.size(); ++i) {
        data.weights.push_back(static_cast<double>(random.below(4)));  // 0, 1, 2 or 3
    }
    return with_double_rows(data);
}

class Weights : public ::testing::TestWithParam<Task> {};

TEST_P(Weights, OfWholeNumbersAreRepeatedRows) {
    const Task task = GetParam();
    const Dataset data = sample(task);
    const SvmSettings settings = closely({.task = task,
                                          .common = {.kernel = rbf({.gamma = 1.0})},
                                          .C = task == Task::svdd ? 0 : 1.5,
                                          .nu = 0.23,
                                          .epsilon = 0.1});
    const Model weighted = Svm(settings).fit(data);
    const Model plain = Svm(settings).fit(repeated(data));
    expect_same_decisions(weighted, plain, data.x, 1e-5);
    const Report a = weighted.report();
    const Report b = plain.report();
    EXPECT_NEAR(a.primal, b.primal, 1e-6 * std::abs(b.primal));
    EXPECT_NEAR(a.dual, b.dual, 1e-6 * std::abs(b.dual));
    EXPECT_NEAR(a.epsilon, b.epsilon, 1e-6);
    EXPECT_NEAR(a.radius, b.radius, 1e-6);
    // The weighted certificate, too, can be computed again.
    const Report again = recompute_reports(weighted, data).front();
    EXPECT_NEAR(again.primal, a.primal, 1e-9 * std::abs(a.primal));
    EXPECT_NEAR(again.dual, a.dual, 1e-9 * std::abs(a.dual));
    EXPECT_LE(again.infeasibility, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Tasks, Weights,
                         ::testing::Values(Task::svc, Task::nu_svc, Task::svr, Task::nu_svr,
                                           Task::one_class, Task::svdd),
                         [](const auto& parameter) {
                             std::string name = task_name(parameter.param);
                             std::ranges::replace(name, '-', '_');
                             return name;
                         });

TEST(ClassWeights, MultiplyTheWeightsOfTheirRows) {
    Dataset data = with_double_rows(make("moons", {.n = 90, .noise = 0.3, .seed = 4}));
    SvmSettings settings = closely({.common = {.kernel = rbf({.gamma = 1.0})}, .C = 1});
    settings.class_weights = {{"-1", 3.0}, {"1", 0.5}};
    const Model by_class = Svm(settings).fit(data);
    testing::expect_certified(by_class, data, [&] {
        SvmSettings wide = settings;
        wide.C *= 3;  // the largest bound there is
        return wide;
    }());
    settings.class_weights.clear();
    for (const double y : data.y.values) data.weights.push_back(y < 0 ? 3.0 : 0.5);
    expect_same_decisions(by_class, Svm(settings).fit(data), data.x, 1e-6);
    // Rows of the heavier class are more often right.
    data.weights.clear();
    const Model even = Svm(settings).fit(data);
    const auto recall = [&](const Model& model) {
        const Labels labels = model.predict_labels(data.x);
        double right = 0;
        for (std::size_t i = 0; i < data.size(); ++i) {
            right += data.y.values[i] < 0 && labels.values[i] < 0 ? 1 : 0;
        }
        return right;
    };
    EXPECT_GT(recall(by_class), recall(even));
}

TEST(ClassWeights, BalancedAreRowsOverClassesTimesRowsOfTheClass) {
    const Dataset whole = with_double_rows(make("blobs", {.n = 120, .noise = 3.0, .seed = 8}));
    std::vector<std::size_t> rows;
    std::vector<double> kept(3, 0.0);
    for (std::size_t i = 0; i < whole.size(); ++i) {
        const auto c = static_cast<std::size_t>(whole.y.values[i]);
        if (kept[c] >= 10 * static_cast<double>(c + 1)) continue;  // 10, 20 and 30 rows
        ++kept[c];
        rows.push_back(i);
    }
    const Dataset data = whole.select(rows);
    SvmSettings settings = closely({.common = {.kernel = rbf({.gamma = 0.2})}, .C = 1});
    settings.balanced = true;
    const Model balanced = Svm(settings).fit(data);
    settings.balanced = false;
    settings.class_weights = {
        {"0", 60.0 / (3 * 10)}, {"1", 60.0 / (3 * 20)}, {"2", 60.0 / (3 * 30)}};
    const Model explicit_weights = Svm(settings).fit(data);
    expect_same_decisions(balanced, explicit_weights, data.x, 1e-7);
}

TEST(ClassWeights, OfAClassThatIsNotThereAreRefused) {
    const Dataset data = make("moons", {.n = 20});
    SvmSettings settings;
    settings.class_weights = {{"3", 2.0}};
    const std::string message = testing::message_of([&] { Svm(settings).fit(data); });
    EXPECT_NE(message.find("'3'"), std::string::npos) << message;
    EXPECT_NE(message.find("-1"), std::string::npos) << message;
    settings.class_weights = {{"1", -2.0}};
    EXPECT_NE(testing::message_of([&] { Svm(settings).fit(data); }).find("-2"), std::string::npos);
}

TEST(ClassWeights, AreVerifiedInTheOrderOfTheModelsClasses) {
    // A file puts c2 before c10; a model may have its classes in any order (those of LIBSVM have).
    Dataset numbers = make("blobs", {.n = 60, .classes = 3});
    SvmSettings settings;
    settings.class_weights = {{"0", 3}, {"2", 0.5}};
    ModelParts model = Svm(settings).fit(numbers).parts();
    model.class_names = {"c10", "b", "c2"};
    model.class_values.clear();
    for (std::size_t part = 0; part < 3; ++part) model.reports[part].name = std::to_string(part);
    Dataset text = numbers;
    text.y.names = {"c10", "b", "c2"};
    const std::vector<Report> again = recompute_reports(Model(model), text);
    ASSERT_EQ(again.size(), 3U);
    for (std::size_t part = 0; part < 3; ++part) {
        EXPECT_EQ(again[part].name, std::to_string(part));
        EXPECT_NEAR(again[part].dual, model.reports[part].dual,
                    1e-5 * std::abs(model.reports[part].dual));
        EXPECT_LT(again[part].relative_gap, 1e-2);
    }
    text.y.names = {"c10", "b", "other"};
    EXPECT_NE(testing::message_of([&] { recompute_reports(Model(model), text); }).find("other"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
