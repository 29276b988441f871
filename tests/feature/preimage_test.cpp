// Pre-images: distances as they are, stationary points, and vectors that have an exact one.
#include "mercer/feature/preimage.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "learn/small.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/parallel.hpp"
#include "mercer/base/random.hpp"
#include "mercer/data/samples.hpp"
#include "mercer/picture/denoise.hpp"

namespace mercer {
namespace {

using testing::message_of;
using testing::points;
using testing::with_double_rows;

using Vector = std::vector<double>;

constexpr PreimageMethod all_methods[] = {PreimageMethod::fixed_point, PreimageMethod::gradient,
                                          PreimageMethod::distance, PreimageMethod::regression,
                                          PreimageMethod::best};

/// ‖β Φ(z) − Ψ‖² by the geometry of feature/geometry.hpp.
double distance_of(const FeatureVector& target, const Preimage& p) {
    return std::pow(distance(p.factor * image(target.kernel(), p.z), target), 2);
}

FeatureVector cloud(const Kernel& kernel, std::size_t n, std::size_t columns, std::uint64_t seed) {
    Random random(seed);
    Vector values(n * columns);
    for (double& value : values) value = random.normal();
    Vector coefficients(n);
    for (double& value : coefficients) value = random.uniform(-0.2, 1) / static_cast<double>(n);
    return {kernel, Rows::dense(std::move(values), columns), std::move(coefficients)};
}

TEST(Preimage, ReportsTheDistanceItReached) {
    for (const char* text : {"rbf(gamma=0.5)", "2*rbf(gamma=0.3)"}) {
        const FeatureVector target = cloud(Kernel::parse(text), 40, 3, 1);
        for (const PreimageMethod method : all_methods) {
            for (const bool free : {false, true}) {
                const Preimage p = preimage(target, {.method = method, .free_factor = free});
                EXPECT_NEAR(p.squared_distance, distance_of(target, p), 1e-10)
                    << text << ' ' << preimage_method_name(method);
                EXPECT_TRUE(free || p.factor == 1);
            }
        }
    }
}

/// Ψ = Φ(x) has the pre-image x, and every method finds a point of the sample; iteration finds any.
TEST(Preimage, AnImageIsFoundAgain) {
    const Dataset sample = with_double_rows(make("moons", {.n = 60, .noise = 0.1}));
    Vector one(60, 0.0);
    one[17] = 1;
    Vector x(2);
    sample.x.copy_row(17, x);
    for (const char* text :
         {"rbf(gamma=2)", "polynomial(degree=3)", "rational_quadratic(alpha=1,length=1)",
          "matern(nu=2.5,length=1)", "linear", "rbf(gamma=1) + 0.1*linear"}) {
        const FeatureVector target(Kernel::parse(text), sample.x, one);
        const Preimage p = preimage(target);
        EXPECT_NEAR(p.squared_distance, 0, 1e-9) << text;
        for (std::size_t c = 0; c < 2; ++c) EXPECT_NEAR(p.z[c], x[c], 1e-3) << text;
    }
    const FeatureVector target(rbf({.gamma = 2.0}), sample.x, one);
    for (const PreimageMethod method : all_methods) {
        const Preimage p = preimage(target, {.method = method});
        EXPECT_LT(p.squared_distance, 1e-2) << preimage_method_name(method);
    }
}

/// With β free 3 Φ(x) is 3 times the image of x.
TEST(Preimage, TheFactorIsFound) {
    const Dataset sample = points({{0, 0}, {1, 0.5}, {-1, 2}, {2, -1}});
    const FeatureVector target(rbf({.gamma = 1.0}), sample.x, {0, -3, 0, 0});
    const Preimage p = preimage(target, {.free_factor = true});
    EXPECT_NEAR(p.squared_distance, 0, 1e-10);
    EXPECT_NEAR(p.factor, -3, 1e-6);
    EXPECT_NEAR(p.z[0], 1, 1e-4);
    EXPECT_NEAR(p.z[1], 0.5, 1e-4);
}

/// At the end the gradient of the distance is 0: by finite differences, for kernels whose sums go
/// through the Gram engine and for one that goes pair by pair.
TEST(Preimage, IterationEndsWhereTheGradientVanishes) {
    for (const char* text :
         {"rbf(gamma=0.5)", "polynomial(degree=2,gamma=0.5)", "sigmoid(gamma=0.1)",
          "matern(nu=2.5,length=2)", "inverse_multiquadric(c=1)"}) {
        const FeatureVector target = cloud(Kernel::parse(text), 30, 4, 2);
        for (const bool free : {false, true}) {
            PreimageSettings settings{.method = PreimageMethod::gradient, .free_factor = free};
            settings.iterations = 1000;
            const Preimage p = preimage(target, settings);
            const auto at = [&](const Vector& z) {
                Preimage moved = p;
                moved.z = z;
                if (free) {
                    const FeatureVector own = image(target.kernel(), z);
                    moved.factor = inner(own, target) / inner(own, own);
                }
                return distance_of(target, moved);
            };
            for (std::size_t c = 0; c < 4; ++c) {
                Vector up = p.z;
                Vector down = p.z;
                up[c] += 1e-4;
                down[c] -= 1e-4;
                EXPECT_NEAR((at(up) - at(down)) / 2e-4, 0, 2e-5) << text << " column " << c;
            }
        }
    }
}

TEST(Preimage, FixedPointIsAFixedPointAndGradientGoesNoLower) {
    const FeatureVector target = cloud(rbf({.gamma = 0.2}), 50, 3, 3);
    PreimageSettings settings{.method = PreimageMethod::fixed_point};
    settings.iterations = 5000;
    settings.tolerance = 1e-12;
    const Preimage p = preimage(target, settings);
    EXPECT_TRUE(p.converged);
    // z = Σ α_i k(x_i, z) x_i / Σ α_i k(x_i, z).
    Vector sum(3, 0.0);
    double weight = 0;
    Vector x(3);
    for (std::size_t i = 0; i < 50; ++i) {
        target.points().copy_row(i, x);
        const double w = target.coefficients()[i] * target.kernel()(x, p.z);
        weight += w;
        for (std::size_t c = 0; c < 3; ++c) sum[c] += w * x[c];
    }
    for (std::size_t c = 0; c < 3; ++c) EXPECT_NEAR(p.z[c], sum[c] / weight, 1e-8);
    settings.method = PreimageMethod::best;
    EXPECT_LE(preimage(target, settings).squared_distance, p.squared_distance + 1e-14);
}

/// Two opposite points: at their middle the denominator is exactly 0.
TEST(Preimage, AVanishingDenominatorSendsItElsewhere) {
    const Dataset two = points({{-1, 0}, {1, 0}});
    const FeatureVector target(rbf({.gamma = 1.0}), two.x, {1, -1});
    const Vector middle{0, 0};
    const Preimage p =
        preimage(target, {.method = PreimageMethod::fixed_point, .starts = 3}, middle);
    ASSERT_TRUE(std::isfinite(p.squared_distance));
    EXPECT_LT(p.z[0], -0.9) << "the positive point draws it";
    const Preimage lost =
        preimage(target, {.method = PreimageMethod::fixed_point, .starts = 1}, middle);
    EXPECT_FALSE(lost.converged);
    EXPECT_EQ(lost.z, middle);
    EXPECT_NEAR(lost.squared_distance, distance_of(target, lost), 1e-12);
}

TEST(Preimage, ManyTargetsAreAsOneByOneOnAnyNumberOfThreads) {
    const FeatureVector one = cloud(rbf({.gamma = 0.5}), 40, 3, 4);
    Matrix<double> many(150, 40);
    Random random(9);
    for (double& value : many.values()) value = random.uniform(0, 0.1);
    const PreimageFinder finder(one.kernel(), one.points());
    const std::vector<Preimage> together = finder.find(many.view());
    set_threads(1);
    const std::vector<Preimage> again = finder.find(many.view());
    set_threads(0);
    for (const std::size_t t : {0U, 127U, 128U, 149U}) {
        EXPECT_EQ(together[t].z, again[t].z);
        const Vector row(many.row(t).begin(), many.row(t).end());
        const Preimage alone = preimage({one.kernel(), one.points(), row});
        EXPECT_NEAR(together[t].squared_distance, alone.squared_distance, 1e-10);
    }
    const std::vector<Preimage> judged = finder.judge(many.view(), preimage_rows(together));
    for (std::size_t t = 0; t < 150; ++t) {
        EXPECT_NEAR(judged[t].squared_distance, together[t].squared_distance, 1e-12);
    }
}

TEST(Preimage, SaysWhatItCannotDo) {
    const Dataset two = points({{-1, 0}, {1, 0}});
    const auto message = [&](const char* kernel, PreimageMethod method) {
        return message_of([&] {
            preimage({Kernel::parse(kernel), two.x, {1, 1}}, {.method = method});
        });
    };
    EXPECT_NE(
        message("linear + rbf(gamma=1)", PreimageMethod::fixed_point).find("Gaussian kernels"),
        std::string::npos);
    EXPECT_NE(message("ball(radius=1)", PreimageMethod::gradient).find("no derivative"),
              std::string::npos);
    EXPECT_EQ(message("ball(radius=1)", PreimageMethod::best), "") << "distances do without";
    EXPECT_NE(message_of([&] { PreimageFinder(rbf(), two.x); }), "") << "gamma waits for data";
    EXPECT_NE(message_of([&] { PreimageFinder(rbf({.gamma = 1.0}), Rows{}); }), "");
    EXPECT_NE(message_of([&] { preimage_method_named("fixpoint"); }).find("fixed-point"),
              std::string::npos);
    const PreimageFinder finder(rbf({.gamma = 1.0}), two.x);
    EXPECT_NE(message_of([&] { finder.find(Matrix<double>(1, 3).view()); }), "");
    const Rows one_start = points({{0, 0}}).x;
    EXPECT_NE(message_of([&] { finder.find(Matrix<double>(2, 2).view(), one_start); }), "");
    PreimageSettings stopped;
    stopped.progress = [](const Moment&) { return false; };
    EXPECT_THROW(preimage({rbf({.gamma = 1.0}), two.x, {1, 1}}, stopped), Cancelled);
}

/// Points on a circle with noise come back to the circle.
TEST(Denoise, BringsRowsBackToTheirShape) {
    Random random(2);
    std::vector<std::vector<double>> clean;
    std::vector<std::vector<double>> noisy;
    for (int i = 0; i < 200; ++i) {
        const double a = random.uniform(0, 6.283);
        clean.push_back(
            {std::cos(a) + 0.02 * random.normal(), std::sin(a) + 0.02 * random.normal()});
        noisy.push_back({1.2 * std::cos(a), 1.2 * std::sin(a)});
    }
    const Model model = kernel_pca({.common = {.kernel = rbf({.gamma = 1.0}),
                                               .scaling = ScalingRule::parse("standard"),
                                               .double_precision = true},
                                    .components = 8})
                            .fit(points(clean));
    const Denoised better = denoise(PrincipalComponents(model), points(noisy).x);
    double before = 0;
    double after = 0;
    for (std::size_t i = 0; i < 200; ++i) {
        Vector z(2);
        better.x.copy_row(i, z);
        before += std::pow(std::hypot(noisy[i][0], noisy[i][1]) - 1, 2);
        after += std::pow(std::hypot(z[0], z[1]) - 1, 2);
    }
    EXPECT_LT(after, before / 4);
    EXPECT_EQ(better.preimages.size(), 200U);
}

TEST(Denoise, LinearKernelIsTheProjectionOfPca) {
    const Dataset data = points({{0, 0}, {1, 1.1}, {2, 1.9}, {3, 3.1}, {4, 3.9}});
    const Model model =
        kernel_pca({.common = {.kernel = linear(), .double_precision = true}, .components = 1})
            .fit(data);
    const Denoised flat = denoise(PrincipalComponents(model), data.x);
    // All on one line, through the mean, each nearest to its own row.
    const Matrix<double> w = weight_vectors(model.expansion());
    for (std::size_t i = 0; i < 5; ++i) {
        EXPECT_NEAR(flat.preimages[i].squared_distance, 0, 1e-10);
        Vector z(2);
        Vector x(2);
        flat.x.copy_row(i, z);
        data.x.copy_row(i, x);
        EXPECT_NEAR((z[0] - x[0]) * w(0, 0) + (z[1] - x[1]) * w(0, 1), 0, 1e-10);
        EXPECT_NEAR((z[0] - 2) * w(0, 1) - (z[1] - 2) * w(0, 0), 0, 1e-10);
    }
}

TEST(Denoise, PicturesLoseNoiseAndKeepTheirShape) {
    Image clean = Image::filled(24, 20, 1, 40);
    for (std::size_t i = 0; i < 24; ++i) {
        for (std::size_t j = 10; j < 20; ++j) clean.at(i, j) = 210;
    }
    Image noisy = clean;
    Random random(4);
    for (std::uint8_t& p : noisy.pixels) {
        p = static_cast<std::uint8_t>(std::clamp(p + 25 * random.normal(), 0.0, 255.0));
    }
    ImageDenoiseSettings settings{.patch = 4, .stride = 1, .sample = 200};
    settings.pca = {.common = {.kernel = rbf({.gamma = 0.2})}, .components = 3};
    settings.denoise.preimage.method = PreimageMethod::fixed_point;
    const Image better = denoise_image(noisy, noisy, settings);
    const auto error = [&](const Image& image) {
        double sum = 0;
        for (std::size_t k = 0; k < clean.pixels.size(); ++k) {
            sum += std::pow(static_cast<double>(image.pixels[k]) - clean.pixels[k], 2);
        }
        return sum;
    };
    EXPECT_EQ(better.height, 24U);
    EXPECT_EQ(better.width, 20U);
    EXPECT_LT(error(better), error(noisy) / 2);
    settings.patch = 21;
    EXPECT_NE(message_of([&] { denoise_image(noisy, noisy, settings); }).find("shorter side"),
              std::string::npos);
    EXPECT_EQ(patch_corners(10, 4, 4), (std::vector<std::size_t>{0, 4, 6}));
    EXPECT_EQ(patch_corners(8, 4, 4), (std::vector<std::size_t>{0, 4}));
}

}  // namespace
}  // namespace mercer
