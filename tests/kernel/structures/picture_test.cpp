// Tangent distance against projections written out, and what it is for.
#include <algorithm>

#include "kernel/structures/support.hpp"
#include "mercer/base/detail/simd.hpp"
#include "mercer/base/error.hpp"

namespace mercer::test {
namespace {

using Image = std::vector<double>;
constexpr std::size_t side = 9;

/// A bright spot and a stripe, both smooth, of a picture moved by (down, right).
Image picture(double down, double right, double width = 1.6) {
    Image image;
    for (std::size_t i = 0; i < side; ++i) {
        for (std::size_t j = 0; j < side; ++j) {
            const double y = static_cast<double>(i) - 3.5 - down;
            const double x = static_cast<double>(j) - 4.2 - right;
            image.push_back(std::exp(-(x * x + y * y) / (2 * width * width)) +
                            0.5 * std::exp(-(x - y - 1) * (x - y - 1) / 4));
        }
    }
    return image;
}

Image random_image(std::uint64_t seed) {
    Random random(seed);
    Image image(side * side);
    for (double& v : image) v = random.normal();
    return image;
}

double dot(const Image& a, const Image& b) {
    double sum = 0;
    for (std::size_t k = 0; k < a.size(); ++k) sum += a[k] * b[k];
    return sum;
}

/// The seven directions of a picture; beyond its edges the last pixel goes on.
std::vector<Image> directions(const Image& image, std::size_t h, std::size_t w) {
    std::vector<Image> all(7, Image(image.size()));
    const auto at = [&](int i, int j) {
        i = std::clamp(i, 0, static_cast<int>(h) - 1);
        j = std::clamp(j, 0, static_cast<int>(w) - 1);
        return image[static_cast<std::size_t>(i) * w + static_cast<std::size_t>(j)];
    };
    for (int i = 0; i < static_cast<int>(h); ++i) {
        for (int j = 0; j < static_cast<int>(w); ++j) {
            const double gx = 0.5 * (at(i, j + 1) - at(i, j - 1));
            const double gy = 0.5 * (at(i + 1, j) - at(i - 1, j));
            const double x = j - 0.5 * static_cast<double>(w - 1);
            const double y = i - 0.5 * static_cast<double>(h - 1);
            const std::size_t k = static_cast<std::size_t>(i) * w + static_cast<std::size_t>(j);
            const double values[] = {gx,
                                     gy,
                                     x * gx + y * gy,
                                     y * gx - x * gy,
                                     x * gx - y * gy,
                                     y * gx + x * gy,
                                     gx * gx + gy * gy};
            for (std::size_t t = 0; t < 7; ++t) all[t][k] = values[t];
        }
    }
    return all;
}

/// |e|² less what these directions explain of it.
double left_of(Image e, const std::vector<Image>& along) {
    std::vector<Image> basis;
    for (Image v : along) {
        const double before = dot(v, v);
        for (int pass = 0; pass < 3; ++pass) {
            for (const Image& b : basis) {
                const double share = dot(b, v);
                for (std::size_t k = 0; k < v.size(); ++k) v[k] -= share * b[k];
            }
        }
        const double length = std::sqrt(dot(v, v));
        if (length < 1e-7 * std::sqrt(before)) continue;
        for (double& x : v) x /= length;
        basis.push_back(v);
    }
    for (const Image& b : basis) {
        const double share = dot(b, e);
        for (std::size_t k = 0; k < e.size(); ++k) e[k] -= share * b[k];
    }
    return dot(e, e);
}

double squared(const std::string& kernel, const Image& x, const Image& z) {
    return -2 * value(kernel, std::span<const double>(x), std::span<const double>(z));
}

TEST(TangentDistance, IsWhatTheTangentsLeaveOfTheDifference) {
    for (std::uint64_t seed = 1; seed < 6; ++seed) {
        const bool smooth = seed % 2 == 0;
        const Image x = smooth ? picture(0.3, -1) : random_image(seed);
        const Image z = smooth ? picture(-1, 0.7, 2) : random_image(seed + 50);
        Image e = x;
        for (std::size_t k = 0; k < e.size(); ++k) e[k] -= z[k];
        auto both = directions(x, side, side);
        const auto other = directions(z, side, side);
        const double one = 0.5 * (left_of(e, both) + left_of(e, other));
        EXPECT_NEAR(squared("tangent_distance(sides=1)", x, z), one, 1e-10 * dot(e, e));
        const double shifts = left_of(e, {both[0], both[1], other[0], other[1]});
        EXPECT_NEAR(squared("tangent_distance(moves=shift)", x, z), shifts, 1e-10 * dot(e, e));
        both.insert(both.end(), other.begin(), other.end());
        const double two = left_of(e, both);
        EXPECT_NEAR(squared("tangent_distance", x, z), two, 1e-9 * dot(e, e));
        EXPECT_LE(two, one);
        EXPECT_LE(one, dot(e, e));
        EXPECT_EQ(squared("tangent_distance", x, z), squared("tangent_distance", z, x));
        EXPECT_EQ(squared("tangent_distance", x, x), 0);
    }
}

TEST(TangentDistance, PicturesThatMovedALittleStayNear) {
    const Image x = picture(0, 0);
    const Image moved = picture(0.15, -0.1);
    Image e = x;
    for (std::size_t k = 0; k < e.size(); ++k) e[k] -= moved[k];
    EXPECT_LT(squared("tangent_distance", x, moved), 0.03 * dot(e, e));
    EXPECT_LT(squared("tangent_distance(sides=1)", x, moved), 0.05 * dot(e, e));
    EXPECT_LT(squared("tangent_distance(blur=0.5)", x, moved), 0.05 * dot(e, e));
    // What no movement explains is left.
    Image other = x;
    for (std::size_t k = 0; k < other.size(); k += 2) other[k] += 1;
    EXPECT_GT(squared("tangent_distance", x, other), 0.3 * 41);
}

TEST(TangentDistance, ShapesAndVectorLevels) {
    const Image x = random_image(7), z = random_image(8);
    const Image tall(x.begin(), x.begin() + 24), wide(z.begin(), z.begin() + 24);
    Image e = tall;
    for (std::size_t k = 0; k < e.size(); ++k) e[k] -= wide[k];
    auto both = directions(tall, 6, 4);
    const auto other = directions(wide, 6, 4);
    both.insert(both.end(), other.begin(), other.end());
    for (const char* text : {"tangent_distance(height=6)", "tangent_distance(width=4)",
                             "tangent_distance(height=6, width=4)"}) {
        EXPECT_NEAR(squared(text, tall, wide), left_of(e, both), 1e-8 * dot(e, e)) << text;
    }
    const auto about = [&](const std::string& text) -> std::string {
        try {
            squared(text, tall, wide);
        } catch (const InvalidInput& error) {
            return error.what();
        }
        return "";
    };
    EXPECT_NE(about("tangent_distance").find("24 numbers"), std::string::npos);
    EXPECT_NE(about("tangent_distance(height=7, width=5)").find("7 x 5"), std::string::npos);
    const double want = squared("tangent_distance", x, z);
    for (const std::string& level : simd_levels()) {
        use_simd_level(level);
        EXPECT_NEAR(squared("tangent_distance", x, z), want, 1e-11 * want) << level;
    }
    use_simd_level("");
}

TEST(TangentDistance, IsSaidNotToBeDefinite) {
    EXPECT_EQ(definiteness(Kernel::parse("tangent_distance")).definite, Definite::refuted);
    EXPECT_NE(definiteness(Kernel::parse("exp(tangent_distance)")).definite, Definite::positive);
}

}  // namespace
}  // namespace mercer::test
