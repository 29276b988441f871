// Pictures made larger and smaller, and the two measures of likeness.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "data/support.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/picture/image.hpp"

namespace mercer {
namespace {

Plane from(std::size_t rows, std::size_t columns, double (*f)(double, double)) {
    Plane p(rows, columns);
    for (std::size_t i = 0; i < rows; ++i) {
        for (std::size_t j = 0; j < columns; ++j) {
            p(i, j) = f(static_cast<double>(i), static_cast<double>(j));
        }
    }
    return p;
}

Image noise(std::size_t height, std::size_t width, std::size_t channels, std::uint64_t seed) {
    Random random(seed);
    Image image = Image::filled(height, width, channels, 0);
    for (auto& p : image.pixels) p = static_cast<std::uint8_t>(random.below(256));
    return image;
}

TEST(ImageResize, ShrinkingTakesMeansAndCutsWhatIsLeftOver) {
    Plane p(3, 5);
    for (std::size_t k = 0; k < 15; ++k) p.values()[k] = static_cast<double>(k);
    const Plane s = shrink(p, 2);
    ASSERT_EQ(s.rows(), 1U);
    ASSERT_EQ(s.columns(), 2U);
    EXPECT_DOUBLE_EQ(s(0, 0), (0 + 1 + 5 + 6) / 4.0);
    EXPECT_DOUBLE_EQ(s(0, 1), (2 + 3 + 7 + 8) / 4.0);
    EXPECT_THROW(shrink(p, 4), InvalidInput);
    EXPECT_THROW(shrink(p, 0), InvalidInput);
}

TEST(ImageResize, EnlargingKeepsConstantsAndStraightLinesInPlace) {
    for (const std::size_t factor : {2U, 3U, 4U}) {
        for (const Interpolation way : {Interpolation::bilinear, Interpolation::bicubic}) {
            const Plane line = from(8, 9, [](double i, double j) { return 3 * i - 2 * j + 50; });
            const Plane large = enlarge(line, factor, way);
            ASSERT_EQ(large.rows(), 8 * factor);
            // Away from the border: at the place of the large pixel's centre, to the last digits.
            const auto f = static_cast<double>(factor);
            for (std::size_t i = 2 * factor; i < 6 * factor; ++i) {
                for (std::size_t j = 2 * factor; j < 7 * factor; ++j) {
                    const double y = (static_cast<double>(i) + 0.5) / f - 0.5;
                    const double x = (static_cast<double>(j) + 0.5) / f - 0.5;
                    ASSERT_NEAR(large(i, j), 3 * y - 2 * x + 50, 1e-10);
                }
            }
            // And the centres agree: shrinking a straight line gives it back.
            const Plane back = shrink(large, factor);
            ASSERT_NEAR(back(4, 4), line(4, 4), 1e-10);
            const Plane flat = enlarge(from(4, 4, [](double, double) { return 7.0; }), factor, way);
            for (const double v : flat.values()) ASSERT_NEAR(v, 7, 1e-12);
        }
    }
    // The cubic is exact on parabolas too, the straight lines are not.
    const Plane square = from(9, 9, [](double, double j) { return j * j; });
    EXPECT_NEAR(enlarge(square, 2, Interpolation::bicubic)(8, 8), 3.75 * 3.75, 1e-10);
    EXPECT_GT(enlarge(square, 2, Interpolation::bilinear)(8, 8), 3.75 * 3.75 + 0.1);
}

TEST(ImageResize, RepeatedPixelsShrinkBackToThemselves) {
    const Image image = noise(5, 7, 3, 1);
    const Image large = enlarge(image, 3, Interpolation::nearest);
    EXPECT_EQ(large.height, 15U);
    EXPECT_EQ(shrink(large, 3).pixels, image.pixels);
    EXPECT_THROW(enlarge(image, std::size_t{1} << 20, Interpolation::nearest), InvalidInput);
}

TEST(ImageResize, LuminanceGoesThereAndBack) {
    const Image image = noise(6, 6, 3, 2);
    EXPECT_EQ(image_of_luminance(luminance_planes(image)).pixels, image.pixels);
    const Image grey = noise(6, 6, 1, 3);
    EXPECT_EQ(image_of_luminance(luminance_planes(grey)).pixels, grey.pixels);
    EXPECT_NEAR(luminance_planes(image)[0](2, 2),
                0.299 * image.at(2, 2, 0) + 0.587 * image.at(2, 2, 1) + 0.114 * image.at(2, 2, 2),
                1e-12);
}

TEST(ImageQuality, PsnrIsTheLogarithmOfTheMeanSquare) {
    const Image a = Image::filled(4, 4, 1, 100);
    Image b = a;
    b.at(1, 1) = 110;
    EXPECT_NEAR(psnr(a, b), 10 * std::log10(255.0 * 255.0 / (100.0 / 16)), 1e-12);
    EXPECT_EQ(psnr(a, a), std::numeric_limits<double>::infinity());
    // Only the inner 2 × 2 pixels.
    EXPECT_NEAR(psnr(a, b, 1), 10 * std::log10(255.0 * 255.0 / (100.0 / 4)), 1e-12);
    EXPECT_THROW(psnr(a, Image::filled(4, 5, 1, 0)), InvalidInput);
    EXPECT_THROW(psnr(a, b, 2), InvalidInput);
}

/// The definition at one place: moments under the window of 11 × 11, σ = 1.5.
double ssim_at(const Image& a, const Image& b, std::size_t top, std::size_t left) {
    double sum = 0, x = 0, y = 0, xx = 0, yy = 0, xy = 0;
    for (int i = -5; i <= 5; ++i) {
        for (int j = -5; j <= 5; ++j) {
            const double w = std::exp(-(i * i + j * j) / 4.5);
            const double p =
                a.at(top + static_cast<std::size_t>(i + 5), left + static_cast<std::size_t>(j + 5));
            const double q =
                b.at(top + static_cast<std::size_t>(i + 5), left + static_cast<std::size_t>(j + 5));
            sum += w;
            x += w * p;
            y += w * q;
            xx += w * p * p;
            yy += w * q * q;
            xy += w * p * q;
        }
    }
    x /= sum;
    y /= sum;
    const double vx = xx / sum - x * x, vy = yy / sum - y * y, vxy = xy / sum - x * y;
    return (2 * x * y + 6.5025) * (2 * vxy + 58.5225) /
           ((x * x + y * y + 6.5025) * (vx + vy + 58.5225));
}

TEST(ImageQuality, SsimIsTheMeanOfTheDefinition) {
    const Image a = noise(13, 12, 1, 4);
    Image b = a;
    for (std::size_t k = 0; k < b.pixels.size(); k += 3) {
        b.pixels[k] = static_cast<std::uint8_t>(b.pixels[k] / 2);
    }
    double mean = 0;
    for (std::size_t i = 0; i < 3; ++i) {
        for (std::size_t j = 0; j < 2; ++j) mean += ssim_at(a, b, i, j) / 6;
    }
    EXPECT_NEAR(ssim(a, b), mean, 1e-12);
    EXPECT_NEAR(ssim(a, a), 1, 1e-12);
    EXPECT_THROW(ssim(noise(10, 40, 1, 1), noise(10, 40, 1, 1)), InvalidInput);
}

}  // namespace
}  // namespace mercer
