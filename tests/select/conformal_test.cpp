// Coverage that holds, and probabilities judged.
#include "mercer/select/conformal.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/calibration.hpp"
#include "mercer/learn/risk/gaussian_process.hpp"
#include "mercer/learn/svm/svm.hpp"
#include "mercer/select/judge.hpp"

namespace mercer {
namespace {

using testing::message_of;

/// Rows first … first + count of one drawing.
Dataset part(const Dataset& data, std::size_t first, std::size_t count) {
    std::vector<std::size_t> rows;
    for (std::size_t i = first; i < first + count; ++i) rows.push_back(i);
    return data.select(rows);
}

Dataset drawn(const char* kind, std::size_t n, std::uint64_t seed, double noise) {
    Dataset data = make(kind, {.n = n, .noise = noise, .seed = seed});
    std::vector<std::size_t> order(n);
    for (std::size_t i = 0; i < n; ++i) order[i] = i;
    Random(seed, 9).shuffle(std::span(order));  // classes come in turn: rows must be drawn alike
    return data.select(order);
}

TEST(Conformal, QuantileIsTheRightRank) {
    EXPECT_EQ(conformal_quantile({5, 1, 4, 2, 3, 9, 8, 7, 6}, 0.9), 9);   // ⌈10 · 0.9⌉ = 9th
    EXPECT_EQ(conformal_quantile({5, 1, 4, 2, 3, 9, 8, 7, 6}, 0.85), 9);  // ⌈8.5⌉
    EXPECT_EQ(conformal_quantile({5, 1, 4, 2, 3, 9, 8, 7, 6}, 0.5), 5);
    EXPECT_TRUE(std::isinf(conformal_quantile({5, 1, 4}, 0.9)));
}

/// The mean coverage over many sets of rows set aside is between c and c + 1/(n + 1).
TEST(Conformal, CoverageOfClassesHoldsOnAverageAndIsNotTooMuch) {
    const Dataset train = drawn("moons", 100, 1, 0.4);
    const Model model = svc({.kernel = rbf({.gamma = 1.0}), .C = 1}).fit(train);
    const Model sure = calibrate(model, train, CalibrationMethod::platt);
    constexpr std::size_t aside = 39;
    for (const Model* m : {&model, &sure}) {
        for (const double coverage : {0.8, 0.95}) {
            double covered = 0, rows = 0;
            for (std::uint64_t draw = 0; draw < 60; ++draw) {
                const Dataset data = drawn("moons", aside + 200, 100 + draw, 0.4);
                const Conformal c(*m, part(data, 0, aside), {.coverage = coverage});
                const Dataset test = part(data, aside, 200);
                const auto sets = c.sets(*m, test.x);
                const auto truth = class_positions(*m, test.y);
                for (std::size_t i = 0; i < test.size(); ++i) {
                    covered += std::ranges::find(sets[i], truth[i]) != sets[i].end() ? 1 : 0;
                }
                rows += 200;
            }
            // 60 sets of 39 rows: the mean coverage is known to about 0.008.
            EXPECT_GE(covered / rows, coverage - 0.02);
            EXPECT_LE(covered / rows, coverage + 1.0 / (aside + 1) + 0.02);
        }
    }
}

TEST(Conformal, CoverageHoldsWithinEachClass) {
    const Dataset train = drawn("moons", 100, 1, 0.5);
    const Model model = svc({.kernel = linear(), .C = 1}).fit(train);
    double covered[2] = {0, 0}, rows[2] = {0, 0};
    for (std::uint64_t draw = 0; draw < 20; ++draw) {
        const Dataset data = drawn("moons", 400, 30 + draw, 0.5);
        const Dataset test = part(data, 200, 200);
        const Conformal c(model, part(data, 0, 200), {.coverage = 0.9, .by_class = true});
        ASSERT_EQ(c.thresholds().size(), 2U);
        const auto sets = c.sets(model, test.x);
        const auto truth = class_positions(model, test.y);
        for (std::size_t i = 0; i < test.size(); ++i) {
            covered[truth[i]] += std::ranges::find(sets[i], truth[i]) != sets[i].end() ? 1 : 0;
            ++rows[truth[i]];
        }
    }
    // 20 × 100 rows of a class: the mean coverage is known to about 0.01.
    for (const std::size_t k : {0U, 1U}) EXPECT_NEAR(covered[k] / rows[k], 0.905, 0.025);
}

TEST(Conformal, CoverageOfIntervalsHolds) {
    const Dataset train = drawn("sinc", 60, 1, 0.2);
    const Model plain = svr({.kernel = rbf({.gamma = 1.0}), .C = 1}).fit(train);
    const Model process =
        gaussian_process({.common = {.kernel = rbf({.gamma = 1.0})}, .noise = 0.04}).fit(train);
    for (const bool scaled : {false, true}) {
        const Model& model = scaled ? process : plain;
        double covered = 0, rows = 0;
        for (std::uint64_t draw = 0; draw < 40; ++draw) {
            const Dataset data = drawn("sinc", 150, 50 + draw, 0.2);
            const Conformal c(model, part(data, 0, 49), {.coverage = 0.9, .scaled = scaled});
            const Dataset test = part(data, 49, 100);
            const Matrix<double> ends = c.intervals(model, test.x);
            for (std::size_t i = 0; i < 100; ++i) {
                covered += ends(i, 0) <= test.y.values[i] && test.y.values[i] <= ends(i, 1) ? 1 : 0;
            }
            rows += 100;
        }
        EXPECT_NEAR(covered / rows, 0.91, 0.025);
    }
}

TEST(Conformal, PValuesOfUsualRowsAreUniform) {
    const Model model =
        one_class({.kernel = rbf({.gamma = 0.5}), .nu = 0.1}).fit(drawn("rings", 100, 1, 0.2));
    double below[3] = {0, 0, 0};
    const double levels[3] = {0.05, 0.25, 0.5};
    for (std::uint64_t draw = 0; draw < 30; ++draw) {
        const Dataset data = drawn("rings", 200, 10 + draw, 0.2);
        const Conformal c(model, part(data, 0, 99), {});
        for (const double p : c.p_values(model, part(data, 99, 100).x)) {
            for (std::size_t k = 0; k < 3; ++k) below[k] += p <= levels[k] ? 1.0 / 3000 : 0;
        }
        Dataset far = part(data, 0, 1);
        far.x = Rows::dense(std::vector<double>{50, 50}, 2);
        EXPECT_DOUBLE_EQ(c.p_values(model, far.x)[0], 0.01);
    }
    for (std::size_t k = 0; k < 3; ++k) {
        EXPECT_LE(below[k], levels[k] + 0.03);
        EXPECT_GE(below[k], levels[k] - 0.03);
    }
}

TEST(Conformal, NonsenseIsRefused) {
    const Dataset moons = make("moons", {.n = 40});
    const Model model = svc({}).fit(moons);
    EXPECT_NE(message_of([&] { conformal(model, moons, {.coverage = 1}); }).find("coverage = 1"),
              std::string::npos);
    EXPECT_NE(message_of([&] { conformal(model, moons, {.scaled = true}); }).find("Gaussian"),
              std::string::npos);
    EXPECT_NE(message_of([&] { conformal(model, moons).intervals(model, moons.x); }).find("svc"),
              std::string::npos);
    const Dataset one = moons.select(std::vector<std::size_t>{0, 2});
    EXPECT_NE(message_of([&] { conformal(model, one, {.by_class = true}); }).find("set aside"),
              std::string::npos);
    // Too few rows for the coverage: everything remains possible, and nothing is promised falsely.
    EXPECT_EQ(conformal(model, one, {.coverage = 0.9}).sets(model, moons.x)[0].size(), 2U);
}

TEST(CalibrationReport, HonestProbabilitiesAreFoundHonest) {
    Random random(2);
    constexpr std::size_t rows = 20000;
    Matrix<double> p(rows, 2);
    Matrix<double> boastful(rows, 2);
    std::vector<std::size_t> truth;
    double brier = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        p(i, 1) = random.uniform();
        p(i, 0) = 1 - p(i, 1);
        boastful(i, 1) = p(i, 1) > 0.5 ? 0.99 : 0.01;
        boastful(i, 0) = 1 - boastful(i, 1);
        truth.push_back(random.uniform() < p(i, 1) ? 1 : 0);
        brier += std::pow(p(i, 1) - static_cast<double>(truth[i]), 2) / rows;
    }
    const CalibrationReport honest = calibration_report(p.view(), truth);
    EXPECT_NEAR(honest.brier, brier, 1e-12);
    EXPECT_LT(honest.expected_error, 0.02);
    std::size_t counted = 0;
    for (const ReliabilityBin& b : honest.bins) {
        counted += b.rows;
        EXPECT_NEAR(b.predicted, b.observed, 0.05);
    }
    EXPECT_EQ(counted, rows);
    const CalibrationReport other = calibration_report(boastful.view(), truth);
    EXPECT_NEAR(other.expected_error, 0.24, 0.02);
    EXPECT_GT(other.brier, honest.brier);
    EXPECT_NE(message_of([&] { calibration_report(p.view(), truth, 0); }).find("bins = 0"),
              std::string::npos);
    p(3, 1) = 1.5;
    EXPECT_NE(message_of([&] { calibration_report(p.view(), truth); }).find("row 4"),
              std::string::npos);
}

TEST(CalibrationReport, CalibrationMakesABoastfulMachineHonest) {
    const Dataset data = drawn("moons", 1200, 4, 0.45);
    SvmSettings settings{.task = Task::svc, .common = {.kernel = rbf({.gamma = 2.0})}, .C = 5};
    const Model model = Svm(settings).fit(part(data, 0, 300));
    const Dataset aside = part(data, 300, 400);
    const Dataset test = part(data, 700, 500);
    for (const CalibrationMethod method :
         {CalibrationMethod::platt, CalibrationMethod::isotonic, CalibrationMethod::temperature}) {
        const Model sure = calibrate(model, aside, method);
        const Matrix<double> p = sure.probabilities(test.x);
        const CalibrationReport r = calibration_report(p.view(), class_positions(sure, test.y));
        EXPECT_LT(r.expected_error, 0.09) << method_name(method);
        EXPECT_LT(r.brier, 0.2) << method_name(method);
    }
}

}  // namespace
}  // namespace mercer
