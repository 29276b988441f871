// Classifiers whose answer is known: worked by hand, or equal by a theorem to another machine.
#include <cmath>
#include <numeric>
#include <set>

#include "learn/certificate.hpp"
#include "learn/small.hpp"
#include "mercer/data/samples.hpp"

namespace mercer {
namespace {

using testing::by_definition;
using testing::closely;
using testing::expect_same_decisions;
using testing::full;
using testing::labelled;
using testing::value_at;
using testing::weights_of;
using testing::with_double_rows;

SvmSettings hard(Kernel kernel, bool bias = true) {
    return closely(
        {.task = Task::hard_margin, .common = {.kernel = std::move(kernel)}, .bias = bias});
}

/// What every hard margin must satisfy: y f >= 1 with equality somewhere, primal = dual = ½‖w‖².
void expect_hard_margin(const Model& model, const Dataset& data, double norm2) {
    const Report r = model.report();
    EXPECT_EQ(r.status, FitStatus::converged);
    EXPECT_NEAR(r.squared_norm, norm2, 1e-7 * norm2);
    EXPECT_NEAR(r.margin, 1 / std::sqrt(norm2), 1e-6 / std::sqrt(norm2));
    EXPECT_NEAR(r.primal, norm2 / 2, 1e-6 * norm2);
    EXPECT_NEAR(r.dual, norm2 / 2, 1e-6 * norm2);
    EXPECT_EQ(r.bounded_support_vectors, 0U);
    double closest = 1e300;
    const Matrix<double> f = model.decision(data.x);
    for (std::size_t i = 0; i < data.size(); ++i) {
        closest = std::min(closest, (data.y.values[i] == 1 ? 1 : -1) * f(i, 0));
    }
    EXPECT_NEAR(closest, 1, 1e-6);
}

TEST(HardMargin, TwoPointsOnALine) {
    // The plane stands half way: w (3 − (−1)) = 2.
    const Dataset data = labelled({{3}, {-1}}, {1, -1});
    const Model model = Svm(hard(linear())).fit(data);
    expect_hard_margin(model, data, 0.25);
    EXPECT_NEAR(weights_of(model)[0], 0.5, 1e-8);
    EXPECT_NEAR(model.expansion().bias[0], -0.5, 1e-8);
    EXPECT_NEAR(value_at(model, {1}), 0, 1e-8);
    // α = 1/8 for both: 4α = w.
    for (std::size_t i = 0; i < 2; ++i) {
        EXPECT_NEAR(std::abs(model.expansion().coefficients(0, i)), 0.125, 1e-8);
    }
}

TEST(HardMargin, ThreePointsInThePlane) {
    // w = ¼(2,2) + ¼(2,0) − ½(0,1) = (1,0).
    const Dataset data = labelled({{2, 2}, {2, 0}, {0, 1}, {5, 7}}, {1, 1, -1, 1});
    const Model model = Svm(hard(linear())).fit(data);
    expect_hard_margin(model, data, 1);
    EXPECT_NEAR(weights_of(model)[0], 1, 1e-7);
    EXPECT_NEAR(weights_of(model)[1], 0, 1e-7);
    EXPECT_NEAR(model.expansion().bias[0], -1, 1e-7);
    ASSERT_EQ(model.expansion().size(), 3U) << "the far point supports nothing";
    EXPECT_NEAR(model.expansion().coefficients(0, 0), 0.25, 1e-7);
    EXPECT_NEAR(model.expansion().coefficients(0, 1), 0.25, 1e-7);
    EXPECT_NEAR(model.expansion().coefficients(0, 2), -0.5, 1e-7);
}

TEST(HardMargin, FourCornersOfASquare) {
    const Dataset data = labelled({{1, 1}, {1, -1}, {-1, 1}, {-1, -1}}, {1, 1, -1, -1});
    const Model model = Svm(hard(linear())).fit(data);
    expect_hard_margin(model, data, 1);
    EXPECT_NEAR(weights_of(model)[0], 1, 1e-7);
    EXPECT_NEAR(weights_of(model)[1], 0, 1e-7);
    EXPECT_NEAR(model.expansion().bias[0], 0, 1e-7);
}

TEST(HardMargin, ExclusiveOrThroughTheQuadraticKernel) {
    // k = (1 + x·z)²: 9 on the diagonal and 1 beside it, so 8α = 1 for all and f(x) = x₀x₁.
    const Dataset data = labelled({{1, 1}, {-1, -1}, {1, -1}, {-1, 1}}, {1, 1, -1, -1});
    const Model model = Svm(hard(polynomial({.degree = 2}))).fit(data);
    expect_hard_margin(model, data, 0.5);
    for (const double c : model.expansion().coefficients.values()) {
        EXPECT_NEAR(std::abs(c), 0.125, 1e-8);
    }
    for (const auto& x : {std::vector{0.3, 0.7}, std::vector{-2.0, 1.5}, std::vector{0.0, 4.0}}) {
        EXPECT_NEAR(value_at(model, x), x[0] * x[1], 1e-6);
    }
}

TEST(HardMargin, ThroughTheOriginAsInSeed000) {
    // y x = (2,0) and (0,2): w = ¼(2,0) + ¼(0,2), which a plane with a bias would not need.
    const Dataset data = labelled({{2, 0}, {0, -2}}, {1, -1});
    const Model model = Svm(hard(linear(), false)).fit(data);
    expect_hard_margin(model, data, 0.5);
    EXPECT_NEAR(weights_of(model)[0], 0.5, 1e-8);
    EXPECT_NEAR(weights_of(model)[1], 0.5, 1e-8);
    EXPECT_EQ(model.expansion().bias[0], 0);
    // A point is as good as its mirror image with the other label.
    const Dataset mirrored = labelled({{2, 0}, {0, 2}, {-3, -3}}, {1, 1, -1});
    EXPECT_NEAR(weights_of(Svm(hard(linear(), false)).fit(mirrored))[1], 0.5, 1e-8);
}

TEST(SoftMargin, HasTheMidpointAsBiasWithoutFreeVectors) {
    // Two points and a small C: both α = C, w = C (2 − 0), and optimality leaves b in [−1, 1 − 2w].
    const double C = 0.1;
    const Dataset data = labelled({{2}, {0}}, {1, -1});
    const Model model = Svm(closely({.common = {.kernel = linear()}, .C = C})).fit(data);
    EXPECT_EQ(model.report().free_support_vectors, 0U);
    EXPECT_EQ(model.report().bounded_support_vectors, 2U);
    const double w = 2 * C;
    EXPECT_NEAR(weights_of(model)[0], w, 1e-9);
    EXPECT_NEAR(model.expansion().bias[0], (-1 + (1 - 2 * w)) / 2, 1e-9);
}

TEST(SoftMargin, HasTheMeanOverFreeVectorsAsBias) {
    // 004: b = mean of y_i − Σ α_j y_j k(x_j, x_i) over 0 < α_i < C.
    const Dataset data = with_double_rows(make("moons", {.n = 120, .noise = 0.25, .seed = 3}));
    const double C = 2;
    const Model model = Svm(closely({.common = {.kernel = rbf({.gamma = 1.0})}, .C = C})).fit(data);
    const Expansion& e = model.expansion();
    const auto rows = full(e.points);
    double sum = 0;
    double count = 0;
    for (std::size_t i = 0; i < e.size(); ++i) {
        const double alpha = std::abs(e.coefficients(0, i));
        if (alpha > C * (1 - 1e-9)) continue;
        const double y = e.coefficients(0, i) > 0 ? 1 : -1;
        sum += y - (by_definition(e, rows[i]) - e.bias[0]);
        ++count;
    }
    ASSERT_EQ(count, static_cast<double>(model.report().free_support_vectors));
    ASSERT_GT(count, 2);
    EXPECT_NEAR(e.bias[0], sum / count, 1e-9);
}

TEST(SoftMargin, NuMachineIsTheCMachineWithCOverRho) {
    const Dataset data = with_double_rows(make("moons", {.n = 150, .noise = 0.3, .seed = 5}));
    const Kernel kernel = rbf({.gamma = 1.0});
    for (const double nu : {0.15, 0.3, 0.6}) {
        SCOPED_TRACE(nu);
        const SvmSettings settings =
            closely({.task = Task::nu_svc, .common = {.kernel = kernel}, .nu = nu});
        const Model machine = Svm(settings).fit(data);
        const Report r = machine.report();
        ASSERT_GT(r.rho, 0);
        const Model same = Svm(closely({.common = {.kernel = kernel}, .C = 1 / r.rho})).fit(data);
        expect_same_decisions(machine, same, data.x, 1e-5);
        EXPECT_NEAR(same.report().squared_norm, r.squared_norm, 1e-5 * r.squared_norm);
        EXPECT_NEAR(same.report().dual, r.dual, 1e-6 * r.dual);
        EXPECT_NEAR(r.margin, 1 / std::sqrt(r.squared_norm), 1e-9);
        testing::expect_certified(machine, data, settings);
        testing::expect_nu_property(machine, data, settings);
    }
}

TEST(LinearKernel, CollapsesToItsWeights) {
    const Dataset data = with_double_rows(make("blobs", {.n = 90, .noise = 2.0, .columns = 5}));
    for (const Kernel& kernel : {linear(), 3.0 * linear()}) {
        const Model model = Svm(closely({.common = {.kernel = kernel}, .C = 0.1})).fit(data);
        ASSERT_TRUE(is_linear(model.expansion().kernel));
        const Matrix<double> f = model.decision(data.x);
        const Matrix<double> w = weight_vectors(model.expansion());
        const auto rows = full(data.x);
        for (std::size_t i = 0; i < data.size(); i += 7) {
            for (std::size_t c = 0; c < f.columns(); ++c) {
                const double sum = by_definition(model.expansion(), rows[i], c);
                EXPECT_NEAR(f(i, c), sum, 1e-9 * (1 + std::abs(sum)));
                const double dot = std::inner_product(rows[i].begin(), rows[i].end(),
                                                      w.row(c).begin(), model.expansion().bias[c]);
                EXPECT_NEAR(f(i, c), dot, 1e-9 * (1 + std::abs(dot)));
            }
        }
    }
}

TEST(SeveralClasses, OneVersusOneIsEachPairAlone) {
    const Dataset data = with_double_rows(embedded("iris"));
    const SvmSettings settings = closely({.common = {.kernel = rbf({.gamma = 0.5})}, .C = 1});
    const Model model = Svm(settings).fit(data);
    ASSERT_EQ(model.reports().size(), 3U);
    const Classes classes = classes_of(data.y);
    const Matrix<double> all = model.decision(data.x);
    std::size_t pair = 0;
    for (std::int32_t a = 0; a < 3; ++a) {
        for (std::int32_t b = a + 1; b < 3; ++b, ++pair) {
            std::vector<std::size_t> rows;
            for (std::size_t i = 0; i < data.size(); ++i) {
                if (classes.index[i] == a || classes.index[i] == b) rows.push_back(i);
            }
            const Model alone = Svm(settings).fit(data.select(rows));
            const Matrix<double> f = alone.decision(data.x);
            for (std::size_t i = 0; i < data.size(); ++i) {
                ASSERT_NEAR(all(i, pair), f(i, 0), 1e-5) << model.reports()[pair].name;
            }
        }
    }
    // Rows that support several pairs stand in the expansion once.
    const std::set<std::size_t> distinct(model.origins().begin(), model.origins().end());
    EXPECT_EQ(distinct.size(), model.expansion().size());
    testing::expect_certified(model, data, settings);
}

TEST(SeveralClasses, OneVersusRestIsEachClassAlone) {
    const Dataset data = with_double_rows(embedded("iris"));
    SvmSettings settings = closely({.common = {.kernel = rbf({.gamma = 0.5})}, .C = 1});
    settings.multi_class = MultiClass::one_vs_rest;
    const Model model = Svm(settings).fit(data);
    ASSERT_EQ(model.reports().size(), 3U);
    const Classes classes = classes_of(data.y);
    const Matrix<double> all = model.decision(data.x);
    for (std::size_t c = 0; c < 3; ++c) {
        Dataset two = data;
        two.y = {};
        for (const std::int32_t index : classes.index) {
            two.y.values.push_back(static_cast<std::size_t>(index) == c ? 1 : 2);
        }
        const Matrix<double> f = Svm(settings).fit(two).decision(data.x);
        for (std::size_t i = 0; i < data.size(); ++i) ASSERT_NEAR(all(i, c), f(i, 0), 1e-5);
    }
    const std::vector<double> predicted = model.predict(data.x);
    for (std::size_t i = 0; i < data.size(); ++i) {
        const auto row = all.row(i);
        EXPECT_EQ(predicted[i], static_cast<double>(std::ranges::max_element(row) - row.begin()));
    }
    testing::expect_certified(model, data, settings);
}

}  // namespace
}  // namespace mercer
