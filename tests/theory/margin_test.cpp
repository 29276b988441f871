// The margin of given planes against the definition, and against the plane of largest margin.
#include "mercer/theory/margin.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "data/support.hpp"
#include "learn/small.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/svm/svm.hpp"

namespace mercer {
namespace {

using testing::message_of;

Dataset two_clouds(double apart) {
    Random random(3);
    std::vector<std::vector<double>> rows;
    std::vector<double> signs;
    for (int i = 0; i < 40; ++i) {
        const double sign = i % 2 == 0 ? 1 : -1;
        rows.push_back({sign * apart + random.normal(), random.normal()});
        signs.push_back(sign);
    }
    return testing::points(rows, signs);
}

TEST(PlaneMargin, IsTheDefinitionOf003) {
    const Dataset data = testing::points({{3, 4}, {0, 0}, {6, 8}, {0, -1}}, {1, -1, 1, -1});
    const PlaneMargin m = plane_margin({.w = {3, 4}, .b = -5}, data);
    EXPECT_EQ(m.norm, 5);
    EXPECT_EQ(m.positive, "1");
    EXPECT_EQ(m.rows, (std::vector<double>{20, 5, 45, 9}));
    EXPECT_EQ(m.functional, 5);
    EXPECT_EQ(m.geometric, 1);
    EXPECT_TRUE(m.separates());
    EXPECT_EQ(m.nearest, (std::vector<std::size_t>{1, 3, 0, 2}));
    // Turned round all are wrong, unless the other class is the positive one.
    const PlaneMargin turned = plane_margin({.w = {-3, -4}, .b = 5}, data);
    EXPECT_EQ(turned.errors, 4U);
    EXPECT_EQ(turned.geometric, -9);
    EXPECT_EQ(plane_margin({.w = {-3, -4}, .b = 5}, data, "-1").geometric, 1);
    // The geometric margin does not see the length of w, the functional one does.
    const PlaneMargin longer = plane_margin({.w = {6, 8}, .b = -10}, data);
    EXPECT_EQ(longer.functional, 10);
    EXPECT_EQ(longer.geometric, 1);
    // A row on the plane is on no side.
    EXPECT_EQ(plane_margin({.w = {3, 4}, .b = 0}, data).errors, 1U);
}

TEST(PlaneMargin, IsLargestForTheHardMargin) {
    const Dataset data = two_clouds(5);
    const Model model =
        Svm(testing::closely({.task = Task::hard_margin, .common = {.kernel = linear()}}))
            .fit(data);
    const PlaneMargin best = plane_margin(model, data);
    EXPECT_NEAR(best.functional, 1, 1e-5);
    EXPECT_NEAR(best.geometric, model.report().margin, 1e-5);
    const Matrix<double> w = weight_vectors(model.expansion());
    // Whose class is positive is the model's to say.
    const PlaneMargin by_hand =
        plane_margin({.w = {w(0, 0), w(0, 1)}, .b = model.expansion().bias[0]}, data,
                     model.class_names().front());
    EXPECT_NEAR(by_hand.geometric, best.geometric, 1e-6);
    Random random(4);
    for (int trial = 0; trial < 300; ++trial) {
        const Hyperplane other{.w = {w(0, 0) * random.uniform(0.5, 1.5), w(0, 1) + random.normal()},
                               .b = model.expansion().bias[0] + random.normal()};
        EXPECT_LE(plane_margin(other, data, best.positive).geometric, best.geometric + 1e-6);
    }
}

TEST(PlaneMargin, OfAMachineIsMeasuredInItsFeatureSpace) {
    const Dataset data = two_clouds(0.3);
    const Model model = Svm(testing::closely({.task = Task::hard_margin,
                                              .common = {.kernel = rbf({.gamma = 3.0})}}))
                            .fit(data);
    const PlaneMargin m = plane_margin(model, data);
    EXPECT_TRUE(m.separates());
    EXPECT_NEAR(m.geometric, model.report().margin, 1e-4 * m.geometric);
}

TEST(PlaneMargin, RefusesWhatIsNoPlaneOrNotTwoClasses) {
    const Dataset data = two_clouds(1);
    const auto message = [&](const Hyperplane& plane, const Dataset& rows,
                             const char* positive = "") {
        return message_of([&] { (void)plane_margin(plane, rows, positive); });
    };
    EXPECT_NE(message({.w = {1}}, data).find("1 weights"), std::string::npos);
    EXPECT_NE(message({.w = {0, 0}, .b = 1}, data).find("no plane"), std::string::npos);
    EXPECT_NE(message({.w = {1, NAN}}, data).find("finite"), std::string::npos);
    EXPECT_NE(message({.w = {1, 1}}, data, "7").find("no class '7'"), std::string::npos);
    const Dataset three = testing::points({{1}, {2}, {3}}, {1, 2, 3});
    EXPECT_NE(message({.w = {1}}, three).find("have 3"), std::string::npos);
    const Model regression = svr({.kernel = linear()}).fit(data);
    EXPECT_NE(message_of([&] { (void)plane_margin(regression, data); }).find("svr"),
              std::string::npos);
}

}  // namespace
}  // namespace mercer
