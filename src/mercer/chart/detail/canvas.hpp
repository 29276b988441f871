// What a chart is drawn on: SVG text or dots. Coordinates are pixels, y downwards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "mercer/chart/chart.hpp"

namespace mercer::chart {

struct Place {
    double x = 0;
    double y = 0;
};
using Path = std::vector<Place>;

enum class Anchor { start, middle, end };

struct Label {
    Place at{};  ///< on the line that letters stand on
    std::string_view text{};
    double size = 11;
    Anchor anchor = Anchor::start;
    Colour colour = ink;
    bool upwards = false;  ///< turned by 90°, read from below
};

struct Box {
    double left = 0, top = 0, width = 0, height = 0;
    double right() const { return left + width; }
    double bottom() const { return top + height; }
};

class Canvas {
   public:
    virtual ~Canvas() = default;

    /// All polygons as one thing, so that no seams show between neighbours.
    virtual void fill(const std::vector<Path>& polygons, Colour colour, std::string_view tip) = 0;
    virtual void stroke(const std::vector<Path>& paths, const Stroke& style) = 0;
    virtual void mark(Place at, const Dots& style, std::string_view tip) = 0;
    virtual void words(const Label& label) = 0;
    /// Cells of one size, row by row from the top.
    virtual void cells(const Box& box, std::size_t rows, std::size_t columns,
                       const std::vector<Colour>& colours) = 0;
    /// What is drawn until `unclip` shows only inside the box.
    virtual void clip(const Box& box) = 0;
    virtual void unclip() = 0;

   protected:
    Canvas() = default;
    Canvas(const Canvas&) = default;
    Canvas& operator=(const Canvas&) = default;
};

inline Path rectangle(const Box& b) {
    return {{b.left, b.top}, {b.right(), b.top}, {b.right(), b.bottom()}, {b.left, b.bottom()}};
}

/// How wide a text is about, in pixels.
double text_width(std::string_view text, double size);

/// The outline of a marker that has an area; cross and plus have none.
Path marker_outline(Place at, Shape shape, double size);
/// The strokes of cross and plus.
std::vector<Path> marker_strokes(Place at, Shape shape, double size);

/// Draws all of the figure and returns its size. `size_only`: draws nothing.
Place lay_out(const Drawing& figure, Canvas* canvas);

/// Draws one series into the box of a panel whose axes have their ends.
struct Frame {
    Box box{};
    ChartAxis x{};
    ChartAxis y{};

    /// Pixels; not finite for what has no place on a log axis.
    Place at(double x_value, double y_value) const;
};
void draw(const Series& series, const Frame& frame, Canvas& canvas);

}  // namespace mercer::chart
