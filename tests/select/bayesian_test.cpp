// A search that looks where a Gaussian process expects most.
#include "mercer/select/detail/bayesian.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "data/support.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/select/search.hpp"

namespace mercer {
namespace {

SearchSpace space_of(const Dataset& data, std::vector<std::string> axes) {
    std::vector<Axis> parsed;
    for (const std::string& text : axes) parsed.push_back(Axis::parse(text));
    return SearchSpace(svm_search_task({.task = Task::svc}, "rbf(gamma=1)"), std::move(parsed),
                       data);
}

TEST(Bayesian, PlacesGoThereAndBack) {
    const Axis gamma = Axis::parse("gamma=1e-4:1e2:log7");
    EXPECT_NEAR(place_on(gamma, 1e-4), 0, 1e-12);
    EXPECT_NEAR(place_on(gamma, 0.1), 0.5, 1e-12);
    EXPECT_NEAR(value_at(gamma, 0.5), 0.1, 1e-12);
    const Axis list = Axis::parse("C=1,10,1000");
    EXPECT_EQ(place_on(list, 10), 0.5);
    EXPECT_EQ(value_at(list, 0.9), 1000);
    const Axis line = Axis::parse("epsilon=0:2:3");
    EXPECT_EQ(value_at(line, 0.25), 0.5);
}

TEST(Bayesian, ExpectedImprovementIsTheMeanOfWhatIsAbove) {
    Random random(3);
    for (const auto& [mean, deviation] : {std::pair{0.2, 0.5}, {-1.0, 1.0}, {0.6, 0.1}}) {
        double sum = 0;
        constexpr int draws = 200000;
        for (int d = 0; d < draws; ++d) {
            sum += std::max(0.0, mean + deviation * random.normal() - 0.3) / draws;
        }
        EXPECT_NEAR(expected_improvement(mean, deviation, 0.3), sum, 5e-3);
    }
    EXPECT_EQ(expected_improvement(1, 0, 0.3), 0.7);
    EXPECT_EQ(expected_improvement(0, 0, 0.3), 0);
}

/// A smooth hill with its top at places (0.7, 0.3).
TEST(Bayesian, ClimbsAHillInFewSteps) {
    const Dataset data = make("moons", {.n = 20});
    const SearchSpace space = space_of(data, {"gamma=1e-3:1e3:log5", "C=1e-2:1e2:log5"});
    const auto height = [&](const std::vector<double>& p) {
        const double a = place_on(space.axes()[0], p[0]) - 0.7;
        const double b = place_on(space.axes()[1], p[1]) - 0.3;
        return std::exp(-8 * (a * a + b * b));
    };
    std::vector<std::vector<double>> seen = space.random(8, 4);
    std::vector<double> scores;
    for (const auto& p : seen) scores.push_back(height(p));
    scores[2] = std::numeric_limits<double>::quiet_NaN();  // one that failed
    for (int step = 0; step < 14; ++step) {
        seen.push_back(propose(space, seen, scores, static_cast<std::uint64_t>(step)));
        scores.push_back(height(seen.back()));
    }
    EXPECT_GT(*std::max_element(scores.begin() + 8, scores.end()), 0.99);
    EXPECT_EQ(std::set(seen.begin(), seen.end()).size(), seen.size()) << "no point twice";
    // The same arguments, the same answer.
    EXPECT_EQ(propose(space, seen, scores, 7), propose(space, seen, scores, 7));
}

TEST(Bayesian, SearchIsAsGoodAsAGridWithFewerPointsAndGoesOnFromItsJournal) {
    const testing::Folder folder;
    const Dataset data = make("moons", {.n = 150, .noise = 0.25});
    const SearchSpace space = space_of(data, {"gamma=1e-3:1e3:log7", "C=1e-2:1e3:log6"});
    const SearchResult grid = search(space, data, {.folds = {.folds = 3}});
    SearchSettings settings{.method = SearchMethod::bayesian, .points = 20, .folds = {.folds = 3}};
    settings.journal = folder.file("journal");
    const SearchResult found = search(space, data, settings);
    ASSERT_EQ(found.points.size(), 20U);
    EXPECT_GE(found.points[*found.best].mean, grid.points[*grid.best].mean - 0.02);
    const SearchResult again = search(space, data, settings);
    EXPECT_EQ(again.taken, 20U);
    for (std::size_t p = 0; p < 20; ++p) EXPECT_EQ(again.points[p].values, found.points[p].values);
    // Told to stop in the middle it says so; begun again it ends as if nothing had happened.
    settings.journal = folder.file("other");
    settings.progress = [](const Moment& m) { return m.fraction < 0.7; };
    const SearchResult broken = search(space, data, settings);
    EXPECT_TRUE(broken.cancelled);
    settings.progress = {};
    const SearchResult mended = search(space, data, settings);
    for (std::size_t p = 0; p < 20; ++p) EXPECT_EQ(mended.points[p].values, found.points[p].values);
}

TEST(Bayesian, ASmallSpaceIsSeenWhole) {
    const Dataset data = make("moons", {.n = 40});
    const SearchSpace space = space_of(data, {"C=1,10,100"});
    const SearchResult r = search(
        space, data, {.method = SearchMethod::bayesian, .points = 30, .folds = {.folds = 2}});
    EXPECT_LT(r.points.size(), 30U);
    EXPECT_TRUE(r.best.has_value());
}

}  // namespace
}  // namespace mercer
