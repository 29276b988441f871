// Figures as values: what they refuse, where ticks and contours lie, and what is written.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>
#include <string>

#include "mercer/base/error.hpp"
#include "mercer/chart/chart.hpp"
#include "mercer/chart/detail/contour.hpp"
#include "mercer/chart/detail/stroke_font.hpp"
#include "mercer/picture/image.hpp"

namespace mercer::test {
namespace {

/// x² + y² on [−2, 2]².
chart::GridField paraboloid(std::size_t n) {
    chart::GridField field{Matrix<double>(n, n), -2, 2, -2, 2};
    for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
            const double x = -2 + 4.0 * static_cast<double>(j) / static_cast<double>(n - 1);
            const double y = -2 + 4.0 * static_cast<double>(i) / static_cast<double>(n - 1);
            field.values(i, j) = x * x + y * y;
        }
    }
    return field;
}

double area_of(const std::vector<chart::Path>& polygons) {
    double area = 0;
    for (const chart::Path& path : polygons) {
        for (std::size_t k = 0; k < path.size(); ++k) {
            const chart::Place a = path[k];
            const chart::Place b = path[(k + 1) % path.size()];
            area += 0.5 * (a.x * b.y - b.x * a.y);
        }
    }
    return area;
}

chart::Drawing one_line() {
    chart::Drawing figure;
    chart::Panel& panel = figure.panel();
    panel.x.label = "x <&> \"y\"";
    panel.add(chart::Line{.x = {0, 1, 2}, .y = {0, 1, 0}, .name = "a</text>"});
    return figure;
}

TEST(Ticks, AreRoundAndWithinTheAxis) {
    for (const auto& [low, high] : {std::pair(0.0, 1.0), std::pair(-3.7, 12.2),
                                    std::pair(1e-9, 3e-9), std::pair(1e6, 1.0001e6)}) {
        const std::vector<double> places = chart::ticks(low, high, 6);
        ASSERT_GE(places.size(), 3U) << low;
        ASSERT_LE(places.size(), 8U) << low;
        const double step = places[1] - places[0];
        const double digit = step / std::pow(10, std::floor(std::log10(step * (1 + 1e-9))));
        EXPECT_TRUE(std::abs(digit - 1) < 1e-5 || std::abs(digit - 2) < 1e-5 ||
                    std::abs(digit - 5) < 1e-5)
            << digit;
        for (const double place : places) {
            EXPECT_GE(place, low - 1e-6 * step);
            EXPECT_LE(place, high + 1e-6 * step);
        }
    }
    EXPECT_EQ(chart::ticks(0.01, 100, 6, true), (std::vector<double>{0.01, 0.1, 1, 10, 100}));
    EXPECT_TRUE(chart::ticks(1, 1, 5).empty());
    EXPECT_TRUE(chart::ticks(0, std::numeric_limits<double>::infinity(), 5).empty());
}

TEST(Contour, OfAParaboloidIsOneClosedCircle) {
    const auto lines = chart::level_lines(paraboloid(81), 1);
    ASSERT_EQ(lines.size(), 1U);
    EXPECT_NEAR(lines[0].front().x, lines[0].back().x, 1e-12);
    EXPECT_NEAR(lines[0].front().y, lines[0].back().y, 1e-12);
    for (const chart::Place p : lines[0]) EXPECT_NEAR(std::hypot(p.x, p.y), 1, 1e-3);
}

TEST(Contour, RegionHasTheAreaOfWhatLiesAbove) {
    const double above = area_of(chart::region_above(paraboloid(161), 1));
    EXPECT_NEAR(above, 16 - std::numbers::pi, 2e-3);
    EXPECT_NEAR(area_of(chart::region_above(paraboloid(5), -1)), 16, 1e-12);
    EXPECT_TRUE(chart::region_above(paraboloid(5), 9).empty());
}

TEST(Contour, SaddlesAreCutAsTheirMiddleSays) {
    chart::GridField field{Matrix<double>(2, 2), 0, 1, 0, 1};
    field.values(0, 0) = field.values(1, 1) = 1;
    field.values(0, 1) = field.values(1, 0) = -3;  // the middle lies below: two corners
    EXPECT_EQ(chart::region_above(field, 0).size(), 2U);
    EXPECT_NEAR(area_of(chart::region_above(field, 0)), 0.0625, 1e-12);
    field.values(0, 1) = field.values(1, 0) = -0.5;  // above: a band from corner to corner
    EXPECT_EQ(chart::region_above(field, 0).size(), 1U);
    EXPECT_EQ(chart::level_lines(field, 0).size(), 2U);
    EXPECT_NEAR(area_of(chart::region_above(field, 0)), 1 - 1.0 / 9, 1e-12);
}

TEST(Chart, SvgStandsAloneAndEscapesWhatItIsGiven) {
    const std::string text = chart::svg(one_line());
    EXPECT_EQ(text.substr(0, 4), "<svg");
    EXPECT_TRUE(text.ends_with("</svg>\n"));
    EXPECT_NE(text.find("x &lt;&amp;&gt; &quot;y&quot;"), std::string::npos);
    EXPECT_NE(text.find("a&lt;/text&gt;"), std::string::npos);
    EXPECT_EQ(text.find("<script"), std::string::npos);
    // The only address is the name of the language itself.
    std::string without = text;
    without.erase(without.find("http://www.w3.org/2000/svg"), 26);
    EXPECT_EQ(without.find("http"), std::string::npos);
    EXPECT_EQ(text, chart::svg(one_line()));
}

/// A page holds several drawings, and the names of what cuts their lines were the same in all.
TEST(Chart, DrawingsOfOnePageDoNotCutEachOther) {
    const auto name_and_box = [](const std::string& text) {
        const std::size_t name = text.find("<clipPath id=\"") + 14;
        const std::size_t box = text.find("<rect", name);
        return std::pair(text.substr(name, text.find('"', name) - name),
                         text.substr(box, text.find("/>", box) - box));
    };
    chart::Drawing titled = one_line();
    titled.title.clear();
    titled.panels[0].y.label = "a label that moves the frame";
    const auto [name, box] = name_and_box(chart::svg(one_line()));
    const auto [other_name, other_box] = name_and_box(chart::svg(titled));
    ASSERT_NE(box, other_box);
    EXPECT_NE(name, other_name);
}

TEST(Chart, BytesThatAreNoTextDoNotBreakTheFile) {
    chart::Drawing figure = one_line();
    figure.title = "a\xFF\x01z\xE2\x82";
    EXPECT_NE(chart::svg(figure).find("a? z??"), std::string::npos);
    EXPECT_NO_THROW(chart::png(figure));
}

TEST(Chart, LinesAreInterruptedWhereNothingCanBeDrawn) {
    chart::Drawing figure = one_line();
    auto& line = std::get<chart::Line>(figure.panels[0].series[0]);
    line.x = {1, 2, 3, 4, 5};
    line.y = {1, 2, std::numeric_limits<double>::quiet_NaN(), 1, 2};
    const std::string text = chart::svg(figure);
    EXPECT_EQ(text.find("nan"), std::string::npos);
    line.y[2] = -1;
    figure.panels[0].y.log = true;
    const std::string log = chart::svg(figure);
    EXPECT_EQ(log.find("nan"), std::string::npos);
    EXPECT_EQ(log.find("inf"), std::string::npos);
}

TEST(Chart, RefusesWhatDoesNotFitTogether) {
    const auto refuse = [](chart::Drawing figure, const std::string& words) {
        try {
            chart::svg(figure);
            FAIL() << words;
        } catch (const InvalidInput& error) {
            EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
        }
    };
    refuse({}, "panels are missing");
    chart::Drawing figure = one_line();
    figure.panels[0].add(chart::Dots{.x = {1, 2}, .y = {1}});
    refuse(figure, "x and y must be equally many, found 2 and 1");
    figure = one_line();
    figure.panels[0].width = 1e9;
    refuse(figure, "20 to 10000");
    figure = one_line();
    figure.panels[0].add(chart::Fill{.field = paraboloid(3), .levels = {1}, .colours = {{}}});
    refuse(figure, "colours and levels plus one");
    figure = one_line();
    figure.panels[0].x = {.low = 2, .high = 1};
    refuse(figure, "lower end before its upper");
    EXPECT_THROW(chart::write(one_line(), "picture.jpg"), InvalidInput);
    EXPECT_THROW(chart::png(one_line(), 100), InvalidInput);
}

TEST(Chart, PngHasTheColoursOfWhatIsDrawn) {
    chart::Drawing figure;
    chart::Panel& panel = figure.panel();
    panel.add(
        chart::Fill{.field = paraboloid(41), .levels = {1}, .colours = {{255, 0, 0}, {0, 0, 255}}});
    const Image image = decode_image(chart::png(figure, 1), "figure");
    std::size_t red = 0;
    std::size_t blue = 0;
    for (std::size_t k = 0; k < image.height * image.width; ++k) {
        red += image.pixels[3 * k] == 255 && image.pixels[3 * k + 2] == 0 ? 1 : 0;
        blue += image.pixels[3 * k + 2] == 255 && image.pixels[3 * k] == 0 ? 1 : 0;
    }
    // The circle's part of the plane, and no seams within either.
    EXPECT_NEAR(static_cast<double>(red), std::numbers::pi / 16 * 380 * 300, 900);
    EXPECT_NEAR(static_cast<double>(blue + red), 380 * 300, 2500);
}

TEST(Chart, CoversHalfOfADotWhereALineRunsThroughIt) {
    // A black bar of 1.5 pixels: one dot full, the next half.
    chart::Drawing figure;
    chart::Panel& panel = figure.panel();
    panel.width = panel.height = 100;
    panel.x = {.low = 0, .high = 100};
    panel.y = {.low = 0, .high = 100};
    panel.add(chart::Bars{.from = {50}, .to = {51.5}, .height = {90}, .colour = {0, 0, 0}});
    const Image image = decode_image(chart::png(figure, 1), "figure");
    double sum = 0;  // of darkness, in the middle third of a row
    for (std::size_t x = image.width / 3; x < 2 * image.width / 3 + 10; ++x) {
        sum += 255 - image.at(image.height / 2, x, 0);
    }
    EXPECT_NEAR(sum, 1.5 * 255, 3);
}

TEST(StrokeFont, HasEverySignOfAsciiAndWidthsThatAdd) {
    double unknown = 0;
    const auto question =
        chart::letter_strokes("\xE2\x98\x83", 10, unknown);  // a snowman: not there
    for (char c = '!'; c <= '~'; ++c) {
        double width = 0;
        const auto strokes = chart::letter_strokes(std::string(1, c), 10, width);
        ASSERT_FALSE(strokes.empty());
        for (const chart::Path& path : strokes) EXPECT_GE(path.size(), 2U) << c;
        if (c != '?') {
            const bool same = strokes.size() == question.size() &&
                              strokes[0].size() == question[0].size() && width == unknown;
            EXPECT_FALSE(same && strokes[0][1].y == question[0][1].y &&
                         strokes[0].back().y == question[0].back().y)
                << c;
        }
    }
    EXPECT_LT(chart::text_width("ii", 10), chart::text_width("MM", 10));
    EXPECT_NEAR(chart::text_width("ab", 20), 2 * chart::text_width("ab", 10), 1e-9);
}

}  // namespace
}  // namespace mercer::test
