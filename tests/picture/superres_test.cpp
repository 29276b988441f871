// Super-resolution: on pictures whose details follow from the rest, more comes back than any
// interpolation has; the model goes through a file; what is refused.
#include <gtest/gtest.h>

#include <cmath>

#include "learn/small.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/persist/model_file.hpp"
#include "mercer/picture/superres.hpp"

namespace mercer {
namespace {

using testing::message_of;

/// Sharp edges in every direction: dark and light areas divided by random lines.
Image edges(std::size_t side, std::uint64_t seed) {
    Random random(seed);
    const double half = static_cast<double>(side) / 2;
    Matrix<double> sign(side, side, 1.0);
    for (int line = 0; line < 4; ++line) {
        const double angle = random.uniform(0, 6.283), offset = random.uniform(-0.6, 0.6) * half;
        for (std::size_t i = 0; i < side; ++i) {
            for (std::size_t j = 0; j < side; ++j) {
                const double place = std::cos(angle) * (static_cast<double>(i) - half) +
                                     std::sin(angle) * (static_cast<double>(j) - half);
                sign(i, j) *= std::tanh((place - offset) / 0.6);
            }
        }
    }
    Image image = Image::filled(side, side, 1, 0);
    for (std::size_t k = 0; k < image.pixels.size(); ++k) {
        image.pixels[k] = static_cast<std::uint8_t>(std::lround(127 + 100 * sign.values()[k]));
    }
    return image;
}

SuperresSettings quick() {
    SuperresSettings s;
    s.patch = 6;
    s.stride = 2;
    s.sample = 1500;
    s.hebbian.common.kernel = rbf({.gamma = 1.0 / 144});
    s.hebbian.components = 30;
    s.hebbian.dictionary = 200;
    s.hebbian.window = 800;
    s.hebbian.passes = 3;
    s.preimage.iterations = 20;
    return s;
}

TEST(Superres, BringsBackEdgesThatInterpolationBlurs) {
    const std::vector<Image> examples{edges(96, 1), edges(96, 2), edges(96, 3)};
    const Image original = edges(64, 9);
    const Image small = shrink(original, 2);
    const SuperResolution learnt = SuperResolution::learn(examples, quick());
    const Image large = learnt.enlarge(small);
    ASSERT_EQ(large.height, 64U);
    const double bicubic = psnr(enlarge(small, 2, Interpolation::bicubic), original, 2);
    const double bilinear = psnr(enlarge(small, 2, Interpolation::bilinear), original, 2);
    EXPECT_GT(psnr(large, original, 2), bicubic + 0.2);
    EXPECT_GT(bicubic, bilinear);
    // The nearest example patch does something of the kind.
    const PatchPairs pairs = draw_patches(examples, 2, 6, 1500, 1);
    EXPECT_GT(psnr(enlarge_by_nearest(small, 2, pairs, 2), original, 2), bicubic - 1);
    // A model from a file does the same.
    SuperResolution back(load_from_memory(save_to_memory(learnt.model())));
    back.preimage = learnt.preimage;
    back.stride = learnt.stride;
    EXPECT_EQ(back.enlarge(small).pixels, large.pixels);
}

TEST(Superres, LargePatchesAloneTeachDetailsToo) {
    const std::vector<Image> examples{edges(96, 1), edges(96, 2), edges(96, 3)};
    const Image original = edges(64, 9);
    const Image small = shrink(original, 2);
    SuperresSettings s = quick();
    s.kind = PatchKind::large;
    const SuperResolution learnt = SuperResolution::learn(examples, s);
    EXPECT_EQ(learnt.model().columns(), s.patch * s.patch);
    const Image large = learnt.enlarge(small);
    const Image bicubic = enlarge(small, 2, Interpolation::bicubic);
    EXPECT_GT(psnr(large, original, 2), psnr(bicubic, original, 2) + 0.2);
    SuperResolution back(load_from_memory(save_to_memory(learnt.model())));
    EXPECT_EQ(back.kind(), PatchKind::large);
    back.preimage = learnt.preimage;
    back.stride = learnt.stride;
    EXPECT_EQ(back.enlarge(small).pixels, large.pixels);
    // A model of pairs is not taken for one of large patches.
    ModelParts other = SuperResolution::learn(examples, quick()).model().parts();
    other.trained.numbers["large"] = 1;
    EXPECT_THROW(SuperResolution{Model(other)}, InvalidInput);
}

TEST(Superres, FlatPicturesStayFlatAndColoursAreKept) {
    const std::vector<Image> examples{edges(64, 1)};
    SuperresSettings s = quick();
    s.sample = 300;
    s.hebbian.passes = 1;
    const SuperResolution learnt = SuperResolution::learn(examples, s);
    Image red = Image::filled(10, 12, 3, 20);
    for (std::size_t k = 0; k < red.pixels.size(); k += 3) red.pixels[k] = 200;
    const Image large = learnt.enlarge(red);
    ASSERT_EQ(large.width, 24U);
    ASSERT_EQ(large.channels, 3U);
    EXPECT_EQ(large.at(7, 7, 0), 200);
    EXPECT_EQ(large.at(7, 7, 2), 20);
}

TEST(Superres, PatchesAreWhatTheySay) {
    const std::vector<Image> examples{edges(48, 5)};
    const PatchPairs pairs = draw_patches(examples, 2, 6, 50, 3);
    ASSERT_EQ(pairs.low.rows(), 50U);
    for (std::size_t t = 0; t < 50; ++t) {
        double mean = 0, square = 0, high = 0;
        for (std::size_t k = 0; k < 36; ++k) {
            mean += pairs.low(t, k) / 36;
            square += pairs.low(t, k) * pairs.low(t, k) / 36;
            high += std::abs(pairs.high(t, k));
        }
        EXPECT_NEAR(mean, 0, 1e-12);
        EXPECT_NEAR(square, 1, 1e-12);
        EXPECT_GT(high, 0);
    }
    const PatchPairs again = draw_patches(examples, 2, 6, 50, 3);
    EXPECT_EQ(again.low.values(), pairs.low.values());
}

TEST(Superres, RefusesWhatItCannotDo) {
    const std::vector<Image> examples{edges(48, 5)};
    const std::vector<Image> flat{Image::filled(48, 48, 1, 9)};
    EXPECT_NE(message_of([&] { draw_patches(flat, 2, 6, 10, 1); }).find("flat"), std::string::npos);
    EXPECT_THROW(draw_patches(examples, 1, 6, 10, 1), InvalidInput);
    EXPECT_THROW(draw_patches(examples, 2, 60, 10, 1), InvalidInput);
    EXPECT_THROW(draw_patches({}, 2, 6, 10, 1), InvalidInput);
    SuperresSettings s = quick();
    s.sample = 100;
    s.hebbian.dictionary = 20;
    s.hebbian.passes = 1;
    const SuperResolution learnt = SuperResolution::learn(examples, s);
    EXPECT_THROW(learnt.enlarge(Image::filled(2, 2, 1, 0)), InvalidInput);
    EXPECT_THROW(learnt.enlarge(edges(32, 1), [](const Moment&) { return false; }), Cancelled);
    ModelParts other = learnt.model().parts();
    other.trained.numbers["patch"] = 7;
    EXPECT_THROW(SuperResolution{Model(other)}, InvalidInput);
    other.trained.numbers.erase("factor");
    EXPECT_THROW(SuperResolution{Model(other)}, InvalidInput);
}

}  // namespace
}  // namespace mercer
