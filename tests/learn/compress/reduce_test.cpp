// Reduced sets: distances by the definition, choices against brute force, gradients against finite
// differences, and what a shorter machine still predicts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/learn/components/cca.hpp"
#include "mercer/learn/components/kernel_pca.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/learn/svm/detail/shared_fit.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;

/// An expansion of random points and coefficients.
Expansion random_expansion(const Kernel& kernel, std::size_t points, std::size_t outputs,
                           std::size_t columns = 3, std::uint64_t seed = 1) {
    Random random(seed);
    std::vector<double> values(points * columns);
    for (double& v : values) v = random.normal();
    Expansion e{.kernel = kernel, .points = Rows::dense(std::move(values), columns)};
    e.coefficients = Matrix<double>(outputs, points);
    for (double& v : e.coefficients.values()) v = random.normal();
    e.bias.assign(outputs, 0.5);
    return e;
}

/// Σ_c ‖w_c − w'_c‖² pair by pair.
double distance_by_definition(const Expansion& a, const Expansion& b) {
    const auto x = full(a.points), z = full(b.points);
    double sum = 0;
    for (std::size_t c = 0; c < a.outputs(); ++c) {
        for (std::size_t i = 0; i < x.size(); ++i) {
            for (std::size_t j = 0; j < x.size(); ++j) {
                sum += a.coefficients(c, i) * a.coefficients(c, j) * a.kernel(x[i], x[j]);
            }
            for (std::size_t j = 0; j < z.size(); ++j) {
                sum -= 2 * a.coefficients(c, i) * b.coefficients(c, j) * a.kernel(x[i], z[j]);
            }
        }
        for (std::size_t i = 0; i < z.size(); ++i) {
            for (std::size_t j = 0; j < z.size(); ++j) {
                sum += b.coefficients(c, i) * b.coefficients(c, j) * a.kernel(z[i], z[j]);
            }
        }
    }
    return sum;
}

ReduceSettings in_double(std::size_t vectors, ReduceMethod method, bool joint) {
    return {.vectors = vectors, .method = method, .joint = joint, .double_precision = true};
}

TEST(Reduce, TheDistanceIsThatOfTheDefinition) {
    for (const char* text : {"rbf(gamma=0.4)", "polynomial(degree=2)", "laplacian(gamma=0.5)"}) {
        const Expansion e = random_expansion(Kernel::parse(text), 12, 2);
        for (const ReduceMethod method :
             {ReduceMethod::greedy, ReduceMethod::l1, ReduceMethod::sequential}) {
            if (method == ReduceMethod::sequential && text[0] == 'l') continue;
            for (const bool joint : {false, true}) {
                const Reduction r = reduce(e, in_double(4, method, joint));
                ASSERT_EQ(r.expansion.size(), 4U);
                const double expected = distance_by_definition(e, r.expansion);
                EXPECT_NEAR(r.distance, expected, 1e-9 * r.squared_norm) << text;
                EXPECT_NEAR(std::accumulate(r.distances.begin(), r.distances.end(), 0.0), expected,
                            1e-9 * r.squared_norm);
                EXPECT_LT(r.distance, r.squared_norm);
                EXPECT_EQ(r.expansion.bias, e.bias);
            }
        }
    }
}

TEST(Reduce, TheCoefficientsAreTheBestForTheirPoints) {
    const Expansion e = random_expansion(rbf({.gamma = 0.3}), 15, 2);
    const Reduction r = reduce(e, in_double(5, ReduceMethod::greedy, false));
    const double best = distance_by_definition(e, r.expansion);
    Random random(3);
    for (int trial = 0; trial < 20; ++trial) {
        Expansion other = r.expansion;
        for (double& b : other.coefficients.values()) b += 0.01 * random.normal();
        EXPECT_GT(distance_by_definition(e, other), best);
    }
}

TEST(Reduce, GreedyTakesWhatLowersTheDistanceMost) {
    const Expansion e = random_expansion(rbf({.gamma = 0.3}), 14, 3);
    const Reduction r = reduce(e, in_double(4, ReduceMethod::greedy, false));
    std::vector<std::size_t> chosen;
    for (std::size_t step = 0; step < 4; ++step) {
        std::size_t best = 0;
        double least = 1e300;
        for (std::size_t i = 0; i < e.size(); ++i) {
            std::vector<std::size_t> trial = chosen;
            trial.push_back(i);
            if (std::ranges::count(chosen, i) > 0) continue;
            Expansion part = e;
            part.points = e.points.select(trial);
            part.coefficients = nearest_coefficients(e, part.points);
            const double distance = distance_by_definition(e, part);
            if (distance < least) {
                least = distance;
                best = i;
            }
        }
        chosen.push_back(best);
        EXPECT_EQ(r.chosen[step], best);
        EXPECT_NEAR(r.choice[step + 1], least, 1e-8 * r.squared_norm);
    }
    EXPECT_NEAR(r.choice[0], r.squared_norm, 0);
}

TEST(Reduce, TheGradientIsThatOfFiniteDifferences) {
    for (const char* text : {"rbf(gamma=0.4)", "0.5*rbf(gamma=0.4)",
                             "polynomial(degree=3, gamma=0.2)", "rbf(gamma=0.2) + 0.1*linear",
                             "inverse_multiquadric(c=1.2)", "matern(nu=2.5, length=1.5)"}) {
        const Expansion e = random_expansion(Kernel::parse(text), 25, 3);
        const std::vector<double> norms =
            squared_distances(e, Expansion{.kernel = e.kernel,
                                           .points = Rows::dense(std::vector<double>{}, 3),
                                           .coefficients = Matrix<double>(3, 0),
                                           .bias = {0, 0, 0}});
        const double norm = std::accumulate(norms.begin(), norms.end(), 0.0);
        const reduction::SharedFit fit(e, norm, true);
        Random random(9);
        std::vector<double> z(4 * 3), gradient(z.size()), ignored(z.size());
        for (double& v : z) v = random.normal();
        fit(z, gradient);
        for (std::size_t i = 0; i < z.size(); ++i) {
            const double h = 1e-5, at = z[i];
            z[i] = at + h;
            const double up = fit(z, ignored);
            z[i] = at - h;
            const double down = fit(z, ignored);
            z[i] = at;
            EXPECT_NEAR(gradient[i], (up - down) / (2 * h), 1e-4 * (1 + std::abs(gradient[i])))
                << text << ", number " << i;
        }
    }
}

TEST(Reduce, MovingVectorsOnlyLowersTheDistance) {
    const Expansion e = random_expansion(rbf({.gamma = 0.3}), 60, 3);
    const Reduction chosen = reduce(e, in_double(8, ReduceMethod::greedy, false));
    const Reduction moved = reduce(e, in_double(8, ReduceMethod::greedy, true));
    EXPECT_TRUE(std::ranges::is_sorted(moved.history, std::greater<>()));
    EXPECT_NEAR(moved.history.front(), chosen.distance, 1e-6 * moved.squared_norm);
    EXPECT_NEAR(moved.history.back(), moved.distance, 1e-6 * moved.squared_norm);
    EXPECT_LT(moved.distance, 0.8 * chosen.distance);
    // Single precision finds nearly the same.
    ReduceSettings single = in_double(8, ReduceMethod::greedy, true);
    single.double_precision = false;
    EXPECT_LT(reduce(e, single).distance, 0.9 * chosen.distance);
}

TEST(Reduce, WhatIsShortInTruthIsFoundExactly) {
    // Twenty points, but only three places.
    const Expansion places = random_expansion(rbf({.gamma = 0.5}), 3, 2);
    const auto x = full(places.points);
    std::vector<double> values;
    for (std::size_t i = 0; i < 20; ++i) {
        values.insert(values.end(), x[i % 3].begin(), x[i % 3].end());
    }
    Expansion e = random_expansion(rbf({.gamma = 0.5}), 20, 2);
    e.points = Rows::dense(values, 3);
    const Reduction r = reduce(e, {.error = 1e-8, .joint = false, .double_precision = true});
    EXPECT_EQ(r.expansion.size(), 3U);
    EXPECT_LT(r.distance, 1e-8 * r.squared_norm);
    // One place alone is its own pre-image.
    e.points = Rows::dense(std::vector<double>(60, 0.7), 3);
    const Reduction same = reduce(e, in_double(1, ReduceMethod::sequential, false));
    EXPECT_LT(same.distance, 1e-6 * same.squared_norm);
    // A linear machine is one vector, which the gradient finds.
    const Expansion line = random_expansion(linear(), 30, 1);
    const Reduction one = reduce(line, in_double(1, ReduceMethod::sequential, false));
    EXPECT_LT(one.distance, 1e-6 * one.squared_norm);
}

TEST(Reduce, AnErrorIsKeptWithFewVectors) {
    const Expansion e = random_expansion(rbf({.gamma = 0.1}), 50, 1, 2);
    const Reduction chosen = reduce(e, {.error = 0.01, .joint = false, .double_precision = true});
    const Reduction moved = reduce(e, {.error = 0.01, .double_precision = true});
    EXPECT_LE(chosen.distance, 0.01 * chosen.squared_norm);
    EXPECT_LE(moved.distance, 0.01 * moved.squared_norm);
    EXPECT_LE(moved.expansion.size(), chosen.expansion.size());
    EXPECT_LT(chosen.expansion.size(), 50U);
    EXPECT_EQ(reduce(e, {.speedup = 5, .joint = false}).expansion.size(), 10U);
}

TEST(Reduce, TheSameForAnyNumberOfThreads) {
    const Expansion e = random_expansion(rbf({.gamma = 0.2}), 700, 2, 5);
    std::vector<double> distances;
    for (const std::size_t count : {1U, 3U}) {
        set_threads(count);
        distances.push_back(reduce(e, {.vectors = 40, .iterations = 5}).distance);
    }
    set_threads(0);
    EXPECT_EQ(distances[0], distances[1]);
}

TEST(Reduce, ACentredKernelIsWrittenOut) {
    Expansion e = random_expansion(Kernel::parse("center(rbf(gamma=0.5))"), 10, 2);
    e.reference = random_expansion(linear(), 17, 1, 3, 4).points;
    const Expansion plain = without_center(e);
    const Rows at = random_expansion(linear(), 6, 1, 3, 8).points;
    const Matrix<double> f = Evaluator(e, true)(at);
    const Matrix<double> g = Evaluator(plain, true)(at);
    for (std::size_t i = 0; i < f.values().size(); ++i) {
        EXPECT_NEAR(f.values()[i], g.values()[i], 1e-12);
    }
    const Reduction r = reduce(e, in_double(6, ReduceMethod::greedy, true));
    EXPECT_NEAR(distance_by_definition(plain, r.expansion), r.distance, 1e-9);
}

TEST(Reduce, TenClassesShareTheirVectorsAndPredictAsBefore) {
    const Dataset data = read("@digits");
    const Model model = svc({.kernel = rbf({.gamma = 0.001}), .C = 10}).fit(data);
    const ReducedModel small = reduce(model, {.speedup = 10, .iterations = 40});
    EXPECT_EQ(small.model.expansion().size(), model.expansion().size() / 10);
    EXPECT_EQ(small.model.expansion().outputs(), 45U);
    const std::vector<double> before = model.predict(data.x), now = small.model.predict(data.x);
    std::size_t changed = 0;
    for (std::size_t i = 0; i < now.size(); ++i) changed += before[i] != now[i];
    EXPECT_LE(static_cast<double>(changed), 0.01 * static_cast<double>(now.size()));
    ASSERT_EQ(small.model.reports().size(), 45U);
    double distance = 0, norm = 0;
    for (const Report& r : small.model.reports()) {
        EXPECT_EQ(r.figures.at("reduced_from"), static_cast<double>(model.expansion().size()));
        distance += r.figures.at("squared_distance");
        norm += r.figures.at("squared_norm");
    }
    EXPECT_NEAR(distance, small.reduction.distance, 1e-9 * norm);
    EXPECT_NEAR(norm, small.reduction.squared_norm, 1e-6 * norm);
    const Model back = load_from_memory(save_to_memory(small.model));
    EXPECT_EQ(back.predict(data.x), now);
}

TEST(Reduce, OtherMachinesAndSparseRows) {
    Dataset data = make("sinc", {.n = 120});
    const Model model = ridge({.common = {.kernel = rbf({.gamma = 1.0})}, .lambda = 0.1}).fit(data);
    const ReducedModel small = reduce(model, {.vectors = 12});
    const std::vector<double> before = model.predict(data.x), now = small.model.predict(data.x);
    for (std::size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(before[i], now[i], 0.05);

    Dataset moons = make("moons", {.n = 150, .noise = 0.2});
    moons.x = moons.x.to_sparse();
    const Model sparse = svc({.kernel = rbf({.gamma = 2.0}), .C = 10}).fit(moons);
    EXPECT_LT(reduce(sparse, {.vectors = 10}).reduction.distance,
              reduce(sparse, {.vectors = 10, .joint = false}).reduction.distance);
}

TEST(Reduce, KernelPrincipalComponentsAndTheirCentre) {
    Dataset data = make("moons", {.n = 150, .noise = 0.1});
    const Model model =
        kernel_pca({.common = {.kernel = rbf({.gamma = 0.5})}, .components = 3}).fit(data);
    const Model small = reduce(model, {.vectors = 30}).model;
    const Model back = load_from_memory(save_to_memory(small));
    const Matrix<double> f = model.decision(data.x), g = back.decision(data.x);
    for (std::size_t i = 0; i < f.values().size(); ++i) {
        EXPECT_NEAR(f.values()[i], g.values()[i], 0.02);
    }
    // Novelty needs the centre.
    const std::vector<double> before = model.predict(data.x), now = back.predict(data.x);
    for (std::size_t i = 0; i < now.size(); ++i) EXPECT_NEAR(before[i], now[i], 0.03);
}

TEST(Reduce, StopsWhenTold) {
    const Expansion e = random_expansion(rbf({.gamma = 0.3}), 80, 1);
    int calls = 0;
    ReduceSettings settings = in_double(10, ReduceMethod::greedy, true);
    settings.progress = [&](const Moment& m) { return m.task != "moving vectors" || ++calls < 3; };
    const Reduction r = reduce(e, settings);
    EXPECT_EQ(r.status, FitStatus::cancelled);
    EXPECT_EQ(r.expansion.size(), 10U);
    EXPECT_NEAR(distance_by_definition(e, r.expansion), r.distance, 1e-9 * r.squared_norm);
    settings.progress = [](const Moment&) { return false; };
    EXPECT_THROW(reduce(e, settings), Cancelled);
}

TEST(Reduce, KeepsTheCompanionOfTwoViews) {
    const Dataset iris = embedded("iris");
    Dataset x = iris, y = iris;
    x.x = iris.x.select_columns(std::vector<std::size_t>{0, 1});
    y.x = iris.x.select_columns(std::vector<std::size_t>{2, 3});
    x.feature_names.clear();
    y.feature_names.clear();
    CcaSettings s;
    s.x.kernel = rbf({.gamma = 0.5});
    s.y_kernel = rbf({.gamma = 0.5});
    s.rank = 12;
    const Model views = kernel_cca(s).fit(x, y);
    const Model small = reduce(views, {.vectors = 10}).model;
    ASSERT_TRUE(companion_of(small));
    EXPECT_EQ(small.expansion().size(), 10U);
    EXPECT_EQ(companion_of(small)->decision(y.x).values(),
              companion_of(views)->decision(y.x).values());
    // What asks for both sides still can.
    EXPECT_GT(canonical_correlations(small, x.x, y.x)[0], 0.5);
}

TEST(Reduce, SettingsOutOfRangeAreRefused) {
    const Expansion e = random_expansion(rbf({.gamma = 0.3}), 8, 1);
    EXPECT_NE(message_of([&] { reduce(e, {}); }).find("exactly one"), std::string::npos);
    EXPECT_THROW(reduce(e, {.vectors = 2, .error = 0.1}), InvalidInput);
    EXPECT_THROW(reduce(e, {.error = 1.5}), InvalidInput);
    EXPECT_THROW(reduce(e, {.error = -0.5}), InvalidInput);
    EXPECT_THROW(reduce(e, {.speedup = 0.5}), InvalidInput);
    EXPECT_THROW(reduce_method_named("best"), InvalidInput);
    const Expansion ball = random_expansion(Kernel::parse("ball(radius=1)"), 8, 1);
    EXPECT_NE(message_of([&] { reduce(ball, {.vectors = 3}); }).find("joint"), std::string::npos);
    EXPECT_EQ(reduce(ball, {.vectors = 3, .joint = false}).expansion.size(), 3U);
}

}  // namespace
}  // namespace mercer
