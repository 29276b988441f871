// The embedded sets are what they say, and the generators obey their formulas.
#include "mercer/data/samples.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "data/support.hpp"
#include "mercer/base/error.hpp"

namespace mercer {
namespace {

using testing::message_of;

constexpr double pi = std::numbers::pi;

std::vector<double> row(const Dataset& data, std::size_t i) {
    std::vector<double> result(data.columns());
    data.x.copy_row(i, result);
    return result;
}

TEST(Embedded, DigitsHaveTheShapeAndRangeOfTheirSource) {
    const Dataset digits = embedded("digits");
    digits.check();
    ASSERT_EQ(digits.size(), 1797U);
    ASSERT_EQ(digits.columns(), 64U);
    EXPECT_EQ(digits.feature_names.size(), 64U);
    EXPECT_EQ(digits.y.size(), digits.size());
    const Classes classes = classes_of(digits.y);
    EXPECT_EQ(classes.count(), 10U);
    std::set<double> values;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        for (const double value : row(digits, i)) values.insert(value);
    }
    EXPECT_EQ(*values.begin(), 0);
    EXPECT_EQ(*values.rbegin(), 16);
    EXPECT_EQ(values.size(), 17U) << "entries are whole numbers from 0 to 16";
}

TEST(Embedded, IrisHasFiftyOfEachSpecies) {
    const Dataset iris = embedded("iris");
    iris.check();
    ASSERT_EQ(iris.size(), 150U);
    ASSERT_EQ(iris.columns(), 4U);
    EXPECT_TRUE(iris.y.are_text());
    const Classes classes = classes_of(iris.y);
    ASSERT_EQ(classes.count(), 3U);
    for (std::int32_t c = 0; c < 3; ++c) {
        EXPECT_EQ(std::count(classes.index.begin(), classes.index.end(), c), 50);
    }
    // Setosa is told apart by its petals alone.
    for (std::size_t i = 0; i < iris.size(); ++i) {
        EXPECT_EQ(row(iris, i)[2] < 2.5, iris.y.text(i) == "setosa");
    }
}

TEST(Embedded, UnknownNameIsRefusedWithTheChoices) {
    const std::string message = message_of([] { embedded("digit"); });
    EXPECT_NE(message.find("'digit'"), std::string::npos) << message;
    EXPECT_NE(message.find("iris"), std::string::npos) << message;
    EXPECT_NE(message.find("Did you mean 'digits'"), std::string::npos) << message;
}

TEST(Make, EveryKindInItsTableGivesTheAskedRowsAndAFixedResultForASeed) {
    for (const SampleEntry& entry : sample_table()) {
        const Dataset a = make(entry.name, {.n = 101, .seed = 7});
        const Dataset b = make(entry.name, {.n = 101, .seed = 7});
        const Dataset other = make(entry.name, {.n = 101, .seed = 8});
        a.check();
        ASSERT_EQ(a.size(), 101U) << entry.name;
        EXPECT_EQ(a.y.size(), 101U) << entry.name;
        std::size_t different = 0;
        for (std::size_t i = 0; i < a.size(); ++i) {
            EXPECT_EQ(row(a, i), row(b, i)) << entry.name;
            EXPECT_EQ(a.y.values[i], b.y.values[i]) << entry.name;
            different += row(a, i) != row(other, i) ? 1 : 0;
        }
        EXPECT_EQ(different, a.size()) << entry.name << ": another seed, other points";
    }
}

TEST(Make, WithoutNoiseThePointsLieOnTheirFormula) {
    const std::size_t n = 500;
    const Dataset sinc = make("sinc", {.n = n, .noise = 0});
    for (std::size_t i = 0; i < n; ++i) {
        const double x = row(sinc, i)[0];
        EXPECT_LE(std::abs(x), 3);
        EXPECT_NEAR(sinc.y.values[i] * pi * x, std::sin(pi * x), 1e-12);
    }
    const Dataset rings = make("rings", {.n = n, .noise = 0});
    const Dataset moons = make("moons", {.n = n, .noise = 0});
    const Dataset spirals = make("spirals", {.n = n, .noise = 0, .turns = 2});
    const Dataset exclusive_or = make("xor", {.n = n, .noise = 0});
    for (std::size_t i = 0; i < n; ++i) {
        const auto r = row(rings, i);
        EXPECT_NEAR(std::hypot(r[0], r[1]), rings.y.values[i] < 0 ? 1 : 2, 1e-12);

        const auto m = row(moons, i);
        if (moons.y.values[i] < 0) {
            EXPECT_NEAR(std::hypot(m[0], m[1]), 1, 1e-12);
            EXPECT_GE(m[1], 0);
        } else {
            EXPECT_NEAR(std::hypot(m[0] - 1, m[1] - 0.5), 1, 1e-12);
            EXPECT_LE(m[1], 0.5);
        }

        const auto s = row(spirals, i);
        const double radius = std::hypot(s[0], s[1]);
        const double angle = 2 * pi * 2 * radius;
        const double arm = spirals.y.values[i];
        EXPECT_NEAR(s[0], arm * radius * std::cos(angle), 1e-9);
        EXPECT_NEAR(s[1], arm * radius * std::sin(angle), 1e-9);

        const auto e = row(exclusive_or, i);
        EXPECT_EQ(e[0] * e[1], exclusive_or.y.values[i]);
    }
}

TEST(Make, CheckerboardAlternatesAndFillsItsBoard) {
    const Dataset board = make("checkerboard", {.n = 4000, .cells = 3});
    std::set<std::pair<int, int>> visited;
    for (std::size_t i = 0; i < board.size(); ++i) {
        const auto point = row(board, i);
        const int a = static_cast<int>(point[0]);
        const int b = static_cast<int>(point[1]);
        visited.insert({a, b});
        EXPECT_EQ(board.y.values[i], (a + b) % 2 == 0 ? -1 : 1);
    }
    EXPECT_EQ(visited.size(), 9U);
    EXPECT_EQ(*visited.rbegin(), std::pair(2, 2));
}

TEST(Make, NoiseHasTheAskedDeviation) {
    const std::size_t n = 20000;
    const Dataset data = make("sinc", {.n = n, .noise = 0.5});
    double sum = 0;
    double squares = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const double x = row(data, i)[0];
        const double error = data.y.values[i] - std::sin(pi * x) / (pi * x);
        sum += error;
        squares += error * error;
    }
    const double root = std::sqrt(static_cast<double>(n));
    EXPECT_NEAR(sum / static_cast<double>(n), 0, 5 * 0.5 / root);
    EXPECT_NEAR(std::sqrt(squares / static_cast<double>(n)), 0.5, 5 * 0.5 / root);
}

TEST(Make, BlobsKeepTheirCentresWhenMorePointsAreAsked) {
    const SampleOptions few{.n = 40, .noise = 0, .seed = 3, .classes = 4, .columns = 6};
    SampleOptions many = few;
    many.n = 400;
    const Dataset a = make("blobs", few);
    const Dataset b = make("blobs", many);
    EXPECT_EQ(a.columns(), 6U);
    EXPECT_EQ(classes_of(a.y).count(), 4U);
    for (std::size_t i = 0; i < a.size(); ++i) EXPECT_EQ(row(a, i), row(b, i));
}

TEST(Make, OptionsOutOfRangeAreNamed) {
    const auto refused = [](const std::string& word, const char* kind, const SampleOptions& o) {
        const std::string message = message_of([&] { make(kind, o); });
        EXPECT_NE(message.find(word), std::string::npos) << message;
    };
    refused("n is 0", "moons", {.n = 0});
    refused("n is 100000001", "moons", {.n = 100'000'001});
    refused("n times columns", "blobs", {.n = 100'000'000, .columns = 10'000});
    refused("noise is -1", "moons", {.noise = -1});
    refused("noise is ", "moons", {.noise = std::nan("")});
    refused("turns is 0", "spirals", {.turns = 0});
    refused("cells is 1", "checkerboard", {.cells = 1});
    refused("classes is 0", "blobs", {.classes = 0});
    refused("Did you mean 'spirals'", "spiral", {});
}

}  // namespace
}  // namespace mercer
