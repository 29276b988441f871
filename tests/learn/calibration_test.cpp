// Probabilities learnt on rows set aside: curves that rise, one temperature, and consistency.
#include "mercer/learn/calibration.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/svm.hpp"

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

TEST(Calibrate, ProbabilitiesNeverContradictThePrediction) {
    for (const std::size_t classes : {2U, 4U}) {
        const Dataset train = hard_blobs(0, classes);
        const Dataset aside = hard_blobs(1, classes);
        for (const MultiClass kind : {MultiClass::one_vs_one, MultiClass::one_vs_rest}) {
            const Model model =
                Svm({.task = Task::svc, .kernel = rbf({.gamma = 0.2}), .multi_class = kind})
                    .fit(train);
            std::size_t contradictions = 0;
            for (const CalibrationMethod method :
                 {CalibrationMethod::platt, CalibrationMethod::isotonic,
                  CalibrationMethod::temperature}) {
                const Model sure = calibrate(model, aside, method);
                const Matrix<double> p = sure.probabilities(train.x);
                const Matrix<double> exact =
                    sure.probabilities(train.x, {}, ProbabilityRule::exact);
                const std::vector<double> predicted = sure.predict(train.x);
                for (std::size_t i = 0; i < train.size(); ++i) {
                    const auto row = p.row(i);
                    EXPECT_NEAR(std::accumulate(row.begin(), row.end(), 0.0), 1, 1e-9);
                    const auto chosen = static_cast<std::size_t>(predicted[i]);
                    for (std::size_t c = 0; c < row.size(); ++c) {
                        EXPECT_GE(row[c], 0);
                        if (c != chosen) {
                            EXPECT_GT(row[chosen], row[c]) << method_name(method);
                        }
                    }
                    const auto own = exact.row(i);
                    const auto likeliest =
                        static_cast<std::size_t>(std::ranges::max_element(own) - own.begin());
                    contradictions += likeliest != chosen ? 1 : 0;
                    if (likeliest == chosen && own[chosen] > p(i, chosen)) {
                        EXPECT_NEAR(own[chosen], p(i, chosen), 1e-12) << "moved without need";
                    }
                }
            }
            if (kind == MultiClass::one_vs_one && classes == 4) {
                EXPECT_GT(contradictions, 0U) << "the test is of no use without any";
            }
        }
    }
}

TEST(Calibrate, MakeConsistentIsTheNearestPoint) {
    Random random(6);
    for (int trial = 0; trial < 50; ++trial) {
        std::vector<double> p(4);
        double sum = 0;
        for (double& value : p) sum += value = random.uniform();
        for (double& value : p) value /= sum;
        std::vector<double> q = p;
        make_consistent(q, 1);
        const auto distance = [&](const std::vector<double>& z) {
            double total = 0;
            for (std::size_t c = 0; c < 4; ++c) total += (z[c] - p[c]) * (z[c] - p[c]);
            return total;
        };
        // No other point of the allowed set that is drawn at random comes nearer.
        for (int other = 0; other < 200; ++other) {
            std::vector<double> z = q;
            const std::size_t a = random.below(4), b = random.below(4);
            const double step = 0.05 * random.uniform();
            z[a] += step;
            z[b] -= step;
            const bool allowed =
                std::ranges::all_of(z, [&](double v) { return v <= z[1] && v >= 0; });
            if (allowed) {
                EXPECT_GE(distance(z) + 1e-8, distance(q));
            }
        }
    }
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
    Model hostile = calibrate(model, moons, CalibrationMethod::isotonic);
    check_calibration(hostile, "file");
    hostile.arrays.at("isotonic")(0, 0) = 7;
    EXPECT_NE(message_of([&] { check_calibration(hostile, "file"); }).find("in order"),
              std::string::npos);
    hostile = calibrate(model, moons, CalibrationMethod::temperature);
    hostile.arrays.at("temperature")(0, 0) = -1;
    EXPECT_NE(message_of([&] { check_calibration(hostile, "file"); }).find("greater than 0"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
