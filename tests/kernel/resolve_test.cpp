// Rules and names resolved from data; column subsets.
#include <gtest/gtest.h>

#include <thread>

#include "kernel/support.hpp"
#include "mercer/kernel/detail/node.hpp"

namespace mercer {
namespace {

using test::complaint;
using test::moments_of;
using test::Points;

class Resolve : public testing::Test {
   protected:
    Resolve() {
        Random random(21);
        points_ = test::random_points(random, 50, 6);
        for (auto& row : points_) {
            for (std::size_t j = 0; j < row.size(); ++j)
                row[j] = 3 + static_cast<double>(j) * row[j];
        }
        moments_ = moments_of(points_);
    }

    /// 1 / (columns × variance) over the entries of these columns, in two passes.
    double scale_of(const std::vector<std::size_t>& which) const {
        const double count = static_cast<double>(which.size() * points_.size());
        double mean = 0;
        for (const auto& row : points_) {
            for (const std::size_t j : which) mean += row[j] / count;
        }
        double variance = 0;
        for (const auto& row : points_) {
            for (const std::size_t j : which) {
                variance += (row[j] - mean) * (row[j] - mean) / count;
            }
        }
        return 1 / (static_cast<double>(which.size()) * variance);
    }

    static double gamma_of(const Kernel& k) {
        const KernelNode* node = &k.node();
        while (!node->children.empty()) node = &node->children.front().node();
        return node->parameter("gamma");
    }

    Points points_;
    ColumnMoments moments_;
    const std::vector<std::string> names_ = {"a", "b", "age", "d", "sepal length", "f"};
};

TEST_F(Resolve, ScaleIsOneOverColumnsTimesVariance) {
    EXPECT_TRUE(rbf().needs_data());
    const Kernel k = rbf().resolve(moments_);
    EXPECT_FALSE(k.needs_data());
    EXPECT_NEAR(gamma_of(k), scale_of({0, 1, 2, 3, 4, 5}), 1e-12);
    EXPECT_EQ(Kernel::parse(k.text()), k);
    EXPECT_EQ(gamma_of(rbf({.gamma = auto_rule}).resolve(moments_)), 1.0 / 6);
    EXPECT_EQ(gamma_of(laplacian().resolve(moments_)), 1.0 / 6);
    EXPECT_NEAR(gamma_of(Kernel::parse("poly(2, gamma=scale)").resolve(moments_)),
                scale_of({0, 1, 2, 3, 4, 5}), 1e-12);
}

TEST_F(Resolve, ARuleSeesOnlyTheColumnsOfItsSubset) {
    EXPECT_NEAR(gamma_of(Kernel::parse("rbf[1:3]").resolve(moments_)), scale_of({1, 2}), 1e-12);
    EXPECT_NEAR(gamma_of(Kernel::parse("rbf[4,2]").resolve(moments_)), scale_of({2, 4}), 1e-12);
    EXPECT_NEAR(gamma_of(Kernel::parse("rbf[2:6][1:3]").resolve(moments_)), scale_of({3, 4}),
                1e-12);
    EXPECT_NEAR(gamma_of(Kernel::parse("(2*rbf)[age,\"sepal length\"]").resolve(moments_, names_)),
                scale_of({2, 4}), 1e-12);
    EXPECT_EQ(gamma_of(Kernel::parse("rbf(gamma=auto)[1:3]").resolve(moments_)), 0.5);
}

TEST_F(Resolve, NamesBecomePositions) {
    const Kernel k = Kernel::parse("linear[age,\"sepal length\"] + linear[1:5][age]");
    EXPECT_TRUE(k.needs_data());
    // Within columns 1 to 4, "age" is the second.
    EXPECT_EQ(k.resolve(moments_, names_).text(), "linear[2,4] + linear[1:5][1]");
    EXPECT_EQ(
        Kernel::parse("map(linear, age^2, \"sepal length\")").resolve(moments_, names_).text(),
        "map(linear, x2^2, x4)");
    EXPECT_EQ(Kernel::parse("outer(age)[2:6]").resolve(moments_, names_).text(), "outer(x0)[2:6]");
}

TEST_F(Resolve, EqualEntriesGiveOne) {
    const Points equal(5, std::vector<double>{0.1, 0.1, 0.1});
    EXPECT_EQ(gamma_of(rbf().resolve(moments_of(equal))), 1.0);
}

TEST_F(Resolve, MistakesNameWhatIsThere) {
    const auto of = [&](const char* text, bool named = true) {
        return complaint([&] {
            Kernel::parse(text).resolve(moments_, named ? std::span<const std::string>(names_)
                                                        : std::span<const std::string>());
        });
    };
    EXPECT_EQ(of("linear[4:10]"), "column 9 of [4:10] is not there; there are 6 columns, 0 to 5");
    EXPECT_EQ(of("linear[7]"), "column 7 of [7] is not there; there are 6 columns, 0 to 5");
    EXPECT_EQ(of("linear[2:6][5]"), "column 5 of [5] is not there; there are 4 columns, 0 to 3");
    EXPECT_EQ(of("linear[0,0]"), "column 0 appears twice in a subset");
    EXPECT_EQ(of("linear[2,age]"), "column 2 appears twice in a subset");
    EXPECT_EQ(of("linear[agee]"), "there is no column 'agee'; did you mean 'age'?");
    EXPECT_EQ(of("linear[age]", false),
              "there is no column 'age'; no column names are known here, use numbers");
    EXPECT_EQ(of("map(linear, x9)"),
              "the formula 'x9' uses column 9, but there are 6 columns, 0 to 5");
    EXPECT_EQ(of("map(rbf, x0)"),
              "gamma=scale of rbf inside map or sets is not known from the data's columns; give a "
              "number, or gamma=auto for 1 / (number of coordinates)");
    EXPECT_EQ(of("sets(linear, width=4)"),
              "sets of width 4 need rows of a multiple of 4 columns, found 6");
    EXPECT_EQ(of("bilinear([[1]])"),
              "bilinear has a matrix of 1 rows and columns, but there are 6 columns, 0 to 5");
    EXPECT_EQ(complaint([] { rbf().resolve(ColumnMoments{}); }),
              "gamma of rbf cannot be found from data without columns; give a number");
}

TEST_F(Resolve, AutoBehindMapsAndSetsCountsCoordinates) {
    EXPECT_EQ(gamma_of(Kernel::parse("map(rbf(gamma=auto), x0, x1^2)").resolve(moments_)), 0.5);
    EXPECT_EQ(gamma_of(Kernel::parse("sets(rbf(gamma=auto), width=3)").resolve(moments_)), 1.0 / 3);
}

TEST_F(Resolve, LeavesAKernelWithoutRulesAsItIs) {
    const Kernel k = Kernel::parse("rbf(gamma=0.5)[0:3] + 0.3*polynomial(degree=2)");
    EXPECT_FALSE(k.needs_data());
    EXPECT_EQ(k.resolve(moments_), k);
}

TEST(ColumnSetTest, PositionsInTheOrderWritten) {
    const Kernel k = Kernel::parse("linear[4:6,0,2:]");
    const ColumnSet& set = k.node().subset;
    EXPECT_EQ(set.text(), "4:6,0,2:");
    EXPECT_THROW(set.positions(7), InvalidInput);  // 4 and 5 are in 2: again
    EXPECT_EQ(Kernel::parse("linear[4:6,0]").node().subset.positions(6),
              (std::vector<std::size_t>{4, 5, 0}));
    EXPECT_THROW(linear()[ColumnSet{}], InvalidInput);
    EXPECT_THROW(linear()[columns(3, 3)], InvalidInput);
    // A range that no memory could hold is refused before anything is allocated.
    EXPECT_THROW(linear()[columns(0, std::size_t{1} << 60)].node().subset.positions(10),
                 InvalidInput);
}

TEST(UserFunction, IsFoundByNameAndKeepsItsFunction) {
    const auto twice = [](std::span<const double> x, std::span<const double> z) {
        return 2 * x[0] * z[0];
    };
    const auto thrice = [](std::span<const double> x, std::span<const double> z) {
        return 3 * x[0] * z[0];
    };
    const std::vector<double> one = {1};
    const Kernel first = function("resolve_test_f", twice, true);
    EXPECT_EQ(first.text(), "user(resolve_test_f)");
    EXPECT_EQ(Kernel::parse("user(resolve_test_f)")(one, one), 2);
    function("resolve_test_f", thrice);
    EXPECT_EQ(first(one, one), 2);
    EXPECT_EQ(Kernel::parse(first.text())(one, one), 3);
    EXPECT_THROW(function("two words", twice), InvalidInput);
    EXPECT_THROW(function("empty", {}), InvalidInput);
    EXPECT_THROW(Kernel::parse("user(nobody_registered_this)"), InvalidInput);
}

TEST(UserFunction, RegistryMayBeUsedFromManyThreads) {
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t) {
        threads.emplace_back([t] {
            for (int i = 0; i < 200; ++i) {
                const std::string name = "thread_f" + std::to_string((t + i) % 5);
                function(name, [](auto, auto) { return 1.0; });
                Kernel::parse("user(" + name + ")");
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(Kernel::parse("user(thread_f0)").text(), "user(thread_f0)");
}

}  // namespace
}  // namespace mercer
