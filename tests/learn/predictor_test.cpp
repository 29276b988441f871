// Predictors, and models that never change.
#include "mercer/learn/model.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>

#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/online/perceptron.hpp"

namespace mercer {
namespace {

Model moons_model() {
    return svc({.kernel = rbf({.gamma = 2.0})}).fit(make("moons", {.n = 200, .noise = 0.2}));
}

TEST(Model, ChangedPartsMakeAnotherModel) {
    const Rows x = make("moons", {.n = 50, .seed = 7}).x;
    const Model model = moons_model();
    const Matrix<double> single = model.decision(x);
    ModelParts parts = model.parts();
    parts.double_precision = true;
    const Model exact(parts);
    const Matrix<double> full = exact.decision(x);
    EXPECT_NE(single.values(), full.values());
    EXPECT_EQ(full.values(), Evaluator(model.expansion(), true)(x).values());
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(single(i, 0), full(i, 0), 1e-4);
    parts.expansion.bias[0] += 1;
    const Matrix<double> shifted = Model(parts).decision(x);
    for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(shifted(i, 0), full(i, 0) + 1, 1e-12);
    EXPECT_EQ(exact.decision(x).values(), full.values());
    EXPECT_EQ(model.decision(x).values(), single.values());
}

TEST(Model, CopiesShareTheirParts) {
    Model model = moons_model();
    const Model copy = model;
    EXPECT_EQ(&copy.expansion(), &model.expansion());
    const Model moved = std::move(model);
    EXPECT_EQ(&moved.expansion(), &copy.expansion());
    EXPECT_EQ(&model.expansion(), &copy.expansion());  // NOLINT: what was moved from is whole
    // Of a model that goes away, what it is asked for stays.
    const Expansion& kept = moons_model().expansion();
    EXPECT_EQ(kept.size(), copy.expansion().size());
    EXPECT_EQ(Model().expansion().size(), 0U);
}

TEST(Model, IsMadeOfPartsThatFitTogetherOrNotAtAll) {
    const Model model = moons_model();
    const auto refused = [&](const auto& change) {
        ModelParts parts = model.parts();
        change(parts);
        return testing::message_of([&] { Model(parts, "here"); });
    };
    EXPECT_EQ(refused([](ModelParts&) {}), "");
    EXPECT_EQ(refused([](ModelParts& p) { p.expansion.bias.clear(); }),
              "here: the model has no decision function");
    EXPECT_NE(refused([](ModelParts& p) { p.origins.pop_back(); }).find("origins"),
              std::string::npos);
    EXPECT_NE(refused([](ModelParts& p) { p.columns = 3; }).find("columns"), std::string::npos);
    EXPECT_NE(refused([](ModelParts& p) { p.class_names.pop_back(); }).find("class names"),
              std::string::npos);
    EXPECT_NE(refused([](ModelParts& p) { p.expansion.bias[0] = NAN; }).find("finite"),
              std::string::npos);
    EXPECT_NE(refused([](ModelParts& p) { p.expansion.kernel = rbf(); }).find("waits for data"),
              std::string::npos);
    EXPECT_NE(refused([](ModelParts& p) { p.extras.set(Votes(Matrix<double>(1, 2))); }), "");
}

TEST(Predictor, AnswersAsTheModelItWasMadeOf) {
    const Dataset iris = embedded("iris");
    const Model model =
        Svm({.common = {.kernel = rbf({.gamma = 0.5})}, .probability = true}).fit(iris);
    const Predictor predictor(model);
    const Matrix<double> p = model.probabilities(iris.x);
    const Labels labels = model.predict_labels(iris.x);
    const Labels likely = model.predict_labels(iris.x, {}, DecideBy::probability);
    EXPECT_EQ(predictor.probabilities(iris.x).values(), p.values());
    EXPECT_EQ(predictor.predict_labels(iris.x).values, labels.values);
    EXPECT_EQ(predictor.predict_labels(iris.x).names, labels.names);
    EXPECT_EQ(predictor.predict_labels(iris.x, {}, DecideBy::probability).values, likely.values);
    // Machines that take their expansion apart.
    const Model voted =
        perceptron({.common = {.kernel = rbf({.gamma = 0.5})}, .variant = PerceptronVariant::voted})
            .fit(iris);
    EXPECT_EQ(Predictor(voted).decision(iris.x).values(), voted.decision(iris.x).values());
}

/// Wide rows with few entries: those of label 1 begin in the first half of the columns.
Dataset wide(std::size_t rows, std::size_t columns, std::uint64_t seed) {
    Random random(seed);
    std::vector<std::size_t> starts{0};
    std::vector<std::uint32_t> index;
    std::vector<float> values;
    Dataset data;
    for (std::size_t i = 0; i < rows; ++i) {
        std::set<std::uint32_t> columns_of_row;
        const std::size_t half = i % 2 * columns / 2;
        while (columns_of_row.size() < 30) {
            columns_of_row.insert(static_cast<std::uint32_t>(half + random.below(columns / 2)));
        }
        for (const std::uint32_t k : columns_of_row) {
            index.push_back(k);
            values.push_back(static_cast<float>(random.normal()));
        }
        starts.push_back(index.size());
        data.y.values.push_back(static_cast<double>(i % 3));
    }
    data.x = Rows::sparse(std::move(starts), std::move(index), std::move(values), columns);
    return data;
}

TEST(Predictor, LinearValuesOfSparseRowsAreThoseOfTheFullOnes) {
    const Dataset small = wide(60, 400, 1);
    const Model model = svc({.kernel = Kernel::parse("0.3*linear")}).fit(small);
    ASSERT_EQ(model.expansion().outputs(), 3U);
    ASSERT_TRUE(model.expansion().points.is_sparse());
    ModelParts dense = model.parts();
    dense.expansion.points = model.expansion().points.to_dense();
    const Rows x = wide(50, 400, 2).x;
    const Matrix<double> expected = Model(dense).decision(x.to_dense());
    for (const Rows& form : {x, x.to_double()}) {
        const Matrix<double> found = model.decision(form);
        for (std::size_t i = 0; i < x.size(); ++i) {
            for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(found(i, c), expected(i, c), 1e-12);
        }
    }
    // A million columns cost what their few entries do: this would take minutes otherwise.
    const Dataset large = wide(40, 1'000'000, 3);
    const Predictor predictor(svc({.kernel = linear()}).fit(large));
    const Rows many = wide(20'000, 1'000'000, 4).x;
    EXPECT_EQ(predictor.decision(many).rows(), 20'000U);
}

TEST(Predictor, ManyThreadsMayAskOneAndCopyItsModel) {
    const Rows x = make("moons", {.n = 40, .seed = 7}).x;
    const Model model = moons_model();
    const Predictor predictor(model);
    const std::vector<double> expected = predictor.decision(x).values();
    std::vector<int> right(8, 0);
    std::vector<std::thread> threads;
    for (std::size_t t = 0; t < right.size(); ++t) {
        threads.emplace_back([&, t] {
            for (int k = 0; k < 5; ++k) {
                const Model copy = model;
                const bool same = copy.decision(x).values() == expected &&
                                  Predictor(predictor).decision(x).values() == expected &&
                                  model.decision(x).values() == expected;
                right[t] += same ? 1 : 0;
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(right, std::vector<int>(8, 5));
}

}  // namespace
}  // namespace mercer
