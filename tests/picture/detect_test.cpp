// Detection: a thing put into a picture at a known place is found there and nowhere else.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/learn/compress/cascade.hpp"
#include "mercer/learn/compress/reduce.hpp"
#include "mercer/picture/detect.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer {
namespace {

/// How bright a ring in a square is at a place of it, both from −1 to 1.
double ring(double y, double x) {
    return std::exp(-20 * std::pow(std::hypot(y, x) - 0.6, 2));
}

/// Patches of 9 × 9: rings (class 1) and smooth noise (class 0), contrast taken out.
Dataset patches(std::size_t n, std::uint64_t seed) {
    Random random(seed);
    Dataset data;
    std::vector<double> values;
    for (std::size_t i = 0; i < n; ++i) {
        const double a = random.normal(), b = random.normal(), c = random.normal();
        for (std::size_t p = 0; p < 81; ++p) {
            const double y = (static_cast<double>(p / 9) - 4) / 4.5;
            const double x = (static_cast<double>(p % 9) - 4) / 4.5;
            const double smooth = a * y + b * x + c * std::sin(3 * x + a) + random.normal() * 0.3;
            values.push_back(i % 2 == 1 ? ring(y, x) + 0.1 * random.normal() : smooth);
        }
        data.y.values.push_back(static_cast<double>(i % 2));
    }
    data.x = transformed(Rows::dense(std::move(values), 81), contrast_row()).to_float();
    return data;
}

/// A noisy picture with two rings of different size.
Image picture() {
    Random random(7);
    Image image = Image::filled(60, 80, 1, 0);
    for (std::size_t i = 0; i < 60; ++i) {
        for (std::size_t j = 0; j < 80; ++j) {
            double v = 80 + 20 * std::sin(0.1 * static_cast<double>(i + j)) + 6 * random.normal();
            const double y = static_cast<double>(i), x = static_cast<double>(j);
            v += 110 * ring((y - 14) / 4.5, (x - 20) / 4.5);
            v += 110 * ring((y - 38) / 9, (x - 60) / 9);
            image.at(i, j) = static_cast<std::uint8_t>(std::clamp(v, 0.0, 255.0));
        }
    }
    return image;
}

TEST(Detect, FindsWhatIsThereAtItsPlaceAndSize) {
    const Dataset data = patches(600, 1);
    const Model model = svc({.kernel = rbf({.gamma = 0.01}), .C = 10}).fit(data);
    const DetectSettings settings{.height = 9, .width = 9, .keep = "1", .threshold = 0.3};
    const DetectRun run = detect(model, picture(), settings);
    ASSERT_EQ(run.found.size(), 2U);
    std::vector<Detection> found = run.found;
    std::ranges::sort(found, {}, &Detection::left);
    EXPECT_NEAR(found[0].top + found[0].height / 2, 14.5, 2);
    EXPECT_NEAR(found[0].left + found[0].width / 2, 20.5, 2);
    EXPECT_NEAR(found[0].height, 9, 3);
    EXPECT_NEAR(found[1].top + found[1].height / 2, 38.5, 2.5);
    EXPECT_NEAR(found[1].left + found[1].width / 2, 60.5, 2.5);
    EXPECT_NEAR(found[1].height, 18, 5);
    EXPECT_EQ(run.average_kernels, static_cast<double>(model.expansion().size()));

    // A cascade accepts no patch that its whole machine rejects, and needs fewer kernels.
    const Model small =
        reduce(model, {.vectors = 40, .method = ReduceMethod::sequential, .joint = false}).model;
    const Model quick = cascade(small, data, {.keep = "1", .false_negatives = 0});
    const DetectSettings wide{.height = 9, .width = 9, .keep = "1"};
    const DetectRun slow = detect(small, picture(), wide), fast = detect(quick, picture(), wide);
    EXPECT_EQ(fast.patches, slow.patches);
    EXPECT_LE(fast.accepted, slow.accepted);
    EXPECT_LT(fast.average_kernels, 0.6 * slow.average_kernels);
    EXPECT_TRUE(std::ranges::is_sorted(fast.left, std::greater<>()));
    ASSERT_FALSE(fast.found.empty());
    const double y = fast.found[0].top + fast.found[0].height / 2;
    const double x = fast.found[0].left + fast.found[0].width / 2;
    EXPECT_LT(std::min(std::hypot(y - 14.5, x - 20.5), std::hypot(y - 38.5, x - 60.5)), 3);
}

TEST(Detect, EveryPatchOfEveryScaleIsLookedAt) {
    const Model model = svc({.kernel = linear(), .C = 1}).fit(patches(40, 2));
    const Image image = Image::filled(20, 30, 1, 50);
    const DetectRun run =
        detect(model, image, {.height = 9, .width = 9, .keep = "1", .scale = 2, .threshold = 1e9});
    // 20 × 30 and 10 × 15.
    EXPECT_EQ(run.scales, 2U);
    EXPECT_EQ(run.patches, 12U * 22U + 2U * 7U);
    EXPECT_TRUE(run.found.empty());
    const DetectRun coarse =
        detect(model, image, {.height = 9, .width = 9, .largest = 0.5, .step = 2});
    EXPECT_EQ(coarse.patches, 1U * 4U);
}

TEST(Detect, BoxesAreDrawnAndBadInputIsRefused) {
    const Image image = Image::filled(10, 10, 1, 9);
    const std::vector<Detection> boxes{{.top = 2, .left = 3, .height = 5, .width = 4},
                                       {.top = -3, .left = 8, .height = 9, .width = 9}};
    const Image drawn = with_boxes(image, boxes);
    EXPECT_EQ(drawn.channels, 3U);
    EXPECT_EQ(drawn.at(2, 3, 0), 255);
    EXPECT_EQ(drawn.at(9, 0, 0), 9);
    const Model model = svc({.kernel = linear(), .C = 1}).fit(patches(40, 2));
    EXPECT_THROW(detect(model, image, {}), InvalidInput);  // 19 × 19
    EXPECT_THROW(detect(model, Image::filled(5, 5, 1, 0), {.height = 9, .width = 9}), InvalidInput);
    EXPECT_THROW(detect(model, image, {.height = 9, .width = 9, .keep = "cat"}), InvalidInput);
    EXPECT_THROW(detect(model, image, {.height = 9, .width = 9, .scale = 1}), InvalidInput);
    EXPECT_THROW(detect(model, image, {.height = 9, .width = 9, .step = 0}), InvalidInput);
    EXPECT_THROW(detect(model, image,
                        {.height = 9, .width = 9, .progress = [](const Moment&) { return false; }}),
                 Cancelled);
}

}  // namespace
}  // namespace mercer
