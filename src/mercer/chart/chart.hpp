// Charts as values: panels with axes, and what is drawn in them; written as SVG or PNG.
//
//     chart::Drawing figure;
//     figure.title = "ROC";
//     chart::Panel& panel = figure.panel();
//     panel.x = {.label = "false positives", .low = 0, .high = 1};
//     panel.y = {.label = "true positives", .low = 0, .high = 1};
//     panel.add(chart::Line{.x = {0, 0.1, 1}, .y = {0, 0.8, 1}, .name = "svc"});
//     panel.add(chart::Line{.x = {0, 1}, .y = {0, 1}, .style = {.dashed = true}});
//     chart::write(figure, "roc.svg");               // or roc.png
//
// SVG stands alone: no scripts, no outside addresses, every text escaped. PNG is drawn by the same
// code with strokes for letters, so that neither fonts nor a drawing library are needed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "mercer/base/export.hpp"
#include "mercer/base/matrix.hpp"

namespace mercer MERCER_API {
namespace chart {

struct Colour {
    std::uint8_t red = 0;
    std::uint8_t green = 0;
    std::uint8_t blue = 0;
    double opacity = 1;
};
constexpr Colour ink{40, 44, 52};
constexpr Colour grey{150, 150, 150};

/// Colours that differ for most eyes (after Okabe and Ito), for the i-th of several things; and
/// their pale forms, for what lies under them.
Colour colour(std::size_t i);
Colour tint(std::size_t i);

/// How numbers become colours.
enum class Ramp {
    viridis,    ///< dark to light
    diverging,  ///< blue over white to red; 0 is white
    blues,      ///< white to blue
    greys,      ///< white to black
};
/// t in [0, 1]; what lies outside is clipped.
Colour colour(Ramp ramp, double t);

struct Stroke {
    Colour colour = chart::colour(0);
    double width = 1.6;  ///< pixels
    bool dashed = false;
};

/// Joined points; a value that is not finite interrupts the line.
struct Line {
    std::vector<double> x{};
    std::vector<double> y{};
    std::string name{};  ///< in the legend; empty: not listed
    Stroke style{};
};

enum class Shape { circle, square, triangle, diamond, cross, plus, ring };

struct Dots {
    std::vector<double> x{};
    std::vector<double> y{};
    std::string name{};
    Colour colour = chart::colour(0);
    Shape shape = Shape::circle;
    double size = 3;                  ///< half the width, pixels
    std::vector<std::string> tips{};  ///< one for each, shown under the pointer in SVG; or none
};

/// Upright bars between edges[i] and edges[i + 1], or, lying, bars one below another.
struct Bars {
    std::vector<double> from{};
    std::vector<double> to{};
    std::vector<double> height{};
    std::string name{};
    Colour colour = chart::colour(0);
    bool lying = false;  ///< from and to are places on the y axis, height goes along x
    std::vector<std::string> tips{};
};

/// What lies between two curves.
struct Band {
    std::vector<double> x{};
    std::vector<double> low{};
    std::vector<double> high{};
    std::string name{};
    Colour colour = chart::tint(0);
};

/// Numbers at the nodes of an even grid over a rectangle: row 0 at the bottom.
struct GridField {
    Matrix<double> values{};
    double left = 0, right = 1, bottom = 0, top = 1;
};

/// The plane filled by value: colours[0] below levels[0], colours[1] up to levels[1], …; one colour
/// more than levels.
struct Fill {
    GridField field{};
    std::vector<double> levels{};
    std::vector<Colour> colours{};
    std::string name{};  ///< above a bar of these colours; empty: no bar
};

/// The curves on which the field has this value.
struct Level {
    GridField field{};
    double value = 0;
    std::string name{};
    Stroke style{.colour = ink};
};

/// One coloured cell for each number; cells have places 0, 1, …, columns − 1 across and 0, …, rows
/// − 1 upwards (downwards where the axis runs down). NaN is grey.
struct HeatMap {
    Matrix<double> values{};
    Ramp ramp = Ramp::viridis;
    std::optional<double> low{};      ///< the first colour's; least of the values
    std::optional<double> high{};     ///< the last colour's
    bool numbers = false;             ///< written into the cells
    bool bar = true;                  ///< the colours with their numbers, at the right
    std::vector<std::string> tips{};  ///< row by row
    std::optional<std::pair<std::size_t, std::size_t>> mark{};  ///< row and column of a cell framed
};

/// Words at a place.
struct Note {
    double x = 0;
    double y = 0;
    std::string text{};
    Colour colour = ink;
};

using Series = std::variant<Line, Dots, Bars, Band, Fill, Level, HeatMap, Note>;

struct ChartAxis {
    std::string label{};
    std::optional<double> low{};  ///< from the series, with a little room, where not given
    std::optional<double> high{};
    bool log = false;   ///< values that are not positive are left out
    bool down = false;  ///< small values at the top
    /// Places with words instead of numbers; empty: numbers at round places.
    std::vector<std::pair<double, std::string>> ticks{};
};

struct Panel {
    std::string title{};
    ChartAxis x{};
    ChartAxis y{};
    std::vector<Series> series{};  ///< the first lies lowest
    double width = 380;            ///< of the plane itself, pixels
    double height = 300;
    bool equal = false;  ///< one unit is as long upwards as across: the height follows

    void add(Series one) { series.push_back(std::move(one)); }
};

/// The whole drawing.
struct Drawing {
    std::string title{};
    std::vector<Panel> panels{};
    std::size_t columns = 0;  ///< of panels; 0: up to three

    /// A new panel, to be filled. The reference holds until the next one is asked for.
    Panel& panel() { return panels.emplace_back(); }
};

/// Throws InvalidInput, saying what is wrong, when lists that belong together have different
/// lengths, a size is not between 20 and 10000 pixels, or there is no panel.
void check(const Drawing& figure);

/// The whole file, from "<svg" to "</svg>".
std::string svg(const Drawing& figure);
/// The whole file; `scale` dots a pixel in either direction, 0.5 to 8.
std::string png(const Drawing& figure, double scale = 2);

/// Writes by the name's ending: .svg or .png, whole or not at all. Throws InvalidInput for others.
void write(const Drawing& figure, const std::string& path);

/// Round places from low to high, about `count` of them: steps of 1, 2 or 5 times a power of ten;
/// on a log axis powers of ten, and 2 and 5 times these where there are few.
std::vector<double> ticks(double low, double high, std::size_t count, bool log = false);

}  // namespace chart
}  // namespace mercer
