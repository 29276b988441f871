// Probabilities learnt on rows set aside: curves that rise, one temperature, and what is never
// bent.
#include "mercer/learn/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::message_of;

double squares(const IsotonicMap& map, const std::vector<double>& x, const std::vector<double>& y) {
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); ++i) sum += (map(x[i]) - y[i]) * (map(x[i]) - y[i]);
    return sum;
}

/// The best rising values by the min-max formula: v_i = max over a <= i of min over b >= i of the
/// mean of y_a … y_b.
std::vector<double> by_min_max(const std::vector<double>& y) {
    std::vector<double> result;
    for (std::size_t i = 0; i < y.size(); ++i) {
        double most = -1e300;
        for (std::size_t a = 0; a <= i; ++a) {
            double least = 1e300;
            for (std::size_t b = i; b < y.size(); ++b) {
                double sum = 0;
                for (std::size_t k = a; k <= b; ++k) sum += y[k];
                least = std::min(least, sum / static_cast<double>(b - a + 1));
            }
            most = std::max(most, least);
        }
        result.push_back(most);
    }
    return result;
}

TEST(Isotonic, IsTheBestRisingCurve) {
    Random random(4);
    for (int trial = 0; trial < 20; ++trial) {
        std::vector<double> x, y;
        for (int i = 0; i < 15; ++i) {
            x.push_back(i);
            y.push_back(0.1 * i + random.normal());
        }
        const IsotonicMap map = fit_isotonic(x, y);
        const std::vector<double> best = by_min_max(y);
        for (std::size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(map(x[i]), best[i], 1e-12);
        EXPECT_TRUE(std::ranges::is_sorted(map.value));
    }
}

TEST(Isotonic, TakesEqualPlacesTogetherAndIsFlatOutside) {
    const std::vector<double> x{2, 1, 2, 3}, y{1, 0, 0, 1};
    const IsotonicMap map = fit_isotonic(x, y);
    EXPECT_DOUBLE_EQ(map(2), 0.5);
    EXPECT_DOUBLE_EQ(map(1.5), 0.25);
    EXPECT_DOUBLE_EQ(map(-9), 0);
    EXPECT_DOUBLE_EQ(map(9), 1);
    const std::vector<double> weights{3, 1, 1, 1};
    EXPECT_DOUBLE_EQ(fit_isotonic(x, y, weights)(2), 0.75);
    EXPECT_NE(message_of([&] { fit_isotonic({}, {}); }).find("one target"), std::string::npos);
    EXPECT_GT(squares(map, x, y), 0);
}

TEST(Temperature, MakesTheTrueClassesLikeliest) {
    // Scores are drawn so that softmax(s / 2.5) are the true probabilities.
    Random random(8);
    constexpr std::size_t rows = 4000;
    Matrix<double> scores(rows, 3);
    std::vector<std::size_t> truth;
    for (std::size_t i = 0; i < rows; ++i) {
        std::vector<double> p(3);
        double sum = 0;
        for (std::size_t c = 0; c < 3; ++c) {
            scores(i, c) = 4 * random.normal();
            sum += p[c] = std::exp(scores(i, c) / 2.5);
        }
        double u = random.uniform() * sum;
        std::size_t c = 0;
        while (c < 2 && u >= p[c]) u -= p[c++];
        truth.push_back(c);
    }
    const double t = fit_temperature(scores.view(), truth);
    EXPECT_NEAR(t, 2.5, 0.2);
    const auto loss = [&](double temperature) {
        double sum = 0;
        for (std::size_t i = 0; i < rows; ++i) {
            double total = 0;
            for (std::size_t c = 0; c < 3; ++c) total += std::exp(scores(i, c) / temperature);
            sum += std::log(total) - scores(i, truth[i]) / temperature;
        }
        return sum;
    };
    EXPECT_LT(loss(t), loss(t * 1.01));
    EXPECT_LT(loss(t), loss(t / 1.01));
}

Dataset hard_blobs(std::uint64_t seed, std::size_t classes) {
    Dataset data = make("blobs", {.n = 300, .noise = 3.0, .seed = 5, .classes = classes});
    // The same centres, other points: rows of one drawing cut in two.
    std::vector<std::size_t> half;
    for (std::size_t i = 0; i < 150; ++i) half.push_back(150 * seed + i);
    return data.select(half);
}

/// One row in ten is a "yes", and the classes overlap.
Dataset rare(std::size_t rows, std::uint64_t seed) {
    Random random(seed);
    std::vector<double> values;
    Dataset data;
    for (std::size_t i = 0; i < rows; ++i) {
        const bool yes = i % 10 == 0;
        values.push_back(random.normal() + (yes ? 1.2 : 0));
        values.push_back(random.normal() + (yes ? 0.8 : 0));
        data.y.values.push_back(yes ? 1 : 0);
    }
    data.x = Rows::dense(std::move(values), 2);
    return data;
}

TEST(Calibrate, ProbabilitiesAreNotFlattenedWhereClassesAreWeighted) {
    const Dataset train = rare(600, 1);
    const Dataset test = rare(600, 2);
    const Model trained =
        Svm({.common = {.kernel = rbf({.gamma = 0.2})}, .balanced = true, .probability = true})
            .fit(train);
    for (const Model& model :
         {trained, calibrate(trained, rare(600, 3), CalibrationMethod::platt)}) {
        const Matrix<double> p = model.probabilities(test.x);
        const Matrix<double> f = model.decision(test.x);
        const std::vector<double> label = model.predict(test.x);
        double told = 0, came = 0, rows = 0, brier = 0, likely = 0;
        for (std::size_t i = 0; i < test.size(); ++i) {
            // The sigmoid itself, whatever the label is.
            const Sigmoid s = model.extras().find<Calibration>()->sigmoids[0];
            ASSERT_NEAR(p(i, 0), 1 / (1 + std::exp(s.a * f(i, 0) + s.b)), 1e-6);
            brier += (p(i, 1) - test.y.values[i]) * (p(i, 1) - test.y.values[i]);
            if (label[i] == 0) continue;
            rows += 1;
            told += p(i, 1);
            came += test.y.values[i];
            likely += p(i, 1) > 0.5 ? 1 : 0;
        }
        // Weighted ten to one the machine says yes long before yes is likely.
        EXPECT_LT(likely, 0.5 * rows);
        EXPECT_NEAR(told / rows, came / rows, 0.06);
        EXPECT_LT(brier / 600, 0.09 - 0.005) << "no better than telling 0.1 of every row";
    }
}

TEST(Calibrate, TheLikeliestClassIsThereForTheAsking) {
    std::size_t contradictions = 0;
    for (const std::size_t classes : {2U, 4U}) {
        const Dataset train = hard_blobs(0, classes);
        for (const MultiClass kind : {MultiClass::one_vs_one, MultiClass::one_vs_rest}) {
            const Model model = Svm({.task = Task::svc,
                                     .common = {.kernel = rbf({.gamma = 0.2})},
                                     .multi_class = kind})
                                    .fit(train);
            for (const CalibrationMethod method :
                 {CalibrationMethod::platt, CalibrationMethod::isotonic,
                  CalibrationMethod::temperature}) {
                const Model sure = calibrate(model, hard_blobs(1, classes), method);
                const Matrix<double> p = sure.probabilities(train.x);
                const std::vector<double> by_margin = sure.predict(train.x);
                const std::vector<double> likely = sure.predict(train.x, {}, DecideBy::probability);
                EXPECT_EQ(by_margin, sure.classify(sure.decision(train.x).view()));
                for (std::size_t i = 0; i < train.size(); ++i) {
                    const auto row = p.row(i);
                    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-9);
                    EXPECT_EQ(row[static_cast<std::size_t>(likely[i])],
                              *std::ranges::max_element(row));
                    contradictions += likely[i] != by_margin[i] ? 1 : 0;
                }
            }
        }
    }
    EXPECT_GT(contradictions, 0U) << "the two never differ here, and the test shows nothing";
    EXPECT_NE(message_of([] {
                  svc({})
                      .fit(make("moons", {.n = 40}))
                      .predict(make("moons", {.n = 4}).x, {}, DecideBy::probability);
              }).find("without probabilities"),
              std::string::npos);
}

TEST(Calibrate, NonsenseIsRefused) {
    const Dataset moons = make("moons", {.n = 40});
    const Model model = svc({}).fit(moons);
    Dataset one = moons.select(std::vector<std::size_t>{0, 2, 4});
    EXPECT_NE(message_of([&] {
                  calibrate(model, one, CalibrationMethod::isotonic);
              }).find("no row of the class"),
              std::string::npos);
    EXPECT_NE(message_of([&] {
                  calibrate(model, embedded("iris"), CalibrationMethod::platt);
              }).find("no class"),
              std::string::npos);
    const Model regression = svr({}).fit(make("sinc", {.n = 20}));
    EXPECT_NE(message_of([&] {
                  calibrate(regression, make("sinc", {.n = 20}), CalibrationMethod::platt);
              }).find("svr"),
              std::string::npos);
    EXPECT_NE(message_of([] { calibration_named("plat"); }).find("isotonic"), std::string::npos);
    // A file from outside may hold anything.
    ModelParts hostile = calibrate(model, moons, CalibrationMethod::isotonic).parts();
    check_extras(hostile, "file");
    Calibration bent = *hostile.extras.find<Calibration>();
    (*bent.isotonic)(0, 0) = 7;
    hostile.extras.set(bent);
    EXPECT_NE(message_of([&] { check_extras(hostile, "file"); }).find("in order"),
              std::string::npos);
    hostile = calibrate(model, moons, CalibrationMethod::temperature).parts();
    Calibration cold = *hostile.extras.find<Calibration>();
    (*cold.temperature)(0, 0) = -1;
    hostile.extras.set(cold);
    EXPECT_NE(message_of([&] { check_extras(hostile, "file"); }).find("greater than 0"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
