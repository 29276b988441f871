// Probabilities: Platt's sigmoid, the coupling of pairs, and what a model makes of both.
#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/detail/platt.hpp"

namespace mercer {
namespace {

TEST(PlattSigmoid, IsWhereTheLikelihoodHasNoSlope) {
    Random random(4);
    std::vector<double> f;
    std::vector<double> y;
    for (int i = 0; i < 300; ++i) {
        y.push_back(random.uniform() < 0.3 ? 1 : -1);
        f.push_back(y.back() + 1.5 * random.normal());
    }
    const Sigmoid s = fit_sigmoid(f, y);
    EXPECT_LT(s.a, 0) << "larger decisions mean the first class";
    // Platt's targets: (n+ + 1)/(n+ + 2) and 1/(n− + 2).
    const auto positive = static_cast<double>(std::ranges::count(y, 1.0));
    double slope_a = 0;
    double slope_b = 0;
    for (std::size_t i = 0; i < f.size(); ++i) {
        const double target = y[i] > 0 ? (positive + 1) / (positive + 2)
                                       : 1 / (static_cast<double>(f.size()) - positive + 2);
        const double p = probability(s, f[i]);
        slope_a += f[i] * (target - p);
        slope_b += target - p;
    }
    EXPECT_NEAR(slope_a, 0, 1e-4);
    EXPECT_NEAR(slope_b, 0, 1e-4);
}

TEST(PlattSigmoid, BearsExtremes) {
    const Sigmoid s{.a = -1, .b = 0};
    EXPECT_EQ(probability(s, 1e6), 1);
    EXPECT_EQ(probability(s, -1e6), 0);
    EXPECT_NEAR(probability(s, 3) + probability(s, -3), 1, 1e-15);
    // Equal decisions, or one class only, leave the frequency.
    const Sigmoid flat =
        fit_sigmoid(std::vector<double>(10, 0.5), {{1, 1, 1, -1, -1, -1, -1, -1, -1, -1}});
    EXPECT_NEAR(probability(flat, 0.5), 0.3, 0.06);
    const Sigmoid single = fit_sigmoid(std::vector<double>{1, 2}, std::vector<double>{1, 1});
    EXPECT_TRUE(std::isfinite(single.a) && std::isfinite(single.b));
    const Sigmoid perfect = fit_sigmoid(std::vector<double>{-1e8, 1e8}, std::vector<double>{-1, 1});
    EXPECT_TRUE(std::isfinite(perfect.a) && std::isfinite(perfect.b));
}

TEST(Coupling, FindsTheProbabilitiesThatThePairsCameFrom) {
    const std::vector<double> p = {0.5, 0.3, 0.15, 0.05};
    Matrix<double> pairwise(4, 4);
    for (std::size_t a = 0; a < 4; ++a) {
        for (std::size_t b = 0; b < 4; ++b) {
            if (a != b) pairwise(a, b) = p[a] / (p[a] + p[b]);
        }
    }
    const std::vector<double> found = couple(pairwise);
    EXPECT_NEAR(std::accumulate(found.begin(), found.end(), 0.0), 1, 1e-12);
    // It stops when every condition Q p = p'Q p holds to 0.005 / k (Wu, Lin and Weng 2004).
    for (std::size_t a = 0; a < 4; ++a) EXPECT_NEAR(found[a], p[a], 0.01);
}

SvmSettings with_probability(Task task) {
    SvmSettings settings{
        .task = task, .common = {.kernel = rbf({.gamma = 0.5})}, .C = 1, .nu = 0.3};
    settings.probability = true;
    return settings;
}

TEST(Probability, GrowsWithTheDecision) {
    const Dataset data = make("moons", {.n = 300, .noise = 0.3, .seed = 2});
    for (const Task task : {Task::svc, Task::nu_svc}) {
        const Model model = Svm(with_probability(task)).fit(data);
        const Matrix<double> f = model.decision(data.x);
        const Matrix<double> p = model.probabilities(data.x);
        std::vector<std::size_t> order(data.size());
        std::iota(order.begin(), order.end(), std::size_t{0});
        std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return f(a, 0) < f(b, 0); });
        for (std::size_t i = 0; i < order.size(); ++i) {
            EXPECT_NEAR(p(order[i], 0) + p(order[i], 1), 1, 1e-12);
            EXPECT_GE(p(order[i], 0), 0);
            if (i > 0) {
                EXPECT_GE(p(order[i], 0), p(order[i - 1], 0));
            }
        }
        EXPECT_GT(p(order.back(), 0) - p(order.front(), 0), 0.8);
        // Calibrated on held-out folds: on average it is right about the number of the first class.
        double sum = 0;
        for (std::size_t i = 0; i < data.size(); ++i) sum += p(i, 0);
        const auto first = static_cast<double>(std::ranges::count(data.y.values, -1.0));
        EXPECT_NEAR(sum / 300, first / 300, 0.05);
    }
}

TEST(Probability, OfSeveralClassesSumsToOne) {
    const Dataset data = embedded("iris");
    const Model model = Svm(with_probability(Task::svc)).fit(data);
    const Matrix<double> p = model.probabilities(data.x);
    const std::vector<double> predicted = model.predict(data.x);
    double agree = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        const auto row = p.row(i);
        EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-12);
        for (const double value : row) EXPECT_TRUE(value >= 0 && value <= 1);
        const auto likeliest = std::ranges::max_element(row) - row.begin();
        agree += static_cast<double>(likeliest) == predicted[i] ? 1 : 0;
    }
    EXPECT_GE(agree, 0.95 * 150);
}

TEST(Probability, IsDrawnFromItsSeed) {
    const Dataset data = make("moons", {.n = 100, .noise = 0.3, .seed = 2});
    SvmSettings settings = with_probability(Task::svc);
    const Sigmoid a = Svm(settings).fit(data).extras().find<Calibration>()->sigmoids[0];
    const Sigmoid b = Svm(settings).fit(data).extras().find<Calibration>()->sigmoids[0];
    settings.common.seed = 2;
    const Sigmoid c = Svm(settings).fit(data).extras().find<Calibration>()->sigmoids[0];
    EXPECT_EQ(a.a, b.a);
    EXPECT_EQ(a.b, b.b);
    EXPECT_NE(a.a, c.a);
}

TEST(Probability, HasToBeAskedFor) {
    const Dataset data = make("moons", {.n = 40});
    const Model model = svc({}).fit(data);
    EXPECT_NE(testing::message_of([&] { model.probabilities(data.x); }).find("probabilities"),
              std::string::npos);
}

TEST(Probability, OfOneVersusRestSumsToOne) {
    // Four classes: as many sigmoids as classes, not as pairs.
    const Dataset data = make("blobs", {.n = 200, .seed = 3, .classes = 4});
    SvmSettings settings = with_probability(Task::svc);
    settings.multi_class = MultiClass::one_vs_rest;
    const Model model = Svm(settings).fit(data);
    ASSERT_EQ(sigmoids_of(model.extras()).size(), 4U);
    const Matrix<double> p = model.probabilities(data.x);
    const std::vector<double> predicted = model.predict(data.x);
    double agree = 0;
    for (std::size_t i = 0; i < data.size(); ++i) {
        const auto row = p.row(i);
        EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-12);
        const auto likeliest = std::ranges::max_element(row) - row.begin();
        agree += static_cast<double>(likeliest) == predicted[i] ? 1 : 0;
    }
    EXPECT_GE(agree, 0.95 * 200);
}

TEST(Probability, SurvivesClassesOfOneRow) {
    const Dataset data = testing::labelled({{0}, {1}, {2}, {9}}, {1, 1, 1, -1});
    for (const Task task : {Task::svc, Task::nu_svc}) {
        const Model model = Svm(with_probability(task)).fit(data);
        const Matrix<double> p = model.probabilities(data.x);
        for (const double value : p.values()) EXPECT_TRUE(value >= 0 && value <= 1);
    }
}

}  // namespace
}  // namespace mercer
