// Kernel dependency estimation: ridge from vectors to vectors as a special case, distances by the
// definition, answers by candidates (also of strings) and by pre-images, and the real task.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <numeric>
#include <string>

#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/read.hpp"
#include "mercer/gram/gram.hpp"
#include "mercer/learn/components/dependency.hpp"
#include "mercer/learn/risk/ridge.hpp"
#include "mercer/persist/model_file.hpp"

namespace mercer {
namespace {

using testing::message_of;

Dataset rows(const Matrix<double>& m) {
    Dataset data;
    data.x = Rows::dense(m.values(), m.columns());
    return data;
}

struct Problem {
    Dataset x, y;
};

/// A point of the line and where it lies on a curve of the plane.
Problem curve(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    Matrix<double> x(n, 1), y(n, 2);
    for (std::size_t i = 0; i < n; ++i) {
        const double t = random.uniform(-2, 2);
        x(i, 0) = t;
        y(i, 0) = std::sin(2 * t);
        y(i, 1) = t * t / 2;
    }
    return {rows(x), rows(y)};
}

DependencySettings dependency_settings(const Kernel& in, const Kernel& out, std::size_t components,
                                       double lambda) {
    DependencySettings s;
    s.common.kernel = in;
    s.output_kernel = out;
    s.components = components;
    s.lambda = lambda;
    return s;
}

TEST(Dependency, OfALinearOutputKernelIsRidgeRegressionOfTheOutputs) {
    const Problem p = curve(40, 1), fresh = curve(15, 2);
    const Kernel in = rbf({.gamma = 1.0});
    const Model model = dependency(dependency_settings(in, linear(), 0, 0.1)).fit(p.x, p.y);
    Matrix<double> targets(40, 2);
    for (std::size_t i = 0; i < 40; ++i) p.y.x.copy_row(i, targets.row(i));
    const Model straight =
        ridge({.common = {.kernel = in}, .lambda = 0.1}).fit(p.x, targets.view());
    const Matrix<double> expected = straight.decision(fresh.x.x);
    // The pre-image of a linear kernel is the vector itself.
    const std::vector<Preimage> made =
        Dependency(model).preimages(fresh.x.x, {.method = PreimageMethod::gradient});
    for (std::size_t i = 0; i < made.size(); ++i) {
        EXPECT_NEAR(made[i].z[0], expected(i, 0), 1e-5);
        EXPECT_NEAR(made[i].z[1], expected(i, 1), 1e-5);
        EXPECT_NEAR(made[i].squared_distance, 0, 1e-8);
    }
}

TEST(Dependency, DistancesAreThoseOfTheDefinition) {
    const Problem p = curve(30, 3), fresh = curve(6, 4);
    const Kernel out = rbf({.gamma = 0.7});
    const Model model =
        dependency(dependency_settings(rbf({.gamma = 2.0}), out, 5, 0.05)).fit(p.x, p.y);
    const Dependency map(model);
    const Matrix<double> components = map.components(fresh.x.x);
    const Matrix<double> found = map.squared_distances(fresh.x.x, fresh.y.x);
    for (std::size_t i = 0; i < 6; ++i) {
        const FeatureVector w = map.outputs().image(components.row(i));
        for (std::size_t j = 0; j < 6; ++j) {
            std::vector<double> y(2);
            fresh.y.x.copy_row(j, y);
            const double d = distance(w, image(out, y));
            EXPECT_NEAR(found(i, j), d * d, 1e-7);
        }
    }
    const NearestOutputs nearest = map.nearest(fresh.x.x, fresh.y.x);
    for (std::size_t i = 0; i < 6; ++i) {
        const auto row = found.row(i);
        EXPECT_EQ(nearest.positions[i],
                  static_cast<std::size_t>(std::ranges::min_element(row) - row.begin()));
        EXPECT_DOUBLE_EQ(nearest.squared_distance[i], std::ranges::min(row));
    }
}

TEST(Dependency, LearnsACurveAndMakesPointsOfIt) {
    const Problem p = curve(150, 5), fresh = curve(50, 6);
    DependencySettings s = dependency_settings(rbf({.gamma = 4.0}), rbf({.gamma = 1.0}), 20, 1);
    s.path = {1e-4, 1e-2, 1};
    const Model model = dependency(s).fit(p.x, p.y);
    EXPECT_LT(model.trained().numbers.at("lambda"), 1);
    const Dependency map(model);
    const std::vector<Preimage> made = map.preimages(fresh.x.x);
    const NearestOutputs chosen = map.nearest(fresh.x.x, p.y.x);
    double made_error = 0, chosen_error = 0;
    for (std::size_t i = 0; i < 50; ++i) {
        std::vector<double> y(2), z(2);
        fresh.y.x.copy_row(i, y);
        p.y.x.copy_row(chosen.positions[i], z);
        made_error += std::hypot(made[i].z[0] - y[0], made[i].z[1] - y[1]) / 50;
        chosen_error += std::hypot(z[0] - y[0], z[1] - y[1]) / 50;
        EXPECT_LE(made[i].squared_distance, chosen.squared_distance[i] + 1e-9);
    }
    EXPECT_LT(chosen_error, 0.1);
    EXPECT_LT(made_error, 0.03);
}

// ---- Strings, whose kernel is a matrix computed before.

/// The number of common pairs of neighbouring letters, normalised: a spectrum kernel.
double spectrum(const std::string& a, const std::string& b) {
    const auto pairs = [](const std::string& s) {
        std::map<std::string, double> count;
        for (std::size_t i = 0; i + 1 < s.size(); ++i) ++count[s.substr(i, 2)];
        return count;
    };
    const auto product = [&](const std::string& s, const std::string& t) {
        double sum = 0;
        const auto other = pairs(t);
        for (const auto& [word, times] : pairs(s)) {
            if (other.contains(word)) sum += times * other.at(word);
        }
        return sum;
    };
    return product(a, b) / std::sqrt(product(a, a) * product(b, b));
}

TEST(Dependency, AnswersInStringsThroughAPrecomputedKernel) {
    const std::vector<std::string> words{"anna",  "banana", "ananas",   "kiwi", "wikiwiki",
                                         "kiwis", "cherry", "cherries", "berry"};
    const std::vector<double> family{0, 0, 0, 1, 1, 1, 2, 2, 2};
    Matrix<double> gram(words.size(), words.size());
    for (std::size_t i = 0; i < words.size(); ++i) {
        for (std::size_t j = 0; j < words.size(); ++j) gram(i, j) = spectrum(words[i], words[j]);
    }
    // Inputs: the family as a number, with the place in it beside.
    Matrix<double> x(words.size(), 2);
    for (std::size_t i = 0; i < words.size(); ++i) {
        x(i, 0) = 3 * family[i];
        x(i, 1) = static_cast<double>(i % 3);
    }
    const Model model = dependency(dependency_settings(rbf({.gamma = 1.0}), precomputed(), 0, 1e-3))
                            .fit(rows(x), rows(gram));
    const Dependency map(model);
    const NearestOutputs same = map.nearest(rows(x).x, rows(gram).x);
    for (std::size_t i = 0; i < words.size(); ++i) EXPECT_EQ(same.positions[i], i) << words[i];
    // Between the places of a family the answer is still one of the family.
    const NearestOutputs between =
        map.nearest(testing::points({{0, 0.6}, {3, 1.4}, {6, 0.4}}).x, rows(gram).x);
    for (std::size_t f = 0; f < 3; ++f) {
        EXPECT_EQ(family[between.positions[f]], static_cast<double>(f));
    }
    EXPECT_THROW(map.preimages(rows(x).x), InvalidInput);
}

// ---- The file, and what is refused.

TEST(Dependency, AModelFileHoldsInputsAndOutputs) {
    const Problem p = curve(25, 7);
    DependencySettings s = dependency_settings(rbf({.gamma = 2.0}), rbf({.gamma = 0.7}), 4, 0.1);
    s.common.scaling = ScalingRule::parse("standard");
    const Model model = dependency(s).fit(p.x, p.y);
    const std::string bytes = save_to_memory(model);
    const Model back = load_from_memory(bytes);
    EXPECT_EQ(save_to_memory(back), bytes);
    EXPECT_EQ(Dependency(back).squared_distances(p.x.x, p.y.x).values(),
              Dependency(model).squared_distances(p.x.x, p.y.x).values());
}

TEST(Dependency, RefusesWhatDoesNotBelongTogether) {
    const Problem p = curve(10, 8);
    const std::vector<std::size_t> some{0, 1, 2};
    const DependencySettings s = dependency_settings(linear(), linear(), 0, 1);
    EXPECT_NE(message_of([&] { dependency(s).fit(p.x, p.y.select(some)); }).find("10 rows"),
              std::string::npos);
    EXPECT_THROW(dependency(dependency_settings(linear(), linear(), 0, 0)).fit(p.x, p.y),
                 InvalidInput);
    const Model pca = kernel_pca({.common = {.kernel = linear()}}).fit(p.y);
    EXPECT_THROW(Dependency{pca}, InvalidInput);
    const Model model = dependency(s).fit(p.x, p.y);
    EXPECT_THROW(Dependency(model).nearest(p.x.x, Rows()), InvalidInput);
    DependencySettings stop = s;
    stop.common.progress = [](const Moment&) { return false; };
    EXPECT_EQ(dependency(stop).fit(p.x, p.y).report().status, FitStatus::cancelled);
}

TEST(Dependency, WeightsCountAsRepetitions) {
    Problem p = curve(20, 9);
    std::vector<std::size_t> repeated;
    for (std::size_t i = 0; i < 20; ++i) {
        p.x.weights.push_back(i % 2 == 0 ? 2 : 1);
        for (int k = 0; k < static_cast<int>(p.x.weights.back()); ++k) repeated.push_back(i);
    }
    Dataset plain = p.x;
    plain.weights.clear();
    const DependencySettings s =
        dependency_settings(rbf({.gamma = 2.0}), rbf({.gamma = 0.7}), 3, 0.5);
    const Model a = dependency(s).fit(p.x, p.y);
    const Model b = dependency(s).fit(plain.select(repeated), p.y.select(repeated));
    const Matrix<double> da = Dependency(a).squared_distances(plain.x, p.y.x);
    const Matrix<double> db = Dependency(b).squared_distances(plain.x, p.y.x);
    for (std::size_t k = 0; k < da.values().size(); ++k) {
        EXPECT_NEAR(da.values()[k], db.values()[k], 1e-6);
    }
}

// Real digits: the lower half from the upper. The nearest neighbour looks only at inputs; the map
// also knows what outputs look like, and its answers are nearer to the truth.
TEST(Dependency, CompletesRealDigitsBetterThanTheNearestNeighbour) {
    const char* const folder = std::getenv("MERCER_DATA");
    const std::string path = folder == nullptr ? "" : std::string(folder) + "/usps/zip.train.gz";
    if (!std::filesystem::exists(path)) GTEST_SKIP() << "usps is not under MERCER_DATA";
    const Dataset all = read(path, {.label = "first"});
    std::vector<std::size_t> train(500), test(200), upper(128), lower(128);
    std::iota(train.begin(), train.end(), std::size_t{0});
    std::iota(test.begin(), test.end(), std::size_t{500});
    std::iota(upper.begin(), upper.end(), std::size_t{0});
    std::iota(lower.begin(), lower.end(), std::size_t{128});
    const auto half = [&](const std::vector<std::size_t>& which,
                          const std::vector<std::size_t>& columns) {
        Dataset d;
        d.x = all.x.select(which).select_columns(columns).to_double();
        return d;
    };
    const Dataset x = half(train, upper), y = half(train, lower);
    const Dataset fresh = half(test, upper), truth = half(test, lower);
    const Model model =
        dependency(dependency_settings(rbf({.gamma = 0.01}), rbf({.gamma = 0.01}), 64, 0.1))
            .fit(x, y);
    const NearestOutputs chosen = Dependency(model).nearest(fresh.x, y.x);
    const Gram<double> gram(negative_distance(2.0), x.x), outputs(negative_distance(2.0), y.x);
    Matrix<double> near(test.size(), train.size()), loss(test.size(), train.size());
    gram.block(gram.prepare(fresh.x), gram.reference(), near.view());
    outputs.block(outputs.prepare(truth.x), outputs.reference(), loss.view());
    double of_map = 0, of_neighbour = 0;
    for (std::size_t i = 0; i < test.size(); ++i) {
        const auto row = near.row(i);
        const auto n = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
        of_map -= loss(i, chosen.positions[i]);
        of_neighbour -= loss(i, n);
    }
    EXPECT_LT(of_map, 0.95 * of_neighbour);
}

}  // namespace
}  // namespace mercer
