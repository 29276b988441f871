// Nearest neighbours as a machine: votes counted by hand, leave-one-out by leaving rows out.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/learn/registry.hpp"
#include "mercer/learn/risk/neighbours.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;
using testing::points;
using testing::without;

FitSettings with(const Kernel& kernel) {
    return {.kernel = kernel};
}

TEST(NearestNeighbours, VotesOfTheNearestDecide) {
    const Dataset data = points({{0}, {1}, {2}, {10}, {11}, {12}, {13}}, {1, 1, 2, 2, 3, 3, 3});
    const Model model = nearest_neighbours({.common = with(linear()), .neighbours = 3}).fit(data);
    const Rows x = points({{0.6}, {11.4}, {8}}).x;
    EXPECT_EQ(model.predict_labels(x).values, (std::vector<double>{1, 3, 3}));
    const Matrix<double> p = model.probabilities(x);
    EXPECT_NEAR(p(0, 0), 2.0 / 3, 1e-6);
    EXPECT_NEAR(p(0, 1), 1.0 / 3, 1e-6);
    EXPECT_NEAR(p(0, 2), 0, 1e-6);
    EXPECT_NEAR(p(2, 1), 1.0 / 3, 1e-6);
    // One vote each: the class that comes first.
    const Model two = nearest_neighbours({.common = with(linear()), .neighbours = 2})
                          .fit(points({{0}, {1}, {5}, {6}}, {7, 3, 3, 7}));
    EXPECT_EQ(two.predict_labels(points({{0.4}, {5.6}}).x).values, (std::vector<double>{3, 3}));
    EXPECT_NEAR(two.probabilities(points({{0.4}}).x)(0, 0), 0.5, 1e-15);
}

TEST(NearestNeighbours, VotesByDistance) {
    const Dataset data = points({{0}, {3}, {4}}, {1, 2, 2});
    const NearestSettings s{
        .common = with(linear()), .neighbours = 3, .vote = NeighbourVote::distance};
    const Model model = nearest_neighbours(s).fit(data);
    // 1/1 against 1/2 + 1/3; and a row that is met exactly counts alone.
    EXPECT_NEAR(model.decision(points({{1}}).x)(0, 0), (1 - 1.0 / 2 - 1.0 / 3) / (11.0 / 6), 1e-12);
    EXPECT_EQ(model.decision(points({{0}}).x)(0, 0), 1);
    const Dataset numbers = points({{0}, {3}, {4}}, {1, 5, 7});
    const Model mean = nearest_neighbours_regression(s).fit(numbers);
    EXPECT_NEAR(mean.predict(points({{1}}).x)[0], (1 + 5 / 2.0 + 7 / 3.0) / (11.0 / 6), 1e-12);
}

TEST(NearestNeighbours, LeaveOneOutIsTheMachineWithoutTheRow) {
    for (const auto vote : {NeighbourVote::uniform, NeighbourVote::distance}) {
        Dataset data = make("moons", {.n = 60, .noise = 0.4});
        const std::vector<double> ks{1, 2, 5, 9};
        NearestSettings s{.common = with(rbf({.gamma = 0.7})), .path = ks, .vote = vote};
        const Model model = nearest_neighbours(s).fit(data);
        const Matrix<double>& path = model.extras().array("path");
        ASSERT_EQ(path.rows(), ks.size());
        double best = 1, chosen = 0;
        for (std::size_t p = 0; p < ks.size(); ++p) {
            s.path = {};
            s.neighbours = static_cast<std::size_t>(ks[p]);
            double wrong = 0;
            for (std::size_t i = 0; i < data.size(); ++i) {
                const Model less = nearest_neighbours(s).fit(without(data, i));
                const std::size_t at[] = {i};
                const Dataset one = data.select(at);
                wrong += less.predict_labels(one.x).values[0] == one.y.values[0] ? 0 : 1;
            }
            EXPECT_NEAR(path(p, 1), wrong / 60, 1e-12) << ks[p];
            if (path(p, 1) < best) {
                best = path(p, 1);
                chosen = ks[p];
            }
        }
        EXPECT_EQ(model.report().figures.at("neighbours"), chosen);
        EXPECT_EQ(model.report().figures.at("loo_error"), best);
    }
}

TEST(NearestNeighbours, ARowOfWeightTwoIsTwoRows) {
    const Dataset data = make("moons", {.n = 50, .noise = 0.5});
    Dataset weighted = data, repeated = data;
    std::vector<std::size_t> twice;
    for (std::size_t i = 0; i < data.size(); ++i) {
        const std::size_t copies = i % 3;
        weighted.weights.push_back(static_cast<double>(copies));
        twice.insert(twice.end(), copies, i);
    }
    repeated = data.select(twice);
    const Rows test = make("moons", {.n = 80, .noise = 0.5, .seed = 8}).x;
    for (const auto vote : {NeighbourVote::uniform, NeighbourVote::distance}) {
        const NearestSettings s{.common = with(linear()), .neighbours = 5, .vote = vote};
        const Matrix<double> a = nearest_neighbours(s).fit(weighted).decision(test);
        const Matrix<double> b = nearest_neighbours(s).fit(repeated).decision(test);
        for (std::size_t i = 0; i < a.rows(); ++i) ASSERT_NEAR(a(i, 0), b(i, 0), 1e-12) << i;
    }
}

TEST(NearestNeighbours, SeveralTargetsAndOtherOutputs) {
    const Dataset data = points({{0}, {1}, {2}, {3}});
    Matrix<double> targets(4, 2);
    for (std::size_t i = 0; i < 4; ++i) {
        targets(i, 0) = static_cast<double>(i);
        targets(i, 1) = 10 - static_cast<double>(i * i);
    }
    const Model model = nearest_neighbours_regression({.common = with(linear()), .neighbours = 2})
                            .fit(data, targets.view());
    const Matrix<double> f = model.decision(points({{1.2}}).x);
    EXPECT_EQ(f(0, 0), 1.5);
    EXPECT_EQ(f(0, 1), 7.5);
    EXPECT_THROW(nearest_neighbours({}).fit(data, targets.view()), InvalidInput);
}

TEST(NearestNeighbours, ModelsAreSavedWholeAndCannotBeReduced) {
    const Dataset data = make("blobs", {.n = 80, .noise = 2, .classes = 3});
    const Rows test = make("blobs", {.n = 30, .noise = 2, .seed = 3, .classes = 3}).x;
    Dataset weighted = data;
    for (std::size_t i = 0; i < data.size(); ++i) {
        weighted.weights.push_back(1 + 0.25 * static_cast<double>(i % 4));
    }
    for (const Dataset& given : {data, weighted}) {
        const Model model = machine_entry("knn")
                                .make({.kernel = rbf({.gamma = 0.3})},
                                      {{"neighbours", std::size_t{4}}, {"vote", "distance"}})
                                .fit(given);
        const Model again = load_from_memory(save_to_memory(model), "model");
        EXPECT_EQ(model.decision(test).values(), again.decision(test).values());
        EXPECT_EQ(model.probabilities(test).values(), again.probabilities(test).values());
        EXPECT_NE(message_of([&] { reduce(model, {.vectors = 3}); }).find("cannot be reduced"),
                  std::string::npos);
    }
    const Model good = nearest_neighbours({.common = with(linear())}).fit(data);
    for (const double wrong : {0.0, 81.0, 2.5}) {
        ModelParts bad = good.parts();
        Nearest rule = *good.extras().find<Nearest>();
        rule.rule(0, 0) = wrong;
        bad.extras.set(rule);
        EXPECT_THROW(Model(std::move(bad)), InvalidInput) << wrong;
    }
}

TEST(NearestNeighbours, MistakesAreNamed) {
    const Dataset data = points({{0}, {1}, {2}}, {1, 1, 2});
    const auto fails = [&](NearestSettings s, const char* why) {
        s.common = with(linear());
        const std::string message = message_of([&] { nearest_neighbours(s).fit(data); });
        EXPECT_NE(message.find(why), std::string::npos) << message;
    };
    fails({.neighbours = 4}, "from 1 to 3");
    fails({.neighbours = 3, .leave_one_out = true}, "from 1 to 2");
    fails({.neighbours = 0}, "neighbours");
    fails({.path = {1.5}}, "whole number");
}

/// Digits of another hand, by Euclidean distances: the value that a search pair by pair has.
TEST(NearestNeighbours, UspsAgreesWithASearchPairByPair) {
    MERCER_NEEDS_DATA(train_file, "usps/zip.train.gz");
    MERCER_NEEDS_DATA(test_file, "usps/zip.test.gz");
    const Dataset train = read(train_file, {.label = "first"});
    const Dataset test = read(test_file, {.label = "first"});
    const Model model = nearest_neighbours({.common = with(linear()), .neighbours = 1}).fit(train);
    const Labels found = model.predict_labels(test.x);
    const auto p = full(train.x);
    const auto rows = full(test.x);
    for (std::size_t i = 0; i < rows.size(); i += 40) {
        double least = 1e300;
        std::size_t nearest = 0;
        for (std::size_t j = 0; j < p.size(); ++j) {
            double d = 0;
            for (std::size_t c = 0; c < p[j].size(); ++c) {
                d += (rows[i][c] - p[j][c]) * (rows[i][c] - p[j][c]);
            }
            if (d < least) {
                least = d;
                nearest = j;
            }
        }
        ASSERT_EQ(found.values[i], train.y.values[nearest]) << i;
    }
}

}  // namespace
}  // namespace mercer
