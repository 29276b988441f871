// Virtual support vectors: which rows are made, and that they teach what they show.
#include <gtest/gtest.h>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer {
namespace {

using testing::full;

/// Pictures of 8 × 8 with a short stroke that lies (class 1) or stands (class 2) somewhere.
Dataset strokes(std::size_t n, double spread, std::uint64_t seed) {
    Random random(seed);
    Dataset data;
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        const double y = 3.5 + random.uniform(-spread, spread);
        const double x = 3.5 + random.uniform(-spread, spread);
        const bool lies = i % 2 == 0;
        for (std::size_t p = 0; p < 64; ++p) {
            const double dy = static_cast<double>(p / 8) - y, dx = static_cast<double>(p % 8) - x;
            values.push_back(
                std::exp(-(lies ? dy * dy * 2 + dx * dx / 4 : dx * dx * 2 + dy * dy / 4)) +
                0.15 * random.normal());
        }
        data.y.values.push_back(lies ? 1 : 2);
    }
    data.x = Rows::dense(std::move(values), 64);
    return data;
}

TEST(VirtualExamples, RowsComeFirstThenTheirImages) {
    Dataset data = strokes(6, 0, 1);
    data.weights = {1, 2, 3, 4, 5, 6};
    const auto ways = parse_transforms("shift(2)", {8, 8});
    const Dataset all = with_virtual_examples(data, ways);
    ASSERT_EQ(all.size(), 30U);
    const auto x = full(data.x), z = full(all.x);
    for (std::size_t i = 0; i < 6; ++i) EXPECT_EQ(z[i], x[i]);
    for (std::size_t w = 0; w < 4; ++w) {
        for (std::size_t i = 0; i < 6; ++i) {
            std::vector<double> expected(64);
            ways[w].transform(x[i], expected);
            EXPECT_EQ(z[6 * (w + 1) + i], expected);
            EXPECT_EQ(all.y.values[6 * (w + 1) + i], data.y.values[i]);
            EXPECT_EQ(all.weights[6 * (w + 1) + i], data.weights[i]);
        }
    }
}

TEST(VirtualExamples, OnlySupportVectorsAreUsedAndShiftsAreLearnt) {
    const Dataset train = strokes(60, 0.3, 2), test = strokes(400, 1.6, 3);
    const Machine machine =
        svm({.task = Task::svc, .common = {.kernel = Kernel::parse("rbf(gamma=0.1)")}, .C = 10});
    const auto ways = parse_transforms("shift(1)", {8, 8});
    const VirtualFit fit = fit_virtual(machine, train, ways);
    EXPECT_EQ(fit.support, fit.plain.expansion().size());
    EXPECT_EQ(fit.examples, 9 * fit.support);
    const auto errors = [&](const Model& model) {
        const Labels found = model.predict_labels(test.x);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < test.size(); ++i) wrong += found.values[i] != test.y.values[i];
        return wrong;
    };
    EXPECT_LT(2 * errors(fit.model), errors(fit.plain));
    // What is used are rows of the data.
    const Dataset support = support_rows(fit.plain, train);
    EXPECT_EQ(support.size(), fit.support);
    EXPECT_THROW(support_rows(fit.model, train), InvalidInput);
    EXPECT_THROW(support_rows(fit.plain, strokes(3, 0, 1)), InvalidInput);
}

TEST(VirtualExamples, AnyFunctionOfARowWillDo) {
    // Only the distance from the origin counts: rows turned by any angle are examples.
    Random random(4);
    std::vector<std::vector<double>> rows;
    std::vector<double> signs;
    for (int i = 0; i < 40; ++i) {
        const double radius = i % 2 == 0 ? 1 : 2;
        const double angle = random.uniform(0, 0.5);
        rows.push_back({radius * std::cos(angle), radius * std::sin(angle)});
        signs.push_back(i % 2 == 0 ? 1 : -1);
    }
    std::vector<NamedTransform> turns;
    for (int t = 1; t < 12; ++t) {
        turns.push_back({"turn", [t](std::span<const double> x, std::span<double> out) {
                             const double a = 0.5236 * t;
                             out[0] = std::cos(a) * x[0] - std::sin(a) * x[1];
                             out[1] = std::sin(a) * x[0] + std::cos(a) * x[1];
                         }});
    }
    const VirtualFit fit =
        fit_virtual(svm({.task = Task::svc, .common = {.kernel = rbf({.gamma = 1.0})}, .C = 100}),
                    testing::labelled(rows, signs), turns);
    for (double a = 0; a < 6.28; a += 0.1) {
        EXPECT_GT(testing::value_at(fit.model, {std::cos(a), std::sin(a)}), 0);
        EXPECT_LT(testing::value_at(fit.model, {2 * std::cos(a), 2 * std::sin(a)}), 0);
    }
}

}  // namespace
}  // namespace mercer
