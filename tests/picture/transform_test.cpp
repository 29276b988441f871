// Pictures changed: by what must come back, and by what must stay the same.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "data/support.hpp"
#include "mercer/base/error.hpp"
#include "mercer/base/random.hpp"
#include "mercer/picture/transform.hpp"

namespace mercer {
namespace {

using testing::full;
using testing::message_of;

/// A smooth blob somewhere in a picture.
std::vector<double> blob(const ImageShape& s, double y, double x, double slant = 0,
                         double width = 2) {
    std::vector<double> row(s.pixels());
    for (std::size_t p = 0; p < row.size(); ++p) {
        const double dy = static_cast<double>(p / s.width) - y;
        const double dx = static_cast<double>(p % s.width) - x - slant * dy;
        row[p] = std::exp(-(dy * dy / 4 + dx * dx) / (2 * width));
    }
    return row;
}

std::vector<double> changed(const RowTransform& t, const std::vector<double>& row) {
    std::vector<double> out(row.size());
    t(row, out);
    return out;
}

double worst(const std::vector<double>& a, const std::vector<double>& b) {
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::fabs(a[i] - b[i]));
    return most;
}

TEST(Transform, ShiftsMoveWhatTheySay) {
    const ImageShape s{9, 11, -1.0};
    std::vector<double> row(99, -1.0);
    row[4 * 11 + 5] = 3;
    for (const auto& [down, right] : {std::pair{1, 0}, {0, -2}, {-3, 4}}) {
        const std::vector<double> moved = changed(shift_image(s, down, right), row);
        for (std::size_t p = 0; p < 99; ++p) {
            const bool there = p == static_cast<std::size_t>((4 + down) * 11 + 5 + right);
            EXPECT_EQ(moved[p], there ? 3 : -1);
        }
    }
    // Half a pixel shares the value between two.
    const std::vector<double> half = changed(shift_image(s, 0, 0.5), row);
    EXPECT_NEAR(half[4 * 11 + 5], 1, 1e-12);
    EXPECT_NEAR(half[4 * 11 + 6], 1, 1e-12);
    // Out of the picture and gone.
    EXPECT_EQ(changed(shift_image(s, 20, 0), row), std::vector<double>(99, -1.0));
}

TEST(Transform, ThereAndBack) {
    const ImageShape s{24, 24};
    const std::vector<double> row = blob(s, 12, 10, 0.3, 4);
    for (const char* text : {"rotate(15)", "scale(1.2)", "shear(0.3)", "shift(0.5)"}) {
        const auto ways = parse_transforms(text, s);
        const auto back = changed(ways[1].transform, changed(ways[0].transform, row));
        EXPECT_GT(worst(changed(ways[0].transform, row), row), 0.05) << text;
        EXPECT_LT(worst(back, row), 0.12) << text;  // interpolated twice
    }
    // A quarter turn is exact, anticlockwise: what was on the right is on top.
    std::vector<double> dot(24 * 24, 0.0);
    dot[12 * 24 + 20] = 1;
    const std::vector<double> turned = changed(rotate_image(s, 90), dot);
    EXPECT_NEAR(turned[3 * 24 + 12], 1, 1e-9);
}

TEST(Transform, DeskewedInkIsUprightAndInTheMiddle) {
    const ImageShape s{28, 28};
    for (const double slant : {-0.5, 0.0, 0.4}) {
        const std::vector<double> row = changed(deskew_image(s), blob(s, 12, 15, slant, 3));
        double ink = 0, y = 0, x = 0, xy = 0;
        for (std::size_t p = 0; p < row.size(); ++p) {
            ink += row[p];
            y += row[p] * (static_cast<double>(p / 28) - 13.5);
            x += row[p] * (static_cast<double>(p % 28) - 13.5);
            xy += row[p] * (static_cast<double>(p / 28) - 13.5) *
                  (static_cast<double>(p % 28) - 13.5);
        }
        EXPECT_NEAR(y / ink, 0, 0.02);
        EXPECT_NEAR(x / ink, 0, 0.02);
        EXPECT_NEAR(xy / ink, 0, 0.15);  // was up to 6 before; the rest is interpolation
    }
    EXPECT_EQ(changed(deskew_image(s), std::vector<double>(784, 0.0)),
              std::vector<double>(784, 0.0));
}

TEST(Transform, ThickeningAddsInkAndThinningTakesIt) {
    const ImageShape s{16, 16};
    const std::vector<double> row = blob(s, 8, 8);
    const auto ink = [](const std::vector<double>& r) {
        return std::accumulate(r.begin(), r.end(), 0.0);
    };
    EXPECT_GT(ink(changed(thicken_image(s, 0.5), row)), 1.1 * ink(row));
    EXPECT_LT(ink(changed(thicken_image(s, -0.5), row)), 0.9 * ink(row));
    EXPECT_EQ(changed(thicken_image(s, 0), row), row);
}

TEST(Transform, ElasticFieldsAreSmoothSeededAndOfTheirAmount) {
    const ImageShape s{20, 20};
    // A slope to the right shows the displacement of every pixel.
    std::vector<double> slope(400);
    for (std::size_t p = 0; p < 400; ++p) slope[p] = static_cast<double>(p % 20);
    const std::vector<double> a = changed(elastic_image(s, 0.5, 4, 1), slope);
    EXPECT_EQ(a, changed(elastic_image(s, 0.5, 4, 1), slope));
    EXPECT_NE(a, changed(elastic_image(s, 0.5, 4, 2), slope));
    double square = 0, jump = 0;
    for (std::size_t i = 5; i < 15; ++i) {
        for (std::size_t j = 5; j < 14; ++j) {
            const double d = a[i * 20 + j] - slope[i * 20 + j];
            square += d * d / 90;
            jump = std::max(jump, std::fabs(a[i * 20 + j + 1] - 1 - a[i * 20 + j]));
        }
    }
    EXPECT_GT(std::sqrt(square), 0.05);
    EXPECT_LT(std::sqrt(square), 1.5);
    EXPECT_LT(jump, 0.5);
}

TEST(Transform, ContrastIsTakenOut) {
    const std::vector<double> row = blob({6, 6}, 2, 3), flat(36, 7.5);
    std::vector<double> brighter = row;
    for (double& v : brighter) v = 3 * v + 40;
    const std::vector<double> a = changed(contrast_row(), row);
    EXPECT_LT(worst(a, changed(contrast_row(), brighter)), 1e-9);
    double sum = 0, square = 0;
    for (const double v : a) {
        sum += v;
        square += v * v;
    }
    EXPECT_NEAR(sum, 0, 1e-9);
    EXPECT_NEAR(square, 36, 1e-9);
    EXPECT_EQ(changed(contrast_row(), flat), std::vector<double>(36, 0.0));
}

TEST(Transform, TheListIsReadAsWritten) {
    const ImageShape s{28, 28};
    EXPECT_EQ(parse_transforms("shift(1)", s).size(), 8U);
    EXPECT_EQ(parse_transforms("shift(1), shift(2)", s).size(), 12U);
    EXPECT_EQ(
        parse_transforms("rotate(10),scale(1.1) , thicken(0.5), elastic(1), deskew", s).size(), 9U);
    EXPECT_NE(message_of([&] { parse_transforms("spin(2)", s); }).find("spin"), std::string::npos);
    for (const char* text :
         {"", "shift(1),", "shift(x)", "shift(1", "scale(0)", "thicken(2)", "deskew(1)"}) {
        EXPECT_THROW(parse_transforms(text, s), InvalidInput) << text;
    }
    EXPECT_THROW(parse_transforms("shift(1)", {}), InvalidInput);
    EXPECT_EQ(parse_shape("", 49).height, 7U);
    EXPECT_EQ(parse_shape("3x5", 15).width, 5U);
    for (const char* text : {"5x5", "3", "x", "0x15", "3x5x1", "-3x-5"}) {
        EXPECT_THROW(parse_shape(text, 15), InvalidInput) << text;
    }
    EXPECT_THROW(parse_shape("", 15), InvalidInput);
}

TEST(Transform, RowsAreChangedOneByOneInTheirOwnPrecision) {
    Random random(2);
    std::vector<double> values(50 * 9);
    for (double& v : values) v = random.normal();
    const Rows rows = Rows::dense(values, 9);
    const RowTransform reverse = [](std::span<const double> in, std::span<double> out) {
        for (std::size_t k = 0; k < in.size(); ++k) out[k] = in[in.size() - 1 - k];
    };
    const auto x = full(rows), z = full(transformed(rows, reverse));
    for (std::size_t i = 0; i < 50; ++i) {
        for (std::size_t k = 0; k < 9; ++k) EXPECT_EQ(z[i][k], x[i][8 - k]);
    }
    EXPECT_FALSE(transformed(rows.to_float(), reverse).is_double());
    EXPECT_THROW(transformed(rows, shift_image({4, 4}, 1, 0)), InvalidInput);
    EXPECT_THROW(transformed(rows, reverse, [](const Moment&) { return false; }), Cancelled);
    const RowTransform broken = [](std::span<const double>, std::span<double> out) {
        for (double& v : out) v = std::nan("");
    };
    EXPECT_THROW(transformed(rows, broken), InvalidInput);
}

TEST(Transform, DeformationsAreTheRowsOwnAndOfTheSizeAskedFor) {
    const ImageShape s{28, 28};
    const RowTransform first = deform_image(s, 1, 1);
    const std::vector<double> one = blob(s, 12, 15);
    EXPECT_EQ(changed(first, one), changed(first, one));
    EXPECT_GT(worst(changed(first, one), changed(deform_image(s, 1, 2), one)), 0.01);
    EXPECT_EQ(changed(deform_image(s, 0, 1), one), one);

    // A ramp shows by how much its pixels moved, down or to the right; those that come from outside
    // are left out. Two rows that differ are moved differently.
    std::vector<double> down(s.pixels()), right(s.pixels());
    for (std::size_t p = 0; p < s.pixels(); ++p) {
        down[p] = static_cast<double>(p / s.width);
        right[p] = static_cast<double>(p % s.width);
    }
    double square = 0;
    int count = 0;
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        for (const auto& ramp : {down, right}) {
            const std::vector<double> moved = changed(deform_image(s, 1, seed), ramp);
            for (std::size_t p = 0; p < s.pixels(); ++p) {
                const std::size_t i = p / s.width, j = p % s.width;
                if (i < 8 || j < 8 || i >= 20 || j >= 20) continue;
                square += (moved[p] - ramp[p]) * (moved[p] - ramp[p]);
                ++count;
            }
        }
    }
    // The field has a mean square of 1 over the picture; the linear map adds 2 (2/28)² 12 there.
    EXPECT_NEAR(square / count, 1.12, 0.25);

    const auto ways = parse_transforms("3*deform(0.5), deform(2)", s);
    ASSERT_EQ(ways.size(), 4U);
    EXPECT_EQ(changed(ways[1].transform, one), changed(deform_image(s, 0.5, 2), one));
    EXPECT_EQ(changed(ways[3].transform, one), changed(deform_image(s, 2, 1), one));
    const auto refused = [&](const char* text) {
        return message_of([&] { parse_transforms(text, s); });
    };
    EXPECT_NE(refused("2*shift(1)").find("would be the same each time"), std::string::npos);
    EXPECT_NE(refused("0*deform(1)").find("1 to 10000"), std::string::npos);
    EXPECT_NE(refused("1e9*deform(1)").find("1 to 10000"), std::string::npos);
}

}  // namespace
}  // namespace mercer
